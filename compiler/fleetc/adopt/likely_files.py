"""Finds files of variables that may be those which processes read, under other names: people copy /etc/default/livepeer
to livepeer.default beside its unit.

In: processes, and texts. Out: the processes, which know the name of such a text. Nothing of it is read: people say
whether it is that file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fleetc.adopt.env_files import environment
from fleetc.adopt.library import Library
from fleetc.adopt.words import Process, Unread
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

_PLAIN = frozenset({"env", "environment", "default", "defaults", "etc", "conf", "config", "txt", "vars"})
"""Words of such names that say what a file is, and not whose."""
_APART = re.compile(r"[^a-z0-9]+")
_LONGEST = 100_000
_MOST = 2
_HIGHEST = 3
"""Folders above a unit in which its file may be."""


def with_likely(processes: Iterable[Process], texts: Sequence[Source], library: Library) -> Iterator[Process]:
    """The processes; what they read and no source is has the name of a text that may be it."""
    known: list[Source] | None = None
    for one in processes:
        if one.unread and known is None:
            known = [text for text in texts if text.name not in library.used and _has_variables(text)]
        unread = tuple(file._replace(likely=_likely(one, file, known or ())) for file in one.unread)
        yield replace(one, unread=unread) if unread else one


def _has_variables(text: Source) -> bool:
    if len(text.text) > _LONGEST:
        return False
    found = environment(text.name, text.text)
    return bool(found.variables) and not found.odd


def _likely(process: Process, file: Unread, texts: Iterable[Source]) -> str:
    """The texts that may be a file, in words; "" where there is none, or too many to say."""
    if file.flags or not posixpath.basename(file.shown) or "/" not in file.shown:
        return ""
    near = [one.name for one in texts if _is_near(one.name, process.span.source) and _is_called(one.name, file.shown)]
    return " or ".join(leaks.shown(visible(name)) for name in near) if len(near) <= _MOST else ""


def _is_called(name: str, path: str) -> bool:
    """Whether a file has a name that people may give a copy of a path: with all words of its last part, and no others
    than those of the path.
    """
    *_, last = parts = [_words(part) for part in path.split("/")]
    words = _words(posixpath.basename(name))
    return bool(last - _PLAIN) and last - _PLAIN <= words <= _PLAIN.union(*parts)


def _words(name: str) -> frozenset[str]:
    return frozenset(filter(None, _APART.split(name.lower())))


def _is_near(name: str, unit: str) -> bool:
    """Whether a file is in the folder of a unit, below it or not far above, or in the same copy of /etc."""
    folders, others = name.split("/")[:-1], unit.split("/")[:-1]
    shared = 0
    while shared < min(len(folders), len(others)) and folders[shared] == others[shared]:
        shared += 1
    if shared == len(others):
        return True
    above = shared == len(folders) and len(others) - shared <= _HIGHEST
    return above or (shared > 0 and others[shared - 1] == "etc")
