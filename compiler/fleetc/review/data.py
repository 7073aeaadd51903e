"""The review of a change as plain located values: the one thing that all reports are made from.

In: nothing; made by `review/compare.py`. Out: `Review`. `fleetc explain --schema review` publishes what these fields
say: a field has its sentence beside its type, and before it the words that it may be. Places are file and line here,
because a review is for people and programs outside the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, NamedTuple

IMPACTS = ("exposure", "funds", "price", "identity", "chain", "capacity", "cold-start", "restart", "live", "none")
"""The classes of impact, the gravest first."""

WEIGHTS = ("critical", "worse", "", "usual", "better")
"""Of effects of one class, the gravest first: what nobody may miss, such as an administration port that others reach;
what opens or is lost; what is neither; what opens as it must, to those whom it is meant for; what closes."""


SEVERITIES = ("error", "warning", "note")
RULE_KINDS = ("removed", "loosened", "silenced", "finding", "changed", "added")
"""What becomes of a rule, or a finding of it, in the order of reports."""
_ON_ONE_SIDE = ("", "added", "removed")
_Node = Annotated[str, "A node."]


@dataclass(frozen=True, slots=True)
class Cause:
    """A place of a spec and why it counts."""

    side: Annotated[str, ("new", "old"), "Which spec: the new one, or the one it is compared with."]
    kind: Annotated[str, ("given", "default", "derived", "constant"), "How the place decides the value."]
    file: Annotated[str, "Spec file; empty if the spec says nothing."]
    line: Annotated[int, "Line from 1; 0 for the file as a whole."]
    column: Annotated[int, "Column in characters from 1; 0 for the file as a whole."]
    path: Annotated[str, "Key path, parts joined by dots."]
    text: Annotated[str, "The source line; empty if it may contain a secret."]
    reason: Annotated[str, "Why this place counts; may be empty."] = ""
    hidden: Annotated[bool, "The source line may contain a secret, so it is omitted."] = False
    shared: Annotated[
        str, "The class, defaults or table for many that the place is in; empty for a place of one table."
    ] = ""
    members: Annotated[int, "How many tables take it from there; 0 for a place of one table."] = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """What one change means in one class of IMPACTS."""

    impact: Annotated[str, IMPACTS, "An impact class; none means that no other class applies."]
    text: Annotated[str, "What it means, one sentence."]
    amount: Annotated[
        Decimal,
        "What a limit is compared with: percent for price, processes for restart and live, openings for exposure, "
        "models for cold-start, sessions and slots for capacity; 1 for the others, of funds once for each wallet.",
    ]
    who: Annotated[tuple[_Node, ...], "Affected nodes besides the targets of the change."] = ()
    weight: Annotated[
        str,
        WEIGHTS,
        "Within its class: critical must not be missed, worse opens or loses something, better closes something.",
    ] = ""
    headline: Annotated[
        str, "The same with all names, for a line that stands alone; empty if the text needs its change."
    ] = ""


@dataclass(frozen=True, slots=True, order=True)
class NodeRef:
    """Where a change happens."""

    host: Annotated[str, "The host; empty for the whole fleet."]
    node: Annotated[str, "The node on it; empty for the host itself."]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an artifact before and after. A line of `Change.lines` need not repeat its own change."""

    artifact: Annotated[str, "Path of the file in the tree."]
    old_line: Annotated[int, "Line before, from 1; 0 if there is none."]
    new_line: Annotated[int, "Line after, from 1; 0 if there is none."]
    old: Annotated[str | None, "The line before."]
    new: Annotated[str | None, "The line after."]
    change: Annotated[int | None, "Index in changes, from 0, of the change that explains the line."] = None


@dataclass(frozen=True, slots=True)
class Change:
    """One change, once: equal changes of many hosts are one with many targets.

    `kind` is that of the item: argument, variable, secret, file, order (of a file's entries), mount, image, port, gpus,
    edge, service, funds, host, avatar, slot, allow, stream, stream_api, monitoring, fleet, rollout, silence,
    rate; spec is a setting that no file shows, text a difference that no setting explains. `parts` are the effects at
    each place by itself, for plans; empty where one place has all of `effects`.
    """

    kind: Annotated[str, "Kind of the thing that changes, such as argument, variable, secret, file, port, host."]
    what: Annotated[str, "Its name, such as -maxPricePerUnit."]
    old: Annotated[str | None, "Value before; null if it was absent."]
    new: Annotated[str | None, "Value after; null if it is absent."]
    targets: Annotated[tuple[NodeRef, ...], "Every place where exactly this happens."]
    causes: Annotated[tuple[Cause, ...], "The places of the spec, or the defaults, that cause it."]
    effects: Annotated[tuple[Effect, ...], "What it means, class by class."]
    lines: Annotated[tuple[Line, ...], "Its lines in the files of the first target."]
    parts: tuple[tuple[NodeRef, tuple[Effect, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class FileChange:
    """One artifact that is added, removed or changed."""

    path: Annotated[str, "Path in the tree."]
    state: Annotated[str, ("added", "removed", "changed"), "What happens to the file."]
    lines: Annotated[tuple[Line, ...], "Its changed lines in order."]


class NodeFact(NamedTuple):
    """What is known of a node of the picture."""

    node: _Node
    text: Annotated[str, "Its role, prices and ports."]


@dataclass(frozen=True, slots=True)
class Box:
    """One host of the picture with its nodes."""

    host: Annotated[str, "The host."]
    label: Annotated[str, "Its label in the diagram."]
    nodes: Annotated[tuple[_Node, ...], "Its nodes."]
    changed: Annotated[tuple[_Node, ...], "Those of its nodes that a change touches."]
    added: Annotated[tuple[_Node, ...], "Those of its nodes that are new."] = ()
    removed: Annotated[tuple[_Node, ...], "Those of its nodes that leave the spec."] = ()
    facts: Annotated[tuple[NodeFact, ...], "What is known of its nodes."] = ()
    state: Annotated[str, _ON_ONE_SIDE, "Whether only one side has the host."] = ""


class Edge(NamedTuple):
    """One connection of the picture; `kind` is that of a blueprint."""

    source: _Node
    target: Annotated[str, "A node, or something outside the fleet."]
    kind: Annotated[str, "What connects them, such as pays, finds or serves."]
    state: Annotated[str, _ON_ONE_SIDE, "Whether only one side has the connection."] = ""


@dataclass(frozen=True, slots=True)
class RuleNote:
    """A note about a rule beside the spec: what became of it, or a finding by the new rule or the base's."""

    code: Annotated[str, "Code of the rule, policy/NAME."]
    kind: Annotated[str, RULE_KINDS, "What became of the rule, or a finding of it."]
    severity: Annotated[str, SEVERITIES, "How bad it is; an error breaks a limit that nobody has to set."]
    text: Annotated[str, "One sentence."]
    help: Annotated[str, "What to write instead; may be empty."] = ""
    place: Annotated[Cause | None, "Where, in a spec or in the text of a rule."] = None


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that would change.

    `restarts` are the processes that restart or stop, each with the most live sessions that it can drop, None if that
    is not known. `cold_starts` are the warm models that load again, each once for its process.
    """

    fleet: Annotated[str, "Name of the fleet."]
    baseline: Annotated[str, "What the spec was compared with, in words."]
    tool: Annotated[str, "Version of fleetc."]
    changes: Annotated[tuple[Change, ...], "Every change once, most serious first."]
    files: Annotated[tuple[FileChange, ...], "Every file of the tree that differs, by path."]
    restarts: tuple[tuple[NodeRef, int | None], ...]
    picture: Annotated[tuple[Box, ...], "Every host."]
    edges: Annotated[tuple[Edge, ...], "Connections between nodes."]
    notes: Annotated[
        tuple[Annotated[str, "One sentence."], ...],
        "What could not be compared, and what another release of the node does otherwise.",
    ]
    files_only: Annotated[
        bool, "Only files were compared, without a spec: what lines mean (prices, funds) is unknown."
    ] = False
    stops: Annotated[tuple[NodeRef, ...], "Those of them that do not start again there."] = ()
    cold_starts: tuple[tuple[NodeRef, str], ...] = ()
    foreign: Annotated[
        tuple[Annotated[str, "A path in the tree; a directory ends in a slash."], ...],
        "Files that a rollout would use but the spec does not compile to; no other part covers them. If this is not "
        "empty, the review is not valid.",
    ] = ()
    live: Annotated[tuple[NodeRef, ...], "The processes that take what changes while they run."] = ()
    rules: Annotated[tuple[RuleNote, ...], "What becomes of the rules beside the spec, and what they newly find."] = ()
