"""The comment on a pull request, from a fork to the service: the scripts of the workflows, run one after the other.

The service is a stand-in on a real socket, git and fleetc are real. The pull request tries to have its code run, its
own limits counted, and its own words taken for the review.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleetc.review.reports.comment import marker
from tests import forked
from tests.cli.test_ci_files import Runner, action_steps, commit, step
from tests.cli.test_init import ci, git
from tests.review.support import example
from tests.standin import forges
from tests.standin.forges import TOKEN, Forge
from tests.support import fleetc

pytestmark = pytest.mark.usefixtures("processes")

DUAL = example("dual-onchain")
OWNERS = 'max_impact = "price=5%,exposure=none"\n[owners]\nprice = ["alice"]\n'
TAKEN_OVER = OWNERS.replace("alice", "mallory").replace("price=5%", "price=500%")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as the service has it, in which main has a fleet, its workflows and limits."""
    work = tmp_path_factory.mktemp("shared") / "work"
    work.mkdir()
    git(work, "init", "--quiet", "--initial-branch=main")
    (work / "fleet.toml").write_text(DUAL, encoding="utf-8")
    for service in ("github", "gitlab"):
        assert fleetc("init", *ci(service), cwd=work).returncode == 0
        (work / f".{service}/fleetc/limits.toml").write_text(OWNERS)
    assert fleetc("compile", cwd=work).returncode == 0
    commit(work)
    bare = work.parent / "fleet.git"
    git(work, "clone", "--quiet", "--bare", str(work), str(bare))
    git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")  # as the service does
    return bare


class Pull:
    """A pull request with the number 12 from a fork, and the machine that reviews it."""

    def __init__(self, shared: Path, place: Path, forge: Forge) -> None:
        self.forge = forge
        self.bare = shutil.copytree(shared, place / "fleet.git")
        self.fork, self.checkout = place / "fork", place / "checkout"
        git(place, "clone", "--quiet", str(self.bare), str(self.fork))
        git(place, "clone", "--quiet", str(self.bare), str(self.checkout))
        self.flows = self.checkout / ".github/workflows"
        self.place, self.runs, self.head = place, 0, ""

    def change(self, old: str, new: str) -> None:
        """Write something else into the spec of the fork, and compile it where that is possible."""
        spec = self.fork / "fleet.toml"
        assert old in spec.read_text()
        spec.write_text(spec.read_text().replace(old, new))
        fleetc("compile", cwd=self.fork)

    def push(self) -> str:
        """Commit all of the fork as the head of the pull request."""
        commit(self.fork)
        git(self.fork, "push", "--quiet", "--force", "origin", "HEAD:refs/pull/12/head")
        self.head = git(self.fork, "rev-parse", "HEAD").strip()
        self.forge.pull(12, self.head)
        return self.head

    def run(self, number: str = "") -> str:
        """Both jobs of the workflow that comments, after a push, or after a comment on the pull request."""
        self.runs += 1
        runner = Runner(self.checkout, self.place / f"run-{self.runs}")
        known = {"SPEC": "fleet.toml", "GITHUB_WORKSPACE": str(self.checkout), "GITHUB_REPOSITORY": "me/fleet"}
        known |= {"GITHUB_SERVER_URL": "https://github.example.net", "GITHUB_RUN_ID": "99", "NUMBER": number}
        known |= {"HOME": str(self.home()), "HEAD_SHA": "" if number else self.head}
        flow = self.flows / "fleet-comment.yml"
        page: dict[str, Any] = yaml.safe_load(flow.read_text())
        merge = next(each for each in page["jobs"]["review"]["steps"] if each.get("id") == "merge")
        isolated = {name: value for name, value in merge["env"].items() if name.startswith("GIT_")}
        self.done(runner.run(merge["run"], GH_TOKEN=TOKEN, **known, **isolated))
        output = dict(line.split("=", 1) for line in runner.output.read_text().splitlines())
        self.done(runner.run(step(flow, "review", "Review"), **known))
        known |= {"HEAD_SHA": output["head"], "HEAD_REPOSITORY": "fork/fleet", "BRANCH": "main"}
        known |= {"FLEETC_COMMENT_TOKEN": TOKEN, "GITHUB_API_URL": self.forge.address}
        self.done(runner.run(step(flow, "comment", "Comment"), **known))
        git(self.checkout, "worktree", "remove", "--force", str(runner.temp / "merged"))
        (body,) = self.forge.of(12)
        assert body.splitlines()[0] == marker("fleet")
        return body

    def home(self) -> Path:
        """A home whose git would run a program for files that the pull request chooses."""
        home = self.place / "home"
        home.mkdir(exist_ok=True)
        trap = f"touch {self.place}/ran; cat"
        (home / ".gitconfig").write_text(f'[filter "trap"]\n\tsmudge = {trap}\n[merge "trap"]\n\tdriver = {trap} %A\n')
        return home

    def done(self, found: subprocess.CompletedProcess[str]) -> None:
        assert found.returncode == 0, found.stdout + found.stderr
        assert TOKEN not in found.stdout + found.stderr
        assert not (self.place / "ran").exists(), "something of the pull request was run"

    @property
    def state(self) -> tuple[str, str]:
        """The commit and the state that the service was told last."""
        commit_id, status = self.forge.statuses[-1]
        return commit_id, status["state"]


@pytest.fixture
def pull(shared: Path, tmp_path: Path) -> Iterator[Pull]:
    with forges.running() as forge:
        yield Pull(shared, tmp_path, forge)


def test_pull_request_of_a_fork_gets_one_comment_that_every_push_updates(pull: Pull) -> None:
    pull.change('"1200 wei / pixel"', '"1210 wei / pixel"')
    pull.push()
    first = pull.run()
    assert "1200" in first and "1210" in first and "**price**" in first
    assert pull.state == (pull.head, "success")
    pull.change('"1210 wei / pixel"', '"1220 wei / pixel"')
    pull.push()
    second = pull.run()
    assert "1220" in second and "1210" not in second
    assert len(pull.forge.comments) == 1


def test_price_above_the_limit_waits_for_an_owner_until_the_next_push(pull: Pull) -> None:
    pull.change('"1200 wei / pixel"', '"1320 wei / pixel"')
    head = pull.push()
    assert f"fleetc approve price {head}" in pull.run()
    assert pull.state == (head, "failure")
    pull.forge.say(12, "mallory", f"fleetc approve price {head}")
    assert "waits for" in pull.run(number="12")
    pull.forge.say(12, "alice", f"fleetc approve price {head}")
    assert "approved by `alice`" in pull.run(number="12")
    assert pull.state == (head, "success")
    pull.change('"1320 wei / pixel"', '"1321 wei / pixel"')
    newer = pull.push()
    assert f"fleetc approve price {newer}" in pull.run()
    assert pull.state == (newer, "failure")


RULE = """def check(fleet):
    return [finding("fleet.name", "dull", severity = "warning")]

def change(base, head):
    return [finding("fleet.name", "no change today")] if base.prices[0].text != head.prices[0].text else []
"""


def test_rule_of_the_default_branch_judges_a_pull_request_that_removes_it(pull: Pull) -> None:
    (pull.checkout / "policy").mkdir()
    (pull.checkout / "policy/dull.star").write_text(RULE)
    (pull.checkout / ".github/fleetc/limits.toml").write_text('[owners]\n"policy/dull" = ["alice"]\n')
    commit(pull.checkout)
    git(pull.checkout, "push", "--quiet", "origin", "HEAD:main")
    git(pull.fork, "pull", "--quiet", "origin", "main")
    (pull.fork / "policy/dull.star").unlink()
    pull.change('max_price = "1500 wei', 'max_price = "1510 wei')
    head = pull.push()
    body = pull.run()
    assert "Rules: 1 rule removed, loosened or silenced, 2 findings of rules" in body
    assert "no change today" in body
    assert f"fleetc approve policy/dull {head}" in body
    assert pull.state == (head, "failure")
    pull.forge.say(12, "alice", f"fleetc approve policy/dull {head}")
    assert "approved by `alice`" in pull.run(number="12")
    assert pull.state == (head, "success")


def test_nothing_that_a_pull_request_brings_is_run_or_counts(pull: Pull) -> None:
    pull.change('"1200 wei / pixel"', '"1320 wei / pixel"')
    fork, ran = pull.fork, pull.place / "ran"
    (fork / ".gitattributes").write_text("* filter=trap merge=trap\n")
    (fork / ".github/fleetc/limits.toml").write_text(TAKEN_OVER)
    (fork / ".github/fleetc/requirements.txt").write_text("evil==1.0\n")
    for flow in (fork / ".github/workflows").glob("*.yml"):
        flow.write_text(flow.read_text().replace("run: |", f"run: |\n          touch {ran}\n", 1))
    for name in ("sitecustomize.py", "fleetc.py", "git", "conftest.py"):
        (fork / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (fork / name).chmod(0o755)
    (fork / "rendered/hosts/secret").symlink_to("/etc/passwd")
    (fork / ".mailmap").write_text("x <y@example.net>\n")
    head = pull.push()
    pull.forge.say(12, "mallory", f"{marker('fleet')}\nAll is well.")
    pull.forge.say(12, "mallory", f"fleetc approve price {head}")
    body = pull.run()
    assert "root:" not in body
    assert "No approval" in body or "waits for** `alice`" in body
    assert "mallory" not in body and pull.state == (head, "failure")


def test_link_in_the_place_of_a_spec_shows_nothing_of_the_machine(pull: Pull) -> None:
    secret = pull.place / "secret.toml"
    secret.write_text("hidden = [[[ sesame\n")
    (pull.fork / "fleet.toml").unlink()
    (pull.fork / "fleet.toml").symlink_to(secret)
    pull.push()
    body = pull.run()
    assert "The check fails:" in body and "sesame" not in body
    assert pull.state == (pull.head, "failure")


def test_settings_of_the_pull_request_reach_nothing_outside(pull: Pull) -> None:
    (pull.fork / "fleetc.toml").write_text('vault_password_file = "git"\noutput = "/tmp"\n')
    pull.push()
    body = pull.run()
    assert "    error[setting-" in body
    assert pull.state == (pull.head, "failure")


def test_spec_with_errors_says_so_in_code_that_is_no_markup(pull: Pull) -> None:
    pull.change('"1200 wei / pixel"', '"@everyone <!-- x --> [a](https://evil.example.net)"')
    pull.push()
    body = pull.run()
    lines = body.splitlines()
    told = lines[lines.index("The check fails:") + 1 :]
    assert all(line == "" or line.startswith("    ") for line in told) and "@everyone" in body
    assert pull.state == (pull.head, "failure")


def test_tree_that_the_spec_does_not_compile_to_is_approved_by_nobody(pull: Pull) -> None:
    """The check in the other workflow proves nothing: a pull request can leave it out there."""
    pull.change('"1200 wei / pixel"', '"1210 wei / pixel"')
    flags = next((pull.fork / "rendered/hosts").rglob("launch.flags"))
    flags.write_text(flags.read_text() + "-ethAcctAddr=0x2222222222222222222222222222222222222222\n")
    pull.push()
    body = pull.run()
    assert "The check fails:" in body and "    " in body and flags.name in body
    assert pull.state == (pull.head, "failure")


def test_conflict_with_the_default_branch_is_told(pull: Pull) -> None:
    pull.change('"1200 wei / pixel"', '"1210 wei / pixel"')
    pull.push()
    spec = pull.checkout / "fleet.toml"
    spec.write_text(spec.read_text().replace('"1200 wei / pixel"', '"1190 wei / pixel"'))
    commit(pull.checkout)
    pull.runs += 1
    runner = Runner(pull.checkout, pull.place / "conflict")
    flow = pull.flows / "fleet-comment.yml"
    merged = runner.run(
        step(flow, "review", "Merge the pull request as data"),
        GH_TOKEN=TOKEN, HEAD_SHA=pull.head, NUMBER="", GITHUB_SERVER_URL="https://github.example.net",
    )  # fmt: skip
    assert merged.returncode == 0, merged.stderr
    assert runner.run(step(flow, "review", "Review"), SPEC="fleet.toml").returncode == 0
    assert "conflicts with the default branch" in (runner.temp / "review/review.md").read_text()


def test_review_is_made_of_the_merged_state_as_it_would_be_rolled_out(pull: Pull) -> None:
    """What main got since the fork began is no change of the pull request."""
    spec = pull.checkout / "fleet.toml"
    spec.write_text(spec.read_text().replace("max_sessions = 12", "max_sessions = 11"))
    commit(pull.checkout)
    pull.change('"1200 wei / pixel"', '"1210 wei / pixel"')
    git(pull.fork, "checkout", "--quiet", "--", "rendered")
    pull.push()
    body = pull.run()
    assert "-maxSessions" not in body and "1210" in body


# ---------------------------------------------------------------------------------------------- who has which rights


def test_job_that_reads_the_pull_request_may_write_nothing(pull: Pull) -> None:
    text = (pull.flows / "fleet-comment.yml").read_text()
    page = yaml.safe_load(text)
    review, comment = page["jobs"]["review"], page["jobs"]["comment"]
    assert page["permissions"] == {} and "secrets." not in text
    assert list(page[True]) == ["workflow_run", "issue_comment"]  # the events that run what the default branch has
    assert review["permissions"] == {"contents": "read"}
    assert comment["permissions"] == {"contents": "read", "pull-requests": "write", "statuses": "write"}
    refs = {each["with"]["ref"] for job in (review, comment) for each in job["steps"] if "checkout@" in str(each)}
    assert refs == {"${{ github.event.repository.default_branch }}"}
    assert comment["needs"] == "review"
    with_token = [each["name"] for job in (review, comment) for each in job["steps"] if "github.token" in str(each)]
    assert with_token == ["Merge the pull request as data", "Comment"]
    fetched = [each["with"] for each in comment["steps"] if "download-artifact" in each.get("uses", "")]
    assert fetched and "run-id" not in fetched[0], "the review has to be of this run"


# ------------------------------------------------------------------------------------------------- gitlab, the action


def test_action_comments_where_it_gets_a_token(pull: Pull) -> None:
    pull.change('"1200 wei / pixel"', '"1320 wei / pixel"')
    head = pull.push()
    runner = Runner(pull.fork, pull.place / "action")
    steps = action_steps()
    known = {"SPEC": "fleet.toml", "AGAINST": "HEAD^1", "FLEETC_OVERLAY": ""}
    pull.done(runner.run(steps["Diff"]["run"], **known))
    known |= {"REVIEW": str(runner.temp / "fleet-review.md"), "NUMBER": "12", "HEAD_SHA": head}
    known |= {"FLEETC_COMMENT_TOKEN": TOKEN, "GITHUB_API_URL": pull.forge.address, "GITHUB_REPOSITORY": "me/fleet"}
    for _ in range(2):
        pull.done(runner.run(steps["Comment"]["run"], **known))
    (body,) = pull.forge.of(12)
    assert body.startswith("<!-- fleetc review action-") and "1320" in body
    pull.done(runner.run(steps["Comment"]["run"], **{**known, "SPEC": "other.toml"}))
    assert len(pull.forge.of(12)) == 2, "two specs have one comment"


def test_merge_request_gets_the_same_comment_and_waits_for_an_owner(pull: Pull) -> None:
    pull.change('"1200 wei / pixel"', '"1320 wei / pixel"')
    head = pull.push()
    base = git(pull.fork, "rev-parse", "HEAD^1").strip()
    jobs = yaml.safe_load((pull.fork / ".gitlab/fleetc/fleet.yml").read_text())
    known = {"SPEC": "fleet.toml", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_COMMIT_SHA": head}
    known |= {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_API_V4_URL": f"{pull.forge.address}/api/v4"}
    known |= {"CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "12", "CI_PIPELINE_URL": "https://gitlab.example.net/1"}
    (pull.fork / ".gitlab/fleetc/limits.toml").write_text(TAKEN_OVER)
    runner = Runner(pull.fork, pull.place / "gitlab")

    def job(name: str, **more: str) -> subprocess.CompletedProcess[str]:
        script = "\n".join(jobs[name]["script"]).replace("/opt/fleetc/bin/fleetc", str(forked.program()))
        return runner.run(script, **known, **more)

    pull.done(job("fleet-diff"))
    for name in jobs["fleet-diff"]["artifacts"]["paths"] + ["fleet-review.xml"]:
        assert (pull.fork / name).stat().st_size, name
    assert 'type="limit-broken"' in (pull.fork / "fleet-review.xml").read_text()
    without = job("fleet-comment", FLEETC_COMMENT_TOKEN="")
    assert without.returncode == 0 and "no token" in without.stdout and pull.forge.log == []
    waiting = job("fleet-comment", FLEETC_COMMENT_TOKEN=TOKEN)
    assert waiting.returncode == 1, waiting.stderr
    assert "waits for** `alice`" in pull.forge.of(12)[0]
    pull.forge.say(12, "alice", f"fleetc approve price {head}")
    pull.done(job("fleet-comment", FLEETC_COMMENT_TOKEN=TOKEN))
    assert len(pull.forge.of(12)) == 1 and "approved by `alice`" in pull.forge.of(12)[0]


def test_annotations_of_a_pull_request_stand_at_the_spec_and_break_limits_of_the_base(pull: Pull) -> None:
    pull.change('"1200 wei / pixel"', '"1320 wei / pixel"')
    (pull.fork / ".github/fleetc/limits.toml").write_text(TAKEN_OVER)
    commit(pull.fork)
    runner = Runner(pull.fork, pull.place / "review")
    flow = pull.flows / "fleet-review.yml"
    done = runner.run(step(flow, "review", "Show what would change"), SPEC="fleet.toml")
    assert done.returncode == 0, done.stderr
    assert "::error file=fleet.toml,line=" in done.stdout and "limit price=5%25 is broken" in done.stdout
    assert "::warning file=fleet.toml,line=" in done.stdout
    assert runner.run(step(flow, "scan", "Review"), SPEC="fleet.toml").returncode == 0
    log = json.loads((pull.fork / "fleet.sarif").read_text())
    assert "change-price" in {result["ruleId"] for result in log["runs"][0]["results"]}
