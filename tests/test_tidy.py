"""The shape of the code itself: docstrings, banned imports, sizes, templates in use.

In: the modules of the package, each read and parsed once. Out: every fault at once, with its place. Which room imports
from which is a contract of import-linter, in pyproject.toml.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

from fleetc.cli.commands import COMMANDS
from fleetc.emit import formats
from fleetc.rollout.verify import judge

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "compiler" / "fleetc"

# upstream/__main__.py is a door too: maintainers refresh the flag table with it, by pathlib, which upstream/ may use.
DOORS = {"disk", "rollout.hosts", "online", "policy.sandbox", "cli", "settings", "__main__"}
CLOCKS = {"now", "today", "utcnow", "fromtimestamp"}
"""What would read the clock of a day, which is a value like any other."""
TOP_LEVEL = {
    *("pyproject.toml", "README.md", "compiler", "inventories", "templates", "playbooks", "tests"),
    *("LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile", "requirements.lock", "ansible.cfg"),
    *(".gitignore", ".gitattributes", ".ci", "action.yml", ".pre-commit-hooks.yaml"),
}
BANNED = {"os", "time", "random", "subprocess", "socket", "shutil", "tempfile", "datetime", "secrets", "urllib", "http"}


class Module:
    """One file of the package."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        self.room = self.name.partition(".")[0]

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    def imports(self) -> Iterator[tuple[str, str]]:
        """What is imported from where, with the place of the line; a day and nothing else is no import of a clock."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((alias.name, self.place(node)) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                if node.module == "datetime" and [alias.name for alias in node.names] == ["date"]:
                    continue
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from ((name, self.place(node)) for name in (node.module, *names))

    def place(self, node: ast.stmt | ast.expr) -> str:
        return f"{self.path.relative_to(ROOT)}:{node.lineno}"


MODULES = [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]


def test_every_module_starts_with_a_docstring_that_says_what_comes_in_and_out() -> None:
    assert [module.name for module in MODULES if len(ast.get_docstring(module.tree) or "") <= 40] == []


def test_core_touches_neither_disk_nor_clock_nor_network() -> None:
    core = [m for m in MODULES if m.room and not any(f"{m.name}.".startswith(f"{door}.") for door in DOORS)]
    assert len(core) > 200
    found = [
        f"{place} imports {imported}"
        for module in core
        for imported, place in module.imports()
        if imported.split(".")[0] in BANNED or (imported == "pathlib" and module.room != "upstream")
    ]
    assert found == [], "only upstream/ reads its own data"
    calls = (node for module in core for node in module.nodes if isinstance(node, ast.Attribute))
    assert [node for node in calls if node.attr in CLOCKS and ast.unparse(node.value) in ("date", "datetime")] == []


_COMMANDS = {listed.name.replace("-", "_") for listed in COMMANDS}
_FORMATS = {value.__name__ for value in vars(formats).values() if isinstance(value, ModuleType)}
SIBLINGS = {
    "rules": [m for m in MODULES if m.room == "rules" and m.name not in ("rules", "rules.silences")],
    "emit": [m for m in MODULES if f"fleetc.{m.name}" in _FORMATS],
    "cli": [m for m in MODULES if m.name.startswith("cli.") and m.path.stem in _COMMANDS],
}


def test_what_is_written_is_listed() -> None:
    commands = {m.path.stem for m in MODULES if m.path.parent == PACKAGE / "cli"} - {"app", "commands", "__init__"}
    dead = [f"add an entry for `{name}` to GROUPS in cli/commands.py" for name in sorted(commands - _COMMANDS)]
    makers = {f"fleetc.{m.name}" for m in MODULES if m.room == "emit" and re.search(r"^def emit\(host", m.text, re.M)}
    dead += [f"add {name}.emit to HOST_FORMATS in emit/formats.py" for name in sorted(makers - _FORMATS)]
    checks = {m.path.stem for m in MODULES if m.name.startswith("rollout.verify.checks.")}
    known = {*re.findall(r"\b(\w+)\.\w+[,(]", inspect.getsource(judge))}
    dead += [f"add functions of {name}.py to CHECKS in rollout/verify/judge.py" for name in sorted(checks - known)]
    assert dead == [], "\n".join(dead)


@pytest.mark.parametrize("room", SIBLINGS)
def test_siblings_do_not_import_one_another(room: str) -> None:
    siblings = SIBLINGS[room]
    names = {f"fleetc.{module.name}" for module in siblings}
    assert len(names) >= 13
    found = [
        f"{place} imports {imported}"
        for module in siblings
        for imported, place in module.imports()
        if imported in names - {f"fleetc.{module.name}"}
    ]
    assert found == []


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Imports within functions and those for types count too: they only hide a circle."""
    named = {f"fleetc.{module.name}".rstrip("."): module for module in MODULES}
    graph: dict[str, set[str]] = {}
    for name, module in named.items():
        imported = {other for other, _ in module.imports()} & named.keys() - {name}
        graph[name] = imported - {other.rpartition(".")[0] for other in imported}  # a module is not its package
    TopologicalSorter(graph).prepare()  # raises the circle


def test_no_folder_has_more_files_than_a_reader_can_survey() -> None:
    folders = Counter(path.parent for top in (PACKAGE, ROOT / "tests") for path in top.rglob("*.py"))
    crowded = [f"{folder.relative_to(ROOT)} has {count} files" for folder, count in folders.items() if count > 40]
    assert crowded == [], "more than 40: give what belongs together a folder of its own"


def test_only_the_runner_imports_ansible_runner() -> None:
    found = {m.name for m in MODULES for imported, _ in m.imports() if imported.split(".")[0] == "ansible_runner"}
    assert found == {"rollout.hosts.runner"}


def test_only_online_talks_to_services() -> None:
    network = {"httpx", "urllib", "http", "ssl", "asyncio"}
    found = {m.name for m in MODULES for imported, _ in m.imports() if imported.split(".")[0] in network}
    loops = {"cli.shared.streaming", "cli.comment", "cli.editor.desk"}  # they start the loop of asyncio
    assert found == {"online.http", "online.asking", "online.public", "online.forges"} | loops
    found = {m.name for m in MODULES for imported, _ in m.imports() if imported == "httpx"}
    assert found == {"online.http", "online.public"}


def test_nothing_prints_but_the_command_line() -> None:
    calls = [(m, node) for m in MODULES for node in m.nodes if isinstance(node, ast.Call)]
    assert [m.place(node) for m, node in calls if isinstance(node.func, ast.Name) and node.func.id == "print"] == []


def test_files_and_functions_stay_readable() -> None:
    assert [m.name for m in MODULES if m.text.count("\n") > 450] == [], "more than one idea in these files?"
    functions = [(m, n) for m in MODULES for n in m.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = [f"{m.place(node)} {node.name}" for m, node in functions if (node.end_lineno or 0) - node.lineno > 75]
    assert long == [], "more than 75 lines"


@pytest.mark.usefixtures("processes")
def test_nothing_else_is_at_the_top_level() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {name.partition("/")[0] for name in listed.split("\0") if name}
    assert top - TOP_LEVEL == set(), "put it into one of the folders"


def test_every_template_is_rendered_by_a_format_or_a_report() -> None:
    code = "".join(module.text for module in MODULES if module.room in ("emit", "review", "rollout"))
    templates = [path.relative_to(ROOT / "templates").as_posix() for path in (ROOT / "templates").rglob("*.j2")]
    assert [name for name in sorted(templates) if f'"{name}"' not in code] == [], "nothing renders these"


def test_modules_that_docstrings_name_are_there() -> None:
    for module in MODULES:
        for name in re.findall(r"`([a-z_][\w/]*\.py)`", module.text):
            places = (module.path.parent, PACKAGE, ROOT)
            assert any((folder / name).is_file() for folder in places), f"{module.name} names {name}, found nowhere"


def test_quick_tests_exist() -> None:
    """A path that is gone ends `make quick` without a test."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    paths = re.search(r"^QUICK := (.*)$", makefile, re.MULTILINE)
    assert paths is not None
    assert [path for path in paths[1].split() if not (ROOT / path).exists()] == []


def test_code_map_has_the_floors_of_the_contract_and_names_no_file_that_is_gone() -> None:
    page = (PACKAGE.parent / "README.md").read_text(encoding="utf-8")
    rooms: dict[str, set[str]] = {}
    for floor, room in re.findall(r"^\| (\d+) \| `(\w+)(?:/|\.py)` \|", page, re.MULTILINE):
        rooms.setdefault(floor, set()).add(room)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    assert [*rooms.values()] == [set(layer.split(" | ")) for layer in contract["layers"] if layer != "__main__"]
    named = re.findall(r"`([a-z_][\w/]*\.py)`", page)
    assert [name for name in named if not any((folder / name).is_file() for folder in (PACKAGE, ROOT))] == []
