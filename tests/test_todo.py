"""What people provide before the first rollout: the same in FLEET.md and in `fleetc todo`, with commands to copy."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from fleetc.blueprint.tasks import PEOPLE, tasks_of
from fleetc.text.encoders import readable_word
from tests.support import EXAMPLES, ROOT, compiled_example, fleetc

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
    page = (ROOT / "inventories" / name / "rendered/FLEET.md").read_text(encoding="utf-8")
    section = page.partition("## Before the first rollout\n")[2].partition("\n## ")[0]
    assert section.count("\n- [ ] ") == len(told) > 0
    assert [line.removeprefix("### ") for line in section.splitlines() if line.startswith("### ")] == list(
        dict.fromkeys(task["who"] for task in told)
    )


def test_text_has_each_person_once_and_commands_below_tasks() -> None:
    done = fleetc("todo", ROOT / "inventories/dual-onchain")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == list(PEOPLE)
    at = lines.index("  gpu: the node's program of release v0.9.1: /usr/local/bin/livepeer, for orch")
    assert lines[at + 1] == "      /usr/local/bin/livepeer -version"
    assert "      docker exec -it livepeer-gate livepeer_cli -http 5935" in lines
    assert lines.count("  a variable with a secret: ARBITRUM_RPC_URL, for gate, orch") == 1


def test_limit_leaves_out_what_only_others_need() -> None:
    done = fleetc("todo", ROOT / "inventories/dual-onchain", "--limit", "edge")
    assert "0x1111111111111111111111111111111111111111" in done.stdout
    assert "gpu:" not in done.stdout and "0x2222222222222222222222222222222222222222" not in done.stdout
    unknown = fleetc("todo", ROOT / "inventories/dual-onchain", "--limit", "edg")
    assert unknown.returncode == 2 and 'did you mean "edge"' in unknown.stderr


@pytest.mark.usefixtures("processes")
def test_what_a_silent_host_has_stays_unknown(tmp_path: Path) -> None:
    """A real run of Ansible, to a port where nobody listens."""
    text = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8").replace("192.0.2.10", "127.0.0.9")
    (tmp_path / "fleet.toml").write_text(text.replace('runtime = "docker"', 'runtime = "docker"\nssh_port = 1'))
    done = fleetc("todo", tmp_path, "--observe")
    assert done.returncode == 1
    assert "error[host-unreachable]: studio: " in done.stderr
    assert "  studio: Docker Engine, running, for orch, gate\n" in done.stdout, "nobody knows whether it is there"
    assert "ssh -p 1 " in done.stdout


def test_options_about_hosts_need_that_they_are_asked() -> None:
    done = fleetc("todo", ROOT / "inventories/demo", "--forks", "3")
    assert done.returncode == 2 and "add --observe" in done.stderr


@pytest.mark.parametrize("word", ["it's $(here); x", "-rf", "~root", "a b", "", "plain/path-1.2@x:8"])
def test_odd_words_are_one_word_of_a_command(word: str) -> None:
    assert shlex.split(f"echo {readable_word(word)}") == ["echo", word]
    assert (readable_word(word) == word) == (word == "plain/path-1.2@x:8")
