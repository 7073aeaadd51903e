"""Brings the text of a spec to the newest version of the language: the work of `fleetc migrate`.

In: sources, the first one the spec, then what it includes and its overlays. Out: sources with the same meaning in the
newest version, and what was changed. Only what changed between versions is touched: comments, order and spacing stay.
Pure; `cli/` writes the files. What the texts mean before and after is compared, with each overlay and with all of
them, and nothing is handed out that means anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fleetc.language import versions
from fleetc.language.fleet import NEWEST
from fleetc.language.spec import read_spec, read_written
from fleetc.places.diagnostic import Diagnostic, Edit, EditKind, Label, Path, Span, error
from fleetc.toml.comments import comments_of
from fleetc.toml.document import REMOVE, Document, LineMap, Source, value_at
from fleetc.toml.edits import Sheet, TextEdit, locate, toml_key, toml_value, written
from fleetc.toml.reader import read
from fleetc.toml.scan import KeySpans, Layout, Statement, parse_key

_SPEC: Path = ("spec",)
_NAMED = "silences have names, so that several files can have some and overlays add to them"
_REPLACED = "the list of an overlay replaced that of the spec, and tables with names do not"
_TOGETHER = "one overlay replaces silences of the other: migrate with one of them, and then with the other"
_DEFAULT = f"first write {versions.DEFAULT.key} in each table of {versions.DEFAULT.table}: its default changed"
_WRONG = "first correct what fleetc check says about it"


class Step(NamedTuple):
    """One thing that a migration changed: where, what stood there, what stands there now, and why."""

    file: str
    line: int
    before: str
    after: str
    why: str


class Migrated(NamedTuple):
    """Sources of the newest version and what was changed; with diagnostics, the sources as they were."""

    sources: tuple[Source, ...]
    steps: tuple[Step, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


class _Piece(NamedTuple):
    edit: TextEdit
    why: str


def migrate(sources: Sequence[Source]) -> Migrated:
    """The sources in the newest version. A spec that cannot be read, or is of a newer version, stays as it is."""
    before = tuple(sources)
    whole = [source for index, source in enumerate(before) if index == 0 or source.part]
    document, diagnostics = read_written(whole)
    if document is not None:
        diagnostics = versions.refuse_newer(document.raw.get("spec"))
    for overlay in before[len(whole) :]:
        diagnostics += read(overlay.name, overlay.text)[1]
    if document is None or diagnostics:
        return Migrated(before, (), tuple(diagnostics))
    silences = document.raw.get(versions.SILENCES)
    silences = silences if isinstance(silences, dict) else {}
    texts = [_Text(index, source, {} if source in whole else silences) for index, source in enumerate(before)]
    pieces = [piece for text in texts for piece in text.pieces()]
    by_default = any(_goes_by_the_default(chosen) for chosen in _together(before))
    if by_default:
        pieces += _default([text.sheet for text in texts[: len(whole)]])
    edits = [piece.edit for piece in pieces]
    after = tuple(replace(source, text=written(source.text, index, edits)) for index, source in enumerate(before))
    differing = _first_unreadable(before, after) or (_first_differing(before, after) if document.is_older else None)
    if differing is None:
        return Migrated(after, tuple(_steps(before, pieces)))
    advice = _DEFAULT if by_default else _WRONG
    if len(differing) - len(whole) > 1:
        advice = _TOGETHER
    message = "this spec cannot be migrated without changing what it means"
    place = Label(Span(differing[-1].name, 0, 0))
    return Migrated(before, (), (error("migration-uncertain", message, place, help=advice),))


def _together(sources: Sequence[Source]) -> list[list[Source]]:
    """The sources that are read together: the spec alone, with each of its overlays, and with all of them."""
    whole = [source for index, source in enumerate(sources) if index == 0 or source.part]
    overlays = list(sources[len(whole) :])
    return [whole, *([*whole, overlay] for overlay in overlays), [*whole, *overlays]]


def _steps(sources: Sequence[Source], pieces: Sequence[_Piece]) -> Iterator[Step]:
    lines = [LineMap(source.text) for source in sources]
    for edit, why in sorted(pieces, key=lambda piece: piece.edit[:3]):
        line, _ = lines[edit.source].position(edit.start)
        yield Step(sources[edit.source].name, line, edit.before, edit.after, why)


def _goes_by_the_default(sources: Sequence[Source]) -> bool:
    """Whether tables go by the default that the newest version changed."""
    document, _ = read_written(sources)
    return document is not None and versions.DEFAULT_PATH in document.older


def _default(sheets: Sequence[Sheet]) -> Iterator[_Piece]:
    """The default of before, said in the defaults of the spec."""
    default = versions.DEFAULT
    found = locate(sheets, Edit(versions.DEFAULT_PATH, EditKind.INSERT, default.before))
    if not found:
        text = sheets[0].text
        line = f"{default.key} = {toml_value(default.before)}"
        block = f"[{'.'.join(map(str, versions.DEFAULT_PATH[:-1]))}]\n{line}\n"
        gap = "\n" if text.endswith("\n") else "\n\n"
        found = [TextEdit(sheets[0].number, len(text), len(text), gap + block, "", line)]
    yield from (_Piece(edit, default.why) for edit in found)


def _first_unreadable(before: Sequence[Source], after: Sequence[Source]) -> list[Source] | None:
    """The first source whose new text is no TOML."""
    found = (old for old, new in zip(before, after, strict=True) if read(new.name, new.text)[1])
    return next(([source] for source in found), None)


def _first_differing(before: Sequence[Source], after: Sequence[Source]) -> list[Source] | None:
    """The first of the sources that are read together whose texts mean something else than before.

    Older keys in a spec of the newest version, or in its overlays, meant nothing before: they were refused.
    """
    for old_sources, new_sources in zip(_together(before), _together(after), strict=True):
        old, _ = read_spec(old_sources)
        if old is None:
            continue  # these sources never were together
        new, _ = read_spec(new_sources)
        if new is None or _meaning(new) != _meaning(old):
            return old_sources
    return None


def _meaning(document: Document) -> dict[str, Any]:
    """What a spec says; an empty list of silences is no table in the newest version."""
    return {key: value for key, value in document.raw.items() if key != versions.SILENCES or value != {}}


def _is_list_of_tables(said: object) -> bool:
    """Whether silences are a list of tables; anything else is left for the language to refuse."""
    return isinstance(said, list) and all(isinstance(one, dict) for one in said)


def _comment_lines(text: str) -> list[str]:
    return [line.strip() for comment in comments_of(text) for line in comment.split("\n")]


class _Text:
    """One source on its way to the newest version. Its own list of silences replaces those of `base`."""

    def __init__(self, number: int, source: Source, base: Mapping[str, Any]) -> None:
        self.sheet = Sheet(number, source.text, Layout(source.text))
        self._raw, _ = read(source.name, source.text)
        self._base = base

    def pieces(self) -> Iterator[_Piece]:
        """What changes in this text."""
        if self._raw.get("spec") == 1 and type(self._raw["spec"]) is int:
            yield self._set(_SPEC, str(NEWEST), "the version")
        for path, marks in self.sheet.layout.mentions.items():
            change = versions.change_at(path)
            if change is not None:
                yield from self._key(path, change, marks)
        if _is_list_of_tables(self._raw.get(versions.SILENCE)):
            yield from self._silences(self._raw[versions.SILENCE])
        yield from self._removals()

    def _piece(self, start: int, end: int, text: str, why: str) -> _Piece:
        before = self.sheet.text[start:end]
        return _Piece(TextEdit(self.sheet.number, start, end, text, before.strip(), text.strip()), why)

    def _set(self, path: Path, text: str, why: str) -> _Piece:
        mark = self.sheet.layout.marks[path]
        return self._piece(mark.start, mark.end, text, why)

    def _key(self, path: Path, change: versions.Change, marks: Sequence[KeySpans]) -> Iterator[_Piece]:
        """A key with another name, or a value in another form."""
        if change.name != path[-1]:
            if value_at(self._raw, (*path[:-1], change.name)) is not None:
                return  # the language refuses the older of two
            for mark in marks:
                yield self._piece(mark.key_start, mark.key_end, change.name, change.why)
        value = value_at(self._raw, path)
        anew = versions.respelled(change, value)
        if anew is value:
            return
        if isinstance(anew, dict):
            mark = self.sheet.layout.marks[path]
            text = self.sheet.text[mark.start : mark.end]
            yield self._set(path, f"{{ {change.form} = {text} }}", change.why)
        else:
            yield self._set(path, toml_value(str(anew)), change.why)

    def _silences(self, said: list[Any]) -> Iterator[_Piece]:
        """A list of silences as tables with names; and in an overlay, the removal of those that the list replaced."""
        names = versions.silence_names(said)
        whole = next((each for each in self.sheet.layout.pairs.get((), []) if each.path == (versions.SILENCE,)), None)
        for index, name in enumerate(names):
            header = self.sheet.layout.headers.get((versions.SILENCE, index))
            if header is not None:
                yield self._piece(header.start, header.end, f"[{versions.SILENCES}.{name}]", _NAMED)
                at = value_at(said[index], ("at",))
                if isinstance(at, str) and versions.respelled_text(at) != at:
                    path = (versions.SILENCE, index, "at")
                    yield self._set(path, toml_value(versions.respelled_text(at)), _NAMED)
        if whole is not None:
            yield from self._from_brackets(whole, dict(zip(names, said, strict=True)))
        own = dict(zip(names, said, strict=True))
        gone = [name for name, base in self._base.items() if name not in own or not base.keys() <= own[name].keys()]
        if gone and not self._removes_silences():
            yield from self._also_removes([f"{versions.SILENCES}.{name}" for name in gone])

    def _from_brackets(self, whole: Statement, said: Mapping[str, Any]) -> Iterator[_Piece]:
        """Tables at the end of the text instead of a list in brackets; the comments of each come along."""
        text = self.sheet.text
        end = text.find("\n", whole.end) + 1 or len(text)
        starts = [self.sheet.layout.marks[(versions.SILENCE, index)].start for index in range(len(said))]
        lines: list[str] = []
        at = whole.start
        for index, (name, one) in enumerate(said.items()):
            line_end = text.find("\n", self.sheet.layout.marks[(versions.SILENCE, index)].end)
            behind = min(end if line_end < 0 else line_end, *starts[index + 1 : index + 2], end)
            lines += ["", *_comment_lines(text[at:behind]), f"[{versions.SILENCES}.{name}]"]
            lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in versions.renewed_silence(one).items()]
            at = behind
        lines += _comment_lines(text[at:end])
        yield self._piece(whole.start, end, "", _NAMED)
        if said or lines:
            gap = "\n" if text.endswith("\n") else "\n\n"
            yield self._piece(len(text), len(text), gap + "\n".join(lines).strip() + "\n", _NAMED)

    def _removes_silences(self) -> bool:
        listed = self._raw.get(REMOVE)
        said = listed if isinstance(listed, list) else []
        return any(isinstance(one, str) and parse_key(one) == (versions.SILENCE,) for one in said)

    def _also_removes(self, paths: Sequence[str]) -> Iterator[_Piece]:
        listed = self._raw.get(REMOVE)
        said = ", ".join(map(toml_value, paths))
        if listed is None:
            found = locate([self.sheet], Edit((REMOVE,), EditKind.INSERT, tuple(paths)))
            yield from (_Piece(edit, _REPLACED) for edit in found)
        elif listed == []:
            inside = self.sheet.layout.marks[(REMOVE,)].start + 1
            yield self._piece(inside, inside, said, _REPLACED)
        elif isinstance(listed, list):
            end = self.sheet.layout.marks[(REMOVE, len(listed) - 1)].end
            yield self._piece(end, end, f", {said}", _REPLACED)

    def _removals(self) -> Iterator[_Piece]:
        """The key paths that an overlay removes, by their names of the newest version."""
        listed = self._raw.get(REMOVE)
        for index, said in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(said, str) and versions.respelled_text(said) != said:
                yield self._set((REMOVE, index), toml_value(versions.respelled_text(said)), "the key is called that")
