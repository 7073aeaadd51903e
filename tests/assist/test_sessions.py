"""Editing sessions, recorded as data: what somebody does in an editor, asks there and gets, over the real protocol.

In: `sessions/*.toml`. A step is one deed or one question; `|` is the cursor. At each `rest` the diagnostics that are
shown are those of `fleetc check`, in every word and place.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fleetc.cli.editor.features import PART_KINDS
from tests.assist.editing import Editor
from tests.support import INVENTORIES

pytestmark = [pytest.mark.usefixtures("processes"), pytest.mark.asyncio]

SESSIONS = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).with_name("sessions").glob("*.toml"))
}
Step = dict[str, Any]


@pytest.mark.parametrize("name", SESSIONS)
async def test_a_person_gets_what_the_session_says(name: str, editor: Editor, root: Path, tmp_path: Path) -> None:
    session = SESSIONS[name]
    lay_out(session, root)
    opened = session.get("open", ["fleet.toml"])
    for file in opened:
        editor.open(file)
    await editor.rest()
    for number, step in enumerate(session["step"]):
        deed = next(iter(step))
        try:
            await getattr(_Person(editor, opened[0], tmp_path / "twin"), deed)(step)
        except AssertionError as fault:
            fault.add_note(f"step {number} of {name}: {step}")
            raise


def lay_out(session: Step, root: Path) -> None:
    """The files of a session: its own, or those of an example fleet."""
    for file, text in session.get("files", {}).items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
    for path in (INVENTORIES / session["fleet"]).glob("*.toml"):
        shutil.copy(path, root)


class _Person:
    """Every deed and question of a session, by its name there."""

    def __init__(self, editor: Editor, file: str, twin: Path) -> None:
        self.editor = editor
        self.file = file
        self.twin = twin

    def _at(self, asked: Step) -> tuple[str, types.TextDocumentIdentifier, types.Position]:
        file = asked.get("file", self.file)
        return file, self.editor.document(file), self.editor.cursor(file, asked["at"])

    # ------------------------------------------------------------------------------------------------------ deeds

    async def edit(self, step: Step) -> None:
        deed = step["edit"]
        self.editor.edit(deed.get("file", self.file), deed["find"], deed["put"])

    async def open(self, step: Step) -> None:
        self.editor.open(step["open"])

    async def close(self, step: Step) -> None:
        self.editor.close(step["close"])

    async def save(self, step: Step) -> None:
        self.editor.save(step["save"])

    async def elsewhere(self, step: Step) -> None:
        """Another program writes a file that is not open, and the editor tells."""
        file = step["elsewhere"]["file"]
        text = (self.editor.root / file).read_text(encoding="utf-8")
        assert step["elsewhere"]["find"] in text
        text = text.replace(step["elsewhere"]["find"], step["elsewhere"]["put"])
        (self.editor.root / file).write_text(text, encoding="utf-8")
        assert self.editor.asked_for == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]
        event = types.FileEvent(self.editor.uri(file), types.FileChangeType.Changed)
        self.editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        self.editor.shown.clear()

    async def rest(self, step: Step) -> None:
        await self.editor.rest()
        overlays = [name for name in self.editor.texts if name == "staging.toml"]
        base = self.editor.checked(self.twin)
        over = sum((self.editor.checked(self.twin, name, only=name) for name in overlays), type(base)())
        assert self.editor.agrees(base + over)
        assert sorted(one[3] for one in self.editor.diagnostics().elements()) == sorted(step["rest"])

    async def format(self, step: Step) -> None:
        options = types.FormattingOptions(4, True)
        document = self.editor.document(self.file)
        asked = types.DocumentFormattingParams(document, options)
        self.editor.make(self.file, list(await self.editor.client.text_document_formatting_async(asked) or ()))
        assert step["makes"] in self.editor.texts[self.file]

    # -------------------------------------------------------------------------------------------------- questions

    async def hover(self, step: Step) -> None:
        _, document, position = self._at(step["hover"])
        found = await self.editor.client.text_document_hover_async(types.HoverParams(document, position))
        assert found is not None and isinstance(found.contents, types.MarkupContent)
        assert [words for words in step["has"] if words not in found.contents.value] == [], found.contents.value
        assert [words for words in step.get("hasnt", ()) if words in found.contents.value] == []

    async def complete(self, step: Step) -> None:
        file, document, position = self._at(step["complete"])
        asked = types.CompletionParams(document, position)
        found = await self.editor.client.text_document_completion_async(asked)
        assert isinstance(found, types.CompletionList)
        items = {item.label: item for item in found.items}
        assert [label for label in step["has"] if label not in items] == [], sorted(items)
        assert [label for label in step.get("hasnt", ()) if label in items] == []
        if "accept" in step:
            self.editor.accept(file, items[step["accept"]])

    async def definition(self, step: Step) -> None:
        _, document, position = self._at(step["definition"])
        asked = types.DefinitionParams(document, position)
        self._leads(await self.editor.client.text_document_definition_async(asked), step)

    async def references(self, step: Step) -> None:
        _, document, position = self._at(step["references"])
        asked = types.ReferenceParams(types.ReferenceContext(False), document, position)
        self._leads(await self.editor.client.text_document_references_async(asked), step)

    def _leads(self, found: Any, step: Step) -> None:
        """Places as the lines that they are on."""
        lines = []
        for place in found or ():
            file = place.uri.removeprefix(f"{self.editor.root.as_uri()}/")
            lines.append(f"{file}: {self.editor.text_of(file).splitlines()[place.range.start.line]}")
        assert sorted(lines) == sorted(step["leads"])

    async def rename(self, step: Step) -> None:
        _, document, position = self._at(step["rename"])
        offered = await self.editor.client.text_document_prepare_rename_async(
            types.PrepareRenameParams(document, position)
        )
        assert offered is not None
        asked = types.RenameParams(document, position, step["rename"]["to"])
        if "refused" in step:
            with pytest.raises(JsonRpcException) as refusal:
                await self.editor.client.text_document_rename_async(asked)
            assert step["refused"] in str(refusal.value)
            return
        edit = await self.editor.client.text_document_rename_async(asked)
        assert edit is not None
        self.editor.apply(edit)
        whole = "\n".join(map(self.editor.text_of, self.editor.specs()))
        assert [words for words in step["makes"] if words not in whole] == []
        assert step.get("gone", "\0") not in whole

    async def related(self, step: Step) -> None:
        """What the places beside the first diagnostic point to."""
        (_, items) = self.editor.shown[self.file]
        said = [
            self.editor.words(self.file, place.location.range)
            for item in items
            for place in item.related_information or ()
        ]
        assert [words for words in said if words not in step["related"]] == [] and said

    async def fix(self, step: Step) -> None:
        file, document, position = self._at(step["fix"])
        context = types.CodeActionContext(self.editor.shown[file][1])
        asked = types.CodeActionParams(document, types.Range(position, position), context)
        (action,) = await self.editor.client.text_document_code_action_async(asked) or ()
        assert isinstance(action, types.CodeAction) and action.edit is not None
        assert action.title == step["title"]
        self.editor.apply(action.edit)
        assert step["makes"] in self.editor.texts[file]

    async def outline(self, step: Step) -> None:
        asked = types.DocumentSymbolParams(self.editor.document(self.file))
        found = await self.editor.client.text_document_document_symbol_async(asked)
        names = [one.name for one in found or ()]
        assert [name for name in step["outline"] if name not in names] == [], names

    def _line(self, asked: Step) -> types.Range:
        """The range of the first line that begins so."""
        text = self.editor.texts[self.file]
        start = next(at for at in range(len(text)) if text.startswith(asked["line"], at) and text[at - 1] == "\n")
        return self.editor.range(self.file, start, text.index("\n", start))

    async def beside(self, step: Step) -> None:
        asked = types.InlayHintParams(self.editor.document(self.file), self._line(step["beside"]))
        found = await self.editor.client.text_document_inlay_hint_async(asked) or ()
        said = " ".join(str(hint.label) for hint in found)
        assert [words for words in step["has"] if words not in said] == [], said

    async def parts(self, step: Step) -> None:
        where = self._line(step["parts"])
        asked = types.SemanticTokensRangeParams(self.editor.document(self.file), where)
        found = await self.editor.client.text_document_semantic_tokens_range_async(asked)
        assert found is not None
        line = column = 0
        said = []
        for at in range(0, len(found.data), 5):
            down, right, length, kind, _ = found.data[at : at + 5]
            line, column = line + down, right if down else column + right
            place = types.Range(types.Position(line, column), types.Position(line, column + length))
            said.append(f"{self.editor.words(self.file, place)} {PART_KINDS[kind]}")
        assert said == step["has"]

    async def lens(self, step: Step) -> None:
        document = self.editor.document(self.file)
        await self.editor.rest()
        found = await self.editor.client.text_document_code_lens_async(types.CodeLensParams(document)) or ()
        for lens in found:
            line = self.editor.words(self.file, lens.range)
            if line in step["lens"]:
                resolved = await self.editor.client.code_lens_resolve_async(lens)
                assert resolved.command is not None
                assert step["lens"][line] in resolved.command.title
        assert {self.editor.words(self.file, lens.range) for lens in found} >= step["lens"].keys()
        assert self.editor.refreshed  # the editor was asked to ask again once there was an answer
