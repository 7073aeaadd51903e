"""What a change of a flag means, and of a variable, a secret or a field of a stream, as data.

In: the rows of `FLAGS` and `impacts.toml` beside this file, read when this module is first imported. Out: `meaning_of`
a flag, `passing` of one with its process. Asked by `review/impact/effects.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fleetc.upstream import FLAGS, load


@dataclass(frozen=True, slots=True)
class Meaning:
    """`always` are classes with sentences, `computed` those that a comparison decides.

    `none` is the reason if there is nothing else, `opens` when the change grants access. `says` has the sentences about
    exposure by the new state of the value: "added", "removed", or the value.
    """

    always: dict[str, str] = field(default_factory=dict)
    computed: tuple[str, ...] = ()
    none: str = ""
    opens: tuple[str, ...] = ()
    says: dict[str, str] = field(default_factory=dict)


_FIELDS = ("computed", "none", "opens", "roles")
_DATA = load("impacts.toml")
_UNKNOWN: Mapping[str, Any] = {
    **dict.fromkeys(
        ("exposure", "price", "funds", "identity", "chain"), "fleetc does not know this flag or what it does"
    ),
    "opens": ["added", "changed", "removed"],
}
"""The row of an unknown flag of a newer release, so that it cannot bypass a limit."""


@cache
def meaning_of(flag: str, role: str = "") -> Meaning:
    """What a change of the flag means for a process in this role. A flag that is not known may do anything."""
    known = FLAGS.get(flag)
    row: Mapping[str, Any] = (known and known.impact) or _UNKNOWN
    return _meaning(flag, row.get("roles", {}).get(role, row))


@cache
def passing(way: str, flag: str, role: str) -> dict[str, str]:
    """The meaning of a flag by class when its process comes, goes or moves; {} is the value."""
    row = _DATA[way].get(flag, {})
    return {name: text for name, text in row.get("roles", {}).get(role, row).items() if name not in _FIELDS}


@cache
def stack_meaning(name: str) -> Meaning:
    """What a change of a variable or secret of an avatar stack means."""
    return _meaning(name, _DATA["stack"].get(name, {"none": "how the stack works internally"}))


@cache
def stream_meaning(field: str) -> Meaning:
    """What a change of a field of a stream means."""
    return _meaning(
        field, _DATA["stream"].get(field, {"none": "the stream itself; it is changed through the stream API"})
    )


def _meaning(thing: str, row: Mapping[str, Any]) -> Meaning:
    return Meaning(
        {name: text for name, text in row.items() if name not in _FIELDS},
        tuple(row.get("computed", ())),
        row.get("none", ""),
        tuple(row.get("opens", ())),
        FLAGS[thing].says if thing in FLAGS else _DATA["says"].get(thing, {}),
    )
