"""`fleetc diagnose` finds the table of the live runner that a line of a node is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.observe.support import diagnose, glog
from tests.support import ROOT

SPEC = (ROOT / "tests/data/runner_fleet.toml").read_text("utf-8")
TIME = "2026/11/23 05:12:13"
UNWELL = f"{TIME} INFO static live runner health changed runner_id=r1 app={{}} status=unavailable health_url={{}}"


def places(place: Path, line: str, *named: str) -> dict[str, list[str]]:
    """The lines of the spec that a line of a log leads to, by code."""
    (place / "fleet.toml").write_text(SPEC)
    (place / "node.log").write_text(line + "\n")
    run = diagnose("node.log", "--spec", ".", *named, "--format", "json")
    found = {}
    for item in json.loads(run.stdout)["diagnostics"]:
        labels = [item["primary"], *item["related"]]
        rows = [one["line"] for one in labels if one["file"] == "fleet.toml"]
        found[item["code"]] = [SPEC.splitlines()[row - 1] for row in rows]
    return found


def test_app_of_a_line_names_its_runner(place: Path) -> None:
    line = UNWELL.format("vllm/qwen2.5-0.5b-instruct", "http://127.0.0.1:8000/v1/health")
    assert places(place, line, "--node", "orch") == {"live-runner-health-failed": ['health = "/health"']}
    other = UNWELL.format("example/faces", "http://farm.example.net:9001/well")
    assert places(place, other) == {"live-runner-health-failed": ['health = "http://farm.example.net:9001/well"']}


def test_price_that_cannot_be_converted_is_that_of_its_runner(place: Path) -> None:
    words = "error creating live runner price converter runner_id=r1 app=example/voices"
    line = f'{TIME} ERROR {words} endpoint=http://203.0.113.22:9100 err="no data"'
    assert places(place, line)["runner-price-unavailable"][0] == 'price = "0.0002 ETH / hour"'


@pytest.mark.parametrize(("at", "table"), [(0, "[runners.llm]"), (3, "[runners.proxy]")])
def test_entry_of_a_refused_list_is_a_table(at: int, table: str, place: Path) -> None:
    line = glog(f"error registering -liveRunnerConfig: runners[{at}]: price_info.price is required", level="F")
    assert places(place, line, "--node", "orch")["runner-file-refused"][0] == table


def test_entry_that_a_list_does_not_have_means_all_that_the_orchestrator_lists(place: Path) -> None:
    line = glog("error registering -liveRunnerConfig: runners[7]: invalid runner_url", level="F")
    found = places(place, line, "--node", "other")["runner-file-refused"]
    assert found[:2] == ["[runners.voices]", "[runners.faces]"]


def test_line_that_names_no_runner_leads_to_those_of_its_orchestrator(place: Path) -> None:
    line = glog("HTTP Response Error statusCode=503 err=no capacity available for runner", level="E")
    found = places(place, line, "--node", "orch")["live-runner-full"]
    assert "capacity = 8" in found
    assert 'runners = ["llm", "faces", "voices", "proxy", "echo"]' in found  # two of them share a server


def test_secret_that_a_runner_lacks_is_that_of_its_orchestrator(place: Path) -> None:
    line = glog("HTTP Response Error statusCode=401 err=invalid registration authorization", level="E")
    found = places(place, line, "--node", "orch")["live-runner-secret-refused"]
    assert 'secret = { host_file = "/etc/livepeer/orchestrator-secret" }' in found


REFUSED = "invalid registration authorization"
FULL = "RuntimeError: CUDA error: out of memory"


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("echo", REFUSED, {"live-runner-secret-refused": ["[runners.echo]"]}),
        ("llm", FULL, {"cuda-out-of-memory": ["[runners.llm]"]}),
        ("voices", FULL, {"cuda-out-of-memory": ["[runners.voices]"]}),  # where check says what number is missing
    ],
)
def test_line_of_its_own_log_leads_to_its_table(
    name: str, line: str, expected: dict[str, list[str]], place: Path
) -> None:
    assert places(place, line, "--node", name) == expected


def test_runner_that_others_start_has_no_log_here(place: Path) -> None:
    (place / "fleet.toml").write_text(SPEC)
    (place / "node.log").write_text(FULL + "\n")
    run = diagnose("node.log", "--spec", ".", "--node", "proxy")
    assert run.returncode == 2
    assert 'live runner "proxy" is at a url, so fleetc has no log of it' in run.stderr
