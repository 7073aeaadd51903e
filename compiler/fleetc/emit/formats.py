"""From the blueprint to artifacts, one format per file; no format imports another.

In: a `Blueprint`, template texts, playbook files, and the sources for the manifest. Out: a `Tree`. Called by
`pipeline.py`. The formats of a host come first, then the digests of what they made, which name releases, then what
stands on those digests, and last the manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, Blueprint, HostBlueprint, Service
from fleetc.emit import (
    ansible,
    avatar,
    compose,
    data_files,
    docs,
    env,
    firewall,
    flags,
    manifest,
    monitoring,
    release,
    source_copy,
    streams,
    systemd,
)
from fleetc.emit.templates import Templates
from fleetc.emit.tracing import TracedLine, file_lines, together
from fleetc.emit.tree import MANIFEST, Artifact, Tree, tree_of
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, derived
from fleetc.text.encoders import EncodingError
from fleetc.toml.document import Source

HOST_FORMATS: tuple[Callable[[HostBlueprint, Templates], Iterator[Artifact]], ...] = (
    flags.emit,
    data_files.emit,
    env.emit,
    compose.emit,
    systemd.emit,
    avatar.emit,
    firewall.emit,
)
"""What is emitted for each host, below `hosts/<host>/<service>/` and `hosts/<host>/avatar/`."""


class UnfitError(ValueError):
    """Text that a target format cannot hold, such as an argument of more than 128 KiB.

    `path` is the place of the spec that decides it, as far as that is known, else that of the host.
    """

    def __init__(self, host: str, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.host = host
        self.path = path


def emit(
    blueprint: Blueprint, templates: Mapping[str, str], playbooks: Mapping[str, bytes], sources: Sequence[Source]
) -> Tree:
    """All artifacts of a blueprint and the manifest that lists them. Raises UnfitError."""
    loaded = Templates(templates)
    artifacts = [artifact for host in blueprint.hosts for artifact in _of_host(host, loaded)]
    releases = release.releases((host.name for host in blueprint.hosts), artifacts)
    artifacts += ansible.emit(blueprint, releases.hosts, releases.services, releases.files, loaded, playbooks)
    artifacts += streams.emit(blueprint)
    artifacts += monitoring.emit(blueprint, loaded)
    artifacts += docs.emit(blueprint, loaded)
    artifacts += source_copy.emit(sources)
    artifacts.append(manifest.emit(blueprint, sources, releases.files, artifacts))
    return tree_of(artifacts)


def _of_host(host: HostBlueprint, templates: Templates) -> Iterator[Artifact]:
    try:
        for emit_format in HOST_FORMATS:
            yield from emit_format(host, templates)
    except EncodingError as problem:
        raise UnfitError(host.name, _place(host, problem.subject), str(problem)) from None


def _place(host: HostBlueprint, name: str) -> Path:
    """Where the spec decides the variable of an avatar stack that has this name; the host where there is none."""
    variables = []
    if host.avatar is not None:
        of_slots = (variable for slot in host.avatar.slots for variable in slot.variables)
        variables = [*host.avatar.host_variables, *host.avatar.turn_variables, *of_slots]
    return next((v.origin.paths[0] for v in variables if v.name == name and v.origin.paths), ("hosts", host.name))


def trace(
    blueprint: Blueprint,
    path: str,
    templates: Mapping[str, str],
    playbooks: Mapping[str, bytes],
    sources: Sequence[Source],
) -> list[TracedLine] | None:
    """The lines of one artifact with their origins; None when the tree has no such artifact.

    Only what the artifact needs is emitted. The texts are those of the artifact, line by line.
    """
    loaded = Templates(templates)
    for host in blueprint.hosts:
        if path.startswith(f"hosts/{host.name}/"):
            return _trace_file(host, path.split("/", 2)[2], loaded)
        if path == f"ansible/host_vars/{host.name}.json":
            return _trace_host(host, loaded)
    if path == "ansible/site.yml":
        return ansible.trace_site(blueprint, loaded)
    if path == "ansible/inventory.json":
        return ansible.trace_inventory(blueprint)
    if path == docs.FILE:
        return docs.trace(blueprint, loaded)
    if path.startswith(f"{monitoring.FOLDER}/"):
        return monitoring.trace(blueprint, path, loaded)
    if path.startswith("streams/"):
        return streams.trace(blueprint, path)
    for artifact, source in zip(source_copy.emit(sources), sources, strict=True):
        if path == artifact.path:
            return source_copy.trace(source)
    if path == MANIFEST:
        return manifest.trace(emit(blueprint, templates, playbooks, sources))
    static = playbooks.get(path.removeprefix("ansible/")) if path.startswith("ansible/") else None
    if static is None:
        return None
    return [
        TracedLine(text, (), (), f"playbooks/{path.removeprefix('ansible/')}", number)
        for number, text in enumerate(static.decode().splitlines(), 1)
    ]


def _trace_file(host: HostBlueprint, path: str, templates: Templates) -> list[TracedLine] | None:
    node, _, name = path.partition("/")
    if node == AVATAR_DIRECTORY and host.avatar is not None:
        there = derived("every host with avatars has this file", ("avatars", host.avatar.name, "host"))
        found = (
            firewall.trace(host.avatar, templates)
            if name == firewall.FILE
            else avatar.trace(host.avatar, name, templates)
        )
        return found and [line._replace(presence=together(line.presence, [there])) for line in found]
    service = next((service for service in host.services if service.name == node), None)
    lines = _trace_service(host, service, name, templates) if service is not None else None
    if service is None or lines is None:
        return None
    where = (service.table, service.name, "host")
    there = derived("every node has this file on its host", where)
    if name in (compose.FILE, f"{service.unit}.service"):
        there = derived("every node has this file on a host of this runtime", ("hosts", host.name, "runtime"), where)
    return [line._replace(presence=together(line.presence, [there])) for line in lines]


def _trace_service(host: HostBlueprint, service: Service, name: str, templates: Templates) -> list[TracedLine] | None:
    if name == flags.FILE:
        return flags.trace(service)
    if name == env.FILE:
        return env.trace(host, service)
    if name == compose.FILE and host.runtime == "docker":
        return compose.trace(service, templates)
    if name == f"{service.unit}.service" and host.runtime == "systemd":
        return systemd.trace(host, service, templates)
    return next((file_lines(file) for file in service.files if file.name == name), None)


def _trace_host(host: HostBlueprint, templates: Templates) -> list[TracedLine]:
    found = list(_of_host(host, templates))
    made = release.releases([host.name], found)
    inputs: dict[str, tuple[Origin, ...]] = {}
    for artifact in found:
        path = artifact.path.split("/", 2)[2]
        node = path.partition("/")[0]
        lines = _trace_file(host, path, templates) or ()
        inputs[node] = together(inputs.get(node, ()), *((*line.origins, *line.presence) for line in lines))
    return ansible.trace_host(host, made, inputs)
