"""The ten names that other programs build on: the example of the guide, and what they say of a spec that is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fleetc
from tests.docs.test_pages import GUIDE, blocks
from tests.support import ROOT

DEMO = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8")


@pytest.mark.usefixtures("processes")
def test_example_of_the_guide_prints_the_page_and_the_changes(tmp_path: Path) -> None:
    ((_, script),) = blocks(GUIDE["python"], "python")
    (tmp_path / "before.toml").write_text(DEMO, encoding="utf-8")
    (tmp_path / "fleet.toml").write_text(DEMO.replace("[gateways.gate]", "[gateways.gate]\nverbosity = 5"), "utf-8")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.startswith("no problems\n")
    assert "# Fleet" in done.stdout
    assert "-v None 5" in done.stdout.splitlines()[-1]


def test_all_names_are_there_and_no_others() -> None:
    assert len(fleetc.__all__) == 10
    assert all(getattr(fleetc, name).__module__.startswith("fleetc.") for name in fleetc.__all__)
    with pytest.raises(AttributeError, match="its interface is Checked, Compiled"):
        getattr(fleetc, "frobnicate")  # noqa: B009  # mypy knows that it is not there


@pytest.mark.usefixtures("processes")
def test_importing_the_package_imports_nothing_else() -> None:
    script = "import sys, fleetc; print([name for name in sys.modules if name.startswith(('fleetc.', 'pydantic'))])"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("text", ["a = ", "[fleet]\n", DEMO.replace("[fleet]", "[fleet", 1)])
def test_wrong_spec_has_diagnostics_with_lines_and_no_tree(text: str) -> None:
    compiled = fleetc.compile(text)
    assert compiled.tree is None
    shown = fleetc.as_text(fleetc.located(compiled.checked))
    assert shown.startswith("error[")
    assert " --> fleet.toml:" in shown
    with pytest.raises(ValueError, match="the new spec did not compile"):
        fleetc.diff(fleetc.compile(DEMO), compiled)


def test_overlay_is_named_where_it_is_wrong() -> None:
    shown = fleetc.as_text(fleetc.located(fleetc.check(DEMO, "[fleet]\nregion = 5\n")))
    assert " --> overlay-1.toml:2:" in shown
