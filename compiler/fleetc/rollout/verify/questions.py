"""What the host of a node asks it, beside its own judgement. Every question is a GET that changes nothing.

In: a blueprint. Out: `Inquiry` values by host. The paths are those of the node, of runners and of avatar stacks; some
are only in the documentation of the node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fleetc.blueprint.blueprint import RUNNERS, Blueprint, HostBlueprint, Service
from fleetc.language.fleet import Fleet
from fleetc.language.signing import talks_to_chain
from fleetc.rollout.verify.data import AVATARS, STACK, Inquiry

LANGUAGE_MODELS = "http://127.0.0.1:11434"
"""Where a local runtime of language models listens."""

PAYMENTS_FAILED = "livepeer_payment_create_errors"
DISCOVERY = "/discovery"
"""Where clients find the live runners of an orchestrator."""

_OF_ITS_ACCOUNT = ("/ethAddr", "/EthChainID")
_BY_ROLE = {
    "gateway": ("/getBroadcastConfig", "/getNetworkCapabilities", "/senderInfo"),
    "remote-signer": ("/senderInfo",),
    "orchestrator": ("/orchestratorInfo",),
}
_DOCUMENTED = {"gateway": ("/hardware/stats",), "orchestrator": ("/status", "/getOrchestratorInfo")}
"""What only the documentation of the node has on the listener for work; elsewhere it is not found."""
_ON_CHAIN = ("/senderInfo", "/orchestratorInfo", *_OF_ITS_ACCOUNT)


def questions_of(fleet: Fleet, blueprint: Blueprint) -> dict[str, tuple[Inquiry, ...]]:
    """The questions for each host."""
    on_chain = {node.name for node in fleet.nodes if talks_to_chain(fleet, node)}
    sellers = {name for name, settings in fleet.orchestrators.items() if settings.runners}
    return {host.name: tuple(_of_host(host, on_chain, sellers)) for host in blueprint.hosts}


def _of_host(host: HostBlueprint, on_chain: Collection[str], sellers: Collection[str]) -> Iterator[Inquiry]:
    for service in host.services:
        yield from _of_service(host, service, service.name in on_chain, sellers)
    if host.avatar is not None:
        for path in ("/health", "/meta", "/meta/gpu", "/meta/gpu/stats", "/cluster"):
            yield Inquiry(AVATARS, STACK, path)
        for slot in host.avatar.slots:
            yield Inquiry(AVATARS, STACK, f"/power/projects/{slot.project}")


def _of_service(host: HostBlueprint, service: Service, on_chain: bool, sellers: Collection[str]) -> Iterator[Inquiry]:
    if service.table == RUNNERS:
        return
    where = service.health.status
    for path in ("/status", *_OF_ITS_ACCOUNT, *_BY_ROLE.get(service.role, ())):
        if on_chain or path not in _ON_CHAIN:
            yield Inquiry(service.name, where, path)
    if service.monitored:
        yield Inquiry(service.name, where, "/metrics", (PAYMENTS_FAILED,))
    if service.health.healthz:
        for path in _DOCUMENTED.get(service.role, ()):
            yield Inquiry(service.name, service.health.healthz, path)
    if service.name in sellers and service.health.healthz:
        yield Inquiry(service.name, service.health.healthz, DISCOVERY)
    for runner in runners_of(host, service):
        for path in ("/health", "/hardware/stats"):
            yield Inquiry(service.name, runner, path)
    if any(port.purpose == "llm runner" for port in host.ports_of(service)):
        yield Inquiry(service.name, LANGUAGE_MODELS, "/api/version")


def runners_of(host: HostBlueprint, service: Service) -> list[str]:
    """Where the runner containers of a node listen, each once."""
    ports = {port.port for port in host.ports_of(service) if port.purpose.endswith(" runner")}
    return [f"http://127.0.0.1:{port}" for port in sorted(ports)]
