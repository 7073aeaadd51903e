"""What is in force for a node once defaults are applied: releases, listeners, directories, GPUs, who does the work.

In: a sound `Fleet` and one of its nodes. Out: values with their origins. Rules and lowering both ask here, so that what
is checked is what is emitted. Default ports are the documented ones of each role.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fleetc.language.answers import once
from fleetc.language.fleet import Fleet, Node, PlacedRunner
from fleetc.language.gateway import Gateway
from fleetc.language.node import AiSettings, ChainSettings, GpuSettings, ModelUse, NodeSettings
from fleetc.language.orchestrator import Orchestrator, ServiceAddress
from fleetc.language.quantities import HostName, Listener, Price, QuantityError, Url, Wei, parse_listener
from fleetc.language.secret_fields import SecretRef
from fleetc.language.signer import Redeemer, RewardCaller, Signer
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, default, derived, given
from fleetc.upstream import ABILITIES, FLAGS, GAS_PRICE, NETWORKS, Release

SERVICE_PORT = 8935
LOOPBACK = HostName("127.0.0.1")
ANY_ADDRESS = HostName("0.0.0.0")  # noqa: S104  # an orchestrator must be reachable
GATEWAY_HTTP = Listener(LOOPBACK, 8935)
GATEWAY_RTMP = Listener(LOOPBACK, 1935)
CLI_LISTENERS = {
    "gateways": Listener(LOOPBACK, 5935),
    "orchestrators": Listener(LOOPBACK, 7935),
    "transcoders": Listener(LOOPBACK, 6935),
    "ai_workers": Listener(LOOPBACK, 4935),
    "remote_signers": Listener(LOOPBACK, 3935),
    "redeemers": Listener(LOOPBACK, 2935),  # the node has no port for these two,
    "reward_callers": Listener(LOOPBACK, 10935),  # and would take port 80 on all interfaces
}
HELPER_HTTP = Listener(LOOPBACK, SERVICE_PORT)
_FLEET_RPC = given("fleet", "rpc")

_EVERYWHERE = (ANY_ADDRESS, "::")
MEDIA_LISTENERS = ("LIVE_AI_WHIP_ADDR", "LIVE_AI_WHEP_ADDR")
"""Variables that set where a gateway listens for live media."""


def out_of(fleet: Fleet, started: Node | PlacedRunner) -> Chosen[str] | None:
    """Until when and why a node or a live runner is out of service, by its own table or that of its host."""
    own = started.settings if isinstance(started, Node) else started
    if isinstance(own, NodeSettings) and own.out is not None:
        return Chosen(own.out.words, given(*started.path, "out"))
    out = fleet.hosts[own.host].out
    return None if out is None else Chosen(out.words, given("hosts", own.host, "out"))


@once
def release_of(fleet: Fleet, node: Node) -> Chosen[Release]:
    """The node's own release, else the fleet's."""
    own = node.settings.node_release
    if own is not None:
        return Chosen(own, given(*node.path, "node_release"))
    return Chosen(fleet.fleet.node_release, given("fleet", "node_release"))


def rpc(fleet: Fleet, host: str) -> Chosen[Url | SecretRef] | None:
    """Where the nodes of a host ask the chain: the address of the host, else the fleet's; None if there is none."""
    own = fleet.hosts[host].rpc
    if own is not None:
        return Chosen(own, given("hosts", host, "rpc"))
    return None if fleet.fleet.rpc is None else Chosen(fleet.fleet.rpc, _FLEET_RPC)


def rpc_urls(fleet: Fleet) -> Iterator[tuple[Path, Url]]:
    """Each RPC address that a spec writes out, with its place; what a secret reference leads to is not known here."""
    if isinstance(fleet.fleet.rpc, Url):
        yield ("fleet", "rpc"), fleet.fleet.rpc
    for name, host in sorted(fleet.hosts.items()):
        if isinstance(host.rpc, Url):
            yield ("hosts", name, "rpc"), host.rpc


def gas_price(fleet: Fleet) -> Chosen[Wei]:
    """The gas price that payments are calculated with."""
    if fleet.fleet.gas_price is not None:
        return Chosen(fleet.fleet.gas_price, given("fleet", "gas_price"))
    return Chosen(Wei(GAS_PRICE), default("a gas price of an ordinary busy hour on Arbitrum One", ("fleet",)))


def layer_1(fleet: Fleet) -> bool:
    """Whether the network is a layer-1 chain, on which the protocol no longer lives; not with an own controller."""
    network = NETWORKS.get(fleet.fleet.network)
    return network is not None and network.layer == 1 and fleet.fleet.controller is None


def min_gas_price(fleet: Fleet, settings: ChainSettings) -> int:
    """The gas price in wei that a node never goes below: its own setting, else that of the network."""
    if settings.min_gas_price is not None:
        return settings.min_gas_price.wei
    network = NETWORKS.get(fleet.fleet.network)
    return network.min_gas_price if network else 0


def can(fleet: Fleet, node: Node, ability: str) -> bool:
    """Whether the node's release has the ability of this name in `upstream.ABILITIES`."""
    return release_of(fleet, node).value >= ABILITIES[ability]


def knows(fleet: Fleet, node: Node, flag: str) -> bool:
    """Whether the node's release has a flag."""
    return FLAGS[flag].known_to(release_of(fleet, node).value)


def warm_containers(fleet: Fleet, node: Node, use: ModelUse) -> int:
    """How many containers the node itself keeps warm for one model; in older releases its capacity does not count."""
    if not use.warm or not managed(use):
        return 0
    return use.capacity or 1 if can(fleet, node, "warm-capacity") else 1


def cli_listener(node: Node) -> Chosen[Listener]:
    """The administration listener; on loopback by default."""
    if node.settings.cli is not None:
        return Chosen(node.settings.cli, given(*node.path, "cli"))
    return Chosen(CLI_LISTENERS[node.table], default("the role's own administration port, on loopback", node.path))


def gateway_http(node: Node, gateway: Gateway) -> Chosen[Listener]:
    """The gateway's HTTP listener."""
    if gateway.http is not None:
        return Chosen(gateway.http, given(*node.path, "http"))
    return Chosen(GATEWAY_HTTP, default("the documented HTTP port, on loopback until the spec opens it", node.path))


def gateway_rtmp(node: Node, gateway: Gateway) -> Chosen[Listener]:
    """The gateway's RTMP listener. The node cannot switch it off, so AI gateways have one too."""
    if gateway.rtmp is not None:
        return Chosen(gateway.rtmp, given(*node.path, "rtmp"))
    return Chosen(GATEWAY_RTMP, default("the documented RTMP port, on loopback until the spec opens it", node.path))


def ingests_over_http(node: Node, gateway: Gateway) -> bool:
    """Whether a gateway takes streams and AI requests over HTTP: off loopback it does so only if a setting says so."""
    if gateway.http_ingest is not None:
        return gateway.http_ingest
    return gateway.auth_webhook is not None or gateway_http(node, gateway).value.is_loopback


@once
def service_address(fleet: Fleet, node: Node) -> Chosen[ServiceAddress] | None:
    """The public address of an orchestrator, or None when neither it nor its host names one."""
    orchestrator = fleet.orchestrators[node.name]
    if orchestrator.service is not None:
        return Chosen(orchestrator.service, given(*node.path, "service"))
    public = fleet.hosts[orchestrator.host].public
    if public is None:
        return None
    host = f"[{public}]" if ":" in public else public
    path = ("hosts", orchestrator.host, "public")
    return Chosen(
        ServiceAddress("https", host, SERVICE_PORT), derived("the host's public name and the documented port", path)
    )


@once
def orchestrator_http(fleet: Fleet, node: Node) -> Chosen[Listener]:
    """The listener for gateways: all interfaces, at the port of the service address."""
    orchestrator = fleet.orchestrators[node.name]
    if orchestrator.http is not None:
        return Chosen(orchestrator.http, given(*node.path, "http"))
    service = service_address(fleet, node)
    port = service.value.port if service and service.value.port else SERVICE_PORT
    where = service.origin.paths if service else (node.path,)
    return Chosen(Listener(ANY_ADDRESS, port), derived("all interfaces, at the port of the service address", *where))


def media_listener(text: str) -> Listener | None:
    """Where a gateway listens by one of `MEDIA_LISTENERS`; ":7280" is all addresses. None when it cannot."""
    try:
        return parse_listener(f"{ANY_ADDRESS}{text}" if text.startswith(":") else text)
    except QuantityError:
        return None


def helper_http(node: Node, helper: Signer | Redeemer) -> Chosen[Listener]:
    """The listener of a remote signer or a redeemer."""
    if helper.http is not None:
        return Chosen(helper.http, given(*node.path, "http"))
    return Chosen(HELPER_HTTP, default("the documented port, on loopback until the spec opens it", node.path))


def reached_at(fleet: Fleet, helper: Node, settings: Signer | Redeemer, from_host: str) -> Listener | None:
    """Where a node on a host reaches a signer or redeemer of this fleet; None when that one listens elsewhere only."""
    listener = helper_http(helper, settings).value
    if listener.host not in _EVERYWHERE:
        return listener if settings.host == from_host or not listener.is_loopback else None
    if settings.host == from_host:
        return Listener(LOOPBACK, listener.port)
    host = fleet.hosts[settings.host]
    return Listener(HostName(host.public or host.address), listener.port)


def calls_reward(fleet: Fleet, node: Node, settings: ChainSettings) -> Chosen[bool] | None:
    """Whether the node calls reward; None where that is left to the node, because it alone holds the wallet."""
    if settings.wallet is None:
        return None
    caller = fleet.wallets[settings.wallet].reward_by
    if caller is not None:
        origin = derived("exactly one process of a wallet calls reward", ("wallets", settings.wallet, "reward_by"))
        return Chosen(caller == node.name, origin)
    if isinstance(settings, RewardCaller):
        return Chosen(True, derived("it is there to call reward", node.path))
    return None


@once
def data_dir(fleet: Fleet, node: Node) -> Chosen[str]:
    """The node's data directory: its own, because two processes must never share one."""
    if node.settings.data_dir is not None:
        return Chosen(node.settings.data_dir, given(*node.path, "data_dir"))
    host = fleet.hosts[node.settings.host]
    return Chosen(
        f"{host.state_dir}/{node.name}",
        default("its own directory under the host's state_dir", ("hosts", node.settings.host, "state_dir")),
    )


def models_dir(fleet: Fleet, node: Node, settings: AiSettings) -> Chosen[str]:
    """Where model weights are; the same path on the host and in the container, because runner containers mount it."""
    if settings.models_dir is not None:
        return Chosen(settings.models_dir, given(*node.path, "models_dir"))
    base = data_dir(fleet, node)
    return Chosen(f"{base.value}/models", derived("the node's own choice, written out", *base.origin.paths))


def serves_video(node: Node) -> bool:
    """Whether the node sells, buys or transcodes video."""
    settings = node.settings
    return isinstance(settings, Transcoder) or (
        isinstance(settings, Gateway | Orchestrator) and settings.mode in ("video", "dual")
    )


def serves_ai(node: Node) -> bool:
    """Whether the node sells, buys or runs AI work."""
    settings = node.settings
    return isinstance(settings, AiWorker) or (
        isinstance(settings, Gateway | Orchestrator) and settings.mode in ("ai", "dual")
    )


@once
def transcodes(fleet: Fleet, node: Node) -> Chosen[bool]:
    """Whether video is transcoded inside this process. A process that does so accepts no remote transcoders."""
    settings = node.settings
    if isinstance(settings, Orchestrator) and serves_video(node):
        if settings.transcoding is not None:
            return Chosen(settings.transcoding == "local", given(*node.path, "transcoding"))
        remote = [n.path for n in fleet.workers_by_orchestrator.get(node.name, ()) if n.table == "transcoders"]
        if remote:
            return Chosen(False, derived("remote transcoders serve it", *[(*path, "orchestrator") for path in remote]))
        return Chosen(
            True,
            default("no transcoder names this orchestrator, so it transcodes itself", (*node.path, "mode")),
        )
    return Chosen(isinstance(settings, Transcoder), derived("its role and mode", node.path))


def live_runners_alone(fleet: Fleet, node: Node) -> Chosen[bool]:
    """Whether live runners do all AI work of an orchestrator: it lists no models, and no AI worker names it.

    They register themselves, or are on its list. Source: the node's source code at release v0.9.1.
    """
    settings = node.settings
    workers = (worker.table for worker in fleet.workers_by_orchestrator.get(node.name, ()))
    if not isinstance(settings, Orchestrator) or settings.models or settings.ai_work or "ai_workers" in workers:
        return Chosen(False, derived("its role, its models and its workers", node.path))
    named = {"runners": settings.runners, "capabilities": settings.capabilities, "live_runners": settings.live_runners}
    field = next((name for name, value in named.items() if value), "live_runner_config")
    found = serves_ai(node) and (any(named.values()) or settings.live_runner_config is not None)
    return Chosen(found, derived("live runners do its AI work", (*node.path, field) if found else node.path))


@once
def runs_models(fleet: Fleet, node: Node) -> Chosen[bool]:
    """Whether this process starts AI runner containers. If so, it accepts no remote AI workers."""
    settings = node.settings
    if isinstance(settings, Orchestrator) and serves_ai(node):
        if settings.ai_work is not None:
            return Chosen(settings.ai_work == "local", given(*node.path, "ai_work"))
        remote = [n.path for n in fleet.workers_by_orchestrator.get(node.name, ()) if n.table == "ai_workers"]
        if remote:
            return Chosen(False, derived("remote AI workers serve it", *[(*path, "orchestrator") for path in remote]))
        runners = live_runners_alone(fleet, node)
        if runners.value:
            return Chosen(False, runners.origin)
        return Chosen(
            True,
            default("no AI worker names this orchestrator, so it runs models itself", (*node.path, "mode")),
        )
    return Chosen(isinstance(settings, AiWorker), derived("its role and mode", node.path))


@once
def gpu_ids(fleet: Fleet, node: Node) -> tuple[int, ...] | str:
    """The GPU ids that a node uses: () for the CPU, "all" when the host does not list its GPUs."""
    settings = node.settings
    if not isinstance(settings, GpuSettings | AiWorker) or settings.gpus is None:
        return ()
    if settings.gpus == "all":
        listed = len(fleet.hosts[settings.host].gpus)
        return tuple(range(listed)) if listed else "all"
    return tuple(gpu_index(fleet, settings.host, gpu) for gpu in settings.gpus)


def gpu_index(fleet: Fleet, host: str, gpu: int | str) -> int:
    """The id of a GPU that is named by id or UUID; a UUID is known to be one of the host's list.

    The node itself gets ids only: it takes a UUID too, and then transcodes on GPU 0 and starts no runner container.
    """
    if isinstance(gpu, int):
        return gpu
    return next(index for index, listed in enumerate(fleet.hosts[host].gpus) if listed.uuid == gpu)


def in_force(fleet: Fleet, node: Node) -> dict[str, Chosen[Any]]:
    """The optional fields of a node and the values in force for it: writing them out changes nothing."""
    settings = node.settings
    found: dict[str, Chosen[Any]] = {"cli": cli_listener(node), "data_dir": data_dir(fleet, node)}
    if isinstance(settings, Gateway):
        found |= {"http": gateway_http(node, settings), "rtmp": gateway_rtmp(node, settings)}
    elif isinstance(settings, Orchestrator):
        service = service_address(fleet, node)
        found["http"] = orchestrator_http(fleet, node)
        if service is not None:
            found["service"] = Chosen(_service_text(service.value), service.origin)
        if serves_video(node):
            found["transcoding"] = _who_works(transcodes(fleet, node))
        if serves_ai(node) and not live_runners_alone(fleet, node).value:  # written out, it would mean AI workers
            found["ai_work"] = _who_works(runs_models(fleet, node))
    elif isinstance(settings, Signer | Redeemer):
        found["http"] = helper_http(node, settings)
    if isinstance(settings, AiSettings) and runs_models(fleet, node).value:
        found["models_dir"] = models_dir(fleet, node, settings)
    return found


def _who_works(here: Chosen[bool]) -> Chosen[str]:
    return Chosen("local" if here.value else "remote", here.origin)


def _service_text(service: ServiceAddress) -> str:
    """A service address as the spec writes it: https is implied."""
    port = "" if service.port is None else f":{service.port}"
    return f"{'http://' if service.scheme == 'http' else ''}{service.host}{port}"


def model_price(fleet: Fleet, node: Node, index: int, use: ModelUse) -> Chosen[Price] | None:
    """The price of one offered model: the node's own, else the model's."""
    if use.price is not None:
        return Chosen(use.price, given(*node.path, "models", index, "price"))
    price = fleet.models[use.use].price
    return Chosen(price, given("models", use.use, "price")) if price is not None else None


def managed(use: ModelUse) -> bool:
    """Whether the node itself starts containers for the model, rather than calling one managed elsewhere."""
    return use.url is None
