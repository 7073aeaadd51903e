"""What people provide before the first rollout: the same on the pages and in `fleetc todo`, with commands to copy."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from fleetc.blueprint.tasks import HOSTS, KEYS, PEOPLE, STREAMS, Task, tasks_of
from fleetc.text.encoders import readable_word
from tests.support import EXAMPLES, ROOT, compile_text, compiled_example, fleetc

UNSEEN = 'read -rs SECRET && printf %s "$SECRET" | '
OF_MONEY = ("wallet", "registration")


@pytest.mark.parametrize("name", EXAMPLES)
def test_everything_that_people_provide_is_a_task(name: str) -> None:
    blueprint = compiled_example(name).blueprint
    assert blueprint is not None
    tasks = tasks_of(blueprint)
    about = {(task.host, task.words, task.subject) for task in tasks}
    for host in blueprint.hosts:
        for need in host.needs:
            if need.words:
                where = "" if need.kind in OF_MONEY else host.name
                assert (where, need.words, need.subject) in about
        for _, secrets in host.secrets():
            for secret in secrets:
                assert ("", secret.reference) in {
                    (task.host, task.subject) for task in tasks
                } or secret.kind == "host_file"
    assert len(about) == len(tasks)
    assert [task.who for task in tasks] == sorted((task.who for task in tasks), key=PEOPLE.index)
    for task in tasks:
        assert shlex.split(task.command) if task.command else task.words


@pytest.mark.parametrize("name", EXAMPLES)
def test_command_and_document_say_the_same(name: str) -> None:
    done = fleetc("todo", ROOT / "inventories" / name, "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["tasks"]
    tree = compiled_example(name).tree
    assert tree is not None
    pages = {a.path: a.content.decode() for a in tree.artifacts if a.path.endswith(".md")}
    sections = {path: page.partition("## Before the first rollout\n")[2] for path, page in pages.items()}
    lines = {path: [line for line in text.split("\n") if line.startswith("- [ ] ")] for path, text in sections.items()}
    for host in {task["host"] for task in told} - {""}:
        assert len(lines[f"hosts/{host}/README.md"]) == sum(task["host"] == host for task in told)
    common = Counter((t["who"], t["words"], t["subject"], t["command"]) for t in told if t["host"])
    shared = sum(count > 1 for count in common.values()) + sum(not task["host"] for task in told)
    assert len(lines["FLEET.md"]) == shared


def test_questions_of_the_spec_come_first_at_their_lines(tmp_path: Path) -> None:
    assert fleetc("init", "--run", "orchestrator", "--network", "arbitrum-one-mainnet", cwd=tmp_path).returncode == 0
    spec = tmp_path / "fleet.toml"
    spec.write_text(
        spec.read_text() + '# TODO who answers for it?\n[silences.a]\ncode = "cli-exposed"\nreason = "# TODO no"\n'
    )
    lines = spec.read_text().splitlines()
    done = fleetc("todo", cwd=tmp_path)
    summary, questions, _ = done.stdout.split("\n\n", 2)
    first, *told = questions.splitlines()
    assert "  Who writes the spec: " in summary and "--limit" not in summary, "there is one host"
    assert first == "Who writes the spec"
    expected = [(number, line) for number, line in enumerate(lines, 1) if "TODO" in line and "reason" not in line]
    assert told == [f"  fleet.toml:{number}: {line.partition('TODO')[2].lstrip(': ')}" for number, line in expected]
    assert [line.rpartition(": ")[2] for line in told][1:] == ["the account of earner", "who answers for it?"]
    tasks = json.loads(fleetc("todo", "--format", "json", cwd=tmp_path).stdout)["tasks"]
    assert (tasks[0]["words"], tasks[0]["who"]) == (f"fleet.toml:{expected[0][0]}", first)
    assert "Who writes the spec" not in fleetc("todo", "--limit", "studio", cwd=tmp_path).stdout


def test_text_has_each_person_once_and_commands_below_tasks() -> None:
    done = fleetc("todo", ROOT / "inventories/dual-onchain")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    people = [who for who in PEOPLE if who != STREAMS]
    assert [line for line in lines[lines.index("") :] if line and not line.startswith(" ")] == people
    at = lines.index("  gpu: the node's program of release v0.9.1: /usr/local/bin/livepeer, for orch")
    assert lines[at + 1] == "      /usr/local/bin/livepeer -version"
    assert "      docker exec -it livepeer-gate livepeer_cli -http 5935" in lines
    assert lines.count("  a variable with a secret: ARBITRUM_RPC_URL, for gate, orch") == 1


def test_task_of_many_hosts_is_one_entry() -> None:
    shown = fleetc("todo", ROOT / "inventories/two-regions").stdout
    lines = shown.splitlines()
    assert lines[0] == "30 tasks on 9 hosts:" and lines[1] == "  Who runs the hosts: 10"
    at = lines.index("  systemd 240 or newer")
    assert lines[at + 1] == "      on 3 hosts: eu-ai, eu-gpu-1, eu-gpu-2"
    at = lines.index("  a record that leads to its address: its name")
    assert lines[at + 1].startswith("      on 9 hosts: eu-ai, ") and lines[at + 2] == "        more; on eu-ai:"
    assert lines[at + 3] == "      getent ahosts eu-ai.example.net", "of the others it has other names"
    keystores = [line for line in lines if "directory with the key file of" in line]
    assert len(keystores) == 5, "those of units belong to another user than those of containers"
    of_one = fleetc("todo", ROOT / "inventories/two-regions", "--limit", "us-edge").stdout
    assert "  us-edge: a record that leads to 198.51.100.10: us.example.net" in of_one.splitlines()


@pytest.mark.parametrize("name", EXAMPLES)
def test_lines_are_short_and_commands_stay_whole(name: str) -> None:
    compiled = compiled_example(name)
    assert compiled.blueprint is not None
    shown = fleetc("todo", ROOT / "inventories" / name).stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    whole = re.sub(r" \\\n *", " ", shown).splitlines()
    commands = {task.command for task in tasks_of(compiled.blueprint) if task.command}
    said = {line.strip() for line in whole if line.strip() in commands}
    rest = {command for command in commands - said if not re.match("(nc|ssh|getent ahosts|curl) ", command)}
    assert said and not rest, "only a command with the name of its host stands for others"


def test_command_of_a_node_asks_the_address_at_which_it_listens(tmp_path: Path) -> None:
    text = (ROOT / "inventories/dual-onchain/fleet.toml").read_text()
    header = "[gateways.gate]\n"
    assert header in text
    (tmp_path / "fleet.toml").write_text(
        text.replace(header, f'{header}cli = "10.8.0.1:5935"\ncli_exposed = true\n', 1)
    )
    done = fleetc("todo", cwd=tmp_path)
    assert "      docker exec -it livepeer-gate livepeer_cli -host 10.8.0.1 -http 5935\n" in done.stdout


USER = "getent passwd livepeer || sudo useradd --system --no-create-home livepeer"


def test_user_of_nodes_comes_before_the_files_that_belong_to_it() -> None:
    blueprint = compiled_example("dual-onchain").blueprint
    assert blueprint is not None
    commands = [task.command for task in tasks_of(blueprint) if task.host == "gpu"]
    assert commands[0] == USER
    keystore, account = "/var/lib/livepeer/keystore", "2" * 40
    assert [command for command in commands if " -o " in command] == [
        f"sudo install -d -o livepeer -m 700 {keystore}"
        f" && sudo install -o livepeer -m 600 UTC--*--{account} {keystore}",
        f"{UNSEEN}sudo install -D -o livepeer -m 600 /dev/stdin /etc/livepeer/earner-password",
    ]
    of_docker = [task.command for task in tasks_of(blueprint) if task.host == "edge"]
    assert f"sudo install -d -m 700 {keystore} && " in "".join(of_docker) and USER not in of_docker


@pytest.mark.usefixtures("processes")
def test_commands_of_a_task_make_what_they_name(tmp_path: Path) -> None:
    """In a real shell: the key file is found by its account and lands in the keystore, a password is not shown."""
    blueprint = compiled_example("dual-onchain").blueprint
    assert blueprint is not None
    keystore, password, chain = (
        next(t.command for t in tasks_of(blueprint) if t.host == "edge" and words in t.words)
        for words in ("key file", "password", "RPC service")
    )
    key_file = "UTC--2026-01-01T00-00-00.000000000Z--" + "1" * 40
    (tmp_path / key_file).write_text("{}")
    commands = f"{keystore}\n{password}\n".replace("sudo ", "").replace(" /var/", " var/").replace(" /etc/", " etc/")
    done = subprocess.run(
        ["bash", "-c", commands], cwd=tmp_path, input="open sesame\n", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    key = tmp_path / "var/lib/livepeer/keystore" / key_file
    secret = tmp_path / "etc/livepeer/payer-password"
    assert key.read_text() == "{}" and secret.read_text() == "open sesame"
    assert [path.stat().st_mode & 0o777 for path in (key.parent, key, secret)] == [0o700, 0o600, 0o600]
    assert json.loads(shlex.split(chain)[-2])["method"] == "eth_chainId"


def test_limit_leaves_out_what_only_others_need() -> None:
    done = fleetc("todo", ROOT / "inventories/dual-onchain", "--limit", "edge")
    assert "0x1111111111111111111111111111111111111111" in done.stdout
    assert "gpu:" not in done.stdout and "0x2222222222222222222222222222222222222222" not in done.stdout
    unknown = fleetc("todo", ROOT / "inventories/dual-onchain", "--limit", "edg")
    assert unknown.returncode == 2 and 'did you mean "edge"' in unknown.stderr


@pytest.mark.parametrize("word", ["it's $(here); x", "-rf", "~root", "a b", "", "plain/path-1.2@x:8"])
def test_odd_words_are_one_word_of_a_command(word: str) -> None:
    assert shlex.split(f"echo {readable_word(word)}") == ["echo", word]
    assert (readable_word(word) == word) == (word == "plain/path-1.2@x:8")


DEMO = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8")
WATCHER = """
[hosts.watcher]
address = "192.0.2.20"
runtime = "systemd"
"""
MONITORING = """
[monitoring]
host = "watcher"
receiver_token = { host_file = "/etc/fleetc-monitoring/token" }
rule_files = ["/etc/prometheus/rules/own.yml"]
"""
PROJECT = """
[monitoring.project]
prometheus = "192.0.2.20:9090"
webhook = { host_file = "/etc/fleetc-monitoring/webhook" }
slack = { host_file = "/etc/fleetc-monitoring/slack" }
grafana_password = { host_file = "/etc/fleetc-monitoring/grafana-password" }
"""


def tasks_in(text: str) -> tuple[Task, ...]:
    blueprint = compile_text(text).blueprint
    assert blueprint is not None
    return tasks_of(blueprint)


def about(tasks: tuple[Task, ...], word: str) -> list[tuple[str, str, str, str]]:
    """The tasks with a word in their subject: who, where, what is typed."""
    return [(task.who, task.host, task.subject, task.command) for task in tasks if word in task.subject]


def test_files_of_the_monitoring_project_are_tasks_of_the_host_whose_container_reads_them() -> None:
    tasks = tasks_in(DEMO + WATCHER + MONITORING + PROJECT)
    install = UNSEEN + "sudo install -D -o {} -m 600 /dev/stdin "
    folder = "/etc/fleetc-monitoring"
    assert about(tasks, folder) == [
        (KEYS, "studio", f"{folder}/token", install.format(65534) + f"{folder}/token"),
        (KEYS, "watcher", f"{folder}/webhook", install.format(65534) + f"{folder}/webhook"),
        (KEYS, "watcher", f"{folder}/slack", install.format(65534) + f"{folder}/slack"),
        (KEYS, "watcher", f"{folder}/grafana-password", install.format(472) + f"{folder}/grafana-password"),
    ]
    rules = "/etc/prometheus/rules/own.yml"
    assert about(tasks, "own.yml") == [(HOSTS, "watcher", rules, f"promtool check rules {rules}")]


def test_host_that_only_watches_needs_docker_and_a_login() -> None:
    tasks = [task for task in tasks_in(DEMO + WATCHER + MONITORING + PROJECT) if task.host == "watcher"]
    assert {"Docker Engine, running", "a login over ssh, and Python 3.9 or newer there"} < {
        task.words for task in tasks
    }
    (idle,) = {task.host for task in tasks_in(DEMO + WATCHER)} - {""}
    assert idle == "studio", "a host that runs nothing needs nothing"


def test_programs_that_watch_keep_no_release_from_running() -> None:
    blueprint = compile_text(DEMO + WATCHER + MONITORING + PROJECT).blueprint
    assert blueprint is not None
    needs = {host.name: {need.kind: dict(need.facts) for need in host.needs} for host in blueprint.hosts}
    assert "monitoring" in needs["watcher"]["docker"] and "monitoring" in needs["watcher"]["compose"]
    assert "monitoring" not in needs["studio"]["docker"], "its nodes run in containers anyway"
    assert needs["studio"]["file"] == {"monitoring": "prometheus", "user": "65534:65534"}


def test_files_of_a_prometheus_that_people_run() -> None:
    tasks = tasks_in(DEMO + WATCHER + MONITORING)
    assert [(who, host) for who, host, *_ in about(tasks, "/etc/")] == [(HOSTS, "watcher"), (KEYS, "studio")]


def test_secret_files_of_an_avatar_stack_are_tasks() -> None:
    text = (ROOT / "inventories/avatar-stage/fleet.toml").read_text(encoding="utf-8")
    changed = text.replace('password = { vault = "turn_password" }', 'password = { host_file = "/etc/fleet/turn" }')
    assert changed != text
    hosts = {host for _, host, *_ in about(tasks_in(changed), "/etc/fleet/turn") if host}
    assert hosts and hosts <= {"stage-1", "stage-2"}


@pytest.mark.parametrize(
    ("lines", "needed"),
    [
        ("", False),
        ("http_tls = false\n", True),
        ('http_tls = false\nservice = "http://studio.example.net:8935"\n', False),
    ],
)
def test_service_address_with_tls_before_a_listener_without_needs_a_proxy(lines: str, needed: bool) -> None:
    text = DEMO.replace('service = "studio.example.net:8935"\n', "") if "service" in lines else DEMO
    tasks = [task for task in tasks_in(text + lines) if "certificate" in task.words]
    assert len(tasks) == needed
    if needed:
        assert (tasks[0].who, tasks[0].host) == (HOSTS, "studio")
        assert tasks[0].command == "curl --insecure https://studio.example.net:8935/healthz"


STREAM_API = """
[stream_api]
base_url = "https://streams.example.net/api"
token = { env = "STREAM_TOKEN" }

[streams.one]
playbackPolicy = { type = "jwt" }
pull = { source = { vault = "camera" } }
"""


def test_streams_need_their_secrets_permission_and_a_key_for_tokens(tmp_path: Path) -> None:
    tasks = tasks_in(DEMO + STREAM_API)
    mine = [(task.words, task.subject, task.command) for task in tasks if task.who == STREAMS]
    assert mine == [
        (
            "your permission that the token goes to the stream API",
            "https://streams.example.net/api",
            "fleetc streams --send-token-to https://streams.example.net/api",
        ),
        ("a variable with a secret", "STREAM_TOKEN", "read -rs STREAM_TOKEN && export STREAM_TOKEN"),
        ("a key of fleet_vault in your Ansible Vault file", "camera", ""),
    ]
    assert [(task.words, task.nodes) for task in tasks if "tokens of viewers" in task.words] == [
        ("a key of the stream API that signs the tokens of viewers", ("one",))
    ]
    (tmp_path / "fleet.toml").write_text(DEMO + STREAM_API, encoding="utf-8")
    assert "STREAM_TOKEN" in fleetc("todo", tmp_path).stdout
    assert "STREAM_TOKEN" not in fleetc("todo", tmp_path, "--limit", "studio").stdout, "it is of no host"


@pytest.mark.parametrize(("address", "leads"), [("203.0.113.20", "203.0.113.20"), ("192.168.1.7", "the host")])
def test_a_record_never_leads_to_a_private_address(address: str, leads: str) -> None:
    text = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8")
    known = re.sub(r'address = "[^"]*"', f'address = "{address}"', text, count=1)
    blueprint = compile_text(re.sub(r'public = "[^"]*"', 'public = "studio.example.net"', known)).blueprint
    assert blueprint is not None
    assert [task.words for task in tasks_of(blueprint) if "record" in task.words] == [f"a record that leads to {leads}"]


def test_program_of_a_live_runner_is_no_secret_and_can_be_started() -> None:
    compiled = compiled_example("live-runners")
    assert compiled.blueprint is not None
    (found,) = [task for task in tasks_of(compiled.blueprint) if task.words == "program of the runner"]
    assert found.who == HOSTS
    assert found.command == "sudo install -D -m 755 /dev/stdin /opt/captions/bin/captions-runner"
