"""What is in force for live runners: where they listen, where orchestrators reach them, their GPUs and directories.

In: a sound `Fleet` and the name of a runner. Out: values with their origins. Rules, calculations and lowering all ask
here. Containers use the network of their host, so a runner's port is one of the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.language import effective
from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet, Node, PlacedRunner
from fleetc.language.quantities import HostName, Listener, Url
from fleetc.language.runner import Runner
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, derived, given

API = "live runner API"
"""The purpose of the port that a runner listens on."""

HERE = effective.LOOPBACK
"""Where a host reaches its own runners."""

WELL = 200
"""The status that means healthy to the node by default."""


class Offer(NamedTuple):
    """A runner that an orchestrator lists, and the place where it does."""

    orchestrator: Node
    name: str
    runner: Runner
    path: Path

    @property
    def of_runner(self) -> Path:
        """The key path of the runner's own table."""
        return ("runners", self.name)


@once_for_all
def offers(fleet: Fleet) -> tuple[Offer, ...]:
    """Every runner that an orchestrator lists, by orchestrator and in the order of its list."""
    nodes = (Node("orchestrators", name, node) for name, node in sorted(fleet.orchestrators.items()))
    return tuple(offer for node in nodes for offer in offers_of(fleet, node))


def offers_of(fleet: Fleet, node: Node) -> Iterator[Offer]:
    """The runners that one orchestrator lists, in that order."""
    for at, one in enumerate(fleet.orchestrators[node.name].runners):
        yield Offer(node, one, fleet.runners[one], ("orchestrators", node.name, "runners", at))


def listed(fleet: Fleet, node: Node) -> tuple[Offer, ...]:
    """The runners in the file of an orchestrator: those that do not register themselves."""
    return tuple(offer for offer in offers_of(fleet, node) if offer.runner.register_by == "orchestrator")


def runner_url(fleet: Fleet, offer: Offer) -> Chosen[str]:
    """Where an orchestrator reaches a runner."""
    runner, path = offer.runner, offer.of_runner
    if runner.url is not None:
        return Chosen(str(runner.url), given(*path, "url"))
    if runner.host is None or runner.port is None:
        raise ValueError(f"runner {offer.name} is nowhere, which its type refuses")
    address = effective.LOOPBACK
    places: list[Path] = [(*path, "host"), (*path, "port")]
    if runner.host != offer.orchestrator.settings.host:
        host = fleet.hosts[runner.host]
        address = HostName(host.public or host.address)
        places.append(("hosts", runner.host, "public" if host.public else "address"))
    if runner.path is not None:
        places.append((*path, "path"))
    reached = Listener(address, runner.port)
    return Chosen(f"http://{reached}{runner.path or ''}", derived("where its host is reached", *places))


def health_url(fleet: Fleet, offer: Offer) -> Chosen[str]:
    """Where an orchestrator asks a runner whether it is well: its path is added to the whole URL of the runner."""
    health, path = offer.runner.health, (*offer.of_runner, "health")
    if isinstance(health, Url):
        return Chosen(str(health), given(*path))
    base = runner_url(fleet, offer)
    return Chosen(f"{base.value.rstrip('/')}{health}", derived("its path, at its address", path, *base.origin.paths))


def server_of(fleet: Fleet, offer: Offer) -> tuple[str, str, int]:
    """The server behind an offer: host, address and port, the same for all offers of one process."""
    runner = offer.runner
    if runner.url is None:
        return (runner.host or "", "", runner.port or 0)
    url = runner.url
    port = url.port or (443 if url.scheme == "https" else 80)
    if _is_loopback(url):
        return (offer.orchestrator.settings.host, "", port)
    for name, host in fleet.hosts.items():
        if url.host in (host.address, host.public):
            return (name, "", port)
    return ("", url.host, port)


def health_host(fleet: Fleet, offer: Offer) -> str:
    """The host of the fleet that the orchestrator asks for the runner's health, "" for one elsewhere."""
    health = offer.runner.health
    if not isinstance(health, Url):
        return server_of(fleet, offer)[0]
    if _is_loopback(health):
        return offer.orchestrator.settings.host
    return next((name for name, host in fleet.hosts.items() if health.host in (host.address, host.public)), "")


def _is_loopback(url: Url) -> bool:
    return url.host == "localhost" or url.host == "::1" or url.host.startswith("127.")


def data_dir(fleet: Fleet, placed: PlacedRunner) -> Chosen[str]:
    """A runner's own directory, which it finds under the same name."""
    host = fleet.hosts[placed.host]
    origin = derived("its own directory under the host's state_dir", ("hosts", placed.host, "state_dir"))
    return Chosen(f"{host.state_dir}/{placed.name}", origin)


def gpu_ids(fleet: Fleet, placed: PlacedRunner) -> tuple[int, ...] | str:
    """The GPU ids that a runner gets: () for none, "all" when the host does not list its GPUs."""
    gpus = placed.runner.gpus
    if gpus is None:
        return ()
    if gpus == "all":
        count = len(fleet.hosts[placed.host].gpus)
        return tuple(range(count)) if count else "all"
    return tuple(effective.gpu_index(fleet, placed.host, gpu) for gpu in gpus)
