"""Expressions of PromQL, made from texts with placeholders.

In: a text such as `up{fleet={fleet}} >= {threshold}`, and what its placeholders stand for. Out: PromQL. Called by
`watching.py`. What stands for a placeholder is data, encoded for its type, unless it is PromQL itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from fleetc.text.encoders import promql_string

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
RISING = (
    "sum by ({kept}) (increase({number}[{window}])) > 0 or "
    "sum by ({kept}) ({number} unless {number} offset {window}) > 0"
)
"""Where a counter rose within a window at all. A node writes most counters at their first event, so the first value of
such a counter is no increase to Prometheus: a series that is new has risen too.
"""


class PromQL(str):
    """A piece of an expression that is ours. It stands in another one as it is."""

    __slots__ = ()


Value = str | Decimal | PromQL


def fill(text: str, values: Mapping[str, Value]) -> str:
    """An expression of ours with its placeholders filled. Raises KeyError for one that stands for nothing."""
    return _PLACEHOLDER.sub(lambda found: _encoded(values[found[1]]), text)


def chosen(variables: Iterable[str]) -> PromQL:
    """Further matchers: the labels that a reader of the dashboard chose."""
    return PromQL("".join(f", {name}=~{promql_string(f'${name}')}" for name in variables))


def _encoded(value: Value) -> str:
    if isinstance(value, PromQL):
        return value
    if isinstance(value, Decimal):  # in plain digits, which PromQL reads exactly as far as its floats go
        return format(value.normalize(), "f")
    return promql_string(value)
