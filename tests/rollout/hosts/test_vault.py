"""Secrets of a real Ansible Vault file, as `fleetc streams` reads them on its own machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fleetc.rollout.hosts.secrets import DeployError
from fleetc.rollout.hosts.stream_secrets import known_values
from fleetc.rollout.hosts.vault import vault_values
from fleetc.settings import Settings

pytestmark = pytest.mark.usefixtures("processes")
TEXT = 'fleet_vault:\n  stream_token: "tok-0123456789"\n  other: value-9876543210\n'


PASSWORD = "opens it\n"


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text as Ansible encrypts it."""
    place = tmp_path_factory.mktemp("vault")
    (place / "password").write_text(PASSWORD)
    file = place / "vault.yml"
    file.write_text(TEXT)
    words = [sys.executable, "-m", "ansible", "vault", "encrypt", str(file)]
    subprocess.run([*words, "--vault-password-file", str(place / "password")], check=True, capture_output=True)
    return file.read_text()


@pytest.fixture
def vault(encrypted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An encrypted file, and its password beside it; the working directory is a checkout with a trap."""
    (tmp_path / "password").write_text(PASSWORD)
    file = tmp_path / "vault.yml"
    file.write_text(encrypted)
    assert encrypted.startswith("$ANSIBLE_VAULT;")
    trap = tmp_path / "checkout"
    trap.mkdir()
    (trap / "ansible.cfg").write_text(f"[defaults]\nvault_password_file = {tmp_path}/trap\n")
    monkeypatch.chdir(trap)
    return file


def test_values_of_an_encrypted_file(vault: Path) -> None:
    found = vault_values(vault, vault.with_name("password"))
    assert found == {"stream_token": "tok-0123456789", "other": "value-9876543210"}
    settings = Settings(vault_file=vault, vault_password_file=vault.with_name("password"))
    wanted = {("vault", "stream_token"), ("vault", "absent"), ("env", "NOT_SET")}
    assert known_values(wanted, settings) == {("vault", "stream_token"): "tok-0123456789"}


def test_password_from_a_program(vault: Path) -> None:
    program = vault.with_name("program")
    program.write_text("#!/bin/sh\necho opens it\n")
    program.chmod(0o755)
    assert vault_values(vault, program)["other"] == "value-9876543210"


def test_plain_file(vault: Path) -> None:
    vault.write_text(TEXT)
    assert vault_values(vault, None)["stream_token"] == "tok-0123456789"


@pytest.mark.parametrize(
    ("content", "password", "said"),
    [
        (None, b"wrong\n", "cannot be decrypted or read"),
        (None, None, "cannot be decrypted or read"),
        ("fleet_vault: [1]\n", b"x", "does not define fleet_vault"),
        ("other: 1\n", b"x", "does not define fleet_vault"),
        ("- {\n", b"x", "cannot be decrypted or read"),
        ("", b"x", "does not define fleet_vault"),
        (
            "fleet_vault: {one: text, two: [0123456789], three: null}\n",
            b"x",
            "value other than text in fleet_vault: three, two",
        ),
    ],
)
def test_file_that_cannot_be_used(vault: Path, content: str | None, password: bytes | None, said: str) -> None:
    if content is not None:
        vault.write_text(content)
    path = vault.with_name("other-password")
    if password is not None:
        path.write_bytes(password)
    with pytest.raises(DeployError, match=said) as found:
        vault_values(vault, path if password is not None else None)
    assert "0123456789" not in str(found.value)


def test_no_file(vault: Path) -> None:
    with pytest.raises(DeployError, match="set FLEETC_VAULT_FILE"):
        vault_values(None, None)
    with pytest.raises(DeployError, match="there is no vault file"):
        vault_values(vault.with_name("none.yml"), None)
