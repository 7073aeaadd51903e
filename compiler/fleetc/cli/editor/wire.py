"""Values of `assist/` in the words of the language server protocol.

In: offsets and places. Out: types of lsprotocol. A line and a column count from 0 there, and columns are counted in the
units that editor and server agreed on.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter

from fleetc.assist.page import Page
from fleetc.messages.locate import Located, Place
from fleetc.places.diagnostic import Severity
from fleetc.text.encoders import visible

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_WIDTHS = {types.PositionEncodingKind.Utf8: ("utf-8", 1), types.PositionEncodingKind.Utf16: ("utf-16-le", 2)}


P = TypeVar("P")


class Plain(dict[str, Any]):
    """A part of a long answer as it is in JSON: making a type of the protocol of each would take most of the time."""


def converter() -> Any:
    """What turns types of the protocol into JSON and back."""
    converters = default_converter()  # type: ignore[no-untyped-call]
    converters.register_unstructure_hook(Plain, lambda part: part)
    return converters


class Ruler:
    """Turns offsets of a text into positions and back, in the units of one editor."""

    def __init__(self, encoding: str) -> None:
        self._width = _WIDTHS.get(types.PositionEncodingKind(encoding))

    def position(self, page: Page, offset: int) -> types.Position:
        """The position of an offset."""
        return types.Position(**self.plain_position(page, offset))

    def plain_position(self, page: Page, offset: int) -> dict[str, int]:
        """The same as it is in JSON."""
        line, column = page.lines.position(offset)
        if not page.text.isascii():
            return {"line": line - 1, "character": self._units(page.lines.text(line)[: column - 1])}
        return {"line": line - 1, "character": column - 1}

    def range(self, page: Page, start: int, end: int) -> types.Range:
        """The range between two offsets."""
        return types.Range(self.position(page, start), self.position(page, end))

    def offset(self, page: Page, position: types.Position) -> int:
        """The offset of a position; one behind the end of a line or of the text is that end."""
        try:
            text = page.lines.text(position.line + 1)
        except IndexError:
            return len(page.text)
        if text.isascii():
            return page.lines.start(position.line + 1) + min(position.character, len(text))
        column = 0
        units = 0
        while column < len(text) and units < position.character:
            units += self._units(text[column])
            column += 1
        return page.lines.start(position.line + 1) + column

    def at(self, page: Page | None, line: int, column: int) -> types.Position:
        """The position of a line and column that count from 1, as places have them; line 0 is the file as a whole."""
        if not line:
            return types.Position(0, 0)
        try:
            text = page.lines.text(line) if page is not None else ""
        except IndexError:
            text = ""
        before = text[: column - 1]
        return types.Position(line - 1, self._units(before) + column - 1 - len(before))

    def _units(self, text: str) -> int:
        if self._width is None or (text.isascii()):
            return len(text)
        encoding, width = self._width
        return len(text.encode(encoding, "surrogatepass")) // width


def guarded(answer: Callable[[P], Any]) -> Callable[[P], Any]:
    """An answer that reports a bug without its traceback, which may hold texts of a spec."""
    if not iscoroutinefunction(answer):
        return _reporting()(answer)

    async def answered(params: P) -> Any:
        with _reporting():
            return await answer(params)

    return answered


@contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except JsonRpcException:
        raise
    except Exception as fault:
        if os.environ.get("FLEETC_DEBUG"):
            traceback.print_exception(fault)
        words = f"internal error ({type(fault).__name__}); set FLEETC_DEBUG=1 to see where, and report it"
        raise JsonRpcException(words) from None


def uri_of(path: Path) -> str:
    """The URI of a file."""
    return uris.from_fs_path(str(path)) or ""


def path_of(uri: str) -> Path | None:
    """The file of a URI; None for a document that is no file."""
    path = uris.to_fs_path(uri)
    return Path(path) if path and path.startswith("/") and "\0" not in path else None


def diagnostic(
    item: Located, ruler: Ruler, page_of: Callable[[str], Page | None], path_of_name: Callable[[str], Path]
) -> types.Diagnostic:
    """A diagnostic of `check`. Its words about a spec are plain text, never markup."""
    problem = item.diagnostic
    advice = f"\nhelp: {visible(problem.help)}" if problem.help else ""
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri_of(path_of_name(place.file)), _range(place, ruler, page_of(place.file))),
            visible(place.note or "see also"),
        )
        for place in item.related
        if place.file
    ]
    return types.Diagnostic(
        _range(item.primary, ruler, page_of(item.primary.file)),
        visible(problem.message + (f" ({item.primary.note})" if item.primary.note else "")) + advice,
        severity=_SEVERITIES[problem.severity],
        code=problem.code,
        source="fleetc",
        related_information=related or None,
    )


def _range(place: Place, ruler: Ruler, page: Page | None) -> types.Range:
    start = ruler.at(page, place.line, place.column)
    return types.Range(start, ruler.at(page, place.end_line or place.line, place.end_column or place.column))
