"""Reads launch files of an editor: configurations with the arguments of a node.

In: JSON with comments. Out: a `Process` for each configuration of the node's program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleetc.adopt.flags import holes_in
from fleetc.adopt.words import Process, Word
from fleetc.places.diagnostic import Span

_NAME = re.compile(r'"name"\s*:\s*"((?:\\.|[^"\\\n])*)"')
_PROGRAM = re.compile(r'"program"\s*:\s*"([^"\n]*)"')
_ARGUMENTS = re.compile(r'"args"\s*:\s*\[')
_ITEM = re.compile(r'\s*(?:,|//[^\n]*|"((?:\\.|[^"\\\n])*)")')


def is_launch_file(text: str) -> bool:
    """Whether a text is such a file, or a part of one."""
    return _ARGUMENTS.search(text) is not None and '"name"' in text


def read_launch_file(source: str, text: str) -> Iterator[Process]:
    """The processes of a launch file."""
    for found in _ARGUMENTS.finditer(text):
        names = list(_NAME.finditer(text, 0, found.start()))
        programs = list(_PROGRAM.finditer(text, 0, found.start()))
        if programs and not re.search(r"(?:^|/)livepeer$", programs[-1][1]):
            continue
        words = []
        place = found.end()
        while (item := _ITEM.match(text, place)) is not None:
            if item[1] is not None:
                value = re.sub(r"\\(.)", r"\1", item[1])
                words.append(Word(value, Span(source, item.start(1), item.end(1)), holes_in(value)))
            place = item.end()
        name = names[-1] if names else None
        span = Span(source, name.start(1), name.end(1)) if name else Span(source, found.start(), found.end())
        yield Process(name[1] if name else "", span, tuple(words))
