"""Turns what pydantic finds into diagnostics that people can act on.

In: a pydantic ValidationError and the document. Out: diagnostics with key paths, a sentence, and a help line with
a guess at what was meant. Only `language/spec.py` calls it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from fleetc.language.fleet import NEWEST, NODE_TABLES, Fleet
from fleetc.language.rows import flag_called, in_the_spec
from fleetc.places.diagnostic import Diagnostic, Label, Path, Span, Value, error, fix_insert, fix_rename, fix_set
from fleetc.text import leaks
from fleetc.text.suggestions import LIMIT, Suggestions, asked, nearest_name, same_but_for_spelling
from fleetc.text.typography import typed_plainly
from fleetc.toml.document import Document

_WITH_FLAGS = ("fleet", "hosts", "wallets", *NODE_TABLES)
_SECRET_WORDS = ("password", "passphrase", "secret", "token", "credential", "api_key", "private_key")
_LONGEST_KEY = 100
"""A longer key is not compared with known names."""
_TABLES_SHOWN = 3
_TYPE_NAMES = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list in brackets",
    "list_type": "a list in brackets",
}


def _says_secret(path: Path, known: tuple[str, ...] = ()) -> bool:
    """Whether a key on the path is named like a secret, or the last key, given the `known` ones, almost like one.

    The value may then be the secret itself, written where a reference belongs.
    """
    if any(isinstance(part, str) and leaks.names_secret(part) for part in path):
        return True
    last = str(path[-1]).lower() if path else ""
    secrets = tuple(filter(leaks.names_secret, known))
    if not known or len(last) > _LONGEST_KEY:
        return False
    if difflib.get_close_matches(last, _SECRET_WORDS, n=1, cutoff=0.75):
        return True
    return nearest_name(last, secrets) != "" and leaks.names_secret(nearest_name(last, known))


def problems_of(found: ValidationError, document: Document, root: type[BaseModel]) -> list[Diagnostic]:
    """One diagnostic for each fault that pydantic reports about a document."""
    suggestions = Suggestions()
    diagnostics = problems(found, document.raw, root, suggestions)
    if len(document.sources) == 1:
        return diagnostics
    return [_of_overlay(document, suggestions, problem) for problem in diagnostics]


def problems(
    found: ValidationError, raw: dict[str, Any], root: type[BaseModel], suggestions: Suggestions | None = None
) -> list[Diagnostic]:
    """One diagnostic for each fault that pydantic reports about values without sources.

    A key that is missing beside an unknown one with almost its name is one fault: the misspelled key.
    """
    asked = suggestions or Suggestions()
    faults = found.errors(include_url=False, include_input=False)
    unknown = [fault["loc"] for fault in faults if fault["type"] == "extra_forbidden"][:LIMIT]
    misspelled = {(*loc[:-1], nearest_name(str(loc[-1]), known_keys(loc[:-1], root))) for loc in unknown}
    return [_problem(f, raw, root, asked) for f in faults if f["type"] != "missing" or f["loc"] not in misspelled]


def _of_overlay(document: Document, suggestions: Suggestions, problem: Diagnostic) -> Diagnostic:
    """A key that is missing in a table of an overlay: the table may be a misspelled one of the base."""
    place = problem.primary.place
    if problem.code != "missing-key" or isinstance(place, Span) or len(place) != 2 or document.in_base(place):
        return problem
    known = tuple(name for name in document.raw[str(place[0])] if document.in_base((place[0], name)))
    near = suggestions.near(str(place[1]), known)
    meant = f"{asked(near)} If it is new, " if near else "if it is new, "
    return replace(problem, help=f"no earlier source has {place[0]}.{place[1]}: {meant}{problem.help}")


def _problem(fault: Any, raw: dict[str, Any], root: type[BaseModel], suggestions: Suggestions) -> Diagnostic:
    loc: tuple[str | int, ...] = fault["loc"]
    kind: str = fault["type"]
    on_key = loc[-1:] == ("[key]",)
    path = _existing(loc[:-1] if on_key else loc, raw, keep_last=kind == "missing")
    last = str(path[-1]) if path else ""
    secret = _says_secret(path)
    if kind == "extra_forbidden":
        keys = known_keys(path[:-1], root)
        model = _model_at(root, path[:-1])
        assigned = getattr(model, "assigned", {})
        if last in assigned:
            place = Label(path, on_key=True, secret=_says_secret(path, keys))
            return error("assigned-by-service", f"only the service sets {last}", place, help=assigned[last])
        meant, near = same_but_for_spelling(last, keys), suggestions.near(last, keys)
        certain = meant and meant not in _value(path[:-1], raw)
        return error(
            "unknown-key",
            f'there is no key "{last}" here',
            Label(path, on_key=True, secret=_says_secret(path, keys)),
            help=getattr(model, "instead", {}).get(last)
            or _flag(last, path, near)
            or asked(near)
            or _elsewhere(last, path, root)
            or suggestions.listed(keys),
            fix=fix_rename(path, meant) if certain else None,
        )
    if kind == "missing":
        table = ".".join(map(str, path[:-1])) or "the spec"
        known = f"add {_header(root, path) or last}: {_description(root, path)}".rstrip(": ")
        return error(
            "missing-key",
            f'{table} lacks the key "{last}"',
            Label(path[:-1], "here"),
            help=known,
            fix=fix_insert(path, NEWEST) if path == ("spec",) else None,
        )
    if kind == "spec":
        context = fault["ctx"]
        place = Label(path, on_key=on_key, secret=context["secret"] or secret)
        repair = None if on_key or place.secret else context["repair"]
        value = None if on_key or place.secret else _value(path, raw)
        plain = typed_plainly(value).strip("\"' ") if isinstance(value, str) else ""
        typed = plain and isinstance(value, str) and typed_plainly(value) != value
        advice = f'write it with plain quotes and spaces: "{plain}"' if typed else context["help"]
        if on_key and last.startswith("LP_"):
            advice = _flag(last, path) or advice
        fix = fix_set(path, repair) if repair is not None else None
        return error("invalid-value", context["message"], place, help=advice, fix=fix)
    if kind in _TYPE_NAMES:
        meant_value = _retyped(kind, _value(path, raw), _field(root, path))
        return error(
            "wrong-type",
            f"{_called(path)} must be {_TYPE_NAMES[kind]}",
            Label(path, secret=secret),
            help=_shape(kind, path, raw, root) or _description(root, path),
            fix=fix_set(path, meant_value) if meant_value is not None else None,
        )
    if kind == "literal_error":
        expected = _words(fault["ctx"]["expected"])
        value = _value(path, raw)
        otherwise = "write one of: " + ", ".join(f'"{w}"' for w in expected)
        spelled = same_but_for_spelling(value, expected) if isinstance(value, str) else ""
        return error(
            "unknown-value",
            f"{_called(path)} has an unknown value",
            Label(path, secret=secret),
            help=asked([spelled]) if spelled else suggestions.did_you_mean(str(value), expected, otherwise),
            fix=fix_set(path, spelled) if spelled else None,
        )
    message = f"{last}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
    return error("invalid-value", message, Label(path, secret=secret), help=_description(root, path))


def _elsewhere(key: str, path: Path, root: type[BaseModel]) -> str:
    """Other tables that have a misplaced key; "" for none, or more than a few."""
    if len(path) != 3 or path[0] not in NODE_TABLES:
        return ""
    tables = [name for name in NODE_TABLES if name != path[0] and key in known_keys((name, ""), root)]
    return f"{key} is a key of {' and '.join(tables)}" if 0 < len(tables) <= _TABLES_SHOWN else ""


def _retyped(kind: str, value: Any, field: FieldInfo | None) -> Value | None:
    """The value in the type that its key takes, if only one can be meant: "8" for 8, "true" for true."""
    if kind == "int_type" and isinstance(value, str) and re.fullmatch(r"0|-?[1-9][0-9]{0,17}", value):
        return int(value)
    if kind == "int_type" and isinstance(value, Decimal) and abs(value) < 10**18 and value == int(value):
        return int(value)
    if kind == "bool_type" and isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if kind == "string_type" and not isinstance(value, bool) and isinstance(value, int | Decimal):
        return str(value) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", str(value)) else None
    takes_texts = field is not None and not _models_of(field.annotation)
    if kind in ("tuple_type", "list_type") and isinstance(value, str) and takes_texts:
        return (value,) if value and not re.search(r"[\s,]", value) else None
    return None


def _flag(word: str, path: Path, near: tuple[str, ...] = ()) -> str:
    """What to write for a flag or a variable of the node, in tables with node settings; "" for other words."""
    flag = flag_called(word) if path[0] in _WITH_FLAGS and len(path) > 1 else ""
    if not flag:
        return ""
    told = in_the_spec(flag, str(path[0]))
    return f"{told}; {asked(near)}" if near and not any(name in told for name in near) else told


def _header(root: type[BaseModel], path: Path) -> str:
    """The header of a table that a whole spec lacks; "" for other keys."""
    field = _field(root, path) if len(path) == 1 else None
    if field is None or not _models_of(field.annotation):
        return ""
    return f"[{path[0]}.<name>]" if get_origin(field.annotation) is dict else f"[{path[0]}]"


def _called(path: Path) -> str:
    """What a message calls the value at a path: its key, or its position in the list."""
    return f"item {path[-1] + 1} of {path[-2]}" if isinstance(path[-1], int) else str(path[-1])


def _shape(kind: str, path: Path, raw: dict[str, Any], root: type[BaseModel]) -> str:
    """How to write a table instead of what is there; "" if nothing certain can be said."""
    if _TYPE_NAMES[kind] != "a table":
        return ""
    if isinstance(path[-1], int):
        model = _model_at(root, path)
        needed = [name for name, field in model.model_fields.items() if field.is_required()] if model else []
        value = _value(path, raw)
        plain = len(needed) == 1 and isinstance(value, str) and re.fullmatch(r"[\w./:@ -]{1,60}", value)
        text = f'"{value}"' if plain and leaks.may_show(value) else "..."
        return f"write a table in braces: {{ {', '.join(f'{name} = {text}' for name in needed)} }}" if needed else ""
    if isinstance(_value(path, raw), list):
        return f"write single brackets: [{'.'.join(map(str, path))}]"
    if len(path) == 2:
        return f"each of the {path[0]} needs a name: write [{path[0]}.<name>] above its keys"
    return ""


def _existing(loc: Sequence[str | int], raw: Any, keep_last: bool) -> Path:
    """Drop what is in `loc` but not in the document: pydantic adds the names of union members."""
    path: list[str | int] = []
    for position, part in enumerate(loc):
        if _has(raw, part):
            raw = raw[part]
        elif not (keep_last and position == len(loc) - 1):
            continue
        path.append(part)
    return tuple(path)


def _has(raw: Any, part: str | int) -> bool:
    if isinstance(raw, list):
        return isinstance(part, int) and part < len(raw)
    return isinstance(raw, dict) and part in raw


def _value(path: Path, raw: Any) -> Any:
    for part in path:
        raw = raw[part]
    return raw


def _models_of(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _models_of(argument)]


def _model_at(root: type[BaseModel], path: Path) -> type[BaseModel] | None:
    here: type[BaseModel] | None = root
    named = False
    for part in path:
        field = here.model_fields.get(str(part)) if here and not named else None
        named = field is not None and get_origin(field.annotation) is dict  # the next part is a name
        if field is not None:
            models = _models_of(field.annotation)
            here = models[0] if models else None
    return None if named else here


def known_keys(path: Path, root: type[BaseModel] = Fleet) -> tuple[str, ...]:
    """The keys that the language knows in the table at a path; none where it takes any."""
    model = _model_at(root, path)
    return _keys_of(model) if model else ()


@cache
def _keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(model.model_fields)


@cache
def _words(expected: str) -> tuple[str, ...]:
    """The words of pydantic's list such as "'video', 'ai' or 'dual'"."""
    return tuple(word.strip("' ") for word in expected.replace(" or ", ", ").split(","))


def _field(root: type[BaseModel], path: Path) -> FieldInfo | None:
    model = _model_at(root, path[:-1])
    return model.model_fields.get(str(path[-1])) if model and path else None


def _description(root: type[BaseModel], path: Path) -> str:
    field = _field(root, path)
    return field.description or "" if field else ""
