"""What a checkout may say about the tool, and what only its user may: every attack through a file that came with it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from fleetc.cli import app as command_line
from fleetc.cli.app import app
from fleetc.disk.manifest import FilesError
from fleetc.settings import OTHER_VARIABLES, WHERE, Settings, journals
from tests.support import ROOT, fleetc, fleetc_process

pytestmark = pytest.mark.usefixtures("processes")

DEMO = ROOT / "inventories" / "demo" / "fleet.toml"
VALUES = {
    "overlay": '"trial.toml"',
    "output": '"rendered"',
    "color": '"always"',
    "max_spec_mib": "1024",
    "forks": "500",
    "secret_commands": '{ payer = ["/nowhere/pass", "show"] }',
    "connect_timeout": "600",
    "stream_apis": '["https://streams.example.net/api"]',
    "stream_requests": "100",
    "stream_seconds": "60",
}
"""A value for each setting; a path for all others."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "check": ("check",),
    "check --fix": ("check", "--fix"),
    "fmt": ("fmt",),
    "fmt --check": ("fmt", "--check"),
    "adopt --from": ("adopt", "--from", "studio=192.0.2.1", "--yes"),
    "compile": ("compile",),
    "compile --check": ("compile", "--check"),
    "diff": ("diff",),
    "compile --watch": ("compile", "--watch"),
    "why": ("why", "rendered/FLEET.md:1"),
    "why of the spec": ("why", "hosts.studio.address"),
    "diff --release": ("diff", "--release", "v0.9.1"),
    "check --resolved": ("check", "--resolved"),
    "init --ci": ("init", "--ci", "gitlab", "--install-from", f"sha256:{64 * '0'}"),
    "diagnose": ("diagnose", "node.log", "--spec", "."),
    "streams": ("streams", "--observed", "answer.json", "--stream", "one"),
    "streams --apply": ("streams", "--apply"),
    "plan": ("plan", "-o", "plan.json"),
    "plan --verify": ("plan", "--verify", "plan.json"),
    "deploy": ("deploy",),
    "deploy --check": ("deploy", "--check"),
    "deploy --plan": ("deploy", "--plan", "plan.json"),
    "restart": ("restart", "gate"),
    "rollback": ("rollback",),
    "todo": ("todo",),
    "verify": ("verify", "--no-public"),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled fleet on a host that nobody answers for, with a plan."""
    place = tmp_path_factory.mktemp("compiled")
    text = DEMO.read_text(encoding="utf-8").replace("192.0.2.10", "127.0.0.9")
    (place / "fleet.toml").write_text(text.replace('runtime = "docker"', 'runtime = "docker"\nssh_port = 1'))
    (place / "trial.toml").write_text("[rollout]\ncanary = 1\n")
    for command in ("compile", "plan"):
        done = fleetc(command, *(("-o", "plan.json") if command == "plan" else ()), cwd=place)
        assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def checkout(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fleet in the working directory, with a program that says when it was run."""
    place = tmp_path / "checkout"
    shutil.copytree(compiled, place)
    (place / "trap").write_text(f"#!/bin/sh\necho ran >> {tmp_path}/ran\necho password\n")
    (place / "trap").chmod(0o755)
    monkeypatch.chdir(place)
    return place


class Done(NamedTuple):
    """What the command did in this process."""

    returncode: int
    stdout: str
    stderr: str


def here(*arguments: str, **environment: str) -> Done:
    """The command in this process, which is quicker than one of its own."""
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "FLEETC_CONNECT_TIMEOUT": "2", **environment})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def own(tmp_path: Path, text: str) -> dict[str, str]:
    """The variables of a user whose own configuration has this text."""
    file = tmp_path / "user" / "fleetc" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return {"XDG_CONFIG_HOME": str(tmp_path / "user"), "FLEETC_CONNECT_TIMEOUT": "2"}


def refused(done: Done, code: str) -> str:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith(f"error[{code}]: "), done.stderr
    return done.stderr


FORBIDDEN = [name for name in Settings.model_fields if name not in ("overlay", "output")]


def test_the_table_has_every_setting_and_a_reason() -> None:
    assert list(WHERE) == list(Settings.model_fields)
    assert [name for name, where in WHERE.items() if not where.in_checkout] == FORBIDDEN
    assert all(len(where.reason) > 10 for where in WHERE.values())


@pytest.mark.parametrize("file", ["fleetc.toml", "pyproject.toml"])
@pytest.mark.parametrize("name", FORBIDDEN)
def test_setting_that_a_checkout_may_not_make(name: str, file: str, checkout: Path) -> None:
    head = "[tool.fleetc]\n" if file == "pyproject.toml" else ""
    (checkout / file).write_text(f"{head}{name} = {VALUES.get(name, json.dumps('trap'))}\n")
    message = refused(here("check"), "setting-not-for-checkout")
    assert file in message and name in message
    assert f"FLEETC_{name.upper()}" in message and "fleetc/config.toml" in message


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_a_program_of_the_checkout(command: str, checkout: Path, tmp_path: Path) -> None:
    (checkout / "vault.yml").write_text("$ANSIBLE_VAULT;1.1;AES256\n61\n")
    hostile = 'vault_file = "vault.yml"\nvault_password_file = "trap"\nallowed_signers = "mine"\n'
    (checkout / "fleetc.toml").write_text(hostile)
    message = refused(here(*COMMANDS[command]), "setting-not-for-checkout")
    assert "vault_file, vault_password_file and allowed_signers" in message
    assert not (tmp_path / "ran").exists()


def test_commands_that_read_settings_are_all_tried() -> None:
    files = Path(command_line.__file__).parent.glob("*.py")
    reads = re.compile(r"\b(load_settings|read_hosts|compile_known)\(")
    asking = {path.stem.replace("_", "-") for path in files if reads.search(path.read_text("utf-8"))}
    tried = {name.split()[0] for name in COMMANDS}
    rows = ", ".join(f'"{name}": ("{name}",)' for name in sorted(asking - tried))
    assert asking <= tried, f"these commands read settings; add to COMMANDS in tests/cli/test_settings.py: {rows}"
    assert tried <= asking, "these commands read no settings"


def test_a_file_of_ansible_or_of_variables_in_the_working_directory_counts_nothing(
    checkout: Path, tmp_path: Path
) -> None:
    """Ansible's own settings, a .env file, settings of ssh, and code that Python or Ansible would find there."""
    (checkout / "ansible.cfg").write_text(f"[defaults]\nvault_password_file = {checkout}/trap\n")
    (checkout / ".env").write_text("FLEETC_VAULT_PASSWORD_FILE=trap\nFLEETC_OUTPUT=elsewhere\n")
    (checkout / "ssh_config").write_text(f"Host *\n  ProxyCommand {checkout}/trap\n")
    (checkout / ".ssh").mkdir()
    shutil.copy(checkout / "ssh_config", checkout / ".ssh" / "config")
    for name in ("group_vars", "host_vars"):
        (checkout / name).mkdir()
        text = f"ansible_ssh_common_args: -o ProxyCommand={checkout}/trap\n"
        (checkout / name / ("all.yml" if name == "group_vars" else "studio.yml")).write_text(text)
    for name in ("filter_plugins", "callback_plugins", "library"):
        (checkout / name).mkdir()
        (checkout / name / "trap.py").write_text(f"import os\nos.system('{checkout}/trap')\n")
    (checkout / "yaml.py").write_text(f"import os\nos.system('{checkout}/trap')\n")
    for command in (("deploy", "--check"), ("plan", "--observe"), ("deploy",)):
        done = fleetc_process(*command, cwd=checkout, FLEETC_CONNECT_TIMEOUT="2")
        assert "unreachable" in done.stdout + done.stderr or "could not be reached" in done.stdout, done.stderr
    assert not (tmp_path / "ran").exists()


# --- the user's own configuration -------------------------------------------------------------------------------------


def test_the_users_own_configuration_holds_every_setting(checkout: Path, tmp_path: Path) -> None:
    text = "".join(f"{name} = {VALUES.get(name, json.dumps('/nowhere/x'))}\n" for name in FORBIDDEN)
    assert here("check", **own(tmp_path, text)).returncode == 0
    environment = own(tmp_path, 'allowed_signers = "/nowhere/signers"\n')
    assert "error[plan-not-signed]" in here("plan", "--verify", "plan.json", **environment).stderr
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    (tmp_path / "user" / "fleetc").rename(home / ".config" / "fleetc")
    environment = {"HOME": str(home), "XDG_CONFIG_HOME": ""}
    assert "error[plan-not-signed]" in here("plan", "--verify", "plan.json", **environment).stderr
    environment["XDG_CONFIG_HOME"] = "relative"  # as the standard says, one that is not absolute counts nothing
    assert "error[plan-not-signed]" in here("plan", "--verify", "plan.json", **environment).stderr


def test_a_relative_path_of_the_users_own_configuration_starts_beside_it(checkout: Path, tmp_path: Path) -> None:
    """Else a file of that name in a checkout would choose trust, or be run."""
    (checkout / "signers").write_text("* ssh-ed25519 AAAA\n")
    (checkout / "plan.json.sig").write_text("no signature\n")
    environment = own(tmp_path, 'allowed_signers = "signers"\n')
    message = here("plan", "--verify", "plan.json", **environment).stderr
    assert "error[plan-signers-unreadable]" in message
    assert f"{tmp_path}/user/fleetc/signers" in message
    (tmp_path / "user" / "fleetc" / "trap").write_text("password\n")
    (checkout / "vault.yml").write_text("{}\n")
    both = 'vault_password_file = "trap"\nvault_file = "vault.yml"\n'
    here("deploy", "--check", **own(tmp_path, both))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("how", ["working directory", "above it", "a link into it", "beside the spec"])
def test_a_configuration_in_the_checkout_is_not_the_users_own(
    how: str, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where HOME is the checkout, which some services of continuous integration do."""
    (checkout / ".config" / "fleetc").mkdir(parents=True)
    (checkout / ".config" / "fleetc" / "config.toml").write_text('vault_password_file = "trap"\n')
    environment, where = {"XDG_CONFIG_HOME": str(checkout / ".config")}, checkout
    arguments: tuple[str, ...] = ("check",)
    if how == "above it":
        (checkout / ".git").mkdir()
        (checkout / "deep").mkdir()
        shutil.copy(checkout / "fleet.toml", checkout / "deep" / "fleet.toml")
        where = checkout / "deep"
    elif how == "a link into it":
        (tmp_path / "user").mkdir()
        (tmp_path / "user" / "fleetc").symlink_to(checkout / ".config" / "fleetc")
        environment = {"XDG_CONFIG_HOME": str(tmp_path / "user")}
    elif how == "beside the spec":
        arguments, where = ("check", str(checkout)), tmp_path / "elsewhere"
        where.mkdir()
    monkeypatch.chdir(where)
    message = refused(here(*arguments, **environment), "configuration-in-checkout")
    assert ".config/fleetc/config.toml" in message or "user/fleetc/config.toml" in message


@pytest.mark.parametrize(
    ("name", "advice"),
    [("FLEETC_OVERLAYS", "FLEETC_OVERLAY"), ("fleetc_overlays", "FLEETC_OVERLAY"), ("FLEETC_JORNAL", "FLEETC_JOURNAL"),
     ("FLEETC_PAGERS", "FLEETC_PAGER"), ("FLEETC_", "unset it"), ("FLEETC_UNHEARD_OF", "unset it")],
)  # fmt: skip
def test_variable_that_nothing_reads(name: str, advice: str, checkout: Path) -> None:
    for command in ("check", "compile", "todo"):
        assert advice in refused(here(command, str(checkout), **{name: "x"}), "variable-unknown")


def test_variable_that_the_spec_names_is_known(checkout: Path) -> None:
    spec = checkout / "fleet.toml"
    spec.write_text(spec.read_text() + '\n[gateways.gate.secret_environment]\nHF_TOKEN = { env = "FLEETC_OF_OURS" }\n')
    assert here("check", str(checkout), FLEETC_OF_OURS="x").returncode == 0


def test_every_variable_that_is_read_is_known() -> None:
    read = set()
    for folder in ("compiler/fleetc", "playbooks", "templates", "tests"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".py", ".yml", ".sh", ".j2") and file.name != Path(__file__).name:
                read |= set(re.findall(r"""environ(?:\.get\(|\[)["']FLEETC_(\w+)""", file.read_text("utf-8")))
    assert read
    assert {name for name in read if not name.startswith("TEST_")} <= {*OTHER_VARIABLES}


def test_order_of_the_places(checkout: Path, tmp_path: Path) -> None:
    """Options, variables, the checkout, the user's own."""
    environment = own(tmp_path, f'output = "{tmp_path}/own"\n')
    assert here("compile", **environment).returncode == 0
    assert (tmp_path / "own" / "manifest.json").is_file()
    (checkout / "fleetc.toml").write_text('output = "checkout"\n')
    assert here("compile", **environment).returncode == 0
    assert (checkout / "checkout" / "manifest.json").is_file()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("forks = 0\n", "forks"),
        ("frobs = 1\n", "frobs"),
        ("forks = \n", "config.toml"),
        ("a = " + "[" * 5000, "config.toml"),
    ],
)
def test_faults_of_the_users_own_configuration_are_told(text: str, word: str, checkout: Path, tmp_path: Path) -> None:
    done = here("check", **own(tmp_path, text))
    assert done.returncode == 2 and word in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr


@pytest.mark.parametrize("kind", ["fifo", "directory", "binary", "deep", "large"])
def test_a_settings_file_that_is_none(kind: str, checkout: Path) -> None:
    file = checkout / "fleetc.toml"
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "directory":
        file.mkdir()
    else:
        file.write_bytes({"binary": b"\xff\xfe", "deep": b"a = " + b"[" * 5000, "large": b"#" * 5_000_000}[kind])
    message = refused(here("check"), "settings-unreadable")
    assert "fleetc.toml" in message


# --- what a checkout may say: sealed in a plan, shown in a review -----------------------------------------------------


@pytest.mark.parametrize("value", ["/tmp/elsewhere", "../elsewhere", "link/elsewhere", "~/x/../../../elsewhere"])
@pytest.mark.parametrize("name", ["output", "overlay"])
def test_paths_of_a_checkout_stay_in_it(name: str, value: str, checkout: Path, tmp_path: Path) -> None:
    (checkout / "link").symlink_to(tmp_path)
    (tmp_path / "elsewhere").write_text("[rollout]\ncanary = 1\n")
    (checkout / "fleetc.toml").write_text(f"{name} = {json.dumps(value)}\n")
    message = refused(here("check"), "setting-leads-outside")
    assert name in message and "elsewhere" in message


def test_compile_names_the_tree_that_it_looked_at(checkout: Path) -> None:
    """A checkout says that its tree lies elsewhere, and what people roll out with Ansible lies in rendered/."""
    shutil.copytree(checkout / "rendered", checkout / "calm")
    (checkout / "rendered" / "ansible" / "site.yml").write_text("- hosts: all\n")
    (checkout / "fleetc.toml").write_text('output = "calm"\n')
    done = here("compile", "--check")
    assert done.returncode == 0
    assert done.stderr == (
        'note: fleetc.toml sets output = "calm"\n'
        "note: rendered is also a tree, but was not checked\n"
        "calm is up to date\n"
    )
    document = json.loads(here("compile", "--check", "--format", "json").stdout)
    assert document["tree"] == "calm"
    assert here("compile", "--check", "-o", "rendered").returncode == 1
    for command in (("plan",), ("deploy", "--check")):
        assert "note: rendered is also a tree, but was not checked" in here(*command).stderr


def test_settings_of_a_checkout_are_sealed_in_its_plan(checkout: Path) -> None:
    (checkout / "fleetc.toml").write_text('output = "rendered"\noverlay = ["trial.toml"]\n')
    assert here("compile").returncode == 0
    done = here("plan", "-o", "plan.json")
    assert done.returncode == 0, done.stderr
    assert 'settings output = "rendered" (fleetc.toml), overlay = "trial.toml" (fleetc.toml)\n' in done.stdout
    assert here("plan", "--verify", "plan.json").returncode == 0
    shutil.copytree(checkout / "rendered", checkout / "calm")
    (checkout / "fleetc.toml").write_text('output = "calm"\noverlay = ["trial.toml"]\n')
    done = here("plan", "--verify", "plan.json")
    assert done.returncode == 1
    assert "error[plan-settings-stale]" in done.stderr and 'output = "calm" (fleetc.toml)' in done.stderr
    assert "error[plan-settings-stale]" in here("deploy", "--plan", "plan.json").stderr


def git_in(place: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.net", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True, cwd=place)


OVERLAY = '[hosts.studio]\naddress = "127.0.0.10"\n'


@pytest.mark.parametrize(
    ("then", "now"),
    [('overlay = "trial.toml"\n', ""), ('overlay = "trial.toml"\n', 'overlay = "calm.toml"\n')],
    ids=["removed", "another"],
)
def test_overlay_of_the_checkout_is_reviewed_with_the_settings_of_then(then: str, now: str, checkout: Path) -> None:
    """Both sides compiled with the settings of today would be equal, and the address of the host moves all the same."""
    (checkout / "trial.toml").write_text(OVERLAY)
    (checkout / "calm.toml").write_text("[rollout]\ncanary = 1\n")
    (checkout / "fleetc.toml").write_text(then)
    git_in(checkout, "init", "--quiet")
    git_in(checkout, "add", ".")
    git_in(checkout, "commit", "--quiet", "-m", "first")
    same = here("diff", "--against", "HEAD", "--exit-code")
    assert same.returncode == 0, same.stdout + same.stderr
    (checkout / "fleetc.toml").write_text(now)
    done = here("diff", "--against", "HEAD", "--exit-code")
    assert done.returncode == 1, done.stdout
    assert "127.0.0.10" in done.stdout
    assert 'at HEAD fleetc.toml sets overlay = "trial.toml"' in done.stdout
    if now:
        assert 'fleetc.toml sets overlay = "calm.toml"' in done.stdout
    strong = here("diff", "--against", "HEAD", "--exit-code", FLEETC_OVERLAY="calm.toml")
    assert strong.returncode == 0, "a variable counts for both sides"


def test_a_revision_whose_settings_are_refused_today_can_be_reviewed(checkout: Path) -> None:
    """The change that moves them where they belong is reviewed too."""
    (checkout / "trial.toml").write_text(OVERLAY)
    (checkout / "fleetc.toml").write_text('overlay = "trial.toml"\nallowed_signers = "signers"\n')
    git_in(checkout, "init", "--quiet")
    git_in(checkout, "add", ".")
    git_in(checkout, "commit", "--quiet", "-m", "first")
    (checkout / "fleetc.toml").write_text('overlay = "trial.toml"\n')
    done = here("diff", "--against", "HEAD", "--exit-code")
    assert done.returncode == 0, done.stdout + done.stderr
    (checkout / "fleetc.toml").unlink()
    (checkout / "pyproject.toml").write_text("[tool.fleetc]\noverlay = 'trial.toml'\n")
    done = here("diff", "--against", "HEAD", "--exit-code")
    assert done.returncode == 0, done.stdout + done.stderr


def test_working_directory_above_the_journal_is_no_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as the root of the file system, where timers run."""
    monkeypatch.chdir("/")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "fleet").mkdir()
    assert journals(Settings(), tmp_path / "fleet" / "fleet.toml") == tmp_path / "state" / "fleetc"
    with pytest.raises(FilesError):
        journals(Settings(), tmp_path / "fleet.toml")


def test_journal_is_never_inside_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is the usual place, if the home directory is the checkout; a home directory without git is none."""
    spec = tmp_path / "fleet.toml"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME")
    assert journals(Settings(), spec) == tmp_path / ".local/state/fleetc"
    (tmp_path / ".git").mkdir()
    for given in (None, tmp_path / "journal"):
        with pytest.raises(FilesError) as failure:
            journals(Settings(journal=given), spec)
        assert failure.value.code == "journal-in-checkout"
    (tmp_path.parent / "link").symlink_to(tmp_path / "inside")
    with pytest.raises(FilesError):
        journals(Settings(journal=tmp_path.parent / "link"), spec)
    elsewhere = tmp_path.parent / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(elsewhere))
    assert journals(Settings(), spec) == elsewhere / "fleetc"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    with pytest.raises(FilesError):
        journals(Settings(), spec)
