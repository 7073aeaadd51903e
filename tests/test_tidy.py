"""The shape of the code itself: docstrings, layers, banned imports, sizes, templates in use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "compiler" / "fleetc"
MODULES = sorted(PACKAGE.rglob("*.py"))

LAYERS: dict[str, int] = {
    "version": 0,

    "upstream": 0,

    "analysis": 2, "rules": 2,
    "lower": 3,

    "pipeline": 5, "review": 7,
    "settings": 6,
    "fixes": 6,
    "scaffold": 6,
    "baseline": 8,
    "commands": 9, "cli": 10, "__main__": 11,
    "places": 0,
    "text": 0,
    "toml": 1,
    "language": 1,
    "blueprint": 2,
    "emit": 4,
    "stream_api": 4,
    "messages": 6,
    "disk": 6,
    "rollout": 8,
}  # fmt: skip
"""A module imports modules of its own or a lower layer. Moving an arrow means moving a line here."""

# upstream/__main__.py is a door too: maintainers refresh the flag table with it, by pathlib, which upstream/ may use.
DOORS = {
    "files",
    "reading",
    "checkout",
    "git",
    "baseline",
    "new_files",
    "spec_writer",
    "recorded",
    "staging",
    "swapping",
    "ops",
    "commands",
    "cli",
    "settings",
    "__main__",
}
BANNED = {"os", "time", "random", "subprocess", "socket", "shutil", "tempfile", "datetime", "secrets", "urllib", "http"}
APART = ("rules",)
"""Packages whose files never import one another; their __init__ imports them all."""


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
            if node.module == "fleetc":
                for alias in node.names:
                    yield f"fleetc.{alias.name}", node.lineno


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
    for imported, line in _imports(path):
        target = _unit(imported)
        if imported.startswith("fleetc.") and target != unit:
            assert target in LAYERS, f"{imported} has no layer"
            assert LAYERS[target] <= LAYERS[unit], f"{_name(path)}:{line} imports {imported}, a layer above it"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_core_touches_neither_disk_nor_clock_nor_network(path: Path) -> None:
    unit = _unit(_name(path))
    if unit in DOORS or not unit:
        return
    for imported, line in _imports(path):
        assert imported.split(".")[0] not in BANNED, f"line {line} imports {imported}"
        if imported == "pathlib":
            assert unit == "upstream", f"line {line}: only upstream/ reads its own data"


@pytest.mark.parametrize("package", APART)
def test_siblings_do_not_import_one_another(package: str) -> None:
    for path in sorted((PACKAGE / package).glob("*.py")):
        if path.name == "__init__.py":
            continue
        for imported, line in _imports(path):
            other = imported.removeprefix(f"fleetc.{package}.")
            assert other == imported or other == path.stem, f"{path.name}:{line} imports {imported}"


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


def test_every_template_is_rendered_by_a_backend_or_a_report() -> None:
    makers = [path for name in ("emit", "review") for path in (PACKAGE / name).rglob("*.py")]
    code = "".join(p.read_text(encoding="utf-8") for p in makers)
    for template in sorted((ROOT / "templates").rglob("*.j2")):
        name = template.relative_to(ROOT / "templates").as_posix()
        assert f'"{name}"' in code, f"nothing renders {name}"


def test_code_map_names_every_module() -> None:
    page = (PACKAGE.parent / "README.md").read_text(encoding="utf-8")
    for unit in sorted({_unit(_name(p)) for p in MODULES} - {""}):
        assert f"`{unit}" in page, f"compiler/README.md does not mention {unit}"
