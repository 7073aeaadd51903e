"""Settings that a node's release does not have."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    ai_worker,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    model,
    offchain,
    onchain,
    signer,
    silent,
)

CODE = "flag-unknown-to-release"


def test_flag_of_a_later_release(snapshot: SnapshotAssertion) -> None:
    text = offchain(free_orchestrator(), free_gateway(ai_retry_timeout='"5s"'), node_release='"v0.8.3"')
    assert flagged(text, CODE) == snapshot


def test_release_that_has_it_is_fine() -> None:
    silent(offchain(free_orchestrator(), free_gateway(ai_retry_timeout='"5s"'), node_release='"v0.8.4"'))


def test_release_of_the_node_counts() -> None:
    node = free_gateway(ai_retry_timeout='"5s"', node_release='"v0.8.3"')
    assert "gateways.gate" not in flagged(offchain(free_orchestrator(), node), CODE)
    newer = free_gateway(ai_retry_timeout='"5s"', node_release='"v0.9.1"')
    silent(offchain(free_orchestrator(), newer, node_release='"v0.8.3"'))


def test_unsound_specs_are_flagged() -> None:
    # Setting in a table below the node.
    node = free_gateway(live='{ heartbeat_url = "https://beat.example.net" }')
    assert "-liveAIHeartbeatURL" in flagged(offchain(free_orchestrator(), node, node_release='"v0.8.6"'), CODE)
    # AI workers came with AI.
    orch = free_orchestrator(mode='"dual"', host='"edge"', models='[{ use = "realvis" }]', secret=SECRET)
    text = offchain(model(), orch, ai_worker(node_release='"v0.7.8"'))
    assert "AI workers" in flagged(text, CODE)
    # Image of a model needs overrides.
    orch = free_orchestrator(mode='"dual"', models='[{ use = "realvis" }]')
    text = offchain(model(image='"x/y:v1.0.0"'), orch, node_release='"v0.8.2"')
    assert "-aiRunnerImageOverrides" in flagged(text, CODE)


@pytest.mark.parametrize(
    ("settings", "release", "what"),
    [
        ({"mode": '"dual"', "models": '[{ use = "realvis" }]'}, "v0.7.8", "AI"),
        ({"mode": '"ai"', "models": '[{ use = "realvis" }]', "secret": SECRET}, "v0.8.1", "AI-only"),
        ({"http_tls": "false"}, "v0.8.11", "without TLS"),
        ({"ai_registry": "true"}, "v0.7.8", "-aiServiceRegistry"),
    ],
)
def test_decisions_need_releases_too(settings: dict[str, str], release: str, what: str) -> None:
    text = offchain(model(), free_orchestrator(**settings), node_release=f'"{release}"')
    assert what in flagged(text, CODE)
    silent(offchain(model(), free_orchestrator(**settings)))


def test_caps_of_models_and_the_ai_registry_came_with_ai() -> None:
    node = gateway(discovery='"ai-registry"', max_model_prices='{ llm = "1 wei / pixel" }')
    found = flagged(onchain(node, node_release='"v0.7.8"'), CODE)
    assert "-maxPricePerCapability" in found
    assert "-aiServiceRegistry" in found


def test_signers_and_lowest_runner_versions_came_later() -> None:
    assert "remote signers" in flagged(onchain(signer(), node_release='"v0.8.9"'), CODE)
    gate = gateway(wallet=None, http='"127.0.0.1:9935"', remote_signer='{ signer = "signer" }')
    assert "-remoteSignerUrl" in flagged(onchain(signer(), gate, node_release='"v0.8.9"'), CODE)
    gate = gateway(min_runner_versions='{ realvis = "0.14.1" }')
    assert "-aiMinRunnerVersion" in flagged(onchain(model(), gate, node_release='"v0.8.5"'), CODE)
