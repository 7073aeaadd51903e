"""What two fleets differ in that people weigh: who reaches what or is root, what nodes carry, which models load again.

In: the items of both blueprints, both fleets, and the nodes that changed. Out: `Fact`s. Called by `effects.py`, which
gives each to the change that brings it. What prices come to is in `money.py` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from fleetc.analysis.demand import DEFAULT_SESSIONS
from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, DOCKER_SOCKET
from fleetc.language import effective
from fleetc.language.effective_runners import offers
from fleetc.language.fleet import Fleet, Node, PlacedRunner
from fleetc.language.gateway import Gateway
from fleetc.language.host import Model
from fleetc.language.node import AiSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import reach_of
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.review.items.item import Item, Key

COLD_START = "30 to 120 s"
"""How long a model takes until it answers after its container was started."""


class Fact(NamedTuple):
    """One thing that is different for a node. `text` does not name it, so that equal facts of many nodes are one.

    `hints` are flags and the like, the likeliest first, whose change brings the fact. `who` are other nodes. `weight`
    and `headline` are those of the effect; an empty headline is the node with the text.
    """

    impact: str
    node: str
    text: str
    amount: Decimal
    hints: tuple[str, ...] = ()
    who: tuple[str, ...] = ()
    weight: str = ""
    headline: str = ""


# --- exposure -------------------------------------------------------------------------------------

_FLAG_OF_PURPOSE = {
    "administration": "-cliAddr",
    "RTMP": "-rtmpAddr",
    "WHIP": "LIVE_AI_WHIP_ADDR",
    "WHEP": "LIVE_AI_WHEP_ADDR",
}


_CRITICAL = ("administration", "signing")
"""Ports through which whoever reaches them can spend the funds of an account, without a password."""


class Opening(NamedTuple):
    """A port that others than the host itself can reach."""

    host: str
    address: str
    port: str

    def __str__(self) -> str:
        return f"port {self.port} of {self.host}, open to {_reach(self.address)}"


def exposure(old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Iterator[Fact]:
    """Ports that come within or out of the reach of others. One that stays on loopback exposes nothing."""
    for key in [*new, *(key for key in old if key not in new)]:
        item = new.get(key) or old[key]
        if item.what == "-httpAddr" and key in old and key in new and _is_plain(old[key]) != _is_plain(new[key]):
            plain = _is_plain(new[key])
            now, was = ("plain HTTP", "TLS") if plain else ("TLS", "plain HTTP")
            text = f"the listener uses {now} instead of {was}"
            headline = f"{item.node} answers over {now} instead of {was}"
            weight = "worse" if plain else "better"
            yield Fact("exposure", item.node, text, Decimal(plain), ("-httpAddr",), weight=weight, headline=headline)
        if item.kind != "port":
            continue
        before, after = openings(old.get(key)), openings(new.get(key))
        if before == after:
            continue
        wider = [o for o in after if o not in before and not any(_covers(b, o) for b in before)]
        purpose = item.what.rpartition(" (")[0]
        flag = _FLAG_OF_PURPOSE.get(purpose, "-aiModels" if purpose.endswith("runner") else "-httpAddr")
        weight = ("critical" if purpose in _CRITICAL else "worse") if wider else "better"
        headline = f"Opens {_port(purpose, wider)} of {item.node} to {_everyone(wider)}" if wider else ""
        text = f"{item.what}: {_reached(before, after, key in old, key in new)}"
        yield Fact("exposure", item.node, text, Decimal(len(wider)), (flag,), weight=weight, headline=headline)


def _port(purpose: str, wider: Sequence[Opening]) -> str:
    ports = ", ".join(dict.fromkeys(opening.port for opening in wider))
    return f"the {purpose} port ({ports})"


def _everyone(wider: Sequence[Opening]) -> str:
    """Who reaches ports now, with the name of the host."""
    return " and ".join(
        dict.fromkeys(
            f"everyone who can reach {o.host if reach_of(o.address) == 'everywhere' else f'{o.address} of {o.host}'}"
            for o in wider
        )
    )


def _is_plain(item: Item) -> bool:
    """Whether an orchestrator's listener speaks plain HTTP."""
    return item.value.startswith("http://")


def openings(item: Item | None) -> tuple[Opening, ...]:
    """The ports of an item that are not on loopback."""
    ends = (text.rpartition(":") for text in item.value.split(", ")) if item is not None else ()
    outside = ((address, port) for address, _, port in ends if reach_of(address) != "loopback")
    return tuple(Opening(item.host, address, port) for address, port in outside if item)


def _reach(address: str) -> str:
    return (
        "everyone who can reach the host" if reach_of(address) == "everywhere" else f"everyone who can reach {address}"
    )


def _covers(before: Opening, after: Opening) -> bool:
    same = (before.host, before.port) == (after.host, after.port)
    return same and reach_of(before.address) == "everywhere"


def _reached(before: tuple[Opening, ...], after: tuple[Opening, ...], was: bool, remains: bool) -> str:
    """Who reaches a port and who did; `was` and `remains` say whether there is such a port at all.

    The node is a Go program, and to net.Listen 0.0.0.0 and [::] are the same: all addresses, IPv4 and IPv6.
    """
    if list(map(str, before)) == list(map(str, after)):
        return f"{_listed(after)}, as before: on all addresses, IPv4 and IPv6, whichever way it is written"
    if len(before) == len(after) == 1 and before[0]._replace(port="") == after[0]._replace(port=""):
        return str(after[0]).replace(f"port {after[0].port} ", f"port {after[0].port} instead of {before[0].port} ", 1)
    there = _listed(before) if was else "none"
    return f"{_listed(after) if remains else 'gone'}; before: {there}"


def _listed(openings: tuple[Opening, ...]) -> str:
    return ", ".join(map(str, openings)) or "for the host itself at most"


_AI_FLAGS = ("aiModels.json", "-aiModels", "-aiWorker")
"""What brings the Docker socket, the likeliest first."""
_ROOT_DIRECTORIES = ("/bin", "/etc", "/lib", "/root", "/run", "/sbin", "/usr", "/var", "/var/lib", "/var/run")
"""Directories of a host in which whoever writes as root, as a container does, becomes root on the host."""


def root_of_host(old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Iterator[Fact]:
    """Mounts that come and give a node root on its host: the Docker socket, and system directories of containers.

    Under systemd the node is a user without rights to these directories, but in the group that may use the socket.
    """
    for key, item in new.items():
        if item.kind != "mount" or not _gives_root(item, new):
            continue
        before = old.get(key)
        if before is not None and before.host == item.host and _gives_root(before, old):
            continue
        socket = item.what == DOCKER_SOCKET
        what = "the Docker socket" if socket else f"{item.what} of the host, to write to"
        who = "container" if _in_container(item, new) else "process"
        text = f"its {who} gets {what}: whoever controls it is root on {item.host}"
        headline = f"The {who} of {item.node} gets {what}: whoever controls it is root on {item.host}"
        flags = [other.what for other in new.values() if (other.node, other.value) == (item.node, item.what)]
        hints = (item.what, *_AI_FLAGS) if socket else (item.what, *flags)
        yield Fact("exposure", item.node, text, Decimal(1), hints, weight="critical", headline=headline)


def _gives_root(mount: Item, items: Mapping[Key, Item]) -> bool:
    writes = mount.value == "read-write" and mount.what in _ROOT_DIRECTORIES and _in_container(mount, items)
    return mount.what == DOCKER_SOCKET or writes


def _in_container(item: Item, items: Mapping[Key, Item]) -> bool:
    """Whether the processes of the host of an item are containers."""
    runtime = items.get(("host", item.host, "host", "runtime"))
    return runtime is not None and runtime.value == "docker"


# --- capacity -------------------------------------------------------------------------------------


def node_of(fleet: Fleet | None, name: str) -> Node | None:
    """The node of this name, or None."""
    return fleet.nodes_by_name.get(name) if fleet is not None else None


class Capacity(NamedTuple):
    """What a node can carry. `sessions` is None where nothing in the spec bounds them."""

    sessions: int | None
    slots: int
    gpus: int
    models: tuple[str, ...]


def capacity_of(fleet: Fleet | None, name: str) -> Capacity:
    """Streams at once, slots for runner containers, GPUs, and models with the containers kept warm for each."""
    node = node_of(fleet, name)
    if fleet is None or node is None:
        return Capacity(0, 0, 0, ())
    settings = node.settings
    sessions: int | None = 0
    if isinstance(settings, Gateway | Orchestrator | Transcoder):
        written = settings.max_sessions
        if written is None:
            sessions = DEFAULT_SESSIONS if effective.serves_video(node) else 0
        else:
            sessions = None if isinstance(written, str) else written
    gpus = effective.gpu_ids(fleet, node)
    count = len(gpus) if isinstance(gpus, tuple) else 1
    slots = 0
    models: tuple[str, ...] = ()
    if isinstance(settings, AiSettings):
        runs = effective.runs_models(fleet, node).value
        slots = max(count, 1) * (settings.containers_per_gpu or 1) if runs and settings.models else 0
        models = tuple(sorted(_model(fleet.models[use.use], use.capacity or 1) for use in settings.models))
    devices = getattr(settings, "netint", ())
    return Capacity(sessions, slots, count + len(devices), models)


def _model(model: Model, capacity: int) -> str:
    return f"{model.id} ({model.pipeline}{f', {capacity} at once' if capacity > 1 else ''})"


_CAPACITY_HINTS = {
    "sessions": ("-maxSessions", "-transcoder"),
    "slots": ("-aiRunnerContainersPerGPU", "-nvidia", "-aiWorker", "aiModels.json"),
    "GPUs": ("-nvidia", "-netint"),
    "models": ("aiModels.json", "-aiModels"),
}


def capacity(old: Fleet | None, new: Fleet | None, names: Iterable[str]) -> Iterator[Fact]:
    """Sessions, slots, GPUs and models that nodes gain or lose. The amount is what is lost."""
    for name in names:
        before, after = capacity_of(old, name), capacity_of(new, name)
        counts = (
            ("sessions", before.sessions, after.sessions),
            ("slots", before.slots, after.slots),
            ("GPUs", before.gpus, after.gpus),
        )
        for what, less, more in counts:
            if less != more:
                text = f"{what}: {_count(more)} instead of {_count(less)}"
                lost = max(0, (less or 0) - more) if more is not None else 0
                amount = Decimal(0 if what == "GPUs" else lost)
                fewer = less is not None and more is not None and more < less
                yield Fact("capacity", name, text, amount, _CAPACITY_HINTS[what], weight="worse" if fewer else "")
        gone = [model for model in before.models if model not in after.models]
        come = [model for model in after.models if model not in before.models]
        if gone or come:
            parts = [f"no longer {', '.join(gone)}"] * bool(gone) + [f"now {', '.join(come)}"] * bool(come)
            text, weight = f"models: {'; '.join(parts)}", "worse" if gone else ""
            yield Fact("capacity", name, text, Decimal(0), _CAPACITY_HINTS["models"], weight=weight)


def _count(number: int | None) -> str:
    return "what its workers bring" if number is None else str(number)


# --- restarts -------------------------------------------------------------------------------------


def live_sessions(fleet: Fleet | None, name: str) -> int | None:
    """How many live sessions a process can hold at most; None where the spec does not say. A slot has one."""
    stack, _, unit = name.partition("/")
    if unit and stack == AVATAR_DIRECTORY:
        return {"host": 0, "turn": None}.get(unit, 1)
    node = node_of(fleet, name)
    if fleet is None or node is None:
        return sessions_of_runner(fleet, name)
    settings = node.settings
    if isinstance(settings, Gateway):
        return (settings.max_sessions or DEFAULT_SESSIONS) if settings.mode == "video" else None
    if isinstance(settings, Transcoder):
        return settings.max_sessions or DEFAULT_SESSIONS
    if not isinstance(settings, Orchestrator | AiWorker):
        return 0
    streams: int | None = 0
    if isinstance(settings, Orchestrator) and effective.serves_video(node):
        streams = _streams(fleet, node, settings)
    requests: int | None = 0
    if effective.live_runners_alone(fleet, node).value and not _strangers(settings):
        requests = sum(offer.runner.capacity or 1 for offer in offers(fleet) if offer.orchestrator.name == name)
    elif effective.serves_ai(node):
        own = effective.runs_models(fleet, node).value and all(map(effective.managed, settings.models))
        requests = capacity_of(fleet, name).slots if own else None
    return None if streams is None or requests is None else streams + requests


def _strangers(settings: object) -> bool:
    """Whether an orchestrator may have sessions of which the spec knows no number."""
    return any(getattr(settings, field, None) for field in ("live_runners", "live_runner_config", "capabilities"))


def placed_runner(fleet: Fleet | None, name: str) -> PlacedRunner | None:
    """The runner of this name that fleetc starts, or None."""
    return next((placed for placed in fleet.placed_runners if placed.name == name), None) if fleet is not None else None


def sessions_of_runner(fleet: Fleet | None, name: str) -> int | None:
    """How many sessions a runner that fleetc starts has at most, over all its orchestrators; None for what is none."""
    if fleet is None or placed_runner(fleet, name) is None:
        return None
    return sum(offer.runner.capacity or 1 for offer in offers(fleet) if offer.name == name)


def _streams(fleet: Fleet, node: Node, settings: Orchestrator) -> int | None:
    """What an orchestrator takes: its own bound, or with "auto" those of the transcoders of this fleet."""
    if not isinstance(settings.max_sessions, str):
        return settings.max_sessions or DEFAULT_SESSIONS
    workers = fleet.workers_by_orchestrator.get(node.name, ())
    bounds = [w.settings.max_sessions or DEFAULT_SESSIONS for w in workers if isinstance(w.settings, Transcoder)]
    return sum(bounds) if bounds else None


def cooled(old: Fleet | None, new: Fleet | None, names: Iterable[str]) -> Iterator[Fact]:
    """Models that nodes still have but no longer keep loaded: nothing loads at the start, the first request waits."""
    for name in names:
        node = node_of(new, name)
        if new is None or node is None or not isinstance(node.settings, AiSettings):
            continue
        has, warm = {use.use for use in node.settings.models}, warm_models(new, name)
        for use in (use for use in warm_models(old, name) if use in has and use not in warm):
            model = new.models[use]
            text = f"{use} is no longer kept loaded: its first request waits for the load, {COLD_START}"
            hints = (f"aiModels.json: {model.pipeline} {model.id}", "aiModels.json", "-aiModels")
            yield Fact("cold-start", name, text, Decimal(0), hints)


def warm_models(fleet: Fleet | None, name: str) -> tuple[str, ...]:
    """The models that a process keeps loaded in containers of its own."""
    node = node_of(fleet, name)
    if fleet is None or node is None or not isinstance(node.settings, AiSettings):
        return ()
    if not effective.runs_models(fleet, node).value or getattr(node.settings, "serverless", None):
        return ()
    return tuple(use.use for use in node.settings.models if effective.warm_containers(fleet, node, use))
