"""The notable differences of two fleets: access, root, capacity, and models to load again.

In: the items of both blueprints, both fleets, and the nodes that changed. Out: `Fact`s. Called by `effects.py`, which
gives each to the change that brings it. Prices are in `money.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from fleetc.analysis.demand import DEFAULT_SESSIONS
from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, DOCKER_SOCKET
from fleetc.blueprint.listeners import CALLERS, EVERYONE, GRAVE, HOST, PEERS
from fleetc.language import effective
from fleetc.language.effective_runners import Offer, offers
from fleetc.language.fleet import Fleet, Node, PlacedRunner
from fleetc.language.gateway import Gateway
from fleetc.language.host import Model
from fleetc.language.node import AiSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import reach_of
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.review.items.item import Item, Key
from fleetc.upstream import AI_RUNNER_ENDS

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
_OF_STACKS = ("slot-", "stack ", "TURN", "ORCHESTRATOR")
_WHO = {
    EVERYONE: "everyone who can reach {}",
    CALLERS: "those on the allowlist of {}",
    PEERS: "the hosts of the fleet that use {}",
}


class Side(NamedTuple):
    """Where something listens, who reaches it, and what they can do there, as its item says.

    It is `grave` if strangers reach it and, asked for nothing, can take money or control. `peers` are the addresses of
    the fleet that alone reach it, none where others do; `usual` is whether only those reach it whom it is meant for.
    """

    addresses: tuple[str, ...]
    reach: str
    power: str = ""
    grave: bool = False
    peers: tuple[str, ...] = ()
    usual: bool = True


def exposure(old: Mapping[Key, Item], new: Mapping[Key, Item]) -> Iterator[Fact]:
    """Ports that come within or out of the reach of others. One that stays with its host exposes nothing."""
    for key in [*new, *(key for key in old if key not in new)]:
        item = new.get(key) or old[key]
        if item.what == "-httpAddr" and key in old and key in new and _is_plain(old[key]) != _is_plain(new[key]):
            plain = _is_plain(new[key])
            now, was = ("plain HTTP", "TLS") if plain else ("TLS", "plain HTTP")
            text = f"the listener uses {now} instead of {was}"
            headline = f"{item.node} answers over {now} instead of {was}"
            weight = "worse" if plain else "better"
            yield Fact("exposure", item.node, text, Decimal(plain), ("-httpAddr",), weight=weight, headline=headline)
        if item.kind == "port":
            yield from _opening(item, old.get(key), new.get(key))


def _opening(item: Item, before: Item | None, after: Item | None) -> Iterator[Fact]:
    """One purpose of listening."""
    was, now = (_side(before), _side(after))
    worse = now.grave and not was.grave
    same_host = before is None or after is None or before.host == after.host
    purpose, who = item.what.rpartition(" (")[0], item.node or item.host
    flag = _FLAG_OF_PURPOSE.get(purpose, "-aiModels" if purpose.endswith("runner") else "-httpAddr")
    hints = (flag,) if item.node else _OF_STACKS
    if was[:2] == now[:2] and same_host and not worse:
        more, less = ([at for at in a.peers if at not in b.peers] for a, b in ((now, was), (was, now)))
        words = [f"{verb} open to {', '.join(at)}" for verb, at in (("newly", more), ("no longer", less)) if at]
        if words:
            text = f"{item.what}: {_port(purpose, now)} of {who} is {' and '.join(words)}"
            yield Fact("exposure", who, text, Decimal(0), hints, weight="usual" if more else "better")
        return
    if was.reach == now.reach == HOST:
        return
    come = [at for at in now.addresses if now.reach != HOST and not _reached_before(at, now, was, before, after)]
    worse = bool(come) or worse
    weight = "critical" if worse and now.grave else "usual" if come and now.usual else "worse" if worse else "better"
    headline = f"Opens {_port(purpose, now)} of {who} to {_told(item.host, now)}" if worse else ""
    headline += f": they can {now.power}, and nothing asks who they are" if worse and now.grave else ""
    text = f"{item.what}: {_difference(item, was, now, before, after)}"
    amount = Decimal(0 if weight == "usual" else len(come) or worse)
    yield Fact("exposure", who, text, amount, hints, weight=weight, headline=headline)


def _side(item: Item | None) -> Side:
    if item is None:
        return Side((), HOST)
    head, power, *rest = item.value.split("; ")
    where, _, reach = head.partition(" for ")
    more = {part.partition(" ")[0]: part for part in rest}  # meant for..., from..., asks for...
    peers = tuple(more["from"].removeprefix("from ").split(", ")) if "from" in more else ()
    grave = reach == EVERYONE and "asks" not in more and power in GRAVE
    return Side(tuple(where.split(", ")), reach, power, grave, peers, "meant" not in more)


def _reached_before(address: str, now: Side, was: Side, before: Item | None, after: Item | None) -> bool:
    """Whether as many could reach this address and port before."""
    if before is None or after is None or before.host != after.host or _ORDER[was.reach] < _ORDER[now.reach]:
        return False
    port = address.rpartition(":")[2]
    everywhere = (at for at in was.addresses if reach_of(at.rpartition(":")[0].strip("[]")) == "everywhere")
    return address in was.addresses or any(at.rpartition(":")[2] == port for at in everywhere)


_ORDER = {HOST: 0, PEERS: 1, CALLERS: 1, EVERYONE: 2}
"""How many reach a port, for each word."""


def _port(purpose: str, side: Side) -> str:
    ports = ", ".join(dict.fromkeys(at.rpartition(":")[2] for at in side.addresses))
    return f"the {purpose} port ({ports})"


def _told(host: str, side: Side, name: str = "") -> str:
    """Who reaches a port, with a name of the host."""
    single = [at.rpartition(":")[0] for at in side.addresses]
    everywhere = any(reach_of(at.strip("[]")) == "everywhere" for at in single)
    where = name or host if everywhere else single[0] if name else f"{single[0]} of {host}"
    return _WHO[side.reach].format(where)


def _listed(host: str, side: Side) -> str:
    if side.reach == HOST:
        return "for the host itself at most"
    ports = ", ".join(dict.fromkeys(at.rpartition(":")[2] for at in side.addresses))
    return f"port {ports} of {host}, open to {_told(host, side, 'the host')}"


def _difference(item: Item, was: Side, now: Side, before: Item | None, after: Item | None) -> str:
    """Who reaches a port, and who did before.

    The node is a Go program, and to net.Listen 0.0.0.0 and [::] are the same: all addresses, IPv4 and IPv6.
    """
    here = _listed(item.host, now) if after is not None else "gone"
    there = _listed(before.host, was) if before is not None else "none"
    if here == there:
        return f"{here}, as before: on all addresses, IPv4 and IPv6, whichever way it is written"
    return f"{here}; before: {there}"


def _is_plain(item: Item) -> bool:
    """Whether an orchestrator's listener speaks plain HTTP."""
    return item.value.startswith("http://")


_AI_FLAGS = ("aiModels.json", "-aiModels", "-aiWorker")
"""What brings the Docker socket, the likeliest first."""
_ROOT_DIRECTORIES = ("/bin", "/etc", "/lib", "/root", "/run", "/sbin", "/usr", "/var", "/var/lib", "/var/run")
"""Directories of a host that make a root writer, such as a container, root on the host."""


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
            parts += [AI_RUNNER_ENDS] * bool(come and not (old is not None and old.models))
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
    if fleet is None:
        return None
    if node is None:
        runs = placed_runner(fleet, name) is not None
        return _sessions(offer for offer in offers(fleet) if offer.name == name) if runs else None
    settings = node.settings
    streams = capacity_of(fleet, name).sessions if effective.serves_video(node) else 0
    if isinstance(settings, Gateway):
        return streams if settings.mode == "video" else None
    if isinstance(settings, Orchestrator) and streams is None:  # those of the transcoders of this fleet
        workers = fleet.workers_by_orchestrator.get(name, ())
        bounds = [capacity_of(fleet, w.name).sessions or 0 for w in workers if isinstance(w.settings, Transcoder)]
        streams = sum(bounds) if bounds else None
    if not isinstance(settings, Orchestrator | AiWorker):
        return streams
    requests: int | None = 0
    if effective.live_runners_alone(fleet, node).value and not _strangers(settings):
        requests = _sessions(offer for offer in offers(fleet) if offer.orchestrator.name == name)
    elif effective.serves_ai(node):
        own = effective.runs_models(fleet, node).value and all(map(effective.managed, settings.models))
        requests = capacity_of(fleet, name).slots if own else None
    return None if streams is None or requests is None else streams + requests


def _sessions(sold: Iterable[Offer]) -> int:
    """How many sessions of live runners there are at most at once."""
    return sum(offer.runner.capacity or 1 for offer in sold)


def _strangers(settings: object) -> bool:
    """Whether an orchestrator may have sessions of which the spec knows no number."""
    return any(getattr(settings, field, None) for field in ("live_runners", "live_runner_config", "capabilities"))


def placed_runner(fleet: Fleet | None, name: str) -> PlacedRunner | None:
    """The runner of this name that fleetc starts, or None."""
    return next((placed for placed in fleet.placed_runners if placed.name == name), None) if fleet is not None else None


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
