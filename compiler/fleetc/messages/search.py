"""Finds fields, tables, codes, topics and flags by words in their names and texts, and the commands that `cli/` knows.

In: some words. Out: what has all of them, the best first (`search`), and lines for a terminal (`search_page`). Called
by `cli/`. Names weigh more than sentences, and sentences more than the rest of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fleetc.messages.entries import CODES
from fleetc.messages.explain import pages
from fleetc.messages.setters import flags_of_field
from fleetc.messages.sheet import Sheet
from fleetc.messages.tables import plain_name, tables
from fleetc.messages.topics import code_topics

LIMIT = 12
_WORD = re.compile(r"[a-z0-9]+")
_SMALL = frozenset(
    _WORD.findall(
        "a add all an and another are be by can create do does for from get give have how i if in into is it list make "
        "me my need new of on one or put that the there these this to want what when where which who why will with "
        "write you your"
    )
)
"""Words without meaning for a search."""
_WHOLE_TABLE, _WHOLE_NAME, _IN_NAME, _BEGINS_NAME, _IN_SENTENCE, _IN_REST = 20, 12, 8, 5, 3, 1


class Hit(NamedTuple):
    """Something that can be explained: its name, its sentence, and other text that may hold a word.

    `also` has the other tables that have the same field, `table` is whether it is a table itself.
    """

    name: str
    sentence: str
    rest: str = ""
    also: tuple[str, ...] = ()
    table: bool = False


def search(text: str, more: Iterable[Hit] = ()) -> tuple[list[Hit], bool]:
    """The best matches of a text first, and whether they have all its words. `more` can be found too."""
    wanted = _words(text)
    rated = [(*_score(hit, wanted), hit) for hit in (*_all(), *more)]
    most = max((words for words, _, _ in rated), default=0)
    best = [(score, hit) for words, score, hit in rated if words == most > 0]
    best.sort(key=lambda pair: (-pair[0], len(pair[1].name), pair[1].name))
    return [hit for _, hit in best], most == len(wanted)


def search_page(text: str, sheet: Sheet, more: Iterable[Hit] = ()) -> Iterator[str]:
    """The best of what has the words of a text; no line if nothing has any."""
    hits, complete = search(text, more)
    if hits and not complete:
        yield from sheet.filled("Nothing has all of these words. Nearest:")
        yield ""
    for hit in hits[:LIMIT]:
        also = f"  and in {', '.join(hit.also)}" if hit.also else ""
        yield from sheet.filled(sheet.head(hit.name) + also, "", "    ")
        yield from sheet.filled(hit.sentence, "    ")
    if len(hits) > LIMIT:
        yield ""
        yield from sheet.filled(f"... and {len(hits) - LIMIT} more; another word makes them fewer")


def _all() -> Iterator[Hit]:
    for table in tables():
        if table.name:
            yield Hit(plain_name(table.name), " ".join(table.sentence.partition("\n\n")[0].split()), table=True)
    for (_, sentence), same in _fields().items():
        yield Hit(
            same[0], sentence, " ".join(flags_of_field(same[0])), tuple(name.rpartition(".")[0] for name in same[1:])
        )
    known = pages()
    for code, page in known.items():
        yield Hit(code, page.splitlines()[0], page)
    for name, topic in code_topics().items():
        yield Hit(f"{CODES}.{name}", topic.sentence)


def _fields() -> dict[tuple[str, str], list[str]]:
    """The dotted names of plain fields, together where several tables have the same one."""
    by_field: dict[tuple[str, str], list[str]] = {}
    for table in tables():
        for field in table.fields:
            if not field.target:
                name = f"{plain_name(table.name)}.{field.name}".lstrip(".")
                by_field.setdefault((field.name, field.sentence), []).append(name)
    return by_field


def _words(text: str) -> list[str]:
    """The words of a text, in small letters and without the s of a plural."""
    words = _WORD.findall(text.lower())
    return list(dict.fromkeys(_stem(word) for word in words if word not in _SMALL)) or words


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _score(hit: Hit, wanted: list[str]) -> tuple[int, int]:
    """How many of the words it has, and how well they fit."""
    rated = [_rate(hit, word) for word in wanted]
    return sum(1 for rate in rated if rate), sum(rated)


def _rate(hit: Hit, word: str) -> int:
    """How well a word fits: the name of a field counts more than that of its table."""
    above, _, last = hit.name.rpartition(".")
    own = _words(last)
    if hit.table and word == _stem(hit.name):
        return _WHOLE_TABLE
    if word in (_stem(last), _stem(hit.name)):
        return _WHOLE_NAME
    if word in own:
        return _IN_NAME
    if any(part.startswith(word) for part in own):
        return _BEGINS_NAME
    if any(part.startswith(word) for part in _words(f"{above} {hit.sentence}")):
        return _IN_SENTENCE
    return _IN_REST if word in hit.rest.lower() else 0
