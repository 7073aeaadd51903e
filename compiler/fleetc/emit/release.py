"""Names releases: a digest for each service and each host, computed from their files.

In: the drafts below `hosts/<host>/`. Out: `Release`. A rollout names release directories by the host's digest. It
restarts a service when its digest changed, which is exactly when one of its files changed. If the digest `at_rest` is
the same, only settings changed that the service takes while it runs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from fleetc.blueprint.blueprint import LAUNCH_FLAGS
from fleetc.blueprint.rollout import LiveValue
from fleetc.emit.draft import Draft
from fleetc.emit.tree import Tree, is_released


class Release(NamedTuple):
    """Hex digests: of a host, of each of its directories, and of each file by its path below the host."""

    host: str
    directories: dict[str, str]
    files: dict[str, str]


def release_of(drafts: Iterable[Draft]) -> Release:
    """The release that a host gets with these files; without files it has the digest of empty input.

    Paths are `hosts/<host>/<service>/<name>`. The avatar stack has a directory but is no service: a rollout compares
    its files singly, so a change of one slot only affects that slot.
    """
    return _release((draft.path, draft.artifact().mode, draft.digest()) for draft in drafts)


def releases_in(tree: Tree) -> dict[str, Release]:
    """The releases that the files of a tree make, by host."""
    files: dict[str, list[tuple[str, int, str]]] = {}
    for artifact in filter(lambda artifact: is_released(artifact.path), tree.artifacts):
        files.setdefault(artifact.path.split("/", 2)[1], []).append((artifact.path, artifact.mode, artifact.sha256))
    return {host: _release(of_host) for host, of_host in files.items()}


def _release(listed: Iterable[tuple[str, int, str]]) -> Release:
    """The release of files: path, mode and hex digest of each."""
    files: dict[str, str] = {}
    lines: dict[str, list[str]] = {}
    for path, mode, digest in listed:
        _, _, service, name = path.split("/", 3)
        files[f"{service}/{name}"] = digest
        lines.setdefault(service, []).append(f"{name} {mode:04o} {digest}\n")
    digests = {service: _digest(of_service) for service, of_service in lines.items()}
    return Release(host_digest(digests), digests, files)


def host_digest(directories: Mapping[str, str]) -> str:
    """The digest of a host from those of its directories; the playbooks compute the same from the host's variables."""
    return _digest([f"{name} {digest}\n" for name, digest in directories.items()])


def at_rest(drafts: Iterable[Draft], live: Iterable[LiveValue]) -> str:
    """The digest of a service's files without the values that it takes while it runs.

    The files for reviewers have no arguments of their own, and arguments stand in lines of their own.
    """
    values = tuple(live)
    left_out = {LAUNCH_FLAGS, *(value.file for value in values)}
    arguments = _arguments(tuple(sorted({flag for value in values for flag in value.flags})))
    lines = []
    for draft in drafts:
        name = draft.path.rpartition("/")[2]
        if name in left_out:
            continue
        digest = draft.digest()
        if not name.endswith((".json", ".env")):
            content = arguments.sub(b"", draft.artifact().content.replace(b" \\\n", b"\n"))
            digest = hashlib.sha256(content).hexdigest()
        lines.append(f"{name} {draft.artifact().mode:04o} {digest}\n")
    return _digest(lines)


@cache
def _arguments(flags: tuple[str, ...]) -> re.Pattern[bytes]:
    """Finds the lines of these flags in a unit, without its marks of continued lines, and in a Compose file."""
    names = "|".join(map(re.escape, flags))
    return re.compile(rf'\n +(?:- )?"-(?:{names})=[^\n]*'.encode())


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


NOTHING = _release(())
"""The release of a host without files."""
