"""The shape of the code itself: docstrings, layers, banned imports, sizes, templates in use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "compiler" / "fleetc"
MODULES = sorted(PACKAGE.rglob("*.py"))

FLOORS: tuple[frozenset[str], ...] = tuple(
    frozenset(floor.split())
    for floor in (
        "version places upstream",
        "text",
        "toml",
        "language",
        "blueprint",
        "analysis emit",
        "lower rules disk",
        "stream_api settings",
        "pipeline",
        "fixes",
        "messages",
        "review",
        "rollout interface",
        "cli",
        "__main__",
    )
)
"""The rooms from the ground up. A module imports from its own room and from floors below, never beside or above."""

# upstream/__main__.py is a door too: maintainers refresh the flag table with it, by pathlib, which upstream/ may use.
DOORS = {"disk", "rollout.hosts", "cli", "settings", "__main__"}
BANNED = {"os", "time", "random", "subprocess", "socket", "shutil", "tempfile", "datetime", "secrets", "urllib", "http"}
FORMATS = [
    "ansible",
    "avatar",
    "compose",
    "data_files",
    "docs",
    "env",
    "firewall",
    "flags",
    "manifest",
    "monitoring",
    "release",
    "streams",
    "systemd",
]
"""Files of `emit/` that make one output format each."""


def _name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def _unit(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            if node.module.split(".")[0] == "fleetc":
                for alias in node.names:
                    yield f"{node.module}.{alias.name}", node.lineno


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_module_starts_with_a_docstring_that_says_what_comes_in_and_out(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring, "no module docstring"
    assert len(docstring) > 40, "too short to say anything"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_imports_point_downwards(path: Path) -> None:
    unit = _unit(_name(path))
    if not unit:
        return
    floors = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
    assert unit in floors, f"the room {unit} has no floor"
    for imported, line in _imports(path):
        target = _unit(imported)
        if imported.startswith("fleetc.") and target != unit:
            assert floors[target] < floors[unit], f"{_name(path)}:{line} imports {imported}, which is not below {unit}"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_core_touches_neither_disk_nor_clock_nor_network(path: Path) -> None:
    name = _name(path).removeprefix("fleetc.")
    unit = _unit(_name(path))
    if not unit or any(f"{name}.".startswith(f"{door}.") for door in DOORS):
        return
    for imported, line in _imports(path):
        assert imported.split(".")[0] not in BANNED, f"line {line} imports {imported}"
        if imported == "pathlib":
            assert unit == "upstream", f"line {line}: only upstream/ reads its own data"


@pytest.mark.parametrize("room", ["rules", "emit"])
def test_siblings_do_not_import_one_another(room: str) -> None:
    apart = {_name(path) for path in (PACKAGE / room).rglob("*.py") if path.name != "__init__.py"}
    if room == "emit":
        apart = {f"fleetc.emit.{name}" for name in FORMATS}
    for path in MODULES:
        if _name(path) in apart:
            for imported, line in _imports(path):
                assert imported not in apart - {_name(path)}, f"{_name(path)}:{line} imports {imported}"


def test_only_the_runner_imports_ansible_runner() -> None:
    found = [_name(p) for p in MODULES for imported, _ in _imports(p) if imported.split(".")[0] == "ansible_runner"]
    assert set(found) == {"fleetc.rollout.hosts.runner"}


def test_nothing_prints_but_the_command_line() -> None:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", f"{_name(path)}:{node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_files_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 450, "more than one idea in this file?"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno
            assert length <= 75, f"{node.name} has {length} lines"


def test_every_template_is_rendered_by_a_format_or_a_report() -> None:
    makers = [path for name in ("emit", "review") for path in (PACKAGE / name).rglob("*.py")]
    code = "".join(p.read_text(encoding="utf-8") for p in makers)
    for template in sorted((ROOT / "templates").rglob("*.j2")):
        name = template.relative_to(ROOT / "templates").as_posix()
        assert f'"{name}"' in code, f"nothing renders {name}"


def test_modules_that_docstrings_name_are_there() -> None:
    for path in MODULES:
        for name in re.findall(r"`([a-z_][\w/]*\.py)`", path.read_text(encoding="utf-8")):
            beside = any((folder / name).is_file() for folder in (path.parent, PACKAGE))
            assert beside or (ROOT / name).is_file(), (
                f"{_name(path)} names {name}, which is neither beside it nor below {PACKAGE}"
            )


def test_code_map_names_every_module() -> None:
    page = (PACKAGE.parent / "README.md").read_text(encoding="utf-8")
    for unit in sorted({_unit(_name(p)) for p in MODULES} - {""}):
        assert f"`{unit}" in page, f"compiler/README.md does not mention {unit}"
