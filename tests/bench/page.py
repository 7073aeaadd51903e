"""Draws what a compile costs against the size of the fleet, beside other programs that write the same bytes.

In: sizes and rounds. Out: a page of HTML with a picture in SVG, and a table of what it is drawn from. Called by
`__main__.py`. All programs of one size run in turn, so that they share the same minutes of a machine.

jsonnet and Ansible's template module get the finished files as texts: what they take is the least that a fleet
described for them could take. kapitan compiles through one of these two, so it is not drawn apart.
"""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from tests.bench.measure import (
    ROOT,
    Cost,
    Report,
    files_below,
    fleetc,
    measure,
    memory_directory,
    new_report,
    peer,
    run,
)

COLOURS = ("#0b62c4", "#7fb2e5", "#b3541e", "#6a6a6a", "#2b8a3e", "#9c36b5")
ANSIBLE_LIMIT = 200
"""The largest fleet that Ansible's template module writes here: each file takes it about a tenth of a second."""

_COPY = "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2])"
_JSONNET = """\
import pathlib, sys
import _jsonnet
for path, text in __import__("json").loads(_jsonnet.evaluate_file(sys.argv[1])).items():
    place = pathlib.Path(sys.argv[2], path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
"""


@dataclass(slots=True)
class Curve:
    """One program: processor seconds by the number of nodes."""

    name: str
    seconds: dict[int, float] = field(default_factory=dict)


def curves(sizes: Sequence[int], rounds: int) -> list[Curve]:
    """Measure all programs for fleets of these sizes. Raises RuntimeError when one fails."""
    found: dict[str, Curve] = {}
    with memory_directory() as work:
        for size in sizes:
            print(f"{size} nodes: {rounds} rounds of each program", file=sys.stderr)
            report = new_report(size, rounds, work)
            for name, cost in _costs(report, work, size).items():
                found.setdefault(name, Curve(name)).seconds[size] = cost.processor_s
    return list(found.values())


def _costs(report: Report, work: Path, size: int) -> Mapping[str, Cost]:
    spec, tree, out = work / "fleet.toml", work / "tree", work / "out"
    run([sys.executable, "-m", "tests.bench", "generate", str(spec), "--nodes", str(size)], ROOT)
    run(fleetc("compile", str(spec), "--output", str(tree)), work)
    commands = {
        "fleetc compile": fleetc("compile", "--no-cache", str(spec), "--output", str(out)),
        "fleetc compile that changes nothing": fleetc("compile", str(spec), "--output", str(tree)),
        "plain Jinja2 loop, no checks": peer(spec, out),
        "copying the files": [sys.executable, "-c", _COPY, str(tree), str(out)],
    }
    if importlib.util.find_spec("_jsonnet") is not None:
        texts = {path: (tree / path).read_text("utf-8") for path in files_below(tree)}
        (work / "tree.jsonnet").write_text(json.dumps(texts), encoding="utf-8")
        commands["jsonnet"] = [sys.executable, "-c", _JSONNET, str(work / "tree.jsonnet"), str(out)]
    if size <= ANSIBLE_LIMIT and shutil.which("ansible-playbook", path=str(Path(sys.executable).parent)) is not None:
        commands["Ansible's template module"] = _ansible(work, tree, out)
    measure(report, commands, report.rounds, work, lambda: shutil.rmtree(out, ignore_errors=True))
    shutil.rmtree(tree)
    return report.costs


def _ansible(work: Path, tree: Path, out: Path) -> list[str]:
    """A play that writes each file of a tree with the template module."""
    sources = work / "sources"
    shutil.rmtree(sources, ignore_errors=True)
    paths = sorted(files_below(tree))
    for number, path in enumerate(paths):
        place = sources / str(number)
        place.parent.mkdir(exist_ok=True)
        place.write_text("{% raw %}" + (tree / path).read_text("utf-8").replace("{% endraw %}", "") + "{% endraw %}")
    folders = sorted({str(Path(path).parent) for path in paths})
    made = {"ansible.builtin.file": {"path": f"{out}/{{{{ item }}}}", "state": "directory"}, "loop": folders}
    files = [{"source": str(sources / str(number)), "path": str(out / path)} for number, path in enumerate(paths)]
    task = {"ansible.builtin.template": {"src": "{{ item.source }}", "dest": "{{ item.path }}"}, "loop": files}
    play = [{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [made, task]}]
    (work / "play.yml").write_text(json.dumps(play), encoding="utf-8")
    program = Path(sys.executable).with_name("ansible-playbook")
    python = f"ansible_python_interpreter={sys.executable}"
    return [str(program), "-i", "localhost,", "-e", python, str(work / "play.yml")]


def page(found: Sequence[Curve], about: str) -> str:
    """The page: the picture, and the table."""
    sizes = sorted({size for curve in found for size in curve.seconds})
    head = "".join(f"<th>{size:,} nodes</th>" for size in sizes)
    rows = "".join(
        f"<tr><td>{escape(curve.name)}</td>"
        + "".join(f"<td>{_cell(curve, size)}</td>" for size in sizes) + "</tr>"
        for curve in found
    )  # fmt: skip
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>What a compile costs</title>'
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}"
        "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #ccc}"
        "td:first-child,th:first-child{text-align:left}svg{width:100%;height:auto}</style>"
        f"<h1>What a compile costs</h1>{picture(found)}"
        f"<table><tr><th>Processor time</th>{head}</tr>{rows}</table><p>{escape(about)}</p></html>\n"
    )


def _cell(curve: Curve, size: int) -> str:
    return f"{curve.seconds[size]:.2f} s" if size in curve.seconds else ""


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 440, 64, 250, 20, 48


def picture(found: Sequence[Curve]) -> str:
    """The curves in SVG, both axes logarithmic, each named at its end in its own colour."""
    sizes = [size for curve in found for size in curve.seconds]
    times = [seconds for curve in found for seconds in curve.seconds.values()]
    across, up = _axis(sizes), _axis(times)

    def x(size: float) -> float:
        return LEFT + (math.log10(size) - across[0]) / (across[1] - across[0]) * (WIDTH - LEFT - RIGHT)

    def y(seconds: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(seconds) - up[0]) / (up[1] - up[0]) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-size="13" '
        'font-family="system-ui, sans-serif"><title>Processor time by the number of nodes</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    ]
    for power in range(math.ceil(up[0]), math.floor(up[1]) + 1):
        at, name = y(10**power), f"{10.0**power:g} s"
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end" fill="#333333">{name}</text>')
    for size in sorted(set(sizes)):
        parts.append(f'<text x="{x(size):.1f}" y="{HEIGHT - 18}" text-anchor="middle" fill="#333333">{size:,}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 2}" text-anchor="end" fill="#333333">nodes</text>')
    ends = _apart([y(curve.seconds[max(curve.seconds)]) for curve in found])
    for curve, colour, end in zip(found, COLOURS, ends, strict=False):
        points = " ".join(f"{x(size):.1f},{y(seconds):.1f}" for size, seconds in sorted(curve.seconds.items()))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        last = max(curve.seconds)
        parts.append(f'<circle cx="{x(last):.1f}" cy="{y(curve.seconds[last]):.1f}" r="3.5" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 14}" y="{end + 4:.1f}" fill="{colour}">{escape(curve.name)}</text>')
    return "".join([*parts, "</svg>"])


def _axis(values: Sequence[float]) -> tuple[float, float]:
    """The powers of ten between which an axis goes."""
    low, high = math.log10(min(values)), math.log10(max(values))
    return low - 0.08, max(high, low + 1) + 0.08


def _apart(heights: Sequence[float], least: float = 17) -> list[float]:
    """Heights of names in the same order, moved down as far as it takes to read them all."""
    found = dict.fromkeys(range(len(heights)), 0.0)
    taken = -least
    for place in sorted(found, key=lambda place: heights[place]):
        taken = found[place] = max(heights[place], taken + least)
    return list(found.values())
