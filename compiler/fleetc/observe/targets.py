"""Where in a spec something may have to change.

In: a fleet, the fields that a finding names, and the node that wrote the log if that is known. Out: key paths. A field
is a table and keys, such as "orchestrators.max_sessions", "wallets.deposit" or "fleet.rpc".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleetc.language.fleet import NODE_TABLES, Fleet, Node
from fleetc.language.gateway import Gateway
from fleetc.language.node import ChainSettings
from fleetc.language.signing import payer
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Path

MANY = 6
"""The most places of one finding."""


def nodes_meant(fleet: Fleet, fields: Iterable[str], writer: Node | None) -> list[Node]:
    """The nodes whose tables the fields name. Of the writer's own table it is the writer, else those it works with."""
    tables = {field.partition(".")[0] for field in fields}
    if writer is not None and writer.table in tables:
        return [writer]
    near = _near(fleet, writer) if writer is not None else None
    return [node for node in fleet.nodes if node.table in tables and (near is None or node.name in near)]


def _near(fleet: Fleet, writer: Node) -> set[str] | None:
    """The names of the nodes that a node works with; None if it finds them by itself."""
    settings = writer.settings
    if isinstance(settings, Gateway):
        named = {name for name in settings.orchestrators if name in fleet.orchestrators}
        signer = payer(fleet, writer)
        if named and signer is not None:
            named.add(signer.name)
        return named or None
    if isinstance(settings, Transcoder | AiWorker):
        return {settings.orchestrator}
    return {worker.name for worker in fleet.workers_by_orchestrator.get(writer.name, ())} or None


def paths(fleet: Fleet, fields: Iterable[str], writer: Node | None) -> list[Path]:
    """The places of the fields, at most `MANY`: of each table those that are written, or one that is not."""
    fields = tuple(fields)
    nodes = nodes_meant(fleet, fields, writer)
    found = dict.fromkeys(path for field in fields for path in _of(fleet, field, nodes, writer))
    kept: dict[Path, list[Path]] = {}
    for path in sorted(found, key=lambda path: not _is_written(fleet, path)):
        of_table = kept.setdefault(path[:2], [])
        if not of_table or _is_written(fleet, path):
            of_table.append(path)
    return [path for of_table in kept.values() for path in of_table][:MANY]


def _of(fleet: Fleet, field: str, nodes: list[Node], writer: Node | None) -> Iterator[Path]:
    table, *keys = field.split(".")
    if table == "fleet":
        yield (table, *keys)
    elif table == "wallets":
        yield from ((table, name, *keys) for name in _wallets(fleet, writer))
    elif table == "hosts":
        hosts = [writer.settings.host] if writer is not None else sorted(fleet.hosts)
        yield from ((table, name, *keys) for name in hosts)
    elif table in NODE_TABLES:
        yield from ((*node.path, *keys) for node in nodes if node.table == table)


def _wallets(fleet: Fleet, writer: Node | None) -> list[str]:
    """The wallets of the writer or of who pays for it; of everybody if nobody knows who wrote."""
    if writer is None:
        return sorted(fleet.wallets)
    for node in (writer, payer(fleet, writer)):
        if node is not None and isinstance(node.settings, ChainSettings) and node.settings.wallet in fleet.wallets:
            return [str(node.settings.wallet)]
    return []


def _is_written(fleet: Fleet, path: Path) -> bool:
    """Whether the spec has a value there."""
    table, *keys = path
    value = getattr(fleet, str(table), None)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else getattr(value, str(key), None)
    return value not in (None, (), {}, [])
