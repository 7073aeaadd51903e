"""An installed wheel works outside the checkout: templates and playbooks are inside."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support import ROOT, fleetc

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = place.glob("*.whl")
    return built


def test_wheel_holds_every_template_playbook_and_first_file(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("templates", "playbooks"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"fleetc/_{path.relative_to(ROOT).as_posix()}" in inside
    written = [path for kind in ("*.toml", "README.md") for path in ROOT.glob(f"inventories/*/{kind}")]
    examples = {f"fleetc/_{path.relative_to(ROOT).as_posix()}" for path in written}
    assert examples == {name for name in inside if name.startswith("fleetc/_inventories/")}
    assert {"fleetc/upstream/node_flags.toml", "fleetc/lower/alerts.toml", "fleetc/lower/panels.toml"} <= inside


def test_installed_wheel_compiles_an_example_to_the_same_tree(wheel: Path, tmp_path: Path) -> None:
    """A fresh environment. Its dependencies are borrowed from this one by a path file; fleetc itself is installed."""
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    pip: list[str | Path] = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, str(wheel)], cwd=tmp_path, check=True, capture_output=True)
    (site,) = (environment / "lib").glob("python*/site-packages")
    (dependencies,) = {Path(p) for p in sys.path if p.endswith("site-packages")}
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    where = subprocess.run(
        [python, "-I", "-c", "import fleetc; print(fleetc.__file__)"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert where.stdout.startswith(str(site)), where.stdout
    done = subprocess.run(
        [python, "-I", "-m", "fleetc", "compile", str(ROOT / "inventories/demo"), "-o", str(tmp_path / "out")],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert fleetc("compile", ROOT / "inventories/demo", "-o", tmp_path / "out", "--check").returncode == 0
    started = subprocess.run(
        [python, "-I", "-m", "fleetc", "init", "new", "--ci", "gitlab", "--install-from", f"sha256:{'0' * 64}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert started.returncode == 0, started.stderr
    assert fleetc("check", tmp_path / "new").returncode == 0
