"""Cuts a shell text into words and operators, with their places. Nothing is expanded or run here.

In: text. Out: `Token`s: words made of parts, operators, and the texts of heredocs with the redirections they belong to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word. `kind` is text, variable, sum, or hole (what only a running shell knows, and placeholders).

    A variable has its `name`, of an array also the `index`, and in `text` what follows it in braces, such as
    ":-default". A sum has what stands in $(( )) as its text.
    """

    kind: str
    text: str
    quoted: bool = False
    name: str = ""
    index: str = ""


@dataclass(slots=True)
class Token:
    """A word with its parts, or an operator. A redirection `<<` has its heredoc in `body`, from `body_start` on."""

    kind: str
    text: str
    start: int
    end: int
    parts: list[Part] = field(default_factory=list)
    body: str = ""
    body_start: int = 0
    literal: bool = False


ENDS = (";", "&", "&&", "||", "|", "|&", "\n", ";;", "(", ")")
_BEFORE_COMMANDS = frozenset({"do", "then", "else", "elif", "if", "while", "until", "{", "!", "time"})
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,@%+^?*\[\]!~-]+")
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_PLACEHOLDER = re.compile(r"<[A-Za-z#][^<>\n;&]{0,80}>|<#>")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;|<<<|<<-?|&>>?|[0-9]?(?:[<>]&(?:[0-9]+-?|-)?|>>|>\||[<>])|[;&|()\n]")
_SIMPLE_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_BRACED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*|[1-9])(?:\[([@*]|\$?[A-Za-z0-9_]+)\])?")
_QUOTED_TEXT = re.compile(r'[^"\\$`]+')
_SINGLE = re.compile(r"'[^']*'")
_ESCAPE = {'"', "\\", "$", "`"}


class ShellError(Exception):
    """The text is no shell text that can be read: `start` is where a quote begins that never ends, or the like."""

    def __init__(self, message: str, start: int) -> None:
        super().__init__(message)
        self.message, self.start = message, start


def _close(text: str, place: int, opening: str, closing: str) -> int:
    """Behind the bracket that closes the one before `place`; quotes inside count. Raises ShellError."""
    depth, start = 1, place
    while place < len(text):
        char = text[place]
        if char == "\\":
            place += 2
            continue
        if char == "'" and opening == "(":
            found = _SINGLE.match(text, place)
            place = found.end() if found else place + 1
            continue
        if char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    raise ShellError(f"a {opening} is never closed", start - 1)


def _dollar(text: str, place: int, quoted: bool, end: int) -> tuple[Part, int]:
    """What stands at a dollar sign, and where it ends."""
    if text.startswith("$(", place):
        stop = _close(text, place + 2, "(", ")")
        if text.startswith("$((", place) and text[place:stop].endswith("))"):
            return Part("sum", text[place + 3 : stop - 2], quoted), stop
        return Part("hole", text[place:stop], quoted), stop
    if text.startswith("${", place):
        stop = _close(text, place + 2, "{", "}")
        found = _BRACED.match(text, place)
        if found is None or text[place:stop].startswith("${env:"):
            return Part("hole", text[place:stop], quoted), stop
        return Part("variable", text[found.end() : stop - 1], quoted, found[1], found[2] or ""), stop
    simple = _SIMPLE_VARIABLE.match(text, place)
    if simple is None or simple.end() > end:
        return Part("text", "$", quoted), place + 1
    if not (simple[1][0].isalnum() or simple[1][0] == "_"):
        return Part("hole", simple[0], quoted), simple.end()
    return Part("variable", "", quoted, simple[1]), simple.end()


def quoted_parts(text: str, place: int, end: int) -> tuple[list[Part], int]:
    """The inside of double quotes, or of a heredoc; up to `"` or the end."""
    parts: list[Part] = []
    while place < end:
        char = text[place]
        if char == '"':
            break
        plain = _QUOTED_TEXT.match(text, place, end)
        if plain:
            parts.append(Part("text", plain[0], True))
            place = plain.end()
        elif char == "\\":
            after = text[place + 1 : place + 2]
            parts.append(Part("text", after if after in _ESCAPE else "" if after == "\n" else char + after, True))
            place += 2
        elif char == "$":
            part, place = _dollar(text, place, True, end)
            parts.append(part)
        else:
            stop = text.find("`", place + 1)
            stop = end if stop < 0 else stop + 1
            parts.append(Part("hole", text[place:stop], True))
            place = stop
    return parts, place


def tokens(text: str) -> Iterator[Token]:
    """All words and operators of a text. Raises ShellError for a quote that never ends.

    A line with a heredoc comes when its text is known, which stands behind it.
    """
    held: list[Token] = []
    for token in _cut(text):
        if not held and not (token.kind == "op" and token.text in ("<<", "<<-")):
            yield token
            continue
        held.append(token)
        if token.kind == "op" and token.text == "\n":
            yield from held
            held = []
    yield from held


def _cut(text: str) -> Iterator[Token]:
    place, size = 0, len(text)
    waiting: list[Token] = []
    while place < size:
        blank = _BLANK.match(text, place)
        if blank:
            place = blank.end()
            continue
        if text[place] == "#":
            found = _COMMENT.match(text, place)
            assert found is not None  # noqa: S101  # it begins with what the pattern begins with
            yield Token("comment", found[0], place, found.end())
            place = found.end()
            continue
        if _begins_operator(text, place):
            operator = _OPERATOR.match(text, place)
            assert operator is not None  # noqa: S101  # every such character is one
            token = Token("op", operator[0], place, operator.end())
            place = operator.end()
            if token.text.startswith("<<") and token.text != "<<<":
                place = _heredoc(text, place, token)
                waiting.append(token)
            if token.text == "\n" and waiting:
                place = _bodies(text, place, waiting)
                waiting = []
            yield token
            continue
        token, place = _word(text, place)
        yield token


def _begins_operator(text: str, place: int) -> bool:
    redirects = text[place].isdigit() and text[place + 1 : place + 2] in ("<", ">")
    return (text[place] in "<>&|;()\n" or redirects) and _PLACEHOLDER.match(text, place) is None


def _heredoc(text: str, place: int, token: Token) -> int:
    """Read the word that ends a heredoc; its text comes behind the line."""
    found = re.compile(r"[ \t]*(['\"]?)([A-Za-z0-9_.-]+)\1").match(text, place)
    if found is None:
        return place
    token.body, token.literal = found[2], bool(found[1])
    return found.end()


def _bodies(text: str, place: int, waiting: list[Token]) -> int:
    """The texts of the heredocs of a line, one after the other."""
    for token in waiting:
        tabs = r"\t*" if token.text == "<<-" else ""
        end = re.compile(rf"^{tabs}{re.escape(token.body)}[ \t]*$", re.MULTILINE).search(text, place)
        stop = end.start() if end else len(text)
        token.body, token.body_start = text[place:stop], place
        place = min(len(text), (end.end() if end else stop) + 1)
    return place


def _word(text: str, place: int) -> tuple[Token, int]:
    start, size = place, len(text)
    parts: list[Part] = []
    while place < size:
        plain = _PLAIN.match(text, place)
        if plain:
            parts.append(Part("text", plain[0]))
            place = plain.end()
            continue
        char = text[place]
        if char in " \t\r\n;&|)" or (char == ">" and parts):
            break
        if char == "<":
            hole = _PLACEHOLDER.match(text, place)
            if hole is None:
                break
            parts.append(Part("hole", hole[0], True))
            place = hole.end()
        elif char == "'":
            stop = text.find("'", place + 1)
            if stop < 0:
                raise ShellError("a quote is never closed", place)
            parts.append(Part("text", text[place + 1 : stop], True))
            place = stop + 1
        elif char == '"':
            inner, stop = quoted_parts(text, place + 1, size)
            if stop >= size:
                raise ShellError("a quote is never closed", place)
            parts += inner or [Part("text", "", True)]
            place = stop + 1
        elif char == "\\":
            if text.startswith(("\\\n", "\\\r\n"), place):
                break
            parts.append(Part("text", text[place + 1 : place + 2], True))
            place += 2
        elif char == "$":
            if text.startswith("$'", place) or text.startswith('$"', place):
                place += 1
                continue
            part, place = _dollar(text, place, False, size)
            parts.append(part)
        elif char == "`":
            stop = text.find("`", place + 1)
            if stop < 0:
                raise ShellError("a quote is never closed", place)
            parts.append(Part("hole", text[place : stop + 1]))
            place = stop + 1
        elif char == "(":
            if not (parts and parts[-1].kind == "text" and parts[-1].text.endswith("=")):
                break
            return Token("array", text[start:place], start, place + 1, parts), place + 1
        else:
            parts.append(Part("text", char))
            place += 1
    return Token("word", text[start:place], start, max(place, start + 1), parts), max(place, start + 1)


LOOPS = ("for", "while", "until", "select")


def body_of(stream: Iterator[Token], opens: Sequence[str], closes: str) -> Iterator[Token]:
    """The words of a loop or a function up to the word that closes it, without the `do` of the loop itself."""
    deep, begins = 0, True
    for token in stream:
        if begins and token.kind == "word":
            deep += (token.text in opens) - (token.text == closes)
            if deep < 0:
                return
        goes_on = token.kind == "comment" or (token.kind == "word" and token.text in _BEFORE_COMMANDS)
        if not (begins and deep == 0 and token.text == "do"):
            yield token
        begins = (begins and goes_on) or (token.kind == "op" and token.text in ENDS)
