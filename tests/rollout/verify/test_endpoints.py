"""What no spec says of nodes, runners and avatar stacks: an answer of it is a fact that is shown.

What is wrong in an answer is in `test_drifts.py`; `healthy.py` answers each question, and fails at any other.
"""

from __future__ import annotations

from typing import Any

import pytest

from fleetc.rollout.verify.data import STACK
from tests.rollout.verify.healthy import World
from tests.support import INVENTORIES, compile_text, compiled_example

CLI_GATE = "http://127.0.0.1:5935"
WORK_GATE, WORK_ORCH = "http://127.0.0.1:8935", "https://127.0.0.1:8935"

FACTS: list[tuple[str, str, str, Any, tuple[str, str]]] = [
    ("dual-onchain", "orch", f"{WORK_ORCH}/status", {"SessionLimit": 1}, ("session limit where work is taken", "1")),
    (
        "dual-onchain", "gate", f"{CLI_GATE}/getNetworkCapabilities", {"orchestrators": []},
        ("knows the capabilities of", "0"),
    ),
    (
        "dual-onchain", "orch", f"{WORK_ORCH}/getOrchestratorInfo", {"capabilities": ["H.264", "Llm"]},
        ("capabilities", "2"),
    ),
    (
        "dual-onchain", "gate", f"{WORK_GATE}/hardware/stats", {"gpu_stats": {"0": {}, "1": {}}},
        ("GPUs that it reports", "2"),
    ),
    (
        "avatar-stage", "avatars", f"{STACK}/health", {"summary": {"services_up": 3, "total_services": 4}},
        ("services up", "3 of 4"),
    ),
    ("avatar-stage", "avatars", f"{STACK}/power/projects/vtuber-noor", {"state": "sleeping"}, ("state", "sleeping")),
    ("avatar-stage", "avatars", f"{STACK}/cluster", "", ("cluster control", "answers 200 to its own host")),
]  # fmt: skip
"""A fleet, who is asked there, for what, what it says, and the fact (name, text) that is shown."""


@pytest.mark.parametrize(("fleet", "node", "url", "answer", "fact"), FACTS, ids=[row[2] for row in FACTS])
def test_answer_that_no_spec_speaks_of_is_a_fact(
    fleet: str, node: str, url: str, answer: object, fact: tuple[str, str]
) -> None:
    world = World(compiled_example(fleet))
    assert fact not in shown(world)
    (name, *_) = [one for one in world.answers if one.endswith(f" {node} {url}")]
    world.answers[name] = (200, answer)
    assert fact in shown(world)
    assert world.found() == []


def shown(world: World) -> set[tuple[str, str]]:
    """Names and texts of all facts."""
    return {(fact.name, fact.text) for fact in world.judged().facts}


def test_runtime_of_language_models_says_its_version() -> None:
    text = (INVENTORIES / "ai-split/fleet.toml").read_text(encoding="utf-8")
    for old, new in (
        ("upscale", "llm"),
        ("stabilityai/stable-diffusion-x4-llmr", "meta-llama/Meta-Llama-3.1-8B-Instruct"),
    ):
        text = text.replace(old, new)
    world = World(compile_text(text))
    world.say("w-1", "/api/version", {"version": "0.5.1"})
    assert world.found() == []
    assert ("language model runtime", "0.5.1") in shown(world)
