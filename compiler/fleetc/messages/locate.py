"""Finds the lines that diagnostics talk about: here key paths become file, line and column.

In: diagnostics, the sources they talk about and, when it was read, the document. Out: `Located` diagnostics in the
total order, without duplicates, with everything covered that may be a secret. Every form of messages starts from these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fleetc.places.diagnostic import Diagnostic, Label, Path, Severity, Span
from fleetc.text import leaks
from fleetc.text.counting import first_of
from fleetc.toml.document import Document, LineMap, Source
from fleetc.upstream import FLAGS

NAMES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
"""The word for each severity; SARIF has the same three."""

_NAMED = 3
"""How many members of a table for many are named in a message."""

_WORDS_LIMIT = 2000
_PIECE = 12
"""How many characters of a secret in a row are too many in a message. Of a shorter secret, all of it."""


_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://(?P<user>[^\s/?#]*@)?(?P<host>[^\s/?#@]+)")
_FLAG = re.compile(r"\s-{1,2}([A-Za-z][A-Za-z0-9_-]*)$")
_WORDS = re.compile(r"[^\"'\s]+")
_PLAIN = re.compile(r"[a-z]{1,5}")
_JSON_KEY = re.compile(r'"[a-z]{1,20}(?:_[a-z]{1,20}){0,5}"\s*:')


class Place(NamedTuple):
    """A label with its file, line and column, from 1, and the end of its span; line 0 means the file as a whole.

    `text` is the first line; `hidden`: it may hold a secret and must not be printed.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    note: str
    path: str
    text: str
    hidden: bool = False


class Located(NamedTuple):
    """A diagnostic whose labels are places. The fields are in the order that diagnostics are sorted by.

    `withheld`: its own words repeated a secret, so other words replace them.
    """

    key: tuple[str, int, int, int, str, str]
    diagnostic: Diagnostic
    primary: Place
    related: tuple[Place, ...]
    withheld: bool = False


class _Atlas:
    """Turns labels into places, and remembers the lines of each source."""

    def __init__(self, sources: Sequence[Source], document: Document | None) -> None:
        self._document = document
        self._texts = {source.name: source.text for source in sources}
        self._maps: dict[str, LineMap] = {}
        self.secret_lines: set[tuple[str, int]] = set()
        self.secrets = {text for text in set(_texts(document.raw)) if leaks.find(text)} if document else set[str]()

    def place(self, label: Label) -> Place:
        target = label.place
        if isinstance(target, Span):
            span = Span(target.source, target.start, target.end)
            path = ""
            value: Any = self._texts.get(target.source, "")[target.start : target.end]
        else:
            path = ".".join("[secret]" if leaks.find(str(part)) else str(part) for part in target)
            value = _value(self._document.raw, target) if self._document else None
            if self._document is None:
                return Place("", 0, 0, 0, 0, label.note, path, "")
            span = self._document.nearest(target, label.on_key)
        if span.source not in self._texts:
            return Place(span.source, 0, 0, 0, 0, label.note, path, "")
        if span.source not in self._maps:
            self._maps[span.source] = LineMap(self._texts[span.source])
        lines = self._maps[span.source]
        line, column = lines.position(span.start)
        end_line, end_column = lines.position(span.end)
        if label.secret:
            self.secrets.update(_texts(value))
        elif self._document is None:
            self._unread(span.source, line, lines.text(line))
        if label.secret or (not isinstance(value, dict) and any(map(leaks.find, _texts(value)))):
            self.secret_lines.update((span.source, number) for number in range(line, end_line + 1))
        return Place(span.source, line, column, end_line, end_column, label.note, path, lines.text(line))

    def _unread(self, source: str, line: int, text: str) -> None:
        """A line of a text that could not be read: what it seems to hold is hidden, as the value of a key may be."""
        key, _, value = text.partition("=")
        secret_key = leaks.names_secret(key.strip().strip("\"'").rpartition(".")[2])
        flag = _FLAG.search(key)  # the last one of a command line, whose value is the next word
        if secret_key and (flag is None or leaks.names_secret(flag[1])):
            words = _WORDS.findall(value)[: None if flag is None else 1]
            self.secrets.update(map(_unnamed, words if len(words) == 1 else _telling(value, words)))
        if leaks.find(text):
            self.secrets.update(map(_unnamed, _suspects(text)))
        if secret_key or leaks.find(text):
            self.secret_lines.add((source, line))


def _telling(value: str, words: Sequence[str]) -> list[str]:
    """What reveals a value: the whole, and each of its words except short plain ones."""
    return [value.strip().strip("\"'"), *(word for word in words if not _PLAIN.fullmatch(word))]


def _suspects(line: str) -> list[str]:
    """The words of a line that hold its secret: the suspicious ones if they are all it has, else all but the names of
    JSON keys.
    """
    words = _WORDS.findall(_JSON_KEY.sub(" ", line))
    suspects = [word for word in words if leaks.find(word)]
    rest = line
    for word in suspects:
        rest = rest.replace(word, "")
    if not suspects or leaks.find(rest):
        return words
    return [part for word in suspects for part in _around_host(word)]


def _around_host(word: str) -> list[str]:
    """The parts of an address without its scheme and its host, which others may name; the word itself if it is none."""
    address = _HOST.search(word)
    if address is None or leaks.find(address["host"]) or leaks.find(f"https://{address['host']}"):
        return [word]
    return [address["user"] or "", word[address.end() :]]


def _unnamed(word: str) -> str:
    """A word without the name of a flag of the node, which hides nothing; "" for the name of a variable."""
    name, _, value = word.lstrip("-").partition("=")
    value = value if word.startswith("-") and name in FLAGS else word
    return "" if re.fullmatch(r"\$\{[A-Za-z_]\w*\}", value) else value


def locate(
    diagnostics: Iterable[Diagnostic], sources: Sequence[Source], document: Document | None, apart: bool = False
) -> list[Located]:
    """Give every diagnostic its places, remove duplicates, and sort by file, position and code.

    Those that members share are one, unless they are to be `apart`.
    """
    diagnostics = list(diagnostics)
    if not diagnostics:
        return []  # looking through a whole spec takes time
    atlas = _Atlas(sources, document)
    order = {source.name: index for index, source in enumerate(sources)}
    items: dict[Any, Located] = {}
    if document is not None and document.layers and not apart:
        diagnostics = _by_line(diagnostics, document)
    for diagnostic in diagnostics:
        primary = atlas.place(diagnostic.primary)
        rank = order.get(primary.file, len(order))
        key = (
            f"{rank:04}{primary.file}",
            primary.line,
            primary.column,
            diagnostic.severity,
            diagnostic.code,
            diagnostic.message,
        )
        related = tuple(map(atlas.place, diagnostic.related))
        if document is not None and document.layers:
            primary, *related_once = _once([primary, *related])
            related = tuple(related_once)
        items.setdefault(key, Located(key, diagnostic, primary, related))
    hidden = [_hide(items[key], atlas.secret_lines) for key in sorted(items)]
    return [_bounded(_masked(item)) for item in _withhold(hidden, atlas.secrets)]


def _by_line(diagnostics: Iterable[Diagnostic], document: Document) -> list[Diagnostic]:
    """One diagnostic for all members that share a fault in the line of a class or counter table."""
    groups: dict[Any, list[Diagnostic]] = {}
    for place, diagnostic in enumerate(diagnostics):
        at = _shared(diagnostic.primary.place, document)
        groups.setdefault((at, diagnostic.code, diagnostic.severity) if at else place, []).append(diagnostic)
    return [_of_members(group, document) for group in groups.values()]


def _shared(place: Path | Span, document: Document) -> Path:
    """The place of a value that a table takes from another; () for its own."""
    if isinstance(place, Span) or place[:2] not in document.layers:
        return ()
    at = document.said_at(place)
    return () if at[:2] == place[:2] else at


def _of_members(group: list[Diagnostic], document: Document) -> Diagnostic:
    """The first of some diagnostics at one line, with the members that it is about."""
    first = group[0]
    if not _shared(first.primary.place, document):
        return first
    members = list(
        dict.fromkeys(
            diagnostic.primary.place[:2] for diagnostic in group if not isinstance(diagnostic.primary.place, Span)
        )
    )
    return replace(first, related=(*first.related, members_label(members, document)), members=tuple(members))


def members_label(members: Sequence[Path], document: Document) -> Label:
    """The table of the first of some members, with their names."""
    names = [str(path[1]) for path in members]
    note = f"in {len(names)} members: {first_of(names, _NAMED)}" if names[1:] else f"in {names[0]}"
    return Label(document.layers[members[0]][0], note, on_key=True)


def _once(places: Sequence[Place]) -> list[Place]:
    """The places in their order; notes about one place stand together there."""
    kept: list[Place] = []
    known: dict[tuple[str, int, int], int] = {}
    for place in places:
        index = known.setdefault((place.file, place.line, place.column), len(kept))
        if index == len(kept) or not place.line:
            kept.append(place)
        else:
            notes = dict.fromkeys(filter(None, (kept[index].note, place.note)))
            kept[index] = kept[index]._replace(note=", ".join(notes))
    return kept


def places(
    groups: Sequence[Sequence[Label]], sources: Sequence[Source], document: Document | None
) -> list[tuple[Place, ...]]:
    """The places of labels, in their order, for each group; lines that may hold a secret are marked.

    All are found in one look through the spec.
    """
    questions = [
        Diagnostic(str(number), Severity.NOTE, "", labels[0], tuple(labels[1:]))
        for number, labels in enumerate(groups)
        if labels
    ]
    answers = {item.diagnostic.code: (item.primary, *item.related) for item in locate(questions, sources, document)}
    return [answers.get(str(number), ()) for number in range(len(groups))]


def outside(code: str, message: str, help: str, path: str, severity: Severity = Severity.ERROR) -> Located:
    """A problem that is not about the text of a spec: a file that cannot be read or written, by its path."""
    diagnostic = Diagnostic(code, severity, message, Label(()), help=help)
    place = Place(path, 0, 0, 0, 0, "", "", "")
    return Located(("", 0, 0, severity, code, message), diagnostic, place, ())


def _hide(item: Located, secret_lines: set[tuple[str, int]]) -> Located:
    """Mark the places in lines that some diagnostic has called secret: other diagnostics may point there too."""
    if not secret_lines:
        return item
    primary, *related = (
        place._replace(hidden=(place.file, place.line) in secret_lines) for place in (item.primary, *item.related)
    )
    return item._replace(primary=primary, related=tuple(related))


def _masked(item: Located) -> Located:
    """Hide long random text in all output, even in fields that are not secret."""
    words = item.diagnostic
    masked = replace(words, message=leaks.masked(words.message), help=leaks.masked(words.help))
    return item._replace(
        diagnostic=masked, primary=_masked_place(item.primary), related=tuple(map(_masked_place, item.related))
    )


def _masked_place(place: Place) -> Place:
    hidden = place.hidden or leaks.find(place.text) is not None
    return place._replace(
        note=leaks.masked(place.note), path=leaks.masked(place.path), text=leaks.masked(place.text), hidden=hidden
    )


def _bounded(item: Located) -> Located:
    """The same with words of bearable length: a name or a text of the spec may have a million characters."""
    diagnostic = item.diagnostic
    if max(len(diagnostic.message), len(diagnostic.help)) <= _WORDS_LIMIT:
        return item
    message, advice = (
        text if len(text) <= _WORDS_LIMIT else f"{text[: _WORDS_LIMIT // 2]} ... {text[-_WORDS_LIMIT // 4 :]}"
        for text in (diagnostic.message, diagnostic.help)
    )
    return item._replace(diagnostic=replace(diagnostic, message=message, help=advice))


def _texts(value: Any) -> Iterator[str]:
    """Every text of a part of a document, keys too."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += value
            left += value.values()
        elif isinstance(value, list):
            left += value


def _value(raw: Any, path: Sequence[str | int]) -> Any:
    """The value at a path; None if a part of the path is not in the document."""
    for part in path:
        known = part in raw if isinstance(raw, dict) else isinstance(raw, list) and part in range(len(raw))
        if not known:
            return None
        raw = raw[part]
    return raw


def _withhold(located: list[Located], secrets: Iterable[str]) -> list[Located]:
    """Give other words to diagnostics that repeat a secret or a piece of one."""
    known = set(secrets)
    words = [_words(item) for item in located]
    pieces = {piece for text in set(words) for piece in _pieces(text)} if known else set()
    repeated = {piece for secret in known for piece in _pieces(secret) if piece in pieces}
    short = [secret for secret in known if 4 <= len(secret) < _PIECE]
    return [
        _withheld(item) if _repeats(item, text, repeated, short) else item
        for item, text in zip(located, words, strict=True)
    ]


def _repeats(item: Located, words: str, repeated: set[str], short: Sequence[str]) -> bool:
    if leaks.find(words) or (repeated and any(piece in repeated for piece in _pieces(words))):
        return True
    # A short secret may be an everyday word: only a message about its line, by one who did not know, can repeat it.
    about = any(place.hidden for place in (item.primary, *item.related)) and not item.diagnostic.primary.secret
    return about and any(secret in words for secret in short)


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _PIECE] for start in range(len(text) - _PIECE + 1))


def _words(item: Located) -> str:
    """All texts of a diagnostic, except those of its fix."""
    notes = [place.note for place in (item.primary, *item.related)]
    return "\n".join((item.diagnostic.message, item.diagnostic.help, *notes))


def _withheld(item: Located) -> Located:
    code = item.diagnostic.code
    diagnostic = replace(
        item.diagnostic,
        message="this text seems to contain a secret, so it is not repeated",
        help=f"move the secret out of this file, and replace it; fleetc explain {code} says what else is wrong",
    )
    primary, *related = (place._replace(note="") for place in (item.primary, *item.related))
    return item._replace(diagnostic=diagnostic, primary=primary, related=tuple(related), withheld=True)
