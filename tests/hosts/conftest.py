"""The shared farm of the tests in this folder, and why they are skipped where there can be none.

In: FLEETC_TEST_HOSTS from the environment, and what the machine has. Out: the `farm` fixture. Read by pytest.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.farm.farm import Farm, reasons_unavailable


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder `hosts`, and skip it with the reason where there can be no farm."""
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    if not here:
        return
    reasons = reasons_unavailable()
    if os.environ.get("FLEETC_TEST_HOSTS") != "1":
        reasons = ["real hosts are only started with FLEETC_TEST_HOSTS=1"]
    for item in here:
        item.add_marker(pytest.mark.hosts)
        if reasons:
            item.add_marker(pytest.mark.skip(reason=f"no farm of hosts: {'; '.join(reasons)}"))


@pytest.fixture(scope="session")
def farm() -> Iterator[Farm]:
    """Three hosts for all tests, h3 with Docker. A test that changes a host puts it back."""
    # A test run that is told to end (a time limit does that) ends as by Ctrl-C: the farm is taken down.
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Farm(count=3, docker=("h3",)) as farm:
            yield farm
    finally:
        signal.signal(signal.SIGTERM, previous)
