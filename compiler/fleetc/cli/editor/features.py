"""What an editor can ask at a place of a text, by the protocol: each question is answered by a room of `assist/`.

In: requests. Out: types of lsprotocol. Answers about names and values come from the last check, and places from the
texts as they are now. What takes as long as a check runs in its thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fleetc.assist import completion, hints, hover, lenses, names
from fleetc.assist.names import Target
from fleetc.assist.page import Page, Spot
from fleetc.assist.state import Snapshot, alike
from fleetc.cli.editor import projects
from fleetc.cli.editor.desk import Work
from fleetc.cli.editor.server import Server
from fleetc.cli.editor.wire import Plain, Ruler, guarded, path_of, uri_of
from fleetc.disk import files
from fleetc.fixes import together
from fleetc.formatting import formatted
from fleetc.language.sharing import CLASSES, tables
from fleetc.messages.locate import Located
from fleetc.places.diagnostic import Path as KeyPath
from fleetc.text.encoders import visible
from fleetc.toml.document import Source
from fleetc.toml.edits import TextEdit

_KINDS = {
    "table": types.CompletionItemKind.Struct,
    "key": types.CompletionItemKind.Field,
    "flag": types.CompletionItemKind.Property,
    "word": types.CompletionItemKind.EnumMember,
    "name": types.CompletionItemKind.Reference,
    "class": types.CompletionItemKind.Class,
}
PART_KINDS = ("number", "unit", "operator")
_FIX = types.CodeActionKind.QuickFix
_TOKENS = types.SemanticTokensLegend(["number", "type", "operator"], [])


class Question(NamedTuple):
    """A text that a question is about, and what is known of its spec."""

    path: Path
    page: Page
    work: Work
    ruler: Ruler

    @property
    def snapshot(self) -> Snapshot:
        """The last check."""
        return self.work.snapshot


class Asking:
    """The questions of one editor."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.desk = server.desk
        self._reach: tuple[Snapshot, Mapping[KeyPath, lenses.Reach]] | None = None

    def about(self, uri: str) -> Question | None:
        """The text of a document; None if it is no part of a spec."""
        path = path_of(uri)
        work = self.desk.work_of(path) if path is not None else None
        if path is None or work is None:
            return None
        return Question(path, self.desk.pages[path], work, self._server.ruler)

    def answers(self, answer: Callable[[Question, Any], Any], nothing: Any = None) -> Callable[[Any], Any]:
        """What answers a request about a document: `nothing` where it is no part of a spec."""

        def answered(params: Any) -> Any:
            question = self.about(params.text_document.uri)
            return nothing if question is None else answer(question, params)

        return guarded(answered)

    def _pages(self, question: Question, closed: Iterable[Iterable[Source]] = ()) -> dict[str, Page]:
        """The texts of the spec, and of its overlays that are open or `closed`, by their names in messages."""
        project = question.work.project
        pages = {source.name: Page(source.text) for sources in closed for source in sources}
        for work in self._together(question):
            pages |= {str(path.relative_to(project.directory)): page for path, page in self.desk.pages_of(work)}
        return pages

    def _together(self, question: Question) -> list[Work]:
        """The project of a question, and the others of its spec: with an overlay, or without."""
        works = [work for work in self.desk.works.values() if work.project.spec == question.work.project.spec]
        return sorted(works, key=lambda work: work is not question.work)

    def _closed(self, question: Question) -> list[list[Source]]:
        """The spec of a question with each of its overlays that is not open."""
        return projects.closed_overlays(question.work.project, dict(self.desk.texts))

    def _location(self, question: Question, name: str, page: Page, spot: Spot) -> types.Location:
        path = question.work.project.path_of(name)
        return types.Location(uri_of(path), question.ruler.range(page, spot.start, spot.end))

    # ------------------------------------------------------------------------------------------------ at one place

    def hover(self, question: Question, params: types.HoverParams) -> types.Hover | None:
        offset = question.ruler.offset(question.page, params.position)
        answer = hover.hover(question.page, offset, question.snapshot, question.work.rests)
        if answer is None:
            return None
        content = types.MarkupContent(self._markup(), answer.text)
        return types.Hover(content, question.ruler.range(question.page, answer.start, answer.end))

    def _markup(self) -> types.MarkupKind:
        """Markdown, or plain text for an editor that shows no other; the words are the same."""
        asks = self._server.client_capabilities.text_document
        known = asks.hover.content_format if asks and asks.hover else None
        return types.MarkupKind.Markdown if types.MarkupKind.Markdown in (known or ()) else types.MarkupKind.PlainText

    def complete(self, question: Question, params: types.CompletionParams) -> Plain:
        """Suggestions, as snippets if the editor can: these put the cursor between brackets. Neovim cuts other text at
        its first space.
        """
        asks = self._server.client_capabilities.text_document
        knows = asks.completion.completion_item if asks and asks.completion else None
        plain = not (knows and knows.snippet_support)
        page, at = question.page, cache(partial(question.ruler.plain_position, question.page))

        def item(number: int, one: completion.Suggestion) -> Plain:
            text = one.text if plain else f"{_literal(one.text)}$0{_literal(one.closing)}"
            words = {"detail": visible(one.detail), "documentation": visible(one.about)}
            return Plain(
                label=visible(one.label),
                kind=_KINDS[one.kind].value,
                **{name: words[name] for name in words if words[name]},
                sortText=f"{number:05}",
                filterText=one.found_by or visible(one.label),
                insertTextFormat=1 if plain else 2,
                textEdit={"range": {"start": at(one.start), "end": at(one.end)}, "newText": text},
            )

        offset = question.ruler.offset(page, params.position)
        suggestions = completion.complete(page, offset, question.snapshot)
        return Plain(isIncomplete=False, items=[item(number, one) for number, one in enumerate(suggestions)])

    # ---------------------------------------------------------------------------------------------------- names

    def _target(self, question: Question, position: types.Position) -> tuple[Target, Spot] | None:
        offset = question.ruler.offset(question.page, position)
        return names.target_at(question.page, offset, question.snapshot.document)

    def definition(self, question: Question, params: types.DefinitionParams) -> list[types.Location]:
        pages, named = self._pages(question), self._target(question, params.position)
        if named is not None:
            spots = names.definitions(pages, named[0], question.snapshot.document)
            return [self._location(question, name, pages[name], spot) for name, spot in spots]
        offset = question.ruler.offset(question.page, params.position)
        gpu = names.gpu_at(question.page, offset, question.snapshot.document) or ("",)
        return [self._location(question, name, page, spot) for name, page in pages.items() if (spot := page.find(gpu))]

    def references(self, question: Question, params: types.ReferenceParams) -> list[types.Location]:
        named = self._target(question, params.position)
        if named is None:
            return []
        document = question.snapshot.document
        pages = self._pages(question, self._closed(question))
        spots = list(names.definitions(pages, named[0], document)) if params.context.include_declaration else []
        for name, page in pages.items():
            spots += [(name, spot) for spot in names.references(page, named[0], document)]
        return [self._location(question, name, pages[name], spot) for name, spot in spots]

    def prepare_rename(
        self, question: Question, params: types.PrepareRenameParams
    ) -> types.PrepareRenamePlaceholder | None:
        named = self._target(question, params.position)
        if named is None:
            return None
        target, spot = named
        return types.PrepareRenamePlaceholder(question.ruler.range(question.page, spot.start, spot.end), target.name)

    async def rename(self, params: types.RenameParams) -> types.WorkspaceEdit | None:
        question = self.about(params.text_document.uri)
        named = self._target(question, params.position) if question is not None else None
        document = question.snapshot.document if question is not None else None
        if question is None or named is None or document is None:
            return None
        closed = await self.desk.think(partial(self._closed, question))
        pages = self._pages(question, closed)
        specs = [*(work.snapshot.sources for work in self._together(question) if work.snapshot.sources), *closed]
        if len(specs) == len(closed):
            raise JsonRpcException("a file of the spec cannot be read", types.LSPErrorCodes.RequestFailed)
        try:
            work = partial(names.rename, specs, pages, named[0], params.new_name, document)
            pieces = await self.desk.think(work)
        except names.CannotRenameError as refusal:
            raise JsonRpcException(visible(str(refusal)), types.LSPErrorCodes.RequestFailed) from None
        return self._edit(question, pages, pieces)

    def _edit(
        self, question: Question, pages: Mapping[str, Page], pieces: Mapping[str, Sequence[names.Piece]]
    ) -> types.WorkspaceEdit:
        """Pieces of several files as one change, which an editor refuses if a file has changed meanwhile."""
        plain = {
            uri_of(question.work.project.path_of(name)): [
                types.TextEdit(question.ruler.range(pages[name], start, end), text) for start, end, text in some
            ]
            for name, some in pieces.items()
        }
        workspace = self._server.client_capabilities.workspace
        if not (workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes):
            return types.WorkspaceEdit(changes=plain)
        changes = []
        for uri, texts in plain.items():
            version = self._server.workspace.get_text_document(uri).version
            changes.append(types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), texts))
        return types.WorkspaceEdit(document_changes=changes)

    # ---------------------------------------------------------------------------------------------------- fixes

    def actions(self, question: Question, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The fixes of problems in a range, certain ones preferred, of the text as it was checked: none while not."""
        if not question.work.rests:
            return []
        pages, actions, snapshot = self._pages(question), list[types.CodeAction](), question.snapshot
        for item, repairs in zip(snapshot.located, snapshot.repairs, strict=True):
            if not (_wants(params.context.only, "quickfix") and self._touches(question, item, params.range)):
                continue
            known = [one for one in params.context.diagnostics if one.code == item.diagnostic.code] or None
            for repair in repairs:
                title = visible(repair.deed[:1].upper() + repair.deed[1:])
                edit = self._edit(question, pages, _by_file(question, [repair.pieces]))
                actions.append(types.CodeAction(title, _FIX, known, is_preferred=repair.certain, edit=edit))
        if _wants(params.context.only, "quickfix"):
            actions += self._answers(question, pages, params.range)
        certain = [repair for some in snapshot.repairs for repair in some if repair.certain]
        every = together({repair.fix: repair.pieces for repair in certain})
        if len(every) > 1 and _wants(params.context.only, _ALL):
            title = f"Makes {len(every)} certain repairs in all files of the spec"
            edit = self._edit(question, pages, _by_file(question, every.values()))
            actions.append(types.CodeAction(title, kind=_ALL, edit=edit))
        return actions

    def _answers(self, question: Question, pages: Mapping[str, Page], at: types.Range) -> Iterator[types.CodeAction]:
        """What TODO lines in a range offer."""
        start, end = _stretch(question, at)
        name = str(question.path.relative_to(question.work.project.directory))
        for piece in hints.offered(question.page.text, start, end):
            edit = self._edit(question, pages, {name: [piece]})
            yield types.CodeAction(visible(f"Writes {piece[2]}"), _FIX, edit=edit)

    def _touches(self, question: Question, item: Located, wanted: types.Range) -> bool:
        place = item.primary
        touches = place.line - 1 <= wanted.end.line and (place.end_line or place.line) - 1 >= wanted.start.line
        return touches and question.work.project.path_of(place.file) == question.path

    def format(self, question: Question, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        """The one form of a text; nothing where it is not TOML."""
        old = question.page.text
        new, _ = formatted(Source(question.path.name, old))
        if new is None or new == old:
            return []
        start = alike(old, new)
        same = alike(old[start:][::-1], new[start:][::-1])
        whole = question.ruler.range(question.page, start, len(old) - same)
        return [types.TextEdit(whole, new[start : len(new) - same])]

    # --------------------------------------------------------------------------------------------- the whole text

    def symbols(self, question: Question, params: types.DocumentSymbolParams) -> list[Plain]:
        at = cache(partial(question.ruler.plain_position, question.page))  # a table begins where the one before ends
        kind = types.SymbolKind.Struct.value

        def symbol(entry: hints.OutlineEntry) -> Plain:
            start = at(entry.start)
            whole, head = {"start": start, "end": at(entry.end)}, {"start": start, "end": at(entry.head)}
            inner = {"children": [symbol(child) for child in entry.inner]} if entry.inner else {}
            return Plain(name=entry.name, kind=kind, range=whole, selectionRange=head, **inner)

        return [symbol(entry) for entry in hints.outline(question.page)]

    def inlays(self, question: Question, params: types.InlayHintParams) -> list[types.InlayHint]:
        start, end = _stretch(question, params.range)
        at = partial(question.ruler.position, question.page)
        every = hints.hints(question.page, start, end, question.snapshot.document)
        shown = [hint for hint in every if start <= hint.offset <= end]
        return [types.InlayHint(at(one.offset), one.words, tooltip=one.more, padding_left=True) for one in shown]

    def tokens(
        self, question: Question, params: types.SemanticTokensParams | types.SemanticTokensRangeParams
    ) -> types.SemanticTokens:
        """The parts of amounts, each by its distance from the one before."""
        wanted = params.range if isinstance(params, types.SemanticTokensRangeParams) else None
        page, ruler = question.page, question.ruler
        start, end = _stretch(question, wanted) if wanted else (0, len(page.text))
        data: list[int] = []
        line = column = 0
        for part in hints.amounts(page, start, end):
            below, right = ruler.plain_position(page, part.start).values()
            data += (below - line, right - (column if below == line else 0), part.end - part.start)
            data += (PART_KINDS.index(part.kind), 0)
            line, column = below, right
        return types.SemanticTokens(data)

    def code_lenses(self, question: Question, params: types.CodeLensParams) -> list[types.CodeLens]:
        """A lens at each table, without its words: those are calculated for the visible ones."""
        if question.snapshot.fleet is None:
            return []
        depths = {CLASSES: 3, **dict.fromkeys(tables(), 2)}
        shown = [one for one in question.page.blocks if one.path and len(one.path) == depths.get(str(one.path[0]))]
        return [
            types.CodeLens(
                question.ruler.range(question.page, block.start, block.body),
                data={"uri": params.text_document.uri, "path": list(block.path)},
            )
            for block in shown
        ]

    async def code_lens(self, params: types.CodeLens) -> types.CodeLens:
        data = params.data if isinstance(params.data, dict) else {}
        question = self.about(str(data.get("uri", "")))
        reach = await self._reached(question) if question is not None else None
        nothing = lenses.Reach() if question is not None and question.snapshot.sound and question.work.rests else None
        of_table = reach.get(tuple(data.get("path", ())), nothing) if reach is not None else None
        params.command = types.Command(str(of_table or "what it affects is not known yet"), "")
        return params

    async def _reached(self, question: Question) -> Mapping[KeyPath, lenses.Reach] | None:
        """The reach of all tables, calculated once per check, and cancelled by typing."""
        snapshot, work = question.snapshot, question.work
        if not snapshot.sound or not work.rests or snapshot.fleet is None or snapshot.document is None:
            return self._reach[1] if self._reach is not None and self._reach[0].fleet is snapshot.fleet else None

        def calculated() -> Mapping[KeyPath, lenses.Reach] | None:
            if self._reach is not None and self._reach[0] is snapshot:
                return self._reach[1]
            assert snapshot.fleet is not None and snapshot.document is not None  # noqa: S101  # as above
            wanted: Callable[[], bool] = lambda: work.rests and work.snapshot is snapshot  # noqa: E731
            reach = lenses.reach(snapshot.fleet, snapshot.document, files.read_shipped(), wanted)
            if reach is not None:
                self._reach = (snapshot, reach)
            return reach

        return await self.desk.think(calculated)


_ACTIONS = types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll])
_ALL = types.CodeActionKind.SourceFixAll.value


def _stretch(question: Question, where: types.Range) -> tuple[int, int]:
    """The offsets of a range."""
    start, end = (question.ruler.offset(question.page, position) for position in (where.start, where.end))
    return start, end


def _literal(text: str) -> str:
    """A text escaped for a snippet."""
    return re.sub(r"[\\$}]", r"\\\g<0>", text)


def _by_file(question: Question, repairs: Iterable[Iterable[TextEdit]]) -> dict[str, list[names.Piece]]:
    """The pieces of repairs by the name of their file."""
    by_file: dict[str, list[names.Piece]] = {}
    for piece in (piece for pieces in repairs for piece in pieces):
        name = question.snapshot.sources[piece.source].name
        by_file.setdefault(name, []).append((piece.start, piece.end, piece.text))
    return by_file


def _wants(only: Sequence[types.CodeActionKind | str] | None, kind: str) -> bool:
    return not only or any(kind == str(wanted) or kind.startswith(f"{wanted}.") for wanted in only)


def register(server: Server) -> None:
    """Answer everything that an editor may ask."""
    asking = Asking(server)
    server.feature(types.TEXT_DOCUMENT_HOVER)(asking.answers(asking.hover))
    trigger = types.CompletionOptions(trigger_characters=['"', ".", "=", "[", "-", " "])
    server.feature(types.TEXT_DOCUMENT_COMPLETION, trigger)(asking.answers(asking.complete))
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(asking.answers(asking.definition, []))
    server.feature(types.TEXT_DOCUMENT_REFERENCES)(asking.answers(asking.references, []))
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(asking.answers(asking.prepare_rename))
    server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(guarded(asking.rename))
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _ACTIONS)(asking.answers(asking.actions, []))
    server.feature(types.TEXT_DOCUMENT_FORMATTING)(asking.answers(asking.format))
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(asking.answers(asking.symbols, []))
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT)(asking.answers(asking.inlays, []))
    server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))(
        asking.answers(asking.code_lenses, [])
    )
    server.feature(types.CODE_LENS_RESOLVE)(guarded(asking.code_lens))
    for part in (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE):
        server.feature(part, _TOKENS)(asking.answers(asking.tokens, types.SemanticTokens([])))
