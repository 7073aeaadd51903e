"""Which lines of which artifacts show a change, and which lines nothing explains.

In: two sides, the paths that differ, and the deltas. Out: the `Line`s of each delta and file, and the pairs of lines
that belong to no delta. Called by `compare.py`.

A line belongs to a delta of its node or host if both have a flag's or variable's name or a mount's path. It hides
digests, prerequisites of hosts and health checks, which follow from shown settings: host variables that only differ
there are bookkeeping.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from fleetc.emit.firewall import FILE as FIREWALL
from fleetc.emit.tree import MANIFEST, SPEC_FOLDER, is_released, is_shared
from fleetc.review.data import FileChange, Line
from fleetc.review.items.avatars import avatar_of
from fleetc.review.items.deltas import Delta
from fleetc.review.items.of_stacks import SEAT
from fleetc.review.lines import LinePair, differing
from fleetc.review.sides import Side
from fleetc.text import leaks

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_HEALTH = re.compile(r', "health": .*')
_NEED = re.compile(r' *(\{"need": .*|"fleet_host_needs": .*)')
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HOST_VARS = re.compile(r"ansible/host_vars/([^/]+)\.json")


@dataclass
class Evidence:
    """`lines_of` and `left` are filled by `attribute`."""

    old: Side
    new: Side
    paths: list[str]
    left: dict[str, list[LinePair]] = field(default_factory=dict)
    explained: set[str] = field(default_factory=set)
    _lines: dict[int, list[Line]] = field(default_factory=dict)
    _pairs: dict[str, list[LinePair]] = field(default_factory=dict)

    def lines_of(self, delta: Delta) -> tuple[Line, ...]:
        """The lines that show a delta and what follows from it, by file and number."""
        lines = {line for part in delta.all() for line in self._lines.get(id(part), ())}
        return tuple(sorted(lines, key=lambda line: (line.artifact, line.new_line or line.old_line, line.old_line)))

    def files(self, changes: Sequence[Sequence[Delta]]) -> Iterator[FileChange]:
        """Every file that differs, with its lines, except those of the manifest and of bare digests.

        Each line has the place of the change that explains it, if there is exactly one.
        """
        owners: dict[Line, int | None] = {}
        for place, deltas in enumerate(changes):
            for line in {line for delta in deltas for part in delta.all() for line in self._lines.get(id(part), ())}:
                owners[line] = None if line in owners else place
        for path in self.paths:
            before, after = path in self.old.files, path in self.new.files
            state = "changed" if before and after else "added" if after else "removed"
            pairs = () if path == MANIFEST else self.pairs(path)
            lines = (_line(path, pair) for pair in pairs)
            yield FileChange(path, state, tuple(replace(line, change=owners.get(line)) for line in lines))

    def pairs(self, path: str) -> list[LinePair]:
        """The lines in which a file differs; for host variables without bookkeeping."""
        if path not in self._pairs:
            texts = (_text(side.files.get(path)) for side in (self.old, self.new))
            pairs = differing(*texts)
            digests = _HOST_VARS.fullmatch(path) and not self.edited(path)
            self._pairs[path] = [pair for pair in pairs if not _is_bookkeeping(pair)] if digests else pairs
        return self._pairs[path]

    def edited(self, path: str) -> bool:
        """Whether the file was edited after it was written."""
        return path in self.old.files and self.old.edited(path)

    def attribute(self, deltas: Iterable[Delta]) -> None:
        """Give each line to the deltas that it shows; `left` gets the remaining lines."""
        by_name: dict[str, list[Delta]] = {}
        fleet: list[Delta] = []
        hosts: dict[str, list[Delta]] = {}
        for delta in (part for whole in deltas for part in whole.all()):
            names = (delta.item.node, delta.item.host)
            if not any(names):
                fleet.append(delta)
            for name in dict.fromkeys(filter(None, names)):
                by_name.setdefault(name, []).append(delta)
            for item in (delta.old, delta.new):
                if item is not None and item.host and delta not in hosts.setdefault(item.host, []):
                    hosts[item.host].append(delta)
        for path in self.paths:
            if path == MANIFEST or path.startswith(SPEC_FOLDER):
                continue
            variables = _HOST_VARS.fullmatch(path)
            if is_released(path):
                _, host, node, _ = path.split("/", 3)
                names = ("", node)  # the firewall beside a stack has the ports of all nodes
                guards = path.endswith(f"/{FIREWALL}")
                near = [d for d in hosts.get(host, ()) if d.item.node in names or (guards and d.item.kind == "port")]
                self._share(path, near)
            elif variables:
                everywhere = [d for d in fleet if any(_has_values(pair, d) for pair in self.pairs(path))]
                self._share(path, [*hosts.get(variables[1], []), *everywhere])
            elif path.startswith("ansible/") and not is_shared(path):
                self._share(path, fleet)
            else:
                self._search(path, by_name, fleet)

    def _share(self, path: str, near: list[Delta]) -> None:
        """The lines of a file that concerns few deltas."""
        pairs = self.pairs(path)
        if not pairs and near:
            self.explained.add(path)
        whole = [delta for delta in near if _is_whole(delta)]
        for pair in pairs:
            owners = [delta for delta in near if _shows(pair, delta, path)] or whole
            self._own(path, pair, owners)
        if near and path not in self.explained and not self.edited(path):
            for pair in self.left.pop(path, ()):
                self._own(path, pair, near[:1])

    def _search(self, path: str, by_name: Mapping[str, list[Delta]], fleet: list[Delta]) -> None:
        """The lines of a page about the whole fleet, by the names in them."""
        for pair in self.pairs(path):
            words = dict.fromkeys(word for text in (pair.old, pair.new) if text for word in _WORD.findall(text))
            named = list(dict.fromkeys(delta for word in words for delta in by_name.get(word, ())))
            # What changes the fleet as a whole has long values, and shares words such as "wallet" with many lines.
            own = [delta for delta in named if _has_values(pair, delta)]
            owners = own or [delta for delta in fleet if _has_values(pair, delta)] or [*named, *fleet][:1]
            self._own(path, pair, owners)
        if by_name or fleet:
            self.explained.add(path)

    def _own(self, path: str, pair: LinePair, owners: list[Delta]) -> None:
        if not owners:
            self.left.setdefault(path, []).append(pair)
            return
        self.explained.add(path)
        line = _line(path, pair)
        for delta in owners:
            self._lines.setdefault(id(delta), []).append(line)


def _is_whole(delta: Delta) -> bool:
    """Whether a delta changes whole files: a host, a node or a file comes or goes, or the runtime changes."""
    return delta.item.presence or (delta.item.kind, delta.item.what) in (("host", "runtime"), ("service", "host"))


def _shows(pair: LinePair, delta: Delta, path: str) -> bool:
    texts = [text for text in (pair.old, pair.new) if text is not None]
    item = delta.item
    if item.key[-1] == SEAT:
        avatars = {avatar_of(seat) for seat in (delta.old, delta.new) if seat is not None}
        return any(avatars & _words(text) for text in texts)
    if item.kind == "argument":
        return any(f"{item.what}=" in text for text in texts)
    if item.kind == "file":
        return path.endswith(f"/{item.key[3]}") and (len(item.key) < 6 or any(f'"{item.key[5]}"' in t for t in texts))
    if item.kind in ("variable", "secret", "mount", "edge"):
        return any(item.what in text for text in texts)
    return _has_values(pair, delta)


def _has_values(pair: LinePair, delta: Delta) -> bool:
    """Whether the lines contain the values: the old line the old value, the new line the new value."""
    old, new = _words(delta.before), _words(delta.after)
    before, after = (old - new or old), (new - old or new)
    return bool(
        (pair.old is not None and before & _words(pair.old)) or (pair.new is not None and after & _words(pair.new))
    )


@lru_cache(maxsize=65536)
def _words(text: str | None) -> frozenset[str]:
    return frozenset(part for word in _WORD.findall(text or "") for part in (word, *word.split("-")))


def _is_bookkeeping(pair: LinePair) -> bool:
    if all(_NEED.fullmatch(text) for text in (pair.old, pair.new) if text is not None):
        return True
    if pair.old is None or pair.new is None:
        return False
    old, new = (_HEALTH.sub("", _DIGEST.sub("", text)) for text in (pair.old, pair.new))
    return old == new


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", errors="replace")


def _line(path: str, pair: LinePair) -> Line:
    old, new = (None if text is None else leaks.shown(text) for text in (pair.old, pair.new))
    return Line(path, pair.old_line, pair.new_line, old, new)
