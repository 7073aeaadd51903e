"""What the tests of monitoring share: the fleet in which every alert applies, and the programs of Debian's package."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from fleetc.blueprint.monitoring import MonitoringBlueprint
from fleetc.pipeline import Compiled
from tests.support import compile_text

HERE = Path(__file__).parent
SPEC = (HERE / "fleet.toml").read_text(encoding="utf-8")
RULES_TEST = HERE / "rules_test.yml"
INCOME_TEST = HERE / "income_test.yml"
HOURS_TEST = HERE / "hours_test.yml"


@cache
def whole() -> Compiled:
    """The fleet of this folder, compiled."""
    compiled = compile_text(SPEC)
    assert compiled.checked.diagnostics == ()
    return compiled


def watched(text: str = SPEC) -> MonitoringBlueprint:
    """The part of a fleet's plan that watches it."""
    plan = (whole() if text == SPEC else compile_text(text)).blueprint
    assert plan is not None and plan.monitoring is not None
    return plan.monitoring


def files(compiled: Compiled) -> dict[str, str]:
    """The files of the folder monitoring, by their names in it."""
    assert compiled.tree is not None, compiled.checked.diagnostics
    prefix = "monitoring/"
    found = compiled.tree.artifacts
    return {a.path.removeprefix(prefix): a.content.decode() for a in found if a.path.startswith(prefix)}


def lay_out(compiled: Compiled, into: Path) -> Path:
    """Write the folder and return where it lies."""
    for name, text in files(compiled).items():
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return into


def program(name: str) -> str:
    """The path of a program of Debian's packages; without it the test is skipped, and says so."""
    path = shutil.which(name)
    if path is None:
        package = name if name.startswith("prometheus-") else "prometheus"
        pytest.skip(f"{name} is not installed: Debian's package {package} has it")
    return path


@contextmanager
def running(log: Path, *command: object) -> Iterator[None]:
    """Run a program while the block lasts; what it prints goes to a file."""
    with (
        log.open("wb") as out,
        subprocess.Popen(list(map(str, command)), stdout=out, stderr=out) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def promtool(*arguments: object, fine: bool = True) -> str:
    """Run promtool and return what it prints; fails unless it ends as expected."""
    command = [program("promtool"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == fine, said
    return said
