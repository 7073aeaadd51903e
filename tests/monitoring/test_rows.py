"""The tables of alerts and panels: each row is made, a row that cannot be read is named, and data stays data."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fleetc.analysis.scraping import readings
from fleetc.language.monitoring import Monitoring
from fleetc.lower import watching
from fleetc.lower.promql import PromQL, fill
from fleetc.lower.scope import CONDITIONS, SUBJECTS, Scope
from fleetc.lower.watching import ALERTS, PANELS, RowError, alert_rows, panel_rows
from fleetc.text.encoders import promql_string
from fleetc.upstream import load
from tests.monitoring.support import watched, whole

TABLES: dict[str, dict[str, Any]] = {
    file: load(file, beside=str(watching.__file__))[file.removesuffix(".toml")] for file in (ALERTS, PANELS)
}
ROWS = [(file, name) for file, tables in TABLES.items() for name in tables]


def scope(name: str = "stage") -> Scope:
    """The fleet of this folder under another name, however odd."""
    fleet = whole().checked.fleet
    assert fleet is not None and fleet.monitoring is not None
    named = fleet.model_copy(update={"fleet": fleet.fleet.model_copy(update={"name": name})})
    return Scope(named, fleet.monitoring, tuple(readings(named)), ("fleet", "host", "node"))


def make(file: str, name: str, table: dict[str, Any]) -> int:
    """How many alerts or panels one row makes in the fleet of this folder."""
    if file == ALERTS:
        return len(tuple(watching.alerts(scope(), [watching.read_alert(name, table)])))
    return len(tuple(watching.panels(scope(), [watching.read_panel(name, table)])))


@pytest.mark.parametrize(("file", "name"), ROWS)
def test_every_row_is_made_in_the_fleet_in_which_every_alert_applies(file: str, name: str) -> None:
    assert make(file, name, TABLES[file][name])


@pytest.mark.parametrize("name", TABLES[ALERTS])
def test_words_of_an_alert_are_those_that_are_known(name: str) -> None:
    row = next(row for row in alert_rows() if row.name == name)
    assert row.severity in ("critical", "warning", "none")
    assert re.fullmatch(r"\d+m", row.wait)
    assert row.window in Monitoring.model_fields or re.fullmatch(r"(\d+[hd])?", row.window)
    assert "\n" not in row.summary + row.description + row.expr and "  " not in row.summary + row.description + row.expr


@pytest.mark.parametrize(("names", "key"), [(SUBJECTS, "each"), (CONDITIONS, "when")])
def test_every_subject_and_condition_is_used(names: dict[str, object], key: str) -> None:
    silent = {"each": "fleet", "when": "always"}[key]
    tables = [table for found in TABLES.values() for table in found.values()]
    lines = [line for table in tables for line in table.get("queries", ()) if key in line]
    assert {table.get(key, silent) for table in (*tables, *lines)} == set(names)


@pytest.mark.parametrize(
    ("file", "name", "change", "says"),
    [
        (ALERTS, "NodeDown", {"sevrity": "warning"}, "unexpected keyword argument 'sevrity'"),
        (ALERTS, "NodeDown", {"severity": None}, "missing 1 required positional argument: 'severity'"),
        (ALERTS, "NodeDown", {"for": None}, "there is no 'for'"),
        (ALERTS, "NodeDown", {"wait": "5m"}, "multiple values for argument 'wait'"),
        (ALERTS, "NodeDown", {"expr": "{nubmer} == 0"}, "there is no 'nubmer'"),
        (ALERTS, "NodeDown", {"expr": "{number} > {threshold}"}, "there is no 'threshold'"),
        (ALERTS, "NodeDown", {"number": "up{wallet={wallet}}"}, "there is no 'wallet'"),
        (ALERTS, "NodeDown", {"summary": "<nobody> is away"}, "there is no 'nobody'"),
        (ALERTS, "NodeDown", {"description": "for <window>"}, "there is no 'window'"),
        (ALERTS, "PaymentErrors", {"cured": None}, "there is no 'failing'"),
        (ALERTS, "NodeDown", {"when": "it rains"}, "there is no 'it rains'"),
        (ALERTS, "NodeDown", {"each": "moon"}, "there is no 'moon'"),
        (ALERTS, "NodeRestarting", {"threshold": "restarts"}, "there is no 'restarts'"),
        (ALERTS, "NodeRestarting", {"share_of": "deposit"}, "there is no 'deposit'"),
        (ALERTS, "GpuMemoryHigh", {"number": {"dcgm": "up"}}, "there is no 'nvidia-smi'"),
        (PANELS, "Sessions", {"colour": "red"}, "unexpected keyword argument 'colour'"),
        (PANELS, "Sessions", {"alert": "NodeDwn"}, "there is no 'NodeDwn'"),
        (PANELS, "Sessions", {"alert": "NodeDown"}, "multiple values for argument 'group'"),
        (PANELS, "Sessions", {"when": None}, "there is no 'when'"),
        (PANELS, "Sessions", {"group": None}, "there is no 'group'"),
        (PANELS, "Sessions", {"queries": [{"expr": "up", "label": ""}]}, "unexpected keyword argument 'label'"),
        (PANELS, "Sessions", {"queries": [{"expr": "{number}", "legend": ""}]}, "there is no 'number'"),
        (PANELS, "Sessions", {"queries": [{"expr": "up", "legend": "<node>"}]}, "there is no 'node'"),
    ],
)
def test_row_that_cannot_be_read_is_named(file: str, name: str, change: dict[str, Any], says: str) -> None:
    changed = {key: value for key, value in {**TABLES[file][name], **change}.items() if value is not None}
    with pytest.raises(RowError, match=f"^{re.escape(file)}, {name}: .*{re.escape(says)}"):
        make(file, name, changed)


@pytest.mark.parametrize("odd", ["it's", 'a "b"', "{number}", "{{", "}", "\\", "', x='", "$host", "{kept}"])
def test_name_from_the_spec_is_data_in_every_expression(odd: str) -> None:
    plain, other = expressions(scope()), expressions(scope(odd))
    assert len(plain) > 30
    assert all("'stage'" in expression for expression in plain)
    assert other == [expression.replace("'stage'", promql_string(odd)) for expression in plain]


def expressions(scope: Scope) -> list[str]:
    """The expressions of all alerts and panels."""
    queries = [query for panel in watching.panels(scope, panel_rows()) for query in panel.queries]
    return [*(alert.expr for alert in watching.alerts(scope, alert_rows())), *(query.expr for query in queries)]


def test_what_fills_a_placeholder_is_not_filled_again() -> None:
    assert fill("{a} {b}", {"a": "{b}", "b": PromQL("up{x={a}}")}) == "'{b}' up{x={a}}"


def test_alerts_of_one_wallet_stay_together() -> None:
    funds = [alert.name for alert in watched().alerts if alert.group == "funds"]
    assert funds == ["DepositLow", "DepositRunsOut", "DepositEmpty", "ReserveLow", "ReserveEmpty", "PaymentErrors"]
