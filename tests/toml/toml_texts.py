"""Helpers for tests of the TOML side: sources that must be fine, sources that must be refused, the law of places."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from fleetc.places.diagnostic import Diagnostic, Severity, Span
from fleetc.toml.document import Document, Source, read_document
from fleetc.toml.scan import Marks, Scan

DATA = Path(__file__).parents[1] / "data"
VECTORS = json.loads((DATA / "toml_vectors.json").read_text())
EVERY_FORM = (DATA / "every_form.toml").read_text()


def scalars(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every path of a parsed text with its value; tables and arrays too."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from scalars(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from scalars(item, (*path, index))


def check_places(text: str, document: Document) -> int:
    """The law: what stands under a value's span parses to the value, and under a key's span to the key."""
    checked = 0
    every, asked = Scan(text).marks, Marks(text)
    assert all(asked.find(path) == every[path] for path in reversed(every))
    for path, value in scalars(document.raw):
        span = document.span(path)
        key = document.span(path, on_key=True)
        assert span is not None and key is not None, path
        under = text[span.start : span.end]
        under_key = text[key.start : key.end]
        if isinstance(path[-1], str):
            assert list(tomllib.loads(f"{under_key} = 1")) == [path[-1]]
        items_have_headers = isinstance(value, list) and document.span((*path, 0)) == span
        if items_have_headers or (isinstance(value, dict) and under.startswith("[")):
            assert tomllib.loads(under), "a table's or an array of tables' place is a whole header"
            assert isinstance(path[-1], int) or under_key in under
        elif isinstance(value, dict) and not under.startswith("{"):
            assert under == under_key, "a table that dotted keys imply stands where its key does"
        else:
            assert tomllib.loads(f"x = {under}", parse_float=Decimal)["x"] == value, path
            checked += 1
    return checked


def read(text: str) -> Document:
    """A document of one source that must be fine."""
    document, diagnostics = read_document([Source("fleet.toml", text)])
    assert diagnostics == []
    assert document is not None
    return document


def refuse(*texts: str) -> list[Diagnostic]:
    """The diagnostics of sources that must be refused. Their places all lie inside the texts."""
    names = {f"f{index}.toml": text for index, text in enumerate(texts)}
    document, diagnostics = read_document([Source(name, text) for name, text in names.items()])
    assert document is None
    assert diagnostics
    for diagnostic in diagnostics:
        assert diagnostic.severity is Severity.ERROR
        for label in (diagnostic.primary, *diagnostic.related):
            assert isinstance(label.place, Span)
            assert 0 <= label.place.start <= label.place.end <= len(names[label.place.source])
    return diagnostics


def under(diagnostic: Diagnostic, text: str) -> str:
    """What a diagnostic's caret stands under."""
    assert isinstance(diagnostic.primary.place, Span)
    return text[diagnostic.primary.place.start : diagnostic.primary.place.end]
