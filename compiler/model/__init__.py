"""The language: every field, its type and its sentence of documentation, and the typed fleet they make.

In: a `Document`. Out: a `Fleet` and diagnostics (`parse`). A fleet that comes out has sound values and references that
lead somewhere, so rules and lowering need no defensive code.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from compiler.diagnostics import Diagnostic, has_errors
from compiler.model.fleet import NODE_TABLES, Fleet
from compiler.model.problems import problems
from compiler.model.references import check_references, too_many_nodes
from compiler.source import Document

NODE_LIMIT = 100_000


def parse(document: Document) -> tuple[Fleet | None, list[Diagnostic]]:
    """Check the document against the language and then its references. Returns no fleet when there are errors."""
    crowded = too_many_nodes(document.raw, NODE_TABLES, NODE_LIMIT)
    if crowded:
        return None, crowded
    try:
        fleet = Fleet.model_validate(document.raw)
    except ValidationError as found:
        return None, problems(found, document.raw, Fleet)
    diagnostics = check_references(fleet)
    return (None if has_errors(diagnostics) else fleet), diagnostics


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a spec file, with a description for every key."""
    schema = Fleet.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "fleetc spec, version 1"
    return schema
