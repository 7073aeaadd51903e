"""Sealed plans of hosts with an avatar stack: its secrets and its release stand in the plan."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from compiler.ops import plans
from compiler.sealed.data import NodeRelease
from tests.sealed.support import NOW, Workplace
from tests.support import ROOT

SPEC = ROOT / "inventories" / "avatar-stage" / "fleet.toml"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The stage, compiled; no test changes it."""
    made = Workplace(tmp_path_factory.mktemp("stage"))
    made.fill(SPEC)
    return made


@pytest.fixture
def stage(compiled: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A copy of the stage as the working directory, and `before`, the tree that was rolled out last."""
    shutil.copytree(compiled.directory, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(plans, "clock", lambda: NOW)
    place = Workplace(tmp_path / "work")
    shutil.copytree(place.tree, "before")
    return place


def test_secrets_and_release_of_a_stack_are_in_the_plan(stage: Workplace) -> None:
    done = stage.run("plan")
    assert done.code == 0, done.err
    assert "releases go-livepeer v0.9.1, avatar stack v1.3.6\n" in done.out
    assert "vault turn_password, vault turn_user\n" in done.out
    made = stage.made()
    assert made.releases[-1] == NodeRelease("avatar stack", "v1.3.6")
    assert {s.variable for s in made.secrets if s.node == "avatar"} == {"TURN_PASS", "TURN_USER"}
