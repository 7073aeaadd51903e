"""Parts of an avatar stack, and the markers of what each was started from.

In: what a release wants of the stack, or names. Out: units, markers, containers, settings.

A stack is a packet filter, the Compose project of the host's own services, and one Compose project for each slot. A
marker says what each was started from, in digests:

    firewall          the rules
    host              host.env, its secrets, turn.env, its secrets
    slot-NN.PROJECT   the slot's environment, its Compose file, the secrets of host.env, turn.env, its secrets; asleep
                      where the spec lets it sleep

While something is being started, its marker says so instead. Below the digests, that of a slot has what Docker made.
A digest of secrets never leaves the host. One more marker, reserved, has the ports that are kept free for TURN.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from ..places import POWER, STACK_FILES, STACK_MARKERS, Json, RefusedError
from ..steps import FIREWALL, HOST, STACK, TURN
from ..system import hexdigest, must, parsed, read, read_json, run, write

HOST_PROJECT = "vtuber-host"
"""The Compose project of the host's own services, TURN among them."""

HOST_FILE = "docker-compose.unreal.yml"
SLOT_FILE = "docker-compose.unreal.instance.yml"
HOST_COMPOSE = "host.compose.yaml"
NETWORK = "vtuber_network"
TURN_SERVICE = "turn-server"
ROTATOR = "orchestrator-edge-rotator"

HEALTH_SERVICE = "orchestrator-health"

HOST_SERVICES = (TURN_SERVICE, HEALTH_SERVICE, ROTATOR, "vtuber-auto-updater", "orchestrator-registration")
"""Every service that a stack may have once on a host: those of them that it does not have are removed."""

AWAKE = (HEALTH_SERVICE, ROTATOR)
"""Those that run while the host sleeps: they wake it."""

GAME = "unreal-game"
READS_TURN = ("unreal-signaling", "recorder-control")
"""The services of a slot that read the settings of TURN."""

COMPOSE_WITH_TAGS = (2, 24, 4)
"""The first release of Compose that reads !override and !reset."""

STARTING, SLEEPING = "starting", "asleep"
"""What a marker says while a part is being started, and of a project that sleeps then, or because the spec lets it."""

STOPPED = (0, 130, 137, 143)
"""What a container ends with that was stopped, or that ended without an error."""


def marker_of(name: str) -> str:
    """What a part of the stack was started from; "" where nobody knows."""
    return (read("%s/%s" % (STACK_MARKERS, name)) or b"").decode(errors="replace").partition("\n")[0]


def made_at(name: str) -> Json:
    """What Docker made when a slot was started, by service; empty where nobody knows."""
    lines = (read("%s/%s" % (STACK_MARKERS, name)) or b"").partition(b"\n")
    return parsed(lines[2]) or {}


def mark(name: str, text: str, made: Json | None = None) -> None:
    """Write down what a part of the stack was started from and what Docker made, or that it is being started."""
    below = "\n" + json.dumps(made, sort_keys=True) if made else ""
    write("%s/%s" % (STACK_MARKERS, name), (text + below).encode())


def digests_in(name: str, count: int) -> list[str]:
    """The digests of a marker whose start was completed; else as many empty ones."""
    words = marker_of(name).split()
    if words[-1:] == [SLEEPING]:
        words.pop()
    whole = len(words) == count and all(re.fullmatch("[0-9a-f]{64}", word) for word in words)
    return words if whole else [""] * count


def markers_of(stack: Json, host_secrets: bytes, turn_secrets: bytes) -> dict[str, str]:
    """The markers of a stack that was started whole with these secret lines, by name."""
    digests = stack["digests"]
    of_host, turn = hexdigest(host_secrets), "%s %s" % (digests["turn"], hexdigest(turn_secrets))
    found = {"firewall": digests["firewall"], "host": "%s %s %s" % (digests["host"], of_host, turn)}
    for slot in stack["slots"]:
        own = (slot["environment"], slot["arguments"], of_host, turn)
        found["%s.%s" % (slot["name"], slot["project"])] = " ".join(own + ((SLEEPING,) if slot.get("asleep") else ()))
    return found


def unit_of_stack(node: str, digest: str, project: str = "", turn: str = "") -> Json:
    """One unit of a stack, as a process of a state."""
    runtime = "systemd" if node == FIREWALL else "docker"
    return {"node": node, "digest": digest, "runtime": runtime, "project": project, "turn": turn}


def units_of_host(host: str, turn: str) -> list[Json]:
    """The services of the host, and TURN where there is one. A start that was not completed is of the host alone."""
    found = [unit_of_stack(HOST, host)]
    return [*found, unit_of_stack(TURN, turn)] if has_turn(turn) else found


def has_turn(digest: str) -> bool:
    """Whether there is a TURN server, by the digest of turn.env: without one, that file is empty."""
    return digest not in ("", hexdigest(b""))


def unit_of_slot(name: str, project: str, own: Iterable[str], turn: str) -> Json:
    """A slot, such as slot-00; `own` are the digests of its environment and its Compose file."""
    digests = list(own)
    digest = hexdigest(" ".join(digests).encode()) if all(digests) else ""
    return unit_of_stack("%s/%s" % (STACK, name), digest, project, turn)


def units_of(stack: Json | None) -> list[Json]:
    """The units that a stack wants; none without a stack."""
    if not stack:
        return []
    digests = stack["digests"]
    found = [unit_of_stack(FIREWALL, digests["firewall"]), *units_of_host(digests["host"], digests["turn"])]
    for slot in stack["slots"]:
        own = (slot["environment"], slot["arguments"])
        found.append(unit_of_slot(slot["name"], slot["project"], own, digests["turn"]))
    return found


def containers_of(project: str = "") -> list[Json]:
    """The containers that Compose made for all projects, or for one: name, project, service, state, and so on.

    `config` is Compose's digest of what it made one from, and `ports` those of the host that one publishes. Those of
    a command that somebody ran once are left out. Raises where Docker does not answer.
    """
    chosen = "label=com.docker.compose.project" + ("=" + project if project else "")
    what = "Docker does not say which containers there are"
    listed = must(run("docker", "container", "ls", "--all", "--quiet", "--filter", chosen), what).out.split()
    if not listed:
        return []
    done = run("docker", "container", "inspect", *listed)  # one that went away meanwhile is no failure
    found = []
    try:
        for one in json.loads(done.out):
            labels, state = one["Config"]["Labels"], one["State"]
            if labels.get("com.docker.compose.oneoff") == "True":
                continue
            facts = {"project": labels["com.docker.compose.project"], "service": labels["com.docker.compose.service"]}
            facts.update(name=one["Name"].lstrip("/"), state=state["Status"], code=state["ExitCode"], pid=state["Pid"])
            facts.update(running=state["Status"] == "running", restarts=one["RestartCount"], id=one.get("Image", ""))
            facts.update(image=one["Config"].get("Image", ""), config=labels.get("com.docker.compose.config-hash", ""))
            facts["updated"] = labels.get("com.centurylinklabs.watchtower.enable") == "true"
            bound = (one.get("HostConfig") or {}).get("PortBindings") or {}
            found.append(
                {**facts, "ports": sorted(_host_port(port) for ports in bound.values() for port in ports or ())}
            )
    except (ValueError, KeyError, TypeError):
        raise RefusedError("step-failed", "%s: %s" % (what, done.words)) from None
    return found


def _host_port(binding: Json) -> str:
    """A port of the host, with the address that it is bound to, if any."""
    return ":".join(text for text in (binding.get("HostIp"), binding["HostPort"]) if text)


def is_asleep(containers: list[Json]) -> bool:
    """Whether a project was put to sleep: it has containers, none of them runs, and not all ended with an error."""
    runs = any(one["state"] in ("running", "restarting") for one in containers)
    return not runs and any(one["state"] == "created" or one["code"] in STOPPED for one in containers)


def host_sleeps() -> bool:
    """Whether the host was put to sleep, as the service says that does it."""
    return bool((read_json(POWER + "/power_state.json") or {}).get("state") == "sleeping")


def projects_of(stack: Json) -> list[str]:
    """The Compose projects of a stack: that of the host, and those of its slots."""
    return [HOST_PROJECT, *(slot["project"] for slot in stack["slots"])]


def settings_in(path: str) -> dict[str, str]:
    """The variables of an environment file of the stack; their values stand there as they are."""
    lines = (read(path) or b"").decode(errors="replace").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def steering() -> str:
    """Where the service of the stack answers that says what runs, and puts slots to sleep and wakes them."""
    return "http://127.0.0.1:" + settings_in(STACK_FILES + "/host.env").get("ORCHESTRATOR_HEALTH_PORT", "9090")
