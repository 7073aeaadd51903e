"""Turns findings into diagnostics at lines of a spec, or at lines of the logs where there is no spec.

In: findings, and what was read of a spec. Out: located diagnostics, in the order of the findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fleetc.language.fleet import Fleet, Node, PlacedRunner
from fleetc.messages.locate import Located, Place, locate
from fleetc.observe import targets
from fleetc.observe.findings import LogFinding
from fleetc.observe.proofs import INSTEAD, NUMBERS, PROOFS, Case
from fleetc.observe.shapes import shape_of
from fleetc.observe.tally import LogLine, Seen
from fleetc.places.diagnostic import Diagnostic, Label, Path, Severity
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Document, Source


class Spec(NamedTuple):
    """A spec's fleet and the findings of `check` about it. `writer` is who wrote the logs."""

    fleet: Fleet
    sources: Sequence[Source]
    document: Document | None
    checked: Sequence[Diagnostic]
    writer: Node | PlacedRunner | None = None


def located(findings: Iterable[LogFinding], spec: Spec | None) -> list[Located]:
    """Each finding at the place in the spec that may have to change, with its first line in the logs."""
    findings = list(findings)
    if spec is None:
        plain = [_diagnostic(finding, (), _joined([finding.handling, _numbers(finding)])) for finding in findings]
        places = {item.diagnostic.message: item for item in locate(plain, (), None)}
        return [places[_message(finding)]._replace(primary=_log_place(finding.seen.where, "")) for finding in findings]
    meant = [_meant(finding, spec) for finding in findings]
    places = {item.diagnostic.message: item for item in locate(meant, spec.sources, spec.document)}
    return [_with_line(places[_message(finding)], finding) for finding in findings]


def _diagnostic(finding: LogFinding, labels: Sequence[Label], help: str) -> Diagnostic:
    primary, *related = labels or (Label(()),)
    return Diagnostic(finding.code, finding.severity, _message(finding), primary, tuple(related), help)


def _message(finding: LogFinding) -> str:
    """What was seen, how often and when; harmless lines are benign."""
    what = finding.what.removesuffix(".")
    benign = "benign: " if finding.severity is Severity.NOTE else ""
    return f"{benign}{what[:1].lower()}{what[1:]}: {counted(finding)}"


def counted(finding: LogFinding) -> str:
    """The number of lines, from when to when, and how many in a minute."""
    seen = finding.seen
    lines = f"{seen.count} line{'' if seen.count == 1 else 's'}"
    if seen.first is None or seen.last is None:
        return lines
    if seen.first == seen.last:
        return f"{lines}, {seen.first}"
    return f"{lines}, {seen.first} to {seen.last}, {_rate(finding)}"


def _rate(finding: LogFinding) -> str:
    """Lines in a minute, over the minutes that have any."""
    minutes = finding.seen.minutes
    return f"{finding.per_minute:.3g} a minute in {minutes} minute{'' if minutes == 1 else 's'}"


def _meant(finding: LogFinding, spec: Spec) -> Diagnostic:
    if isinstance(spec.writer, PlacedRunner):
        paths = targets.paths_of_runner(finding.change, spec.writer)
    else:
        paths = targets.paths(spec.fleet, finding.change, spec.writer, finding.seen.parts)
    checked = _checked(finding, spec, paths)
    labels = [Label(path) for path in paths]
    if checked is not None:
        labels = [
            checked.primary,
            *checked.related,
            *(label for label in labels if label.place not in _places(checked)),
        ]
    if finding.severity is Severity.NOTE:
        labels = labels[:1]
    return _diagnostic(finding, labels[: targets.MANY], _help(finding, spec, checked))


def _places(diagnostic: Diagnostic) -> list[object]:
    return [label.place for label in (diagnostic.primary, *diagnostic.related)]


def _checked(finding: LogFinding, spec: Spec, paths: Sequence[Path]) -> Diagnostic | None:
    """Findings of `check` that would explain it, about one of its nodes or wallets."""
    near = {path[:2] for path in paths}
    if spec.writer is not None:
        near.add(spec.writer.path)
    for diagnostic in spec.checked:
        about = {place[:2] for place in _places(diagnostic) if isinstance(place, tuple)}
        if diagnostic.code in finding.checks and (spec.writer is None or about & near):
            return diagnostic
    return None


def _help(finding: LogFinding, spec: Spec, checked: Diagnostic | None) -> str:
    """What to do, and the value that would do where one can be proved."""
    parts = [finding.handling]
    if checked is not None:
        parts.append(f"the spec has a reason, {checked.code}: {checked.message}; {checked.help}")
    proof, instead = PROOFS.get(finding.code), INSTEAD.get(finding.code)
    if proof is not None and not isinstance(spec.writer, PlacedRunner):  # they are about settings of nodes
        nodes = targets.nodes_meant(spec.fleet, finding.change, spec.writer)
        case = Case(spec.fleet, nodes, spec.writer, tuple(finding.seen.parts), finding.seen.ranges)
        other = instead(case) if instead is not None and checked is None else ""
        parts = [f"{other[:1].upper()}{other[1:]}"] if other else parts
        parts.append(proof(case) or _numbers(finding))
    else:
        parts.append(_numbers(finding))
    return _joined(parts)


def _numbers(finding: LogFinding) -> str:
    """What the numbers in the lines say by themselves."""
    say = NUMBERS.get(finding.code)
    return say(finding.seen) if say is not None else ""


def _joined(parts: Iterable[str]) -> str:
    """Parts of a help as sentences."""
    *said, last = filter(None, parts)
    said = [*(part.removesuffix(".") for part in said), last]
    return ". ".join(f"{part[:1].upper()}{part[1:]}" if index else part for index, part in enumerate(said))


def _with_line(item: Located, finding: LogFinding) -> Located:
    """The same, with the first such log line; in front if it has no place in the spec."""
    line = _log_place(finding.seen.where, "the first such line")
    if item.diagnostic.primary.place == ():
        return item._replace(primary=line._replace(note=""))
    return item._replace(related=(*item.related, line))


def _log_place(where: LogLine, note: str) -> Place:
    """A line of a log, as it can be shown: a node prints secrets of its settings in clear. Then its shape replaces
    it."""
    text = leaks.shown(where.text if leaks.find(where.text) is None else shape_of(where.text))
    return Place(where.log, where.number, 1, where.number, 1 + len(text), note, "", text)


def as_data(finding: LogFinding) -> dict[str, object]:
    """What was seen of a finding, as plain values for JSON; the times as text."""
    seen: Seen = finding.seen
    return {
        "code": finding.code,
        "benign": finding.severity is Severity.NOTE,
        "lines": seen.count,
        "first": str(seen.first) if seen.first is not None else None,
        "last": str(seen.last) if seen.last is not None else None,
        "minutes": seen.minutes,
        "lines_per_minute": round(finding.per_minute, 3) if seen.minutes else None,
        "log": visible(seen.where.log),
        "line": seen.where.number,
    }
