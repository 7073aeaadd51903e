"""Whether all that a release wants is well, and what it said where it is not.

In: what a release wants, and times. Out: what is wrong, in words; nothing where all of it is well.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from .judging import judged
from .places import CURRENT, Json
from .processes import facts_of
from .releases import unit_of
from .secret_files import known_secrets, masked
from .stack.health import watch_stack
from .system import run

VITAL = ("/healthz", "/status", "/getBroadcastConfig")
"""What a node must answer; without another answer a setting is unknown, which is no reason to go back."""

ENDS = 3
"""How often a node may be started again by itself before nobody waits for it any longer."""


LATE = 30
"""How many seconds a slow stack may take for one answer."""


def healthy(wanted: Json, deadline: float, stable: float, told: Callable[[list[str], float, float], None]) -> list[str]:
    """Wait until a release is well for `stable` seconds on end; what is wrong after `deadline` seconds.

    `told` hears what is waited for, since when, and for how long at most. All nodes are asked at once. A node or a
    container that ends again and again is not waited for. Where a person restarts nodes, only these are asked.
    """
    services, stack, runtime = wanted["services"], wanted.get("stack"), wanted["runtime"]
    if wanted.get("restart"):
        services, stack = [one for one in services if one["name"] in wanted["restart"]], None
    if not services and not stack:
        return []
    begun, well_since = time.monotonic(), None
    end = begun + deadline
    before = {**facts_of(services, runtime), **watch_stack(stack)[1]}
    pids: dict[str, int] = {}
    with ThreadPoolExecutor(max_workers=min(16, len(services) + 1)) as pool:
        while True:
            asked = time.monotonic()
            trouble, of_stack = watch_stack(stack, LATE)
            facts = {**facts_of(services, runtime), **of_stack}
            now = {node: fact["pid"] for node, fact in facts.items() if fact["running"]}
            asks = [pool.submit(unwell, one, wanted, now.get(one["name"], 0)) for one in services]
            problems = [problem for problem in (*(ask.result() for ask in asks), trouble) if problem]
            well_since = None if problems or now != pids or well_since is None else well_since
            if not problems and well_since is None:
                well_since = time.monotonic()
            if well_since is not None and time.monotonic() - well_since >= stable:
                return []
            if well_since is None:
                told(problems, begun, deadline)
            else:
                told(["all nodes are well"], well_since, stable)
            tried = {node: fact["restarts"] - before.get(node, fact)["restarts"] for node, fact in facts.items()}
            ended = [node for node, times in tried.items() if times >= ENDS]
            looked = time.monotonic()
            hung = looked - asked > 2 * LATE  # what was seen before that is old
            if ended or (looked >= end + (0 if problems else stable) and not hung):
                again = ["%s ended %d times" % (node, tried[node]) for node in ended]
                return problems + again or ["its processes are not the same for %d seconds on end" % stable]
            pids = now
            time.sleep(min(1.0, max(0.1, stable / 4)))


def unwell(service: Json, wanted: Json, pid: int) -> str:
    """What is wrong with a node of a release, in words; "" where it is well."""
    node = service["name"]
    if not pid:
        return "%s does not run" % node
    directory = os.path.realpath("%s/%s" % (CURRENT, node))
    verdict = judged(service, wanted["runtime"], pid, directory, wanted.get("setters") or {})
    silent = [words for words in verdict["unanswered"] if words.endswith(VITAL)]
    problems = verdict["drift"] + verdict["was_set"] + verdict["ill"] + silent
    return "%s: %s" % (node, problems[0]) if problems else ""


LOG_LINES = 30


def last_words(wanted: Json, since: float) -> list[str]:
    """The last log lines of the nodes that were just started, with known secrets and all addresses masked."""
    begun = "%d" % since
    found = []
    for service in wanted["services"]:
        node = service["name"]
        if wanted["runtime"] == "docker":
            done = run("docker", "container", "logs", "--since", begun, "--tail", str(LOG_LINES), unit_of(node))
        else:
            words = ("--no-pager", "--output=cat", "--since=@" + begun, "--lines=%d" % LOG_LINES)
            done = run("journalctl", *words, "--unit=%s.service" % unit_of(node))
        text = masked(done.out + done.err, known_secrets(node, wanted["runtime"]))
        found += ["%s: %s" % (node, line) for line in text.splitlines()[-LOG_LINES:] if line.strip()]
    return found[-4 * LOG_LINES :]
