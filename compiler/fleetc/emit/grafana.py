"""A Grafana dashboard as plain values: a row for each topic, with the panels of that topic below it.

In: the name of a fleet and its panels. Out: the content of `dashboard.json`. Called by `emit/monitoring.py`.
Grafana replaces `$name` in expressions and titles by its variables; the only spec text used here is names. The data
source is a variable, so that the dashboard can be imported anywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from fleetc.blueprint.monitoring import VARIABLES, Panel
from fleetc.text.encoders import promql_string

SCHEMA_VERSION = 39
"""Grafana's schema version; newer releases read it and migrate it."""

ROWS = {
    "income": "Income",
    "funds": "Deposits and payments",
    "nodes": "Nodes",
    "work": "Sessions and orchestrators",
    "gpus": "GPUs",
    "hosts": "Hosts",
    "rewards": "Rewards",
    "avatars": "Avatars",
    "runners": "Live runners",
    "verify": "What fleetc verify found",
}
_WIDTH, _HEIGHT, _COLUMNS = 12, 8, 24
_DAYS = {"interval": "1d", "timeFrom": "14d"}
"""One value a day, for Prometheus' default retention, at any time range of the reader."""
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_OPTIONS = {
    "legend": {"showLegend": True, "displayMode": "list", "placement": "bottom", "calcs": []},
    "tooltip": {"mode": "multi", "sort": "none"},
}
"""All that Grafana's schema demands, because from SCHEMA_VERSION on Grafana no longer adds it to dashboards."""


def dashboard(fleet: str, panels: Sequence[Panel]) -> dict[str, Any]:
    """The whole dashboard. Its uid depends only on the fleet's name, so that a new dashboard replaces the old one."""
    return {
        "uid": "fleetc-" + hashlib.sha256(fleet.encode()).hexdigest()[:16],
        "title": f"Fleet {fleet}",
        "description": "Written by fleetc: change the spec, not this dashboard.",
        "tags": ["fleetc", "livepeer"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": True,
        "timezone": "browser",
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [_source_variable(), *(_variable(fleet, name) for name in VARIABLES)]},
        "annotations": {"list": []},
        "panels": _placed(panels),
    }


def _source_variable() -> dict[str, Any]:
    return {
        "name": "datasource",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
        "regex": "",
        "hide": 0,
        "includeAll": False,
        "multi": False,
        "options": [],
    }


def _variable(fleet: str, name: str) -> dict[str, Any]:
    query = f"label_values(up{{fleet={promql_string(fleet)}}}, {name})"
    return {
        "name": name,
        "label": name,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": name},
        "definition": query,
        "regex": "",
        "refresh": 2,
        "sort": 1,
        "hide": 0,
        "includeAll": True,
        # Some series lack some labels, and this matches those too.
        "allValue": ".*",
        "multi": True,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "options": [],
    }


def _placed(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """Rows and panels from top to bottom, two panels side by side."""
    placed: list[dict[str, Any]] = []
    y = 0
    order = list(ROWS)
    for group, found in groupby(sorted(panels, key=lambda p: order.index(p.group)), key=lambda p: p.group):
        row = {"h": 1, "w": _COLUMNS, "x": 0, "y": y}
        placed.append(
            {
                "id": len(placed) + 1,
                "type": "row",
                "title": ROWS[group],
                "collapsed": False,
                "gridPos": row,
                "panels": [],
            }
        )
        y += 1
        x = 0
        for panel in found:
            if x + _WIDTH > _COLUMNS:
                x, y = 0, y + _HEIGHT
            placed.append(_panel(len(placed) + 1, panel, {"h": _HEIGHT, "w": _WIDTH, "x": x, "y": y}))
            x += _WIDTH
        y += _HEIGHT
    return placed


def _panel(number: int, panel: Panel, position: dict[str, int]) -> dict[str, Any]:
    custom: dict[str, Any] = {"thresholdsStyle": {"mode": "off" if panel.threshold is None else "line"}}
    if panel.daily:
        custom |= {"drawStyle": "bars", "fillOpacity": 60}
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.description,
        "gridPos": position,
        "datasource": _SOURCE,
        **(_DAYS if panel.daily else {}),
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": _SOURCE, "expr": query.expr, "legendFormat": query.legend}
            for index, query in enumerate(panel.queries)
        ],
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "min": 0,
                "custom": custom,
                "thresholds": {"mode": "absolute", "steps": _steps(panel)},
            },
            "overrides": [],
        },
        "options": _OPTIONS,
    }


def _steps(panel: Panel) -> list[dict[str, Any]]:
    """The colours from the lowest value up; the first has no value, which is how Grafana writes minus infinity."""
    if panel.threshold is None:
        return [{"color": "green", "value": None}]
    low, high = ("red", "green") if panel.below else ("green", "red")
    return [{"color": low, "value": None}, {"color": high, "value": panel.threshold}]
