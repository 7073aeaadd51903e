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
RISING = (
    "sum by ({kept}) (increase({number}[{window}])) > 0 or "
    "sum by ({kept}) ({number} unless {number} offset {window}) > 0"
)
"""Whether a counter rose within a window. A node writes most counters only at their first event, which Prometheus does
not see as an increase. So a new series is a rise too.
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
