"""Emits `compose.yaml`: how a container of the node runs on a docker host.

In: a host. Out: `hosts/<host>/<node>/compose.yaml`, one project with one service for each node, on hosts whose runtime
is docker. Needs Compose 2.24 or newer on the host, which knows the long form of `env_file`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.blueprint.blueprint import HostBlueprint, Service
from fleetc.emit.artifacts import image_origin, service_file
from fleetc.emit.templates import Templates
from fleetc.emit.tracing import Marks, Together, TracedLine, trace_template
from fleetc.emit.tree import Artifact
from fleetc.places.origin import derived, given

FILE = "compose.yaml"
_TEMPLATE = "compose/compose.yaml.j2"


def emit(host: HostBlueprint, templates: Templates) -> Iterator[Artifact]:
    """One project for each service of a docker host."""
    if host.runtime != "docker":
        return
    for service in host.services:
        text = templates.render(_TEMPLATE, _view(service))
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


def trace(service: Service, templates: Templates) -> list[TracedLine]:
    """The lines of the file, each with the origins of what stands on it."""
    return trace_template(templates, _TEMPLATE, _view(service), _marks(service))


def _marks(service: Service) -> dict[str, Marks]:
    table = given(service.table, service.name)
    gpus = derived("the GPUs that the node uses", (service.table, service.name, "gpus"))
    secrets = Together(secret.origin for secret in service.secrets)
    return {
        "name": table,
        "unit": table,
        "image": image_origin(service),
        "arguments": [argument.origin for argument in service.arguments],
        "env_file": table,
        "secret_file": secrets,
        "mounts": [mount.origin for mount in service.mounts],
        "all_gpus": gpus,
        "gpus": [gpus] * (len(service.gpus) if isinstance(service.gpus, tuple) else 0),
    }
