"""A release is built and installed as people do it, and works outside the checkout: all that it needs is inside."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from fleetc.version import __version__
from tests.support import ROOT, fleetc

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

TAG = f"v{__version__}"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make release` builds."""
    return built(ROOT, tmp_path_factory.mktemp("release"))


def built(source: Path, place: Path) -> Path:
    """The folder `place` with the release of a source."""
    run(source, "make", "INSTALLED=", f"BIN={Path(sys.executable).parent}", f"RELEASE={place}", "release")
    return place


def test_release_is_the_same_bytes_wherever_and_whenever_it_is_built(release: Path, tmp_path: Path) -> None:
    """The second time from the unpacked sdist: elsewhere, later, and without git."""
    (source,) = release.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    for path in [*unpacked.rglob("*")]:
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(path.stat().st_mode & 0o700)
    again = built(unpacked, tmp_path / "again")
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in release.iterdir()
    }


def test_wheel_holds_every_template_playbook_and_first_file(release: Path) -> None:
    (wheel,) = release.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("templates", "playbooks"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"fleetc/_{path.relative_to(ROOT).as_posix()}" in inside
    written = [path for kind in ("*.toml", "README.md") for path in ROOT.glob(f"inventories/*/{kind}")]
    examples = {f"fleetc/_{path.relative_to(ROOT).as_posix()}" for path in written}
    assert examples == {name for name in inside if name.startswith("fleetc/_inventories/")}
    assert {"fleetc/upstream/node_flags.toml", "fleetc/lower/alerts.toml", "fleetc/lower/panels.toml"} <= inside


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with fleetc from a tag, as pipx and uvx install it; without a network.

    Its dependencies are borrowed from this one by a path file; fleetc itself is installed.
    """
    place = tmp_path_factory.mktemp("installed")
    source = place / "fleetc.git"
    run(ROOT, "git", "init", "--quiet", "--bare", source)
    git = ["git", "-c", "core.bare=false", "-c", "user.name=x", "-c", "user.email=x@example.net"]
    for words in (["add", "--all"], ["commit", "--quiet", "-m", "release"], ["tag", "-a", "-m", "release", TAG]):
        run(ROOT, *git, f"--git-dir={source}", f"--work-tree={ROOT}", *words)
    run(place, sys.executable, "-m", "venv", "venv")
    python = place / "venv/bin/python"
    (site,) = (place / "venv/lib").glob("python*/site-packages")
    (dependencies,) = {Path(p) for p in sys.path if p.endswith("site-packages")}
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    options = ["--quiet", "--ignore-installed", "--no-index", "--no-deps", "--no-build-isolation"]
    run(place, python, "-I", "-m", "pip", "install", *options, f"git+file://{source}@{TAG}")
    return python


def test_fleetc_installed_from_a_tag_compiles_a_copied_fleet_to_the_same_tree(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "inventories/demo", tmp_path / "demo", ignore=shutil.ignore_patterns("rendered"))
    where = run(tmp_path, installed, "-I", "-c", "import fleetc; print(fleetc.__file__)")
    assert where.startswith(str(installed.parent.parent)), where
    command = installed.parent / "fleetc"
    assert run(tmp_path, command, "--version") == f"fleetc {__version__}\n"
    run(tmp_path, command, "compile", "demo", "-o", "out")
    assert fleetc("compile", ROOT / "inventories/demo", "-o", tmp_path / "out", "--check").returncode == 0


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_fleetc_installed_from_a_tag_writes_workflows_that_install_its_commit(
    service: str, installed: Path, tmp_path: Path
) -> None:
    run(tmp_path, installed.parent / "fleetc", "init", "new", "--ci", service)
    assert fleetc("check", tmp_path / "new").returncode == 0
    source = installed.parents[2] / "fleetc.git"
    commit = run(tmp_path, "git", "--git-dir", source, "rev-parse", f"{TAG}^{{commit}}").strip()
    (own,) = tmp_path.rglob(f".{service}/fleetc/fleetc.txt")
    assert own.read_text().splitlines()[-1] == f"git+file://{source}@{commit}#egg=fleetc"


def run(where: Path, *words: str | Path) -> str:
    """What a command prints, which must succeed."""
    done = subprocess.run(words, cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
