"""What the formats share: paths of a service's files, spec tables behind a value, exact JSON text.

In: plain values and origins. Out: text for artifacts. Called by the files of `emit/`, which import nothing of
one another, and by other writers of JSON and numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from json.encoder import encode_basestring
from typing import NamedTuple

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, HostBlueprint, Service, StackBlueprint
from fleetc.emit.tree import Artifact
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Origin, derived
from fleetc.text.encoders import HIDDEN

_SINGLE_TABLES = frozenset({"fleet", "monitoring", "rollout", "silence"})
_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode


class Releases(NamedTuple):
    """Hex digests of all files of a host, by host; of the files of a service, by service; of each file, by path."""

    hosts: dict[str, str]
    services: dict[str, str]
    files: dict[str, str]


def service_file(host: HostBlueprint, service: Service, name: str, text: str, origins: Iterable[Origin]) -> Artifact:
    """A file of a service, with the spec tables that it came from: its host, its node and those of the origins."""
    place = f"hosts/{host.name}/{service.name}/{name}"
    own = {f"hosts.{host.name}", f"{service.table}.{service.name}"}
    return Artifact(place, text.encode(), origins=tables_of(origins, own))


def avatar_file(
    host: HostBlueprint, avatar: StackBlueprint, name: str, text: str, origins: Iterable[Origin]
) -> Artifact:
    """A file of the avatar stack of a host, with the spec tables that it came from."""
    place = f"hosts/{host.name}/{AVATAR_DIRECTORY}/{name}"
    own = {f"hosts.{host.name}", f"avatars.{avatar.name}"}
    return Artifact(place, text.encode(), origins=tables_of(origins, own))


def tables_of(origins: Iterable[Origin], more: Iterable[str] = ()) -> tuple[str, ...]:
    """The spec tables that origins lie in, such as "hosts.edge", and those in `more`, sorted."""
    # Most origins lie in few tables: those are told apart first and written out once.
    heads = {path[:2] for origin in origins for path in origin.paths}
    tables = {str(h[0]) if h[0] in _SINGLE_TABLES or len(h) == 1 else f"{h[0]}.{h[1]}" for h in heads}
    return tuple(sorted(tables.union(more)))


def release_origin(service: Service) -> Origin:
    """Where the release of a service's node may be written; the first place that is written wins."""
    return derived("the release of the node", (service.table, service.name, "node_release"), ("fleet", "node_release"))


def image_origin(service: Service) -> Origin:
    """Where the image of a service may be written; without a tag the release of the node becomes its tag."""
    own = (service.table, service.name)
    release = release_origin(service)
    return derived(
        "the image, with the release of the node as its tag", (*own, "image"), ("fleet", "image"), *release.paths
    )


def plain_decimal(value: int | Decimal) -> str:
    """All digits of a number and no exponent, as readers of money need it."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def json_string(value: str) -> str:
    """A string of JSON with its quotes. Whoever puts many together passes the whole through `without_hidden`."""
    return encode_basestring(value)


def json_line(value: object) -> str:
    """A value of str, int, bool, None, list and dict as JSON on one line; keys keep their order."""
    return without_hidden(_compact(value))


def json_document(value: object) -> str:
    """A value as a JSON file, two spaces a level; a Decimal becomes the number with exactly its digits.

    Raises TypeError for a float or any other type, ValueError for a Decimal that is no number.
    """
    return without_hidden(_pretty(value, "\n")) + "\n"


def _pretty(value: object, line: str) -> str:
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
    inner = line + "  "
    if isinstance(value, Mapping):
        members = [f"{encode_basestring(key)}: {_pretty(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(members)}{line}}}" if members else "{}"
    if isinstance(value, list | tuple):
        items = [_pretty(item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(items)}{line}]" if items else "[]"
    raise TypeError(f"{type(value).__name__} has no exact form in JSON")


def json_places(value: object, path: Path = ()) -> Iterator[Path]:
    """For each line of `json_document(value)` the key path of what stands on it; a bracket stands for its container."""
    yield path
    if isinstance(value, Mapping | list | tuple) and value:
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in items:
            yield from json_places(item, (*path, key))
        yield path


def without_hidden(text: str) -> str:
    """JSON text with its hidden characters escaped: they stand only inside strings, for all else in JSON is visible."""
    if text.isascii() and "\x7f" not in text:
        return text
    return HIDDEN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]
