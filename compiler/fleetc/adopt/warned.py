"""Settles what `fleetc check` would warn of in nearly every adopted spec.

In: the tables of a fleet, and what the check says of their spec once its questions have answers. Out: questions about
what only people know, and values for what is so today. A warning of a mistake stays: people must see it.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleetc.adopt import asking_words
from fleetc.adopt.assembled import Assembled, Prometheus
from fleetc.adopt.session import Table
from fleetc.places.diagnostic import Diagnostic, Severity

BALANCE = "0.05 ETH"
"""What the rule about balances recommends."""
METRICS, ALERTS = "metrics-out-of-reach", "alerts-reach-nobody"
"""The warnings that a silence accepts where somebody answers that nobody reads metrics, or is told of alerts."""
_UNKNOWN = "..."
"""The example where no source speaks for one."""


def settle(assembled: Assembled, found: Iterable[Diagnostic]) -> None:
    """Ask, or write down, what warnings are about."""
    for one in found:
        place = tuple(map(str, one.primary.place)) if isinstance(one.primary.place, tuple) else ()
        if one.severity is not Severity.WARNING:
            continue
        table = assembled.tables.get(place[0], {}).get(place[1]) if len(place) > 1 else None
        if one.code == METRICS:
            _ask_reader(assembled)
        elif one.code == ALERTS and place == ("monitoring",):
            _ask_monitoring(
                assembled,
                f'TODO alertmanagers = ["{_UNKNOWN}"]: where alerts go: host:port of an Alertmanager; nobody is '
                f'[silences.alerts] with code = "{ALERTS}" and a reason',
            )
        elif table is not None and one.code == "minimum-balance-low" and len(place) == 2:
            if place[1] not in assembled.unasked:
                table.ask(
                    f'TODO minimum_balance = "{BALANCE}": {asking_words.FOR_GAS}; a rollout warns of less, and stops '
                    "where an account that sends transactions is empty"
                )
        elif table is not None and one.code == "http-ingest-switched-off":
            table.values["http_ingest"] = False
            table.notes["http_ingest"] = "as today: the listener is not on loopback, and no webhook admits streams"


def _ask_reader(assembled: Assembled) -> None:
    known = assembled.prometheus
    _ask_monitoring(
        assembled,
        f'TODO host = "{known.host if known is not None else _UNKNOWN}": who reads the metrics: the host that '
        f"Prometheus runs on{_known(known)}; compile makes files for it and for agents, which you start; one elsewhere "
        'is receiver = "https://HOST/api/v1/write", '
        f'nobody is [silences.metrics] with code = "{METRICS}" and a reason',
    )


def _ask_monitoring(assembled: Assembled, question: str) -> None:
    table = assembled.more.setdefault("monitoring", Table())
    if isinstance(table, Table):
        table.ask(question)


def _known(known: Prometheus | None) -> str:
    """What sources say of a Prometheus."""
    if known is None:
        return ""
    apart = ", but reads nothing before its container has the network of the host" if known.apart else ""
    return f" ({known.host} runs one{apart})"
