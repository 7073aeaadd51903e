"""Programs of the node on a host: how they come there, what is refused, and what is noticed later.

The server is a real one on loopback, and programs are small scripts that say a release as the node does.
"""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import os
import stat
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import Program, loaded

pytestmark = pytest.mark.usefixtures("processes")

Json = dict[str, Any]
MEMBER = "livepeer-linux-amd64/livepeer"


def script(version: str) -> bytes:
    """A program that says its release as the node does, after the table of its settings."""
    lines = ["+---+", f"Livepeer Node Version: {version}", "Golang runtime version: gc go1.21", "Architecture: amd64"]
    return ("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines)).encode()


def packed(content: bytes, name: str = MEMBER) -> bytes:
    """An archive as the node's releases have it."""
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w:gz") as tar:
        for path, data in ((MEMBER + "_cli", b"another program"), (name, content)):
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o755
            tar.addfile(member, io.BytesIO(data))
    return found.getvalue()


class Server:
    """A web server on loopback: `pages` by path, or where a path leads to."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | str] = {}
        self.asked: list[str] = []
        pages, asked = self.pages, self.asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                found = pages.get(self.path)
                self.send_response(404 if found is None else 302 if isinstance(found, str) else 200)
                if isinstance(found, str):
                    self.send_header("Location", found)
                body = found if isinstance(found, bytes) else b""
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def host(tmp_path: Path) -> Program:
    """The program of a host, whose user of nodes is whoever runs the tests."""
    space = loaded(tmp_path)
    space["runner_of"] = lambda _owner: None
    return space


def program(content: bytes, version: str = "0.9.1", **more: str) -> Json:
    digest = hashlib.sha256(content).hexdigest()
    return {"path": f"/opt/fleetc/programs/{digest}/livepeer", "version": version, "sha256": digest, **more}


def wanted(*programs: Json) -> Json:
    services = [{"name": f"node-{at}", "secrets": [], "program": one} for at, one in enumerate(programs)]
    return {"runtime": "systemd", "owner": "livepeer", "services": services, "stack": None}


def refusal(host: Program, *words: Any, call: str = "install_programs") -> Any:
    """The refusal of a call; nothing is left of what arrived."""
    with pytest.raises(host["RefusedError"]) as caught:
        host[call](*words)
    incoming = Path(host["INCOMING"])
    assert not incoming.exists() or not list(incoming.iterdir())
    return caught.value


@pytest.mark.parametrize("form", ["program", "archive"])
def test_program_is_fetched_checked_and_installed_by_digest(form: str, host: Program, server: Server) -> None:
    content = script("0.9.1")
    page = packed(content) if form == "archive" else content
    server.pages["/livepeer"] = page
    given = program(page, url=server.address + "/livepeer", **({"member": MEMBER} if form == "archive" else {}))
    host["install_programs"](wanted(given))
    path = Path(host["program_path"](given))
    assert path.read_bytes() == content
    assert path.parent.name == given["sha256"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert not Path(host["INCOMING"]).exists()
    host["need_program"](given, None)
    host["install_programs"](wanted(given, given))
    assert server.asked == ["/livepeer"], "it is fetched once"


def test_program_of_another_digest_is_never_executable(host: Program, server: Server) -> None:
    server.pages["/livepeer"] = script("6.6.6")
    given = program(script("0.9.1"), url=server.address + "/livepeer")
    refused = refusal(host, wanted(given))
    assert refused.code == "program-other-digest"
    assert given["sha256"] in str(refused) and hashlib.sha256(script("6.6.6")).hexdigest() in str(refused)
    assert not Path(host["program_path"](given)).exists()


CASES: dict[str, tuple[dict[str, bytes | str], str, str]] = {
    "nothing there": ({}, "/livepeer", "the answer is 404"),
    "a redirection to http": ({"/livepeer": "http://192.0.2.7/livepeer"}, "/livepeer", "not https"),
    "a redirection to a file": ({"/livepeer": "file:///etc/passwd"}, "/livepeer", "the answer is 302"),
}


@pytest.mark.parametrize("case", CASES)
def test_program_that_cannot_be_fetched(case: str, host: Program, server: Server) -> None:
    pages, path, words = CASES[case]
    server.pages.update(pages)
    refused = refusal(host, wanted(program(b"x", url=server.address + path)))
    assert refused.code == "program-not-fetched"
    assert words in str(refused) and server.address in str(refused)


def test_address_that_nobody_answers_and_one_that_is_not_https(host: Program, server: Server) -> None:
    server.http.shutdown()
    server.http.server_close()
    assert "refused" in str(refusal(host, wanted(program(b"x", url=server.address + "/livepeer"))))
    assert "not https" in str(refusal(host, wanted(program(b"x", url="http://192.0.2.7/livepeer"))))


def test_program_that_is_too_large(host: Program, server: Server) -> None:
    host["PROGRAM_LIMIT"] = 1000
    server.pages["/livepeer"] = b"x" * 2000
    refused = refusal(host, wanted(program(b"x" * 2000, url=server.address + "/livepeer")))
    assert "too large" in str(refused)
    small = packed(b"x" * 2000)
    assert len(small) < 1000
    server.pages["/archive"] = small
    refused = refusal(host, wanted(program(small, url=server.address + "/archive", member=MEMBER)))
    assert refused.code == "program-too-large"


@pytest.mark.parametrize(
    ("content", "words"), [(b"no archive", "is not an archive"), (packed(b"", "other"), f"holds no file {MEMBER}")]
)
def test_archive_without_the_program(content: bytes, words: str, host: Program, server: Server) -> None:
    server.pages["/livepeer"] = content
    refused = refusal(host, wanted(program(content, url=server.address + "/livepeer", member=MEMBER)))
    assert refused.code == "program-unreadable" and words in str(refused)


def test_file_of_the_deploying_machine_is_asked_for_until_it_is_here(host: Program) -> None:
    content = script("0.9.1")
    given = program(content, file="/srv/livepeer")
    assert host["programs_to_carry"](wanted(given)) == [given["sha256"]]
    refused = refusal(host, wanted(given))
    assert refused.code == "program-missing" and "/srv/livepeer was not copied" in str(refused)
    host["make_incoming"]()
    Path(host["INCOMING"], given["sha256"]).write_bytes(content)
    host["install_programs"](wanted(given))
    assert host["programs_to_carry"](wanted(given)) == []
    host["need_program"](given, None)


def test_program_changed_on_the_host_is_drift_and_is_mended(host: Program, server: Server) -> None:
    content = script("0.9.1")
    server.pages["/livepeer"] = content
    given = program(content, url=server.address + "/livepeer")
    host["install_programs"](wanted(given))
    release = f"{'a' * 64}.1"
    files = Path(host["RELEASES"], release, "node-0")
    files.mkdir(parents=True)
    Path(host["CURRENT"]).mkdir(parents=True)
    Path(host["CURRENT"], "node-0").symlink_to(f"../releases/{release}/node-0")
    host["write_json"](f"{files.parent}/.wanted.json", wanted(given))
    host["drift_of_process"] = lambda *_: []
    marker = [host["digest_of_files"](str(files)), "-"]

    def drift() -> list[str]:
        found: list[str] = host["judged_here"]("node-0", "systemd", marker, {"pid": 1})["drift"]
        return found

    assert drift() == []
    path = Path(host["program_path"](given))
    for spoiled in (script("0.9.0"), None):
        path.unlink()
        if spoiled is not None:
            path.write_bytes(spoiled)
            path.chmod(0o755)
        assert drift() == ["its program was changed or removed on the host"]
        host["install_programs"](wanted(given))
        assert drift() == []
    assert path.read_bytes() == content


def test_program_of_many_nodes_is_read_once_until_somebody_touches_it(host: Program, server: Server) -> None:
    server.pages["/livepeer"] = script("0.9.1")
    given = program(script("0.9.1"), url=server.address + "/livepeer")
    host["install_programs"](wanted(given))
    read: list[str] = []
    real = host["digest_of_file"]

    def counting(path: str) -> str:
        read.append(path)
        return str(real(path))

    host["digest_of_file"] = counting
    assert all(host["is_installed"](given) for _ in range(3))
    assert len(read) == 1
    path = Path(host["program_path"](given))
    facts = path.stat()
    path.write_bytes(script("0.9.0"))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # as somebody would who hides it
    assert not host["is_installed"](given)


def test_process_of_another_program_is_drift(host: Program) -> None:
    """This test's own process is no node."""
    service = {"name": "gate", "program": program(b"x", url="https://downloads.example.net/livepeer")}
    found = host["drift_of_process"](os.getpid(), service, "/nowhere", "systemd")
    assert found == ["its process runs another program"]


SAYS = {
    "another release": (script("0.9.0"), "program-other-release", "is release 0.9.0 instead of 0.9.1"),
    "a longer release": (script("0.9.11"), "program-other-release", "is release 0.9.11 instead of 0.9.1"),
    "nothing": (b"#!/bin/sh\n", "program-unusable", "does not say its release"),
    "a missing library": (
        b"#!/bin/sh\necho 'error while loading shared libraries: libcuda.so.1' >&2; exit 127\n",
        "program-unusable",
        "libcuda.so.1",
    ),
    "no program": (None, "program-missing", "install release v0.9.1 of the node there"),
}


@pytest.mark.parametrize("case", SAYS)
def test_program_that_people_install_must_be_of_the_release(case: str, host: Program, tmp_path: Path) -> None:
    content, code, words = SAYS[case]
    path = tmp_path / "livepeer"
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o755)
    refused = refusal(host, {"path": str(path), "version": "0.9.1"}, None, call="need_program")
    assert refused.code == code and words in str(refused)


def test_program_of_a_live_runner_is_only_there_and_is_never_run(host: Program, tmp_path: Path) -> None:
    """It has no release of the node, and nobody knows what it does with a flag."""
    path = tmp_path / "captions-runner"
    refused = refusal(host, {"path": str(path)}, None, call="need_program")
    assert refused.code == "program-missing" and "install the runner's there" in str(refused)
    path.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    assert refusal(host, {"path": str(path)}, None, call="need_program").code == "program-missing"
    path.chmod(0o755)
    host["need_program"]({"path": str(path)}, None)  # raises where it is refused
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("said", ["0.9.1", "0.9.1-1f2e3d4c"])
def test_program_of_the_release_is_accepted(said: str, host: Program, tmp_path: Path) -> None:
    path = tmp_path / "livepeer"
    path.write_bytes(script(said))
    path.chmod(0o755)
    host["need_program"]({"path": str(path), "version": "0.9.1"}, None)  # raises where it is refused
    refused = refusal(host, {"path": str(path), "version": "0.9.2"}, None, call="need_program")
    assert refused.code == "program-other-release"


def test_installed_program_of_another_release_is_the_fault_of_its_table(host: Program, server: Server) -> None:
    content = script("0.9.0")
    server.pages["/livepeer"] = content
    given = program(content, url=server.address + "/livepeer")
    host["install_programs"](wanted(given))
    refused = refusal(host, given, None, call="need_program")
    assert "correct the table of v0.9.1 in programs of the spec" in str(refused)


@pytest.mark.parametrize("do", ["begin", "stage"])
def test_new_release_never_starts_the_old_program_under_its_label(do: str, host: Program, tmp_path: Path) -> None:
    """Somebody changed node_release and nothing else: both requests refuse, and nothing is on the disk."""
    path = tmp_path / "livepeer"
    path.write_bytes(script("0.9.0"))
    path.chmod(0o755)
    asked = wanted({"path": str(path), "version": "0.9.1"}) | {"fleet": "aurora", "host": "edge", "digest": "a" * 64}
    asked["services"][0] |= {"digest": "b" * 64, "data_dir": f"{tmp_path}/data"}
    host |= {"make_places": lambda _: None, "link": lambda *_: True, "run": run_of(host)}
    request = {
        "format": 1,
        "do": do,
        "wanted": asked,
        "plan": {"created": "2026-11-22T12:00:00Z", "seal": "-"},
    }
    answer = host["answer"](request)
    assert answer["code"] == "program-other-release"
    assert "install v0.9.1 there before this release" in answer["message"]
    assert not Path(host["RELEASES"]).exists()


def run_of(host: Program) -> Any:
    """Programs really run; systemd is not there."""
    real = host["run"]

    def run(*words: str, **options: Any) -> Any:
        return host["Done"](1, "", "") if words[0] == "systemctl" else real(*words, **options)

    return run


def test_programs_that_no_kept_release_names_are_pruned(host: Program, server: Server) -> None:
    given = []
    for number in range(4):
        content = script(f"0.9.{number}")
        server.pages[f"/{number}"] = content
        given.append(program(content, url=f"{server.address}/{number}"))
        host["install_programs"](wanted(given[-1]))
        directory = Path(host["RELEASES"], f"{number}" * 64 + ".1")
        directory.mkdir(parents=True)
        host["write_json"](f"{directory}/.wanted.json", wanted(given[-1]))
    host["make_incoming"]()
    host["write_json"](host["RECORD"], {"release": "0" * 64 + ".1", "confirmed": "0" * 64 + ".1"})
    host["prune"](2)
    left = {path.name for path in Path(host["PROGRAMS"]).iterdir()}
    assert left == {given[number]["sha256"] for number in (0, 2, 3)}


def test_journal_says_what_was_installed(host: Program, server: Server) -> None:
    server.pages["/livepeer"] = script("0.9.1")
    given = program(script("0.9.1"), url=server.address + "/livepeer")
    host["install_programs"](wanted(given))
    lines = [json.loads(line) for line in Path(host["JOURNAL"]).read_text().splitlines()]
    assert [(line["what"], line["program"], line["source"]) for line in lines] == [
        ("install", given["sha256"], given["url"])
    ]
