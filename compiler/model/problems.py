"""Turns what pydantic finds into diagnostics that people can act on.

In: a pydantic ValidationError and the raw document. Out: diagnostics with key paths, a sentence, and a help line with
a guess at what was meant. Only `model/__init__.py` calls it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from compiler.diagnostics import Diagnostic, Label, Path, error

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


def nearest_name(word: str, known: Iterable[str]) -> str:
    """The known name most like `word`, or "" when none is near."""
    found = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return found[0] if found else ""


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A help line: the nearest known name, else the few that exist, else `otherwise`."""
    names = sorted(known)
    near = nearest_name(word, names)
    if near:
        return f'did you mean "{near}"?'
    if otherwise or not names:
        return otherwise
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"known: {shown}"


def problems(found: ValidationError, raw: dict[str, Any], root: type[BaseModel]) -> list[Diagnostic]:
    """One diagnostic for each fault that pydantic reports."""
    return [_problem(fault, raw, root) for fault in found.errors(include_url=False, include_input=False)]


def _problem(fault: Any, raw: dict[str, Any], root: type[BaseModel]) -> Diagnostic:
    loc: tuple[str | int, ...] = fault["loc"]
    kind: str = fault["type"]
    on_key = loc[-1:] == ("[key]",)
    path = _existing(loc[:-1] if on_key else loc, raw, keep_last=kind == "missing")
    last = str(path[-1]) if path else ""
    if kind == "extra_forbidden":
        keys = _known_keys(root, path[:-1])
        return error(
            "unknown-key",
            f'there is no key "{last}" here',
            Label(path, on_key=True),
            help=did_you_mean(last, keys),
        )
    if kind == "missing":
        table = ".".join(map(str, path[:-1])) or "the spec"
        known = f"add {last}: {_description(root, path)}".rstrip(": ")
        return error("missing-key", f'{table} needs the key "{last}"', Label(path[:-1], "here"), help=known)
    if kind == "spec":
        context = fault["ctx"]
        place = Label(path, on_key=on_key, secret=context["secret"])
        return error("invalid-value", context["message"], place, help=context["help"])
    if kind in _TYPE_NAMES:
        return error("wrong-type", f"{last} must be {_TYPE_NAMES[kind]}", Label(path), help=_description(root, path))
    if kind == "literal_error":
        expected = [word.strip("' ") for word in fault["ctx"]["expected"].replace(" or ", ", ").split(",")]
        value = _value(path, raw)
        otherwise = "write one of: " + ", ".join(f'"{w}"' for w in expected)
        near = nearest_name(value, expected) if isinstance(value, str) else ""
        return error(
            "unknown-value",
            f"{last} is one of a few words",
            Label(path),
            help=f'did you mean "{near}"?' if near else otherwise,
        )
    return error("invalid-value", f"{last}: {fault['msg'][:1].lower()}{fault['msg'][1:]}", Label(path))


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
    for part in path:
        field = here.model_fields.get(str(part)) if here else None
        if field is not None:
            models = _models_of(field.annotation)
            here = models[0] if models else None
    return here


def _known_keys(root: type[BaseModel], path: Path) -> list[str]:
    model = _model_at(root, path)
    return list(model.model_fields) if model else []


def _description(root: type[BaseModel], path: Path) -> str:
    model = _model_at(root, path[:-1])
    field = model.model_fields.get(str(path[-1])) if model and path else None
    return field.description or "" if field else ""
