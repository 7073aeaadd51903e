"""A working directory with a spec, for `fleetc diagnose`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.observe.support import SPEC


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fleet.toml").write_text(SPEC)
    return tmp_path
