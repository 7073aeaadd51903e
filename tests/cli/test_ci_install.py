"""What the workflows of `fleetc init` install: packages by hash, fleetc from a fixed commit. Their scripts are run."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from fleetc.version import __version__
from tests.cli.test_ci_files import Runner, commit, first, project, scripts
from tests.cli.test_init import git
from tests.support import ROOT, fleetc

pytestmark = pytest.mark.usefixtures("processes")

__all__ = ["first", "project"]


def requirements(path: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """By name and version: the marker and the hashes of each package of a file for pip."""
    found = {}
    for entry in re.split(r"\n(?=[a-z])", re.sub(r"(?m)^#.*\n", "", path.read_text()).strip()):
        head, *hashes = re.split(r" \\\n\s+--hash=", entry)
        name, _, marker = head.partition(" ; ")
        found[name] = (marker, frozenset(hashes))
    return found


def test_workflows_install_exactly_the_locked_packages_that_fleetc_needs(project: Path) -> None:
    shipped = requirements(ROOT / "templates/starter/requirements.txt")
    locked = requirements(ROOT / "requirements.lock")
    for name, (_, hashes) in shipped.items():
        assert hashes and hashes == locked[name][1], name
    for service in ("github", "gitlab"):
        assert requirements(project / f".{service}/fleetc/requirements.txt") == shipped
        assert "://" not in (project / f".{service}/fleetc/requirements.txt").read_text()
    pages = {canonicalize_name(name.partition("==")[0]) for name in shipped}
    waiting, needed = [Requirement("fleetc"), Requirement("hatchling")], set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in needed:
            continue
        needed.add(name)
        for text in requires(name) or ():
            found = Requirement(text)
            if found.marker is None or any(found.marker.evaluate({"extra": extra}) for extra in wanted.extras or {""}):
                waiting.append(found)
    assert needed - pages == {"fleetc"}
    ours = {
        name for name in pages - needed if not any(name == n.partition("==")[0] and m for n, (m, _) in shipped.items())
    }
    assert ours == set(), "packages that nothing needs"


INSTALLS = [
    (".github/workflows/fleet-deploy.yml", "github"),
    (".github/workflows/fleet-review.yml", "github"),
    (".github/workflows/fleet-verify.yml", "github"),
    (".gitlab/fleetc/fleet.yml", "gitlab"),
]


def install_scripts(path: Path) -> set[str]:
    """What the jobs of a workflow run to install fleetc; all jobs of one do the same."""
    page = yaml.safe_load(path.read_text())
    if "jobs" not in page:
        return {"\n".join(page[".fleetc"]["before_script"])}
    return {found["run"] for found in scripts(page) if found.get("name") == "Install fleetc"}


def test_install_scripts_take_nothing_without_a_hash_but_the_fixed_commit(project: Path) -> None:
    for name, service in INSTALLS:
        (script,) = install_scripts(project / name)
        first, second = [line for line in script.splitlines() if "--requirement" in line]
        assert "--require-hashes --only-binary :all:" in first and f".{service}/fleetc/requirements.txt" in first
        assert "--no-deps --no-build-isolation" in second and f".{service}/fleetc/fleetc.txt" in second
        assert "==" not in script and "index" not in script
        used = [line for line in script.splitlines() if " install" in line]
        assert len(used) <= 3


@pytest.mark.slow
@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_install_scripts_install_the_fixed_commit(service: str, tmp_path: Path) -> None:
    """From a local repository, which stands in for the one that a git URL names."""
    source = tmp_path / "source"
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.split("\0")[:-1]:
        if name.startswith(("compiler/", "templates/", "playbooks/", "inventories/")) or "/" not in name:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name, follow_symlinks=False)
    git(source, "init", "--quiet")
    commit(source)
    fixed = git(source, "rev-parse", "HEAD").strip()
    (source / "compiler/fleetc/version.py").write_text('"""Not this one: it came later."""\n\n__version__ = "9.9.9"\n')
    commit(source)
    place = tmp_path / "project"
    place.mkdir()
    git(place, "init", "--quiet")
    done = fleetc("init", "--ci", service, "--install-from", f"git+file://{source}@{fixed}", cwd=place)
    assert done.returncode == 0, done.stderr
    (place / "fleetc.py").write_text("raise SystemExit('a module of the checkout')")
    path = place / (".github/workflows/fleet-review.yml" if service == "github" else ".gitlab/fleetc/fleet.yml")
    (script,) = install_scripts(path)
    runner = Runner(place, tmp_path)
    shutil.rmtree(runner.temp / "fleetc")
    prefix = runner.temp / "fleetc"
    done = runner.run(f"set -x\n{script.replace('/opt/fleetc', str(prefix))}")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = subprocess.run([prefix / "bin/fleetc", "--version"], capture_output=True, text=True, check=True, cwd=place)
    assert __version__ in shown.stdout
    again = subprocess.run(
        [prefix / "bin/fleetc", "init", "elsewhere", "--ci", service],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    (own,) = tmp_path.rglob(f"elsewhere/.{service}/fleetc/fleetc.txt")
    assert own.read_text().endswith(f"\ngit+file://{source}@{fixed}#egg=fleetc\n")  # the commit it was installed from
    broken = place / f".{service}/fleetc/requirements.txt"
    broken.write_text(re.sub(r"sha256:[0-9a-f]{8}", "sha256:00000000", broken.read_text()))
    shutil.rmtree(prefix)
    refused = runner.run(script.replace("/opt/fleetc", str(prefix)))
    assert refused.returncode != 0 and "DO NOT MATCH THE HASHES" in refused.stdout + refused.stderr
