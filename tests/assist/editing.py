"""An editor for tests: it opens files of a fleet, types, asks, and knows what `fleetc check` says of the same texts.

In: a client of pytest-lsp that has started `fleetc lsp`, and a directory with a fleet. Out: what the server answers, in
offsets and words that a session can write down.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient

from fleetc.text.encoders import visible
from tests.support import fleetc

HANGS = 60
"""Seconds after which a test gives up: nothing is judged by them."""


class Editor:
    """What a person has open, and the last diagnostics of each file with the version that they are about."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self.order: list[tuple[str, int | None, list[types.Diagnostic]]] = []
        self._news = asyncio.Event()

        def published(params: types.PublishDiagnosticsParams) -> None:
            name = params.uri.removeprefix(f"{self.root.as_uri()}/")
            self.shown[name] = (params.version, list(params.diagnostics))
            self.order.append((name, params.version, list(params.diagnostics)))
            self._news.set()

        client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = published  # its own keeps no versions

        def registered(params: types.RegistrationParams) -> None:
            self.asked_for += [one.method for one in params.registrations]

        def refreshed(params: None) -> None:
            self.refreshed += 1

        self.refreshed = 0
        for method in (types.WORKSPACE_CODE_LENS_REFRESH, types.WORKSPACE_INLAY_HINT_REFRESH):
            client.protocol.fm.features[method] = refreshed
        self.asked_for: list[str] = []
        client.protocol.fm.features[types.CLIENT_REGISTER_CAPABILITY] = registered

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def document(self, name: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri(name))

    # ------------------------------------------------------------------------------------------------ what it does

    def open(self, name: str) -> None:
        self.texts[name] = (self.root / name).read_text(encoding="utf-8")
        self.versions[name] = 1
        item = types.TextDocumentItem(self.uri(name), "toml", 1, self.texts[name])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def close(self, name: str) -> None:
        del self.texts[name], self.versions[name]
        self.shown.clear()
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.document(name)))

    def save(self, name: str) -> None:
        (self.root / name).write_text(self.texts[name], encoding="utf-8")
        self.shown.clear()
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.document(name)))

    def replace(self, name: str, start: int, end: int, text: str) -> None:
        """Type over a stretch of a text, as an editor tells it: only what changed."""
        old = self.texts[name]
        change = types.TextDocumentContentChangePartial(range=self.range(name, start, end), text=text)
        self.texts[name] = old[:start] + text + old[end:]
        self.versions[name] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def edit(self, name: str, find: str, put: str) -> None:
        """Replace a piece of text that is there once."""
        assert self.texts[name].count(find) == 1, f"{find!r} is not once in {name}"
        start = self.texts[name].index(find)
        self.replace(name, start, start + len(find), put)

    async def rest(self) -> None:
        """Wait until what is shown is about the texts as they are."""
        async with asyncio.timeout(HANGS):
            while any(self.shown.get(name, (0, []))[0] != version for name, version in self.versions.items()):
                self._news.clear()
                await self._news.wait()

    # ------------------------------------------------------------------------------------------------- positions

    def position(self, name: str, offset: int) -> types.Position:
        before = self.texts[name][:offset]
        line = before.rpartition("\n")[2]
        return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)

    def range(self, name: str, start: int, end: int) -> types.Range:
        return types.Range(self.position(name, start), self.position(name, end))

    def offset(self, name: str, position: types.Position) -> int:
        lines = self.text_of(name).split("\n")
        line = lines[position.line]
        units = line.encode("utf-16-le")[: 2 * position.character].decode("utf-16-le")
        return sum(len(one) + 1 for one in lines[: position.line]) + len(units)

    def text_of(self, name: str) -> str:
        return self.texts[name] if name in self.texts else (self.root / name).read_text(encoding="utf-8")

    def cursor(self, name: str, at: str) -> types.Position:
        """Where a piece of text is that has a | for the cursor, and that is there once."""
        before, _, behind = at.partition("|")
        assert self.texts[name].count(before + behind) == 1, f"{at!r} is not once in {name}"
        return self.position(name, self.texts[name].index(before + behind) + len(before))

    def specs(self) -> list[str]:
        """Every file of the fleet that is TOML."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.toml"))

    def words(self, name: str, where: types.Range) -> str:
        """The text in a range."""
        return self.text_of(name)[self.offset(name, where.start) : self.offset(name, where.end)]

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Make a change of the server, also in files that are not open: those it writes and saves."""
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            name = change.text_document.uri.removeprefix(f"{self.root.as_uri()}/")
            assert change.text_document.version in (None, self.versions.get(name))
            edits = [one for one in change.edits if isinstance(one, types.TextEdit)]
            if name in self.texts:
                self.make(name, edits)
                continue
            text = self.text_of(name)
            for start, end, put in self._spans(name, edits):
                text = text[:start] + put + text[end:]
            (self.root / name).write_text(text, encoding="utf-8")

    def accept(self, name: str, item: types.CompletionItem) -> None:
        """Write what a completion suggests, as an editor with snippets."""
        edit = item.text_edit
        assert isinstance(edit, types.TextEdit) and item.insert_text_format is types.InsertTextFormat.Snippet
        self.make(name, [types.TextEdit(edit.range, re.sub(r"\\(.)|\$0", lambda one: one[1] or "", edit.new_text))])

    def make(self, name: str, edits: list[types.TextEdit]) -> None:
        for start, end, text in self._spans(name, edits):
            self.replace(name, start, end, text)

    def _spans(self, name: str, edits: list[types.TextEdit]) -> list[tuple[int, int, str]]:
        """Where edits write what, the last one first."""
        spans = [(self.offset(name, one.range.start), self.offset(name, one.range.end), one.new_text) for one in edits]
        return sorted(spans, reverse=True)

    # ----------------------------------------------------------------------------------------------- what is shown

    def diagnostics(self, only: str = "") -> Counter[tuple[Any, ...]]:
        """What is shown, each with its file, range, severity, code, words and related places."""
        return Counter(
            (name, _plain(one.range), int(one.severity or 0), str(one.code), one.message, _related(one, self.root))
            for name, (_, items) in self.shown.items()
            if not only or name == only
            for one in items
        )

    def agrees(self, checked: Counter[tuple[Any, ...]]) -> bool:
        """Whether it shows what `check` says; while a text cannot be read, also what is wrong elsewhere in it."""
        unreadable = any(one[3] == "toml-syntax" for one in checked)
        return checked <= self.diagnostics() if unreadable else checked == self.diagnostics()

    def checked(self, twin: Path, *overlays: str, only: str = "") -> Counter[tuple[Any, ...]]:
        """The same from `fleetc check`, run on a copy of the texts in another directory."""
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if path.suffix in (".toml", ".star"):
                (twin / name).parent.mkdir(parents=True, exist_ok=True)
                (twin / name).write_text(self.text_of(name), encoding="utf-8")
        extra = [word for one in overlays for word in ("--overlay", one)]
        found = json.loads(fleetc("check", "--format", "json", *extra, cwd=twin).stdout)
        severities = {"error": 1, "warning": 2, "note": 3}
        return Counter(
            (
                one["primary"]["file"] or "fleet.toml",
                self._span(one["primary"]),
                severities[one["severity"]],
                one["code"],
                _message(one),
                tuple(
                    (place["file"], self._span(place), visible(place["note"] or "see also"))
                    for place in one["related"]
                    if place["file"]
                ),
            )
            for one in found["diagnostics"]
            if not only or one["primary"]["file"] == only
        )

    def _span(self, place: dict[str, Any]) -> tuple[int, int, int, int]:
        if not place["line"]:
            return (0, 0, 0, 0)
        lines = self.text_of(place["file"]).split("\n")

        def units(line: int, column: int) -> int:
            return len(lines[line - 1][: column - 1].encode("utf-16-le")) // 2

        start, end = (place["line"], place["column"]), (place["end_line"], place["end_column"])
        return (start[0] - 1, units(*start), end[0] - 1, units(*end))


def _message(found: dict[str, Any]) -> str:
    note = found["primary"]["note"]
    said = visible(found["message"] + (f" ({note})" if note else ""))
    return said + (f"\nhelp: {visible(found['help'])}" if found["help"] else "")


def _plain(where: types.Range) -> tuple[int, int, int, int]:
    return (where.start.line, where.start.character, where.end.line, where.end.character)


def _related(one: types.Diagnostic, root: Path) -> tuple[Any, ...]:
    return tuple(
        (place.location.uri.removeprefix(f"{root.as_uri()}/"), _plain(place.location.range), place.message)
        for place in one.related_information or ()
    )
