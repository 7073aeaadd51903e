"""What `diagnose` makes of starts and ends: how often a node ended, with which words, and the error before."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetc.observe.findings import LogFinding, findings
from tests.observe.support import diagnose, glog, tally_of

START = [
    "*------*-------*",
    "| Network | mainnet |",
    "*------*-------*",
    glog("***Livepeer is running on the x network***"),
]
GPU = "[AVHWDeviceContext @ 0x7f3] cu->cuInit(0) failed -> CUDA_ERROR_UNKNOWN: unknown error"
FULL = glog("Something about block 12 went wrong", level="E")


def ends(*lines: str) -> list[LogFinding]:
    """The findings about lives that ended."""
    return [finding for finding in findings(tally_of(*lines)) if finding.code == "node-ended"]


def test_starts_that_end_alike_are_one_finding() -> None:
    (end,) = ends(*[*START, FULL, "panic: runtime error: index out of range [7]", "", "goroutine 1 [running]:"] * 6)
    assert end.seen.count == 6
    assert end.what == (
        "a node ended 6 times: panic: runtime error: index out of range [<n>]; "
        "the error before it: Something about block <n> went wrong; 6 starts in all"
    )


def test_end_with_a_page_is_a_finding_of_its_own_where_it_comes_again() -> None:
    lines = [*START, GPU, "panic: Unrecoverable state, restart process"]
    assert ends(*lines) == []
    (end,) = ends(*lines, *lines)
    assert "a node ended 2 times: a GPU cannot be used; the error before it: [AVHW" in end.what


def test_start_after_no_end_says_that_the_log_has_no_reason() -> None:
    (end,) = ends(*START, *START)
    assert end.what == "a node ended, and its log does not say why; 2 starts in all"
    assert ends(*START) == []


def test_node_that_was_stopped_is_none() -> None:
    assert ends(*START, glog("Exiting Livepeer: terminated"), glog("Graceful shutdown complete"), *START) == []
    unit = "Nov 23 05:12:13 h systemd[1]: livepeer-o.service: Main process exited, code=exited, status=0/SUCCESS"
    assert ends(*START, unit, *START) == []


def test_several_words_of_one_end_are_one_end() -> None:
    unit = (
        "Nov 23 05:12:13 h systemd[1]: livepeer-o.service: Main process exited, code=exited, status=2/INVALIDARGUMENT"
    )
    (end,) = ends(*START, "panic: out of luck", unit, *START)
    assert (end.seen.count, "out of luck" in end.what) == (1, True)
    (killed,) = ends(*START, unit.replace("exited, status=2/INVALIDARGUMENT", "killed, status=9/KILL"), *START)
    assert "code=killed" in killed.what


def test_function_in_which_a_program_ended_is_that_of_the_node() -> None:
    trace = ["goroutine 7 [running]:", "math/big.(*Rat).Num(...)", "\t/usr/local/go/src/math/big/rat.go:409"]
    trace += [
        f"github.com/livepeer/go-livepeer/{name}"
        for name in ("core.(*orchestrator).priceInfo(0xc0)", "server.get(...)")
    ]
    (end,) = ends(*START, "panic: out of luck", *trace, *START, "http: panic serving 10.0.0.7:41000: nil", trace[-1])
    assert end.what == "a node ended: panic: out of luck, in core.(*orchestrator).priceInfo; 2 starts in all"


def test_error_with_a_page_tells_more_of_an_end_than_later_ones() -> None:
    (end,) = ends(*START, GPU, FULL, "fatal error: unexpected signal during runtime execution")
    assert "CUDA_ERROR_UNKNOWN" in end.what


def test_containers_in_one_stream_have_lives_of_their_own() -> None:
    orch, gate = [f"orch-1   | {line}" for line in START], [f"gw-1 | {line}" for line in [*START, FULL]]
    (end,) = ends(*orch, *gate, "orch-1   | panic: out of luck")
    assert end.what == "a node ended: panic: out of luck; 2 starts in all", "the error is of the other container"


@pytest.mark.parametrize(
    ("text", "field"),
    [("Missing -orchAddr", "transcoders.orchestrator"), ("flag provided but not defined: -maxSession", "")],
)
def test_last_words_lead_to_the_fields_that_they_name(text: str, field: str) -> None:
    (end,) = ends(f"F1123 05:12:13.123456       1 starter.go:2106] {text}" if field else text)
    assert field in " ".join(end.change)
    assert not field or f"-orchAddr comes from gateways.orchestrators or {field}" in end.handling


def test_endless_errors_and_ends_keep_memory_bounded() -> None:
    lives = tally_of(*(f"panic: luck number {'x' * (number % 997)} is out" for number in range(5000))).lives
    assert len(list(lives)) <= 200


@pytest.mark.parametrize(("lines", "code"), [([FULL], 4), ([FULL, START[3]], 4), ([START[3]], 0)])
def test_error_that_nobody_understands_is_not_fine(
    lines: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("node.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = diagnose("node.log")
    assert run.returncode == code, run.stdout
    assert ("no problems" in run.stdout) == (code == 0)
    assert f"problems: 0, harmless: 0, kinds of errors that are not understood: {int(code == 4)}\n" in run.stdout
    assert ("errors of 1 kind are not understood, 1 line" in run.stdout) == (code == 4)
