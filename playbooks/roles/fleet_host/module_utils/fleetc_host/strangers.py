"""Processes and units of this host that have an account and are not of the fleet.

In: the names of the fleet's nodes here. Out: each with its account, which is no secret. Whoever asks knows whose it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from .finding import STARTERS, container_facts, environment_of, text_of, where_in
from .places import RUN, UNITS, Json
from .releases import unit_of
from .system import names_in, read, run

ACCOUNT = re.compile(r"(?:--?ethAcctAddr[=\s\0]\s*|LP_ETHACCTADDR=)[\"']?(?:0x)?([0-9a-fA-F]{40})\b")
REWARD = re.compile(r"(?:--?reward|LP_REWARD)(?:=[\"']?(?:true|1|t)\b|(?=[\s\0]))", re.IGNORECASE)


def strangers(nodes: set[str]) -> Iterator[Json]:
    """Each one once: a process by its unit or container, if it has one, and units that start one at the next boot."""
    own, seen = {unit_of(node) for node in nodes}, set()
    for name in filter(str.isdigit, names_in("/proc")):
        place = "/proc/" + name
        words = text_of(read(place + "/cmdline") or b"")
        program = os.path.basename(words.partition("\0")[0])
        variables = text_of(environment_of(place) or b"") if program == "livepeer" else ""
        account = ACCOUNT.search(words + variables)
        if account is None or program in STARTERS:
            continue
        unit, container = where_in(text_of(read(place + "/cgroup") or b""))
        container = container_facts(container).get("name", container[:12]) if container else ""
        where = (container, account[1].lower()) if container else (unit or name, account[1].lower())
        if where in seen or (container or unit.partition(".")[0]) in own:
            continue
        seen.add(where)
        what = "the container %s" % container if container else "the process %s %s" % (program[:60], name)
        yield told(what + (" of %s" % unit if unit and not container else ""), account, words + variables)
    for directory in (UNITS, RUN + "/systemd/system"):
        for name in (name for name in names_in(directory) if name.endswith(".service")):
            text = text_of(read("%s/%s" % (directory, name)) or b"")
            account = ACCOUNT.search(text)
            if account is None or name.partition(".")[0] in own or (name, account[1].lower()) in seen:
                continue
            if run("systemctl", "is-enabled", name).out.startswith("enabled"):
                yield told("the unit %s, which starts at the next boot," % name, account, text)


def told(what: str, account: re.Match[str], text: str) -> Json:
    """One of them."""
    return {"what": what, "account": "0x" + account[1].lower(), "reward": REWARD.search(text) is not None}
