"""Measures `fleetc diff` beside a whole compile, and how long the report of a change on many hosts is.

In: a number of nodes and of rounds. Out: a `Report`. Called by `__main__.py`. The recorded tree is that of the spec
before one line of it was changed, as it lies in a repository.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.bench.measure import ASKED, ROOT, Line, Report, fleetc, measure, memory_directory, new_report, run

RATIO, MARKDOWN_LINES, HOSTS = 0.6, 40, 500


def review_report(nodes: int, rounds: int) -> Report:
    """Measure a change of one line against the tree before, and the report of one on HOSTS hosts.

    Raises RuntimeError when a command fails.
    """
    with memory_directory() as work:
        report = new_report(nodes, rounds, work)
        spec, tree, out = work / "fleet.toml", work / "rendered", work / "out"
        run([sys.executable, "-m", "tests.bench", "generate", str(spec), "--nodes", str(nodes)], ROOT)
        run(fleetc("compile", str(spec), "--output", str(tree)), work)
        text = spec.read_text(encoding="utf-8")
        many, hosts = work / "many.toml", min(HOSTS, text.count(ASKED))
        many.write_text(text.replace(ASKED, ASKED.replace("1250", "1300"), hosts), encoding="utf-8")
        before, _, after = text.rpartition(ASKED)
        spec.write_text(before + ASKED.replace("1250", "1251") + after, encoding="utf-8")
        compiling, differing = f"fleetc compile, {nodes} nodes", f"fleetc diff of one line, {nodes} nodes"
        commands = {
            compiling: fleetc("compile", str(spec), "--output", str(out)),
            differing: fleetc("diff", str(spec), "--against", str(tree)),
        }
        measure(report, commands, rounds, work, lambda: shutil.rmtree(out, ignore_errors=True))
        lines = _markdown_lines(many, tree)
    ratio = report.costs[differing].processor_s / report.costs[compiling].processor_s
    report.lines = [
        Line("fleetc diff of one line / fleetc compile", ratio, "", RATIO),
        Line(f"Markdown of a price change on {hosts} hosts", lines, " lines", MARKDOWN_LINES),
    ]
    return report


def _markdown_lines(spec: Path, tree: Path) -> int:
    command = fleetc("diff", str(spec), "--against", str(tree), "--format", "markdown")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"fleetc diff ended with status {done.returncode}: {done.stderr[:2000]}")
    return done.stdout.count("\n")
