"""Orchestrators whose AI work is done by live runners: they start no AI worker of their own."""

from __future__ import annotations

import pytest

from fleetc.places.diagnostic import Severity
from tests import node
from tests.lower.test_lowering import flags, ports_of, service, settings
from tests.rules.support import (
    SECRET,
    ai_worker,
    flagged,
    free_orchestrator,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    silent,
)

STATIC = {"live_runner_config": '"/etc/livepeer/runners.json"'}
DYNAMIC = {"live_runners": "true"}


@pytest.mark.parametrize("runners", [STATIC, DYNAMIC, STATIC | DYNAMIC])
def test_orchestrator_for_live_runners_alone_starts_no_worker_and_needs_no_docker(runners: dict[str, str]) -> None:
    text = offchain(free_orchestrator(mode='"ai"', secret=SECRET, **runners))
    silent(text)
    found = service(text, "orch")
    assert not set(flags(found)) & {"aiWorker", "aiModels", "aiModelsDir", "transcoder", "nvidia"}
    assert not found.manages_containers
    assert not [mount.path for mount in found.mounts if "docker" in mount.path]
    assert not [port for port in ports_of(text, "orch") if "runner" in port.purpose]
    words, env = [a.text for a in found.arguments], {"HOME": "/root", "LP_ORCHSECRET": "word"}
    assert node.broken_rules(node.read(words, env, {"/etc/livepeer/runners.json": '{"runners": []}'})) == ()


def test_on_a_chain_it_asks_nothing_for_pixels_because_runners_have_their_own_prices() -> None:
    """The node panics without a price, and runners do not use it."""
    text = onchain(orchestrator(mode='"ai"', price=None, secret=SECRET, **DYNAMIC))
    silent(text)
    found = service(text, "orch")
    assert flags(found)["pricePerUnit"] == "0"
    assert node.broken_rules(settings(found)) == ()
    given = onchain(orchestrator(mode='"ai"', secret=SECRET, **DYNAMIC))
    assert flags(service(given, "orch"))["pricePerUnit"] == "1200"


def test_dual_orchestrator_still_transcodes() -> None:
    text = offchain(free_orchestrator(mode='"dual"', secret=SECRET, **DYNAMIC))
    silent(text)
    found = flags(service(text, "orch"))
    assert found["transcoder"] == "true"
    assert "aiWorker" not in found
    priced = onchain(orchestrator(mode='"dual"', price=None, secret=SECRET, **DYNAMIC))
    assert "for video" in flagged(priced, "orchestrator-price-unset")


def test_who_lists_models_or_asks_for_it_runs_them_as_before() -> None:
    offered = free_orchestrator(mode='"ai"', models='[{ use = "realvis" }]', secret=SECRET, **DYNAMIC)
    assert flags(service(offchain(model(), offered), "orch"))["aiWorker"] == "true"
    asked = free_orchestrator(mode='"ai"', ai_work='"local"', secret=SECRET, **DYNAMIC)
    assert flags(service(offchain(asked), "orch"))["aiWorker"] == "true"
    handed = offchain(model(), free_orchestrator(mode='"ai"', secret=SECRET, **DYNAMIC), ai_worker(secret=SECRET))
    assert "aiWorker" not in flags(service(handed, "orch"))
    plain = offchain(model(), free_orchestrator(mode='"ai"', models='[{ use = "realvis" }]', live_runners="false"))
    assert flags(service(plain, "orch"))["aiWorker"] == "true"


def test_secret_that_the_node_demands_is_asked_for() -> None:
    """A list of static runners does not replace it, whatever the node's own page says."""
    text = offchain(free_orchestrator(mode='"ai"', **STATIC))
    found = flagged(text, "shared-secret-missing")
    assert "does not start" in found
    assert "remote workers" not in found
    both = printed(offchain(free_orchestrator(mode='"ai"', **DYNAMIC)))
    assert both.count("[shared-secret-missing]") == 1


def test_node_without_a_secret_lets_anybody_join_as_a_worker() -> None:
    text = offchain(free_orchestrator(mode='"dual"', **STATIC))
    assert "as an AI worker" in flagged(text, "shared-secret-missing", Severity.WARNING)
