"""The review of a change as plain located values: the one thing that all reports are made from.

In: nothing; made by `review/compare.py`. Out: `Review`, whose JSON form `fleetc explain --schema review` publishes.
Places are file and line here, because a review is for people and programs outside the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

IMPACTS = ("exposure", "funds", "price", "identity", "chain", "capacity", "cold-start", "restart", "live", "none")
"""The classes of impact, the gravest first."""

WEIGHTS = ("critical", "worse", "", "usual", "better")
"""Of effects of one class, the gravest first: what nobody may miss, such as an administration port that others reach;
what opens or is lost; what is neither; what opens as it must, to those whom it is meant for; what closes."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A place of a spec and why it counts: `side` is new or old, `kind` given, default, derived or constant.

    `line` and `column` count from 1; 0 is the file as a whole, and an empty `file` no place at all. `text` is the
    source line, or empty with `hidden` if it may hold a secret. `path` is the key path with dots. `shared` is the
    class, the defaults or the table for many that the place is in, and `members` how many tables are like it.
    """

    side: str
    kind: str
    file: str
    line: int
    column: int
    path: str
    text: str
    reason: str = ""
    hidden: bool = False
    shared: str = ""
    members: int = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """What one change means in one class of IMPACTS.

    `text` is a sentence for people. `amount` is the number for a limit: percent for price, processes for restart and
    live, openings for exposure, models for cold-start, lost sessions and slots for capacity; 1 for the others. `who`
    names nodes that are concerned beyond the change's own targets. `weight` is one of WEIGHTS. `headline` says it with
    all names, for a line that stands alone; empty where `text` needs the change around it.
    """

    impact: str
    text: str
    amount: Decimal
    who: tuple[str, ...] = ()
    weight: str = ""
    headline: str = ""


@dataclass(frozen=True, slots=True)
class NodeRef:
    """Where a change happens: a host and a node on it; an empty node is the host, an empty host the whole fleet."""

    host: str
    node: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an artifact before and after; 0 and None if there is none on that side.

    `change` is the place in `Review.changes` of its single cause, or None. A line of `Change.lines` need not repeat its
    own.
    """

    artifact: str
    old_line: int
    new_line: int
    old: str | None
    new: str | None
    change: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One change, once: equal changes of many hosts are one with many targets.

    `kind` is that of the item: argument, variable, secret, file, order (of a file's entries), mount, image, port, gpus,
    edge, service, funds, host, avatar, slot, allow, stream, stream_api, monitoring, fleet, rollout, silence,
    rate; spec is a setting that no file shows, text a difference that no setting explains. `what` is its name, such as
    -maxPricePerUnit; `old` and `new` are None where the item is absent. `lines` shows it in the artifacts of the first
    target. `parts` are the effects at each place by itself; empty where one place has all of `effects`.
    """

    kind: str
    what: str
    old: str | None
    new: str | None
    targets: tuple[NodeRef, ...]
    causes: tuple[Cause, ...]
    effects: tuple[Effect, ...]
    lines: tuple[Line, ...]
    parts: tuple[tuple[NodeRef, tuple[Effect, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class FileChange:
    """One artifact that is added, removed or changed, with its changed lines in order."""

    path: str
    state: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """One host of the picture with its nodes; `changed` names those that a change touches.

    `added` and `removed` name nodes that only one side has. `facts` has the known role, prices and ports of each node.
    `state` is added or removed for a host that only one side has.
    """

    host: str
    label: str
    nodes: tuple[str, ...]
    changed: tuple[str, ...]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    state: str = ""


class Edge(NamedTuple):
    """One connection of the picture, between nodes or to something outside the fleet; `kind` is that of a blueprint.

    `state` is added or removed for a connection that only one side has.
    """

    source: str
    target: str
    kind: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class RuleNote:
    """A note of a review about a rule beside the spec, with the code policy/NAME.

    `kind` is the change of the rule (removed, loosened, silenced, changed, added), or finding: its finding, by the new
    rule or the base's. `severity` is error, warning or note. `cause` is the place, if there is one.
    """

    code: str
    kind: str
    severity: str
    text: str
    help: str = ""
    cause: Cause | None = None


RULE_KINDS = ("removed", "loosened", "silenced", "finding", "changed", "added")
"""The kinds of `RuleNote`, in the order of reports."""


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that would change. `changes` are sorted gravest first; `files` by path.

    `restarts` are the processes that restart or stop (host, node) and how many live sessions each can drop at most
    (None is not known); `stops` are those of them that do not start again there, `live` those that take what changes
    while they run. `cold_starts` are the warm models that load again, each once for its process. `baseline` says in
    words what it is compared with; `notes` what could not be compared, and why, and what another release of the node
    does otherwise. `foreign` are paths of a tree that its
    spec does not compile to, because somebody edited them or put them there: the review is an error. `files_only`:
    there was no spec to compare with, so the meaning of lines (prices, funds) is unknown. `rules` are about the rules
    beside the spec, and stand before everything else.
    """

    fleet: str
    baseline: str
    tool: str
    changes: tuple[Change, ...]
    files: tuple[FileChange, ...]
    restarts: tuple[tuple[NodeRef, int | None], ...]
    picture: tuple[Box, ...]
    edges: tuple[Edge, ...]
    notes: tuple[str, ...]
    files_only: bool = False
    stops: tuple[NodeRef, ...] = ()
    cold_starts: tuple[tuple[NodeRef, str], ...] = ()
    foreign: tuple[str, ...] = ()
    live: tuple[NodeRef, ...] = ()
    rules: tuple[RuleNote, ...] = ()
