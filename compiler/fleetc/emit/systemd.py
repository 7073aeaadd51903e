"""Emits `livepeer-<node>.service`: how the node runs on a systemd host.

In: a host. Out: `hosts/<host>/<node>/livepeer-<node>.service` on systemd hosts. Needs systemd 240 or newer on the host
(`Type=exec`), and 247 where a secret is handed over in a file (`LoadCredential=`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import DOCKER_SOCKET, HostBlueprint, Mount, Service
from fleetc.emit.artifacts import release_origin
from fleetc.emit.draft import Draft, service_file
from fleetc.emit.templates import Encoded, Rendered, Templates, View, Word
from fleetc.emit.traced import Mark
from fleetc.places.origin import derived, given
from fleetc.text.encoders import EncodingError, systemd_environment, systemd_exec

_TEMPLATE = "systemd/service.j2"

MAX_COMMAND_BYTES = 1024 * 1024 - 1
"""systemd refuses a unit with a line of 1 MiB, continuation lines included."""

_PLAIN_PATH = re.compile(r"/[A-Za-z0-9_./@+-]*")


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Draft]:
    """One unit per service of a systemd host."""
    if host.runtime != "systemd":
        return
    for service in host.services:
        body = Rendered(templates, _TEMPLATE, partial(_view, host, service))
        origins = [argument.origin for argument in service.arguments]
        yield service_file(host, service, f"{service.unit}.service", body, origins, by_runtime=True)


def _view(host: HostBlueprint, service: Service, mark: Mark) -> View:
    arguments = [Encoded(systemd_exec(argument.text)) for argument in service.arguments]
    program = service.program
    assert program is not None  # noqa: S101  # every service of a systemd host has one
    if len(" \\\n  ".join([program.path, *arguments]).encode()) > MAX_COMMAND_BYTES:
        raise EncodingError("too_long")
    table = given(service.table, service.name)
    data_dir = [mount.origin for mount in service.mounts if mount.path == service.data_dir]
    models = derived("the node starts runner containers for its models", (service.table, service.name, "models"))
    return {
        "role": mark(Word(service.role), table),
        "name": mark(Word(service.name), table),
        "release": mark(Word(service.node_release) if service.node_release else "", release_origin(service)),
        "user": mark(Word(host.node_user), given("hosts", host.name, "node_user")),
        "program": mark(program.path, program.origin),
        "arguments": [mark(text, a.origin) for text, a in zip(arguments, service.arguments, strict=True)],
        "data_dir": mark(_bare_path(service.data_dir), *data_dir),
        # The rollout only creates the data directory; without a "-", systemd starts no unit with a missing path.
        "writable": [mark(_bare_path(mount.path), mount.origin) for mount in _writable(service)],
        "home": mark(Encoded(systemd_environment("HOME", service.data_dir)), *data_dir),
        "env_file": mark(Word(f"{service.directory}/node.env"), table),
        "secret_file": mark(
            Word(service.secret_file) if service.secret_variables else "", *(one.origin for one in service.secrets)
        ),
        "credentials": [
            mark((Word(secret.name), Word(service.credential_source(secret))), secret.origin)
            for secret in service.credentials
        ],
        "containers": mark(service.manages_containers, models),
        "hardened": mark(service.hardened, given(service.table, service.name, "hardened")),
    }


def _writable(service: Service) -> Iterator[Mount]:
    """The paths that the node writes to besides its data directory."""
    for mount in service.mounts:
        if not mount.read_only and mount.path not in (service.data_dir, DOCKER_SOCKET):
            yield mount


def _bare_path(path: str) -> Encoded:
    """A path for settings that do not support quotes (`WorkingDirectory=`)."""
    if not _PLAIN_PATH.fullmatch(path):
        raise EncodingError("word")
    return Encoded(path)
