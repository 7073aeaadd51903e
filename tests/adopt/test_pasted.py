"""A text of another form in the place of a spec leads to the command that takes it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support import ROOT, fleetc

DEMO = (ROOT / "inventories/demo/fleet.toml").read_text(encoding="utf-8")
COMPOSE = "services:\n  o:\n    image: livepeer/go-livepeer:v0.9.1\n    command: -orchestrator -transcoder\n"
COMMAND = "livepeer -orchestrator -transcoder \\\n  -serviceAddr gpu.example.net:8935\n"
FLAGS = "-orchestrator\n-serviceAddr gpu.example.net:8935\n"
CONFIG = "orchestrator true\nserviceAddr gpu.example.net:8935\n"
VARIABLES = "LP_ORCHESTRATOR=true\nLP_SERVICEADDR=gpu.example.net:8935\n"
UNIT = f"[Service]\nExecStart=/usr/bin/{COMMAND}"


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("compose.yaml", COMPOSE, "a Compose file"),
        ("fleet.toml", COMPOSE, "a Compose file"),
        ("my start.sh", f"#!/bin/sh\n{COMMAND}", "a command"),
        ("docker", "docker run livepeer/go-livepeer -gateway\n", "a command"),
        ("flags", FLAGS, "a list of flags"),
        ("node.conf", CONFIG, "a list of flags"),
        (".env", VARIABLES, "a list of variables"),
        ("node.service", UNIT, "a systemd unit"),
    ],
)
@pytest.mark.parametrize("command", ["check", "compile"])
def test_file_that_starts_nodes_is_named_with_the_command_that_makes_a_spec_of_it(
    command: str, name: str, text: str, what: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    done = fleetc(command, name, cwd=tmp_path)
    shown = done.stdout + done.stderr
    assert done.returncode == 1 and shown.endswith("\n1 error\n")
    assert f"error[spec-in-other-form]: this is {what}, and a spec is TOML\n --> {name}:1:1\n" in shown
    (advice,) = [line for line in shown.splitlines() if "= help: run fleetc " in line]
    adopt = shlex.split(advice.partition("fleetc ")[2].partition(":")[0])
    assert fleetc(*adopt, cwd=tmp_path).stdout.startswith("spec = 1\n")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"fleet": {"name": "home"}}\n', "JSON"),
        ("# mine\nfleet:\n  name: home\n", "YAML"),
        ("---\n- name: home\n", "YAML"),
    ],
)
def test_spec_in_yaml_or_json_is_called_so(text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text(text)
    shown = fleetc("check", cwd=tmp_path).stdout
    assert shown.startswith(f"error[spec-in-other-form]: this is {what}, and a spec is TOML\n")
    assert "fleetc init" in shown and "fleetc adopt" in shown and shown.endswith("\n1 error\n")


@pytest.mark.parametrize(
    "wrong", ['name = "x', "name: x", "[hosts.x", "hello there", "{ a: 1 }", "- x", "x = [1,\n", "ht", COMPOSE]
)
def test_error_of_toml_stays_one_where_nothing_starts_a_node(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "fleet.toml").write_text(f"{DEMO}{wrong}\n")
    assert fleetc("check", cwd=tmp_path).stdout.startswith("error[toml-syntax]")


def test_json_names_it_too(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    done = fleetc("check", "compose.yaml", "--format", "json", cwd=tmp_path)
    assert '"code": "spec-in-other-form"' in done.stdout


@pytest.mark.parametrize("words", [["check", "-orchestrator"], ["compile", "livepeer", "-transcoder", "-network=x"]])
def test_command_of_a_node_in_place_of_a_file_leads_to_adopt(words: list[str], tmp_path: Path) -> None:
    done = fleetc(*words, cwd=tmp_path)
    assert done.returncode == 2 and "run fleetc adopt start.sh" in done.stderr
    assert [*tmp_path.iterdir()] == []
