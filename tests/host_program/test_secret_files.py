"""Secret files of a release: what is in which, and their digests, by which a node is restarted."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import Program, loaded

VALUES = {"env": {"RPC": "https://rpc.example.net/v2/kkkk"}, "command": {"orch": ' one "two" $HOME \\ é '}}
RPC = {"variable": "LP_ETHURL", "kind": "env", "reference": "RPC"}
ORCH = {"variable": "LP_ORCHSECRET", "kind": "command", "reference": "orch"}


@pytest.fixture
def host(tmp_path: Path) -> Program:
    return loaded(tmp_path)


def wanted(*secrets: dict[str, Any], runtime: str = "systemd") -> dict[str, Any]:
    return {"runtime": runtime, "services": [{"name": "orch-a", "secrets": list(secrets)}]}


def test_file_holds_exactly_the_value_and_variables_are_elsewhere(host: Program) -> None:
    files = host["secret_files"](wanted(RPC, {**ORCH, "as_file": True}), VALUES)
    assert files == {
        "orch-a/secrets/secrets.env": b'LP_ETHURL="https://rpc.example.net/v2/kkkk"\n',
        "orch-a/secrets/LP_ORCHSECRET": VALUES["command"]["orch"].encode(),
    }
    only = host["secret_files"](wanted({**ORCH, "as_file": True}), VALUES)
    assert list(only) == ["orch-a/secrets/LP_ORCHSECRET"]


def test_missing_value_of_a_file_is_refused(host: Program) -> None:
    with pytest.raises(host["RefusedError"], match="orch-a needs LP_ORCHSECRET from command orch, which is missing"):
        host["secret_files"](wanted({**ORCH, "as_file": True}), {"env": VALUES["env"]})


def test_node_without_secrets_has_no_digest_of_them(host: Program, tmp_path: Path) -> None:
    assert host["secrets_digest"](str(tmp_path)) == "-"


def test_digest_changes_with_each_file_and_each_name(host: Program) -> None:
    digest = host["digest_of_secrets"]
    several = [
        {"secrets.env": b"a"},
        {"secrets.env": b"a", "LP_ORCHSECRET": b"b"},
        {"secrets.env": b"a", "LP_ORCHSECRET": b"c"},
        {"secrets.env": b"a", "LP_ETHPASSWORD": b"b"},
        {"LP_ORCHSECRET": b"b"},
        {"LP_ORCHSECRET": b"a"},
    ]
    assert len({digest(files) for files in several}) == len(several)
    assert digest({"b": b"1", "a": b"2"}) == digest({"a": b"2", "b": b"1"})


@pytest.mark.usefixtures("processes")
def test_verify_knows_the_values_of_files_too(host: Program, tmp_path: Path) -> None:
    secrets = Path(host["CURRENT"]) / "orch-a/secrets"
    secrets.mkdir(parents=True)
    wants = wanted(RPC, {**ORCH, "as_file": True})
    for path, content in host["secret_files"](wants, VALUES).items():
        (secrets / Path(path).name).write_bytes(content)
    assert host["secrets_here"](wants) == VALUES


@pytest.mark.usefixtures("processes")
def test_verify_asks_with_what_a_process_has_whatever_its_file_is_now(host: Program) -> None:
    secrets = Path(host["CURRENT"]) / "orch-a/secrets"
    secrets.mkdir(parents=True)
    (secrets / "secrets.env").write_text(f'{RPC["variable"]}="changed by hand"\n')
    wants = wanted(RPC)
    kind, reference = RPC["kind"], RPC["reference"]
    command, pipe = ["sh", "-c", "echo; read forever"], subprocess.PIPE
    with subprocess.Popen(command, env={RPC["variable"]: "of before"}, stdin=pipe, stdout=pipe) as process:
        try:
            assert process.stdout is not None and process.stdout.readline()
            for pid, value in ((process.pid, "of before"), (0, "changed by hand")):
                host["facts_of"] = lambda *_, pid=pid: {"orch-a": {"pid": pid}}
                assert host["secrets_here"](wants)[kind][reference] == value
        finally:
            process.kill()
