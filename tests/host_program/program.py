"""The program that runs on hosts, loaded into the test's own process with its files below another directory.

In: the directory. Out: a copy of the program for one test. Each of its files is compiled once for all copies, which
would otherwise take longer than what most tests do with them.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Mapping
from functools import cache
from importlib.machinery import FileFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tests.support import ROOT

PROGRAM = ROOT / "playbooks/roles/fleet_host/module_utils/fleetc_host"
"""The package; every test loads a copy of its own."""

_numbers = itertools.count(1)


class Program:
    """The names of the program, whichever module has them; one that is set is set in every module that uses it."""

    def __init__(self, modules: list[ModuleType]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> Any:
        return vars(next(module for module in self._modules if name in vars(module)))[name]

    def __setitem__(self, name: str, value: object) -> None:
        users = [module for module in self._modules if name in vars(module)]
        assert users, name
        for module in users:
            setattr(module, name, value)

    def __ior__(self, names: Mapping[str, object]) -> Program:
        for name, value in names.items():
            self[name] = value
        return self


@cache
def _code(path: str) -> CodeType:
    return compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)


class _CompiledOnce(SourceFileLoader):
    """Loads a module of the program."""

    def get_code(self, fullname: str) -> CodeType:
        return _code(str(self.path))


for _directory in {path.parent for path in PROGRAM.rglob("*.py")}:
    sys.path_importer_cache[str(_directory)] = FileFinder(str(_directory), (_CompiledOnce, [".py"]))


def loaded(root: Path) -> Program:
    """A copy of the program; every path that it uses lies below `root`."""
    name = f"fleetc_host_{next(_numbers)}"
    spec = spec_from_file_location(name, PROGRAM / "__init__.py", submodule_search_locations=[str(PROGRAM)])
    assert spec is not None
    sys.modules[name] = module_from_spec(spec)
    places = importlib.import_module(f"{name}.places")
    for known, value in vars(places).items():
        if known.isupper() and isinstance(value, str) and value.startswith("/"):
            setattr(places, known, f"{root}{value}")
    importlib.import_module(f"{name}.requests")
    return Program([module for known, module in sys.modules.items() if known.startswith(f"{name}.")])
