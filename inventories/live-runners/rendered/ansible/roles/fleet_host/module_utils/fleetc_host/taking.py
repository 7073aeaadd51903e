"""Takes over nodes that ran in their units before fleetc came, without a restart, and gives them back.

In: nodes whose processes somebody compared with their releases, by what `find` told. Out: a record for each, by which a
rollout goes: as long as the unit has that process, the node runs what its release wants, but for its secrets, which are
compared here and nowhere else. What the unit was is kept until the rollout is confirmed: a way back restores it.
"""

from __future__ import annotations

import os
import shutil

from .nodes import retire, stop
from .places import CURRENT, LIVE, MARKERS, SECRETS, TAKEN, UNITS, Json, RefusedError
from .processes import process_now
from .releases import unit_of
from .secret_files import VARIABLES, variables_in
from .switch_file import open_switch
from .system import locked, must, names_in, note, read, read_json, remove, run, sync_directory, write_json

RECORD_FILE = "/record.json"
WANTS = "multi-user.target.wants/"


def do_take(request: Json) -> Json:
    """Write down which processes are as good as the releases of their nodes; none of them if one is another by now.

    `processes` has the process of each node by its name. No process is touched.
    """
    services = {service["name"]: service for service in request["wanted"]["services"]}
    with locked(30):
        if open_switch() is not None:
            raise RefusedError("switch-open", "a switch of this host has not ended; take nodes over afterwards")
        for node in request["nodes"]:
            if os.path.lexists("%s/%s" % (MARKERS, node)):
                raise RefusedError("take-managed", "fleetc has rolled %s out here already" % node)
            if process_now(node) != request["processes"][node]:
                raise RefusedError("take-changed", "%s was started again since it was compared; look again" % node)
        for node in request["nodes"]:
            facts = {"process": process_now(node), "digest": services[node]["digest"]}
            os.makedirs("%s/%s" % (TAKEN, node), mode=0o700, exist_ok=True)
            write_json("%s/%s%s" % (TAKEN, node, RECORD_FILE), facts)
            note("taken", node=node, process=facts["process"])
    return {"changed": True, "taken": request["nodes"]}


def taken_here() -> dict[str, Json]:
    """The records of nodes that no rollout has reached yet and whose process is still the one that was compared."""
    records = {node: read_json("%s/%s%s" % (TAKEN, node, RECORD_FILE)) or {} for node in names_in(TAKEN)}
    return {
        node: record
        for node, record in records.items()
        if not os.path.lexists("%s/%s" % (MARKERS, node)) and record.get("process", "-") == process_now(node)
    }


def state_of_taken() -> list[Json]:
    """Those nodes in the form in which a host tells of what it runs."""
    return [
        {
            "node": node,
            "digest": record["digest"],
            "runtime": "systemd",
            "running": True,
            "drift": [],
            "exclusive": [],
            "taken": True,
        }
        for node, record in taken_here().items()
    ]


def has_secrets(record: Json, files: dict[str, bytes]) -> bool:
    """Whether the process of a record has these secrets: those of a release, by the names of their files.

    The node reads a secret from an argument, else from a variable; one that is a file there is compared by its content.
    A secret in a config file, or one that is given twice, is not found, so its node restarts.
    """
    place = "/proc/" + record["process"].split()[1]
    words = [os.fsdecode(word) for word in (read(place + "/cmdline") or b"").split(b"\0")[1:-1]]
    entries = (os.fsdecode(entry).partition("=") for entry in (read(place + "/environ") or b"").split(b"\0"))
    has = {name: {value} for name, _, value in entries}
    has.update(arguments_by_variable(words))
    wanted = {name: {value} for name, value in variables_in(files.get(VARIABLES, b""), "systemd").items()}
    for name, content in files.items():
        if name != VARIABLES:
            wanted[name] = {os.fsdecode(without_break(content))}
            has[name] = {os.fsdecode(content_of(value)) for value in has.get(name, ())}
    return all(has.get(name) == value for name, value in wanted.items())


def content_of(value: str) -> bytes:
    """A secret that is given by the path of a file, or by itself."""
    if value.startswith("/") and os.path.isfile(value):
        return without_break(read(value) or b"")
    return os.fsencode(value)


def without_break(content: bytes) -> bytes:
    """The content of a file with a secret, without the line break at its end."""
    return content[:-1] if content.endswith(b"\n") else content


def arguments_by_variable(words: list[str]) -> dict[str, set[str]]:
    """All values that arguments may have, by the variable that sets the same."""
    found: dict[str, set[str]] = {}
    for word, after in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name:
            found.setdefault("LP_" + name.upper(), set()).add(value if equals else after)
    return found


def keep_unit(node: str) -> None:
    """Keep what the unit of a node is before fleetc's takes its place: its file, whether it is enabled, additions."""
    place, name = "%s/%s" % (TAKEN, node), unit_of(node) + ".service"
    if not os.path.isdir(place) or os.path.lexists(place + "/kept"):
        return
    remove(place + "/.kept")
    os.mkdir(place + "/.kept", 0o700)
    for path in (name, WANTS + name, name + ".d"):
        if os.path.lexists("%s/%s" % (UNITS, path)):
            copy("%s/%s" % (UNITS, path), "%s/.kept/%s" % (place, path.replace("/", "_")))
    os.rename(place + "/.kept", place + "/kept")
    sync_directory(place)


def finish_taken(service: Json, process: str) -> bool:
    """Write down of a node that was taken over that its process is as good as its release; False if it ended."""
    if process_now(service["name"]) != process:
        return False
    facts = {"process": process, "arguments": service["arguments"], "taken": True}
    write_json("%s/%s" % (LIVE, service["name"]), facts)
    return True


def leave(node: str, runtime: str) -> None:
    """End a node that a release does not want: for good, or by giving it back to the unit that it had before fleetc.

    A process that goes on since then is not touched. Another one ends, and the unit starts its own.
    """
    kept = "%s/%s/kept" % (TAKEN, node)
    if not os.path.isdir(kept):
        retire(node, runtime)
        return
    name = unit_of(node) + ".service"
    record = read_json("%s/%s%s" % (TAKEN, node, RECORD_FILE)) or {}
    goes_on = process_now(node) == record.get("process", "-")
    if not goes_on:
        stop(node, "systemd")
    for path in (name, WANTS + name, name + ".d"):
        copied = "%s/%s" % (kept, path.replace("/", "_"))
        remove("%s/%s" % (UNITS, path))
        if os.path.lexists(copied):
            copy(copied, "%s/%s" % (UNITS, path))
    must(run("systemctl", "daemon-reload"), "systemd does not read its units")
    for place in (LIVE, CURRENT, SECRETS):
        remove("%s/%s" % (place, node))
    if not goes_on:
        must(run("systemctl", "start", name, seconds=150), "%s does not start" % node)
    remove("%s/%s" % (MARKERS, node))
    remove(kept if goes_on else "%s/%s" % (TAKEN, node))
    note("given-back", node=node, goes_on=goes_on)


def forget_taken() -> None:
    """Forget the units of nodes that were taken over: their release is confirmed, so no way leads back to those."""
    for node in names_in(TAKEN):
        if os.path.lexists("%s/%s" % (MARKERS, node)):
            remove("%s/%s" % (TAKEN, node))


def copy(path: str, to: str) -> None:
    """Copy a file, a link as one, or a directory."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.copytree(path, to, symlinks=True)
    else:
        shutil.copy2(path, to, follow_symlinks=False)
