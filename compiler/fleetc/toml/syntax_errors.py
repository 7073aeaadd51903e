"""Turns a TOML parser's error into a message with its place, the error, and what to write instead.

In: the text and the exception of `tomli`. Out: diagnostics, each with a Span. Called by `reader.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import tomli

from fleetc.places.diagnostic import Diagnostic, Label, Span, error
from fleetc.text.typography import TYPED, typed_plainly
from fleetc.toml.scan import Scan

_REPEATED = (
    "Cannot declare",
    "Cannot mutate immutable namespace",
    "Cannot overwrite a value",
    "Cannot redefine namespace",
    "Duplicate inline table key",
)
_CONFLICTS = 20
_MOST = 10
"""The most reported errors of one text."""
_HEADER = re.compile(r"""^\[\[?[A-Za-z][^\[\]\n]*\]\]?[ \t]*(?:#[^\n]*)?$""", re.MULTILINE)
_VALUE = re.compile(r"[^\s,#\]}\"'](?:[^\n,#\]}\"']*[^\s,#\]}\"'])?")
_BEFORE_VALUE = re.compile(r"[^\n=,\[{]*$")
_WORDS = {"True": "true", "False": "false", "yes": "true", "no": "false", "on": "true", "off": "false"}
_SHOWN = 40
_MERGE = re.compile(
    r"^<<<<<<<(?: [^\n]*)?\n(?:(?!<<<<<<<|>>>>>>>)[^\n]*\n)*?(?P<middle>=======)\n"
    r"(?:(?!<<<<<<<|=======)[^\n]*\n)*?(?P<end>>>>>>>>)(?: [^\n]*)?$",
    re.MULTILINE,
)


def explain(name: str, text: str, failure: tomli.TOMLDecodeError) -> list[Diagnostic]:
    """Describe why `tomli` refused a text, and the tables behind that; `name` is the source's name."""
    return _unmerged(name, text) or [_explained(name, text, failure), *_behind(name, text, failure)]


def _behind(name: str, text: str, failure: tomli.TOMLDecodeError) -> Iterator[Diagnostic]:
    """Further errors, in tables behind the first error: each table is parsed by itself.

    None where a string of several lines could hold what looks like a header.
    """
    if any(quotes in text for quotes in ('"""', "'''")):
        return
    begin, pos = 0, failure.pos
    for _ in range(_MOST - 1):
        header = _HEADER.search(text, begin + max(pos, 1))
        if header is None:
            return
        begin = header.start()
        rest = text[begin:]
        try:
            tomli.loads(rest)
            return
        except tomli.TOMLDecodeError as problem:
            pos = problem.pos
            yield _moved(_explained(name, rest, problem), begin)
        except (RecursionError, ValueError):  # what reading would refuse once the first error is gone
            return


def _moved(found: Diagnostic, by: int) -> Diagnostic:
    """The same about a text that begins earlier."""

    def label(one: Label) -> Label:
        assert isinstance(one.place, Span)  # noqa: S101  # a text that is no TOML has no paths
        return replace(one, place=Span(one.place.source, one.place.start + by, one.place.end + by))

    return replace(found, primary=label(found.primary), related=tuple(map(label, found.related)))


def _unmerged(name: str, text: str) -> list[Diagnostic]:
    """The conflicts that a merge left in the text; the first few."""
    found = []
    for conflict in islice(_MERGE.finditer(text), _CONFLICTS):
        start, middle, end = conflict.start(), conflict.start("middle"), conflict.start("end")
        places = (
            Label(Span(name, middle, middle + 7), "the other side begins"),
            Label(Span(name, end, end + 7), "it ends"),
        )
        found.append(
            error(
                "merge-unresolved",
                "this is an unresolved merge: git left both sides here",
                Label(Span(name, start, start + 7), "one side begins"),
                places,
                "keep what is right from the two sides, and remove git's three lines",
            )
        )
    return found


def _explained(name: str, text: str, failure: tomli.TOMLDecodeError) -> Diagnostic:
    """The place where the text stops being TOML."""
    message, pos = failure.msg, min(failure.pos, len(text))
    if message.startswith(_REPEATED):
        return _repeated(name, text, pos)
    scan = Scan(text[:pos])
    start = len(text[:pos]) if scan.stopped is None else scan.stopped
    if text.startswith(('"', "'"), start) and start < pos:
        return _in_string(name, text, message, start, pos)
    if message == "Invalid value" and (found := _bad_value(name, text, pos, bool(scan.opened))):
        return found
    if scan.opened:
        return _in_brackets(name, text, scan.opened[-1], pos)
    if message.startswith("Expected newline"):
        return _trailing(name, text, pos)
    wrong, advice = _other(message, text[pos : pos + 1])
    return _at(name, text, pos, wrong, advice=advice)


def cut(text: str) -> str:
    """A text short enough to stand inside a message."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _at(
    name: str,
    text: str,
    start: int,
    message: str,
    end: int | None = None,
    related: Label | None = None,
    advice: str = "",
) -> Diagnostic:
    """An error at a place, one character wide unless `end` is given; never past the end of the text."""
    end = min(start + 1 if end is None else end, len(text))
    places = () if related is None else (related,)
    return error("toml-syntax", message, Label(Span(name, start, end)), places, advice)


def _repeated(name: str, text: str, pos: int) -> Diagnostic:
    """A key or table stands twice; point at both keys, not behind the second value as the parser does."""
    clash = Scan(text[:pos]).clash
    if clash is None:
        return _at(name, text, pos, "this is defined twice", advice="keep one of the two")
    key = ".".join(str(part) for part in clash.path)
    return error(
        "duplicate-key",
        f"{cut(key)} is defined twice",
        Label(Span(name, clash.start, clash.end), "again here"),
        (Label(Span(name, clash.earlier.key_start, clash.earlier.key_end), "first here"),),
        "keep one of the two",
    )


def _in_string(name: str, text: str, message: str, start: int, pos: int) -> Diagnostic:
    """The parser gave up inside the string that begins at `start`."""
    char = text[pos : pos + 1]
    if message.startswith("Unescaped"):
        backslash = text.rfind("\\", start, pos)
        advice = "write \\\\ for a backslash, or put the text in single quotes; control characters are not allowed"
        what = f"{text[backslash : backslash + 2]} is not an escape in TOML 1.0"
        return _at(name, text, backslash, what, backslash + 2, advice=advice)
    if "scalar value" in message or "hex" in message:
        return _at(name, text, pos, "this escape names no character", advice="write the character itself")
    if char not in ("", "\n"):
        return _at(name, text, pos, f"character U+{ord(char):04X} is not allowed in a string", advice="remove it")
    quote = text[start : start + 3]
    quote = quote if quote in ('"""', "'''") else quote[:1]
    line_end = text.find("\n", start)
    end = len(text) if line_end < 0 else line_end
    return _at(name, text, start, "this string is not closed", end, advice=f"end it with {quote}")


def _in_brackets(name: str, text: str, opening: int, pos: int) -> Diagnostic:
    """The parser gave up inside the brackets that open at `opening`, not in a value."""
    opened = Label(Span(name, opening, opening + 1), "opened here")
    char = text[pos : pos + 1]
    inline = text[opening] == "{"
    if inline and char == "\n":
        advice = "write it on one line, or give it its own header, [name]"
        return _at(name, text, pos, "an inline table cannot span several lines", None, opened, advice)
    if inline and char == "}":
        return _at(name, text, pos, "a comma cannot end an inline table", None, opened, "remove the comma")
    start = _value_start(text, pos)
    word = _VALUE.match(text, start)
    if start < pos and word is not None and "=" not in word.group() and not char.isdigit() and word.end() > pos:
        return _unquoted(name, text, start, word.group())
    what, closing = ("inline table", "}") if inline else ("array", "]")
    return _at(name, text, pos, f"this {what} is not closed", None, opened, f"add , or {closing} here")


def _bad_value(name: str, text: str, pos: int, in_brackets: bool) -> Diagnostic | None:
    """There is no value where one belongs. None when it is the next statement after an open bracket."""
    found = _VALUE.match(text, pos)
    if found is None and text[pos : pos + 1] in TYPED:
        return None
    if found is None:
        return _at(name, text, pos, "a value is missing here", advice="write one, for example text in quotes")
    if in_brackets and "=" in found.group():
        return None
    return _unquoted(name, text, pos, found.group())


def _value_start(text: str, pos: int) -> int:
    """Where the value begins that ends at or goes on behind `pos`, on the same line."""
    before = _BEFORE_VALUE.search(text, text.rfind("\n", 0, pos) + 1, pos)
    start = pos if before is None else before.start()
    return start + len(text[start:pos]) - len(text[start:pos].lstrip())


def _trailing(name: str, text: str, pos: int) -> Diagnostic:
    """Text after a complete value or header. Often both are one text without quotes."""
    start = _value_start(text, pos)
    found = _VALUE.match(text, start)
    if found is not None and found.end() > pos and text[start - 1 : start] != "]" and "=" not in found.group():
        return _unquoted(name, text, start, found.group())
    return _at(
        name,
        text,
        pos,
        "the line should end here",
        advice="put one key = value on a line, and comments after #",
    )


def _unquoted(name: str, text: str, start: int, word: str) -> Diagnostic:
    """A bare word or a malformed number where a value belongs."""
    plain = typed_plainly(word).strip("\"' ")
    if plain != word and any(character in TYPED for character in word):
        advice = f'write it with plain quotes and spaces: "{cut(plain)}"'
        what = "these are typographic quotes or spaces, as word processors write them, but TOML needs plain ones"
        return _at(name, text, start, what, start + len(word), advice=advice)
    if re.fullmatch(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", word):
        advice = "write a day as year-month-day with four, two and two digits, without quotes: 2027-01-31"
        return _at(name, text, start, f"{word} is not a day", start + len(word), advice=advice)
    if word in _WORDS:
        advice = f"write {_WORDS[word]}, or {word!r} in quotes if it is text".replace("'", '"')
    elif re.fullmatch(r"[+-]?0[0-9]+", word):
        advice = f'write the number without leading zeros, or "{cut(word)}" when it is a text'
    else:
        advice = f'write text in quotes: "{cut(word)}"'
    return _at(
        name,
        text,
        start,
        f"{cut(word)} is not a number or text in quotes",
        start + len(word),
        advice=advice,
    )


def _other(message: str, char: str) -> tuple[str, str]:
    """The rest: message and help for the parser's error at a character ("" at the end)."""
    if char in TYPED:
        return "this is a typographic quote or space", f"write a plain {'space' if TYPED[char] == ' ' else 'quote'}"
    if message.startswith("Expected '='"):
        return "a key needs = and a value", "write key = value; table headers are in brackets, [name]"
    if message.startswith("Expected ']"):
        if char == "{":
            return "this name has a counter", 'put the name in quotes: [hosts."gpu-{01..20}"]'
        return "this table header is not closed", "end it with ] (or ]] for an array of tables)"
    if message.startswith(("Invalid statement", "Invalid initial character")):
        return "a key belongs here", "keys are A-Z a-z 0-9 - and _; put any other key in quotes"
    if message.startswith("Invalid date"):
        return "this is not a date", "write it as text, in quotes"
    if char and ("llegal character" in message or "invalid character" in message):
        return f"character U+{ord(char):04X} is not allowed here", "remove it"
    return f"not valid TOML: {message[:1].lower()}{cut(message[1:])}", ""
