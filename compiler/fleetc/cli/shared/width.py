"""Breaks long lines between words, as wide as a terminal.

In: text for people. Out: the same text on a terminal, with later lines of a paragraph indented below its first. Pipes
and files get long lines as they are, for programs that search them.
"""

from __future__ import annotations

import re
import shutil
from typing import TextIO

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_AS_IT_IS = re.compile(r"\s*(\d* *\||--> |fleetc |\$ )")
"""Lines of a spec with their marks, places, and commands that people copy."""

_NARROWEST = 30


def fitted(text: str, stream: TextIO) -> str:
    """The text, whose lines fit a stream that is a terminal."""
    if not stream.isatty():
        return text
    columns = max(_NARROWEST, shutil.get_terminal_size().columns)
    return "".join(_broken(line, columns) for line in text.splitlines(keepends=True))


def _broken(line: str, columns: int) -> str:
    """One line, broken where a word goes beyond the last column."""
    shown = _COLOUR.sub("", line.rstrip("\n"))
    if len(shown) <= columns or _AS_IT_IS.match(shown):
        return line
    indent = " " * (len(shown) - len(shown.lstrip()) + 4)
    lines, width = [""], 0
    for word in re.split(r"(?<=\S)(?= )", line):
        length = len(_COLOUR.sub("", word.rstrip("\n")))
        if width + length > columns and width > len(indent):
            word = indent + word.lstrip(" ")
            lines.append("")
            width, length = 0, len(_COLOUR.sub("", word.rstrip("\n")))
        lines[-1] += word
        width += length
    return "\n".join(lines)
