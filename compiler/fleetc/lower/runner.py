"""Lowers live runners: an orchestrator's file of them, and the processes that fleetc starts.

In: a fleet and an orchestrator or a runner. Out: arguments, a `BlueprintFile` in exactly the form that the node parses,
and a `Service`. A runner has no flags: its arguments are the words of its program, in their order. The node has no
token for a runner that is managed elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fleetc.analysis import runner_prices
from fleetc.analysis.demand import memory_of
from fleetc.blueprint.blueprint import (
    RUNNERS,
    Argument,
    BlueprintFile,
    Kept,
    Mount,
    PriceLine,
    SecretVariable,
    Service,
    Variable,
)
from fleetc.blueprint.rollout import Health, Program
from fleetc.language import effective_runners
from fleetc.language.effective_runners import Offer
from fleetc.language.fleet import Fleet, Node, PlacedRunner
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.quantities import Listener, Url
from fleetc.language.runner import Runner
from fleetc.lower.common import BY_PLACE, GPU_ORDER, VISIBLE_GPUS, own_file
from fleetc.lower.mapping import Planned
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, Origin, default, derived, given

RUNNERS_FILE = "liveRunners.json"
ROLE = "live-runner"

_PLAIN = {
    "app": "app",
    "mode": "mode",
    "routing": "routing",
    "metadata": "metadata",
    "version": "version",
    "proxy": "proxy",
    "capacity": "capacity",
    "healthy_status_code": "health_status",
}
"""The field of a runner that each of these keys comes from, unchanged."""

_OTHERS = {
    "label": ("runners",),
    "runner_url": ("runners.host", "runners.port", "runners.path", "runners.url"),
    "health_url": ("runners.health",),
    "gpu": ("runners.gpus", "hosts.gpus"),
    "price_info": ("runners.price", "rates"),
}
KEYS: dict[str, tuple[str, ...]] = {
    **{key: (f"runners.{field}",) for key, field in _PLAIN.items()},
    **_OTHERS,
    "runners": ("orchestrators.runners",),
    **dict.fromkeys(("id", "name", "vram_mb"), _OTHERS["gpu"]),
    **dict.fromkeys(("price", "unit"), ("runners.price",)),
}
"""What of a spec each key of the file comes from, as dotted names of fields."""


def runner_arguments(fleet: Fleet, node: Node, orchestrator: Orchestrator) -> Iterator[Planned]:
    """The flags of an orchestrator with runners: the file that lists them, and whether others may register."""
    if not orchestrator.runners:
        return
    path = (*node.path, "runners")
    if effective_runners.listed(fleet, node):
        yield Argument("liveRunnerConfig", own_file(node, RUNNERS_FILE), derived("the runners offered", path))
    themselves = [name for name in orchestrator.runners if fleet.runners[name].register_by == "runner"]
    if themselves and orchestrator.live_runners is None:
        origin = derived("a runner registers itself", path, ("runners", themselves[0], "register_by"))
        yield Argument("useLiveRunners", "true", origin)


def runner_file(fleet: Fleet, node: Node) -> tuple[BlueprintFile, ...]:
    """The runners that the orchestrator itself looks after."""
    listed = effective_runners.listed(fleet, node)
    if not listed:
        return ()
    entries, places = [], dict[Path, Origin]()
    for at, offer in enumerate(listed):
        entry = dict(_entry(fleet, offer))
        places[("runners", at)] = derived("the runner offered", offer.path, offer.of_runner)
        places |= {("runners", at, key): chosen.origin for key, chosen in entry.items()}
        entries.append({key: chosen.value for key, chosen in entry.items()})
    origin = derived("the runners offered", (*node.path, "runners"))
    return (BlueprintFile(RUNNERS_FILE, {"runners": entries}, origin, places),)


def capability_files(node: Node, orchestrator: Orchestrator) -> Iterator[BlueprintFile]:
    """The document with which each capability is registered. The node reads none: you post it."""
    for name, capability in sorted(orchestrator.capabilities.items()):
        path = (*node.path, "capabilities", name)
        price, second = capability.price, capability.price.second
        document = {
            "name": name,
            "url": str(capability.url),
            "capacity": capability.capacity,
            "price_per_unit": second.numerator,
            "price_scaling": second.denominator,
            "currency": "USD" if price.currency == "USD" else "wei",
        }
        yield BlueprintFile(f"capability-{name}.json", document, given(*path))


def _entry(fleet: Fleet, offer: Offer) -> Iterator[tuple[str, Chosen[Any]]]:
    """The keys of one entry."""
    runner, path = offer.runner, offer.of_runner
    yield "label", Chosen(offer.name, derived("the name of its table", offer.path))
    yield "runner_url", effective_runners.runner_url(fleet, offer)
    yield "health_url", Chosen(str(runner.health), given(*path, "health"))
    for key, field in _PLAIN.items():
        value = getattr(runner, field)
        if value is not None and field in runner.model_fields_set:
            yield key, Chosen(value, given(*path, field))
        elif value is not None:
            yield key, Chosen(value, default("the node's own choice, written out", path))
        elif key == "routing":
            yield key, Chosen("label", default("its URL stays the same when the node restarts", path))
    gpu = _gpu(fleet, offer)
    if gpu is not None:
        yield "gpu", gpu
    if runner.price is not None:
        yield "price_info", _price(fleet, runner, path)


def _price(fleet: Fleet, runner: Runner, path: Path) -> Chosen[dict[str, Any]]:
    assert runner.price is not None  # noqa: S101  # asked before
    amount = runner_prices.usd(runner.price, fleet.rates)
    if amount is None:
        raise ValueError("a price in ether without a rate, which the check of references refuses")
    origin = given(*path, "price")
    if runner.price.currency == "ETH":
        origin = derived("the price in USD at the rate of the spec", (*path, "price"), ("rates", "USD"))
    elif runner.price.sold_by.times != 1:
        origin = derived("the price for the node's own unit", (*path, "price"))
    whole = int(amount) if amount == int(amount) else amount
    return Chosen({"price": whole, "currency": "usd", "unit": runner.price.sold_by.node}, origin)


def _gpu(fleet: Fleet, offer: Offer) -> Chosen[dict[str, Any]] | None:
    """The GPU for clients, if the runner has exactly one that its host lists."""
    runner = offer.runner
    placed = fleet.started_by_name.get(offer.name)
    if not isinstance(placed, PlacedRunner):
        return None
    ids = effective_runners.gpu_ids(fleet, placed)
    if isinstance(ids, str) or len(ids) != 1 or ids[0] >= len(fleet.hosts[placed.host].gpus):
        return None
    gpu = fleet.hosts[placed.host].gpus[ids[0]]
    memory = memory_of(gpu)
    told: dict[str, Any] = {"id": str(ids[0]), "name": gpu.model}
    if memory is not None:
        told["vram_mb"] = memory // 2**20
    places = ((*offer.of_runner, "gpus"), ("hosts", runner.host or "", "gpus", ids[0]))
    return Chosen(told, derived("the GPU that it gets", *places))


def lower_runner(fleet: Fleet, placed: PlacedRunner) -> Service:
    """The process of a runner that fleetc starts."""
    runner, path = placed.runner, placed.path
    directory = effective_runners.data_dir(fleet, placed)
    mounts = [Mount(directory.value, False, directory.origin)]
    mounts += [Mount(one, False, given(*path, "directories", at)) for at, one in enumerate(runner.directories)]
    program = None
    if runner.program is not None:
        program = Program(runner.program, "", given(*path, "program"))
    return Service(
        name=placed.name,
        table=RUNNERS,
        role=ROLE,
        mode="",
        release=fleet.fleet.node_release,
        image=runner.image or "",
        data_dir=directory.value,
        arguments=tuple(Argument("", word, given(*path, "arguments", at)) for at, word in enumerate(runner.arguments)),
        variables=tuple(sorted(_variables(fleet, placed), key=lambda variable: variable.name)),
        secrets=tuple(
            SecretVariable(name, reference.kind, reference.name, given(*path, "secret_environment", name))
            for name, reference in sorted(runner.secret_environment.items())
        ),
        files=(),
        mounts=tuple(sorted(mounts)),
        kept=(Kept("its port", str(placed.port), given(*path, "port")),),
        gpus=effective_runners.gpu_ids(fleet, placed) or None,
        manages_containers=False,
        monitored=False,
        prices=tuple(_price_lines(fleet, placed)),
        health=_health(placed),
        program=program,
        host_ipc=runner.host_ipc is True,
    )


def _variables(fleet: Fleet, placed: PlacedRunner) -> Iterator[Variable]:
    """Its environment. Docker gives a container its GPUs; a unit sees all of the host unless CUDA hides some."""
    runner, ids = placed.runner, effective_runners.gpu_ids(fleet, placed)
    for name, value in runner.environment.items():
        yield Variable(name, value, given(*placed.path, "environment", name))
    if runner.program is None or not ids or isinstance(ids, str):
        return
    for name, value in ((GPU_ORDER, BY_PLACE), (VISIBLE_GPUS, ",".join(map(str, ids)))):
        if name not in runner.environment:
            yield Variable(name, value, derived("gpus has the numbers of nvidia-smi", (*placed.path, "gpus")))


def _price_lines(fleet: Fleet, placed: PlacedRunner) -> Iterator[PriceLine]:
    if placed.runner.price is not None and fleet.on_chain:
        yield PriceLine(False, placed.runner.app, str(placed.runner.price), given(*placed.path, "price"))


def _health(placed: PlacedRunner) -> Health:
    """Where its own host asks whether it is well; a runner without a path for that is only known to run."""
    runner = placed.runner
    if runner.health is None or isinstance(runner.health, Url):
        return Health()
    where = f"http://{Listener(effective_runners.HERE, placed.port)}"
    path = f"{runner.path or ''}{runner.health}"
    return Health(answers=(where, path, runner.health_status or effective_runners.WELL))
