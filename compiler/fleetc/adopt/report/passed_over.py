"""Sources of which nothing is in the spec: nobody reads them, or they start no node.

In: the account of an adoption. Out: such sources with why, so that people see a file that was meant to be read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache

from fleetc.adopt.found.words import Entry, Fate, Ledger
from fleetc.adopt.read.env_files import environment
from fleetc.adopt.read.library import Library, variables_in
from fleetc.adopt.read.shell import VARIABLE
from fleetc.adopt.read.sources import kind_of
from fleetc.adopt.read.systemd import ANOTHER_PROGRAM, HOMELESS
from fleetc.adopt.read.unit_instances import family_of, instances_said, is_drop_in, is_link, unit_of
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

UNNAMED = "no command among the sources names it"
"""What the account says of a source that nothing reads."""
_UNREAD = "no node reads {}"
_NO_NODE = "nothing in {} starts a node"
_NO_LINKED = "link to a unit that is none of the sources"
_NO_UNIT = "drop-in of a unit that is none of the sources"


def passed_over(
    sources: Sequence[Source], starts: Collection[str], library: Library, ledger: Ledger
) -> Iterator[tuple[str, str]]:
    """Such sources, each with why in words, in which {} may stand for them; those with settings of a node come first.
    `starts` are the sources of processes. What a message is about is not among them.
    """
    told = {one.primary.place.source for one in ledger.findings if isinstance(one.primary.place, Span)}
    account: dict[str, list[Entry]] = {}
    for entry in ledger.entries:
        account.setdefault(entry.span.source, []).append(entry)

    @cache
    def scripts() -> frozenset[str]:
        return variables_in(one.text for one in sources if kind_of(one) == "shell")

    why = {source.name: _why(source, account.get(source.name, []), scripts) for source in sources}
    why |= dict.fromkeys((*told, *starts, *library.used), "")
    units = {posixpath.basename(name) for name, words in why.items() if not words and not is_link(name)}
    for name in filter(is_link, why):
        if family_of(name) is None:
            why[name] = "" if posixpath.basename(name) in units else _NO_LINKED
    read = {_of_unit(name) for name, words in why.items() if not words}
    for source in sorted(sources, key=lambda one: "LP_" not in one.text):
        words = why[source.name]
        if words and not (words == _NO_NODE and is_drop_in(source.name) and _of_unit(source.name) in read):
            yield source.name, words


def not_read(texts: Sequence[Source], more: int, ledger: Ledger) -> Iterator[tuple[str, str]]:
    """The same of files of folders that are no sources by their names, and of `more` that are no short texts."""
    for one in texts:
        ledger.note(Span(one.name, 0, 1), "the file", Fate.DROPPED, "its name is that of no source, so it was not read")
        yield one.name, _UNREAD
    if more:
        yield f"{more} more file{'s' * (more > 1)}", "no text, or a long one"


def _of_unit(name: str) -> object:
    """The unit of a drop-in, or the template of its instance: its settings are those of that; others by their name."""
    return family_of(name) or unit_of(name)


def _why(source: Source, account: Sequence[Entry], scripts: Callable[[], frozenset[str]]) -> str:
    """Why nothing of a source is in the spec; "" where something is. `scripts` has the variables that scripts use."""
    words = {entry.words for entry in account}
    if UNNAMED in words:
        used = source.name.endswith(".env") and scripts().intersection(environment(source.name, source.text).variables)
        return "" if used else _UNREAD  # scripts get the variables of a .env
    if HOMELESS in words:
        return _NO_UNIT
    idle = bool(account) and all(entry.fate is Fate.DROPPED or entry.words == VARIABLE for entry in account)
    if (idle or ANOTHER_PROGRAM in words) and not instances_said((source,)):
        return _NO_NODE
    return ""
