"""Turns the body of a step into the bytes of a request, with the values of secrets in the places of their references.

In: a body, and values by kind and reference. Out: JSON with all digits of its numbers. Which references it needs:
`references`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleetc.emit.artifacts import json_document
from fleetc.language.stream import PLACEHOLDER


def references(body: Any) -> Iterator[tuple[str, str]]:
    """Kind and name of each secret that a body needs."""
    if isinstance(body, dict):
        if PLACEHOLDER in body:
            yield from body[PLACEHOLDER].items()
        else:
            for item in body.values():
                yield from references(item)
    elif isinstance(body, list | tuple):
        for item in body:
            yield from references(item)


def as_bytes(body: Mapping[str, Any], values: Mapping[tuple[str, str], str]) -> bytes:
    """The body of a request. Raises KeyError for a reference without a value."""
    return json_document(_filled(body, values)).encode()


def _filled(value: Any, values: Mapping[tuple[str, str], str]) -> Any:
    if isinstance(value, dict):
        if PLACEHOLDER in value:
            ((kind, name),) = value[PLACEHOLDER].items()
            return values[kind, name]
        return {key: _filled(item, values) for key, item in value.items()}
    return [_filled(item, values) for item in value] if isinstance(value, list | tuple) else value
