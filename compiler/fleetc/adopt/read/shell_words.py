"""The words of a shell text, with the values of its variables as far as it has been read. Nothing is run.

In: text. Out: `Word`s. What only a running shell knows, and a placeholder, is a hole of the word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from posixpath import basename, join, normpath
from typing import NamedTuple

from fleetc.adopt.found.process import Word
from fleetc.adopt.node.flags import ROLES, holes_in
from fleetc.adopt.node.secrets import harmless
from fleetc.places.diagnostic import Span

Places = Callable[[int, int], Span]
PLACEHOLDER = re.compile(
    r"<[A-Za-z#][^<>\n;&]{0,80}>|<#>|\{\{[^{}\n]{1,80}\}\}|\{[^{}\s'\"]{0,80}(?:,|\.\.)[^{}\s'\"]{0,80}\}"
    r"|\(\([^\n]{0,300}?\)\)"
)
"""A placeholder that people fill in, a value of a template, words in braces, and a sum that is a command."""
_ENDS_WORD = " \t\r\n<>;&|()"
_PLAIN = {False: re.compile(r"[^ \t\r\n\\'\"$`<>{;&|()]++"), True: re.compile(r'[^"\\$`]++')}
_SIMPLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|[0-9@*#?$!-])")
_BRACED = re.compile(r"\$\{([A-Za-z_]\w*|[1-9])(?:\[([@*]|\$?\w+)\])?(?:(:?)([-=?])(.*))?\}", re.DOTALL | re.ASCII)
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_ITEMS = re.compile(r'"?\$\{([A-Za-z_][A-Za-z0-9_]*)\[@\]\}"?')
_PAIRS = {"(": ")", "{": "}", '"': '"'}
_PIECE = re.compile(r"[^\\'\"`(){}$]++|\\.|'[^']*'|`[^`]*`|\$[({]|.", re.DOTALL)
_QUOTED_PIECE = re.compile(r"[^\\\"`$]++|\\.|`[^`]*`|\$[({]|.", re.DOTALL)
LINE = re.compile(r"(?:[^\n\\]++|\\.|\\\Z)++", re.DOTALL)
NODE = re.compile(r"(?<![A-Za-z0-9_.-])livepeer(?:\.exe|/go-livepeer)?(?![A-Za-z0-9_./-])")
_ROLE = re.compile(rf"(?<=[\s\"'\[,])--?(?:{'|'.join(sorted(ROLES))})(?![A-Za-z0-9_.-])")
_DEEPEST = 40
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]\s]*\])?(\+?=)(\(?)")
_WRAPPERS = frozenset({
    "$", "sudo", "nohup", "exec", "env", "time", "nice", "ionice", "setsid", "command", "stdbuf", "chrt", "numactl",
    "taskset", "runuser", "systemd-run", "timeout",
})  # fmt: skip
_OPTION = re.compile(r"-|[A-Za-z_]\w*=|(?:0x)?[0-9][0-9a-f.:,-]*[smhd]?$")
"""What may stand between a wrapper and its command, beside the words that some options take."""
_VALUED = frozenset({
    "-u", "-g", "-s", "-a", "-p", "-C", "-D", "--user", "--group", "--uid", "--gid", "--unit", "--signal", "--chdir",
})  # fmt: skip
_USER = re.compile(r"(?:sudo|runuser)\b.*? (?:-u|--user)[ =]?([\w.-]+)")
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")


def inner_text(words: Sequence[Word]) -> int:
    """Which word is the text of `sh -c` and its like; 0 for none."""
    options = [at for at, word in enumerate(words[1:8], 1) if re.fullmatch("-[a-z]*c", word.text)]
    return options[0] + 1 if options and options[0] + 1 < len(words) else 0


def behind_wrappers(words: Sequence[Word], own: dict[str, Word]) -> tuple[int, str]:
    """How many words stand before a command, and the user that they name; variables that they set go to `own`."""
    at, names = 0, [basename(word.text) for word in words]
    while at < len(words) and names[at] in _WRAPPERS and not (names[at] == "runuser" and inner_text(words)):
        at += 1
        while at < len(words) and _OPTION.match(words[at].text):
            if sign := ASSIGNMENT.match(words[at].text):
                own[sign[1]] = words[at].part(sign.end())
            at += 1 + (words[at].text in _VALUED)
    user = _USER.search(" ".join(word.text for word in words[:at]))
    return (at, user[1] if user else "") if at < len(words) else (0, "")


def user_of(words: Sequence[Word]) -> str:
    """The user of `su` and its like."""
    named = (word for before, word in pairwise(words) if before.text not in ("-c", "-s", "-g"))
    return next((word.text for word in named if not word.text.startswith("-") and not word.holes), "root")


def directory_after(words: Sequence[Word], before: str) -> str:
    """Where `cd` leads; "" where only a running script knows. A folder of the caller's home begins with ~."""
    to = [word for word in words[1:] if not word.text.startswith("-")]
    home = _HOME.match(to[0].text) if len(to) == 1 else None
    if len(to) != 1 or any(home is None or hole != home[0] for hole in to[0].holes):
        return ""
    path = normpath(f"~{to[0].text[home.end() :]}" if home else join(before, to[0].text))
    return path if path.startswith("/") or (path[0] == "~" and (home or before)) else ""


class ShellError(Exception):
    """The text is no shell text, or more than is read: a message, where, and whether it is only too much."""


class Piece(NamedTuple):
    """A part of a word: its text with its holes, whether spaces in it end words, and the variable that it is."""

    text: str
    holes: Sequence[str] = ()
    splits: bool = False
    name: str = ""


def node_commands(text: str) -> Iterator[int]:
    """Where lines of a text, with those that they go on in, have the command of a node; a comment is none."""
    for line in LINE.finditer(text) if "livepeer" in text else ():
        node = NODE.search(line[0])
        if node and not line[0].lstrip().startswith(("#", ";", "//")) and _ROLE.search(line[0], node.end()):
            yield line.start() + node.start()


def _close(text: str, place: int) -> int:
    """Behind the bracket that closes the one at `place`. Raises ShellError."""
    start, stack = place, [_PAIRS[text[place]]]
    place += 1
    while 0 < len(stack) < _DEEPEST and (piece := (_QUOTED_PIECE if stack[-1] == '"' else _PIECE).match(text, place)):
        place = piece.end()
        if piece[0] == stack[-1]:
            stack.pop()
        elif piece[0] in ("$(", "${", '"') or piece[0] + stack[-1] == "()":
            stack.append(_PAIRS[piece[0][-1]])
    if stack:
        raise ShellError(f"a {text[start]} is never closed", start, len(stack) == _DEEPEST)
    return place


@dataclass
class Values:
    """Variables and arrays. `doubtful` says that something which is no source may have set any of them.

    `place` says where characters of the text stand, `left` how many may still be read or filled in, and `at` where the
    reader is.
    """

    place: Places
    variables: dict[str, Word]
    arrays: dict[str, list[Word]] = field(default_factory=dict)
    doubtful: bool = False
    left: int = 1_200_000
    at: int = 0

    def take(self, amount: int) -> None:
        """Spend some of the work that is left. Raises ShellError."""
        self.left -= amount
        if self.left < 0:
            raise ShellError("it is too long", self.at, True)

    def words(self, text: str, place: int, whole: bool = False) -> tuple[list[Word], int]:
        """The words that a word of the text becomes, and where it ends. As a `whole`, spaces in variables end none."""
        pieces, stop = self._pieces(text, place, _ENDS_WORD)
        items = _ITEMS.fullmatch(text, place, stop)
        if items and not whole and items[1] in self.arrays:
            self.take(sum(len(word.text) + 1 for word in self.arrays[items[1]]))
            return self.arrays[items[1]], stop
        joined = "".join(_separated(piece) if piece.splits and not whole else piece.text or "\2" for piece in pieces)
        texts = [text.replace("\2", "").replace("\0", " ") for text in joined.split("\1") if text or whole]
        return self._made(texts, pieces, self.place(place, stop)), stop

    def heredoc_text(self, text: str) -> str:
        """The text of a heredoc; what only a running shell knows is a hole as other files have them."""
        pieces, _ = self._pieces(text, 0, quoted=True)
        named = ("${" + (piece.name or "UNKNOWN") + "}" for piece in pieces)
        return "".join(
            piece.text if all(map(holes_in, piece.holes)) else name for piece, name in zip(pieces, named, strict=True)
        )

    def _made(self, texts: Sequence[str], pieces: Sequence[Piece], span: Span) -> list[Word]:
        """Words with their holes, and with the variable whose value they end with."""
        holes = dict.fromkeys(hole for piece in pieces for hole in piece.holes)
        named = [piece.name for piece in pieces if piece.name in self.variables]
        known = [self.variables[name] for name in named]
        hidden = [self.variables[name] for name in named if not harmless(name)] or known
        said = (hidden[0].said or hidden[0].span) if len(hidden) == 1 else None
        lone = len(known) == len(texts) == 1 and not pieces[-1].text.startswith("-")
        name, behind = (pieces[-1].name, len(texts[0]) - len(pieces[-1].text)) if lone and pieces[-1].name else ("", 0)
        return [
            Word(text, span, tuple(dict.fromkeys([*filter(text.count, holes), *holes_in(text)])), name, said, behind)
            for text in texts
        ]

    def _pieces(self, text: str, place: int, until: str = "", quoted: bool = False) -> tuple[list[Piece], int]:
        """The pieces of a word up to a character of `until`, or the end; `quoted` as "" and heredocs are."""
        pieces: list[Piece] = []
        while place < len(text):
            char, begun = text[place], place
            if not quoted and (match := PLACEHOLDER.match(text, place)):
                new, place = [Piece(match[0], (match[0],))], match.end()
            elif char in until:
                break
            elif match := _PLAIN[quoted].match(text, place):
                new, place = [Piece(match[0])], match.end()
            elif char == "\\":
                after = "\r\n" if text.startswith("\r\n", place + 1) else text[place + 1 : place + 2]
                kept = char if not after or (quoted and after not in f"\\$`{until}") else ""
                new, place = [] if after.endswith("\n") else [Piece(kept + after)], place + 1 + len(after)
            elif char == "$":
                piece, place = self._dollar(text, place, quoted)
                new = [piece]
            elif char == '"' and not quoted:
                new, place = self._pieces(text, place + 1, '"', True)
                new, place = new or [Piece("")], place + 1
            elif char == "`" or (char == "'" and not quoted):
                place = text.find(char, place + 1) + 1 or len(text) + 1
                raw = text[begun:place]
                new = [Piece(raw, (raw,)) if char == "`" else Piece(raw[1:-1])]
            else:
                new, place = [Piece(char)], place + 1
            if place > len(text):
                raise ShellError("a quote is never closed", begun, False)
            pieces += new
        return pieces, place

    def _dollar(self, text: str, place: int, quoted: bool) -> tuple[Piece, int]:
        """What stands at a dollar sign, and where it ends."""
        if text.startswith(("$(", "${"), place):
            stop = _close(text, place + 1)
            raw = text[place:stop]
            if braced := _BRACED.fullmatch(raw):
                return self._variable(quoted, *braced.groups()), stop
            return Piece(raw, (raw,)), stop
        if ansi := None if quoted else _ANSI.match(text, place):
            return Piece(ansi[0], (ansi[0],)), ansi.end()  # escapes of C, which nobody writes for a node
        if simple := _SIMPLE.match(text, place):
            name = simple[1]
            return self._variable(quoted, name) if name else Piece(simple[0], (simple[0],)), simple.end()
        return Piece("" if not quoted and text.startswith('$"', place) else "$"), place + 1

    def _variable(
        self, quoted: bool, name: str, index: str | None = None, colon: str = "", sign: str = "", default: str = ""
    ) -> Piece:
        known = None if index else self.variables.get(name)
        unset = not (self.doubtful or index or name in self.arrays) if known is None else colon and not known.text
        if unset and sign and sign != "?":
            pieces, _ = self._pieces(default.replace('"', "") if quoted else default, 0, quoted=quoted)
            holes = [hole for piece in pieces for hole in piece.holes]
            return Piece("".join(piece.text for piece in pieces), holes, not quoted)
        if known is None:
            hole = "${" + name + (f"[{index}]" if index else "") + "}"
            return Piece(hole, (hole,), not quoted, name)
        self.take(len(known.text))
        return Piece(known.text, known.holes, not quoted, name)


def _separated(piece: Piece) -> str:
    """An unquoted value with \\1 between its fields; spaces in a hole, which are \\0, are none of its value."""
    text = piece.text
    for hole in piece.holes:
        text = text.replace(hole, hole.replace(" ", "\0"))
    return re.sub("[ \t\n]+", "\1", text)
