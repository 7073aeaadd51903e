"""What can be written at an offset: tables, keys, words of a choice, names of this fleet, models, GPUs, flags.

In: a page, an offset and the last snapshot. Out: suggestions with the stretch of text that they replace. The line may
be broken: it is parsed by itself, and its table from the text before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Any, NamedTuple

from fleetc.assist.hover import kind_words
from fleetc.assist.names import named_at
from fleetc.assist.page import Page
from fleetc.assist.state import Snapshot
from fleetc.language.editor import WORDS
from fleetc.language.sharing import CLASSES, DEFAULTS, LIKE, ON, in_the_language, tables
from fleetc.language.spec import json_schema
from fleetc.language.units import UNIT
from fleetc.messages.setters import flags_of_field
from fleetc.messages.tables import NAME, Field, field_of_node, plain_name
from fleetc.places.diagnostic import Path, Severity
from fleetc.review.other_values import nodes
from fleetc.rules import rules
from fleetc.toml.document import REMOVE
from fleetc.toml.edits import toml_key
from fleetc.toml.including import INCLUDE
from fleetc.toml.scan import STRINGS, parse_key
from fleetc.upstream import GPU_NAMES, NETWORKS, PIPELINES, RELEASES, RENDITIONS, format_release

_TOKEN = re.compile(
    rf"{STRINGS}|\"[^\"\n]*+|'[^'\n]*+|#[^\n]*+|[\[\]{{}},=\n]|[^\s\[\]{{}},=\"'#]++|[ \t]++", re.DOTALL
)
_HAS_VALUE = re.compile(r"[A-Za-z0-9_-]*+[ \t]*+=")
"""What stands behind the cursor in a key that has its value."""
_HEADER = re.compile(r"[ \t]*\[\[?[ \t]*([^\]\n#]*)\Z")
_IN_QUOTES = ("text", "name", '"', '`"')
"""How the words for a field begin that takes text, also one out of a choice."""
_UPSTREAM: Mapping[Path, tuple[Iterable[str], str]] = {
    ("hosts", "model"): (GPU_NAMES, "GPU"),
    ("models", "pipeline"): (PIPELINES, "pipeline"),
    ("fleet", "network"): (NETWORKS, "network"),
    ("node_release",): (tuple(map(format_release, reversed(RELEASES))), "release"),
    ("renditions",): (RENDITIONS, "rendition"),
}
"""Data for a field, by its table and its name, or by its name in any table."""
_CLOSES = str.maketrans("{[", "}]")


class Suggestion(NamedTuple):
    """One thing to write: `label` is shown, `text` comes in place of the stretch from `start` to `end`.

    `kind` is table, key, flag, word, name or class; `found_by` are words for the editor's filter instead of its label.
    `closing` is what an editor that can place its cursor writes behind it.
    """

    label: str
    text: str
    start: int
    end: int
    kind: str
    detail: str = ""
    about: str = ""
    found_by: str = ""
    closing: str = ""


class _Place(NamedTuple):
    """Where the cursor is: in the table at `path`, at a key there, or at the value of `path`.

    `start` is the beginning of the current word, `typed` its text, `quoted` whether in quotes, `there` the keys of the
    table.
    """

    path: Path
    start: int
    typed: str
    is_key: bool
    quoted: bool
    there: frozenset[str]


def complete(page: Page, offset: int, snapshot: Snapshot) -> list[Suggestion]:
    """The suggestions at an offset, best first."""
    line_start = page.text.rfind("\n", 0, offset) + 1
    header = _HEADER.match(page.text[line_start:offset])
    if header is not None and _at_top(page, line_start):
        every = _headers(header[1], offset - len(header[1]), offset, page, snapshot)
    elif (place := _place(page, offset)) is None:
        return []
    elif not place.is_key:
        every = _values(place, offset, page, snapshot)
    else:
        every = _keys(place, offset, snapshot)
        if _HAS_VALUE.match(page.text, offset):
            every = (one._replace(text=one.text.partition(" = ")[0], closing="") for one in every)
    return list({suggestion.label: suggestion for suggestion in every}.values())


# ------------------------------------------------------------------------------------------------ where the cursor is


def _at_top(page: Page, offset: int) -> bool:
    """Whether a line begins outside all brackets: only there a header can stand."""
    tokens = _TOKEN.finditer(page.text, page.block_at(max(0, offset - 1)).body, offset)
    return sum((token[0] in "[{") - (token[0] in "]}") for token in tokens) <= 0


def _place(page: Page, offset: int) -> _Place | None:
    """Read the table up to the cursor. None in comments, and in headers."""
    block = page.block_at(offset)
    if offset < block.body:
        return None
    levels: list[tuple[Path, bool, int]] = [(block.path, True, 0)]
    key: Path = ()
    behind_equals = False
    word_start, word = offset, ""
    pieces: list[tuple[str, int]] = []
    for token in _TOKEN.finditer(page.text, block.body, offset):
        text, path, braces = token[0], levels[-1][0], levels[-1][1]
        if text.startswith("#"):
            if token.end() == offset:
                return None
            continue
        if text.strip() == "" and text != "\n":
            word_start, word = token.end(), ""
        elif text == "=":
            key, behind_equals = (*path, *_parts(pieces)), True
            word_start, word, pieces = token.end(), "", []
        elif text in "[{]},":
            if text in "[{":
                levels.append((key if braces else (*path, levels[-1][2]), text == "{", 0))
            elif text == ",":
                levels[-1] = (path, braces, levels[-1][2] + 1)
            elif len(levels) > 1:
                levels.pop()
            behind_equals, word_start, word, pieces = False, token.end(), "", []
        elif text == "\n":
            if len(levels) == 1:
                behind_equals, pieces = False, []
            word_start, word = token.end(), ""
        else:
            word_start, word = token.start(), text
            pieces.append((text, token.start()))
    path, braces, item = levels[-1]
    quoted = word[:1] in ("'", '"')
    if braces and not behind_equals:
        dotted = _parts(pieces)[:-1] if word else _parts(pieces)
        begin = word_start + word.rfind(".") + 1 if not quoted else word_start
        typed = word[begin - word_start :]
        return _Place((*path, *dotted), begin, typed, True, quoted, _there(page, offset, (*path, *dotted)))
    here = key if braces else (*path, item)
    return _Place(here, word_start, word, False, quoted, frozenset())


def _parts(pieces: Sequence[tuple[str, int]]) -> Path:
    """The parts of a dotted key; the last may be empty, where a dot is all that is written."""
    text = "".join(piece for piece, _ in pieces)
    if text.endswith("."):
        return (*_parts([(text[:-1], 0)]), "")
    return parse_key(text) or ()


def _there(page: Page, offset: int, path: Path) -> frozenset[str]:
    """The keys that a table already has, without the one at the cursor."""
    keys = [known for block in page.blocks for known, _, _ in block.parts]
    for block in [block for block in page.blocks if block.path == path[: len(block.path)]]:
        for below, mark in page.marks(block).items():
            if not block.body + mark.key_start <= offset <= block.body + mark.key_end:
                keys.append((*block.path, *below))
    return frozenset(str(key[-1]) for key in keys if key[:-1] == path)


# --------------------------------------------------------------------------------------------------------- headers


def _headers(written: str, start: int, end: int, page: Page, snapshot: Snapshot) -> Iterator[Suggestion]:
    """Tables, without existing ones that cannot repeat; names behind a dot."""
    above, dot, _ = written.rpartition(".")
    start += len(above) + len(dot)
    if not dot:
        for name, field in _fields(()).items():
            if field.target and (field.shape != "table" or page.find((name,)) is None):
                yield Suggestion(name, name, start, end, "table", kind_words(field), field.sentence)
        for name in (DEFAULTS, CLASSES):
            yield Suggestion(name, name, start, end, "table", "", WORDS[name])
        return
    path = tuple(part for part in above.split(".") if part)
    if path in ((DEFAULTS,),) or (path[:1] == (CLASSES,) and len(path) == 2):
        for name in tables():
            yield Suggestion(name, name, start, end, "table")
        return
    named = {**snapshot.written.get(path[0], {}), **snapshot.raw.get(path[0], {})} if len(path) == 1 else {}
    for name in named:
        if page.find((path[0], name)) is None:  # only an overlay has it once more
            yield Suggestion(name, toml_key(name), start, end, "name", f"of {path[0]}")
    for name, field in _fields(path).items():
        if field.target:
            yield Suggestion(name, name, start, end, "table", kind_words(field), field.sentence)


# ------------------------------------------------------------------------------------------------------------ keys


def _keys(place: _Place, end: int, snapshot: Snapshot) -> Iterator[Suggestion]:
    """The keys of a table, required ones first and then those of its kind in this fleet; flags that lead to one."""
    shared = in_the_language(place.path)
    alike = snapshot.raw.get(str(shared[0]), {}) if len(shared) == 2 else {}
    usual = Counter(key for body in islice(alike.values(), 100) if isinstance(body, dict) for key in body)
    fields = dict(sorted(_fields(place.path).items(), key=lambda item: (not item[1].required, -usual[item[0]])))
    for name, field in fields.items():
        if name not in place.there:
            yield _key(name, field, place, end)
    for table in named_at((*place.path, NAME), key=True):
        for name in [name for name in snapshot.raw.get(table, {}) if name not in place.there]:
            text = f'{toml_key(name)} = "'
            yield Suggestion(name, text, place.start, end, "name", f"of {table}", closing='"')
    if len(shared) == 2 and shared[0] in tables():
        for word in (LIKE, *((ON,) if "host" in fields else ())):
            if word not in place.there:
                yield Suggestion(word, f'{word} = "', place.start, end, "key", "", WORDS[word], closing='"')
    if not place.path and INCLUDE not in place.there:
        text = f'{INCLUDE} = ["'
        yield Suggestion(INCLUDE, text, place.start, end, "key", "", WORDS[INCLUDE], closing='"]')
    dotted = plain_name(".".join(str(part) for part in shared[:1] + shared[2:] if not isinstance(part, int)))
    for name, field in fields.items():
        for flag in _flags(f"{dotted}.{name}"):
            about = f"{field.sentence}\n\nThe flag -{flag} of the node goes by it."
            label, found_by = f"-{flag} is {name}", f"-{flag}" if place.typed.startswith("-") else flag
            key = _key(name, field, place, end)
            yield key._replace(label=label, kind="flag", detail=kind_words(field), about=about, found_by=found_by)


def _key(name: str, field: Field, place: _Place, end: int) -> Suggestion:
    opens = {"table": "{ ", "map": "{ ", "list": "[{ "}.get(field.shape, "{ " if field.kind.startswith("table") else "")
    if not opens and field.kind.startswith(_IN_QUOTES):
        opens = '"'
    elif not opens and field.kind.startswith("list"):
        opens = '["' if field.kind.removeprefix("list of ").startswith(("texts", "names")) else "["
    detail = kind_words(field) + ("; required" if field.required else "")
    text, closing = f"{toml_key(name)} = {opens}", opens[::-1].translate(_CLOSES)
    return Suggestion(name, text, place.start, end, "key", detail, field.sentence, closing=closing)


@cache
def _flags(dotted: str) -> tuple[str, ...]:
    return flags_of_field(dotted)


def _fields(path: Path) -> Mapping[str, Field]:
    """The fields of the table at a path; none where it takes any keys, or is no table."""
    here = in_the_language(path)
    return _fields_at((*here[:1], NAME, *here[2:]) if here[:1] and here[0] in tables() and here[1:] else here)


@lru_cache(maxsize=256)
def _fields_at(path: Path) -> Mapping[str, Field]:
    title = ".".join(map(str, path))
    return {
        name: field_of_node(name, inner, name in node.get("required", ()), title)
        for node in nodes(json_schema(), path)
        for name, inner in node.get("properties", {}).items()
    }


# ---------------------------------------------------------------------------------------------------------- values


def _values(place: _Place, end: int, page: Page, snapshot: Snapshot) -> Iterator[Suggestion]:
    """Words of a choice, names of this fleet, amounts, tables in one line, and upstream data: GPUs, releases.

    In quotes, only the text up to the cursor is replaced: editors filter by it, and some keep the text behind the
    cursor.
    """
    start = place.start + place.quoted
    quote = place.typed[:1] if place.quoted else '"'
    closing = "" if place.quoted and page.text[end : end + 1] == quote else quote
    for value, kind, detail in _candidates(place.path, page.text[start:end], snapshot):
        if isinstance(value, bool):
            text = str(value).lower()
            yield Suggestion(text, text, place.start, end, kind, detail)
        else:
            text = f"{'' if place.quoted else quote}{value}{closing}"
            yield Suggestion(str(value), text, start, end, kind, detail)
    for name, field in _fields(place.path).items() if not place.quoted else ():
        key = _key(name, field, place, end)
        yield key._replace(label=f"{{ {name} }}", text=f"{{ {key.text}", closing=f"{key.closing} }}")


def _candidates(path: Path, typed: str, snapshot: Snapshot) -> Iterator[tuple[Any, str, str]]:
    here = in_the_language(path)
    for table in named_at(path, key=False) if path[-1:] != (ON,) else ():
        named = snapshot.written.get(CLASSES, {}) if table == CLASSES else snapshot.raw.get(table, {})
        for name, body in named.items() if isinstance(named, dict) else ():
            if table != CLASSES or here[0] in body:
                yield name, "class" if table == CLASSES else "name", f"of {table}"
    for table in tables() if path[:1] == (REMOVE,) else ():
        yield from ((f"{table}.{toml_key(name)}", "name", f"of {table}") for name in snapshot.raw.get(table, ()))
    if here[:1] == ("silences",) and here[2:] in (("code",), ("at",)):
        for item in snapshot.located:
            if item.diagnostic.severity is Severity.WARNING:
                yield item.diagnostic.code if here[2] == "code" else item.primary.path, "word", item.diagnostic.message
        yield from ((rule.code, "word", "") for rule in rules() if here[2] == "code")
    for node in nodes(json_schema(), here):
        yield from ((word, "word", "") for word in (*node.get("enum", ()), node.get("const")) if isinstance(word, str))
        if node.get("type") == "boolean":
            yield from ((True, "word", ""), (False, "word", ""))
        elif node.get("type") == "string" and UNIT in node:
            yield from ((text, "word", "") for text in _amounts(node, typed))
    last = here[-1:] if not here or isinstance(here[-1], str) else here[-2:-1]
    known, of = _UPSTREAM.get((*here[:1], *last), _UPSTREAM.get(last, ((), "")))
    yield from ((word, "word", of) for word in known)


def _amounts(node: Mapping[str, Any], typed: str) -> Iterator[str]:
    """The number that is written in each unit of a field; its example before there is one."""
    number = re.match(r"[0-9][0-9_.]*", typed)
    yield from node.get("examples", ()) if number is None else ()
    for choice in node[UNIT].split(", or ") if number else ():
        some, _, each = (
            re.split(", | or ", part.replace("a currency such as ", "")) for part in choice.partition(" / ")
        )
        yield from (f"{number and number[0]} {one}{f' / {per}' if per else ''}" for one in some for per in each)
