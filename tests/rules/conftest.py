"""The fixture of tests that are named after a rule."""

from __future__ import annotations

import pytest

from fleetc.rules import rules
from tests.rules.support import OneRule


@pytest.fixture
def rule(request: pytest.FixtureRequest) -> OneRule:
    """The rule of the code in `test_<code>`; what a second test of a rule adds follows two underscores."""
    name = request.function.__name__.removeprefix("test_").partition("__")[0]
    code = name.replace("_", "-")
    assert code in {one.code for one in rules()}
    return OneRule(code)
