"""What systemd, Docker and the kernel say of the processes of nodes.

In: nodes, or a process. Out: facts by node; None where Docker does not answer.

A node that took settings while it runs has the arguments of an older release, and one that was taken over those of a
unit that somebody wrote. A record says of which process that is true, and which arguments it is as good as. Any other
process is judged by its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from .places import ETC, LIVE, RUN, Json
from .releases import unit_of
from .system import boot_id, hexdigest, read, read_json, run


def processes_of_units(nodes: Iterable[str]) -> dict[str, Json]:
    """What systemd says of the units of nodes, by node: state, pid, and whether its own copy of the unit is stale."""
    nodes = list(nodes)
    if not nodes:
        return {}
    wanted = "--property=Id,ActiveState,MainPID,NRestarts,NeedDaemonReload,DropInPaths"
    done = run("systemctl", "show", wanted, *(unit_of(node) + ".service" for node in nodes))
    found = {}
    for block in done.out.split("\n\n"):
        facts = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        node = facts.get("Id", "")[len("livepeer-") : -len(".service")]
        if node:
            pid = int(facts.get("MainPID") or 0)
            stale = facts.get("NeedDaemonReload") == "yes"
            found[node] = {
                "running": facts.get("ActiveState") == "active" and pid > 0,
                "stopped": facts.get("ActiveState") in ("inactive", "failed"),
                "pid": pid,
                "restarts": int(facts.get("NRestarts") or 0),
                "stale": stale,
                "dropins": [path for path in facts.get("DropInPaths", "").split() if is_addition(path)],
            }
    return found


def is_addition(path: str) -> bool:
    """Whether a drop-in is one that somebody added to units of nodes on this host, so that it can be put aside.

    Those of packages and of generators come back, whatever is done.
    """
    by_hand = path.startswith((ETC + "/", RUN + "/")) and not path.startswith(RUN + "/systemd/generator")
    return by_hand and "/livepeer-" in path


def processes_of_containers(nodes: Iterable[str]) -> dict[str, Json] | None:
    """What Docker says of the containers of nodes, by node; None where it does not answer."""
    nodes = set(nodes)
    if not nodes:
        return {}
    listed = run("docker", "container", "ls", "--all", "--format", "{{.Names}}", "--filter", "name=^/?livepeer-")
    if listed.status:
        return None
    there = [name for name in listed.out.split() if name[len("livepeer-") :] in nodes]
    if not there:
        return {}
    done = run("docker", "container", "inspect", *there)
    found = {}
    try:
        for container in json.loads(done.out):
            state = container["State"]
            found[container["Name"].lstrip("/")[len("livepeer-") :]] = {
                "running": state["Status"] == "running" and state["Pid"] > 0,
                "pid": state["Pid"],
                "restarts": container["RestartCount"],
                "image": container["Image"],
            }
    except (ValueError, KeyError, TypeError):
        return None
    return found


def may_run(node: str, runtime: str) -> bool:
    """Whether a node has a process, or nobody says whether it has one."""
    facts = processes_of_units([node]) if runtime == "systemd" else processes_of_containers([node])
    return facts is None or bool(facts.get(node, {}).get("running"))


def is_stopped(node: str, runtime: str) -> bool:
    """Whether systemd says that a node's unit does nothing, or Docker that there is no container of it."""
    if runtime == "systemd":
        return bool(processes_of_units([node]).get(node, {}).get("stopped"))
    return processes_of_containers([node]) == {}


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one file."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def process_now(node: str, runtime: str = "systemd") -> str:
    """The process of a node: boot, pid and when it began, so that no other process is ever the same; or ""."""
    pid = facts_of([{"name": node}], runtime).get(node, {}).get("pid", 0)
    return process_of(pid) if pid else ""


def process_of(pid: int) -> str:
    """Boot, pid and the kernel's time at which a process began; "" where there is none."""
    facts = (read("/proc/%d/stat" % pid) or b"").decode(errors="replace").rpartition(")")[2].split()
    return "%s %d %s" % (boot_id(), pid, facts[19]) if len(facts) > 19 else ""


def arguments_now(process: str) -> str:
    """The digest of the arguments of a process."""
    words = read("/proc/%s/cmdline" % process.split()[1]) or b""
    return hexdigest(words.partition(b"\0")[2])


def set_since(node: str, pid: int) -> Json:
    """What a process is as good as that has other arguments than its release; {} where there is no such record.

    `arguments` is the digest of what it is as good as since it took settings live. With `taken`, fleetc did not start
    it, and the same goes for its environment.
    """
    record = read_json("%s/%s" % (LIVE, node)) or {}
    return record if record.get("process", "-") == process_of(pid) else {}


def facts_of(services: list[Json], runtime: str) -> dict[str, Json]:
    """What systemd or Docker says of the nodes that it knows."""
    nodes = [service["name"] for service in services]
    return (processes_of_units(nodes) if runtime == "systemd" else processes_of_containers(nodes)) or {}
