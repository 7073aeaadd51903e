"""Measures `fleetc verify` of many nodes on hosts of this machine.

In: a `Report`, a directory, and numbers of hosts and nodes. Out: lines of the report. Hosts are real ones behind
sshd, nodes are stand-ins, and the chain is one too. What counts is the processor time of the command with all that it
starts (Ansible, its workers, ssh); what hosts do themselves is not counted.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.bench.hosts import SKIP, Hosts, compiled, lacking
from tests.bench.measure import Line, Report, fleetc, measure
from tests.chain import SoundChain

NODES = 25
"""Nodes of each host."""

SECONDS = 10.0
"""The processor time that a look at 20 hosts may take: at 500 nodes."""


def verify_lines(report: Report, work: Path, hosts: int, nodes: int = NODES) -> Iterator[Line]:
    """Measure a fleet that runs as reviewed. Raises RuntimeError where it cannot be rolled out, or does not."""
    if missing := lacking():
        raise RuntimeError(missing)
    chain = SoundChain({})
    farm = Hosts(work / "verified", hosts, nodes)
    try:
        tree = compiled(farm.spec_text(hosts, nodes, "a"), work / "fleet-verified")
        environment = {**farm.environment(), "BENCH_RPC_URL": chain.url}
        words = [*fleetc("deploy", str(tree.parent)), *SKIP, "--journal", str(work / "journal-verified")]
        done = subprocess.run(words, cwd=tree.parent, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr)[-3000:])
        name = f"fleetc verify, {hosts * nodes} nodes on {hosts} host{'s' if hosts > 1 else ''}"
        looking = ["env", *(f"{key}={value}" for key, value in environment.items())]
        looking += fleetc("verify", str(tree.parent), "--no-public")
        measure(report, {name: looking}, report.rounds, tree.parent, lambda: None)
        yield Line(name, report.costs[name].processor_s, " s", SECONDS)
    finally:
        farm.close()
        chain.close()
