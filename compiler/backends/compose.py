"""Emits `compose.yaml`: how a container of the node runs on a docker host.

In: a host. Out: `hosts/<host>/<node>/compose.yaml`, one project with one service for each node, on hosts whose runtime
is docker. Needs Compose 2.24 or newer on the host, which knows the long form of `env_file`.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.artifacts import service_file
from compiler.plan import HostPlan, Service
from compiler.templating import Templates
from compiler.tree import Artifact

FILE = "compose.yaml"


def emit(host: HostPlan, templates: Templates) -> Iterator[Artifact]:
    """One project for each service of a docker host."""
    if host.runtime != "docker":
        return
    for service in host.services:
        text = templates.render("compose/compose.yaml.j2", _view(service))
        origins = [*(a.origin for a in service.arguments), *(m.origin for m in service.mounts)]
        yield service_file(host, service, FILE, text, origins)


def _view(service: Service) -> dict[str, object]:
    gpus = service.gpus
    return {
        "name": service.name,
        "unit": service.unit,
        "image": service.image,
        "arguments": [argument.text for argument in service.arguments],
        "env_file": f"{service.directory}/node.env",
        "secret_file": service.secret_file if service.secrets else "",
        # Only the data directory may be made when it is missing; an absent keystore or password must be noticed.
        "mounts": [(mount.path, mount.read_only, mount.path == service.data_dir) for mount in service.mounts],
        "all_gpus": gpus == "all",
        "gpus": [str(gpu) for gpu in gpus] if isinstance(gpus, tuple) else [],
    }
