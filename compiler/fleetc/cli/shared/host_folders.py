"""The options of `fleetc adopt` for homes and sources on hosts, and for the host of a node.

In: [HOST=]PATH, and HOST[@ADDRESS][=NODE,...]. Out: `Said`; exits where a path is no absolute one, or
no source is of a host.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.adopt import Said, plain_path
from fleetc.cli.shared.output import wrong_usage

if TYPE_CHECKING:
    from fleetc.adopt import Adopted

Homes = Annotated[
    list[str] | None,
    typer.Option(
        "--home",
        metavar="[HOST=]PATH",
        help="Home of the user that starts the nodes, for paths with ~ or $HOME; repeatable.",
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
NodeHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        metavar="HOST[@ADDRESS][=NODE,...]",
        help="The host that nodes run on, where one file starts nodes of several hosts; NODE is the name in the spec, "
        "or that of the unit or container. Without nodes, it is the host of all others; repeatable.",
    ),
]


def folders_of(homes: list[str] | None, directories: list[str] | None, nodes: list[str] | None) -> Said:
    """The options for all hosts, and for each."""
    named = [(node, host) for host, _, some in map(_hosted, nodes or []) for node in some]
    placed = dict(named)
    if len(placed) < len(named):
        bare = Counter(node for node, _ in named)[""] > 1
        wrong_usage(f"--host names {'several hosts without nodes' if bare else 'a node twice'}; it runs on one host")
    return Said(
        homes=_by_host(homes or [], "--home"), directories=_by_host(directories or [], "--directory"), nodes=placed,
        addresses={host: address for host, address, _ in map(_hosted, nodes or []) if address},
    )  # fmt: skip


def _hosted(text: str) -> tuple[str, str, list[str]]:
    """A host, its address or "", and nodes on it; "" for all others."""
    host, equals, some = text.partition("=")
    name, at, address = host.partition("@")
    nodes = some.split(",")
    if not name or (equals and not all(nodes)) or (at and not address):
        wrong_usage(
            "--host takes a host and nodes of it, such as gpu-1=orch,gate, or gpu-1@203.0.113.20=orch with its "
            "address; without nodes, it is the host of all other nodes"
        )
    return name, address, nodes


def _by_host(given: list[str], option: str) -> dict[str, str]:
    """Paths by host; "" is for all hosts."""
    folders: dict[str, str] = {}
    for text in given:
        host, equals, path = text.rpartition("=")
        plain = plain_path(path)
        if plain is None or (equals and not host):
            wrong_usage(f"{option} takes an absolute path on the host, such as /home/ubuntu, or HOST=PATH")
        folders[host.rstrip("/")] = plain
    return folders


def refuse_unknown(said: Said, adopted: Adopted) -> None:
    """Exit if an option names a host or a folder without nodes."""
    hosts = {node.host for node in adopted.nodes}
    processes = [node.process for node in adopted.nodes]
    known = {
        "",
        *hosts,
        *(process.host for process in processes),
        *(posixpath.dirname(process.span.source) for process in processes),
    }
    unknown = sorted({*said.homes, *said.directories} - known)
    if adopted.nodes and unknown:
        wrong_usage(
            f"no node of the sources is on {' or '.join(unknown)}; for --home and --directory, their "
            f"{'host is' if len(hosts) == 1 else 'hosts are'} {', '.join(sorted(hosts))}"
        )
