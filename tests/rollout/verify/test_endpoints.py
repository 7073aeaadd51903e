"""Each endpoint that nodes, runners and avatar stacks have, or that their documentation has, and what of it counts.

A row says where the documentation has an endpoint, where it is asked, an answer that is not as it should be, and what
comes of it: a finding, or a fact that is shown where no spec says what would be right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from fleetc.rollout.verify.data import STACK
from tests.rollout.verify.healthy import World, told
from tests.support import INVENTORIES, compile_text, compiled_example

CLI_GATE, CLI_ORCH = "http://127.0.0.1:5935", "http://127.0.0.1:7935"
WORK_GATE, WORK_ORCH = "http://127.0.0.1:8935", "https://127.0.0.1:8935"


class Row(NamedTuple):
    """An endpoint: who is asked, where, for what; another answer, and the finding or the fact (name, text) of it."""

    fleet: str
    node: str
    where: str
    path: str
    answer: Any
    finding: tuple[str, str, str] | None = None
    fact: tuple[str, str] | None = None


NODE = {
    "/status, SessionLimit": Row(
        "dual-onchain", "orch", CLI_ORCH, "/status", {"Version": "0.9.1", "SessionLimit": 1},
        finding=("drift", "set-at-run-time", "orchestrators.orch.max_sessions"),
    ),
    "/status, PricePerUnit": Row(
        "dual-onchain", "orch", CLI_ORCH, "/status", {"Version": "0.9.1", "PricePerUnit": "7"},
        finding=("drift", "set-at-run-time", "orchestrators.orch.price"),
    ),
    "/status, at the public service port": Row(
        "dual-onchain", "orch", WORK_ORCH, "/status", {"SessionLimit": 1},
        fact=("session limit where work is taken", "1"),
    ),
    "/getNetworkCapabilities": Row(
        "dual-onchain", "gate", CLI_GATE, "/getNetworkCapabilities", {"orchestrators": [{}, {}, {}]},
        fact=("knows the capabilities of", "3"),
    ),
    "/metrics": Row(
        "dual-onchain", "gate", CLI_GATE, "/metrics",
        'livepeer_max_sessions_total{x="1"} 10\nlivepeer_payment_create_errors{x="1"} 2\n',
        finding=("warning", "payments-failing", "gateways.gate"),
    ),
    "/getOrchestratorInfo": Row(
        "dual-onchain", "orch", WORK_ORCH, "/getOrchestratorInfo", {"capabilities": ["H.264", "Llm"]},
        fact=("capabilities", "2"),
    ),
    "/hardware/stats": Row(
        "dual-onchain", "gate", WORK_GATE, "/hardware/stats", {"gpu_stats": {"0": {}, "1": {}}},
        fact=("GPUs that it reports", "2"),
    ),
    "/hardware/stats, of a runner": Row(
        "dual-onchain", "orch", "http://127.0.0.1:8000", "/hardware/stats", {"gpu_stats": {}},
        finding=("drift", "runner-without-gpu", "orchestrators.orch.gpus"),
    ),
    "/getBroadcastConfig": Row(
        "dual-onchain", "gate", CLI_GATE, "/getBroadcastConfig", {"MaxPrice": "1"},
        finding=("drift", "set-at-run-time", "gateways.gate.max_price"),
    ),
    "/senderInfo": Row(
        "dual-onchain", "gate", CLI_GATE, "/senderInfo", {"Deposit": 0, "Reserve": 10**19},
        finding=("warning", "deposit-low", "wallets.payer"),
    ),
    "/orchestratorInfo": Row(
        "dual-onchain", "orch", CLI_ORCH, "/orchestratorInfo",
        {"Transcoder": {"ServiceURI": "https://other.example.net:8935", "Active": True}},
        finding=("drift", "other-service-address", "hosts.gpu.public"),
    ),
    "/ethAddr": Row(
        "dual-onchain", "gate", CLI_GATE, "/ethAddr", "0x", finding=("drift", "other-account", "gateways.gate.wallet")
    ),
    "/EthChainID": Row(
        "dual-onchain", "gate", CLI_GATE, "/EthChainID", "5", finding=("drift", "other-chain", "fleet.network")
    ),
    "/minGasPrice": Row(
        "two-regions", "us-live", CLI_GATE, "/minGasPrice", "5",
        finding=("drift", "set-at-run-time", "gateways.us-live")
    ),
    "/getLogLevel": Row(
        "dual-onchain", "gate", CLI_GATE, "/getLogLevel", "1",
        finding=("drift", "set-at-run-time", "gateways.gate.verbosity"),
    ),
    "/healthz": Row(
        "dual-onchain", "orch", WORK_ORCH, "/healthz", [503], finding=("drift", "node-unhealthy", "orchestrators.orch")
    ),
}  # fmt: skip

AVATARS = {
    "/health": Row(
        "avatar-stage", "avatars", STACK, "/health", {"summary": {"services_up": 3, "total_services": 4}},
        fact=("services up", "3 of 4"),
    ),
    "/meta": Row(
        "avatar-stage", "avatars", STACK, "/meta", {"env": {"AVATAR_SERVICE_IMAGE_TAG": "v1"}},
        finding=("drift", "other-stack-release", "avatars.front"),
    ),
    "/meta/gpu": Row(
        "avatar-stage", "avatars", STACK, "/meta/gpu", {"ok": True, "gpus": []},
        finding=("drift", "gpus-missing", "hosts.stage-1.gpus"),
    ),
    "/meta/gpu/stats": Row(
        "avatar-stage", "avatars", STACK, "/meta/gpu/stats", {"gpus": [{"memory_used_mib": 9, "memory_total_mib": 10}]},
        finding=("warning", "gpu-memory-full", "avatars.front"),
    ),
    "/power/projects/{project}": Row(
        "avatar-stage", "avatars", STACK, "/power/projects/vtuber-noor", {"state": "sleeping"},
        fact=("state", "sleeping"),
    ),
    "/cluster": Row(
        "avatar-stage", "avatars", STACK, "/cluster", [200], fact=("cluster control", "answers 200 to its own host")
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", [*NODE.values(), *AVATARS.values()], ids=[*NODE, *AVATARS])
def test_endpoint_is_asked_and_its_answer_counts(row: Row) -> None:
    world = World(compiled_example(row.fleet))
    names = [name for name in world.answers if name.endswith(f" {row.node} {row.where}{row.path}")]
    assert names, "nobody asks for it"
    status = row.answer[0] if isinstance(row.answer, list) else 200
    world.answers[names[0]] = (status, "" if isinstance(row.answer, list) else row.answer)
    verdict = world.judged()
    found = [told(one) for one in verdict.found]
    assert found.count(row.finding) == 1 if row.finding else found == []
    if row.fact:
        assert row.fact in {(fact.name, fact.text) for fact in verdict.facts}


def test_runtime_of_language_models_says_its_version() -> None:
    text = (INVENTORIES / "ai-split/fleet.toml").read_text(encoding="utf-8")
    for old, new in (
        ("upscale", "llm"),
        ("stabilityai/stable-diffusion-x4-llmr", "meta-llama/Meta-Llama-3.1-8B-Instruct"),
    ):
        text = text.replace(old, new)
    world = World(compile_text(text))
    world.say("w-1", "/api/version", {"version": "0.5.1"})
    verdict = world.judged()
    assert verdict.found == ()
    assert ("language model runtime", "0.5.1") in {(fact.name, fact.text) for fact in verdict.facts}


def test_what_changes_something_is_never_asked() -> None:
    """/ops/upgrade and the paths of /cluster that do something take a POST, and every question is a GET."""
    for name in ("dual-onchain", "two-regions", "ai-split", "avatar-stage", "demo"):
        paths = {one.path for asked in World(compiled_example(name)).asked.values() for one in asked}
        assert not [path for path in paths if path.startswith(("/set", "/ops", "/cluster/"))]
        assert "/debug/pprof/profile" not in paths
