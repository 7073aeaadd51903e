"""What holds for all tests: no property is judged by the clock, and a test that starts a process says so.

In: every test. Out: the marker `process` on those with the fixture `processes`, and a failure of others that start a
program. `make quick` leaves the marked ones out. And each text of a template is compiled once in a process: tests
compile thousands of fleets, and most of the time of one goes into its templates.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings
from jinja2 import Template

from fleetc.emit.templates import Templates

settings.register_profile("no-clock", deadline=None)  # machines are noisy
settings.load_profile("no-clock")

_running: list[pytest.Item] = []
"""The test that runs, if any, alone in a list."""


@pytest.fixture(scope="session")
def processes() -> None:
    """The test may start programs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "processes" in getattr(item, "fixturenames", ()):
            item.add_marker("process")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _running[:] = [item]
    try:
        return (yield)
    finally:
        _running.clear()


def _refuse(event: str, _arguments: object) -> None:
    if event == "subprocess.Popen" and _running and _running[0].get_closest_marker("process") is None:
        raise RuntimeError(f'{_running[0].nodeid} starts a process: it needs usefixtures("processes")')


sys.addaudithook(_refuse)


_compile = Templates._compile
_compiled: dict[tuple[str, str | None], Template] = {}
"""Templates by name and text: a compiled one keeps nothing of what it rendered."""


def _compile_once(templates: Templates, name: str) -> Template:
    key = (name, templates._texts.get(name))
    if key not in _compiled:
        _compiled[key] = _compile(templates, name)
    templates._compiled[name] = _compiled[key]
    return _compiled[key]


Templates._compile = _compile_once  # type: ignore[method-assign, assignment]
