"""A stand-in for the stream API, one for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.online.support import Api, running


@pytest.fixture(scope="module")
def api(processes: None) -> Iterator[Api]:
    """Plain HTTP on this machine."""
    with running("--silence", "60") as found:
        yield found
