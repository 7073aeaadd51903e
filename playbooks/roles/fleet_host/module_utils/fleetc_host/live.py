"""Settings that nodes take while they run.

In: nodes and what they shall have. Out: the processes that took all of it.

A node is asked to take them, and asked what it has then. They are in the files of the new release too, so a restart
changes nothing.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

from .asking import ask, same_number, send
from .nodes import begin_start, stop
from .places import CURRENT, LIVE, MARKERS, RELEASES, Json, RefusedError
from .processes import arguments_now, process_now, set_since
from .releases import release_at, service_in
from .steps import named
from .system import note, read, write, write_json

ASKED = 5
"""How often a node is asked again for a setting that it was just given."""

PATIENCE = 5
"""Seconds that an answer to a list may take beside the health of each entry."""

NAMED_BACK = ("app", "runner_url", "mode", "proxy", "healthy_status_code")
"""What the answer to a list of live runners says of each. The node takes a whole list or nothing of it."""


def set_live(services: list[Json], release: str, wanted: Json, told: Callable[[str, str], None]) -> dict[str, str]:
    """Set what nodes of a release can take while they run; the process of each that took all of it, by node.

    Raises where a node does not take it and must not be restarted: all keep what they had then, if they can.
    """
    taken: dict[str, str] = {}
    before = {service["name"]: before_live(service["name"], wanted["runtime"]) for service in services}
    for service in services:
        node = service["name"]
        told("live", node)
        process = before[node]["process"]
        begin_start(node, wanted["runtime"])
        gets = [one for one in service["live"] if lacks(service, one, wanted["setters"], before[node]["live"])]
        refusal = take(service, gets, wanted["setters"], release)
        refusal = refusal or ("" if process_now(node, wanted["runtime"]) == process else "it was restarted meanwhile")
        if process and not refusal:
            taken[node] = process
            continue
        note("not-live", node=node, why=refusal)
        if wanted["live"] == "only":
            for other in services[: services.index(service) + 1]:
                give_back(other, before[other["name"]], wanted["setters"])
            raise RefusedError("live-refused", "%s: %s" % (node, refusal))
    return taken


def before_live(node: str, runtime: str) -> Json:
    """What is known of a node before it takes settings: its process, its marker, and the settings of its release."""
    release = release_at("%s/%s" % (CURRENT, node))
    marker = (read("%s/%s" % (MARKERS, node)) or b"").decode(errors="replace")
    live = (service_in(release, node) or {}).get("live", [])
    process = process_now(node, runtime)
    return {"process": process, "runtime": runtime, "marker": marker, "live": live, "release": release}


def give_back(service: Json, before: Json, setters: Json) -> None:
    """Have a node take back what it had before it took settings. One that does not is restarted on the way back."""
    names = [named(setting)[0] for setting in service["live"] if setting not in before["live"]]
    had = [setting for setting in before["live"] if named(setting)[0] in names]
    if len(had) < len(names) or process_now(service["name"], before["runtime"]) != before["process"]:
        return
    gets = [one for one in had if lacks(service, one, setters, [])]
    if not take(service, gets, setters, before["release"]):
        write("%s/%s" % (MARKERS, service["name"]), before["marker"].encode(), 0o600)


def keep_live(services: list[Json], alive: dict[str, str], wanted: Json, told: Callable[[str, str], None]) -> list[str]:
    """Write down of which processes the arguments are as good as those of their release, now that their links moved.

    What was restarted before its link moved, or ended meanwhile, is stopped: those nodes are to be started.
    """
    again = []
    for service in services:
        node = service["name"]
        process = process_now(node, wanted["runtime"])
        if process == alive[node]:
            facts = {"process": process, "arguments": service["arguments"]}
            if set_since(node, int(process.split()[1])).get("taken"):
                facts["taken"] = True
            write_json("%s/%s" % (LIVE, node), facts)
            continue
        if process and arguments_now(process) == service["arguments"]:
            continue  # its unit was started anew, from the release that its link leads to now
        if wanted["live"] == "only":
            raise RefusedError("live-refused", "%s: it was restarted meanwhile" % node)
        told("stop", node)
        stop(node, wanted["runtime"])
        again.append(node)
    for node in again:
        del alive[node]
    return again


def take(service: Json, settings: list[str], setters: Json, release: str) -> str:
    """Have a node take settings, and ask it for each; "" once it says all of them, else why it does not have them.

    Of those that are entries of a file, it takes the file of the release once.
    """
    sent = set()
    for setting in settings:
        name, value = named(setting)
        flag, _, who = name.partition(" ")
        if flag not in setters:
            return "nobody knows how it takes %s" % flag
        setter = setters[flag]
        if "document" in setter:
            problem = "" if flag in sent else take_list(service, setter, release)
            if problem:
                return problem
            sent.add(flag)
            continue
        fields = {key: text.replace("{}", who) for key, text in setter["fixed"].items()}
        status, _ = ask(status_of(service), setter["set"], {setter["parameter"]: value or "0", **fields})
        if status != 200:
            return "it answers %s to %s" % (status or "nothing", setter["set"])
        problem = other_value(service, setting, setters)
        for _ in range(ASKED):
            if not problem:
                break
            time.sleep(0.2)  # a node counts its metrics in the background
            problem = other_value(service, setting, setters)
        if problem:
            return problem
    return ""


def take_list(service: Json, setter: Json, release: str) -> str:
    """Have an orchestrator take the list of live runners of a release; "" once it names each entry as it stands there.

    It asks all of them for their health before it answers, each for 3 seconds at most.
    """
    content = read("%s/%s/%s/%s" % (RELEASES, release, service["name"], setter["document"])) or b""
    path = setter["set"]
    try:
        wanted = {entry["label"]: entry for entry in json.loads(content)["runners"]}
        status, body = send(status_of(service), path, content, PATIENCE + 3 * len(wanted))
        if status != 200:
            return "it answers %s to %s" % (status or "nothing", path)
        said = {entry["label"]: entry for entry in json.loads(body)["runners"]}
        for label, entry in wanted.items():
            for key in NAMED_BACK:
                if key in entry and said.get(label, {}).get(key) != entry[key]:
                    return "it answers %s without the %s of live runner %s" % (path, key, label)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "it answers nonsense to %s" % path
    return ""


def lacks(service: Json, setting: str, setters: Json, before: list[str]) -> bool:
    """Whether a node has to be given a setting: it says another one, or had another one where nobody can ask it."""
    if "read" in setters.get(named(setting)[0].partition(" ")[0], {}):
        return bool(other_value(service, setting, setters))
    return setting not in before


def other_value(service: Json, setting: str, setters: Json) -> str:
    """What a node says instead of a setting; "" where it says exactly that."""
    name, value = named(setting)
    said, problem = value_said(service, name, setters, ask)
    if said is None or has_value(said, value):
        return problem
    return other_words(name, said, value)


def has_value(said: str, wanted: str) -> bool:
    """Whether what a node says of a setting is what is wanted."""
    return said == wanted or same_number(said, wanted)


def other_words(name: str, said: str, wanted: str) -> str:
    """That a node has another value of a setting."""
    return "it says that %s is %s instead of %s" % (name, said or "nothing", wanted or "nothing")


def value_said(
    service: Json, name: str, setters: Json, get: Callable[[str, str], tuple[int, bytes]]
) -> tuple[str | None, str]:
    """What a node says of a setting, "" for no value; None where it does not say it, and why not."""
    flag, _, who = name.partition(" ")
    path, *keys = [text.replace("{}", who) for text in setters[flag]["read"]]
    status, body = get(status_of(service), path)
    if status != 200:
        return None, "it answers %s to %s" % (status or "nothing", path)
    said = said_in(body.decode(errors="replace"), path, keys)
    if said is None:
        return None, "it answers nothing of %s to %s" % (name, path)
    return re.sub("[^ -<>-~]", "?", said[:40]), ""  # no value has the sign that ends a name


def status_of(service: Json) -> str:
    """Where a node takes settings and says what it has, such as http://127.0.0.1:7935."""
    return str((service.get("health") or {}).get("status", ""))


def said_in(text: str, path: str, keys: list[str]) -> str | None:
    """The value that an answer has below some keys, "" for none: plain text, a metric, or a value of JSON.

    None where it has no such thing.
    """
    if not keys:
        return text.strip()
    if path == "/metrics":
        found = re.search(r"(?m)^%s(?:\{.*\})? (\S+)" % re.escape(keys[0]), text)
        return found[1] if found else None
    try:
        value = json.loads(text)
        for key in keys:  # the node and its users write accounts in two ways
            value = next((item for name, item in value.items() if name.lower() == key.lower()), None)
    except (ValueError, AttributeError, RecursionError):
        return None
    return "" if value is None else str(value)
