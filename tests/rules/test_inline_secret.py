"""Secrets in the spec: found, named by place, and printed nowhere."""

from __future__ import annotations

import json

import pytest
from syrupy.assertion import SnapshotAssertion

from compiler import render
from compiler.source import Source
from tests.rules.support import (
    checked,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    offchain,
    onchain,
    printed,
    silent,
)

CODE = "inline-secret"
KEY = "AAAAAAAAAAAAb1C2d3E4f5G6h7I8j9K0"
# Put together here, so that nobody's scanner takes this file for a leak.
SECRETS = [
    "https://arb-mainnet.provider.example/v2/" + KEY,
    "https://rpc.example.org/?api" + "key=" + KEY,
    "https://rpc.example.org/#" + KEY,
    "0x" + "ab" * 32,
    "-----BEGIN " + "PRIVATE KEY-----",
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxIn0" + ".abc123",
    "gh" + "p_" + "A1" * 18,
    "AKI" + "A" + "IOSFODNN7EXAMPLE",
    "hf" + "_" + "aB3" * 12,
    "AGE-SECRET-" + "KEY-1" + "Q" * 58,
    "abandon " * 11 + "about",
    '{"cry' + 'pto":{"cipher' + 'text":"00","kdf":"scrypt"}}',
]
HARMLESS = [
    "https://arb1.example.org/rpc",
    "https://rpc.example.org/v2/${PROVIDER_KEY}",
    "https://storage.example.net/recordings-eu-central-2026",
    "sha256:" + "ab" * 32,
    "0x" + "Ab" * 20,
    "stabilityai/sd-turbo",
    "file:secrets/orch.pw",
    "env:ORCH_PW",
    "the port stays closed because our own firewall drops all public traffic",
]


def _with_variable(value: str, name: str = "SETTING") -> str:
    return offchain(free_orchestrator(), free_gateway(environment=f"{{ {name} = {json.dumps(value)} }}"))


def test_key_in_the_rpc_address(snapshot: SnapshotAssertion) -> None:
    text = onchain(gateway(), rpc=f'"https://arb-mainnet.provider.example/v2/{KEY}"')
    assert flagged(text, CODE) == snapshot


def test_reference_is_fine() -> None:
    silent(onchain(gateway(), rpc='{ env = "RPC_URL" }'))


@pytest.mark.parametrize("secret", SECRETS)
def test_secret_is_found_and_never_shown(secret: str) -> None:
    found = flagged(_with_variable(secret), CODE)
    assert "gateways.gate.environment.SETTING seems to hold" in found
    assert secret not in found
    assert secret[-12:] not in found


@pytest.mark.parametrize("value", HARMLESS)
def test_harmless_text_is_fine(value: str) -> None:
    silent(_with_variable(value))


def test_program_output_shows_no_secret_either() -> None:
    text = _with_variable(SECRETS[0])
    found = checked(text)
    located = render.locate(found.diagnostics, [Source("fleet.toml", text)], found.document)
    assert CODE in render.as_json(located)
    assert KEY not in render.as_json(located)


def test_other_diagnostics_do_not_show_the_line(snapshot: SnapshotAssertion) -> None:
    node = free_gateway(host='"edge"', environment='{ SECRET_WORD = "hunter2", PORT = "1" }', http='"0.0.0.0:1"')
    table = f"gateways = {{ gate = {{ {', '.join(node.splitlines()[1:])} }} }}\n"
    text = offchain(free_orchestrator()).replace("spec = 1\n", f"spec = 1\n{table}")
    found = printed(text)
    assert "http-ingest-switched-off" in found
    assert "hunter2" not in found
    assert found == snapshot


def test_variable_whose_name_says_secret(snapshot: SnapshotAssertion) -> None:
    assert flagged(_with_variable("hunter2", "FAL_API_KEY"), CODE) == snapshot


@pytest.mark.parametrize("name", ["AUTH_TOKEN", "db_password", "SIGNING_KEY", "ORCH_SECRET"])
def test_names_that_say_secret(name: str) -> None:
    assert "hunter2" not in flagged(_with_variable("hunter2", name), CODE)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_TOKENS", "hello"), ("KEYFRAME", "x"), ("TLS_KEY_FILE", "x"), ("API_KEY", "/etc/key"), ("USE_TOKEN", "true")],
)
def test_names_and_values_that_hold_none(name: str, value: str) -> None:
    silent(_with_variable(value, name))


def test_secret_in_a_key_of_a_table() -> None:
    text = offchain('[models.m]\npipeline = "llm"\nid = "org/m"\noptimization = { ' + SECRETS[6] + " = true }\n")
    found = flagged(text, CODE)
    assert SECRETS[6] not in found


def test_literal_in_a_secret_field_is_not_shown() -> None:
    found = printed(offchain(free_orchestrator(secret='"hunter2"')))
    assert "a secret is never written into the spec" in found
    assert "hunter2" not in found


def test_password_in_a_url_is_not_shown() -> None:
    found = printed(onchain(gateway(), rpc='"https://u:p4ssw0rd@rpc.example.org"'))
    assert "user name or password" in found
    assert "p4ssw0rd" not in found
