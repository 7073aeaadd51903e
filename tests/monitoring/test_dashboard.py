"""The dashboard: its structure as Grafana reads it, expressions that Prometheus reads, and the limits of the alerts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fleetc.blueprint.monitoring import VARIABLES
from fleetc.emit.grafana import SCHEMA_VERSION, dashboard
from fleetc.upstream.metrics import metrics
from tests.monitoring.support import SPEC, files, promtool, watched, whole
from tests.support import EXAMPLES, compile_text, compiled_example

LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")
METRIC = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)\{")


def loaded(text: str = SPEC) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(whole() if text == SPEC else compile_text(text))["dashboard.json"])
    return found


def drawn(board: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def test_form() -> None:
    board = loaded()
    assert board["schemaVersion"] == SCHEMA_VERSION == 39
    assert board["title"] == "Fleet stage"
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids)) > 20
    assert "__inputs" not in board and "id" not in board


def test_panels_neither_overlap_nor_leave_the_page() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in loaded()["panels"]:
        place = panel["gridPos"]
        assert place["x"] >= 0 and place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


def test_each_panel_lies_below_the_row_of_its_topic() -> None:
    rows: dict[str, set[str]] = {}
    for panel in loaded()["panels"]:
        if panel["type"] == "row":
            current = rows.setdefault(panel["title"], set())
        else:
            current.add(panel["title"])
    assert all(rows.values())
    assert "Deposit of payer" in rows["Deposits and payments"]
    assert "Slots that answer" in rows["Avatars"]


def test_no_data_source_is_named() -> None:
    text = files(whole())["dashboard.json"]
    assert set(re.findall(r'"uid": "([^"]*)"', text)) == {"${datasource}", loaded()["uid"]}
    variables = {variable["name"]: variable for variable in loaded()["templating"]["list"]}
    assert list(variables) == ["datasource", *VARIABLES]
    assert variables["datasource"]["type"] == "datasource"


def test_uid_follows_from_the_name_of_the_fleet_alone() -> None:
    assert dashboard("stage", ())["uid"] == loaded()["uid"] == dashboard("stage", watched().panels)["uid"]
    assert dashboard("prod", ())["uid"] != loaded()["uid"]
    assert len(dashboard("a" * 40, ())["uid"]) <= 40


def test_limits_are_those_of_the_alerts() -> None:
    by_group = {alert.name: float(alert.threshold) for alert in watched().alerts if alert.threshold is not None}
    shown = {}
    for panel in drawn(loaded()):
        steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
        assert steps[0]["value"] is None and len(steps) <= 2
        shown[panel["title"]] = [(step["color"], step["value"]) for step in steps]
    assert shown["Deposit of payer"] == [("red", None), ("green", by_group["DepositLow"])]
    assert shown["Reserve of payer"] == [("red", None), ("green", by_group["ReserveLow"])]
    assert shown["Share of the session limit"] == [("green", None), ("red", by_group["SessionsNearLimit"])]
    assert shown["GPU memory, dcgm"] == [("green", None), ("red", by_group["GpuMemoryHigh"])]
    assert shown["Restarts within an hour"] == [("green", None), ("red", by_group["NodeRestarting"])]
    assert shown["Sessions"] == [("green", None)]
    assert (by_group["DepositLow"], by_group["SessionsNearLimit"], by_group["GpuMemoryHigh"]) == (125e6, 0.9, 0.85)


def test_limits_move_with_the_spec() -> None:
    text = SPEC.replace("[monitoring]", '[monitoring]\ngpu_memory_high = "70%"\ndeposit_low = "10%"')
    panels_ = {panel["title"]: panel["fieldConfig"]["defaults"]["thresholds"] for panel in drawn(loaded(text))}
    assert panels_["GPU memory, nvidia-smi"]["steps"][1]["value"] == 0.7
    assert panels_["Deposit of payer"]["steps"][1]["value"] == 50_000_000


def test_income_comes_first_and_its_days_are_bars_whatever_time_is_looked_at() -> None:
    board = loaded()
    assert board["panels"][0]["title"] == "Income"
    bars = {panel["title"]: panel for panel in drawn(board) if "interval" in panel}
    assert set(bars) == {"Tickets received by day", "Winning tickets by day", "Earned and redeemed by day"}
    for panel in drawn(board):
        daily = panel["title"] in bars
        assert all(("[1d]" in target["expr"] and "increase" in target["expr"]) == daily for target in panel["targets"])
        assert (panel.get("interval"), panel.get("timeFrom")) == (("1d", "14d") if daily else (None, None))
        assert panel["fieldConfig"]["defaults"]["custom"].get("drawStyle") == ("bars" if daily else None)


def runway(text: str) -> list[tuple[str, str]]:
    (panel,) = (panel for panel in drawn(loaded(text)) if panel["title"] == "Runway of payer")
    return [(target["expr"], target["legendFormat"]) for target in panel["targets"]]


def test_planned_runway_is_drawn_where_the_spec_states_load_and_cap_of_all_that_pay() -> None:
    assert [legend for _, legend in runway(SPEC)] == ["payer"]
    gate = 'discovery = "ai-registry"\nmax_price = "any"'
    assert gate in SPEC
    stated = SPEC.replace(gate, gate.replace('"any"', '"2500 wei / pixel"\nexpected_load = "2 megapixels / s"'))
    # 0.5 ETH at 2500 wei for 4 million pixels a second
    assert runway(stated)[1:] == [("vector(50000000)", "planned")]


def test_runway_of_a_wallet_is_unknown_where_somebody_pays_whose_spending_nobody_counts() -> None:
    unread = SPEC.replace('max_gas_price = "5 gwei"\nmonitor = true', 'max_gas_price = "5 gwei"')
    assert unread != SPEC
    assert not [panel for panel in drawn(loaded(unread)) if panel["title"].startswith("Runway")]


@pytest.mark.usefixtures("processes")
def test_prometheus_reads_every_expression(tmp_path: Path) -> None:
    boards = [loaded(), *(json.loads(files(compiled_example(name))["dashboard.json"]) for name in EXAMPLES)]
    expressions = [target["expr"] for board in boards for panel in drawn(board) for target in panel["targets"]]
    variables = [one for board in boards for one in board["templating"]["list"] if one["type"] == "query"]
    asked = [LABEL_VALUES.fullmatch(one["query"]["query"]) for one in variables]
    assert [(found or ("", "", ""))[2] for found in asked] == list(VARIABLES) * len(boards)
    expressions += [found[1] for found in asked if found]
    rules = [{"record": f"panel:{index}", "expr": expression} for index, expression in enumerate(expressions)]
    path = tmp_path / "panels.yml"
    path.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}), encoding="utf-8")
    assert f"{len(expressions)} rules found" in promtool("check", "rules", path)


def test_every_metric_is_a_known_one() -> None:
    expressions = [target["expr"] for panel in drawn(loaded()) for target in panel["targets"]]
    expressions += [alert.expr for alert in watched().alerts]
    used = {name for expression in expressions for name in METRIC.findall(expression)}
    assert used == set(metrics()), "each metric is used, and no other"


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_filter_the_panels_of_nodes(name: str) -> None:
    board = loaded()
    panel = next(p for p in drawn(board) if p["title"] == "Nodes that answer")
    assert f"{name}=~'${name}'" in panel["targets"][0]["expr"]
