"""The newest part of a node's log, as the program on a host gives it: bounded, without secrets, and read only."""

from __future__ import annotations

import base64
import os
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import Program, loaded

pytestmark = pytest.mark.usefixtures("processes")

LINES = "".join(f"2026-11-23T05:12:13+0000 gpu-1 livepeer[8]: line {number}\n" for number in range(2000))


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A host with the unit of one node and the marker of one container; stand-ins for journalctl and docker."""
    program = loaded(tmp_path)
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name in ("journalctl", "docker"):
        text = (
            f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/asked\ncat {tmp_path}/{name}.log\nexit "$(cat {tmp_path}/status)"\n'
        )
        (bin_ / name).write_text(text)
        (bin_ / name).chmod(0o755)
        (tmp_path / f"{name}.log").write_text(LINES)
    (tmp_path / "status").write_text("0")
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    unit = Path(program["UNITS"]) / f"{program['unit_of']('orch')}.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("")
    markers = Path(program["MARKERS"])
    markers.mkdir(parents=True)
    (markers / "gate").write_text("digest")
    return program


def ask(host: Program, node: str = "orch", seconds: Any = 3600, size: Any = 10**6, **more: Any) -> dict[str, Any]:
    request = {"format": 1, "do": "log", "nodes": [node], "seconds": seconds, "bytes": size, **more}
    answer: dict[str, Any] = host["answer"](request)
    return answer


def text_of(answer: dict[str, Any]) -> str:
    return zlib.decompress(base64.b64decode(answer["log"])).decode()


def test_whole_log_of_a_unit(host: Program, tmp_path: Path) -> None:
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    answer = ask(host)
    assert text_of(answer) == LINES
    assert (answer["ok"], answer["changed"], answer["cut"], answer["bytes"]) == (True, False, False, len(LINES))
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert asked.split()[0].endswith("journalctl") and "--since=-3600s" in asked
    assert asked.endswith(f"--unit={host['unit_of']('orch')}.service")
    assert sorted(str(path) for path in tmp_path.rglob("*")) == sorted([*before, str(tmp_path / "asked")])


def test_log_of_a_container(host: Program, tmp_path: Path) -> None:
    assert text_of(ask(host, "gate")) == LINES
    asked = (tmp_path / "asked").read_text().strip()
    assert asked.endswith(f"docker container logs --timestamps --since 3600s {host['unit_of']('gate')}")


@pytest.mark.parametrize("size", [1, 57, 5000, len(LINES) - 1])
def test_only_the_last_whole_lines_of_a_long_log(size: int, host: Program) -> None:
    answer = ask(host, size=size)
    text = text_of(answer)
    assert answer["cut"] is True
    assert len(text) <= size and LINES.endswith(text) and (not text or text.startswith("2026"))


def test_memory_is_bounded(host: Program, tmp_path: Path) -> None:
    import tracemalloc

    (tmp_path / "journalctl.log").write_text(LINES * 300)
    tracemalloc.start()
    assert ask(host, size=100_000)["cut"] is True
    assert tracemalloc.get_traced_memory()[1] < 3_000_000
    tracemalloc.stop()


def test_secrets_and_paths_of_addresses_stay_on_the_host(host: Program, tmp_path: Path) -> None:
    secrets = Path(host["CURRENT"]) / "orch" / "secrets"
    secrets.mkdir(parents=True)
    (secrets / "secrets.env").write_text('LP_ETHURL="https://arb.example.net/v2/kkkk1111"\nLP_ORCHSECRET="hunter22"\n')
    (secrets / "LP_ETHPASSWORD").write_text('hunter "33"')
    older = Path(host["RELEASES"]) / "0123.0" / "orch" / "secrets"
    older.mkdir(parents=True)
    (older / "secrets.env").write_text('LP_ORCHSECRET="hunter11"\n')
    (tmp_path / "journalctl.log").write_text(
        "ethUrl https://arb.example.net/v2/kkkk1111 secret hunter22\n"
        "dial https://user:pass@rpc.example.net/key?token=abc: refused\n"
        'dial https://user:pa/ss@rpc.example.net and "wss://key@rpc.example.net:8546", http://rpc.example.net:1\n'
        "of the release before: hunter11\n"
        'from a file: hunter "33"\n'
        "Service address https://203.0.113.7:8935 did not match discovered address https://203.0.113.8:8935; set it\n"
    )
    assert text_of(ask(host)) == (
        "ethUrl *** secret ***\n"
        "dial https://rpc.example.net/*** refused\n"
        'dial https://rpc.example.net and "wss://rpc.example.net:8546", http://rpc.example.net:1\n'
        "of the release before: ***\n"
        "from a file: ***\n"
        "Service address https://203.0.113.7:8935 did not match discovered address https://203.0.113.8:8935; set it\n"
    )


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"node": "other"}, "log-missing", "other has never run on this host"),
        ({"node": "../../etc"}, "node-name", "not the name of a node"),
        ({"seconds": 0}, "log-bounds", "at most"),
        ({"seconds": 10**9}, "log-bounds", "at most"),
        ({"size": 10**12}, "log-bounds", "at most"),
    ],
)
def test_refused(change: dict[str, Any], code: str, words: str, host: Program) -> None:
    answer = ask(host, **change)
    assert (answer["ok"], answer["code"]) == (False, code)
    assert words in answer["message"]


def test_program_that_fails_is_quoted(host: Program, tmp_path: Path) -> None:
    (tmp_path / "status").write_text("1")
    secrets = Path(host["CURRENT"]) / "gate" / "secrets"
    secrets.mkdir(parents=True)
    (secrets / "secrets.env").write_text('LP_ORCHSECRET="hunter22"\n')
    (tmp_path / "docker.log").write_text("secret hunter22\nError response from daemon: No such container: x\n")
    answer = ask(host, "gate")
    assert answer["code"] == "log-unreadable"
    assert "No such container" in answer["message"]
    assert "secret ***" in answer["message"]


def test_program_that_hangs_is_ended(host: Program, tmp_path: Path) -> None:
    host["READ_SECONDS"] = 0.3
    (tmp_path / "bin/journalctl").write_text("#!/bin/sh\nexec sleep 60\n")
    assert "did not end in time" in ask(host)["message"]
