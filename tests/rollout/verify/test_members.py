"""What members of one table share: one message for people, and every member with its own line as data."""

from __future__ import annotations

import json

import pytest

from fleetc.pipeline import compile_spec
from fleetc.rollout.verify.data import Finding, Kind
from fleetc.rollout.verify.judge import Verdict
from fleetc.rollout.verify.report import as_data, report_of
from fleetc.toml.document import Source
from tests.support import shipped

MANY = """\
spec = 1
[fleet]
name = "two"
network = "offchain"
node_release = "v0.9.1"
[hosts."gpu-{1..2}"]
address = "127.0.0.{21..22}"
public = "gpu-{}.example.net"
runtime = "docker"
[orchestrators."orch-{}"]
on = "gpu-*"
mode = "video"
max_sessions = 2
secret = { env = "S" }
"""


@pytest.mark.parametrize(
    ("code", "kind", "table", "node"),
    [
        ("host-unreachable", "unknown", ("hosts", "gpu-{}"), ""),
        ("other-release", "drift", ("orchestrators", "orch-{}"), "orch-{}"),
        ("not-answered", "unknown", ("hosts", "gpu-{}", "public"), "orch-{}"),
    ],
)
def test_members_with_one_finding_share_a_message_and_keep_their_rows(
    code: str, kind: Kind, table: tuple[str, ...], node: str
) -> None:
    compiled = compile_spec((Source("fleet.toml", MANY),), *shipped())
    findings = tuple(
        Finding(kind, code, f"gpu-{n}", node.format(n), f"gpu-{n}: it is so", tuple(p.format(n) for p in table))
        for n in (1, 2)
    )
    hosts = ("gpu-1", "gpu-2")
    report = report_of(compiled, hosts, Verdict(findings, ()), "2026-01-31T00:00:00Z")
    (shared,) = report.located
    assert any(place.note.startswith("in 2 members: ") for place in shared.related), "one message for both"
    rows = json.loads(json.dumps(as_data(report)))["findings"]
    assert [(row["host"], row["message"]) for row in rows] == [(host, f"{host}: it is so") for host in hosts]
    assert report.exit_code == (4 if kind == "unknown" else 1)
