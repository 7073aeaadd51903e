"""Which flag of the node each plain setting becomes, and how its value is written.

In: the fields of node tables that `Sets` marks. Out: `ROWS`, and of a node the rows that the spec gives a value
(`settings_given`). Lowering writes flags from them, and a rule asks which of them a release lacks. Settings that need a
decision (prices, listeners, rewards, workers) have no mark: `DECISIONS` has their flags and fields, `UNREACHED` flags
without a field, `NO_FLAG` fields without a flag, each with its reason. A test holds these lists against the language
and the flags of the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel

from fleetc.language.fields import Sets
from fleetc.language.fleet import NODE_TABLES, Fleet, Node
from fleetc.language.quantities import Duration, Wei
from fleetc.text.suggestions import folded
from fleetc.upstream import FLAGS


class Row(NamedTuple):
    """A setting: `parts` is its path below a node of the table."""

    table: str
    parts: tuple[str, ...]
    flag: str

    @property
    def field(self) -> str:
        """The path as it is written in a spec."""
        return ".".join(self.parts)


def _rows(table: str, model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[Row]:
    for name, field in model.model_fields.items():
        yield from (Row(table, (*above, name), mark.flag) for mark in field.metadata if isinstance(mark, Sets))
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _rows(table, kind, (*above, name))


_OF_TABLE = {table: tuple(_rows(table, get_args(Fleet.model_fields[table].annotation)[1])) for table in NODE_TABLES}
ROWS = tuple(row for rows in _OF_TABLE.values() for row in rows)


def written(flag: str, value: object) -> str:
    """A value as the node reads it after `-flag=`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Wei):
        return str(value.wei)
    if isinstance(value, Duration) and FLAGS[flag].type == "int":
        return str(value.whole_seconds)
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


class Decision(NamedTuple):
    """A flag that code in `lower/` decides about, the fields of node tables that it goes by, and what else it goes
    by.

    `elsewhere` names fields of other tables ("fleet.rpc"), and node tables themselves ("gateways") if fleetc gives the
    flag to each node there.
    """

    flag: str
    fields: tuple[str, ...] = ()
    words: str = ""
    elsewhere: tuple[str, ...] = ()


DECISIONS = (
    Decision("network", (), "network of the fleet", ("fleet.network",)),
    Decision("cliAddr", ("cli",)),
    Decision("dataDir", ("data_dir",)),
    Decision("ethUrl", (), "rpc of the fleet or of the host", ("fleet.rpc", "hosts.rpc")),
    Decision("ethController", (), "controller of the fleet", ("fleet.controller",)),
    Decision("ethAcctAddr", ("wallet",), "address of the wallet", ("wallets.address",)),
    Decision("ethKeystorePath", ("wallet",), "keystore of the wallet", ("wallets.keystore",)),
    Decision("ethPassword", ("wallet",), "password of the wallet", ("wallets.password",)),
    Decision("reward", ("wallet",), "reward_by of the wallet", ("wallets.reward_by",)),
    Decision("pixelsPerUnit", ("price", "max_price"), "the pixels of a price"),
    Decision("gateway", (), "a table under gateways", ("gateways",)),
    Decision("httpAddr", ("http", "http_tls"), "http"),
    Decision("rtmpAddr", ("rtmp",)),
    Decision("orchAddr", ("orchestrators", "orchestrator"), "orchestrators, or orchestrator of a worker"),
    Decision("orchWebhookUrl", ("discovery",)),
    Decision("aiServiceRegistry", ("discovery", "ai_registry"), "discovery, or ai_registry of an orchestrator"),
    Decision("maxPricePerUnit", ("max_price",)),
    Decision("maxPricePerCapability", ("max_model_prices",)),
    Decision("aiMinRunnerVersion", ("min_runner_versions",)),
    Decision("transcodingOptions", ("ladder",), "", ("ladders.profiles",)),
    Decision("orchestrator", ("mode",), "a table under orchestrators", ("orchestrators",)),
    Decision("serviceAddr", ("service", "runner_label")),
    Decision("pricePerUnit", ("price",)),
    Decision("pricePerGateway", ("gateway_prices",)),
    Decision("redeemerAddr", ("redeemer",)),
    Decision(
        "transcoder",
        ("transcoding",),
        "transcoding of an orchestrator, or a table under transcoders",
        ("transcoders",),
    ),
    Decision("aiWorker", ("ai_work",), "ai_work of an orchestrator, or a table under ai_workers", ("ai_workers",)),
    Decision("nvidia", ("gpus",)),
    Decision("aiModels", ("models",)),
    Decision("aiModelsDir", ("models_dir",)),
    Decision("aiRunnerImageOverrides", ("runner_image",), "runner_image, or image of a model", ("models.image",)),
    Decision("aiRunnerImage", ("runner_image",)),
    Decision("remoteSigner", (), "a table under remote_signers", ("remote_signers",)),
    Decision("remoteSignerUrl", ("remote_signer.signer",)),
    Decision("redeemer", (), "a table under redeemers", ("redeemers",)),
    Decision("useLiveRunners", ("runners",)),
    Decision("liveRunnerConfig", ("runners",)),
)

DECIDED = {
    decision.flag: decision.words or decision.fields[0]
    for decision in DECISIONS
    if decision.flag not in {row.flag for row in ROWS}
}
"""The fields that decide about each flag that only code sets."""

NO_FLAG: dict[str, str] = {
    "host": "where the process runs",
    "out": "whether the process runs",
    "node_release": "chooses the flag table, the image and the manifest entry",
    "image": "the container image",
    "extra_flags": "any flag that no field reaches",
    "hardened": "what the system lets the process do",
    "cli_exposed": "an acknowledgement for a rule",
    "environment": "variables of the process",
    "secret_environment": "secret variables of the process",
    "buys_runners": "what the cap of a signer is compared with; the node has no such setting",
    "capabilities.url": "a part of a document that you post to the node",
    "capabilities.capacity": "a part of a document that you post to the node",
    "capabilities.price": "a part of a document that you post to the node",
    "runner_load": "what reports compute costs with; the node has no such setting",
    "expected_load": "what reports compute costs with; the node has no such setting",
}
"""Fields of node tables that set no flag, and why."""

UNREACHED: dict[str, str] = {
    "broadcaster": "deprecated name of -gateway",
    "datadir": "second name of -dataDir; mixing the two breaks the order of sources",
    "pricePerBroadcaster": "deprecated name of -pricePerGateway",
    "liveAICapRefreshModels": "has no effect in any release since v0.8.10; extra_flags reaches it in older ones",
    "config": "settings travel as flags and variables, one source for each, so that nothing gets past the checks",
    "j": "prints the flags and exits",
    "version": "prints the version and exits",
}
"""Flags that no field reaches, and why."""


READERS: dict[str, frozenset[str]] = {
    "gateways": frozenset({"any", "gateway"}),
    "orchestrators": frozenset({"any", "orchestrator", "transcoder", "ai-worker"}),
    "transcoders": frozenset({"any", "transcoder"}),
    "ai_workers": frozenset({"any", "ai-worker"}),
    "remote_signers": frozenset({"any", "remote-signer"}),
    "redeemers": frozenset({"any", "redeemer"}),
    "reward_callers": frozenset({"any", "reward"}),
}
"""The roles of the node that a process of each table has; it reads the flags of these."""


@cache
def fields_that_set(flag: str) -> tuple[str, ...]:
    """What of a spec a flag goes by, as dotted names: fields such as "gateways.max_price", and whole node tables.

    The most specific ones come first. None for a flag of `UNREACHED`.
    """
    found = [f"{row.table}.{row.field}" for row in ROWS if row.flag == flag]
    for decision in DECISIONS:
        if decision.flag == flag:
            found += decision.elsewhere
            tables = [table for table in NODE_TABLES if READERS[table] & FLAGS[flag].roles]
            found += [f"{table}.{field}" for table in tables for field in decision.fields if _has(table, field)]
    return tuple(dict.fromkeys(found))


def _has(table: str, field: str) -> bool:
    model = get_args(Fleet.model_fields[table].annotation)[1]
    return field.partition(".")[0] in model.model_fields


def field_of(flag: str, table: str) -> str:
    """What sets a flag: a field of a node table, else of another table, else the words of `DECIDED`."""
    rows = {row.table: row for row in reversed(ROWS) if row.flag == flag}
    if table in rows:
        return rows[table].field
    first = next((rows[other] for other in NODE_TABLES if other in rows), None)
    return f"{first.field} of {first.table}" if first else DECIDED.get(flag, "")


def flag_called(word: str) -> str:
    """The flag that a word names as people write it: with dashes in front, in any case, or as its variable; else ""."""
    return _CALLED.get(folded(word)) or _CALLED.get(folded(word[3:] if word[:3].upper() == "LP_" else ""), "")


_CALLED = {folded(name): name for name in sorted(FLAGS, reverse=True)}
"""Flags by their folded name. Two differ in case alone: datadir is a second name of dataDir."""


def in_the_spec(flag: str, table: str) -> str:
    """A sentence about how the spec sets a flag of the node."""
    field = field_of(flag, table)
    return f"the node's -{flag} is set by {field}" if field else f"no key sets the node's -{flag}: {UNREACHED[flag]}"


def settings_given(node: Node) -> Iterator[tuple[Row, Any]]:
    """Each plain setting of a node that the spec gives: its row and its value."""
    given = node.settings.model_fields_set
    for row in _OF_TABLE[node.table]:
        if row.parts[0] not in given:
            continue
        value: Any = node.settings
        for part in row.parts:
            value = getattr(value, part)
            if value is None:
                break
        if value is not None and value != ():
            yield row, value
