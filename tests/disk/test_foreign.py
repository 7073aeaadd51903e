"""Files in a tree's directory that the spec does not compile to: what Ansible makes of them, and who refuses them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from fleetc.cli.app import app
from fleetc.disk import files
from fleetc.emit.tree import is_rolled_out
from fleetc.rollout.hosts.deploy import deploy_tree
from fleetc.rollout.hosts.journal import to_read
from fleetc.rollout.hosts.observe import observe
from fleetc.settings import Settings
from tests.emit.programs import program
from tests.review.git_support import git_in
from tests.review.support import example
from tests.support import compile_text

pytestmark = pytest.mark.usefixtures("processes")

DEMO = example("demo")
PLUGIN = """
import os
with open(os.environ["MARK"], "w") as file:
    file.write(os.environ.get("RPC_URL", ""))
class FilterModule:
    def filters(self):
        return {}
"""
VARIABLES = "ansible_connection: local\nansible_host: \"{{ lookup('pipe', 'touch ' ~ lookup('env', 'MARK')) }}\"\n"


class Done(NamedTuple):
    """What the command did."""

    returncode: int
    stdout: str
    stderr: str


def fleetc(*arguments: str) -> Done:
    """The command in this process and in the working directory."""
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the demo fleet and its tree, all committed."""
    place = tmp_path_factory.mktemp("committed")
    git_in(place, "init", "--quiet", "--initial-branch=main")
    (place / "fleet.toml").write_text(DEMO, encoding="utf-8")
    assert fleetc("compile", str(place)).returncode == 0
    git_in(place, "add", ".")
    git_in(place, "commit", "--quiet", "--message", "one")
    return place


@pytest.fixture
def folder(committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is the working directory."""
    place = tmp_path / "repository"
    shutil.copytree(committed, place)
    monkeypatch.chdir(place)
    return place


def put(path: str, text: str = "x\n") -> Callable[[Path], None]:
    """A file in the tree's directory."""

    def write(tree: Path) -> None:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text, encoding="utf-8")

    return write


def linked(path: str, to: str) -> Callable[[Path], None]:
    """A link in the tree's directory, in the place of whatever is there."""

    def link(tree: Path) -> None:
        (tree / path).unlink(missing_ok=True)
        (tree / path).symlink_to(to)

    return link


def moved_behind_a_link(tree: Path) -> None:
    (tree / "ansible/roles").rename(tree.parent / "roles")
    (tree / "ansible/roles").symlink_to("../../roles")


FOREIGN: Mapping[str, tuple[Callable[[Path], None], str]] = {
    "filter plugin": (put("ansible/filter_plugins/x.py", PLUGIN), "ansible/filter_plugins/"),
    "module": (put("ansible/library/x.py"), "ansible/library/"),
    "callback": (put("ansible/callback_plugins/x.py"), "ansible/callback_plugins/"),
    "collection": (put("ansible/collections/ansible_collections/a/b/README.md"), "ansible/collections/"),
    "variables of all": (put("ansible/group_vars/all.yml", VARIABLES), "ansible/group_vars/"),
    "variables of a host": (put("ansible/host_vars/studio.yml", VARIABLES), "ansible/host_vars/studio.yml"),
    "variables of localhost": (put("ansible/host_vars/localhost.json", "{}"), "ansible/host_vars/localhost.json"),
    "module of a role": (put("ansible/roles/fleet_host/library/x.py"), "ansible/roles/fleet_host/library/"),
    "other tasks": (put("ansible/roles/fleet_host/tasks/main"), "ansible/roles/fleet_host/tasks/main"),
    "role": (put("ansible/roles/other/tasks/main.yml"), "ansible/roles/other/"),
    "hidden": (put("ansible/.ansible-lint"), "ansible/.ansible-lint"),
    "another case": (put("Ansible/filter_plugins/x.py"), "Ansible/"),
    "an invisible character": (put("ansi\u200dble/library/x.py"), "ansi\\u200dble/"),
    "link": (linked("ansible/group_vars", "../../elsewhere"), "ansible/group_vars"),
    "pipe": (lambda tree: os.mkfifo(tree / "ansible" / "pipe"), "ansible/pipe"),
    "empty directory": (lambda tree: (tree / "ansible/library").mkdir(), "ansible/library/"),
    "link to a file of ours": (linked("ansible/site.yml", "../../fleet.toml"), "ansible/site.yml"),
    "link to roles of theirs": (moved_behind_a_link, "ansible/roles"),
    "settings of Compose": (put("hosts/studio/gate/.env"), "hosts/studio/gate/.env"),
}


@pytest.mark.outer
@pytest.mark.parametrize("name", ["filter plugin", "variables of a host"])
def test_ansible_alone_runs_what_lies_beside_the_playbook(folder: Path, tmp_path: Path, name: str) -> None:
    """Why foreign files are refused: the command of the guide runs them, with the secrets in its environment."""
    FOREIGN[name][0](folder / "rendered")
    mark = tmp_path / "mark"
    environment = {**os.environ, "HOME": str(tmp_path), "MARK": str(mark), "RPC_URL": "s3cret", "ANSIBLE_TIMEOUT": "1"}
    command = [program("ansible-playbook"), "--check", "site.yml"]
    subprocess.run(command, cwd=folder / "rendered/ansible", env=environment, capture_output=True, check=False)
    assert mark.exists()


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_file_that_a_rollout_would_use_is_refused_and_named(folder: Path, name: str) -> None:
    change, shown = FOREIGN[name]
    change(folder / "rendered")
    checked = fleetc("compile", "--check")
    assert checked.returncode == 1 and "up to date" not in checked.stderr
    assert checked.stderr.startswith("error[foreign-in-rollout]:") and shown in checked.stderr
    review = fleetc("diff", "--against", "HEAD")
    first = review.stdout.splitlines()[0]
    assert first.startswith("ERROR: Not what the spec compiles to, but in the tree: ") and shown in first
    assert review.returncode == 1 and shown in review.stderr
    assert "Nothing changes" not in review.stdout


def test_every_command_that_rolls_out_refuses(folder: Path) -> None:
    assert fleetc("plan", "-o", "plan.json").returncode == 0
    assert fleetc("plan", "--verify", "plan.json").returncode == 0
    put("ansible/filter_plugins/x.py")(folder / "rendered")
    for command in ("plan", "deploy", "deploy --check"):
        done = fleetc(*command.split())
        assert (done.returncode, done.stdout) == (1, "")
        assert "error[foreign-in-rollout]" in done.stderr and "ansible/filter_plugins/" in done.stderr
    for command in ("plan --verify plan.json", "deploy --plan plan.json"):
        done = fleetc(*command.split())
        assert (done.returncode, done.stdout) == (1, "")
        assert "error[plan-tree-foreign]" in done.stderr and "ansible/filter_plugins/" in done.stderr


def test_compile_keeps_it_and_does_not_pass_over_it(folder: Path) -> None:
    put("ansible/filter_plugins/x.py")(folder / "rendered")
    done = fleetc("compile")
    assert done.returncode == 1 and "error[foreign-in-rollout]" in done.stderr
    assert (folder / "rendered/ansible/filter_plugins/x.py").exists()
    told = json.loads(fleetc("compile", "--format", "json").stdout)
    assert told["foreign"] == ["ansible/filter_plugins/"]
    assert [(d["code"], d["severity"]) for d in told["diagnostics"]] == [("foreign-in-rollout", "error")]


@pytest.mark.parametrize("form", ["github", "sarif", "junit", "json"])
def test_check_tells_it_in_every_form(folder: Path, form: str) -> None:
    put("ansible/filter_plugins/x.py")(folder / "rendered")
    done = fleetc("compile", "--check", "--format", form)
    assert done.returncode == 1 and "foreign-in-rollout" in done.stdout


def test_manifest_on_disk_is_not_believed(folder: Path) -> None:
    """A pull request can list its file there; the review says so against a revision and against the tree itself."""
    put("ansible/filter_plugins/x.py", PLUGIN)(folder / "rendered")
    manifest = folder / "rendered/manifest.json"
    sha256 = hashlib.sha256(PLUGIN.encode()).hexdigest()
    entry = f'{{"path": "ansible/filter_plugins/x.py", "mode": "0644", "sha256": "{sha256}", "origins": []}},\n    '
    manifest.write_text(manifest.read_text().replace('{"path"', f'{entry}{{"path"', 1))
    assert "error[foreign-in-rollout]" in fleetc("compile", "--check").stderr
    for arguments in ((), ("--against", "HEAD"), ("--against", "rendered")):
        assert fleetc("diff", *arguments).stdout.startswith("ERROR: "), arguments
    assert fleetc("compile").returncode == 0  # it goes, as the tree says it was fleetc's
    assert not (folder / "rendered/ansible/filter_plugins").exists()


def test_base_with_the_same_file_hides_nothing(folder: Path) -> None:
    put("ansible/filter_plugins/x.py")(folder / "rendered")
    git_in(folder, "add", ".")
    git_in(folder, "commit", "--quiet", "--message", "two")
    assert fleetc("diff", "--against", "HEAD").stdout.startswith("ERROR: ")
    assert fleetc("diff", "--against", "HEAD~1").stdout.startswith("ERROR: ")


def test_review_of_every_form_begins_with_it(folder: Path) -> None:
    put("ansible/filter_plugins/x.py")(folder / "rendered")
    forms = {form: fleetc("diff", "--format", form).stdout for form in ("markdown", "html", "json")}
    assert forms["markdown"].splitlines()[0].startswith("## ERROR: Not what the spec compiles to")
    told = json.loads(forms["json"])
    assert told["foreign"] == ["ansible/filter_plugins/"]
    assert told["verdict"].startswith("Foreign files in the rollout (1)")
    page = forms["html"]
    assert page.index('<p class="alarm"') < page.index("<h1>") and "<title>Error: Review" in page
    assert not any("Nothing changes" in text for text in forms.values())


def test_limits_and_exit_code_hear_of_it(folder: Path) -> None:
    for option in ("--exit-code", "--max-impact=price=5%"):
        assert fleetc("diff", "--against", "HEAD", option).returncode == 0
    put("ansible/filter_plugins/x.py")(folder / "rendered")
    for option in ("--exit-code", "--max-impact=price=5%"):
        assert fleetc("diff", "--against", "HEAD", option).returncode == 1


@pytest.mark.parametrize(
    "path",
    ["ansible/roles/fleet_host/tasks/main.yml", "ansible/host_vars/studio.json", "hosts/studio/gate/compose.yaml"],
)
def test_file_of_the_tree_with_other_content_is_as_foreign(folder: Path, path: str) -> None:
    """The review against a revision compiles both sides: that the tree on disk is neither must not go unsaid."""
    file = folder / "rendered" / path
    file.write_text(file.read_text() + "\n")
    done = fleetc("diff", "--against", "HEAD", "--exit-code")
    assert done.returncode == 1 and path in done.stdout.splitlines()[0]


def test_tree_of_the_spec_before_is_no_alarm(folder: Path) -> None:
    """People review before they compile: what the next compile removes is a removal, and nothing foreign."""
    spec = folder / "fleet.toml"
    spec.write_text(DEMO.replace("studio", "cellar"), encoding="utf-8")
    done = fleetc("diff")
    assert done.stdout.startswith("Review of demo"), done.stdout
    against = fleetc("diff", "--against", "HEAD")
    assert "note: the tree in rendered was not compiled from this spec; run fleetc compile" in against.stdout
    assert "Not what the spec compiles to" not in against.stdout and "nothing uses it" not in against.stdout
    put("hosts/attic/gate/compose.yaml")(folder / "rendered")
    assert "in the tree: hosts/attic/;" in fleetc("diff", "--against", "HEAD").stdout


@pytest.mark.parametrize("path", ["notes.txt", "group_vars/all.yml", "spec/overlay-1.toml", "ansibles/x"])
def test_foreign_file_that_nothing_uses_is_a_warning(folder: Path, path: str) -> None:
    put(path)(folder / "rendered")
    name = path if path.partition("/")[0] == "spec" or "/" not in path else f"{path.partition('/')[0]}/"
    for arguments in (("compile", "--check"), ("compile",), ("plan",)):
        done = fleetc(*arguments)
        assert done.returncode == 0, done.stderr
        assert "warning[foreign-in-tree]" in done.stderr and name in done.stderr
    review = fleetc("diff", "--against", "HEAD", "--exit-code")
    assert review.returncode == 0
    assert f"note: {name} in rendered is not part of the tree" in review.stdout


@pytest.mark.parametrize(
    ("path", "used"),
    [
        ("ansible/x", True),
        ("ANSIBLE/x", True),
        ("hosts/a", True),
        ("ansible. /x", True),
        ("ansi\u200cble", True),
        ("\uff41nsible/x", True),
        ("ansible-notes/x", False),
        ("spec/ansible", False),
        ("FLEET.md", False),
    ],
)
def test_what_a_rollout_uses(path: str, used: bool) -> None:
    assert is_rolled_out(path) is used


def test_rollout_of_fleetc_reads_nothing_beside_or_above_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hostile checkout is the working directory: its settings, plugins and variables of Ansible have no effect."""
    mark = tmp_path / "mark"
    monkeypatch.setenv("MARK", str(mark))
    checkout = tmp_path / "checkout"
    for place in (checkout, checkout / "rendered", checkout / "rendered/ansible"):
        for path, text in (
            ("filter_plugins/x.py", PLUGIN.replace('os.environ["MARK"]', repr(str(mark)))),
            ("callback_plugins/x.py", PLUGIN.replace('os.environ["MARK"]', repr(str(mark)))),
            ("group_vars/all.yml", VARIABLES.replace("lookup('env', 'MARK')", f"'{mark}'")),
            ("host_vars/studio.yml", VARIABLES.replace("lookup('env', 'MARK')", f"'{mark}'")),
            ("ansible.cfg", "[defaults]\nfilter_plugins = ./filter_plugins\ncallbacks_enabled = x\n"),
        ):
            put(path, text)(place)
    monkeypatch.chdir(checkout)
    compiled = compile_text(DEMO.replace("192.0.2.10", "127.0.0.1"))
    assert compiled.tree is not None and compiled.blueprint is not None
    settings = Settings(connect_timeout=1)
    observe(compiled.tree, ["studio"], settings, lambda _: None)
    journal = to_read(tmp_path / "none", "demo")
    outcome = deploy_tree(compiled.tree, compiled.blueprint, settings, (), True, lambda _: None, journal)
    assert outcome.hosts[0].reason.startswith("could not be reached")  # Ansible came to the end of its play
    assert not mark.exists()


def test_strangers_of_a_directory_that_is_not_there(tmp_path: Path) -> None:
    compiled = compile_text(DEMO)
    assert compiled.tree is not None
    assert files.strangers(compiled.tree, tmp_path / "a" / "b") == ((), ())
    assert files.strangers(compiled.tree, tmp_path / "a") == ((), ())
