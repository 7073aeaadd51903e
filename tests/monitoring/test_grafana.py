"""Grafana's own types accept every dashboard that fleetc writes, and refuse mistakes.

The types are those of Grafana's SDK: of dashboards, time series panels, Prometheus queries and units. dashboard.ts puts
them together, and the compiler of TypeScript compares.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.monitoring.support import HERE, files, whole
from tests.outside_tools import node_package, program
from tests.support import EXAMPLES, compiled_example

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

SETTINGS = {
    "compilerOptions": {
        "strict": True,
        "noEmit": True,
        "module": "esnext",
        "moduleResolution": "bundler",
        "target": "es2022",
        "types": [],
    },
    "include": ["*.ts"],
}
"""How the compiler reads: packages as bundlers do, and no types but those that a file imports."""

MISTAKES = {
    "options of a panel of another type": ('"type": "timeseries"', '"type": "barchart"'),
    "option that the panel lacks": ('"showLegend": true', '"showLegend": true, "showLegends": true'),
    "misspelled property of a panel": ('"description"', '"descripton"'),
    "misspelled property of a query": ('"legendFormat"', '"legend"'),
    "query without an expression": ('"expr"', '"expression"'),
    "limit that is a text": ('"value": null', '"value": "low"'),
    "kind of limits that does not exist": ('"mode": "absolute"', '"mode": "absolut"'),
    "style that does not exist": ('"drawStyle": "bars"', '"drawStyle": "bar"'),
    "unit that does not exist": ('"unit": "percentunit"', '"unit": "percent-unit"'),
    "kind of variable that does not exist": ('"type": "query"', '"type": "queries"'),
    "order of a variable that does not exist": ('"sort": 1', '"sort": 11'),
    "row that is neither open nor closed": ('"collapsed": false', '"collapsed": null'),
    "source of another kind": ('"type": "prometheus"', '"type": "loki"'),
    "place without a height": ('"h": 8,', ""),
}
"""What a line of a dashboard is replaced by, once."""


def refused(dashboards: Mapping[str, str], folder: Path) -> dict[str, list[str]]:
    """What the compiler says about each of these texts; nothing about those that it accepts."""
    compiler = node_package("typescript") / "bin" / "tsc"
    sdk = node_package("@grafana/grafana-foundation-sdk")
    (folder / "node_modules").symlink_to(sdk.parent.parent)
    (folder / "dashboard.ts").write_bytes((HERE / "dashboard.ts").read_bytes())
    (folder / "tsconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    names = {f"board-{number}.ts": name for number, name in enumerate(dashboards)}
    for file, name in names.items():
        head = 'import type { Board } from "./dashboard";\nexport const board: Board = '
        (folder / file).write_text(head + dashboards[name], encoding="utf-8")
    words = [program("node"), str(compiler), "--project", str(folder), "--pretty", "false"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    said = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert bool(done.returncode) == bool(said) and not done.stderr, done.stderr or done.stdout
    found: dict[str, list[str]] = {}
    for line in said:
        found.setdefault(names[line.partition("(")[0]], []).append(line)
    return found


def test_every_dashboard_is_one_for_grafana(tmp_path: Path) -> None:
    boards = {name: files(compiled_example(name))["dashboard.json"] for name in EXAMPLES}
    assert refused({"the fleet of all alerts": files(whole())["dashboard.json"], **boards}, tmp_path) == {}


def test_mistakes_are_refused(tmp_path: Path) -> None:
    sound = files(whole())["dashboard.json"]
    spoiled = {}
    for name, (right, wrong) in MISTAKES.items():
        assert right in sound, name
        spoiled[name] = sound.replace(right, wrong, 1)
    assert set(refused({"as it is": sound, **spoiled}, tmp_path)) == set(MISTAKES)
