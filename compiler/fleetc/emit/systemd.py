"""Emits `livepeer-<node>.service`: how the node runs on a systemd host.

In: a host. Out: `hosts/<host>/<node>/livepeer-<node>.service` on hosts whose runtime is systemd. Needs systemd 240 or
newer on the host (`Type=exec`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleetc.blueprint.blueprint import DOCKER_SOCKET, HostBlueprint, Service
from fleetc.emit.artifacts import release_origin, service_file
from fleetc.emit.templates import Encoded, Templates, Word
from fleetc.emit.tracing import Marks, Together, TracedLine, trace_template
from fleetc.emit.tree import Artifact
from fleetc.places.origin import derived, given
from fleetc.text.encoders import EncodingError, systemd_environment, systemd_exec
from fleetc.upstream import format_release

_TEMPLATE = "systemd/service.j2"

MAX_COMMAND_BYTES = 1024 * 1024 - 1
"""systemd gives up on a unit with a line of 1 MiB, continuation lines included."""

_PLAIN_PATH = re.compile(r"/[A-Za-z0-9_./@+-]*")


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Artifact]:
    """One unit for each service of a systemd host."""
    if host.runtime != "systemd":
        return
    for service in host.services:
        text = templates.render(_TEMPLATE, _view(host, service))
        yield service_file(host, service, f"{service.unit}.service", text, [a.origin for a in service.arguments])


def _view(host: HostBlueprint, service: Service) -> dict[str, object]:
    arguments = [Encoded(systemd_exec(argument.text)) for argument in service.arguments]
    if len(" \\\n  ".join([host.binary, *arguments]).encode()) > MAX_COMMAND_BYTES:
        raise EncodingError("too_long")
    return {
        "role": Word(service.role),
        "name": Word(service.name),
        "release": Word(format_release(service.release)),
        "user": Word(host.node_user),
        "binary": host.binary,
        "arguments": arguments,
        "data_dir": _bare_path(service.data_dir),
        # The rollout makes only the data directory, and systemd starts no unit whose path is missing without a "-".
        "writable": [_bare_path(path) for path in _writable(service)],
        "home": Encoded(systemd_environment("HOME", service.data_dir)),
        "env_file": Word(f"{service.directory}/node.env"),
        "secret_file": Word(service.secret_file) if service.secrets else "",
        "containers": service.manages_containers,
        "gpus": service.gpus is not None,
    }


def _writable(service: Service) -> Iterator[str]:
    """What the node writes to besides its data directory."""
    for mount in service.mounts:
        if not mount.read_only and mount.path not in (service.data_dir, DOCKER_SOCKET):
            yield mount.path


def trace(host: HostBlueprint, service: Service, templates: Templates) -> list[TracedLine]:
    """The lines of the unit, each with the origins of what stands on it."""
    return trace_template(templates, _TEMPLATE, _view(host, service), _marks(host, service))


def _marks(host: HostBlueprint, service: Service) -> dict[str, Marks]:
    table = given(service.table, service.name)
    data_dir = next(mount.origin for mount in service.mounts if mount.path == service.data_dir)
    writable = set(_writable(service))
    return {
        "role": table,
        "name": table,
        "release": release_origin(service),
        "user": given("hosts", host.name, "node_user"),
        "binary": given("hosts", host.name, "binary"),
        "arguments": [argument.origin for argument in service.arguments],
        "data_dir": data_dir,
        "writable": [mount.origin for mount in service.mounts if mount.path in writable],
        "home": data_dir,
        "env_file": table,
        "secret_file": Together(secret.origin for secret in service.secrets),
        "containers": derived("the node starts runner containers for its models", (*table.paths[0], "models")),
        "gpus": derived("the GPUs that the node uses", (*table.paths[0], "gpus")),
    }


def _bare_path(path: str) -> Encoded:
    """A path for settings that know no quotes (`WorkingDirectory=`)."""
    if not _PLAIN_PATH.fullmatch(path):
        raise EncodingError("word")
    return Encoded(path)
