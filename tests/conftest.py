"""What holds for all tests: no property is judged by the clock, and a test that starts a process says so.

In: every test. Out: the marker `process` on those with the fixture `processes`, and a failure of others that start a
program. `make quick` leaves the marked ones out.

What costs time and shows nothing is spared. The command line is built once in a process. Files that tests make lie in
memory where there is room, unless TMPDIR says where or test hosts are started. Files of tests that start programs come
first, as those take longest, and the short ones fill the gap at the end. FLEETC_TEST_ORDER, any text, names another
order of files and of the tests in each: a test passes alone and in any.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing
from hypothesis import settings

# Machines are noisy, and red is of the change: no deadline, and the same few examples each time.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("exploring", deadline=None, max_examples=400)
settings.load_profile("repeatable")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell; what tests start would too
    signal.signal(signal.SIGINT, signal.default_int_handler)

_MEMORY = Path("/dev/shm")
_ROOM = 4 * 2**30
"""What tests fill at most, many times over: files of a passed test go at once."""

_spoken_for = {"TMPDIR", "FLEETC_TEST_HOSTS"} & {*os.environ}  # a whole system has no room there
if not _spoken_for and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))  # where pytest makes its directories

_own_state = tempfile.TemporaryDirectory(prefix="fleetc-test-state-")
os.environ["XDG_STATE_HOME"] = _own_state.name  # journals of tests; processes that tests start inherit it

_running: list[pytest.Item] = []
"""The test that runs, if any, alone in a list."""


@pytest.fixture(scope="session")
def processes() -> None:
    """The test may start programs."""


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    """A directory on a disk, for tests of what must not lie there."""
    with tempfile.TemporaryDirectory(prefix="fleetc-test-", dir="/var/tmp") as place:
        yield Path(place)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "processes" in getattr(item, "fixturenames", ()):
            item.add_marker("process")
    long = {item.path for item in items if item.get_closest_marker("process")}
    items.sort(key=lambda item: item.path not in long)
    if seed := os.environ.get("FLEETC_TEST_ORDER"):
        chance = random.Random(seed)
        turn = {path: chance.random() for path in dict.fromkeys(item.path for item in items)}
        items.sort(key=lambda item: (turn[item.path], chance.random()))


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


_command = cache(typer.main.get_command)
"""The command line of an app, which typer builds anew at each call."""
typer.main.get_command = _command
typer.testing._get_command = _command  # type: ignore[attr-defined]
