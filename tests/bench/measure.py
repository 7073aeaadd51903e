"""Measures a compile beside a plain template loop and a plain copy, each in fresh processes.

In: a number of nodes and of rounds. Out: `Report`s, with a Markdown table and plain values for JSON. Called by
`__main__.py`. Processor time (user and system, from wait4) is what counts, because it is steadier than wall time on a
shared machine; of several rounds in alternating order the best one does. All files lie on a memory file system, so that
no disk is measured. The measuring process stays small: Linux hands its peak memory on to its children.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SMALL = 1000
"""Nodes of the smaller fleet that growth is measured against."""

_PEER = Path(__file__).with_name("peer.py")
_COPY = "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2])"
ASKED = 'price = "1250 wei / pixel"'
"""The line of one orchestrator of each site, for changes of one line."""
BARE, IMPORTS = "python -c pass", 'python -c "import pydantic, typer"'
TAB = "Tab behind fleetc"
STARTS = (
    ("fleetc --version", BARE, 3.0),
    ("fleetc --help", BARE, 3.0),
    (TAB, BARE, 3.0),
    ("fleetc check inventories/demo", IMPORTS, 1.5),
    ("fleetc why inventories/demo", IMPORTS, 2.5),
    ("fleetc diff inventories/demo", IMPORTS, 2.5),
)
"""What small commands are measured against, as machines differ: a command, the other one, and the most it may take."""

QUICK_ROUNDS = 10
"""Rounds of commands that take a fraction of a second."""
CHECK_SECONDS = 3.0
CHECK_SHARED = 1 / 3
"""The aim for a check of a spec in classes and counters, as a part of that of the same spec written out."""
"""The processor time that a check of 10,000 nodes may take."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took: seconds of processor and of wall time, and its peak memory in bytes."""

    processor_s: float
    wall_s: float
    peak_bytes: int

    def best(self, other: Cost) -> Cost:
        """The lesser of each."""
        return Cost(
            min(self.processor_s, other.processor_s),
            min(self.wall_s, other.wall_s),
            min(self.peak_bytes, other.peak_bytes),
        )


NOTHING_YET = Cost(float("inf"), float("inf"), sys.maxsize)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: a ratio or a value, its unit, and the most that is aimed for."""

    name: str
    value: float
    unit: str
    aim: float | None = None

    @property
    def met(self) -> bool:
        """Whether the value is within its aim."""
        return self.aim is None or self.value <= self.aim


@dataclass(slots=True)
class Report:
    """Everything measured: `costs` by command and size, `lines` as they are shown, ratios first."""

    nodes: int
    rounds: int
    place: str
    files: int
    bytes: int
    python: str
    costs: dict[str, Cost] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def as_values(self) -> dict[str, object]:
        """Plain values for JSON."""
        return asdict(self)

    def as_table(self) -> str:
        """Two Markdown tables: ratios and limits with their aims, then the times they come from."""
        rows = ["| Measure | Result | Aim |", "|---|---|---|"]
        for line in self.lines:
            aim = "" if line.aim is None else f"at most {line.aim:g}{line.unit}" + ("" if line.met else ", not met")
            rows.append(f"| {line.name} | {line.value:.2f}{line.unit} | {aim} |")
        rows += ["", "| Process | Processor time | Wall time | Peak memory |", "|---|---|---|---|"]
        for name, cost in self.costs.items():
            peak = cost.peak_bytes / 1e6
            rows.append(f"| {name} | {cost.processor_s:.3f} s | {cost.wall_s:.3f} s | {peak:.0f} MB |")
        rows.append("")
        nodes = f"{self.nodes} nodes, " if self.nodes else ""
        rows.append(
            f"{nodes}{self.files} files of {self.bytes / 1e6:.1f} MB, on {self.place}; "
            f"best of {self.rounds}; Python {self.python}"
        )
        return "\n".join(rows)


def compile_report(nodes: int, rounds: int) -> Report:
    """Measure everything for a fleet of SMALL and one of `nodes` nodes. Raises RuntimeError when a command fails."""
    with memory_directory() as work:
        report = new_report(nodes, rounds, work)
        for size in sorted({SMALL, nodes}):
            _measure_size(report, work, size)
        _measure_starts(report, work)
    _conclude(report)
    return report


def check_report(nodes: int, rounds: int) -> Report:
    """Measure `fleetc check` from text to diagnostics, all rules included. Raises RuntimeError when it fails."""
    with memory_directory() as work:
        report = Report(nodes, rounds, file_system(work), 1, 0, sys.version.split()[0])
        spec, shared = work / "fleet.toml", work / "shared.toml"
        names = f"fleetc check, {nodes} nodes", f"fleetc check, {nodes} nodes in classes and counters"
        generate = [sys.executable, "-m", "tests.bench", "generate", "--nodes", str(nodes)]
        run([*generate, str(spec)], ROOT)
        run([*generate, "--shared", str(shared)], ROOT)
        report.bytes = spec.stat().st_size
        commands = {name: fleetc("check", str(path)) for name, path in zip(names, (spec, shared), strict=True)}
        measure(report, commands, rounds, work, lambda: None)
    plain, in_classes = (report.costs[name].processor_s for name in names)
    report.lines = [
        Line(names[0], plain, " s", CHECK_SECONDS),
        Line(f"{names[1]} / written out", in_classes / plain, "", CHECK_SHARED),
    ]
    return report


def new_report(nodes: int, rounds: int, work: Path) -> Report:
    """A report of nothing yet."""
    return Report(nodes, rounds, file_system(work), 0, 0, sys.version.split()[0])


def fleetc(*arguments: str) -> list[str]:
    """The command line of fleetc under this interpreter, as the installed script runs it."""
    script = Path(sys.executable).with_name("fleetc")
    return [sys.executable, *([str(script)] if script.is_file() else ["-m", "fleetc"]), *arguments]


def peer(spec: Path, out: Path) -> list[str]:
    """The command line of the plain script."""
    return [sys.executable, str(_PEER), str(spec), str(out)]


BEYOND_TEMPLATES = ("manifest.json", "ROLLOUT.md")
"""Files that no plain script writes: digests of all others, and parts of the fleet in which nothing stops at once."""


def differences(tree: Path, other: Path) -> Iterator[str]:
    """Files of a compiled tree that another tree lacks or has otherwise, or has too many."""
    for path in files_below(tree):
        if path not in BEYOND_TEMPLATES and not (
            (other / path).is_file() and filecmp.cmp(tree / path, other / path, shallow=False)
        ):
            yield path
    yield from (path for path in files_below(other) if not (tree / path).is_file())


def files_below(top: Path) -> Iterator[str]:
    """The relative paths of all files below a directory."""
    for directory, _, names in os.walk(top):
        for name in names:
            yield str(Path(directory, name).relative_to(top))


def _measure_size(report: Report, work: Path, size: int) -> None:
    spec, tree, out = work / f"{size}.toml", work / f"tree-{size}", work / "out"
    run([sys.executable, "-m", "tests.bench", "generate", str(spec), "--nodes", str(size)], ROOT)
    commands: dict[str, list[str]] = {
        f"fleetc compile, {size} nodes": fleetc("compile", str(spec), "--output", str(out)),
        f"plain Jinja2 loop, {size} nodes": peer(spec, out),
        f"copying the files, {size} nodes": [sys.executable, "-c", _COPY, str(tree), str(out)],
        f"fleetc compile that changes nothing, {size} nodes": fleetc("compile", str(spec), "--output", str(tree)),
        f"fleetc compile --check of the same, {size} nodes": fleetc(
            "compile", "--check", str(spec), "--output", str(tree)
        ),
    }
    run(fleetc("compile", str(spec), "--output", str(tree)), work)
    run(peer(spec, out), work)
    unlike = next(differences(tree, out), None)
    if unlike is not None:
        raise RuntimeError(f"the plain loop does not write the same {unlike}")
    shutil.rmtree(out)
    measure(report, commands, report.rounds, work, lambda: shutil.rmtree(out, ignore_errors=True))
    _measure_edits(report, spec, tree, size)
    _measure_kept(report, spec, tree, size)
    report.files = sum(1 for _ in files_below(tree))
    report.bytes = sum((tree / path).stat().st_size for path in files_below(tree))
    shutil.rmtree(tree)


def _measure_edits(report: Report, spec: Path, tree: Path, size: int) -> None:
    """A line is changed to and fro: each compile starts from the tree of the other text."""
    name, text = f"fleetc compile of one changed line, {size} nodes", spec.read_text(encoding="utf-8")
    before, _, after = text.rpartition(ASKED)
    texts = f"{before}{ASKED.replace('1250', '1251')}{after}", text
    report.costs[name] = NOTHING_YET
    for turn in range(max(2, report.rounds)):
        spec.write_text(texts[turn % 2], encoding="utf-8")
        report.costs[name] = report.costs[name].best(
            run(fleetc("compile", str(spec), "--output", str(tree)), spec.parent)
        )


def _measure_kept(report: Report, spec: Path, tree: Path, size: int) -> None:
    """The same change in a process that has compiled before, as `compile --watch` has; its review is not measured."""
    name, words = f"next compile of one changed line, {size} nodes", (ASKED, ASKED.replace("1250", "1252"))
    report.costs[name] = NOTHING_YET
    for _ in range(report.rounds):
        command = [sys.executable, "-m", "tests.bench.kept", str(spec), str(tree), *words]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        report.costs[name] = report.costs[name].best(Cost(float(said[0]), float(said[1]), int(said[2])))


def _measure_starts(report: Report, work: Path) -> None:
    demo = work / "demo"
    demo.mkdir()
    shutil.copy(ROOT / "inventories/demo/fleet.toml", demo)
    run(fleetc("compile", str(demo)), work)  # git has the tree of an example without its playbooks
    commands = {
        BARE: [sys.executable, "-c", "pass"],
        IMPORTS: [sys.executable, "-c", "import pydantic, typer"],
        "fleetc --version": fleetc("--version"),
        "fleetc --help": fleetc("--help"),
        TAB: ["env", "_FLEETC_COMPLETE=complete_bash", "COMP_WORDS=fleetc ", "COMP_CWORD=1", *fleetc()],
        "fleetc check inventories/demo": fleetc("check", str(demo)),
        "fleetc why inventories/demo": fleetc("why", f"{demo}/rendered/hosts/studio/gate/launch.flags:2"),
        "fleetc diff inventories/demo": fleetc("diff", str(demo)),
    }
    measure(report, commands, max(QUICK_ROUNDS, report.rounds), work, lambda: None)


def measure(report: Report, commands: dict[str, list[str]], rounds: int, work: Path, clear: Callable[[], None]) -> None:
    """Run each command once a round, every other round backwards; `clear` follows each run."""
    for name in commands:
        report.costs[name] = NOTHING_YET
    for turn in range(rounds):
        order = list(commands) if turn % 2 == 0 else list(reversed(commands))
        for name in order:
            report.costs[name] = report.costs[name].best(run(commands[name], work))
            clear()


def run(command: list[str], directory: Path) -> Cost:
    """Run a command in a process of its own and wait for it."""
    before = os.times().elapsed
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=directory, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = os.times().elapsed - before
        problems = process.returncode == 1 and "diagnose" in command  # a log with problems is measured as well
        if process.returncode and not problems:
            output.seek(0)
            text = output.read(2000).decode(errors="replace")
            raise RuntimeError(f"{' '.join(command[:4])} ended with status {process.returncode}: {text}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024)


def _conclude(report: Report) -> None:
    def of(name: str, size: int) -> Cost:
        return report.costs[f"{name}, {size} nodes"]

    nodes = report.nodes
    compiled, small = of("fleetc compile", nodes), of("fleetc compile", SMALL)
    again, checked = of("fleetc compile that changes nothing", nodes), of("fleetc compile --check of the same", nodes)
    edited = of("fleetc compile of one changed line", nodes)
    kept = of("next compile of one changed line", nodes)
    starts = {name: cost.processor_s for name, cost in report.costs.items()}
    cpu = compiled.processor_s
    report.lines = [
        Line("fleetc compile / plain Jinja2 loop", cpu / of("plain Jinja2 loop", nodes).processor_s, "", 1.0),
        Line("fleetc compile / copying the files", cpu / of("copying the files", nodes).processor_s, "", 2.0),
        Line(
            f"fleetc compile, {nodes} nodes / {SMALL} nodes", cpu / small.processor_s, "", round(1.1 * nodes / SMALL, 2)
        ),
        Line("compile that changes nothing / compile", again.processor_s / cpu, "", 0.2),
        Line("compile --check of the same / compile", checked.processor_s / cpu, "", 0.2),
        Line("compile of one changed line / compile", edited.processor_s / cpu, "", 0.4),
        Line("the same in fleetc compile --watch, without its review / compile", kept.processor_s / cpu, "", 0.4),
        Line("peak memory of a compile for each node", compiled.peak_bytes / nodes / 1000, " kB", 30.0),
        *(Line(f"{name} / {base}", starts[name] / starts[base], "", aim) for name, base, aim in STARTS),
    ]


@contextmanager
def memory_directory() -> Iterator[Path]:
    """A fresh directory on /dev/shm where there is one, else where temporary files go.

    What is measured inside keeps its bytecode, as an installation does, and its cache there, whatever the environment.
    """
    shared = Path("/dev/shm")  # the directory in it has a random name
    where = shared if os.access(shared, os.W_OK) else None
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="fleetc-bench-", dir=where) as name:
        os.environ |= {"PYTHONPYCACHEPREFIX": f"{name}/bytecode", "XDG_CACHE_HOME": f"{name}/cache"}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        try:
            run(fleetc("diff", str(ROOT / "inventories" / "demo")), Path(name))  # writes the bytecode
            yield Path(name)
        finally:
            os.environ.clear()
            os.environ.update(before)


def file_system(path: Path) -> str:
    """The kind of file system that a path lies on, and where it is mounted, as /proc/mounts has it."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text("utf-8").splitlines()]
    fitting = [(point, kind) for point, kind in mounts if path.is_relative_to(point)]
    point, kind = max(fitting, key=lambda mount: len(mount[0]))
    return f"{kind} at {point}"
