"""Secrets in the spec: found, named by place, and printed nowhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.language.quantities.text import shown
from fleetc.messages.json import as_json
from fleetc.messages.locate import locate
from fleetc.messages.text import as_text
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source
from tests.rules.support import (
    broadcast,
    checked,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    offchain,
    onchain,
    printed,
    program,
    silent,
    stream,
)
from tests.support import check_text, fleetc, for_each

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
    "https://rpc.example.org,https://rpc.example.org/v2/" + KEY,
    "https://rpc.example.org/v2/" + KEY + ",https://rpc.example.org",
    "https://rpc.example.org/a,b/" + KEY + ",c",
    "https://orch.example.org:8935,https://user:" + KEY + "@orch.example.org:8935",
    "https://us,er:" + KEY + "@rpc.example.org",
    "https://rpc.example.org/?a=1,2&api" + "key=" + KEY,
]


def _with_variable(value: str, name: str = "SETTING") -> str:
    return offchain(free_orchestrator(), free_gateway(environment=f"{{ {name} = {json.dumps(value)} }}"))


def test_key_in_the_rpc_address(snapshot: SnapshotAssertion) -> None:
    text = onchain(gateway(), rpc=f'"https://arb-mainnet.provider.example/v2/{KEY}"')
    assert flagged(text, CODE) == snapshot


@pytest.mark.parametrize("secret", SECRETS)
def test_secret_is_found_and_never_shown(secret: str) -> None:
    found = flagged(_with_variable(secret), CODE)
    assert "gateways.gate.environment.SETTING seems to contain" in found
    assert secret not in found
    assert secret[-12:] not in found


def test_program_output_shows_no_secret_either() -> None:
    text = _with_variable(SECRETS[0])
    found = checked(text)
    located = locate(found.diagnostics, [Source("fleet.toml", text)], found.document)
    assert CODE in as_json(located)
    assert KEY not in as_json(located)


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


@pytest.mark.parametrize("name", ["AUTH_TOKEN", "db_password", "SIGNING_KEY", "ORCH_SECRET", "accessToken"])
def test_names_that_say_secret(name: str) -> None:
    assert "hunter2" not in flagged(_with_variable("hunter2", name), CODE)


@pytest.mark.parametrize(
    ("name", "value"),
    [("MAX_TOKENS", "hello"), ("KEYFRAME", "x"), ("TLS_KEY_FILE", "x"), ("API_KEY", "/etc/key"), ("USE_TOKEN", "true")],
)
def test_names_and_values_that_hold_none(name: str, value: str) -> None:
    silent(_with_variable(value, name))


UUID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


def _pulled(source: str) -> str:
    return broadcast(stream(pull=f'{{ source = "{source}" }}'))


@pytest.mark.parametrize("path", [f"{UUID}/index.m3u8", f"live/{UUID.upper()}", UUID])
def test_id_in_the_address_of_a_source_is_fine(path: str) -> None:
    silent(_pulled(f"https://studio.example.net/{path}"))


@pytest.mark.parametrize("end", [f"{UUID}?token=abcdefgh", f"{UUID}/{KEY}", f"{UUID}0/x", f"{UUID}#abc", KEY])
def test_key_in_the_address_of_a_source_is_none(end: str) -> None:
    found = flagged(_pulled(f"https://studio.example.net/{end}"), CODE)
    assert 'write a reference: { env = "NAME" }, { vault = "key" } or { command = "name" }; then replace' in found
    assert "host_file" not in found


def test_id_in_other_addresses_may_be_a_key() -> None:
    assert UUID not in flagged(onchain(gateway(), rpc=f'"https://rpc.example.org/{UUID}"'), CODE)


def test_field_of_a_stream_that_takes_no_reference() -> None:
    for text in (stream(name=json.dumps(SECRETS[6])), stream(userTags=f'{{ "{SECRETS[6]}" = 1 }}')):
        found = flagged(broadcast(text), CODE)
        assert "help: remove it" in found
        assert "env =" not in found


def test_secret_in_a_key_of_a_table() -> None:
    text = offchain('[models.m]\npipeline = "llm"\nid = "org/m"\noptimization = { ' + SECRETS[6] + " = true }\n")
    found = flagged(text, CODE)
    assert SECRETS[6] not in found


def test_literal_in_a_secret_field_is_not_shown() -> None:
    found = printed(offchain(free_orchestrator(secret='"hunter2"')))
    assert "secrets do not belong in the spec" in found
    assert "hunter2" not in found


def test_password_in_a_url_is_not_shown() -> None:
    found = printed(onchain(gateway(), rpc='"https://u:p4ssw0rd@rpc.example.org"'))
    assert "user name or password" in found
    assert "p4ssw0rd" not in found


# ------------------------------------------------------------------------------------ whatever else is wrong there

TOKEN = SECRETS[6]
FIELDS: dict[str, Callable[[str], str]] = {
    "service": lambda text: offchain(free_orchestrator(service=text)),
    "service with the secret as user": lambda text: offchain(
        free_orchestrator(service=json.dumps(f"ftp://user:{json.loads(text)}@x:8935"))
    ),
    "service with the secret as port": lambda text: offchain(
        free_orchestrator(service=json.dumps(f"https://x.example:{json.loads(text)}"))
    ),
    "orchestrators": lambda text: offchain(free_orchestrator(), free_gateway(orchestrators=f"[{text}]")),
    "max_price": lambda text: onchain(gateway(max_price=text)),
    "rtmp": lambda text: offchain(free_orchestrator(), free_gateway(rtmp=text)),
    "rtmp with the secret as port": lambda text: offchain(
        free_orchestrator(), free_gateway(rtmp=json.dumps(f"127.0.0.1:{json.loads(text)}"))
    ),
    "value of an unknown key": lambda text: offchain(free_orchestrator(), free_gateway(bogus=text)),
    "unknown key": lambda text: offchain(free_orchestrator(), free_gateway()) + f"{text} = 1\n",
    "name of a table": lambda text: offchain(free_orchestrator()) + f'[gateways.{text}]\nhost = "edge"\n',
    "wallet address": lambda text: onchain(gateway()) + f"[wallets.w]\naddress = {text}\n",
    "role": lambda text: offchain(free_orchestrator(), free_gateway(host=text)),
    "environment": lambda text: offchain(free_orchestrator(), free_gateway(environment=f"{{ SETTING = {text} }}")),
    "list for text": lambda text: offchain(free_orchestrator(), free_gateway(host=f"[{text}]")),
    "escaped": lambda text: offchain(
        free_orchestrator(), free_gateway(rtmp=f'"{"".join(f"{chr(92)}u{ord(c):04x}" for c in json.loads(text))}"')
    ),
    "duplicate key": lambda text: offchain(free_orchestrator()) + f"[x]\n{text} = 1\n{text} = 2\n",
    "no TOML": lambda text: offchain(free_orchestrator()) + f"[x]\na = {text} {text}\n",
}


def _secret_part(secret: str) -> str:
    """What of a leak is secret: all, or the key in a URL."""
    return KEY if KEY in secret else secret


def _both_outputs(text: str) -> str:
    sources = [Source("fleet.toml", text)]
    found = check_spec(sources)
    assert found.diagnostics
    located = locate(found.diagnostics, sources, found.document)
    return as_text(located) + as_json(located)


@for_each("field", FIELDS)
@for_each("secret", SECRETS)
def test_no_diagnostic_repeats_a_secret(field: str, secret: str) -> None:
    told = _both_outputs(FIELDS[field](json.dumps(secret)))
    part = _secret_part(secret)
    for start in range(max(1, len(part) - 11)):
        assert part[start : start + 12] not in told


@pytest.mark.parametrize("form", ["text", "json"])
def test_command_prints_no_token(form: str, tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text(FIELDS["service with the secret as user"](json.dumps(TOKEN)), encoding="utf-8")
    done = fleetc("check", spec, "--format", form)
    assert done.returncode == 1
    assert "invalid-value" in done.stdout + done.stderr
    assert TOKEN[4:16] not in done.stdout + done.stderr


def test_message_without_the_secret_says_what_to_do() -> None:
    told = _both_outputs(FIELDS["orchestrators"](json.dumps(TOKEN)))
    assert "it is not repeated" in told
    assert "move the secret out of this file" in told


def test_other_messages_keep_their_words() -> None:
    told = _both_outputs(offchain(free_orchestrator(bogus=json.dumps(TOKEN)), free_gateway(rmtp='"x"')))
    assert 'did you mean "rtmp"?' in told


def test_long_value_is_not_cut_before_it_is_recognised() -> None:
    assert shown("0x" + "ab" * 32) == "the text"
    assert shown("x" * 100).endswith('…"')


@pytest.mark.parametrize("key", ["pasword", "secrets", "passwd", "tokn", "Password", "sceret", "api-key"])
@pytest.mark.parametrize("value", ['"hunter2"', '{ env = "hunter2 x" }', "{ value = 'hunter2' }"])
def test_misspelt_secret_key_hides_its_value(key: str, value: str) -> None:
    told = _both_outputs(offchain(free_orchestrator(**{key: value})))
    assert "unknown-key" in told
    assert "hunter2" not in told


@pytest.mark.parametrize(
    "value",
    ['"hunter2"', '{ env = "hunter2 x" }', '{ vault = "hunter2 x" }', '{ host_file = "hunter2" }', '["hunter2"]'],
)
@pytest.mark.parametrize("key", ["secret", "secret_environment"])
def test_value_where_a_reference_belongs_is_hidden(key: str, value: str) -> None:
    told = _both_outputs(offchain(free_orchestrator(**{key: value})))
    assert "hunter2" not in told


def test_plain_unknown_key_still_shows_its_line() -> None:
    assert 'bogus = "hello"' in printed(offchain(free_orchestrator(bogus='"hello"')))


@pytest.mark.parametrize(
    "name", ["ANSIBLE_CONFIG", "LD_PRELOAD", "PYTHONPATH", "PATH", "HOME", "SSH_AUTH_SOCK", "BASH_ENV", "TMPDIR"]
)
def test_variables_that_steer_a_deployment_hold_no_secret(name: str) -> None:
    assert "controls programs" in printed(offchain(free_orchestrator(secret=f'{{ env = "{name}" }}')))


@pytest.mark.parametrize("name", ["ORCH_SECRET", "PATH_SECRET", "LDAP_PASSWORD", "HOME_TOKEN"])
def test_other_variables_may_hold_secrets(name: str) -> None:
    assert "controls" not in printed(offchain(free_orchestrator(secret=f'{{ env = "{name}" }}')))


@pytest.mark.parametrize(
    "line", ["password = Tr0ub4dor3", 'password = "Tr0ub4dor3', 'password = "a"\npassword = "Tr0ub4dor3"']
)
def test_syntax_errors_do_not_repeat_what_a_secret_key_holds(line: str) -> None:
    shown = check_text(f"[wallets.payer]\n{line}\n")
    assert "1 error" in shown
    assert "Tr0ub4dor3" not in shown


def test_digest_of_a_program_is_public() -> None:
    """A real digest, which looks like a key; the same text anywhere else is an error."""
    digest = hashlib.sha256(b"livepeer").hexdigest()
    silent(offchain(free_orchestrator(), program("v0.9.1", "1").replace("1" * 64, digest)))
    assert flagged(offchain(free_orchestrator(environment=f'{{ SPARE = "{digest}" }}')), CODE)
