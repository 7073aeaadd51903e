"""The checkout of an avatar stack is brought to the release of the spec, and goes back with a rollout that fails.

git is real, and so is the remote that it fetches from; the checkout belongs to a user other than root.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.emit.programs import program
from tests.host_program.avatar_world import CHECKOUT, World
from tests.host_program.test_stack import Fleet

pytestmark = pytest.mark.usefixtures("processes")

ORIGIN = "/opt/origin"
OWNER = 1234


class Checkout(Fleet):
    """The fleet of the stack's tests, whose checkout is one of git."""

    def git(self, *words: str, at: str = CHECKOUT) -> str:
        """Run git as the owner of the checkout, past the host."""
        done = subprocess.run(
            ["git", "-C", str(self.world.inside(at)), "-c", "user.name=a", "-c", "user.email=a@example.net", *words],
            capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        )  # fmt: skip
        return done.stdout.strip()

    def provide(self) -> None:
        """A remote with two releases and a later commit, and a clone of it at the latest."""
        self.world.check_out()
        self.world.inside(CHECKOUT).rename(self.world.inside(ORIGIN))
        self.git("init", "--quiet", "--initial-branch=main", at=ORIGIN)
        for tag in ("v1.3.5", "v1.3.6", ""):
            self.world.inside(f"{ORIGIN}/VERSION").write_text(tag or "later")
            self.git("add", "--all", at=ORIGIN)
            self.git("commit", "--quiet", "--message", tag or "later", at=ORIGIN)
            if tag:
                self.git("tag", tag, at=ORIGIN)
        origin, checkout = str(self.world.inside(ORIGIN)), str(self.world.inside(CHECKOUT))
        self.git("clone", "--quiet", "--no-tags", "--no-local", origin, checkout, at="/opt")
        self.git("remote", "set-url", "origin", ORIGIN)
        self.git("config", "core.excludesFile", "/dev/null")
        (Path(checkout) / ".git/info/exclude").write_text(".env*\n")
        self.own()

    def own(self) -> None:
        """Give both repositories to their user again: the test works in them as root."""
        for place in (ORIGIN, CHECKOUT):
            subprocess.run(["chown", "-R", f"{OWNER}:{OWNER}", str(self.world.inside(place))], check=True)

    def commit(self, name: str, at: str = ORIGIN) -> str:
        return self.git("-c", "safe.directory=*", "rev-parse", name, at=at)

    @property
    def head(self) -> str:
        return self.commit("HEAD", CHECKOUT)

    def move(self, name: str) -> None:
        """Move the checkout by hand."""
        self.git("-c", "safe.directory=*", "checkout", "--quiet", "--detach", name)
        self.own()

    def refused(self) -> dict[str, Any]:
        before = self.head
        answer = self.rollout()
        assert not answer["ok"]
        assert self.head == before
        return answer


@pytest.fixture(scope="module")
def provided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """A host whose states with a clone, and after its first rollout, are kept."""
    for name in ("nft", "ip", "unshare", "sysctl", "setsid", "git"):
        program(name)
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    made = Checkout(World(tmp_path_factory.mktemp("world"), program("docker-compose")))
    made.world.inside("/opt/edge-token").write_text("edge-token-1\n")
    made.provide()
    made.keep("cloned")
    made.deploy()
    made.keep("rolled out")
    yield made
    made.world.close()


@pytest.fixture
def cloned(provided: Checkout) -> Checkout:
    """The host with a clone at the latest commit, before any rollout."""
    provided.begin_at("cloned")
    return provided


@pytest.fixture
def fleet(provided: Checkout) -> Checkout:
    """The host after its first rollout, with v1.3.6."""
    provided.begin_at("rolled out")
    return provided


def test_changes_of_the_checkout_are_never_overwritten(cloned: Checkout) -> None:
    file = cloned.world.inside(f"{CHECKOUT}/VERSION")
    file.write_text("mine")
    answer = cloned.refused()
    assert answer["code"] == "stack-checkout-changed"
    assert "changes of its own (VERSION), and would be brought to v1.3.6" in answer["message"]
    assert file.read_text() == "mine"


def test_first_rollout_fetches_the_release_and_checks_it_out(fleet: Checkout) -> None:
    assert fleet.head == fleet.commit("v1.3.6")
    assert fleet.world.inside(f"{CHECKOUT}/VERSION").read_text() == "v1.3.6"
    assert fleet.world.inside(f"{CHECKOUT}/VERSION").stat().st_uid == OWNER
    assert fleet.deploy() == [], "nothing is asked of docker again"


def test_failed_release_goes_back_to_the_commit_before(fleet: Checkout) -> None:
    fleet.change('avatar_release = "v1.3.6"', 'avatar_release = "v1.3.5"')
    fleet.world.fail("vtuber-host")
    answer = fleet.rollout()
    assert answer["switch"]["phase"] == "reverted", answer
    assert fleet.head == fleet.commit("v1.3.6")
    fleet.deploy()
    assert fleet.head == fleet.commit("v1.3.5")


def test_checkout_moved_by_hand_is_named_and_brought_back(fleet: Checkout) -> None:
    fleet.move("origin/main")
    told = fleet.rollout(check=True)["steps"]
    assert [one["reason"] for one in told if one["do"] != "keep"] == ["its checkout is not at v1.3.6"]
    fleet.deploy()
    assert fleet.head == fleet.commit("v1.3.6")


def test_way_back_to_a_release_that_left_the_checkout_as_it_was(fleet: Checkout) -> None:
    """Without avatar_release nothing says where the checkout was: that is written down before the checkout moves."""
    fleet.move("origin/main")
    releases = fleet.world.inside("/opt/fleetc/releases")
    for file in releases.glob("*/.wanted.json"):
        wanted = json.loads(file.read_text())
        del wanted["stack"]["commit"]
        wanted["stack"]["ref"] = ""
        file.write_text(json.dumps(wanted))
    fleet.change('avatar_release = "v1.3.6"', 'avatar_release = "v1.3.5"')
    fleet.world.fail("vtuber-host")
    answer = fleet.rollout()
    assert answer["switch"]["phase"] == "reverted", answer
    assert fleet.head == fleet.commit("main")
    fleet.deploy()
    assert fleet.head == fleet.commit("v1.3.5")


def test_release_that_the_remote_does_not_have(fleet: Checkout) -> None:
    fleet.change('avatar_release = "v1.3.6"', 'avatar_release = "v1.3.4"')
    answer = fleet.refused()
    assert answer["code"] == "stack-release-unknown"
    assert "cannot be brought to v1.3.4 from its remote origin: it has no such tag" in answer["message"]


def test_remote_that_does_not_answer(fleet: Checkout) -> None:
    fleet.git("-c", "safe.directory=*", "remote", "set-url", "origin", "https://user:CANARY@127.0.0.1:1/x")
    fleet.own()
    fleet.change('avatar_release = "v1.3.6"', 'avatar_release = "v1.3.4"')
    answer = fleet.refused()
    assert answer["code"] == "stack-release-unknown"
    assert "CANARY" not in json.dumps(answer)
