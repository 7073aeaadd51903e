"""Which codes are about which field.

In: the examples in the pages of rules, and the fields that signatures of logs name. Out: codes by field. A rule is
about what its page changes between "Example" and "Instead". Called by the pages of `fleetc explain`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any

import tomli

from fleetc.messages.tables import find, plain_name
from fleetc.rules import rules
from fleetc.upstream.signatures import signatures


@cache
def codes_by_field() -> dict[str, tuple[str, ...]]:
    """Codes, sorted, by the dotted names of fields without names of users."""
    codes_of: dict[str, set[str]] = {}
    for rule in rules():
        for name in _changed(rule.page):
            codes_of.setdefault(name, set()).add(rule.code)
    for code, signature in signatures().items():
        for name in signature.change:
            codes_of.setdefault(name, set()).add(code)
    return {name: tuple(sorted(codes)) for name, codes in sorted(codes_of.items())}


def _changed(page: str) -> Iterator[str]:
    """The fields that differ between the two examples of a page."""
    bad, good = (dict(_leaves(tomli.loads(textwrap.dedent(part)))) for part in _examples(page))
    for key in sorted(bad.keys() | good.keys()):
        if bad.get(key) != good.get(key):
            field = find(".".join(f'"{part}"' for part in key))
            if field is not None:
                yield plain_name(field[0])


def _examples(page: str) -> tuple[str, str]:
    bad, good = page.partition("\nExample:\n")[2].split("\nInstead:\n")
    return bad, good


def _leaves(node: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(node, list) and any(isinstance(entry, dict) for entry in node):
        node = {str(place): entry for place, entry in enumerate(node)}
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, (*above, key))
    else:
        yield above, node
