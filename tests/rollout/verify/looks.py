"""Looks at fleets made by hand: what people see every day, what is far too much, and what wants to do harm."""

from __future__ import annotations

from collections.abc import Sequence

from fleetc.places.diagnostic import Path
from fleetc.rollout.verify.data import AVATARS, Fact, Finding, Kind
from fleetc.rollout.verify.judge import Verdict
from fleetc.rollout.verify.report import NodeReport, Report, report_of
from tests.support import compiled_example

TIME = "2026-11-23T06:30:00Z"


def found(
    kind: Kind, code: str, host: str, node: str, message: str, place: Path = ("fleet", "name"), help: str = ""
) -> Finding:
    return Finding(kind, code, host, node, message, place, help)


DEPOSIT = found(
    "warning",
    "deposit-low",
    "eu-edge-1",
    "eu-live",
    "eu-live: its deposit is 0.02 ETH of the 0.6 ETH that the spec plans, which lasts 3.1 h at the stated load",
    ("wallets", "gateway-eu", "deposit"),
)
PRICE = found(
    "drift",
    "set-at-run-time",
    "us-gpu-1",
    "us-video-1",
    "us-gpu-1: us-video-1: it says that pricePerUnit is 900 instead of 1200",
    ("orchestrators", "us-video-1", "price"),
    "somebody set it while the node runs; deploy again to undo it, or write the value into the spec",
)
SILENT = found(
    "unknown",
    "not-answered",
    "eu-gpu-1",
    "eu-video-1",
    "eu-video-1: http://127.0.0.1:7935 does not answer: Connection refused",
    ("orchestrators", "eu-video-1"),
)
CUT = found(
    "unknown",
    "host-unreachable",
    "us-ai",
    "",
    "us-ai: ssh: connect to host 198.51.100.24 port 22: No route to host",
    ("hosts", "us-ai"),
)
LEFT = found(
    "drift",
    "node-not-in-spec",
    "us-edge",
    "old-gate",
    "us-edge: old-gate runs and is not in the spec any more",
    ("hosts", "us-edge"),
    "deploy the tree, or find out who changed it",
)
EVERY_DAY = (DEPOSIT, PRICE, SILENT, CUT, LEFT)
"""One finding of each kind about nodes, one about a host, one about a node that the spec does not have."""

FACTS = (
    Fact("eu-edge-1", "eu-live", "release", "0.9.1"),
    Fact("eu-edge-1", "eu-live", "pays at most", "1500 wei a pixel"),
    Fact("eu-edge-1", "eu-live", "deposit", "0.02 ETH"),
    Fact("eu-edge-1", "eu-live", "reserve", "0.4 ETH"),
    Fact("eu-edge-1", "eu-live", "deposit lasts", "3.1 h"),
    Fact("us-gpu-1", "us-video-1", "release", "0.9.1"),
    Fact("us-gpu-1", "us-video-1", "asks", "900 wei a pixel"),
)
STAGE_FACTS = (
    Fact("stage-2", "avatar/slot-00", "state", "RUNNING"),
    Fact("stage-2", AVATARS, "cluster control", "answers 403 to its own host"),
)


def look(
    findings: Sequence[Finding] = (),
    facts: Sequence[Fact] = (),
    fleet: str = "two-regions",
    limit: Sequence[str] = (),
    time: str = TIME,
) -> Report:
    """The report of a look at an example fleet."""
    compiled = compiled_example(fleet)
    assert compiled.blueprint is not None
    hosts = limit or [host.name for host in compiled.blueprint.hosts]
    verdict = Verdict(tuple(findings), tuple(facts))
    return report_of(compiled, hosts, verdict, time)


def every_day() -> Report:
    return look(EVERY_DAY, FACTS)


def stage() -> Report:
    """A fleet with avatars, of which one slot is not there."""
    missing = found(
        "drift", "slot-missing", "stage-1", "avatar/slot-01", "avatar stack front: its slot-01 is not there"
    )
    changed = found("drift", "changed-on-host", "stage-2", "avatar/slot-03", "stage-2: avatar/slot-03: compose file")
    return look((missing, changed), STAGE_FACTS, "avatar-stage")


def nasty(text: str) -> Report:
    """A text of a host in every place that takes one."""
    findings = [
        found(kind, "not-answered", "eu-gpu-1", node, f"{kind} {node}: {text}", help=text)
        for kind in ("drift", "unknown", "warning")
        for node in ("eu-video-1", "", f"other {text}")
    ]
    facts = [Fact("eu-gpu-1", "eu-video-1", "release", text), Fact("eu-edge-1", "eu-live", "deposit", text)]
    return look(findings, facts)


def huge(nodes: int) -> Report:
    """So many findings, one of each node, on a tenth as many hosts."""
    findings = [
        found(
            "drift", "other-release", f"gpu-{number // 10:05}", f"node-{number}", f"node-{number}: other files {number}"
        )
        for number in range(nodes)
    ]
    small = look(findings)
    return small._replace(
        hosts=tuple(small.hosts[0]._replace(host=f"gpu-{n:05}", label=f"gpu-{n:05}") for n in range(nodes // 10)),
        size=nodes,
        nodes=tuple(
            NodeReport(one.host, one.node, "orchestrator", "drift", (("release", "0.9.1"),)) for one in findings
        ),
    )
