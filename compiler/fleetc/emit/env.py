"""Emits `node.env`: the environment of a process without its secrets, in the form of the program that reads it.

In: a host. Out: `hosts/<host>/<node>/node.env`, read by systemd (`EnvironmentFile=`) or by Compose (`env_file`).
Secret variables are comments that say where a rollout finds the value.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import HostBlueprint, SecretVariable, Service
from fleetc.emit.artifacts import service_file
from fleetc.emit.templates import Templates
from fleetc.emit.tracing import TracedLine, traced
from fleetc.emit.tree import Artifact
from fleetc.text.encoders import env_compose, env_posix, visible

FILE = "node.env"


def emit(host: HostBlueprint, _templates: Templates | None = None) -> Iterator[Artifact]:
    """One file for each service of the host, also where it has no variables: the unit and the project name it."""
    encode = env_compose if host.runtime == "docker" else env_posix
    for service in host.services:
        lines = [_comment(secret) + "\n" for secret in sorted(service.secrets)]
        lines += [encode(variable.name, variable.value) + "\n" for variable in sorted(service.variables)]
        origins = [*(s.origin for s in service.secrets), *(v.origin for v in service.variables)]
        yield service_file(host, service, FILE, "".join(lines), origins)


def _comment(secret: SecretVariable) -> str:
    # It never ends in the reference: a backslash there would make systemd 252 skip the next line.
    return f"# {secret.name}: from {secret.kind} {visible(secret.reference)}, filled in by a rollout"


def trace(host: HostBlueprint, service: Service) -> list[TracedLine]:
    """The lines of the file, each with the origin of its variable."""
    encode = env_compose if host.runtime == "docker" else env_posix
    lines = [traced(_comment(secret), [secret.origin]) for secret in sorted(service.secrets)]
    for variable in sorted(service.variables):
        lines += [traced(line, [variable.origin]) for line in encode(variable.name, variable.value).split("\n")]
    return lines
