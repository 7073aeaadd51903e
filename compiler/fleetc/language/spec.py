"""The language as a whole: a document becomes a typed fleet, and the JSON Schema of a spec.

In: sources. Out: a `Document` (`read_spec`), a `Fleet` and diagnostics (`read_fleet`). A fleet that comes out has sound
values and references that lead somewhere, so rules and lowering need no defensive code.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from fleetc.language.fields import TOOL_FORM
from fleetc.language.fleet import NEWEST, NODE_TABLES, Fleet
from fleetc.language.problems import problems_of
from fleetc.language.references import check_references, too_many_nodes
from fleetc.language.sharing import resolve, tables
from fleetc.places.diagnostic import Diagnostic, Label, Path, Span, error, has_errors
from fleetc.toml.document import Document, Source, read_document, value_at
from fleetc.version import __version__

NODE_LIMIT = 100_000


def read_spec(sources: Sequence[Source]) -> tuple[Document | None, list[Diagnostic]]:
    """Read sources into one document, with shared values written out.

    No document if no source is TOML.
    """
    document, diagnostics = read_document(sources)
    if document is None:
        return None, diagnostics
    resolved, found = resolve(document)
    return resolved, diagnostics + found


def read_fleet(document: Document, like: tuple[Document, Fleet] | None = None) -> tuple[Fleet | None, list[Diagnostic]]:
    """Check the document against the language and then its references. Returns no fleet when there are errors.

    References of sound tables are checked although others have errors, but for names that these may have.

    `like` is a similar document with its fleet. Equal tables of both are one object in both fleets.
    """
    version = document.raw.get("spec")
    if type(version) is int and version > NEWEST:
        return None, [_newer(version)]
    settings = document.raw.get("fleet")
    other_tool = _other_tool(settings.get("fleetc")) if isinstance(settings, dict) else None
    if other_tool is not None:
        return None, [other_tool]
    crowded = too_many_nodes(document.raw, NODE_TABLES, NODE_LIMIT)
    if crowded:
        return None, crowded
    try:
        fleet = Fleet.model_validate(document.raw if like is None else _with_known(document.raw, *like))
    except ValidationError as found:
        if like is not None:
            return read_fleet(document)
        problems = problems_of(found, document, Fleet)
        return None, problems + _references_of_sound(document, problems)
    diagnostics = _references(fleet, document, ())
    return (None if has_errors(diagnostics) else fleet), diagnostics


def _references_of_sound(document: Document, problems: Sequence[Diagnostic]) -> list[Diagnostic]:
    """What is wrong with the references of all tables that the language accepts."""
    wrong = {problem.primary.place[:2] for problem in problems if not isinstance(problem.primary.place, Span)}
    raw = {
        kind: {name: body for name, body in named.items() if (kind, name) not in wrong}
        if kind in tables() and isinstance(named, dict)
        else named
        for kind, named in document.raw.items()
    }
    try:
        fleet = Fleet.model_validate(raw)
    except ValidationError:
        return []
    return _references(fleet, document, {path for path in wrong if path})


def _references(fleet: Fleet, document: Document, left_out: Collection[Path]) -> list[Diagnostic]:
    """What is wrong with references, but for unknown names that may be those of a table that was left out."""
    kinds = document.lost | {str(path[0]) for path in left_out}
    missing = tuple(f"there is no {kind.removesuffix('s').replace('_', ' ')} " for kind in kinds)
    names = {path[-1] for path in left_out}

    def follows(found: Diagnostic) -> bool:
        place = found.primary.place
        said = () if isinstance(place, Span) else (value_at(document.raw, place), place[-1])
        return found.message.startswith(missing) or any(isinstance(text, str) and text in names for text in said)

    return [found for found in check_references(fleet) if found.code != "unknown-reference" or not follows(found)]


def _newer(version: int) -> Diagnostic:
    """The only message about a spec of a newer version: all its keys may have other meanings."""
    message = f"this spec is of version {version} of the language, and this fleetc reads version {NEWEST}"
    advice = f"upgrade fleetc; if the spec never was of a newer version, write spec = {NEWEST}"
    return error("spec-version-new", message, Label(("spec",)), help=advice)


def _other_tool(needed: Any) -> Diagnostic | None:
    """The only message about a spec that needs another fleetc; None if this one fits, or if `needed` names none."""
    form = TOOL_FORM.fullmatch(needed) if isinstance(needed, str) else None
    if form is None:
        return None
    wanted, own = (tuple(map(int, version.split("."))) for version in (form[2], __version__))
    wanted += (0,) * (len(own) - len(wanted))
    if own == wanted or (own > wanted and form[1] == ">="):
        return None
    newer = " or newer" if form[1] == ">=" else ""
    message = f"this spec needs fleetc {form[2]}{newer}, and this is fleetc {__version__}"
    tag = ".".join(map(str, wanted))
    advice = f"install it: pipx install --force git+https://HOST/PATH@v{tag}"
    return error("fleetc-version-unfit", message, Label(("fleet", "fleetc")), help=advice)


def _with_known(raw: dict[str, Any], document: Document, fleet: Fleet) -> dict[str, Any]:
    """The tables, reusing those an earlier document already typed.

    Two texts of the same value, such as 0.5 and 0.50, are not the same.
    """
    absent = [kind for kind in Fleet.model_fields if kind not in raw and kind not in document.raw]
    found = {kind: typed for kind in absent if isinstance(typed := getattr(fleet, kind), BaseModel)} | raw
    for kind, named in raw.items():
        before, typed = document.raw.get(kind), getattr(fleet, kind, None)
        if isinstance(typed, BaseModel) and repr(named) == repr(before):
            found[kind] = typed
        elif isinstance(typed, dict) and isinstance(named, dict) and isinstance(before, dict):
            found[kind] = {
                name: typed[name]
                if isinstance(typed.get(name), BaseModel) and repr(table) == repr(before.get(name))
                else table
                for name, table in named.items()
            }
    return found


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of a spec file, with a description for every key. It is built once and never changed."""
    schema = Fleet.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"fleetc spec, version {NEWEST}"
    return schema
