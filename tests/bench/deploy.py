"""Measures rollouts: what one more host costs the machine that rolls out, and what fleetc adds to Ansible.

In: a number of hosts and of rounds. Out: a `Report`. Called by `__main__.py`. What counts is the processor time of
`fleetc deploy` with all that it starts (Ansible, its workers, ssh). Fleets of two sizes are measured, so that the price
of one more host shows. Hosts are real ones behind sshd on this machine; what they do themselves is not counted. Bare
Ansible runs the same site.yml with the same batches, once in one run, and once in a run for each batch, as fleetc does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.bench.hosts import LACKS, SKIP, Hosts, compiled, lacking
from tests.bench.measure import Cost, Line, Report, file_system, files_below, fleetc, memory_directory
from tests.bench.plain import plain_project
from tests.bench.simulated import simulated_lines

FEW, NODES = 2, 8
"""Hosts of the smaller fleet, and the nodes of a host with many."""
UNCHANGED_SECONDS, CHANGED_SECONDS, MANY_SECONDS, MANY_SHARE = 0.5, 1.5, 2.0, 0.2
ABOVE_ANSIBLE, TASKS = 1.15, 8
SOME = 4
"""Hosts of two batches whose waits are counted, and the larger fleet of the plain play, which takes long."""
_PLAIN, _OWN, _BARE, _GATED = "plain play", "fleetc deploy", "bare ansible-playbook", "ansible-playbook for each batch"


class Way(NamedTuple):
    """A way to roll out a fleet: its name, its environment, and the command and directory for a release."""

    name: str
    environment: dict[str, str]
    command: Callable[[str], tuple[list[str], Path]]


class Fleet(NamedTuple):
    """A fleet of `size` hosts with `nodes` nodes each, and its two releases, by mark."""

    size: int
    nodes: int
    trees: dict[str, Path]


def deploy_report(count: int, rounds: int) -> Report:
    """Measure rollouts to FEW and to `count` hosts, at least SOME. Raises RuntimeError when one fails."""
    if count < SOME or (missing := lacking()):
        raise RuntimeError(f"a fleet has at least {SOME} hosts" if count < SOME else missing)
    with memory_directory() as work:
        report = Report(count * NODES, rounds, file_system(work), 0, 0, sys.version.split()[0])
        hosts = Hosts(work, count, NODES)
        try:
            for nodes in (1, NODES):
                for size in dict.fromkeys((FEW, count, SOME)):  # nodes of the plain play start from files of fleetc
                    _measure(report, work, hosts, _fleet(work, hosts, size, nodes), count)
                report.lines += _lines(report, count, nodes)
            tree = work / f"fleet-{count}-{NODES}-a/rendered"
            files = [tree / path for path in files_below(tree)]
            report.files, report.bytes = len(files), sum(file.stat().st_size for file in files)
            report.lines.append(_waits(work, hosts))
        finally:
            hosts.close()
        report.lines += simulated_lines(report, work, json.loads((work / "count-changed").read_text())["events"])
    return report


def _fleet(work: Path, hosts: Hosts, count: int, nodes: int) -> Fleet:
    trees = {}
    for mark in ("a", "b"):
        spec = hosts.spec_text(count, nodes, mark)
        trees[mark] = compiled(spec, work / f"fleet-{count}-{nodes}-{mark}")
        plain_project(trees[mark], work / f"plain-{count}-{nodes}-{mark}")
    return Fleet(count, nodes, trees)


def _ways(work: Path, hosts: Hosts, fleet: Fleet, count: int) -> Iterator[Way]:
    """How a fleet is rolled out; `count` is the size of the largest."""
    if fleet.size in (FEW, count):
        own = [*fleetc("deploy"), *SKIP, "--journal", str(work / f"journal-{fleet.size}-{fleet.nodes}")]
        yield Way(_OWN, hosts.environment(), lambda mark: (own, fleet.trees[mark].parent))
    if fleet.size == count and fleet.nodes == 1:
        bare = ["ansible-playbook", "site.yml", "--extra-vars", json.dumps({"fleet_host_skip": [LACKS]})]
        yield Way(_BARE, hosts.bare_environment(), lambda mark: (bare, fleet.trees[mark] / "ansible"))
        gated = [sys.executable, "-m", "tests.bench.gated", *bare]
        yield Way(_GATED, hosts.bare_environment(), lambda mark: (gated, fleet.trees[mark] / "ansible"))
    if fleet.size in (FEW, SOME):
        plain = ["ansible-playbook", "-i", "inventory.json", "site.json"]
        place = f"plain-{fleet.size}-{fleet.nodes}"
        yield Way(_PLAIN, hosts.plain_environment(), lambda mark: (plain, work / f"{place}-{mark}"))


def _measure(report: Report, work: Path, hosts: Hosts, fleet: Fleet, count: int) -> None:
    """Each way by itself, as it takes nodes over from the one before: both releases in turn, each of them twice."""
    for way in _ways(work, hosts, fleet, count):
        if way.name == _OWN and fleet.size == FEW:
            _count(report, work, way, fleet)
        _run(work, way, "b")
        for turn in range(report.rounds):
            mark = "ba"[turn % 2 == 0]
            for kind in ("changed", "unchanged"):
                name = _name(way.name, kind, fleet.size, fleet.nodes)
                cost = _run(work, way, mark)
                report.costs[name] = cost.best(report.costs.get(name, cost))
                print(f"{name}: {cost.processor_s:.1f} s, {cost.wall_s:.0f} s on the wall", file=sys.stderr, flush=True)


def _count(report: Report, work: Path, way: Way, fleet: Fleet) -> None:
    """The most tasks of a host: at first all that differs from release b changes, then nothing."""
    words, directory = way.command("b")
    for kind, aim in (("changed", TASKS), ("unchanged", 1)):
        answer = work / f"count-{kind}"
        _checked([sys.executable, "-m", "tests.bench.counted", str(answer), *words[2:]], directory, way.environment)
        most = max(json.loads(answer.read_text())["tasks"].values())
        report.lines.append(Line(f"tasks for one {kind} host of {fleet.nodes}", most, "", aim))


def _run(work: Path, way: Way, mark: str) -> Cost:
    command, directory = way.command(mark)
    return _cost(work, command, directory, way.environment)


def _cost(work: Path, command: list[str], directory: Path, environment: dict[str, str]) -> Cost:
    _checked([sys.executable, "-m", "tests.bench.reaped", str(work / "cost"), *command], directory, environment)
    return Cost(**json.loads((work / "cost").read_text()))


def _checked(command: list[str], directory: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {(done.stdout + done.stderr)[-3000:]}")


def _name(way: str, kind: str, count: int, nodes: int) -> str:
    return f"{way}, {kind}, {count} hosts of {nodes}"


def _lines(report: Report, count: int, nodes: int) -> Iterator[Line]:
    """What one more host costs each way, and what fleetc costs beside the others."""

    def each(way: str, kind: str, most: int) -> float:
        few, many = (report.costs[_name(way, kind, size, nodes)].processor_s for size in (FEW, most))
        return (many - few) / (most - FEW)

    aims = {"unchanged": UNCHANGED_SECONDS, "changed": CHANGED_SECONDS if nodes == 1 else MANY_SECONDS}
    for kind, aim in aims.items():
        own, plain = each(_OWN, kind, count), each(_PLAIN, kind, SOME)
        share = MANY_SHARE if nodes > 1 and kind == "changed" else None
        yield Line(f"one more {kind} host of {nodes}", own, " s", aim)
        yield Line(f"one more {kind} host of {nodes}, {_OWN} / {_PLAIN}", own / plain, "", share)
        if nodes == 1:
            ours = report.costs[_name(_OWN, kind, count, nodes)].processor_s
            for way, most in ((_BARE, ABOVE_ANSIBLE), (_GATED, None)):
                others = report.costs[_name(way, kind, count, nodes)].processor_s
                yield Line(f"{count} {kind} hosts, {_OWN} / {way}", ours / others, "", most)


def _waits(work: Path, hosts: Hosts) -> Line:
    """How often a batch waits until its nodes are well: the most of two batches."""
    spec = hosts.spec_text(SOME, NODES, "c", f'stable = "1s"\ncanary = 0\nbatch = {SOME // 2}')
    tree, answer = compiled(spec, work / "waits"), work / "count-waits"
    words = ["deploy", *SKIP, "--journal", str(work / "journal-waits")]
    command = [sys.executable, "-m", "tests.bench.counted", str(answer), *words]
    _checked(command, tree.parent, hosts.environment())
    waits = json.loads(answer.read_text())["waits"]
    if len(waits) != 2:
        raise RuntimeError(f"{len(waits)} batches waited, not 2")
    return Line(f"waits for health in a batch of {SOME // 2} hosts of {NODES}", max(waits), "", 1)
