"""The language as a whole: a document becomes a typed fleet, and the JSON Schema of a spec.

In: sources. Out: a `Document` (`read_spec`), a `Fleet` and diagnostics (`read_fleet`). A fleet that comes out has sound
values and references that lead somewhere, so rules and lowering need no defensive code.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from fleetc.language.fleet import NEWEST, NODE_TABLES, Fleet
from fleetc.language.problems import problems_of
from fleetc.language.references import check_references, too_many_nodes
from fleetc.language.sharing import resolve
from fleetc.places.diagnostic import Diagnostic, Label, error, has_errors
from fleetc.toml.document import Document, Source, read_document

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

    `like` is a similar document with its fleet. Equal tables of both are one object in both fleets.
    """
    version = document.raw.get("spec")
    if type(version) is int and version > NEWEST:
        return None, [_newer(version)]
    crowded = too_many_nodes(document.raw, NODE_TABLES, NODE_LIMIT)
    if crowded:
        return None, crowded
    try:
        fleet = Fleet.model_validate(document.raw if like is None else _with_known(document.raw, *like))
    except ValidationError as found:
        return None, problems_of(found, document, Fleet) if like is None else read_fleet(document)[1]
    diagnostics = check_references(fleet)
    return (None if has_errors(diagnostics) else fleet), diagnostics


def _newer(version: int) -> Diagnostic:
    """The only message about a spec of a newer version: all its keys may have other meanings."""
    message = f"this spec is of version {version} of the language, and this fleetc reads version {NEWEST}"
    advice = f"upgrade fleetc; if the spec never was of a newer version, write spec = {NEWEST}"
    return error("spec-version-new", message, Label(("spec",)), help=advice)


def _with_known(raw: dict[str, Any], document: Document, fleet: Fleet) -> dict[str, Any]:
    """The tables, reusing those an earlier document already typed.

    Two texts of the same value, such as 0.5 and 0.50, are not the same.
    """
    absent = [kind for kind in Fleet.model_fields if kind not in raw and kind not in document.raw]
    found = {kind: typed for kind in absent if isinstance(typed := getattr(fleet, kind), BaseModel)} | raw
    for kind, tables in raw.items():
        before, typed = document.raw.get(kind), getattr(fleet, kind, None)
        if isinstance(typed, BaseModel) and repr(tables) == repr(before):
            found[kind] = typed
        elif isinstance(typed, dict) and isinstance(tables, dict) and isinstance(before, dict):
            found[kind] = {
                name: typed[name]
                if isinstance(typed.get(name), BaseModel) and repr(table) == repr(before.get(name))
                else table
                for name, table in tables.items()
            }
    return found


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of a spec file, with a description for every key. It is built once and never changed."""
    schema = Fleet.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"fleetc spec, version {NEWEST}"
    return schema
