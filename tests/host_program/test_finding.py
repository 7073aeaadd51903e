"""What the program on a host says of nodes that fleetc did not start: all that a spec needs, and no secret.

The node is a stand-in with the node's flags (`tests/standin`); /proc, and how its arguments stand there, are real.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleetc.rollout.hosts.finding import FILES, ROLES
from fleetc.upstream import FLAGS
from tests.farm.image import compile_standin
from tests.farm.sshd_host import free_ports
from tests.host_program.program import Program, loaded
from tests.keystores import key_file
from tests.standin import can_build

pytestmark = [
    pytest.mark.usefixtures("processes"),
    pytest.mark.skipif(not can_build(), reason="what the stand-in node is built with is not installed"),
]

SECRET = "hunter2-swordfish"
KEY = "AbCdEfGhIjKlMnOpQrSt12345678"
ACCOUNT = "0x" + "1" * 40


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_standin(tmp_path_factory.mktemp("standin"))


@contextlib.contextmanager
def running(program: Path, folder: Path, *words: str, **variables: str) -> Iterator[int]:
    """A stand-in node with these arguments and these variables; its pid."""
    cli, http, rtmp = free_ports(3)
    ports = [f"-cliAddr=127.0.0.1:{cli}", f"-httpAddr=127.0.0.1:{http}", f"-rtmpAddr=127.0.0.1:{rtmp}"]
    command = [str(program), f"-dataDir={folder}/data", *ports, *words]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    node = subprocess.Popen(command, cwd=folder, env=variables, **quiet)  # type: ignore[call-overload]
    try:
        assert node.poll() is None
        yield node.pid
    finally:
        node.kill()
        node.wait()


def ask(folder: Path, pid: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The process that a host says, and its whole answer, without other processes of this machine."""
    host: Program = loaded(folder / "host")
    request = {
        "format": 1, "do": "find", "types": {name: flag.type for name, flag in FLAGS.items()},
        "secret": [name for name, flag in FLAGS.items() if flag.secret], "files": list(FILES), "roles": list(ROLES),
    }  # fmt: skip
    answer: dict[str, Any] = host["answer"](request)
    assert answer["ok"] is True, answer
    assert answer["changed"] is False
    assert not (folder / "host").exists()
    (found,) = (one for one in answer["processes"] if one["pid"] == pid)
    answer["files"] = [one for one in answer["files"] if one["pid"] == pid]
    return found, answer


def test_settings_files_and_place_of_a_process(program: Path, tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text('[{"pipeline": "llm", "model_id": "a/b", "price_per_unit": 0.10}]')
    words = ["-orchestrator", "-aiWorker", "-aiModels", "models.json", "-ethAcctAddr", ACCOUNT]
    with running(program, tmp_path, *words, LP_V="6", HOME="/srv/lp", SHELL="/bin/sh") as pid:
        found, answer = ask(tmp_path, pid)
    assert found["arguments"][-6:] == words
    assert found["environment"] == {"LP_V": "6", "HOME": "/srv/lp"}
    assert found["other_variables"] == ["SHELL"]
    assert (found["program"], found["directory"]) == (str(program), str(tmp_path))
    assert answer["files"] == [
        {"pid": pid, "path": f"{tmp_path}/models.json", "text": (tmp_path / "models.json").read_text(), "why": ""}
    ]


def test_what_this_user_may_not_read_of_a_process_is_said(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No variables, and variables that nobody may read, are not the same."""
    with running(program, tmp_path, "-gateway", LP_V="6") as pid:
        assert ask(tmp_path, pid)[0]["environment_read"] is True
        opened, led = open, os.readlink

        def refuse(path: Any, *words: Any, **more: Any) -> Any:
            if path == f"/proc/{pid}/environ":
                raise PermissionError(path)
            return opened(path, *words, **more)

        def no_link(path: Any, **more: Any) -> Any:
            if path in (f"/proc/{pid}/exe", f"/proc/{pid}/cwd"):
                raise PermissionError(path)
            return led(path, **more)

        monkeypatch.setattr("builtins.open", refuse)
        monkeypatch.setattr("os.readlink", no_link)
        found, _ = ask(tmp_path, pid)
    assert (found["environment_read"], found["environment"], found["program"]) == (False, {}, str(program))


SECRETS = {
    "flag": ["-orchSecret", SECRET],
    "flag with a sign": [f"--orchSecret={SECRET}"],
    "address with an account": [f"-orchAddr=https://me:{SECRET}@a.example.net:8935"],
    "address with a key": [f"-orchAddr=https://a.example.net/v2/{SECRET}?token={SECRET}"],
    "account without a scheme": [f"-orchAddr=me:{SECRET}@a.example.net:8935"],
    "behind the last flag": ["-monitor", "true", SECRET, f"-orchSecret={SECRET}"],
    "second word of a password": ["-ethPassword", "one", SECRET],
    "long word in a flag that is none": [f"-region={KEY}"],
}


@pytest.mark.parametrize("case", SECRETS)
def test_secret_of_an_argument_stays(case: str, program: Path, tmp_path: Path) -> None:
    with running(program, tmp_path, "-gateway", *SECRETS[case]) as pid:
        found, answer = ask(tmp_path, pid)
    told = json.dumps(answer)
    assert "-gateway" in found["arguments"]
    assert SECRET not in told
    assert KEY not in told
    assert re.search(r"\*\*\*[0-9]+\*\*\*", json.dumps(found))


def test_secrets_of_variables_stay_and_equal_ones_have_one_number(program: Path, tmp_path: Path) -> None:
    variables = {"LP_ORCHSECRET": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "LP_KAFKAPASSWORD": "other-one"}
    with running(program, tmp_path, "-orchestrator", **variables) as pid:
        found, answer = ask(tmp_path, pid)
    assert SECRET not in json.dumps(answer)
    assert "other-one" not in json.dumps(answer)
    hidden = found["environment"]
    assert hidden["LP_ORCHSECRET"] == hidden["AWS_SECRET_ACCESS_KEY"] != hidden["LP_KAFKAPASSWORD"]


def test_secrets_of_files_stay(program: Path, tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text(
        json.dumps([{"pipeline": "llm", "model_id": "a/b", "token": SECRET, "url": f"http://u:{SECRET}@192.0.2.1:80/"}])
        .replace('"token"', f'"token": "{SECRET}-first", "token"')
    )  # fmt: skip
    (tmp_path / "node.conf").write_text(
        f"gateway true\n# {SECRET}\norchSecret {SECRET}\naiModels models.json\nregion here # {SECRET}\n"
    )
    with running(program, tmp_path, "-gateway", "-config=node.conf") as pid:
        _, answer = ask(tmp_path, pid)
    assert SECRET not in json.dumps(answer)
    texts = {Path(one["path"]).name: one["text"] for one in answer["files"]}
    assert "gateway true\n" in texts["node.conf"]
    assert "region here\n" in texts["node.conf"]
    assert json.loads(texts["models.json"])[0]["model_id"] == "a/b"


def test_line_of_a_config_file_that_no_node_reads_is_hidden(tmp_path: Path) -> None:
    hider = loaded(tmp_path)["Hider"]({name: flag.type for name, flag in FLAGS.items()}, ["ethPassword"])
    told = hider.config(
        f"nosuch {SECRET}\nLP_ETHPASSWORD {SECRET}\nethPassword={SECRET}\n{SECRET}\n", lambda path: False
    )
    assert told == "***1*** ***2***\nLP_ETHPASSWORD ***2***\n***3***\n***2***\n"


def test_keystore_is_never_told(program: Path, tmp_path: Path) -> None:
    (tmp_path / "models.json").write_bytes(key_file(ACCOUNT, b"hunter2"))
    with running(program, tmp_path, "-orchestrator", "-aiModels=models.json") as pid:
        _, answer = ask(tmp_path, pid)
    assert answer["files"] == []


@pytest.mark.parametrize(("words", "told"), [(["-nosuch", "hunter"], "***1***"), (["-nosuch=1234"], "-nosuch=***1***")])
def test_value_of_an_unknown_flag_is_hidden(words: list[str], told: str, tmp_path: Path) -> None:
    hider = loaded(tmp_path)["Hider"]({name: flag.type for name, flag in FLAGS.items()}, [])
    assert hider.arguments(words, lambda path: False)[-1] == told
    assert hider.variable("LP_NOSUCH", "swordfish", False) == "***2***"


@pytest.mark.parametrize("flag", ["ethPassword", "aiModels"])
def test_file_of_a_password_is_never_read(flag: str, program: Path, tmp_path: Path) -> None:
    """Also where another flag names the same file, and where what it names is no file of the node."""
    (tmp_path / "password").write_text(f"{SECRET}\n")
    words = [f"-ethPassword={tmp_path}/password"] if flag == "ethPassword" else []
    with running(program, tmp_path, "-orchestrator", *words, f"-aiModels={tmp_path}/password") as pid:
        found, answer = ask(tmp_path, pid)
    assert SECRET not in json.dumps(answer)
    assert all(word in found["arguments"] for word in words)  # where it is, is no secret
    assert [one["text"] for one in answer["files"]] == ([] if words else [""])


def test_file_that_the_process_may_not_read_is_not_read(program: Path, tmp_path: Path) -> None:
    """Whoever owns the node could otherwise have root read any file, by a link."""
    if os.geteuid() != 0:
        pytest.skip("not root: nobody else can be")
    (tmp_path / "models.json").write_text("[1]")
    (tmp_path / "models.json").chmod(0o600)
    with running(program, tmp_path, "-orchestrator", "-aiModels=models.json") as pid:
        _, before = ask(tmp_path, pid)
        host = loaded(tmp_path / "host")
        view = host["View"](pid, str(tmp_path), False)
        view.ids = host["Ids"](65534, 65534)
        assert view.content("models.json") is None
    assert [one["text"] for one in before["files"]] == ["[1]"]


def test_link_in_a_container_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "outside").write_text(SECRET)
    (tmp_path / "root/etc/link").symlink_to(tmp_path / "outside")
    (tmp_path / "root/up").symlink_to("..")
    (tmp_path / "root/etc/own").write_text("own")
    read = loaded(tmp_path / "host")["without_links"]
    root = str(tmp_path / "root")
    assert read(root, "/etc/own") == b"own"
    assert [read(root, path) for path in ("/etc/link", "/up/outside", "/../outside", "/etc", "")] == [None] * 5


def test_unit_tells_its_command_without_secrets(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = tmp_path / "livepeer.service"
    unit.write_text(
        f"[Service]\nUser=lp\nEnvironment=LP_ORCHSECRET={SECRET}\n# {SECRET}\nExecStartPre=-/bin/echo {SECRET}\n"
        f"MemoryMax=96G\nCPUAffinity=0-23 30\nIOWeight={SECRET}'\nExecStopPost=/bin/true\nExecReload=$X\n"
        f"ExecStart={program} -orchestrator \\\n  -orchSecret {SECRET}\n"
        f"[Unit]\nAfter=wg-quick@wg0.service srv.mount\nRequiresMountsFor=/srv/my-models\nPartOf=a '{SECRET}'\n"
        f"ConditionHost={SECRET}\n[Service]\nExecStart={program} -orchestrator -orchSecret=${{OF_A_FILE}}\n"
    )
    (tmp_path / "bin").mkdir()
    stand_in = tmp_path / "bin/systemctl"  # it stands in for systemd, which tests have not
    stand_in.write_text(f"#!/bin/sh\nprintf 'FragmentPath={unit}\\nDropInPaths=\\nUnitFileState=enabled\\n'\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    host = loaded(tmp_path / "host")
    types = {name: flag.type for name, flag in FLAGS.items()}
    finder = host["Finder"](host["Hider"](types, ["orchSecret"]), [], [])
    told = finder._unit("livepeer.service")
    assert SECRET not in json.dumps(told)
    assert ["User", "lp"] in told["settings"]
    assert ["Environment", ""] in told["settings"]
    assert [pair for pair in told["settings"] if pair[0][:3] in ("Mem", "CPU", "IOW")] == [
        ["MemoryMax", "96G"], ["CPUAffinity", "0-23 30"], ["IOWeight", ""],
    ]  # fmt: skip
    assert ["ExecStartPre", "/bin/echo ..."] in told["settings"]
    assert [pair for pair in told["settings"] if pair[0][:5] in ("After", "Requi", "PartO", "Condi")] == [
        ["After", "wg-quick@wg0.service srv.mount"], ["RequiresMountsFor", "/srv/my-models"], ["PartOf", ""],
        ["ConditionHost", ""],
    ]  # fmt: skip
    assert [pair for pair in told["settings"] if pair[0] in ("ExecStopPost", "ExecReload")] == [
        ["ExecStopPost", "/bin/true"], ["ExecReload", ""],
    ]  # fmt: skip
    assert [pair for pair in told["settings"] if pair[0] == "ExecStart"] == [
        ["ExecStart", f"{program} -orchestrator -orchSecret '***1***'"], ["ExecStart", ""],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "unit", "container"),
    [
        ("0::/system.slice/livepeer.service\n", "livepeer.service", ""),
        ("0::/system.slice/system-lp.slice/lp@one.service\n", "lp@one.service", ""),
        (f"0::/system.slice/docker-{'ab' * 32}.scope\n", "", "ab" * 32),
        (f"12:memory:/docker/{'ab' * 32}\n0::/system.slice/docker.service\n", "docker.service", "ab" * 32),
        ("0::/\n", "", ""),
        ("", "", ""),
    ],
)
def test_place_by_control_groups(groups: str, unit: str, container: str, tmp_path: Path) -> None:
    assert loaded(tmp_path)["where_in"](groups) == (unit, container)


def test_container_tells_what_is_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [{
        "Name": "/lp", "Config": {"Image": "livepeer/go-livepeer:v0.9.1", "User": "", "Env": [f"A={SECRET}"],
                                  "Labels": {"com.docker.compose.project": "lp", "x": SECRET}},
        "HostConfig": {"NetworkMode": "bridge", "PortBindings": {"8935/tcp": [{"HostIp": "", "HostPort": "8935"}]}},
        "Mounts": [{"Type": "bind", "Source": "/srv/lp", "Destination": "/root/.lpData"},
                   {"Type": "volume", "Source": "/var/lib/docker/v", "Destination": "/models"}],
    }]  # fmt: skip
    (tmp_path / "told").write_text(json.dumps(told))
    stand_in = tmp_path / "docker"  # it stands in for Docker, which tests have not
    stand_in.write_text(f"#!/bin/sh\ncat {tmp_path}/told\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    facts = loaded(tmp_path / "host")["container_facts"]("ab" * 32)
    assert SECRET not in json.dumps(facts)
    assert (facts["name"], facts["image"], facts["project"]) == ("lp", "livepeer/go-livepeer:v0.9.1", "lp")
    assert facts["mounts"] == [
        {"inside": "/root/.lpData", "outside": "/srv/lp"},
        {"inside": "/models", "outside": ""},
    ]
    assert facts["ports"] == [{"inside": "8935/tcp", "address": "", "port": "8935"}]


def test_other_programs_are_no_nodes(tmp_path: Path) -> None:
    host = loaded(tmp_path)
    finder = host["Finder"](host["Hider"]({name: flag.type for name, flag in FLAGS.items()}, []), [], list(ROLES))
    for words in (
        ["docker", "run", "livepeer/go-livepeer", "-gateway", "-network", "x"],
        ["sh", "-c", "livepeer -gateway"],
        ["livepeer_cli", "-http", "7935"],
        ["curl", "-v", "https://a.example.net"],
        ["vim", "livepeer"],
    ):
        assert not finder.is_node(f"/usr/bin/{words[0]}", words), words
    assert finder.is_node("/opt/lp-v0.9.1 (deleted)", ["/opt/lp", "-gateway", "-network", "offchain"])
    assert finder.is_node("/usr/local/bin/livepeer", ["livepeer", "-config", "a"])
