"""What `fleetc init` writes, and where.

In: the shipped texts, and where the fleet lies in its repository. Out: texts by path. Pure;
`commands/init.py` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from compiler.encoding import posix_word, yaml_string
from compiler.version import __version__

ATTRIBUTES = ".gitattributes"
"""The one file that a repository may well have: it is left alone then, and its owner told the lines."""


class Service(StrEnum):
    """A service that runs workflows."""

    github = "github"
    gitlab = "gitlab"


_WORKFLOWS: Mapping[Service, Mapping[str, str]] = {
    Service.github: {
        ".github/workflows/fleet-review.yml": "github/fleet-review.yml",
        ".github/workflows/fleet-deploy.yml": "github/fleet-deploy.yml",
    },
    Service.gitlab: {".gitlab-ci.yml": "gitlab/gitlab-ci.yml"},
}
"""By service, the path in the repository and the name of the shipped text."""


def first_files(shipped: Mapping[str, str], schema: str) -> dict[str, str]:
    """A first spec and what belongs beside it, by path in its directory; `schema` is the text of `fleetc schema`."""
    return {
        "fleet.toml": shipped["fleet.toml"],
        "spec.schema.json": schema,
        ATTRIBUTES: shipped["gitattributes"],
    }


def workflows(shipped: Mapping[str, str], service: Service, spec: str) -> dict[str, str]:
    """The workflows of a service for one spec, by path in the repository; `spec` is the spec's path in it."""
    return {
        path: shipped[name].replace("@SPEC@", yaml_string(spec)).replace("@VERSION@", __version__)
        for path, name in _WORKFLOWS[service].items()
    }


_PLAIN = re.compile(r"[A-Za-z0-9_./+@%-]+")


def next_commands(directory: str, written: Sequence[str]) -> list[str]:
    """What to type next, as lines for a shell."""
    place = "" if directory == "." else f" {_word(directory)}"
    tree = "rendered" if directory == "." else f"{directory}/rendered"
    return [f"fleetc check{place}", f"fleetc compile{place}", f"git add {' '.join(map(_word, [*written, tree]))}"]


def _word(path: str) -> str:
    word = f"./{path}" if path.startswith("-") else path
    return word if _PLAIN.fullmatch(word) else posix_word(word)
