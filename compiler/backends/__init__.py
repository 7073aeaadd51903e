"""Backends: from the plan to the artifacts, one format per file; no backend imports another.

In: a `Plan`, template texts, playbook files, and the sources for the manifest. Out: a `Tree`. Called by `pipeline.py`.
The backends of a host come first, then the digests of what they made, which name releases, then what stands on those
digests, and last the manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from compiler.backends import ansible, compose, data_files, docs, env, flags, manifest, release, systemd
from compiler.diagnostics import Path
from compiler.encoding import EncodingError
from compiler.plan import HostPlan, Plan
from compiler.source import Source
from compiler.templating import Templates
from compiler.tree import Artifact, Tree, tree_of

HOST_BACKENDS: tuple[Callable[[HostPlan, Templates], Iterator[Artifact]], ...] = (
    flags.emit,
    data_files.emit,
    env.emit,
    compose.emit,
    systemd.emit,
)
"""What is emitted for each host, below `hosts/<host>/<service>/`."""


class UnfitError(ValueError):
    """Text that a target format cannot hold, such as an argument of more than 128 KiB; `path` is the host's."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path


def emit(plan: Plan, templates: Mapping[str, str], playbooks: Mapping[str, bytes], sources: Sequence[Source]) -> Tree:
    """All artifacts of a plan and the manifest that lists them. Raises UnfitError."""
    loaded = Templates(templates)
    artifacts = [artifact for host in plan.hosts for artifact in _of_host(host, loaded)]
    releases = release.releases((host.name for host in plan.hosts), artifacts)
    artifacts += ansible.emit(plan, releases.hosts, releases.services, loaded, playbooks)
    artifacts += docs.emit(plan, loaded)
    artifacts.append(manifest.emit(plan, sources, releases.hosts, releases.files, artifacts))
    return tree_of(artifacts)


def _of_host(host: HostPlan, templates: Templates) -> Iterator[Artifact]:
    try:
        for backend in HOST_BACKENDS:
            yield from backend(host, templates)
    except EncodingError as problem:
        raise UnfitError(("hosts", host.name), str(problem)) from None
