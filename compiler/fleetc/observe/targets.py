"""Places of a spec that may need a change.

In: a fleet, the fields of a finding, the node of the log if known, and the parts of its lines. Out: key paths. A field
is a table and keys, such as "orchestrators.max_sessions", "wallets.deposit" or "fleet.rpc"; of live runners, only a
table is one too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from fleetc.language import effective_runners
from fleetc.language.effective_runners import Offer
from fleetc.language.fleet import NODE_TABLES, Fleet, Node, PlacedRunner
from fleetc.language.gateway import Gateway
from fleetc.language.node import ChainSettings
from fleetc.language.signing import payer
from fleetc.language.worker import AiWorker, Transcoder
from fleetc.places.diagnostic import Path

MANY = 6
"""The most places of one finding."""


def nodes_meant(fleet: Fleet, fields: Iterable[str], writer: Node | None) -> list[Node]:
    """The nodes with tables that the fields name. Of the writer's own table it is the writer, else those it works
    with."""
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


def paths(
    fleet: Fleet, fields: Iterable[str], writer: Node | None, parts: Collection[tuple[str, ...]] = ()
) -> list[Path]:
    """The places of the fields, at most `MANY`: of each table the written ones, or one unwritten. `parts` are what
    stood for each {} of a pattern in some lines.
    """
    fields = tuple(fields)
    nodes = nodes_meant(fleet, fields, writer)
    paths = dict.fromkeys(path for field in fields for path in _of(fleet, field, nodes, writer, parts))
    kept: dict[Path, list[Path]] = {}
    for path in sorted(paths, key=lambda path: not _is_written(fleet, path)):
        of_table = kept.setdefault(path[:2], [])
        if not of_table or _is_written(fleet, path):
            of_table.append(path)
    return [path for of_table in kept.values() for path in of_table][:MANY]


def paths_of_runner(fields: Iterable[str], runner: PlacedRunner) -> list[Path]:
    """The places of the fields for the log of a live runner: in its table, or else the table."""
    keys = [field.split(".")[1:] for field in fields if field.startswith("runners.")]
    return [(*runner.path, *key) for key in keys] or [runner.path]


def _of(
    fleet: Fleet, field: str, nodes: list[Node], writer: Node | None, parts: Collection[tuple[str, ...]]
) -> Iterator[Path]:
    table, *keys = field.split(".")
    if field == "fleet.rpc":
        hosts = [writer.settings.host] if writer is not None else sorted(fleet.hosts)
        yield from ((("hosts", name) if fleet.hosts[name].rpc is not None else ("fleet",)) + ("rpc",) for name in hosts)
    elif table == "fleet":
        yield (table, *keys)
    elif table == "wallets":
        yield from ((table, name, *keys) for name in _wallets(fleet, writer))
    elif table == "hosts":
        hosts = [writer.settings.host] if writer is not None else sorted(fleet.hosts)
        yield from ((table, name, *keys) for name in hosts)
    elif table == "runners":
        yield from ((table, name, *keys) for name in _runners(fleet, writer, parts))
    elif table in NODE_TABLES:
        yield from ((*node.path, *keys) for node in nodes if node.table == table)


_IN_A_LIST = re.compile(r"runners\[([0-9]{1,5})\]")


def _runners(fleet: Fleet, writer: Node | None, parts: Collection[tuple[str, ...]]) -> list[str]:
    """The live runners that lines name by app, address or their place in a list; else all that the writer lists."""
    near = [offer for offer in effective_runners.offers(fleet) if writer in (None, offer.orchestrator)]
    if writer is not None and writer.table != "orchestrators":
        near = list(effective_runners.offers(fleet))
    texts = {text.strip('"').rstrip("/") for part in parts for text in part}
    listed = [name for text in texts for name in _in_a_list(fleet, writer, text)]
    named = [offer.name for offer in near if texts & {offer.runner.app, _address(fleet, offer)}]
    return list(dict.fromkeys(listed or named or [offer.name for offer in near]))


def _in_a_list(fleet: Fleet, writer: Node | None, text: str) -> Iterator[str]:
    """The runner at a place of the lists that the node complained about."""
    match = _IN_A_LIST.fullmatch(text)
    for name, settings in sorted(fleet.orchestrators.items()) if match is not None else ():
        node = Node("orchestrators", name, settings)
        entries = effective_runners.listed(fleet, node) if writer in (None, node) else ()
        if match is not None and int(match[1]) < len(entries):
            yield entries[int(match[1])].name


def _address(fleet: Fleet, offer: Offer) -> str:
    return effective_runners.runner_url(fleet, offer).value.rstrip("/")


def _wallets(fleet: Fleet, writer: Node | None) -> list[str]:
    """The wallets of the log's node or its payer; all wallets if the node is unknown."""
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
