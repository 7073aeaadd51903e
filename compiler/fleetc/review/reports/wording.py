"""The shared words of all reports of a review: counts, places, values cut to a length.

In: a `Review` and its parts. Out: plain text that no target has encoded yet, and orderings and groups of parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fleetc.emit.tree import SPEC_FOLDER, is_released
from fleetc.review.data import IMPACTS, Cause, Change, Effect, FileChange, Line, NodeRef, Review, RuleNote
from fleetc.review.gravity import TONES, gravity, tone
from fleetc.text.counting import counted, first_of
from fleetc.text.encoders import visible
from fleetc.text.leaks import HIDDEN

MEANINGS = {
    "exposure": "who can reach a host or a port",
    "funds": "what is deposited, held or paid out",
    "price": "prices, payments, and who can still buy from whom",
    "identity": "wallets, keystores, service addresses",
    "chain": "needs a transaction on the chain",
    "capacity": "sessions, slots or models gained or lost",
    "cold-start": "models load again, 30 to 120 s each",
    "restart": "a process restarts, live sessions drop",
    "live": "a process takes the change while it runs, no session drops",
    "none": "none of these: comments, order, labels, or things that no process reads",
}
"""Each class of impact in a few words."""

GRAVE = frozenset({"exposure", "funds", "price", "identity"})
"""The classes that no report folds away while there is room."""

CRITICAL = "critical"
"""The word before a critical effect."""

_FOREIGN = 8


def sentence(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def rules_title(notes: Sequence[RuleNote]) -> str:
    """What a review has to say of rules, in a line; its notes follow."""
    changed = len({note.code for note in notes if note.kind in ("removed", "loosened", "silenced")})
    findings = sum(note.kind == "finding" for note in notes)
    parts = [f"{counted(changed, 'rule')} removed, loosened or silenced"] if changed else []
    parts += [f"{counted(findings, 'finding')} of rules"] if findings else []
    return ", ".join(parts) or f"{counted(len({note.code for note in notes}), 'rule')} new or changed"


def impacts(change: Change) -> tuple[str, ...]:
    """The classes of a change, the gravest first; none alone when it has no effect."""
    return tuple(dict.fromkeys(effect.impact for effect in sorted(change.effects, key=gravity))) or ("none",)


def by_gravest(changes: Iterable[Change]) -> str:
    """How many changes have each class as their gravest."""
    counts = Counter(impacts(change)[0] for change in changes)
    return ", ".join(f"{counts[impact]:,} {impact}" for impact in IMPACTS if counts[impact])


def tones(change: Change) -> dict[str, str]:
    """The tone of each class of a change: that of its gravest effect."""
    return {effect.impact: tone(effect) for effect in sorted(change.effects, key=gravity, reverse=True)} or _NO_TONES


_NO_TONES = {"none": "calm"}


def is_critical(change: Change) -> bool:
    """Whether a change has a critical effect."""
    return any(effect.weight == "critical" for effect in change.effects)


def tags(change: Change) -> tuple[str, ...]:
    """What stands before a change: that it is critical, and its classes."""
    return (CRITICAL, *impacts(change)) if is_critical(change) else impacts(change)


def effects(change: Change, shown: int) -> tuple[list[Effect], int]:
    """The first few effects of a change and how many are left out: never one alone, and none as grave as a restart."""
    every = list(change.effects)
    restart = max((place for place, effect in enumerate(every, 1) if effect.impact == "restart"), default=0)
    rest = len(every) - max(shown, restart)
    return (every[:-rest], rest) if rest > 1 else (every, 0)


def hosts_of(targets: Iterable[NodeRef]) -> list[str]:
    """The hosts that targets name, each once, in their order."""
    return list(dict.fromkeys(target.host for target in targets if target.host))


def where(change: Change) -> str:
    """Where a change happens, in words: one place, or how many and the first few.

    Where all of it comes from a class or a table for many, they are counted as members of that.
    """
    targets = change.targets
    hosts = hosts_of(targets)
    members = _members(change)
    if members:
        return f"same on {members}: {first_of([target.node or target.host for target in targets], 3)}"
    nodes = [target.node for target in targets if target.node]
    if not hosts:
        return "in the whole fleet"
    if len(hosts) > 1:
        more = f" ({counted(len(nodes), 'node')})" if len(nodes) > len(hosts) else ""
        return f"same on {counted(len(hosts), 'host')}{more}: {first_of(hosts, 3)}"
    if len(nodes) > 1:
        return f"on {hosts[0]}, same on {counted(len(nodes), 'node')}: {first_of(nodes, 3)}"
    return f"on {hosts[0]}, node {nodes[0]}" if nodes else f"on {hosts[0]}"


def _members(change: Change) -> str:
    """ "20 of 20 members of gpu-box", if a change on several places has one shared cause; else ""."""
    shared = {(cause.shared, cause.members) for cause in change.causes}
    if len(shared) != 1 or len(change.targets) < 2:
        return ""
    ((name, members),) = shared
    return f"{len(change.targets)} of {members} members of {name}" if name and len(change.targets) <= members else ""


class Tally(NamedTuple):
    """How often a class of impact occurs: changes that have it, their hosts, its gravest sentence and its tone."""

    impact: str
    changes: int
    hosts: int
    example: str
    tone: str


def tallies(review: Review) -> list[Tally]:
    """Each class that occurs, the gravest first."""
    changes: Counter[str] = Counter()
    hosts: dict[str, set[str]] = {}
    gravest: dict[str, Effect] = {}
    for change in review.changes:
        classes = impacts(change)
        changes.update(classes)
        touched = hosts_of(change.targets)
        for impact in classes:
            hosts.setdefault(impact, set()).update(touched)
        for effect in change.effects:
            known = gravest.setdefault(effect.impact, effect)
            if gravity(effect) < gravity(known):
                gravest[effect.impact] = effect
    worst = {impact: (effect.text, tone(effect)) for impact, effect in gravest.items()}
    return [Tally(i, changes[i], len(hosts[i]), *worst.get(i, ("", "calm"))) for i in IMPACTS if changes[i]]


def alarm(review: Review) -> str:
    """What of a tree is not from its spec, as a sentence without a full stop; or nothing."""
    if not review.foreign:
        return ""
    paths = [visible(path) for path in review.foreign]
    return f"Not what the spec compiles to, but in the tree: {first_of(paths, _FOREIGN)}; this review does not cover it"


def headline(review: Review) -> str:
    """How much changes, in a few words; of what is not of the spec nothing is known."""
    if review.foreign:
        what = f"{counted(len(review.changes), 'change')} of the spec" if review.changes else "No change of the spec"
        return f"Foreign files in the rollout ({len(review.foreign):,}); {what[0].lower()}{what[1:]}"
    if not review.changes:
        return f"No setting changes, but {files(review)}" if review.files else "Nothing changes"
    hosts = {host for change in review.changes for host in hosts_of(change.targets)}
    place = f" on {counted(len(hosts), 'host')}" if hosts else " of the fleet as a whole"
    return f"{counted(len(review.changes), 'change')}{place}"


def gravest(review: Review) -> str:
    """The gravest effect in plain words, without a full stop: only what is certain, else that it is unknown."""
    if review.foreign:
        return f"A rollout would use {counted(len(review.foreign), 'file')} that this spec does not compile to"
    if not review.changes:
        return headline(review)
    change = review.changes[0]
    effect = min(change.effects, key=gravity, default=None)
    if effect is None or effect.impact == "none":
        return (
            "Only files were compared: what they mean is unknown" if review.files_only else "Nothing that runs changes"
        )
    unknown = "; what that means for prices, funds and reach is unknown" if review.files_only else ""
    if effect.impact in ("restart", "cold-start") and review.restarts:
        cause = _alone(review)
        return f"{f'{cause}: ' if cause else ''}{_ended(review)}{unknown}"
    sentence = effect.headline or (
        effect.text if effect.impact in _WITH_NAMES else f"{_subject(change)}: {effect.text}"
    )
    ranks = [gravity(other.effects[0])[0] for other in review.changes[1:] if other.effects]
    alike = ranks.count(gravity(effect)[0])
    others = f"; {counted(alike, 'more change')} {'is' if alike == 1 else 'are'} as grave" if alike else ""
    return f"{sentence}{unknown}{others}"


def _alone(review: Review) -> str:
    """What the only change of a review is, where that is short, such as another node release."""
    change = review.changes[0]
    old, new = change.old or "", change.new or ""
    short = old and new and len(change.what) + len(old) + len(new) <= _SHORT
    return f"{change.what} {new} instead of {old}" if short and len(review.changes) == 1 else ""


_SHORT = 60
"""Up to so many characters a change is named in the verdict."""

_WITH_NAMES = ("restart", "live", "cold-start")
"""Classes whose sentences name the processes that they are about."""


def _subject(change: Change) -> str:
    """What changes and where, in a few words."""
    hosts, nodes = hosts_of(change.targets), [target.node for target in change.targets if target.node]
    if change.what in nodes and None in (change.old, change.new):
        return f"{change.what} is new" if change.old is None else f"{change.what} is removed"
    place = f" on {counted(len(hosts), 'host')}" if len(hosts) > 1 else f" of {nodes[0]}" if len(nodes) == 1 else ""
    return f"{change.what}{place or (f' on {hosts[0]}' if hosts and change.what != hosts[0] else '')}"


def gravest_tone(review: Review) -> str:
    """The tone of the gravest effect of a review."""
    if review.foreign:
        return "danger"
    return min(
        (tone(effect) for change in review.changes for effect in change.effects), key=TONES.index, default="calm"
    )


def verdict(review: Review) -> str:
    """The review in one sentence without a full stop: how much changes, and how often each class occurs."""
    classes = tallies(review)
    if [tally.impact for tally in classes] == ["none"]:
        meaning = "what it means is unknown" if review.files_only else "none with an effect on what runs"
        return f"{headline(review)}, {meaning}"
    return ": ".join(
        filter(None, (headline(review), ", ".join(f"{tally.impact} ({tally.changes:,})" for tally in classes)))
    )


def files(review: Review) -> str:
    """How many files change, are added and are removed."""
    states = Counter(file.state for file in review.files)
    verbs = (
        ("changed", "changes", "change"),
        ("added", "is added", "are added"),
        ("removed", "is removed", "are removed"),
    )
    counts = [(states[state], single if states[state] == 1 else many) for state, single, many in verbs if states[state]]
    if not counts:
        return "no file changes"
    (first, verb), *rest = counts
    return ", ".join([f"{counted(first, 'file')} {verb}", *(f"{number:,} {verb}" for number, verb in rest)])


def restarts(review: Review) -> str:
    """How many processes restart or stop, how many live sessions can drop, and how many processes change live."""
    number = len(review.live)
    takes = f"{counted(number, 'process', 'processes')} take{'s' if number == 1 else ''} what changes while running"
    return f"{_ended(review)}; {takes}" if number else _ended(review)


def _ended(review: Review) -> str:
    number = len(review.restarts)
    if not number and review.files_only and all(file.path.startswith(SPEC_FOLDER) for file in review.files):
        return "it is unknown which processes restart"
    if not number:
        return "no process restarts"
    known = [sessions for _, sessions in review.restarts if sessions is not None]
    stop = sum(target in review.stops for target, _ in review.restarts)
    counts = [(many, verb) for many, verb in ((number - stop, "restart"), (stop, "stop")) if many]
    (first, verb), *rest = [(many, f"{verb}s" if many == 1 else verb) for many, verb in counts]
    sentence = " and ".join(
        [f"{counted(first, 'process', 'processes')} {verb}", *(f"{many:,} {verb}" for many, verb in rest)]
    )
    if not known:
        return f"{sentence}; it is unknown how many live sessions drop"
    sentence += f", at most {counted(sum(known), 'live session')} drop{'s' if sum(known) == 1 else ''}"
    unknown = number - len(known)
    if not unknown:
        return sentence
    return f"{sentence}; it is unknown how many more on {counted(unknown, 'process', 'processes')}"


def clip(text: str, limit: int) -> str:
    """The text, or its first `limit` characters and how many follow."""
    return text if len(text) <= limit + 20 else f"{text[:limit]}... ({len(text) - limit:,} more characters)"


def place(spot: Cause) -> str:
    """Where a spot is: file:line:column, the file alone, or its key path where it is in no file."""
    if not spot.file:
        return spot.path
    return f"{spot.file}:{spot.line}:{spot.column}" if spot.line else spot.file


def line_text(spot: Cause) -> str:
    """The source line of a spot as it is shown; in words where it may hold a secret or is blank."""
    if spot.hidden:
        return "[line not shown: it may contain a secret]"
    return spot.text.strip() or "[blank line]"


_KINDS = {"given": "", "default": "the default", "derived": "derived", "constant": "the same in every fleet"}


def reason(spot: Cause) -> str:
    """Why a spot counts, in words: its side and kind where they are not the usual ones, and its reason."""
    side = "before the change" if spot.side == "old" else ""
    kind = _KINDS.get(spot.kind, spot.kind)
    head = ", ".join(filter(None, (side, kind)))
    return ": ".join(filter(None, (head, spot.reason)))


class Alike(NamedTuple):
    """Files whose changes are the same line for line, `but_for_names` of hosts and nodes: the first represents all."""

    first: FileChange
    paths: tuple[str, ...]
    but_for_names: bool = False

    @property
    def same(self) -> str:
        """In how many files the changes are the same, in words; "" for one file."""
        if len(self.paths) < 2:
            return ""
        hidden = any(HIDDEN in (line.old, line.new) for line in self.first.lines)  # which may be another in each file
        apart = "as far as shown " if hidden else "but for names " if self.but_for_names else ""
        return f"same {apart}in {counted(len(self.paths), 'file')}"


def alike(changed: Iterable[FileChange]) -> list[Alike]:
    """Groups of files of one name with equal changed lines, in the order of their first paths.

    A file's own host and node may have other names in other files. Where no lines are told, as of files that hold
    digests of others, the files of one directory are a group.
    """
    groups: dict[object, list[tuple[FileChange, bool]]] = {}
    for file in changed:
        own = _own_names(file.path)
        numbered = [(line.old_line, line.new_line, line.old, line.new) for line in file.lines]
        lines = tuple((was, now, _nameless(old, own), _nameless(new, own)) for was, now, old, new in numbered)
        key = (_group_name(file.path, own, bool(lines)), file.state, lines)
        groups.setdefault(key, []).append((file, tuple(numbered) != lines))
    return [Alike(group[0][0], tuple(f.path for f, _ in group), any(n for _, n in group)) for group in groups.values()]


def _own_names(path: str) -> tuple[str, ...]:
    """The host and the node that a file of the tree is about, by its path, and the unit of the node."""
    parts = path.split("/")
    if len(parts) == 3 and parts[:2] == ["ansible", "host_vars"]:
        return (parts[2].removesuffix(".json"),)
    if len(parts) == 3 and parts[0] == "hosts":
        return (parts[1],)
    return (*parts[1:3], f"livepeer-{parts[2]}") if len(parts) == 4 and parts[0] == "hosts" else ()


def _nameless(line: str | None, names: tuple[str, ...]) -> str | None:
    """A line with signs in the place of names, each its own."""
    if line is None or not any(name in line for name in names):
        return line
    return _NAME.sub(lambda word: f"\0{names.index(word[0])}" if word[0] in names else word[0], line)


_NAME = re.compile(r"[\w-]+")


def _group_name(path: str, own: tuple[str, ...], has_lines: bool) -> str:
    """The name of a file without those of its host and node; the directory when no lines are told."""
    directory, _, name = path.rpartition("/")
    if not has_lines:
        return f"{directory}/"
    return _NAME.sub(lambda word: "*" if word[0] in own else word[0], name)


def explained(review: Review) -> dict[tuple[str, int, int], int]:
    """For each line (artifact, old and new number) of a change the place of that change in the review."""
    by_line: dict[tuple[str, int, int], int] = {}
    for index, change in enumerate(review.changes):
        for line in change.lines:
            by_line.setdefault((line.artifact, line.old_line, line.new_line), index)
    return by_line


def change_of(line: Line, known: dict[tuple[str, int, int], int]) -> int | None:
    """The place of the change that explains a line, by what the line says itself or by `explained`."""
    if line.change is not None:
        return line.change
    return known.get((line.artifact, line.old_line, line.new_line))


def by_gravity(groups: Iterable[Alike], known: dict[tuple[str, int, int], int]) -> list[Alike]:
    """Groups of files in the order of the gravest change that a line of them belongs to; those of hosts first."""

    def gravest(group: Alike) -> tuple[bool, int, bool]:
        places = [index for line in group.first.lines if (index := change_of(line, known)) is not None]
        return not places, min(places, default=0), not is_released(group.first.path)

    return sorted(groups, key=gravest)
