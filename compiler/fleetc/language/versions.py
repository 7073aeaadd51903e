"""The versions of the spec language: what each one changed, and how a spec of an older one is read.

In: a document as its sources say it. Out: the same in the newest version, in which each key knows what the text calls
it (`Document.older`). Nothing behind this knows of older versions. `migrating.py` changes the texts by the same lists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from fleetc.language.fields import NAME_LIMIT
from fleetc.language.fleet import NEWEST
from fleetc.language.sharing import DEFAULTS, in_the_language, tables
from fleetc.places.diagnostic import Diagnostic, Label, Path, error, warning
from fleetc.toml.document import Document
from fleetc.toml.edits import toml_key
from fleetc.toml.scan import parse_key

OLD = "spec-version-old"
READ_UNTIL = date(2027, 12, 31)
"""Every release of fleetc until this day reads version 1."""
SILENCE, SILENCES = "silence", "silences"
_NOT_OF_A_NAME = re.compile("[^a-z0-9]+")


class Change(NamedTuple):
    """A key that version 2 calls something else: its path without names, its new name, and why.

    `form` says how its value is written anew: "" as it was, "host_file" as a reference to that file, "%" as a
    percentage.
    """

    path: tuple[str, ...]
    name: str
    why: str
    form: str = ""


CHANGES = (
    Change(("gateways", "transcoding"), "renditions", "transcoding of an orchestrator is where video is transcoded"),
    Change(("ai_workers", "service"), "runner_label", "service of an orchestrator is its public address"),
    Change(("remote_signers", "webhook"), "auth_webhook", "gateways and orchestrators call theirs auth_webhook"),
    Change(("remote_signers", "webhook_headers"), "auth_webhook_headers", "they are for auth_webhook"),
    Change(
        ("monitoring", "receiver_token_file"),
        "receiver_token",
        "a secret is a reference everywhere else",
        form="host_file",
    ),
    Change(
        ("avatars", "registration", "min_service_uptime"),
        "min_service_uptime",
        "shares are percentages everywhere else",
        form="%",
    ),
)
"""Keys of version 1 that version 2 has in another form."""


class Default(NamedTuple):
    """A default that version 2 changed: the key with its value of before, and why."""

    table: str
    key: str
    before: bool
    why: str


DEFAULT = Default(
    "avatars", "game_command", before=True, why="nobody but the script runner of the same slot has to reach these ports"
)
DEFAULT_PATH: Path = (DEFAULTS, DEFAULT.table, DEFAULT.key)


@cache
def _changes() -> Mapping[tuple[str, ...], Change]:
    return {change.path: change for change in CHANGES}


def change_at(path: Path) -> Change | None:
    """The change of the key at a path, in a table, a class or defaults of a spec."""
    if not path or not isinstance(path[-1], str) or path[-1] not in _last_keys():
        return None
    said = in_the_language(path)
    return _changes().get(tuple(map(str, (said[0], *said[2:]) if said and said[0] in tables() else said)))


@cache
def _last_keys() -> frozenset[str]:
    return frozenset(change.path[-1] for change in CHANGES)


def respelled(change: Change, value: object) -> object:
    """A value in the form of the newest version; unchanged if it is not what the older one took."""
    if change.form == "host_file" and isinstance(value, str):
        return {change.form: value}
    if change.form == "%" and type(value) is int:
        return f"{value}%"
    return value


def respelled_text(text: str) -> str:
    """A key path that a spec has as text, such as `at` of a silence, as the newest version writes it."""
    path = parse_key(text)
    if path is None:
        return text
    if path == (SILENCE,):
        return SILENCES
    parts = list(path)
    for length in range(1, len(path) + 1):
        change = change_at(path[:length])
        if change is not None:
            parts[length - 1] = change.name
    return text if tuple(parts) == path else ".".join(toml_key(str(part)) for part in parts)


def silence_names(silences: Sequence[object]) -> list[str]:
    """A name for each of the silences of a list: its code, with the end of its place where several have one code."""
    said = [one if isinstance(one, dict) else {} for one in silences]
    often = Counter(str(one.get("code", "")) for one in said)
    taken: set[str] = set()
    names = []
    for one in said:
        code, at = str(one.get("code", "")), str(one.get("at", ""))
        words = f"{code} {at.rpartition('.')[2]}" if often[code] > 1 else code
        plain = _NOT_OF_A_NAME.sub("-", words.lower()).strip("-")[: NAME_LIMIT - 4].strip("-")
        name = stem = plain if plain[:1].isalpha() else f"silence-{plain}".strip("-")
        number = 2
        while name in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name)
        names.append(name)
    return names


def in_newest_version(document: Document) -> Document:
    """A document of an older version as one of the newest; any other as it is.

    What neither version has is left for the language to refuse.
    """
    if document.raw.get("spec") != 1 or type(document.raw["spec"]) is not int:
        return document
    older: dict[Path, Path] = {("spec",): ("spec",)}
    raw: dict[str, Any] = _renewed(document.raw, (), (), older)
    raw["spec"] = NEWEST
    silences = raw.get(SILENCE)
    if isinstance(silences, list) and SILENCES not in raw:
        del raw[SILENCE]
        raw[SILENCES] = dict(zip(silence_names(silences), map(renewed_silence, silences), strict=True))
        older |= {(SILENCES,): (SILENCE,)}
        older |= {(SILENCES, name): (SILENCE, index) for index, name in enumerate(raw[SILENCES])}
    if needs_default(raw):
        defaults = raw.get(DEFAULTS, {})
        raw[DEFAULTS] = {
            **defaults,
            DEFAULT.table: {DEFAULT.key: DEFAULT.before, **defaults.get(DEFAULT.table, {})},
        }
        older[DEFAULT_PATH] = ("spec",)
    return replace(document, raw=raw, written=raw, older=older)


def needs_default(raw: Mapping[str, Any]) -> bool:
    """Whether a spec of version 1 may have tables that go by the default that version 2 changed."""
    named, defaults = raw.get(DEFAULT.table), raw.get(DEFAULTS, {})
    said = defaults.get(DEFAULT.table, {}) if isinstance(defaults, dict) else None
    if not isinstance(named, dict) or not isinstance(said, dict) or DEFAULT.key in said:
        return False
    return any(isinstance(body, dict) and DEFAULT.key not in body for body in named.values())


def renewed_silence(one: Any) -> Any:
    """A silence whose place is as the newest version writes it."""
    if isinstance(one, dict) and isinstance(one.get("at"), str):
        return {**one, "at": respelled_text(one["at"])}
    return one


def _renewed(value: Any, path: Path, old: Path, older: dict[Path, Path]) -> Any:
    """A table with all below it; `path` is where it is in the newest version, and `old` where it is in the text."""
    if not isinstance(value, dict):
        return value
    renewed: dict[str, Any] = {}
    for key, inner in value.items():
        change = change_at((*old, key))
        name = change.name if change is not None and (change.name == key or change.name not in value) else key
        below = respelled(change, inner) if change is not None else inner
        renewed[name] = below if below is not inner else _renewed(inner, (*path, name), (*old, key), older)
        if name != key:
            older[(*path, name)] = (*old, key)
        if isinstance(below, dict) and below is not inner:
            older |= {(*path, name, part): (*old, key) for part in below}
    return renewed


def check(document: Document) -> Iterator[Diagnostic]:
    """A warning for a spec of an older version."""
    if document.is_older:
        message = f"this spec is of version 1 of the language; fleetc reads that until {READ_UNTIL}"
        advice = f"fleetc migrate writes it in version {NEWEST}; what it means stays the same"
        yield warning(OLD, message, Label(("spec",)), help=advice)


def refuse_newer(version: object) -> list[Diagnostic]:
    """Refuse a spec of a future version, with no other message: anything may mean something else there."""
    if type(version) is not int or version <= NEWEST:
        return []
    message = f"this fleetc reads the spec language up to version {NEWEST}, but this spec is of version {version}"
    advice = f"upgrade fleetc; if the spec never was of a newer version, write spec = {NEWEST}"
    return [error("spec-version-new", message, Label(("spec",)), help=advice)]


def renamed_since(path: Path) -> str:
    """What the newest version calls a key that only an older one has; "" for any other."""
    change = change_at(path)
    if path == (SILENCE,):
        return f"write [{SILENCES}.<name>] instead of [[{SILENCE}]]"
    if change is None or change.name == path[-1]:
        return ""
    form = f" = {{ {change.form} = ... }}" if change.form else ""
    return f"since version 2 it is {change.name}{form}: {change.why}"
