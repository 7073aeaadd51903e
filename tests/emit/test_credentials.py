"""Secrets that systemd hands over in files: which they are, and what a unit and an environment file say of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.emit.test_systemd import checked
from tests.rules.support import gateway, onchain, orchestrator, transcoder
from tests.support import compile_text

WALLET = 'password = { host_file = "/etc/livepeer/earner-password" }'
REFERENCES = ['{ env = "ORCH" }', '{ vault = "orch" }', '{ command = "orch" }']


def tree_of(text: str) -> dict[str, str]:
    tree = compile_text(text).tree
    assert tree is not None
    return {path: artifact.content.decode() for path, artifact in tree.as_mapping().items()}


def fleet(secret: str = '{ command = "orch" }', password: str = '{ env = "EARNER_PASSWORD" }') -> str:
    orch = orchestrator(secret=secret, secret_environment='{ HF_TOKEN = { command = "hf" } }')
    text = onchain(orch, gateway(), transcoder(host='"edge"', secret=secret))
    assert WALLET in text
    return text.replace(WALLET, f"password = {password}")


UNIT = "hosts/gpu/orch/livepeer-orch.service"


@pytest.mark.parametrize("secret", REFERENCES)
def test_unit_hands_over_what_the_node_takes_as_a_path(secret: str) -> None:
    files = tree_of(fleet(secret))
    lines = [line for line in files[UNIT].splitlines() if line.startswith(("LoadCredential", "EnvironmentFile"))]
    assert lines == [
        "EnvironmentFile=/opt/fleetc/current/orch/node.env",
        "EnvironmentFile=/etc/fleetc/orch/secrets.env",
        "LoadCredential=LP_ETHPASSWORD:/etc/fleetc/orch/LP_ETHPASSWORD",
        "LoadCredential=LP_ORCHSECRET:/etc/fleetc/orch/LP_ORCHSECRET",
    ]
    env = files["hosts/gpu/orch/node.env"]
    for name in ("LP_ETHPASSWORD", "LP_ORCHSECRET"):
        assert f'\n{name}="/run/credentials/livepeer-orch.service/{name}"\n' in env
    assert 'LP_ETHURL="' not in env and 'HF_TOKEN="' not in env, "the node takes no path for these"
    (service,) = json.loads(files["ansible/host_vars/gpu.json"])["fleet_host_services"]
    in_files = [one["variable"]["__ansible_unsafe"] for one in service["secrets"] if one.get("as_file")]
    assert in_files == ["LP_ETHPASSWORD", "LP_ORCHSECRET"] and len(service["secrets"]) == 4


def test_unit_without_other_secrets_reads_no_file_of_variables() -> None:
    text = fleet().replace('secret_environment = { HF_TOKEN = { command = "hf" } }\n', "")
    text = text.replace('rpc = { env = "RPC_URL" }', 'rpc = "https://rpc.example.net"')
    unit = tree_of(text)[UNIT]
    assert "secrets.env" not in unit and unit.count("LoadCredential=") == 2


def test_containers_and_files_of_the_host_are_as_before() -> None:
    files = tree_of(fleet('{ host_file = "/etc/livepeer/orch" }', '{ host_file = "/etc/livepeer/earner" }'))
    assert "LoadCredential" not in files[UNIT]
    assert 'LP_ORCHSECRET="/etc/livepeer/orch"' in files["hosts/gpu/orch/node.env"]
    files = tree_of(fleet())
    assert "/run/credentials" not in files["hosts/edge/worker/node.env"]
    assert "as_file" not in files["ansible/host_vars/edge.json"]


def test_only_hosts_with_such_secrets_need_a_newer_systemd() -> None:
    assert "systemd 247 or newer" in tree_of(fleet())["hosts/gpu/README.md"]
    plain = fleet('{ host_file = "/etc/livepeer/orch" }', '{ host_file = "/etc/livepeer/earner" }')
    assert "systemd 240 or newer" in tree_of(plain)["hosts/gpu/README.md"]


@pytest.mark.usefixtures("processes")
def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    assert checked(tmp_path, "livepeer-orch.service", tree_of(fleet())[UNIT]) == "status 0"
