"""Measures the memory of a rollout to more hosts than a machine can have: a simulation.

In: what Ansible said about one real host, and a fleet. Out: how much memory `fleetc deploy` takes. Ansible is not run:
what it would say about each host is what it said about the real one, under the host's own name. All of fleetc takes
part: what hosts say goes through the same functions, and the journal is written.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.bench.hosts import SKIP, compiled, environment, spec_text
from tests.bench.measure import Cost, Line, Report, fleetc

HOSTS, MEGABYTES = 1000, 300
_REAL = "h00"


def simulated_lines(report: Report, work: Path, events: dict[str, Any]) -> Iterator[Line]:
    """Measure a changed fleet of HOSTS hosts of one node. Raises RuntimeError when the rollout fails."""
    (work / "events").write_text(json.dumps(events))
    ports = {
        f"s{number:03}": (10_000 + number, [[20_000 + number, 30_000 + number, 40_000 + number]])
        for number in range(HOSTS)
    }
    tree = compiled(spec_text(ports, "a"), work / "simulated")
    words = [*fleetc("deploy")[2:], *SKIP, "--journal", str(work / "journal-simulated")]
    module = [sys.executable, "-m", "tests.bench.simulated", str(work / "events"), *words]
    reaped = [sys.executable, "-m", "tests.bench.reaped", str(work / "cost"), *module]
    done = subprocess.run(reaped, cwd=tree.parent, env=environment(work), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr)[-3000:])
    cost = Cost(**json.loads((work / "cost").read_text()))
    report.costs[f"fleetc deploy, changed, {HOSTS} simulated hosts"] = cost
    yield Line(f"peak memory of fleetc, {HOSTS} simulated hosts", cost.peak_bytes / 1e6, " MB", MEGABYTES)


def main(events: str, *words: str) -> None:
    """Run fleetc with these words, and no Ansible."""
    import ansible_runner

    from fleetc.__main__ import main as run

    said = json.loads(Path(events).read_text())

    def simulated(**options: Any) -> SimpleNamespace:
        command = options["cmdline"].split()
        hosts = command[command.index("--limit") + 1].split(",")
        take = options["event_handler"]
        for event in said[options["playbook"]].values():
            for host in hosts:
                take(json.loads(json.dumps(event).replace(_REAL, host)))
        take({"event": "playbook_on_stats", "event_data": {"ok": dict.fromkeys(hosts, 1)}})
        return SimpleNamespace(status="successful", rc=0, config=SimpleNamespace(artifact_dir=""))

    ansible_runner.run = simulated
    sys.argv[1:] = words
    run()


if __name__ == "__main__":
    main(*sys.argv[1:])
