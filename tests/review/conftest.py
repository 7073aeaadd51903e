"""A reviewed checkout with real git, for the tests of which repository and which revision a review believes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.review.git_support import NEW, OLD, change, new_repository


@pytest.fixture
def nobodys_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A checkout of a branch that changes the spec of main."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    change(folder, new_repository(folder, OLD), NEW)
    return folder


@pytest.fixture
def spec(top: Path) -> Path:
    return top / "fleets" / "demo" / "fleet.toml"
