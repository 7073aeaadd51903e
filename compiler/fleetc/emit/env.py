"""Emits `node.env`: the environment of a process without its secrets, in the syntax of the program that reads it.

In: a host. Out: `hosts/<host>/<node>/node.env`, read by systemd (`EnvironmentFile=`) or by Compose (`env_file`). Secret
variables are comments with the source of the value; for a file on the host, its path. Values that a process gets only
at its start are comments too: a change of the file restarts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import HostBlueprint, SecretVariable, Service
from fleetc.emit.draft import Draft, Lines, service_file
from fleetc.emit.templates import Templates
from fleetc.emit.traced import Line
from fleetc.text.encoders import env_compose, env_posix, visible

FILE = "node.env"


def emit(host: HostBlueprint, _templates: Templates | None = None) -> Iterator[Draft]:
    """One file per service of the host, even without variables: the unit and the Compose project refer to it."""
    for service in host.services:
        origins = [*(s.origin for s in service.secrets), *(v.origin for v in service.variables)]
        origins += [kept.origin for kept in service.kept]
        yield service_file(host, service, FILE, Lines(partial(_lines, host, service)), origins)


def _lines(host: HostBlueprint, service: Service) -> Iterator[Line]:
    encode = env_compose if host.runtime == "docker" else env_posix
    for kept in service.kept:
        yield f"# {visible(kept.what)}: {visible(kept.value)}, as it is when the process starts", (kept.origin,)
    for secret in sorted(service.secrets):
        yield _comment(secret), (secret.origin,)
        if secret.as_file:
            yield encode(secret.name, service.credential_file(secret)), (secret.origin,)
    for variable in sorted(service.variables):
        yield encode(variable.name, variable.value), (variable.origin,)


def _comment(secret: SecretVariable) -> str:
    # It never ends with the reference: a backslash there would make systemd 252 skip the next line.
    return f"# {secret.name}: from {secret.kind} {visible(secret.reference)}, filled in by a rollout"
