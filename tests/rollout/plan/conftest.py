"""The workplace that the tests of sealed plans share: compiled once, copied for each test.

In: pytest's own directories. Out: the fixtures `filled` and `place`. Read by pytest.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fleetc.rollout.hosts import plans
from tests.rollout.plan.support import NOW, Workplace


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A compiled fleet that no test changes."""
    place = Workplace(tmp_path_factory.mktemp("fleet"))
    place.fill()
    return place


@pytest.fixture
def place(filled: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A copy of the compiled fleet as the working directory, at the time NOW."""
    shutil.copytree(filled.directory, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(plans, "clock", lambda: NOW)
    return Workplace(tmp_path / "work")
