"""What of a spec sets what nodes and avatar stacks read: flags, variables, and keys of files.

In: a word as people have it before them, such as -pricePerUnit, LP_ETHURL, AVATAR_CLUSTER_FILE or aiModels.json:warm.
Out: `Setter`, with the fields that lead to it. The tables are those of lowering. Called by `finding.py` and
`reference.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from fleetc.blueprint.blueprint import CLUSTER_FILE, LAUNCH_FLAGS
from fleetc.language.rows import UNREACHED, fields_that_set, flag_called
from fleetc.messages.tables import plain_name, tables
from fleetc.text.suggestions import Suggestions, asked, did_you_mean, folded
from fleetc.upstream import FLAGS
from fleetc.upstream.avatar import settings

EXTRA_FLAGS = "gateways.extra_flags"
_EXTRA = f"Flags of a newer release, which no field sets yet, can stand in extra_flags: fleetc explain {EXTRA_FLAGS}."
_SHOWN = 4
_BRANDS = ("AVATAR", "EMBODY")
_SLOT_KEYS = {"avatar_id": ("avatars.slots.avatar",), "slot": ("avatars.slots.slot",), "gpu": ("avatars.slots.gpu",)}
_FLAG_FILES = (LAUNCH_FLAGS, "node.env", "host.env", "turn.env", "compose.yaml", "profile.sh")


class Setter(NamedTuple):
    """What sets something: a sentence, and dotted names of fields or tables without the names of users."""

    sentence: str
    fields: tuple[str, ...]


class UnknownSetterError(ValueError):
    """fleetc writes nothing with this name; the text has similar names."""


def setter_of(word: str) -> Setter | None:
    """What sets a flag, a variable or a key of a file; None if the word looks like none of them.

    Raises UnknownSetterError if it looks like one and is not.
    """
    file, colon, key = word.rpartition(":")
    if colon and file and key:
        return _in_file(file.rpartition("/")[2], key)
    name = word.lstrip("-").partition("=")[0]
    flag = name if name in FLAGS else flag_called(name)
    if flag:
        return _of_flag(flag)
    looks_like_one = word.startswith("-") or (name.isupper() and "_" in name)
    return _of_variable(name) or (_unknown_flag(word, name) if looks_like_one else None)


def _of_flag(flag: str) -> Setter:
    fields, word = fields_that_set(flag), f"-{flag} of the node (LP_{flag.upper()})"
    if flag in UNREACHED:
        reason = f"{word} is set by no field: {UNREACHED[flag]}."
        return Setter(f"{reason} {_EXTRA}", ())
    nodes = [field for field in fields if "." not in field]
    if nodes:
        itself = f"fleetc itself sets {word}: for {' or '.join(f'each table under {table}' for table in nodes)}"
        others = [field for field in fields if "." in field]
        also = f", and by {' or '.join(others)}" if others else ""
        return Setter(f"{itself}{also}. extra_flags does not take it: it is for flags that no field sets.", fields)
    return Setter(f"{word} is set by {_listed(fields)}.", fields)


def _listed(fields: tuple[str, ...]) -> str:
    shown = fields if len(fields) <= _SHOWN else (*fields[: _SHOWN - 1], f"{len(fields) - _SHOWN + 1} more")
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _of_variable(name: str) -> Setter | None:
    """What sets a variable of the avatar stack, with or without its brand."""
    for known, setting in settings().items():
        if name in (known, *(setting.variable(brand) for brand in _BRANDS)):
            if setting.field:
                field = f"avatars.{setting.field}"
                return Setter(f"{name} of the avatar stack is set by {field}.", (field,))
            return Setter(f"fleetc itself sets {name} of the avatar stack: {setting.decided}.", ("avatars",))
    return None


def _unknown_flag(word: str, name: str) -> Setter:
    plain = name[3:] if name.startswith("LP_") else name
    flags = {flag.lower(): flag for flag in FLAGS}  # people know a variable in capitals
    near = [flags[flag] for flag in Suggestions(1).near(plain.lower(), flags)] if len(plain) > 1 else []
    variables = [setting.variable("AVATAR") for setting in settings().values()]
    advice = asked(near or Suggestions(1).near(name, variables))
    kind = "flag" if word.startswith(("-", "LP_")) else "variable"
    extra = f"{advice} {_EXTRA}" if advice else _EXTRA[0].lower() + _EXTRA[1:]
    raise UnknownSetterError(f'fleetc knows no {kind} "{word}"; {extra}')


# ---------------------------------------------------------------------------------------------------------- files


def _files() -> dict[str, dict[str, tuple[str, ...]]]:
    """The keys of each JSON file that a node or a stack reads, with the fields that they come from."""
    from fleetc.lower import models, prices  # only here: no other page needs them
    from fleetc.lower.gateway import RENDITIONS_FILE

    ladder = next(table for table in tables() if plain_name(table.name) == "ladders.profiles")
    return {
        models.MODELS_FILE: models.KEYS,
        prices.PRICES_FILE: prices.KEYS,
        RENDITIONS_FILE: {field.name: (f"ladders.profiles.{field.name}",) for field in ladder.fields},
        CLUSTER_FILE: {"slot_count": ("avatars.slots",), "instances": ("avatars.slots",), **_SLOT_KEYS},
    }


def _in_file(file: str, key: str) -> Setter | None:
    if key.isdigit():
        raise UnknownSetterError(f"{file}:{key} is a line: fleetc why FILE:LINE says where it comes from")
    if file in _FLAG_FILES:
        return setter_of(key) or _unknown_flag(key, key)
    known = {name.lower(): name for name in _files()}
    if file.lower() not in known:
        if "." not in file:
            return None
        near = asked(name for name in known.values() if folded(name)[:4] == folded(file)[:4])
        files = ", ".join([*_files(), *_FLAG_FILES])
        raise UnknownSetterError(f'no file "{file}" has keys that lead to a field; {near or f"there are {files}"}')
    name = known[file.lower()]
    keys = _files()[name]
    if key not in keys:
        raise UnknownSetterError(f'{name} has no key "{key}"; {did_you_mean(key, keys)}')
    return Setter(f"{key} in {name} comes from {_listed(keys[key])}.", keys[key])


def flags_of_field(dotted: str) -> tuple[str, ...]:
    """The flags that go by a field, sorted. `dotted` has no names of users."""
    return tuple(sorted(flag for flag in FLAGS if dotted in fields_that_set(flag)))
