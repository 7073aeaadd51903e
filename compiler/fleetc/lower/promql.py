"""Builds PromQL expressions from texts with placeholders.

In: a text such as `up{fleet={fleet}} >= {threshold}`, and the values of its placeholders. Out: PromQL. Called by
`watching.py`. The value of a placeholder is data, encoded for its type, unless it is PromQL itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal

from fleetc.text.encoders import promql_string

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
JUDGED = {
    "risen": "{number} unless {number} offset 4m == {number}",
    "spans": "count_over_time((count by ({kept}) ({risen}))[{window}:4m])",
    "failing": "{spans} >= 3 unless on ({kept}) (count by ({kept}) ({cured} unless {cured} offset {window} == {cured}) "
    "unless on ({kept}) count_over_time((count by ({kept}) ({risen}))[16m:4m]) >= 3)",
}
"""How a counter of failures is judged, by placeholder, each from those before it.

It has risen if it is new or has another value than 4 minutes ago: a node writes most counters only at their first
event, and a restart takes them away, neither of which is an increase to Prometheus. `spans` counts the spans of 4
minutes of the window in which it rose, so that a burst counts as one. It is failing with three of them: within 16
minutes where some attempts succeed, and within the whole window where none does.
"""


class PromQL(str):
    """A piece of an expression written by fleetc. It is inserted into another one unchanged."""

    __slots__ = ()


Value = str | Decimal | PromQL


def fill(text: str, values: Mapping[str, Value]) -> str:
    """An expression with its placeholders filled. Raises KeyError for a placeholder without a value."""
    return _PLACEHOLDER.sub(lambda found: _encoded(values[found[1]]), text)


def chosen(variables: Iterable[str]) -> PromQL:
    """More matchers: the labels that a reader of the dashboard selected."""
    return PromQL("".join(f", {name}=~{promql_string(f'${name}')}" for name in variables))


def _encoded(value: Value) -> str:
    if isinstance(value, PromQL):
        return value
    if isinstance(value, Decimal):  # plain digits, which PromQL reads exactly within the precision of its floats
        return format(value.normalize(), "f")
    return promql_string(value)
