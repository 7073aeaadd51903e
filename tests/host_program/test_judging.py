"""What a host says against a node that runs: by its process, by its answers, and by what it does not answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import Program, loaded

Json = dict[str, Any]
WHERE, WORK = "http://127.0.0.1:7935", "https://127.0.0.1:8935"
OTHER = "0x" + "Aa" * 20
SETTERS = {
    "pricePerUnit": {"read": ["/status", "BroadcasterPrices", "default"]},
    "pricePerGateway": {"read": ["/status", "BroadcasterPrices", "{}"]},
    "maxSessions": {"read": ["/metrics", "livepeer_max_sessions_total"]},
    "v": {"read": ["/getLogLevel"]},
    "liveRunnerConfig": {"document": "liveRunners.json"},
}
LIVE = [f"pricePerGateway {OTHER.lower()}=1100", "pricePerUnit=1200", "maxSessions=8", "v=5", "liveRunnerConfig echo=1"]
SERVICE = {
    "name": "orch", "live": LIVE,
    "health": {
        "healthz": WORK, "status": WHERE, "version": "0.9.1", "ports": [8],
        "answers": {"where": "http://127.0.0.1:9000", "path": "/v1/health", "status": 204},
    },
}  # fmt: skip
STATUS = {"Version": "0.9.1", "BroadcasterPrices": {"default": "2400/2", OTHER: "1100"}}
RUNNER = "http://127.0.0.1:9000"
WELL: dict[str, tuple[int, str]] = {
    RUNNER + "/v1/health": (204, ""),
    WORK + "/healthz": (200, ""),
    WHERE + "/status": (200, json.dumps(STATUS)),
    WHERE + "/metrics": (200, 'livepeer_max_sessions_total{node_id="x"} 8\n'),
    WHERE + "/getLogLevel": (200, "5\n"),
}


def status(**fields: Any) -> dict[str, tuple[int, str]]:
    return {WHERE + "/status": (200, json.dumps({**STATUS, **fields}))}


def judged(root: Path, answers: dict[str, tuple[int, str]], ports: tuple[int, ...] = (8,)) -> tuple[Json, list[str]]:
    """The verdict on a node that gives these answers, and what it was asked for."""
    program, asked = loaded(root), []

    def ask(where: str, path: str) -> tuple[int, bytes]:
        asked.append(where + path)
        code, body = answers[where + path]
        return code, body.encode()

    program |= {"ask": ask, "listening_ports": lambda _: list(ports), "drift_of_process": lambda *_: []}
    return program["judged"](SERVICE, "systemd", 7, "/nowhere", SETTERS), asked


def test_node_that_is_as_its_release_wants_it_has_nothing_against_it(tmp_path: Path) -> None:
    verdict, asked = judged(tmp_path, WELL)
    assert verdict == {"drift": [], "was_set": [], "ill": [], "unanswered": [], "live": LIVE}
    assert sorted(asked) == sorted(WELL), "each path is asked once"


AGAINST: dict[str, tuple[dict[str, tuple[int, str]], Json]] = {
    "a price of 1 wei": (
        status(BroadcasterPrices={"default": "1", OTHER: "1100"}),
        {"was_set": ["it says that pricePerUnit is 1 instead of 1200"]},
    ),
    "a price for one gateway": (
        status(BroadcasterPrices={"default": "1200", OTHER: "7/2"}),
        {"was_set": [f"it says that pricePerGateway {OTHER.lower()} is 7/2 instead of 1100"]},
    ),
    "no price": (
        status(BroadcasterPrices={OTHER: "1100"}),
        {"was_set": ["it says that pricePerUnit is nothing instead of 1200"]},
    ),
    "no prices": (
        status(BroadcasterPrices=None),
        {"unanswered": [f"it answers nothing of pricePerGateway {OTHER.lower()} to /status"]},
    ),
    "sessions": (
        {WHERE + "/metrics": (200, "livepeer_max_sessions_total 9\n")},
        {"was_set": ["it says that maxSessions is 9 instead of 8"]},
    ),
    "no such metric": (
        {WHERE + "/metrics": (200, "")}, {"unanswered": ["it answers nothing of maxSessions to /metrics"]},
    ),
    "what ends a line or a name": (
        {WHERE + "/getLogLevel": (200, "6=\x1b[2J\n7")}, {"was_set": ["it says that v is 6??[2J?7 instead of 5"]},
    ),
    "another release": (status(Version="0.9.10"), {"ill": ["it runs release 0.9.10 instead of 0.9.1"]}),
    "another commit": (status(Version="0.9.1-abcdef"), {}),
    "no release": (status(Version=None), {"unanswered": ["it answers no release to /status"]}),
    "not well": ({WORK + "/healthz": (503, "")}, {"ill": ["it answers 503 to /healthz"]}),
    "a live runner with another status": (
        {RUNNER + "/v1/health": (200, "")},
        {"ill": ["it answers 200 to /v1/health instead of 204, so its orchestrator hides it"]},
    ),
    "a live runner that is silent": (
        {RUNNER + "/v1/health": (0, "")},
        {"ill": ["it answers nothing to /v1/health instead of 204, so its orchestrator hides it"]},
    ),
    "nonsense": ({WHERE + "/status": (200, "<html>")}, {"unanswered": ["it answers nonsense to /status"]}),
    "no administration": ({WHERE + "/status": (0, "")}, {"unanswered": ["it answers nothing to /status"]}),
    "no work": ({WORK + "/healthz": (0, "")}, {"unanswered": ["it answers nothing to /healthz"]}),
}  # fmt: skip


@pytest.mark.parametrize("what", AGAINST)
def test_each_difference_is_of_one_kind(tmp_path: Path, what: str) -> None:
    changes, expected = AGAINST[what]
    verdict, asked = judged(tmp_path, {**WELL, **changes})
    live = verdict.pop("live")
    assert {kind: words for kind, words in verdict.items() if words} == expected
    assert len(asked) == len(set(asked))
    assert (live == LIVE) == ("was_set" not in expected)
    if what == "no administration":
        listeners = [WORK + "/healthz", WHERE + "/status", RUNNER + "/v1/health"]
        assert asked == listeners, "a listener without an answer is not asked again"


def test_closed_port_is_named(tmp_path: Path) -> None:
    assert judged(tmp_path, WELL, ports=())[0]["ill"] == ["it does not listen on port 8"]


DIGEST = "d" * 64
RUNS: Json = {"node": "orch", "digest": DIGEST, "runtime": "docker", "running": True, "rest": "r", "live": ["v=5"]}
STEPS: list[tuple[Json, str, tuple[str, str]]] = [
    ({}, "try", ("keep", "")),
    ({"was_set": ["it says that v is 6 instead of 5"]}, "try", ("live", "it says that v is 6 instead of 5")),
    ({"was_set": ["it says that v is 6 instead of 5"]}, "only", ("live", "it says that v is 6 instead of 5")),
    ({"was_set": ["it says that v is 6 instead of 5"]}, "never", ("restart", "it says that v is 6 instead of 5")),
    ({"was_set": ["x"], "drift": ["its unit was changed"]}, "try", ("restart", "its unit was changed")),
    ({"ill": ["it answers 503 to /healthz"], "unanswered": ["y"]}, "try", ("ill", "it answers 503 to /healthz")),
    ({"unanswered": ["it answers nothing to /status"]}, "try", ("unknown", "it answers nothing to /status")),
    ({"ill": ["z"], "was_set": ["x"]}, "try", ("live", "x")),
]


@pytest.mark.parametrize(("against", "live", "expected"), STEPS)
def test_verdict_decides_the_step_of_a_node_that_keeps_its_files(
    tmp_path: Path, against: Json, live: str, expected: tuple[str, str]
) -> None:
    program: Program = loaded(tmp_path)
    wanted = {"release": "a", "live": live, "processes": [RUNS]}
    steps = program["steps"]({"release": "a", "processes": [{**RUNS, **against}]}, wanted)
    assert [(step["do"], step["reason"]) for step in steps if step["node"]] == [expected]
    assert (expected[0] in program["STAYS"]) == (expected[0] in ("keep", "ill", "unknown"))
