"""What formats share: spec tables behind a value, origins of releases and images, exact JSON text.

In: plain values and origins. Out: text for artifacts. Called by the files of `emit/`, which do not import each other,
and by other writers of JSON and numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from json.encoder import encode_basestring
from operator import attrgetter, itemgetter
from typing import TypeGuard

from fleetc.blueprint.blueprint import RUNNERS, Service
from fleetc.emit.traced import Line, Origins
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, derived, given
from fleetc.text.encoders import HIDDEN

_SINGLE_TABLES = frozenset({"fleet", "monitoring", "rollout", "stream_api"})
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode


def tables_of(origins: Iterable[Origin], more: Iterable[str] = ()) -> tuple[str, ...]:
    """The spec tables that contain the origins, such as "hosts.edge", and those in `more`, sorted."""
    # Most origins are in few tables. Separating those first avoids an interpreter step for each path.
    heads = set(map(_head, chain.from_iterable(map(_paths, origins))))
    return tuple(sorted({*map(_table, heads), *more}))


_paths = attrgetter("paths")
_head = itemgetter(slice(2))


@lru_cache(maxsize=65536)
def _table(head: Path) -> str:
    return str(head[0]) if head[0] in _SINGLE_TABLES or len(head) == 1 else f"{head[0]}.{head[1]}"


def release_origin(service: Service) -> Origin:
    """Where the spec may set the release of a service's node; the first place that is set takes precedence."""
    if service.table == RUNNERS:
        return given("fleet", "node_release")
    return derived("the release of the node", (service.table, service.name, "node_release"), ("fleet", "node_release"))


def image_origin(service: Service) -> Origin:
    """Where the spec may set the image of a service; an image without a tag gets the node's release as its tag."""
    own = (service.table, service.name)
    if service.table == RUNNERS:
        return given(*own, "image")
    release = release_origin(service)
    return derived(
        "the image, with the release of the node as its tag", (*own, "image"), ("fleet", "image"), *release.paths
    )


def plain_decimal(value: int | Decimal) -> str:
    """All digits of a number and no exponent, as readers of money need it."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def json_string(value: str) -> str:
    """A quoted JSON string. A caller that joins many of them passes the result through `without_hidden`."""
    return encode_basestring(value)


def json_line(value: object) -> str:
    """A value of str, int, bool, None, list and dict as JSON on one line; keys keep their order."""
    return without_hidden(_compact(value))


def json_document(value: object) -> str:
    """A value as a JSON file with an indent of two; a Decimal becomes a number with exactly its digits.

    Raises TypeError for a float or any other type, ValueError for a Decimal that is not a number.
    """
    return without_hidden("".join([f"{text}\n" for text, _ in _json_lines(value)]))


def json_lines(value: object) -> list[tuple[str, Path]]:
    """The lines of the same file, each with the key path of its value; a bracket has the path of its container."""
    return [(without_hidden(text), place) for text, place in _json_lines(value)]


def _json_lines(value: object) -> list[tuple[str, Path]]:
    if not _opens(value):
        return [(_scalar(value), ())]
    lines: list[tuple[str, Path]] = []
    _add_lines(lines, value, (), "", "", "")
    return lines


def _opens(value: object) -> TypeGuard[Mapping[str, object] | Sequence[object]]:
    """Whether the brackets of a value have their own lines."""
    return isinstance(value, dict | list | tuple | Mapping) and bool(value)


def _add_lines(
    lines: list[tuple[str, Path]],
    value: Mapping[str, object] | Sequence[object],
    place: Path,
    indent: str,
    key: str,
    comma: str,
) -> None:
    items: list[tuple[str | int, str, object]]
    if isinstance(value, Mapping):
        brackets, items = "{}", [(name, f"{encode_basestring(name)}: ", item) for name, item in value.items()]
    else:
        brackets, items = "[]", [(index, "", item) for index, item in enumerate(value)]
    inner, left = f"{indent}  ", len(items)
    lines.append((f"{indent}{key}{brackets[0]}", place))
    for name, label, item in items:
        left -= 1
        tail = "," if left else ""
        if _opens(item):
            _add_lines(lines, item, (*place, name), inner, label, tail)
        else:
            lines.append((f"{inner}{label}{_scalar(item)}{tail}", (*place, name)))
    lines.append((f"{indent}{brackets[1]}{comma}", place))


def _scalar(value: object) -> str:
    """A value that fits on one line; this includes an empty table or list."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError("a number in JSON is finite")
        return plain_decimal(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping | list | tuple):
        return "{}" if isinstance(value, Mapping) else "[]"
    raise TypeError(f"{type(value).__name__} has no exact form in JSON")


Member = tuple[str, str | list[Line], Origins]
"""A member of a JSON object: its key, its value and its origins; the items of a list have their own origins."""


def json_members(members: Sequence[Member], frame: Origins = ()) -> list[Line]:
    """The lines of a JSON object with one member per line; if a member is a list, it has one item per line.

    Values and items are JSON text by `json_line`; `frame` are the origins of the object's own braces. Diffs and merges
    of such a file show which member or item changed.
    """
    lines: list[Line] = [("{", frame)]
    last = len(members) - 1
    for number, (key, value, origins) in enumerate(members):
        comma = "," if number < last else ""
        if isinstance(value, list) and value:
            lines.append((f'  "{key}": [', origins))
            lines += [(f"    {item},", behind) for item, behind in value[:-1]]
            lines.append((f"    {value[-1][0]}", value[-1][1]))
            lines.append((f"  ]{comma}", origins))
        else:
            lines.append((f'  "{key}": {value or "[]"}{comma}', origins))
    lines.append(("}", frame))
    return lines


def without_hidden(text: str) -> str:
    """JSON text with its hidden characters escaped: they only occur in strings, because all other JSON is visible."""
    if text.isascii() and "\x7f" not in text:
        return text
    return HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)
