"""From the blueprint to artifacts, one format per file; formats do not import each other.

In: a `Blueprint`, template texts, playbook files, and the sources for the manifest. Out: a `Tree`, or the lines of one
of its files with their origins: two readings of the same drafts. Called by `pipeline.py` and `review/`. The formats of
a host come first, then those that use their digests, and the manifest last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint
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
    out,
    rollout_page,
    source_copy,
    streams,
    systemd,
)
from fleetc.emit.draft import Draft
from fleetc.emit.templates import Templates
from fleetc.emit.tree import Artifact, Tree, is_released, tree_of
from fleetc.places.diagnostic import Path
from fleetc.text.encoders import EncodingError
from fleetc.toml.document import Source

HOST_FORMATS: tuple[Callable[[HostBlueprint, Templates], Iterator[Draft]], ...] = (
    flags.emit,
    data_files.emit,
    env.emit,
    compose.emit,
    systemd.emit,
    avatar.emit,
    firewall.emit,
    out.emit,
)
"""What is emitted for each host, in `hosts/<host>/<service>/` and `hosts/<host>/avatar/`."""


class UnfitError(ValueError):
    """Text that a target format cannot hold, such as an argument of more than 128 KiB.

    `path` is the place in the spec that decides it if known, else that of the host.
    """

    def __init__(self, host: str, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.host = host
        self.path = path


class Drafts:
    """The files of a blueprint's tree. Each is rendered when it is first read.

    `like` are those of a similar fleet: files of a host with the same blueprint object are reused.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        templates: Mapping[str, str],
        playbooks: Mapping[str, bytes],
        sources: Sequence[Source],
        like: Drafts | None = None,
    ) -> None:
        self._blueprint = blueprint
        self._texts = templates
        self._templates = Templates(templates)
        self._playbooks = playbooks
        self._sources = sources
        self._shared = ansible.shared_by_hosts(blueprint)
        self._of_hosts: dict[str, list[Draft]] = {}
        self._variables: dict[str, Draft] = {}
        if like is not None and like._texts == templates:
            before = {host.name: host for host in like._blueprint.hosts}
            same = [host for host in blueprint.hosts if host is before.get(host.name)]
            self._of_hosts = {host.name: like.of_host(host) for host in same}
            if like._shared == self._shared:
                self._variables = {host.name: like._variables_of(host) for host in same}

    def of_host(self, host: HostBlueprint) -> list[Draft]:
        """The files of a host's release, in directories of `hosts/<host>/`."""
        if host.name not in self._of_hosts:
            made = (emit_format(host, self._templates) for emit_format in HOST_FORMATS)
            self._of_hosts[host.name] = [draft for drafts in made for draft in drafts]
        return self._of_hosts[host.name]

    def of_fleet(self) -> list[Draft]:
        """All other files, the manifest last."""
        drafts = [
            *ansible.emit(self._blueprint, self._playbooks),
            *map(self._variables_of, self._blueprint.hosts),
            *streams.emit(self._blueprint),
            *monitoring.emit(self._blueprint, self._templates),
            *docs.emit(self._blueprint, self._templates),
            *rollout_page.emit(self._blueprint, self._templates),
            *source_copy.emit(self._sources),
        ]
        return [*drafts, manifest.emit(self._blueprint, self._sources, lambda: [*self._of_all_hosts(), *drafts])]

    def _variables_of(self, host: HostBlueprint) -> Draft:
        if host.name not in self._variables:
            self._variables[host.name] = ansible.variables(self._shared, host, self.of_host(host))
        return self._variables[host.name]

    def all(self) -> list[Draft]:
        """Every file."""
        return [*self._of_all_hosts(), *self.of_fleet()]

    def _of_all_hosts(self) -> Iterator[Draft]:
        for host in self._blueprint.hosts:
            yield from self.of_host(host)

    def find(self, path: str) -> Draft | None:
        """The file at a path of the tree."""
        hosts = [host for host in self._blueprint.hosts if path.startswith(f"hosts/{host.name}/")]
        drafts = self.of_host(hosts[0]) if hosts and is_released(path) else self.of_fleet()
        return next((draft for draft in drafts if draft.path == path), None)

    def tree(self) -> Tree:
        """All artifacts, and the manifest that lists them. Raises UnfitError."""
        artifacts = [artifact for host in self._blueprint.hosts for artifact in _fitting(host, self.of_host(host))]
        return tree_of([*artifacts, *(draft.artifact() for draft in self.of_fleet())])


def emit(
    blueprint: Blueprint, templates: Mapping[str, str], playbooks: Mapping[str, bytes], sources: Sequence[Source]
) -> Tree:
    """All artifacts of a blueprint and the manifest that lists them. Raises UnfitError."""
    return Drafts(blueprint, templates, playbooks, sources).tree()


def _fitting(host: HostBlueprint, drafts: Sequence[Draft]) -> Iterator[Artifact]:
    try:
        for draft in drafts:
            yield draft.artifact()
    except EncodingError as problem:
        raise UnfitError(host.name, _place(host, problem.subject), str(problem)) from None


def _place(host: HostBlueprint, name: str) -> Path:
    """Where the spec sets the avatar stack variable with this name; the host if there is no such variable."""
    variables = []
    if host.avatar is not None:
        of_slots = (variable for slot in host.avatar.slots for variable in slot.variables)
        variables = [*host.avatar.host_variables, *host.avatar.turn_variables, *of_slots]
    return next((v.origin.paths[0] for v in variables if v.name == name and v.origin.paths), ("hosts", host.name))
