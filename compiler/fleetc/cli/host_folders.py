"""The options of `fleetc adopt` that say where homes and sources are on hosts.

In: [HOST=]PATH. Out: `Folders`; exits where a path is no absolute one.
"""

from __future__ import annotations

from typing import Annotated

import typer

from fleetc.adopt.host_paths import Folders, plain_path
from fleetc.cli.output import wrong_usage

Homes = Annotated[
    list[str] | None,
    typer.Option(
        "--home",
        metavar="[HOST=]PATH",
        help="Home of who starts the nodes, for paths that begin with ~ or $HOME; repeatable.",
    ),
]
Directories = Annotated[
    list[str] | None,
    typer.Option(
        "--directory",
        metavar="[HOST=]PATH",
        help="Where the Compose file or script is on its host, for paths that begin there; HOST may also be a folder "
        "of sources; repeatable.",
    ),
]


def folders_of(homes: list[str] | None, directories: list[str] | None) -> Folders:
    """What people say of all hosts, and of each."""
    return Folders(_by_host(homes or [], "--home"), _by_host(directories or [], "--directory"))


def _by_host(given: list[str], option: str) -> dict[str, str]:
    """Paths by host; "" is for all hosts."""
    found: dict[str, str] = {}
    for text in given:
        host, equals, path = text.rpartition("=")
        plain = plain_path(path)
        if plain is None or (equals and not host):
            wrong_usage(f"{option} takes an absolute path on the host, such as /home/ubuntu, or HOST=PATH")
        found[host.rstrip("/")] = plain
    return found
