"""A setting needs a newer node release than the one that runs.

Why: a node exits at startup if it gets a flag that it does not know.

Example:

    [fleet]
    node_release = "v0.8.0"

    [gateways.gate]
    ai_retry_timeout = "5 s"

Instead:

    [fleet]
    node_release = "v0.8.4"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.node import AiSettings
from fleetc.language.orchestrator import Orchestrator
from fleetc.language.rows import settings_given
from fleetc.language.signer import Signer
from fleetc.language.worker import AiWorker
from fleetc.places.diagnostic import Diagnostic, Label, Path, error
from fleetc.upstream import ABILITIES, FLAGS, Release, format_release

_NEWEST_FACT = max(*(flag.since for flag in FLAGS.values()), *ABILITIES.values())


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the nodes on releases older than the newest one in the data of fleetc."""
    for node in fleet.nodes:
        release = effective.release_of(fleet, node)
        if release.value >= _NEWEST_FACT:
            continue
        for path, what, since in _needs(fleet, node):
            if since > release.value:
                wanted = format_release(since)
                yield error(
                    "flag-unknown-to-release",
                    f"{node.name} runs {format_release(release.value)}, which has no {what}: it came with {wanted}",
                    Label(path),
                    [Label(release.origin.paths[0], "the release")],
                    f'remove it, or write node_release = "{wanted}" or newer',
                )


def _needs(fleet: Fleet, node: Node) -> Iterator[tuple[Path, str, Release]]:
    """What the node's settings need: a place, the flag or ability, and the first release that has it."""
    for row, _ in settings_given(node):
        yield (*node.path, *row.parts), f"-{row.flag}", FLAGS[row.flag].since
    settings = node.settings
    if isinstance(settings, AiWorker):
        yield node.path, "AI workers", FLAGS["aiWorker"].since
    elif effective.serves_ai(node):
        yield (*node.path, "mode"), "AI", FLAGS["aiModels"].since
    if isinstance(settings, Signer):
        yield node.path, "remote signers", FLAGS["remoteSigner"].since
    if isinstance(settings, Gateway):
        if settings.min_runner_versions:
            yield (*node.path, "min_runner_versions"), "-aiMinRunnerVersion", FLAGS["aiMinRunnerVersion"].since
        if settings.remote_signer is not None and settings.remote_signer.signer is not None:
            yield (*node.path, "remote_signer", "signer"), "-remoteSignerUrl", FLAGS["remoteSignerUrl"].since
        if "LIVE_AI_WHEP_ADDR" in settings.environment:
            yield (*node.path, "environment", "LIVE_AI_WHEP_ADDR"), "WHEP", ABILITIES["whep"]
        if settings.discovery == "ai-registry":
            yield (*node.path, "discovery"), "-aiServiceRegistry", FLAGS["aiServiceRegistry"].since
        if settings.max_model_prices:
            yield (*node.path, "max_model_prices"), "-maxPricePerCapability", FLAGS["maxPricePerCapability"].since
    if isinstance(settings, Orchestrator):
        if settings.mode == "ai":
            yield (*node.path, "mode"), "AI-only orchestrators", ABILITIES["ai-orchestrator-alone"]
        if settings.ai_registry is not None:
            yield (*node.path, "ai_registry"), "-aiServiceRegistry", FLAGS["aiServiceRegistry"].since
        if fleet.on_chain:
            yield from _zero_prices(fleet, node, settings)
        if not settings.http_tls:
            yield (*node.path, "http_tls"), "listener without TLS", ABILITIES["plain-http-listener"]
    if isinstance(settings, AiSettings) and effective.runs_models(fleet, node).value:
        yield from _images(fleet, node, settings)


def _zero_prices(fleet: Fleet, node: Node, settings: Orchestrator) -> Iterator[tuple[Path, str, Release]]:
    for index, use in enumerate(settings.models):
        price = effective.model_price(fleet, node, index, use)
        if price is not None and price.value.is_zero:
            yield price.origin.paths[0], "price of zero for a model", ABILITIES["model-price-zero"]


def _images(fleet: Fleet, node: Node, settings: AiSettings) -> Iterator[tuple[Path, str, Release]]:
    since = FLAGS["aiRunnerImageOverrides"].since
    for index, use in enumerate(settings.models):
        if fleet.models[use.use].image is not None:
            yield (*node.path, "models", index, "use"), "-aiRunnerImageOverrides", since
