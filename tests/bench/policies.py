"""Measures what the twelve ready rules add to `fleetc check`.

In: a number of nodes and of rounds. Out: a `Report`. Called by `__main__.py`. The fleet that is measured is sound by
these rules: each looks at all of it and finds nothing, so that no message is counted.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench.measure import ROOT, Line, Report, fleetc, measure, memory_directory, new_report, run

READY = ROOT / "templates" / "starter" / "policy"
SHARE = 1.05
"""What a check with the rules may take, in checks without them."""

_SOUND = {
    "budget": {"if wallet in unknown": "if wallet not in paths"},
    "images-by-digest": {'"@sha256:" in image': '"@sha256:" in image or len(image) < 1000'},
    "min-runway": {
        "if row.runway_hours == None": "if not row.node",
        "elif row.runway_hours <": "elif row.runway_hours and row.runway_hours <",
    },
    "names": dict.fromkeys(('"gw-"', '"orch-"', '"tc-"', '"ai-"'), '""'),
    "no-any-cap": {"if p.pays and p.any": "if p.pays and p.any and p.to"},
    "two-regions": {"LEAST = 2": "LEAST = 1"},
}
"""By rule, what to write for what, so that the fleet is sound."""


def write_rules(folder: Path) -> int:
    """Write the ready rules, fit for the fleet; returns how many there are."""
    folder.mkdir()
    rules = sorted(READY.glob("*.star"))
    for rule in rules:
        text = rule.read_text(encoding="utf-8")
        for old, new in _SOUND.get(rule.stem, {}).items():
            if old not in text:
                raise RuntimeError(f"{rule.name} has no {old} any more")
            text = text.replace(old, new)
        (folder / rule.name).write_text(text, encoding="utf-8")
    return len(rules)


def policies_report(nodes: int, rounds: int) -> Report:
    """Measure a check with and without the rules. Raises RuntimeError when a command fails."""
    with memory_directory() as work:
        report = new_report(nodes, rounds, work)
        bare, ruled = work / "bare", work / "ruled"
        for place in (bare, ruled):
            place.mkdir()
            spec = place / "fleet.toml"
            run([sys.executable, "-m", "tests.bench", "generate", str(spec), "--nodes", str(nodes)], ROOT)
        count = write_rules(ruled / "policy")
        without, with_rules = f"fleetc check, {nodes} nodes", f"fleetc check with {count} rules, {nodes} nodes"
        commands = {without: fleetc("check", str(bare)), with_rules: fleetc("check", str(ruled))}
        measure(report, commands, rounds, work, lambda: None)
        report.files, report.bytes = 1 + count, (bare / "fleet.toml").stat().st_size
    ratio = report.costs[with_rules].processor_s / report.costs[without].processor_s
    report.lines = [Line(f"check with {count} rules / check", ratio, "", SHARE)]
    return report
