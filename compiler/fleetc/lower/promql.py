"""Expressions of PromQL, put together from names of metrics and matchers of labels.

In: names that `upstream/metrics.toml` lists, label names of ours, values as data. Out: text. Called by `alerts.py`,
`panels.py` and `scope.py`.

A node writes most counters at their first event, so the first value of such a counter is no increase to Prometheus:
`rising` counts a series that is new as risen too.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleetc.text.encoders import promql_string


def equals(label: str, value: str) -> str:
    """A matcher for exactly one value."""
    return f"{label}={promql_string(value)}"


def differs(label: str, value: str) -> str:
    """A matcher for every value but one."""
    return f"{label}!={promql_string(value)}"


def matches(label: str, pattern: str) -> str:
    """A matcher for a regular expression of ours, which has to match the whole value."""
    return f"{label}=~{promql_string(pattern)}"


def series(metric: str, matchers: Iterable[str]) -> str:
    """The series of a metric that all matchers agree with."""
    return f"{metric}{{{', '.join(matchers)}}}"


def summed(labels: Iterable[str], expression: str) -> str:
    """The sum over all labels but those given."""
    return f"sum by ({', '.join(labels)}) ({expression})"


def rising(labels: Iterable[str], selected: str, window: str) -> str:
    """How much counters rose within a window, and where they rose at all; a new counter has risen by its value."""
    kept = tuple(labels)
    new = f"{selected} unless {selected} offset {window}"
    return f"{summed(kept, f'increase({selected}[{window}])')} > 0 or {summed(kept, new)} > 0"
