"""Secrets of the stream API: its token, and what requests about streams need.

In: references, and paths of a vault. Out: values, which go to the API alone. A value that cannot be hidden in what is
printed, because it is too short, is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from fleetc.blueprint.blueprint import RequestSecret, StreamApiBlueprint
from fleetc.rollout.hosts.secret_commands import printed_secrets
from fleetc.rollout.hosts.secrets import DeployError
from fleetc.rollout.hosts.vault import vault_values
from fleetc.settings import Settings

_SHORTEST = 8
"""Characters of a secret that is sent: a service may echo any part of its texts, and shorter ones are hidden badly."""
_IN_A_HEADER = re.compile("[!-~]+")
Reference = tuple[str, str]


def token_of(api: StreamApiBlueprint, values: Mapping[Reference, str]) -> str:
    """The token. Raises DeployError if there is none, or if a header cannot hold it."""
    token = values.get((api.kind, api.reference))
    if not token:
        raise DeployError(f"the token of the stream API, {api.kind} {api.reference}, is not set", 1)
    if not _IN_A_HEADER.fullmatch(token):
        message = f"the token of the stream API, {api.kind} {api.reference}, has a space or another character that no"
        raise DeployError(f"{message} header can have: look for a line end in it", 1)
    if len(token) < _SHORTEST:
        message = f"the token of the stream API, {api.kind} {api.reference}, has fewer than {_SHORTEST} characters"
        raise DeployError(f"{message}, so it could not be hidden in what is printed", 1)
    return token


def known_values(references: Iterable[Reference], settings: Settings) -> dict[Reference, str]:
    """The values that this machine has.

    Raises DeployError where the vault is needed and cannot be read, and where a command fails.
    """
    wanted = set(references)
    known = {("env", name): os.environ.get(name, "") for kind, name in wanted if kind == "env"}
    if any(kind == "vault" for kind, _ in wanted):
        held = vault_values(settings.vault_file, settings.vault_password_file)
        known |= {("vault", name): held.get(name, "") for kind, name in wanted if kind == "vault"}
    commands = {name: "streams" for kind, name in wanted if kind == "command" and name in settings.secret_commands}
    printed = printed_secrets(commands, settings)
    known |= {("command", name): value for name, value in printed.items()}
    return {reference: value for reference, value in known.items() if value}


def need_values(needed: Iterable[Reference], values: Mapping[Reference, str], forms: Iterable[RequestSecret]) -> None:
    """Refuse to begin without all secrets that requests need, in the form that the API wants. Raises DeployError."""
    wanted = set(needed)
    missing = sorted(f"{kind} {name}" for kind, name in wanted - values.keys())
    if missing:
        raise DeployError(f"requests need these secrets, which are not set: {', '.join(missing)}", 1)
    short = sorted(f"{kind} {name}" for kind, name in wanted if len(values[kind, name]) < _SHORTEST)
    if short:
        raise DeployError(
            f"these secrets have fewer than {_SHORTEST} characters: {', '.join(short)}; take longer ones", 1
        )
    for secret in forms:
        value = values.get((secret.kind, secret.reference))
        if (secret.kind, secret.reference) in wanted and secret.form and value and not re.search(secret.form, value):
            message = f"the secret {secret.kind} {secret.reference} does not have the form that the API wants at"
            raise DeployError(f"{message} {'.'.join(map(str, secret.place))}: {secret.form}", 1)
