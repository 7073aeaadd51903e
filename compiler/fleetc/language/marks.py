"""Marks the fields of nodes that become a flag unchanged.

In: a flag's name, a default and a description. Out: a pydantic field with a `Sets` mark, which `rows.py` reads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import Field


class Sets(NamedTuple):
    """The mark of a field whose value becomes the flag of the node with this name, written by `rows.written`."""

    flag: str


def sets(flag: str, default: Any, description: str, **constraints: Any) -> Any:
    """A field of a node that sets a flag; the rest are options of pydantic's `Field`."""
    field = Field(default, description=description, **constraints)
    field.metadata.append(Sets(flag))
    return field
