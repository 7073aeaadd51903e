"""`fleetc rollback` says where it leads: the release, when it came, the commit that has it, and what going back means.

The command, git, the trees and the journal are real; hosts are those of `standin_hosts.py`.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from fleetc.rollout.hosts import deploy as deploying
from fleetc.rollout.hosts import rolling
from tests.review.git_support import commit, git_in
from tests.rollout.hosts.standin_hosts import Hosts
from tests.support import INVENTORIES, fleetc

pytestmark = pytest.mark.usefixtures("processes")

BACK = "    price: asks 1200 wei / pixel instead of 1400 wei / pixel (-14.3 percent)\n"
FORTH = "      price: asks 1400 wei / pixel instead of 1200 wei / pixel (+16.7 percent)\n"


class World:
    """A fleet of one host in a repository, to which a price and then a higher one were rolled out."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.journal = directory / "fleet", directory / "journal"
        self.hosts = Hosts(directory / "hosts.json")
        self.directory.mkdir()
        self.spec = self.directory / "fleet.toml"
        git_in(self.directory, "init", "--quiet", "--initial-branch=main")

    def price(self, wei: int, committed: bool = True) -> str:
        """Compile the fleet with this price, commit it, and return the commit."""
        text = (INVENTORIES / "home-gpu/fleet.toml").read_text(encoding="utf-8")
        self.spec.write_text(text.replace('"1200 wei', f'"{wei} wei'), encoding="utf-8")
        assert fleetc("compile", self.directory, cwd=self.directory).returncode == 0
        if committed:
            commit(self.directory, f"{wei} wei")
        return git_in(self.directory, "rev-parse", "--short=12", "HEAD")

    def run(self, *words: str, code: int = 0) -> str:
        """What a command says."""
        done = fleetc(
            *words, cwd=self.directory, FLEETC_JOURNAL=str(self.journal), ARBITRUM_RPC_URL="https://x.invalid"
        )
        assert done.returncode == code, done.stdout + done.stderr
        return re.sub(r"at \d{4}-\S+Z by \S+ on [\w.-]+", "at TIME by WHO", done.stdout + done.stderr)

    def release(self) -> str:
        return self.hosts.releases()["tower"][:12]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    for module in (rolling, deploying):
        monkeypatch.setattr(module, "run_playbook", made.hosts.run)
    return made


def test_rollback_names_where_it_leads_and_the_price_that_comes_back(world: World) -> None:
    first = world.price(1200)
    world.run("deploy")
    before = world.release()
    second = world.price(1400)
    planned = world.run("plan", "--against", "HEAD~1")
    world.run("deploy")
    again = world.run("plan", "--against", "HEAD~1")
    assert "processes: 1 to restart\n" in planned and "processes: 1 to keep\n" in again, "the journal says it runs that"
    after = world.release()
    leads = (
        f"tower goes back to the release {before}, rolled out at TIME by WHO; it is in rendered/ of commit {first} of "
    )
    tried = world.run("rollback", "--check")
    assert leads in tried and BACK in tried
    assert re.search(f"^tower +{after} +{before} .* would go back$", tried, re.MULTILINE)
    listed = world.run("rollback", "--list")
    assert f"  {after}  given last, rolled out at TIME by WHO; it is in rendered/ of commit {second} of " in listed
    assert f"  {before}  rolled out at TIME by WHO; it is in rendered/ of commit {first} of " in listed
    assert f"  {BACK}" in listed
    newest, oldest = re.findall(r"^  deploy at TIME by WHO: (.*)$", listed, re.MULTILINE)
    assert re.fullmatch(rf"checkout at {second}, ended at \S+Z with 0", newest)
    assert re.fullmatch(rf"checkout at {first}, ended at \S+Z with 0", oldest)
    assert "tower\n  orch: last restarted by the deploy at TIME by WHO\n" in listed
    assert listed.count("\n      deployed: tower\n") == 2
    done = world.run("rollback")
    assert leads in done and BACK in done
    assert "1 host: 1 rolled back\n" in done
    assert "the spec still has another release for tower: revert it and compile" in done
    assert world.release() == before
    twice = world.run("rollback", code=1)
    assert f"choose a release with --to DIGEST, such as {after} (tower); fleetc rollback --list shows" in twice
    listed = world.run("rollback", "--list")
    assert FORTH in listed and "\n      rolled back: tower\n" in listed
    assert "at least 8 characters of a digest" in world.run("rollback", "--to", after[:4], code=2)
    assert "1 host: 1 rolled back\n" in world.run("rollback", "--to", after[:8])
    assert world.release() == after


def test_release_that_is_in_no_commit_is_known_by_the_spec_that_its_rollout_kept(world: World) -> None:
    commit(world.directory, "nothing yet")
    world.price(1200, committed=False)
    world.run("deploy")
    world.price(1400, committed=False)
    world.run("deploy")
    known = world.run("rollback", "--check")
    assert "; it is in the spec that was rolled out" in known and BACK in known
    shutil.rmtree(next(world.journal.glob("*.specs")))
    tried = world.run("rollback", "--check")
    unknown = (
        "what this changes for prices, sessions and ports is not known, because the release to go back to is in no"
    )
    assert unknown in tried and "rendered/ is in no commit" in tried
    assert "price:" not in tried


def test_tree_that_was_rolled_out_without_a_commit_is_known_as_long_as_it_lies_there(world: World) -> None:
    world.price(1200)
    world.run("deploy")
    world.price(1400, committed=False)
    world.run("deploy")
    assert BACK in world.run("rollback", "--check")
    assert "given last, rolled out at TIME by WHO; it is in rendered/ as it is here, in no commit" in world.run(
        "rollback", "--list"
    )


def test_list_of_a_fleet_that_was_never_rolled_out(world: World) -> None:
    world.price(1200)
    assert (
        world.run("rollback", "--list") == "the journal has no release of these hosts: no rollout with it changed one\n"
    )
    assert "--list changes nothing" in world.run("rollback", "--list", "--check", code=2)
