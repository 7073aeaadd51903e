"""Emits `compose.yaml`: how a container of the node runs on a docker host.

In: a host. Out: `hosts/<host>/<node>/compose.yaml`, one project with one service per node, on docker hosts. Needs
Compose 2.24 or newer on the host, for the long form of `env_file`.

Containers use the host's network and paths: listeners mean the same as under systemd, and no published port bypasses a
firewall. Docker restarts a container with new mounts but old arguments, so the host removes it before its link moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fleetc.blueprint.blueprint import HostBlueprint, Service
from fleetc.emit.artifacts import image_origin
from fleetc.emit.draft import Draft, service_file
from fleetc.emit.templates import Rendered, Templates, View
from fleetc.emit.traced import Mark
from fleetc.places.origin import derived, given

FILE = "compose.yaml"
_TEMPLATE = "compose/compose.yaml.j2"


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Draft]:
    """One project per service of a docker host."""
    if host.runtime != "docker":
        return
    for service in host.services:
        body = Rendered(templates, _TEMPLATE, partial(_view, service))
        origins = [*(a.origin for a in service.arguments), *(m.origin for m in service.mounts)]
        yield service_file(host, service, FILE, body, origins, by_runtime=True)


def _view(service: Service, mark: Mark) -> View:
    table = given(service.table, service.name)
    gpus = derived("the GPUs that the node uses", (service.table, service.name, "gpus"))
    # A container numbers its GPUs from 0, but -nvidia has the ids of the host: a node gets all GPUs. A runner uses the
    # first one that it finds.
    chooses = service.node_release != "" and bool(service.gpus)
    listed = service.gpus if isinstance(service.gpus, tuple) and not chooses else ()
    return {
        "name": mark(service.name, table),
        "unit": mark(service.unit, table),
        "image": mark(service.image, image_origin(service)),
        "arguments": [mark(argument.text, argument.origin) for argument in service.arguments],
        "is_node": mark(service.node_release != "", table),
        "host_ipc": mark(service.host_ipc, given(service.table, service.name, "host_ipc")),
        "hardened": mark(service.hardened, given(service.table, service.name, "hardened")),
        "env_file": mark(f"{service.directory}/node.env", table),
        "secret_file": mark(service.secret_file if service.secrets else "", *(s.origin for s in service.secrets)),
        # Only a missing data directory may be created; a missing keystore or password must be noticed.
        "mounts": [mark((m.path, m.read_only, m.path == service.data_dir), m.origin) for m in service.mounts],
        "all_gpus": mark(chooses or service.gpus == "all", gpus),
        "gpus": [mark(str(gpu), gpus) for gpu in listed],
    }
