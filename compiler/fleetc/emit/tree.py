"""Artifacts in memory, their digests and the manifest that lists them.

In: artifacts made by the formats. Out: a `Tree`, sorted by path; `manifest.json` lists the others. `disk/files.py`
writes and reads trees; diff, verify and drift compare two of them.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

MANIFEST = "manifest.json"
FLEET_PAGE = "FLEET.md"
HOSTS_FOLDER = "hosts/"
"""Where a tree has for each host a page for people, and a directory for each part of its release."""
SPEC_FOLDER = "spec/"
"""Where a tree has the texts that it was compiled from."""
PARTS_FOLDER = f"{SPEC_FOLDER}parts/"
"""Where a tree has the files that its spec includes, by their path from the spec."""
HOST_VARIABLES = "ansible/host_vars/"
_OF_ONE = ("ansible/", HOSTS_FOLDER, "monitoring/agents/", "streams/")
_OF_MANY = (HOST_VARIABLES, "ansible/inventory.json", "ansible/rollout.json")

FILE_MODE = 0o644

ROLLED_OUT = frozenset({"ansible", "hosts"})
"""The directories that a rollout uses as a whole: Ansible runs and reads one, and copies the other to hosts."""


class Shipped(NamedTuple):
    """What fleetc makes trees with: the texts of its templates and the contents of its playbooks, by relative path."""

    templates: Mapping[str, str]
    playbooks: Mapping[str, bytes]


class Artifact(NamedTuple):
    """One output file: POSIX path relative to the tree, bytes, mode, and the spec tables that it came from."""

    path: str
    content: bytes
    mode: int = FILE_MODE
    origins: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Hex digest of the content."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Tree:
    """A set of artifacts, sorted by path, no path twice."""

    artifacts: tuple[Artifact, ...]

    def as_mapping(self) -> Mapping[str, Artifact]:
        """The artifacts by path."""
        return self._by_path

    @cached_property
    def _by_path(self) -> Mapping[str, Artifact]:
        return {artifact.path: artifact for artifact in self.artifacts}


def tree_of(artifacts: Iterable[Artifact]) -> Tree:
    """Sort artifacts into a tree. Raises ValueError if two have the same path: that is a bug in a format."""
    ordered = tuple(sorted(artifacts, key=lambda a: a.path))
    for before, after in pairwise(ordered):
        if before.path == after.path:
            raise ValueError(f"two artifacts at {after.path}")
    return Tree(ordered)


def page_of(host: str) -> str:
    """The path of a host's page."""
    return f"{HOSTS_FOLDER}{host}/README.md"


def is_released(path: str) -> bool:
    """Whether a file belongs to the release of a host: all in its directories, but not its page beside them."""
    return path.startswith(HOSTS_FOLDER) and path.count("/") > 2


def is_page(path: str) -> bool:
    """Whether a file is the page of the fleet or of a host."""
    return path == FLEET_PAGE or (path.startswith(HOSTS_FOLDER) and not is_released(path))


def is_shared(path: str) -> bool:
    """Whether a file has facts about several nodes, so that changes of different nodes meet in it."""
    return is_page(path) or path.startswith(_OF_MANY) or not path.startswith(_OF_ONE)


def is_rolled_out(path: str) -> bool:
    """Whether a rollout with Ansible alone uses any file at a path of a tree, regardless of who put it there.

    Some file systems treat names as equal that differ in case, Unicode form or invisible characters (Windows, macOS).
    """
    first = path.partition("/")[0]
    seen = "".join(char for char in first if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", seen).casefold().rstrip(". ") in ROLLED_OUT
