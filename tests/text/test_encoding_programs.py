"""Encoders against the real programs: each nasty value goes in encoded and has to come back as it was."""

from __future__ import annotations

import http.server
import io
import json
import re
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from fleetc.text import encoders
from tests.emit.programs import program
from tests.support_values import has_noncharacter, nasty_values, unescape_c
from tests.text.test_encoding import PageReader

pytestmark = pytest.mark.usefixtures("processes")

VALUES = nasty_values()
SYSTEMD_VALUES = tuple(value for value in VALUES if not has_noncharacter(value))
ENVIRONMENT_GENERATOR = Path("/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")


def run(*command: str | Path, **options: Any) -> bytes:
    """Standard output of a program that must succeed and say nothing on standard error."""
    done = subprocess.run(command, capture_output=True, timeout=120, check=False, **options)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode(errors="replace")
    return bytes(done.stdout)


def numbered(values: Iterable[str]) -> dict[str, str]:
    """Values under the names V0, V1 and so on."""
    return {f"V{index}": value for index, value in enumerate(values)}


def test_linux_passes_the_longest_accepted_argument_and_no_longer_one() -> None:
    longest = "y" * encoders.MAX_ARGUMENT_BYTES
    run(program("true"), longest)
    with pytest.raises(OSError, match="Argument list too long"):
        run(program("true"), longest + "y")


# --- systemd ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unit_dump(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What systemd's own parser made of a unit with every nasty value, as its debug dump shows it."""
    analyze = program("systemd-analyze")
    unit = tmp_path_factory.mktemp("unit") / "nasty.service"
    arguments = " ".join(map(encoders.systemd_exec, SYSTEMD_VALUES))
    lines = [encoders.systemd_environment(name, value) for name, value in numbered(SYSTEMD_VALUES).items()]
    unit.write_text("\n".join(["[Service]", "Type=oneshot", f"ExecStart=/bin/true {arguments}", *lines, ""]))
    assert run(analyze, "verify", "--man=no", unit) == b""
    done = subprocess.run(
        [analyze, "verify", "--man=no", unit],
        env={"SYSTEMD_LOG_LEVEL": "debug"},
        capture_output=True,
        timeout=60,
        check=True,
    )
    return done.stdout.decode()


def test_systemd_parses_every_argument_back(unit_dump: str) -> None:
    match = re.search(r"^\t+Command Line: /bin/true (.*)$", unit_dump, re.MULTILINE)
    assert match is not None
    words = [quoted or bare for quoted, bare in re.findall(r'"((?:[^"\\]|\\.)*)"|([^" ]+)', match[1])]
    # The dump comes before the expansion of `$`, which turns each pair into one.
    assert [unescape_c(word).replace("$$", "$") for word in words] == list(SYSTEMD_VALUES)


def test_systemd_parses_every_environment_value_back(unit_dump: str) -> None:
    start = unit_dump.index("\t\tEnvironment: V0=")
    entries = unit_dump[start:].split("\n\t\tRuntimeDirectoryPreserve")[0].split("\t\tEnvironment: ")[1:]
    pairs = [entry.removesuffix("\n").partition("=")[::2] for entry in entries[:-1]]
    pairs.append(entries[-1].partition("=")[::2])
    assert dict(pairs) == numbered(SYSTEMD_VALUES)


def test_systemd_reads_every_value_of_an_environment_file_back(tmp_path: Path) -> None:
    if not ENVIRONMENT_GENERATOR.exists():
        pytest.skip("systemd's environment.d generator, which reads the same grammar, is not installed")
    # The generator expands `$` once more and drops empty values, which EnvironmentFile= does not.
    values = numbered(value for value in SYSTEMD_VALUES if "$" not in value and value)
    (tmp_path / "environment.d").mkdir()
    text = "".join(encoders.env_posix(name, value) + "\n" for name, value in values.items())
    (tmp_path / "environment.d/nasty.conf").write_text(text, newline="")
    output = run(ENVIRONMENT_GENERATOR, env={"XDG_CONFIG_HOME": str(tmp_path)}).decode()
    lines = dict(line.partition("=")[::2] for line in output.split("\n") if re.match(r"V\d+=", line))
    found = {name: unescape_c(v[1:-1]) if v.startswith('"') else v for name, v in lines.items()}
    assert found == values


# --- shells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_shell_reads_every_value_back(shell: str, tmp_path: Path) -> None:
    path = program(shell)
    values = numbered(SYSTEMD_VALUES)
    environment = "".join(encoders.env_posix(name, value) + "\n" for name, value in values.items())
    (tmp_path / "nasty.env").write_text(environment, newline="")
    clean = {"PATH": "/usr/bin:/bin"}
    shown = run(path, "-c", "set -a; . ./nasty.env; exec env -0", cwd=tmp_path, env=clean).decode()
    found = dict(entry.partition("=")[::2] for entry in shown.split("\0") if re.match(r"V\d+=", entry))
    assert found == values

    script = "printf '%s\\0' " + " ".join(map(encoders.posix_word, VALUES))
    (tmp_path / "words.sh").write_text(script, newline="")
    assert run(path, "words.sh", cwd=tmp_path, env=clean).decode().split("\0")[:-1] == list(VALUES)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["nasty.env", "words.sh"]


# --- Compose and docker ------------------------------------------------------------------------------


def test_compose_reads_every_value_back(tmp_path: Path) -> None:
    compose = program("docker-compose")
    lines = ["services:", "  one:", "    image: x", "    env_file: [nasty.env]", "    command:"]
    lines += [f"      - {encoders.compose_string(value)}" for value in VALUES]
    lines += ["    environment:"]
    lines += [f"      E{name}: {encoders.compose_string(v)}" for name, v in numbered(VALUES).items()]
    (tmp_path / "compose.yaml").write_text("\n".join([*lines, ""]), newline="")
    environment = [encoders.env_compose(name, value) + "\n" for name, value in numbered(VALUES).items()]
    (tmp_path / "nasty.env").write_text("".join(environment), newline="")
    output = run(compose, "-f", "compose.yaml", "config", "--format", "json", cwd=tmp_path, env={"HOME": "/h"})
    service = json.loads(output)["services"]["one"]
    # `config` prints a file that Compose can read again, so it doubles each `$`.
    assert [value.replace("$$", "$") for value in service["command"]] == list(VALUES)
    found = {name: value.replace("$$", "$") for name, value in service["environment"].items()}
    assert found == numbered(VALUES) | {f"E{name}": v for name, v in numbered(VALUES).items()}


@contextmanager
def recording_engine(path: Path) -> Iterator[list[dict[str, Any]]]:
    """A stand-in for the docker engine: answers a ping, records each container that a client asks for."""
    created: list[dict[str, Any]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path.endswith("/containers/create"):
                created.append(json.loads(body))
            self.send_response(201 if body else 200)
            self.send_header("Api-Version", "1.41")
            self.send_header("Content-Type", "application/json")
            answer = b'{"Id": "1", "Warnings": []}'
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer)

        do_GET = do_HEAD = do_POST = answer  # noqa: N815  names that http.server looks for

        def address_string(self) -> str:
            return "client"

        def log_message(self, *args: object) -> None:
            pass

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    with Server(str(path), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield created
        finally:
            server.shutdown()
            thread.join()


# --- YAML, Markdown, Ansible -------------------------------------------------------------------------


def test_yaml_readers_read_every_value_back() -> None:
    text = "".join(f"- {encoders.yaml_string(value)}\n" for value in VALUES)
    assert yaml.safe_load(text) == list(VALUES)
    assert yaml.load(text, yaml.CSafeLoader) == list(VALUES)
    ruamel = pytest.importorskip("ruamel.yaml")
    for kind in ("safe", "rt"):
        assert ruamel.YAML(typ=kind, pure=True).load(io.StringIO(text)) == list(VALUES)


def test_markdown_reader_shows_every_value_in_its_cell() -> None:
    rows = "".join(f"| {encoders.markdown_cell(value)} | {index} |\n" for index, value in enumerate(VALUES))
    page = MarkdownIt("commonmark").enable("table").render(f"| a | b |\n|---|---|\n{rows}")
    cells = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    assert len(cells) == 2 * len(VALUES)
    for value, cell in zip(VALUES, cells[::2], strict=True):
        shown = PageReader(cell)
        assert (shown.tags, shown.text) == ([("code", {})], encoders.visible(value))


@pytest.mark.outer
def test_ansible_passes_every_value_on_and_evaluates_none(tmp_path: Path) -> None:
    playbook = program("ansible-playbook")
    unsafe = [encoders.ansible_unsafe(value) for value in VALUES]
    hosts = {"here": {"ansible_connection": "local", "payloads": unsafe}}
    (tmp_path / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    copy = {"dest": str(tmp_path / "arrived.json"), "content": "{{ payloads | to_json }}", "mode": "0600"}
    tasks = [
        {"name": "Write", "ansible.builtin.copy": copy},
        {"name": "Show", "ansible.builtin.debug": {"var": "hostvars"}},
    ]
    plays = [{"name": "Pass", "hosts": "all", "gather_facts": False, "tasks": tasks}]
    (tmp_path / "play.yml").write_text(json.dumps(plays))
    settings = {"PATH": f"{Path(playbook).parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)}
    settings["ANSIBLE_PYTHON_INTERPRETER"] = sys.executable
    command = [playbook, "-i", "inventory.json", "play.yml"]
    run(*command, cwd=tmp_path, env=settings)
    assert json.loads((tmp_path / "arrived.json").read_text()) == list(VALUES)
    assert not (tmp_path / "injected").exists()

    # The same payload without the mark runs, so the check above can fail.
    hosts["here"]["payloads"] = [value for value in VALUES if value.startswith("{{ lookup(")]
    (tmp_path / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    run(*command, cwd=tmp_path, env=settings)
    assert (tmp_path / "injected").exists()
