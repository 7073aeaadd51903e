"""Commands that print secrets: real programs that stand in for a password manager, sound ones and bad ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from fleetc.rollout.hosts import secret_commands
from fleetc.rollout.hosts.secret_commands import printed_secrets
from fleetc.rollout.hosts.secrets import DeployError
from fleetc.rollout.hosts.stream_secrets import known_values
from fleetc.settings import Settings
from tests.support import fleetc

pytestmark = pytest.mark.usefixtures("processes")

SECRET = 'correct horse {{ 7 * 7 }} "battery" $HOME `id` \\ é'
Keeper = Callable[..., str]


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    """Writes a stand-in for a password manager, and returns its path."""

    def write(script: str, name: str = "keeper", head: str = "#!/bin/sh") -> str:
        path = tmp_path / name
        path.write_text(f"{head}\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return write


def printed(*words: str) -> str:
    """What a command called payer prints."""
    return printed_secrets({"payer": "gpu-1/orch"}, Settings(secret_commands={"payer": words}))["payer"]


def refusal(*words: str) -> str:
    with pytest.raises(DeployError) as refused:
        printed(*words)
    assert refused.value.exit_code == 1
    return str(refused.value)


def test_secret_is_what_it_prints_without_the_line_end(keeper: Keeper) -> None:
    script = f"#!{sys.executable}\nimport sys\nsys.stdout.write({SECRET!r} + sys.argv[1])"
    program = keeper(script, head="")
    Path(program).write_text(script, encoding="utf-8")
    assert printed(program, "\n") == SECRET
    assert printed(program, "") == SECRET
    assert "several lines" in refusal(program, "\n\n")
    assert "several lines" in refusal(program, "\r\n")


def test_words_reach_it_as_they_are(keeper: Keeper) -> None:
    words = ("a b", "$HOME", "`id`", "*", "; echo no", "'\"\\")
    assert printed(keeper('printf "<%s>" "$@"'), *words) == "".join(f"<{word}>" for word in words)


def test_it_has_no_input_no_terminal_and_no_checkout(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPER_SESSION", "open")
    script = 'cat; pwd; echo " $KEEPER_SESSION "; (: < /dev/tty) 2>/dev/null && echo terminal; ps -o sid= -p $$'
    directory, session, number = printed(keeper(f"({script}) | tr '\\n' ' '")).split()
    assert (directory, session) == ("/", "open")
    assert int(number) != os.getsid(0)


FAULTS = {
    "echo $S >&2; echo $S; exit 3": "ended with exit code 3",
    "echo $S; kill -9 $$": "was ended by signal 9",
    "exit 0": "printed nothing",
    "echo": "printed nothing",
    "echo abc": "printed fewer than 4 characters",
    "echo $S; echo $S": "printed several lines or a control character",
    "printf '%s\\0%s' $S $S": "printed several lines or a control character",
    "printf '%s\\377' $S": "printed no UTF-8 text",
    "head -c 1000000 /dev/zero | tr '\\0' x": "printed more than 64 KiB",
    "while :; do echo $S; done": "printed more than 64 KiB",
    "echo $S; exec sleep 60": "took longer than 1 seconds",
    "exec >&-; exec sleep 60": "took longer than 1 seconds",
    "trap '' TERM; sleep 60 & wait": "took longer than 1 seconds",
}


@pytest.mark.parametrize("script", FAULTS)
def test_fault_is_told_without_what_was_said(script: str, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_commands, "SECONDS", 1.0)
    monkeypatch.setenv("S", "Canary-41d7")
    began = time.monotonic()
    told = refusal(keeper(script), "Canary-argument")
    assert f"payer (for gpu-1/orch) {FAULTS[script]}" in told
    assert "Canary" not in told
    assert time.monotonic() - began < 5


def test_process_that_it_leaves_behind_keeps_nobody_waiting(keeper: Keeper) -> None:
    began = time.monotonic()
    assert printed(keeper("sleep 20 & echo the secret")) == "the secret"
    assert time.monotonic() - began < 5


def test_all_that_fail_are_told_at_once(keeper: Keeper) -> None:
    settings = Settings(secret_commands={"a": (keeper("exit 4", "one"),), "b": ("/nowhere/op", "read")})
    with pytest.raises(DeployError) as refused:
        printed_secrets({"a": "h/x", "b": "h/y"}, settings)
    told = str(refused.value)
    assert told.startswith("2 secret commands failed: a (for h/x) ended with exit code 4; b (for h/y) cannot be run: ")


def test_program_is_found_in_path_but_never_through_the_working_directory(
    keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper("echo from the path")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert printed("keeper") == "from the path"
    monkeypatch.chdir(tmp_path)
    for path in (".", "", f":{os.environ['PATH']}"):
        monkeypatch.setenv("PATH", path)
        assert "cannot be run" in refusal("keeper")


def test_undefined_command_is_told_before_any_runs(keeper: Keeper, tmp_path: Path) -> None:
    settings = Settings(secret_commands={"a": (keeper(f"touch {tmp_path}/ran; echo secret"),)})
    with pytest.raises(DeployError, match=r"does not define: b \(for h/y\); write \[secret_commands\] with b = "):
        printed_secrets({"a": "h/x", "b": "h/y"}, settings)
    assert not (tmp_path / "ran").exists()


def test_streams_read_commands_too(keeper: Keeper) -> None:
    settings = Settings(secret_commands={"token": (keeper("echo tok-0123456789"),)})
    wanted = {("command", "token"), ("command", "undefined"), ("env", "NOT_SET")}
    assert known_values(wanted, settings) == {("command", "token"): "tok-0123456789"}


# ---------------------------------------------------------------------------------------------------- the command


SPEC = """
spec = 1

[fleet]
name = "kept"
network = "offchain"
node_release = "v0.9.1"

[hosts.one]
address = "127.0.0.1"
public = "one.example.net"
runtime = "systemd"
ssh_port = 1

[orchestrators.orch]
host = "one"
mode = "video"
secret = { command = "orch-secret" }
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fleet whose spec names a command, compiled."""
    place = tmp_path / "checkout"
    place.mkdir()
    (place / "fleet.toml").write_text(SPEC)
    assert fleetc("compile", cwd=place).returncode == 0
    return place


def own(tmp_path: Path, text: str) -> Mapping[str, str]:
    """The environment of a user whose own configuration has this text."""
    file = tmp_path / "user/fleetc/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return {"XDG_CONFIG_HOME": str(tmp_path / "user"), "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.mark.parametrize("command", ["deploy", "deploy --check"])
def test_undefined_command_stops_before_anything_begins(command: str, checkout: Path, tmp_path: Path) -> None:
    done = fleetc(*command.split(), cwd=checkout, **own(tmp_path, ""))
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "error: the spec names secret commands that your own configuration does not define: orch-secret" in done.stderr
    )
    assert f"into {tmp_path}/user/fleetc/config.toml" in done.stderr


def test_rollback_and_plan_run_no_command(checkout: Path, tmp_path: Path, keeper: Keeper) -> None:
    words = json.dumps([keeper(f"touch {tmp_path}/ran; echo kept-secret")])
    environment = own(tmp_path, f"connect_timeout = 2\n[secret_commands]\norch-secret = {words}\n")
    done = fleetc("plan", "-o", tmp_path / "plan.json", cwd=checkout, **environment)
    assert done.returncode == 0 and "secrets read at the rollout: command orch-secret" in done.stdout
    (secret,) = json.loads((tmp_path / "plan.json").read_text())["plan"]["secrets"]
    assert (secret["kind"], secret["reference"]) == ("command", "orch-secret")
    fleetc("rollback", cwd=checkout, **environment)
    fleetc("verify", cwd=checkout, **environment)
    assert not (tmp_path / "ran").exists()


BAD = {
    "not JSON": "no JSON",
    '["/bin/true"]': "write lists of words by name",
    '{"payer": "/bin/pass show"}': "payer is no list of words",
    '{"payer": []}': "payer is no list of words",
    '{"payer": ["/bin/pass", 1]}': "payer is no list of words",
    '{"payer": ["./pass"]}': "payer must begin with an absolute path",
    '{"payer": ["bin/pass"]}': "payer must begin with an absolute path",
    '{"payer": [""]}': "payer must begin with an absolute path",
    '{"pay er": ["/bin/pass"]}': "this is not the name of a command",
    '{"payer": ["/bin/pass", "a\\u0000b"]}': "payer is no list of words",
}


@pytest.mark.parametrize("value", BAD)
def test_bad_definition_is_told(value: str, checkout: Path) -> None:
    done = fleetc("deploy", cwd=checkout, FLEETC_SECRET_COMMANDS=value)
    assert done.returncode == 2
    assert BAD[value] in done.stderr and done.stderr.startswith("error: setting secret_commands: ")


def test_bad_definition_in_the_own_configuration_is_told(checkout: Path, tmp_path: Path) -> None:
    done = fleetc("deploy", cwd=checkout, **own(tmp_path, '[secret_commands]\npayer = "pass show payer"\n'))
    assert done.returncode == 2 and "payer is no list of words" in done.stderr


def test_killed_rollout_leaves_no_command(checkout: Path, tmp_path: Path, keeper: Keeper) -> None:
    words = json.dumps([keeper(f"echo $$ > {tmp_path}/running; exec sleep 300")])
    environment = {**os.environ, **own(tmp_path, f"[secret_commands]\norch-secret = {words}\n")}
    rollout = subprocess.Popen(
        [sys.executable, "-I", "-m", "fleetc", "deploy"], cwd=checkout, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    pid = int(_soon(lambda: (tmp_path / "running").read_text().strip()))
    rollout.send_signal(signal.SIGKILL)
    rollout.wait()
    _soon(lambda: not Path(f"/proc/{pid}").exists() or b"sleep" not in Path(f"/proc/{pid}/cmdline").read_bytes())


def _soon(look: Callable[[], str | bool]) -> str:
    """What a look finds within ten seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with suppress(OSError):
            if found := look():
                return str(found)
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_tree_names_the_command_and_nothing_more(checkout: Path) -> None:
    env = (checkout / "rendered/hosts/one/orch/node.env").read_text()
    assert "# LP_ORCHSECRET: from command orch-secret, filled in by a rollout\n" in env
    assert "- command `orch-secret`; without fleetc" in (checkout / "rendered/ROLLOUT.md").read_text()
    assert (
        "- Secret `LP_ORCHSECRET`: command `orch-secret`\n" in (checkout / "rendered/hosts/one/README.md").read_text()
    )
