"""The gate judges a run by the hosts it really reached, not by Ansible's own word."""

from __future__ import annotations

import pytest

from fleetc.rollout.hosts.gate import Stats, Verdict, judge

H1, H2 = {"h1": 1}, {"h1": 1, "h2": 1}

Case = tuple[list[str], str, int, Stats | None, Verdict]
BOTH = ["h1", "h2"]
BOTH_OK = {"h1": 3, "h2": 3}

CASES: dict[str, Case] = {
    "all hosts came through": (BOTH, "successful", 0, {"ok": BOTH_OK, "processed": H2}, "proceed"),
    "no host matched": (BOTH, "successful", 0, {"ok": {}, "dark": {}, "failures": {}, "processed": {}}, "halt"),
    "one host never reached": (BOTH, "successful", 0, {"ok": {"h1": 3}, "processed": H1}, "halt"),
    "an ignored failure": (BOTH, "successful", 0, {"ok": BOTH_OK, "ignored": {"h2": 1}, "processed": H2}, "halt"),
    "a rescued failure": (BOTH, "successful", 0, {"ok": BOTH_OK, "rescued": {"h2": 1}, "processed": H2}, "halt"),
    "an unreachable host": (BOTH, "failed", 4, {"ok": {"h1": 1}, "dark": {"h2": 1}, "processed": H2}, "halt"),
    "a timeout": (["h1"], "timeout", 254, None, "halt_unknown"),
    "a cancelled run": (["h1"], "canceled", 254, None, "halt_unknown"),
    "a host outside the run": (
        ["h1"],
        "successful",
        0,
        {"ok": {"h1": 3, "h9": 1}, "processed": {**H1, "h9": 1}},
        "halt",
    ),
    "no statistics": (["h1"], "failed", 1, None, "halt"),
    "a failure without a failed host": (["h1"], "failed", 2, {"ok": {"h1": 3}, "processed": H1}, "halt"),
    "a host that did nothing": (["h1"], "successful", 0, {"ok": {}, "processed": H1}, "halt"),
}


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str) -> None:
    hosts, status, rc, stats, expected = CASES[name]
    judgement = judge(hosts, status, rc, stats)
    assert judgement.verdict == expected
    assert bool(judgement.reasons) == (expected != "proceed")


def test_reasons_name_the_hosts() -> None:
    stats: Stats = {
        "ok": {"a": 1, "b": 1},
        "dark": {"c": 1},
        "failures": {"b": 1},
        "processed": {"a": 1, "b": 1, "c": 1},
    }
    assert judge(["a", "b", "c", "d"], "failed", 2, stats).reasons == (
        "c could not be reached",
        "b failed",
        "d was not reached",
    )
