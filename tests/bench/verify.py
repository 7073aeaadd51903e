"""Measures `fleetc verify` of many nodes on hosts of this machine.

In: a `Report` and a directory. Out: lines of it. Hosts are real ones behind sshd, nodes are stand-ins, and the chain is
one too. What counts is the processor time of the command with all that it starts (Ansible, its workers, ssh); what
hosts do themselves is not counted.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

from tests.bench.hosts import SKIP, Hosts, compiled, lacking
from tests.bench.measure import Line, Report, fleetc, measure, memory_directory, new_report
from tests.chain import SoundChain

HOSTS, NODES = 20, 25
SECONDS = 10.0
"""The processor time that a look at HOSTS of NODES each may take."""


def verify_lines(report: Report, work: Path, hosts: int = HOSTS, nodes: int = NODES) -> Iterator[Line]:
    """Measure a fleet that runs as reviewed. Raises RuntimeError where it cannot be rolled out, or does not."""
    if missing := lacking():
        raise RuntimeError(missing)
    chain = ThreadingHTTPServer(("127.0.0.1", 0), SoundChain)
    threading.Thread(target=chain.serve_forever, daemon=True).start()
    farm = Hosts(work / "verified", hosts, nodes)
    try:
        tree = compiled(farm.spec_text(hosts, nodes, "a"), work / "fleet-verified")
        environment = {**farm.environment(), "BENCH_RPC_URL": f"http://127.0.0.1:{chain.server_address[1]}"}
        words = [*fleetc("deploy", str(tree.parent)), *SKIP, "--journal", str(work / "journal-verified")]
        done = subprocess.run(words, cwd=tree.parent, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stdout + done.stderr)[-3000:])
        name = f"fleetc verify, {hosts * nodes} nodes on {hosts} hosts"
        looking = ["env", *(f"{key}={value}" for key, value in environment.items())]
        looking += fleetc("verify", str(tree.parent), "--no-public")
        measure(report, {name: looking}, report.rounds, tree.parent, lambda: None)
        yield Line(name, report.costs[name].processor_s, " s", SECONDS)
    finally:
        farm.close()
        chain.shutdown()
        chain.server_close()


def main(hosts: int, nodes: int) -> int:
    """Measure and print; 1 when the aim is missed."""
    with memory_directory() as work:
        report = new_report(hosts * nodes, 2, work)
        report.lines += verify_lines(report, work, hosts, nodes)
    print(report.as_table())
    return 0 if all(line.met for line in report.lines) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:] or (HOSTS, NODES))))
