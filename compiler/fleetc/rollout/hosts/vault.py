"""Reads secrets of an Ansible Vault file on the machine that runs fleetc.

In: the vault file, and its password or where that comes from. Out: values by key of `fleet_vault`, which are handed on
and never looked at. Ansible decrypts; its configuration in the working directory is not read.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fleetc.rollout.hosts.secrets import DeployError, absolute, vault_password


def vault_values(vault_file: Path | None, password_file: Path | None) -> dict[str, str]:
    """The texts below `fleet_vault`. Raises DeployError where they cannot be read."""
    file, password_path = absolute(vault_file), absolute(password_file)
    if file is None:
        message = "the spec refers to secrets of a vault; set FLEETC_VAULT_FILE to the Ansible Vault file that has them"
        raise DeployError(message, 2)
    password_path, password = vault_password(password_path)
    try:
        if password_path is not None:
            password = password_path.read_bytes().strip(b"\r\n")
        table = _loaded(file, password)
    except OSError as problem:
        raise DeployError(f"the vault cannot be read: {problem.strerror}: {problem.filename}", 1) from None
    if not isinstance(table, dict):
        raise DeployError(f"{file} does not define fleet_vault, a mapping of keys to secrets", 1)
    odd = sorted(str(key) for key, value in table.items() if not isinstance(value, str))
    if odd:
        raise DeployError(f"{file} has a value other than text in fleet_vault: {', '.join(odd)}", 1)
    return {str(key): value for key, value in table.items()}


def _loaded(file: Path, password: bytes | None) -> object:
    """What a vault file, encrypted whole or value by value, has as `fleet_vault`; its mappings are plain ones."""
    with tempfile.TemporaryDirectory(prefix="fleetc-") as place, _ansible_config(Path(place, "ansible.cfg")):
        from ansible.errors import AnsibleError
        from ansible.parsing.dataloader import DataLoader
        from ansible.parsing.vault import VaultSecret
    loader = DataLoader()
    if password is not None:
        loader.set_vault_secrets([("default", VaultSecret(password))])
    try:
        content = loader.load_from_file(str(file))
        table = content.get("fleet_vault") if isinstance(content, dict) else None
        return {key: _plain(value) for key, value in table.items()} if isinstance(table, dict) else table
    except (AnsibleError, ValueError) as problem:
        if not file.exists():
            raise DeployError(f"there is no vault file {file}", 1) from None
        kind = type(problem).__name__
        message = f"{file} cannot be decrypted or read ({kind}): is FLEETC_VAULT_PASSWORD_FILE right?"
        raise DeployError(message, 1) from None


def _plain(value: object) -> object:
    """A value that is decrypted here, so that what is wrong with it shows up; lists and the like as they are."""
    return value if value is None or isinstance(value, list | dict) else str(value)


@contextmanager
def _ansible_config(empty: Path) -> Iterator[None]:
    """While Ansible is imported, which would read an ansible.cfg of the working directory, let it read an empty one."""
    empty.touch()
    before = os.environ.get("ANSIBLE_CONFIG")
    os.environ["ANSIBLE_CONFIG"] = str(empty)
    try:
        yield
    finally:
        del os.environ["ANSIBLE_CONFIG"]
        if before is not None:
            os.environ["ANSIBLE_CONFIG"] = before
