"""Makes the alerts and panels of a fleet from `alerts.toml` and `panels.toml`; their first lines explain their keys.

In: what is monitored (`Scope`). Out: `Alert`s and `Panel`s, in the order of the files. Called by `monitoring.py`. A row
with an unknown key, name or placeholder raises `RowError`; the tests make every row, so that no user sees one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from itertools import groupby, product
from typing import Any, NamedTuple, TypeVar

from fleetc.blueprint.monitoring import VARIABLES, Alert, Live, Panel, Query, Said
from fleetc.language.monitoring import Monitoring
from fleetc.language.quantities import Duration
from fleetc.lower.promql import JUDGED, PromQL, Value, chosen, fill
from fleetc.lower.scope import CONDITIONS, SUBJECTS, Condition, Scope, Subject, Subjects
from fleetc.upstream import load

ALERTS, PANELS = "alerts.toml", "panels.toml"
LIVE = {
    name: Live(f"$labels.{name}")
    for name in ("node", "host", "job", "gpu", "uuid", "avatar", "slot", "runner", "mountpoint")
} | {
    "release": Live("$labels.livepeerversion"),
    "share": Live("$value | humanizePercentage"),
    "count": Live("$value | humanize"),
    "exactly": Live("$value"),
    "span": Live("$value | humanizeDuration"),
}
"""What an alert can fill into a sentence, by the word in angle brackets that marks the place."""
DRAWN: dict[str, Value] = {"chosen": chosen(VARIABLES), "chosen_hosts": chosen(("host", "region"))}
UNFILTERED: dict[str, Value] = dict.fromkeys(DRAWN, PromQL(""))
"""The selection in the dashboard filters numbers in graphs, never those in alerts."""


class RowError(Exception):
    """A row cannot be read. The text names the file, the row and the problem."""


class AlertRow(NamedTuple):
    """A table of `alerts.toml`, with its subjects and its condition looked up. `wait` is its key `for`."""

    name: str
    each: Subjects
    when: Condition
    wait: str
    group: str
    expr: str
    severity: str
    summary: str
    description: str
    number: str | Mapping[str, str] = ""
    window: str = ""
    cured: str = ""
    threshold: int | str | None = None
    share_of: str = ""


class QueryRow(NamedTuple):
    """A line of a panel, which is there where the panel is and `when` applies, if it has one."""

    query: Query
    when: Condition | None


class PanelRow(NamedTuple):
    """A table of `panels.toml`, with its alert and its condition looked up. It repeats over its alert's subjects."""

    name: str
    each: Subjects
    when: Condition | None
    alert: AlertRow | None
    group: str
    queries: tuple[QueryRow, ...]
    unit: str
    description: str
    threshold: int | None = None
    below: bool = False
    daily: bool = False


Row = TypeVar("Row", AlertRow, PanelRow)
Made = TypeVar("Made", Alert, Panel)


# --- rows -------------------------------------------------------------------------------------------


@cache
def alert_rows() -> tuple[AlertRow, ...]:
    """All rows of `alerts.toml`."""
    return tuple(read_alert(name, table) for name, table in load(ALERTS, beside=__file__)["alerts"].items())


@cache
def panel_rows() -> tuple[PanelRow, ...]:
    """All rows of `panels.toml`."""
    return tuple(read_panel(name, table) for name, table in load(PANELS, beside=__file__)["panels"].items())


def read_alert(name: str, table: Mapping[str, Any]) -> AlertRow:
    """The table of an alert as a row."""
    rest = dict(table)
    with _named(ALERTS, name):
        each, when = SUBJECTS[rest.pop("each", "fleet")], CONDITIONS[rest.pop("when", "always")]
        return AlertRow(name, each, when, rest.pop("for"), **rest)


def read_panel(name: str, table: Mapping[str, Any]) -> PanelRow:
    """The table of a panel as a row."""
    rest = dict(table)
    with _named(PANELS, name):
        alert = {row.name: row for row in alert_rows()}[rest.pop("alert")] if "alert" in rest else None
        when = CONDITIONS[rest.pop("when")] if "when" in rest or alert is None else None
        each, group = (alert.each, alert.group) if alert else (SUBJECTS["fleet"], rest.pop("group"))
        queries = tuple(_read_query(query) for query in rest.pop("queries"))
        return PanelRow(name, each, when, alert, group, queries, **rest)


def _read_query(table: Mapping[str, str]) -> QueryRow:
    rest = dict(table)
    when = CONDITIONS[rest.pop("when")] if "when" in rest else None
    return QueryRow(Query(**rest), when)


@contextmanager
def _named(file: str, row: str) -> Iterator[None]:
    try:
        yield
    except KeyError as problem:
        raise RowError(f"{file}, {row}: there is no {problem}") from problem
    except TypeError as problem:  # the keys are arguments, so there is one too many or too few
        raise RowError(f"{file}, {row}: {problem}") from problem


# --- alerts and panels ------------------------------------------------------------------------------


def alerts(scope: Scope, rows: Iterable[AlertRow]) -> Iterator[Alert]:
    """The alerts that apply to a fleet, by topic."""
    return _made(scope, rows, ALERTS, _alert)


def panels(scope: Scope, rows: Iterable[PanelRow]) -> Iterator[Panel]:
    """The panels that apply to a fleet, by topic."""
    return _made(scope, rows, PANELS, _panel)


def _made(
    scope: Scope, rows: Iterable[Row], file: str, make: Callable[[Scope, Row, Subject], Made | None]
) -> Iterator[Made]:
    """What each row makes of each of its subjects. Neighbours stay together: all of one wallet, then of the next."""
    for each, neighbours in groupby(rows, key=lambda row: row.each):
        for subject, row in product(each(scope), tuple(neighbours)):
            with _named(file, row.name):
                made = make(scope, row, subject)
            if made:
                yield made


def _alert(scope: Scope, row: AlertRow, subject: Subject) -> Alert | None:
    why = row.when(scope, subject)
    if not why:
        return None
    values, words = _values(scope, subject, row, UNFILTERED), {**LIVE, **subject.words}
    limit = _limit(scope, subject, row)
    if limit is not None:
        values["threshold"] = limit
    if isinstance(row.threshold, str):
        words[row.threshold] = scope.written(row.threshold)
    if row.window:
        words["window"] = _window(scope, row)
    fields = [str(field) for field in (row.threshold, row.window) if field in Monitoring.model_fields]
    return Alert(
        name=row.name,
        group=row.group,
        expr=fill(row.expr, values),
        wait=row.wait,
        severity=row.severity,
        summary=_said(row.summary, words),
        description=_said(row.description, words),
        origins=(*map(scope.origin, fields), *why),
        threshold=limit,
        labels=subject.labels,
    )


def _panel(scope: Scope, row: PanelRow, subject: Subject) -> Panel | None:
    alert = _alert(scope, row.alert, subject) if row.alert else None
    origins = row.when(scope, subject) if row.when else alert.origins if alert else ()
    if not origins or (row.alert and not alert):
        return None
    values = _values(scope, subject, row.alert, DRAWN)
    limit = alert.threshold if alert and row.threshold is None else row.threshold
    return Panel(
        title=_plain(row.name, subject),
        group=row.group,
        unit=row.unit,
        queries=tuple(
            Query(fill(query.expr, values), _plain(query.legend, subject))
            for query, when in row.queries
            if when is None or when(scope, subject)
        ),
        description=_plain(row.description, subject),
        origins=origins,
        threshold=None if limit is None else Decimal(limit),
        below=row.below,
        daily=row.daily,
    )


def _values(scope: Scope, subject: Subject, row: AlertRow | None, filters: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the placeholders of an expression."""
    kept = PromQL(", ".join(scope.kept))
    values: dict[str, Value] = {**filters, **subject.words, **subject.amounts}
    values |= {"fleet": scope.fleet.fleet.name, "kept": kept}
    if row and row.number:
        number = row.number if isinstance(row.number, str) else row.number[subject.name]
        values["number"] = PromQL(fill(number, values))
    if row and row.window:
        values["window"] = PromQL(_window(scope, row))
        if row.cured:
            values["cured"] = PromQL(fill(row.cured, values))
        for name, text in JUDGED.items():
            if row.cured or name != "failing":
                values[name] = PromQL(fill(text, values))
    return values


def _limit(scope: Scope, subject: Subject, row: AlertRow) -> Decimal | None:
    if row.threshold is None:
        return None
    if isinstance(row.threshold, int):
        return Decimal(row.threshold)
    number = _number(scope.threshold(row.threshold))
    return number * subject.amounts[row.share_of] if row.share_of else number


def _number(threshold: str | int | Duration) -> Decimal:
    """A threshold as expressions compare with it: a share of 1, or seconds."""
    if isinstance(threshold, str):
        return Decimal(threshold.removesuffix("%")) / 100
    return Decimal(threshold.whole_seconds if isinstance(threshold, Duration) else threshold)


def _window(scope: Scope, row: AlertRow) -> str:
    return scope.reward_round if row.window == "reward_round" else row.window


def _said(text: str, words: Mapping[str, str]) -> Said:
    """A sentence by fleetc; each <word> is replaced by one of `words`: data, or a value that an alert fills in."""
    parts = re.split(r"<(\w+)>", text)
    return tuple(words[part] if index % 2 else part for index, part in enumerate(parts) if part)


def _plain(text: str, subject: Subject) -> str:
    return "".join(_said(text, subject.words))
