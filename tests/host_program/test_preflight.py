"""The preflight of a host: all that is wrong about each need, and nothing about a host that is as it should be.

Files, sockets, databases and keys are real; Docker and the driver of GPUs are stand-ins.
"""

from __future__ import annotations

import ast
import http.server
import itertools
import json
import os
import socket
import socketserver
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from fleetc.messages.explain import pages
from tests.host_program.avatar_world import plain
from tests.host_program.program import PROGRAM, loaded
from tests.keystores import key_file
from tests.support import EXAMPLES, compiled_example

pytestmark = pytest.mark.usefixtures("processes")

Json = dict[str, Any]
ACCOUNT = "0x" + "Ab" * 20
GPU = "GPU-11111111-2222-3333-4444-555555555555"


def variables_of(example: str) -> dict[str, Json]:
    """What Ansible knows of each host of an example fleet, by host."""
    tree = compiled_example(example).tree
    assert tree is not None
    files = [artifact for artifact in tree.artifacts if artifact.path.startswith("ansible/host_vars/")]
    return {Path(file.path).stem: plain(json.loads(file.content)) for file in files}


class Host:
    """A host whose own places are below a directory; `says` has what stand-ins answer, by the start of the command."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.program = loaded(root)
        self.says: dict[str, str | None] = {}
        real = self.program["run"]

        def run(*words: str, ids: object = None, **options: Any) -> Any:
            command = " ".join(words)
            for start, said in self.says.items():
                if command.startswith(start):
                    done: Any = self.program["Done"]
                    return done(1, "", f"{words[0]}: no") if said is None else done(0, said, "")
            return real(*words, **options)

        self.program |= {"run": run, "runner_of": lambda _owner: None}

    def asks(self, *needs: Json, values: Json | None = None, **wanted: Any) -> list[Json]:
        """The findings about these needs, but for those about the disk."""
        release = {"fleet": "aurora", "host": "edge", "runtime": "systemd", "owner": "livepeer", "services": []}
        complete = [{"subject": "", "nodes": ["gate"], **need} for need in needs]
        request = {"format": 1, "do": "preflight", "wanted": release | wanted, "needs": complete}
        answer = self.program["answer"](request | {"values": values or {}})
        assert answer["ok"] and answer["changed"] is False, answer
        found: list[Json] = answer["findings"]
        return found

    def codes(self, *needs: Json, **more: Any) -> list[str]:
        return [found["code"] for found in self.asks(*needs, **more)]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_every_need_of_the_example_fleets_has_its_check() -> None:
    program = loaded(Path("/nowhere"))
    checks = {*program["CHECKS"], *program["AFTER_ROLLOUTS"]}
    needed = set()
    for name in EXAMPLES:
        for variables in variables_of(name).values():
            needed |= {need["need"] for need in variables["fleet_host_needs"]}
    assert {"keystore", "password-file", "port", "gpus", "stack", "docker"} <= needed <= checks


def test_every_finding_has_a_page() -> None:
    """Those of a rollout alone are not here: nobody explains what has happened already."""
    found = set()
    for node in itertools.chain(*(ast.walk(ast.parse(path.read_text())) for path in PROGRAM.rglob("*.py"))):
        if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            found |= {part.value for part in node.value.elts[:1] if isinstance(part, ast.Constant)}
    assert len(found) > 15
    assert found - set(pages()) == set()


def test_all_findings_come_at_once_with_their_nodes(host: Host) -> None:
    missing = [{"need": "file", "subject": f"/nowhere/{name}", "nodes": [name]} for name in ("one", "two")]
    shared = {"need": "file", "subject": "/nowhere/shared", "nodes": ["one", "two"]}
    found = host.asks(*missing, shared, shared)
    assert [(one["node"], one["code"]) for one in found] == [
        ("one", "file-missing"), ("two", "file-missing"), ("", "file-missing")
    ]  # fmt: skip


def test_preflight_changes_nothing(host: Host) -> None:
    host.asks({"need": "file", "subject": "/nowhere"})
    assert list(host.root.iterdir()) == []


def test_release_of_another_host(host: Host) -> None:
    host.program["write_json"](host.program["RECORD"], {"fleet": "aurora", "host": "other"})
    assert host.codes() == ["other-host"]


# Files.


def test_files(host: Host, tmp_path: Path) -> None:
    good, empty = tmp_path / "good", tmp_path / "empty"
    for path, text in ((good, "word"), (empty, " \n")):
        path.write_text(text)
        path.chmod(0o600)
    for need in ("file", "password-file"):
        assert host.codes({"need": need, "subject": str(good)}) == []
    assert host.codes({"need": "password-file", "subject": str(empty)}) == ["password-file-not-empty"]
    good.write_text("word\n")
    newline = host.asks({"need": "password-file", "subject": str(good)})
    assert [(one["code"], one["severity"]) for one in newline] == [("password-file-newline", "warning")]
    assert host.codes({"need": "password-file", "subject": str(tmp_path)}) == ["password-file-not-empty"]
    assert host.codes({"need": "password-file", "subject": "/nowhere"}) == ["password-file-not-empty"]
    doors = [path for path in (tmp_path, *tmp_path.parents) if not path.stat().st_mode & 0o001]
    for path in doors:
        path.chmod(path.stat().st_mode | 0o001)
    for mode, door, severities in ((0o640, 0o755, []), (0o604, 0o755, ["warning"]), (0o644, 0o700, [])):
        good.chmod(mode)
        tmp_path.chmod(door)
        found = host.asks({"need": "password-file", "subject": str(good)})
        assert [one["severity"] for one in found if one["code"] == "file-open-to-all"] == severities
    for path in doors:
        path.chmod(path.stat().st_mode & ~0o001)
    assert host.codes({"need": "file", "subject": "/nowhere"}) == ["file-missing"]


def test_files_of_programs_that_watch_are_warnings(host: Host, tmp_path: Path) -> None:
    """A container gets the file alone, so its own mode decides, and not those of the directories above it."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    file = closed / "webhook"
    file.write_text("https://alerts.example.net/hook\n")
    uid, gid = os.getuid(), os.getgid()

    def found(mode: int, user: str, path: Path = file) -> list[tuple[str, str]]:
        file.chmod(mode)
        need = {"need": "file", "subject": str(path), "nodes": [], "monitoring": "alertmanager", "user": user}
        return [(one["code"], one["severity"]) for one in host.asks(need)]

    other = f"{uid + 1}:{gid + 1}"
    unreadable = [("file-unreadable", "warning")]
    assert found(0o400, f"{uid}:{gid}") == [] and found(0o040, f"{uid}:{gid}") == unreadable
    assert found(0o040, f"{uid + 1}:{gid}") == [] and found(0o404, f"{uid + 1}:{gid}") == unreadable
    assert found(0o004, other) == [] and found(0o440, other) == unreadable
    assert found(0o600, "") == [], "nobody knows as whom people run it"
    for path in (closed, closed / "nothing"):
        assert found(0o644, other, path) == [("file-missing", "warning")]


def test_docker_for_programs_that_watch_is_a_warning(host: Host) -> None:
    host.says = {"docker": None}
    need = {"need": "docker", "nodes": [], "monitoring": "the monitoring project"}
    assert [(one["code"], one["severity"]) for one in host.asks(need)] == [("docker-answers", "warning")]
    assert [one["severity"] for one in host.asks({"need": "docker"})] == ["error"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_file_that_the_user_of_nodes_cannot_read(tmp_path: Path) -> None:
    """The kernel is asked, as the user that nodes run as; this one is in no group of root's."""
    space = loaded(tmp_path)
    secret = Path("/run") / f"fleetc-test-{os.getpid()}"
    secret.write_text("word")
    try:
        for mode, readable in ((0o600, False), (0o640, False), (0o644, True)):
            secret.chmod(mode)
            assert space["can"](space["Ids"](65534, 65534), "r", str(secret)) is readable
    finally:
        secret.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_user_of_nodes_that_does_not_exist_is_the_cause(host: Host, keystore: Json, tmp_path: Path) -> None:
    host.program = loaded(host.root)  # asks the kernel as the user of nodes, or as nobody
    (tmp_path / "password").write_text("hunter2")
    for file in (tmp_path / "password", Path(keystore["subject"], "UTC--1")):
        file.chmod(0o600)
    needs = [keystore, {"need": "password-file", "subject": keystore["password"]}]
    found = host.asks(*needs, owner="nobody-of-fleetc")
    assert [(one["code"], one["need"], one["subject"]) for one in found] == [
        ("node-user-missing", "", ""), *(("file-unreadable", need["need"], need["subject"]) for need in needs)
    ]  # fmt: skip
    assert found[0]["message"].startswith("user nobody-of-fleetc does not exist, ")
    assert {one["code"] for one in host.asks(*needs, owner="nobody")} == {"file-unreadable"}
    missing = {"need": "file", "subject": "/nowhere"}
    assert host.codes(missing, owner="nobody-of-fleetc") == ["node-user-missing", "file-missing"]
    assert host.codes(missing | {"monitoring": "prometheus", "user": ""}, owner="nobody-of-fleetc") == ["file-missing"]
    assert host.codes(owner="nobody-of-fleetc") == [], "a rollout makes it"


@pytest.fixture
def keystore(tmp_path: Path) -> Json:
    """The need of a keystore that holds the key of the account, and of its password."""
    directory = tmp_path / "keystore"
    directory.mkdir()
    (directory / "UTC--1").write_bytes(key_file(ACCOUNT, b"hunter2"))
    (directory / "notes").write_text("no key")
    (tmp_path / "password").write_text("hunter2\n")
    return {
        "need": "keystore", "subject": str(directory), "account": ACCOUNT,
        "password": f"{tmp_path}/password", "password_kind": "host_file",
    }  # fmt: skip


@pytest.mark.parametrize("kdf", ["scrypt", "pbkdf2"])
def test_keystore_with_key_and_password(kdf: str, host: Host, keystore: Json) -> None:
    Path(keystore["subject"], "UTC--1").write_bytes(key_file(ACCOUNT, b"hunter2", kdf))
    assert host.asks(keystore) == []
    Path(keystore["password"]).write_text("hunter3")
    (found,) = host.asks(keystore)
    assert found["code"] == "password-opens-key"
    assert "hunter" not in found["message"]


def test_password_from_the_environment(host: Host, keystore: Json) -> None:
    asked = keystore | {"password": "WORD", "password_kind": "env"}
    assert host.asks(asked, values={"env": {"WORD": "hunter2"}}) == []
    assert host.codes(asked, values={"env": {"WORD": "hunter3"}}) == ["password-opens-key"]
    assert host.asks(asked) == [], "a preflight without secrets does not guess"


def test_keystore_of_another_account(host: Host, keystore: Json) -> None:
    (found,) = host.asks(keystore | {"account": "0x" + "12" * 20})
    assert found["code"] == "keystore-holds-account"
    assert ACCOUNT.lower() in found["message"] and "would make a new account" in found["message"]
    for file in Path(keystore["subject"]).iterdir():
        file.unlink()
    assert "no account" in host.asks(keystore)[0]["message"]


def test_keystore_that_is_none(host: Host, keystore: Json) -> None:
    file = f"{keystore['subject']}/UTC--1"
    assert host.codes(keystore | {"subject": file}) == ["keystore-is-a-directory"]
    assert host.codes(keystore | {"subject": "/nowhere"}) == ["keystore-holds-account"]


def test_data_directory_of_another_chain(host: Host, tmp_path: Path) -> None:
    need = {"need": "data-directory", "subject": str(tmp_path / "data/gate"), "chain_id": "42161"}
    assert host.asks(need) == []
    (tmp_path / "data/gate").mkdir(parents=True)
    with sqlite3.connect(tmp_path / "data/gate/lpdb.sqlite3") as made:
        made.execute("CREATE TABLE kv (key STRING PRIMARY KEY, value STRING)")
        made.execute("INSERT INTO kv VALUES ('chainID', '0')")
    made.close()
    (found,) = host.asks(need)
    assert found["code"] == "data-dir-of-this-chain" and "chain 0" in found["message"]
    assert host.asks(need | {"chain_id": "0"}) == []
    (tmp_path / "data/gate/lpdb.sqlite3").write_bytes(b"no database")
    assert host.asks(need) == [], "a database that says nothing is the node's own matter"
    (tmp_path / "file").write_text("")
    assert host.codes(need | {"subject": str(tmp_path / "file/gate")}) == ["data-dir-writable"]


def test_directory_of_models(host: Host, tmp_path: Path) -> None:
    need = {"need": "models-directory", "subject": str(tmp_path / "models")}
    assert host.codes(need) == ["models-dir-writable"]
    own = [{"name": "gate", "data_dir": str(tmp_path), "secrets": []}]
    assert host.codes(need, services=own) == [], "the node makes it below its own directory"
    (tmp_path / "models").mkdir()
    assert host.codes(need) == []


RUNNERS = {
    "no JSON": ("{", "no list of runners"),
    "no runners": ("{}", "no 'runners'"),
    "no app": ('{"runners": [{"label": "a", "runner_url": "http://a", "health_url": "/h"}]}', "no 'app'"),
    "a label twice": (
        '{"runners": [{"label": "a", "runner_url": "http://a", "health_url": "/h", "app": "x"},'
        ' {"label": "a ", "runner_url": "http://a", "health_url": "/h", "app": "x"}]}',
        "more than once",
    ),
    "another address": (
        '{"runners": [{"label": "a", "runner_url": "ftp://a", "health_url": "/h", "app": "x"}]}',
        "runner_url of a is not an http",
    ),
}


@pytest.mark.parametrize("case", RUNNERS)
def test_file_of_live_runners(case: str, host: Host, tmp_path: Path) -> None:
    file = tmp_path / "runners.json"
    file.write_text(RUNNERS[case][0])
    (found,) = host.asks({"need": "live-runner-config", "subject": str(file)})
    assert found["code"] == "live-runner-config-valid" and RUNNERS[case][1] in found["message"]
    file.write_text('{"runners": [{"label": "a", "runner_url": "https://a", "health_url": "/h", "app": "x"}]}')
    assert host.asks({"need": "live-runner-config", "subject": str(file)}) == []


# Secrets, and what answers.


def secret(schemes: str = "", check: str = "", kind: str = "env") -> Json:
    return {
        "need": "secret", "subject": "RPC", "kind": kind, "variable": "LP_ETHURL", "schemes": schemes, "check": check
    }  # fmt: skip


def test_address_behind_a_secret(host: Host) -> None:
    asked = secret("http https ws wss")
    for value in ("https://rpc.example.net/key", "wss://rpc.example.net"):
        assert host.asks(asked, values={"env": {"RPC": value}}) == []
    for value in ("CANARY-key", "ftp://CANARY", "https://"):
        (found,) = host.asks(asked, values={"env": {"RPC": value}})
        assert found["code"] == "secret-addresses-well-formed"
        assert "CANARY" not in found["message"] and "LP_ETHURL of gate, from env RPC" in found["message"]
    assert host.codes(asked, values={"env": {"RPC": ""}}) == ["secret-missing"]
    assert host.asks(asked) == []


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def test_what_must_answer(host: Host, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    need = {"need": "reach", "subject": f"127.0.0.1:{port}", "check": "kafka-answers", "installed": ""}
    queue = secret("amqp amqps", "queue-answers")
    values = {"env": {"RPC": f"amqp://user:CANARY@127.0.0.1:{port}/live"}}
    assert host.asks(need, need | {"subject": f"http://127.0.0.1:{port}/x"}) == []
    assert host.asks(queue, values=values) == []
    listener.close()
    found = host.asks(need, queue, values=values)
    assert [one["code"] for one in found] == ["kafka-answers", "queue-answers"]
    assert all("refused" in one["message"].lower() and "CANARY" not in one["message"] for one in found)
    assert host.asks(need | {"subject": "s3://bucket", "check": "object-store-answers"}) == []


def test_address_of_a_program_that_is_here_is_not_needed(host: Host, tmp_path: Path) -> None:
    need = {"need": "reach", "subject": "https://127.0.0.1:1/x", "check": "program-source-answers"}
    assert host.codes(need | {"installed": "/nowhere"}) == ["program-source-answers"]
    assert host.codes(need | {"installed": str(tmp_path)}) == []


def test_service_address_without_a_meaning_here(host: Host) -> None:
    need = {"need": "service-address", "subject": "orch.invalid.:8935", "port": "8935"}
    (found,) = host.asks(need)
    assert found["code"] == "service-address-leads-here" and "has no address on this host" in found["message"]
    assert host.asks(need | {"subject": "127.0.0.1:1"}) == [], "nobody listens here yet, so it shows nothing"


def test_service_address_that_leads_elsewhere_while_the_node_runs(host: Host, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    need = {"need": "service-address", "subject": "127.0.0.1:1", "port": str(port)}
    assert host.asks(need) == [], "a stranger listens"
    markers = Path(host.program["MARKERS"])
    markers.mkdir(parents=True)
    (markers / "gate").write_text("starting systemd")
    host.says["systemctl show"] = f"Id=livepeer-gate.service\nActiveState=active\nMainPID={os.getpid()}\n"
    (found,) = host.asks(need)
    assert found["code"] == "service-address-leads-here" and "does not lead back to this host" in found["message"]
    assert host.asks(need | {"subject": f"127.0.0.1:{port}"}) == []


# Ports.


def port_need(port: int, address: str = "127.0.0.1", protocol: str = "tcp") -> Json:
    return {"need": "port", "subject": "HTTP of gate", "port": str(port), "address": address, "protocol": protocol}


def test_port_held_by_a_stranger_is_named_with_its_process(host: Host, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    for address in ("127.0.0.1", "0.0.0.0", "::"):
        (found,) = host.asks(port_need(port, address))
        assert found["code"] == "ports-free"
        assert f"port {port} (tcp)" in found["message"] and f"(process {os.getpid()})" in found["message"]
    assert host.asks(port_need(port, "127.0.0.2")) == []
    assert host.asks(port_need(port, protocol="udp")) == []
    listener.close()
    assert host.asks(port_need(port)) == []


def test_port_held_by_a_node_of_fleetc_is_its_own(host: Host, listener: socket.socket) -> None:
    markers = Path(host.program["MARKERS"])
    markers.mkdir(parents=True)
    (markers / "gate").write_text("starting systemd")
    host.says["systemctl show"] = f"Id=livepeer-gate.service\nActiveState=active\nMainPID={os.getpid()}\n"
    assert host.asks(port_need(listener.getsockname()[1])) == []


def test_ports_of_udp_and_of_the_other_family(host: Host) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets,
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as both,
    ):
        packets.bind(("127.0.0.1", 0))
        assert host.codes(port_need(packets.getsockname()[1], protocol="udp")) == ["ports-free"]
        assert host.codes(port_need(both.getsockname()[1])) == ["ports-free"]


# Programs that nodes need.

RUNTIMES = {"docker info --format {{ json .Runtimes }}": '{"runc":{},"nvidia":{}}'}
SOUND: dict[str, str | None] = {
    "docker version": "27.0",
    "docker compose version": "2.24.4",
    "nvidia-smi": f"0, {GPU}, NVIDIA GeForce RTX 4090\n1, GPU-other, NVIDIA A100-SXM4-80GB\n",
    "systemctl --version": "systemd 252 (252.1)",
    **RUNTIMES,
}
NEEDS: dict[str, Json] = {
    "docker": {"need": "docker"},
    "compose": {"need": "compose", "version": "2.24.0"},
    "gpus": {"need": "gpus", "gpus": "0 1", "uuids": f"{GPU} -", "models": "4090 100"},
    "toolkit": {"need": "toolkit"},
    "systemd": {"need": "systemd", "version": "240"},
}
FAULTS: dict[str, tuple[str, str | None, str, str]] = {
    "no engine": ("docker version", None, "docker-answers", "install Docker Engine"),
    "no plugin": ("docker compose version", None, "compose-missing", "docker-compose-plugin"),
    "an old plugin": ("docker compose version", "2.23.9", "compose-old", "2.23.9 is too old"),
    "no driver": ("nvidia-smi", None, "gpus-visible", "the driver does not answer"),
    "a GPU fewer": ("nvidia-smi", f"0, {GPU}, RTX 4090\n", "gpus-visible", "does not show GPU 1; it shows 0"),
    "another GPU": (
        "nvidia-smi",
        "0, GPU-a, RTX 4090\n1, GPU-b, A100\n",
        "gpus-visible",
        "0 is RTX 4090 with the uuid GPU-a",
    ),
    "another order": (
        "nvidia-smi",
        f"0, GPU-a, A100\n1, {GPU}, RTX 4090\n",
        "gpus-visible",
        "in the order of nvidia-smi",
    ),
    "another model": ("nvidia-smi", f"0, {GPU}, RTX 4090\n1, GPU-b, L4\n", "gpus-visible", "GPU 1 is L4"),
    "containers without GPUs": (next(iter(RUNTIMES)), '{"runc":{}}', "toolkit-missing", ""),
    "no systemd": ("systemctl --version", None, "systemd-missing", "does not answer"),
    "an old systemd": ("systemctl --version", "systemd 239", "systemd-old", "240 or newer"),
}


def test_sound_host_has_no_findings(host: Host) -> None:
    host.says |= SOUND
    assert host.asks(*NEEDS.values()) == []


@pytest.mark.parametrize("case", FAULTS)
def test_program_that_is_missing_or_old(case: str, host: Host) -> None:
    command, said, code, words = FAULTS[case]
    host.says |= SOUND | {command: said}
    found = host.asks(*NEEDS.values())
    assert {one["code"] for one in found} == {code} and words in found[0]["message"]


class Engine(http.server.BaseHTTPRequestHandler):
    """A stand-in for the engine of Docker, asked for images of registries; `has` has what it answers."""

    has: ClassVar[dict[str, tuple[int, bytes]]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status, content = self.has[self.path.split("/")[-2]]
        self.send_response(status)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass

    def address_string(self) -> str:
        return "docker"


def test_image_of_a_runner_and_of_a_node(host: Host) -> None:
    """A node's image is pulled with what root has logged in to, which the engine does not know."""
    own: Json = {"runtime": "docker", "services": [{"name": "gate", "image": "localhost/none:1"}]}
    host.says["docker manifest inspect"] = None
    need = {"need": "image", "subject": "localhost/runner:1"}
    host.says["docker image inspect"] = None
    assert host.asks(need) == [], "without an engine, its own check speaks"
    place = Path(host.program["DOCKER_SOCKET"])
    place.parent.mkdir(parents=True)
    Engine.has = {
        "runner:1": (200, b'{"Descriptor": {}}'),
        "none:1": (404, b'{"message": "manifest unknown"}'),
        "ill:1": (500, b"<html>"),
    }
    with socketserver.ThreadingUnixStreamServer(str(place), Engine) as engine:
        threading.Thread(target=engine.serve_forever, args=(0.02,), daemon=True).start()
        assert host.asks(need) == []
        (found,) = host.asks(need | {"subject": "localhost/none:1"})
        assert host.asks(need | {"subject": "localhost/ill:1"}) == []
        (of_node,) = host.asks(**own)
        host.says["docker manifest inspect"] = "{}"
        assert host.asks(**own) == []
        host.says["docker image inspect"] = "[]"
        assert host.asks(need | {"subject": "localhost/none:1"}) == [], "it is here"
        engine.shutdown()
    assert found["code"] == "images-present" and found["message"].endswith("cannot pull it: manifest unknown")
    assert (of_node["code"], of_node["node"], of_node["message"]) == (found["code"], "gate", found["message"])
    assert Engine.asked[0] == "/distribution/localhost/runner:1/json"


def test_program_of_another_release(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "livepeer"
    path.write_text("#!/bin/sh\necho 'Livepeer Node Version: 0.9.0'\n")
    path.chmod(0o755)
    need = {"need": "program", "subject": str(path), "version": "0.9.1"}
    assert host.codes(need) == ["program-other-release"]
    assert host.codes(need | {"version": "0.9.0"}) == []
    assert host.codes(need | {"subject": "/nowhere"}) == ["program-missing"]


# The disk.


def test_disk_that_is_too_small_or_read_only(host: Host) -> None:
    real = os.statvfs("/")

    class Small:
        f_flag, f_bavail, f_frsize, f_files, f_favail = real.f_flag & ~os.ST_RDONLY, 10, 4096, 1000, 900

    host.program["os"] = type("os", (), {**vars(os), "statvfs": staticmethod(lambda _: Small)})
    (found,) = host.asks()
    assert found["code"] == "disk-space" and "900 files free" in found["message"]
    Small.f_flag |= os.ST_RDONLY
    assert host.codes() == ["disk-read-only"]


def test_programs_to_come_need_space(host: Host) -> None:
    digest = "a" * 64
    program = {"path": f"/opt/fleetc/programs/{digest}/livepeer", "sha256": digest, "version": "0.9.1"}
    service = {"name": "gate", "data_dir": "/x", "secrets": [], "program": program}
    host.program["SPACE_FOR_A_PROGRAM"] = 2**60
    assert host.codes() == []
    assert host.codes(services=[service]) == ["disk-space"]


def test_needs_of_a_compiled_host_are_what_the_program_reads(host: Host) -> None:
    """Nothing is here as a host of the example fleet has it: its needs are read, and have findings."""
    host.says |= dict.fromkeys(SOUND)
    variables = variables_of("two-regions")["eu-ai"]
    services = variables["fleet_host_services"]
    found = host.codes(*variables["fleet_host_needs"], services=services, owner="root")
    assert {"systemd-missing", "docker-answers", "gpus-visible", "program-missing", "keystore-holds-account"} <= {
        *found
    }
    assert "check-failed" not in found
