"""What holds for all tests: no property is judged by the clock, and a test that starts a process says so.

In: every test. Out: the marker `process` on those with the fixture `processes`, and a failure of others that start a
program. `make quick` leaves the marked ones out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

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
