"""Runs the rules of a fleet, and makes diagnostics of what they answer.

In: the texts of rules, a fleet with its document, and for rules about a change those of the base. Out: diagnostics with
the code policy/NAME; a rule that cannot be run, or goes too far, is an error at its line.

A finding has a key path as its place. The last key may be missing where a table could have it: rules ask for what is
not there. Any other place that does not exist is a fault of the rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, Severity, Span, error
from fleetc.policy import source as texts
from fleetc.policy import views
from fleetc.policy.source import CHECK, Policy
from fleetc.toml.document import Document, LineMap, Source
from fleetc.toml.scan import parse_key

if TYPE_CHECKING:
    from fleetc.policy.sandbox.run import Fault, TaskAnswer

_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING}
_LIST = "return a list of finding(at, message, help, severity)"


class Judged(NamedTuple):
    """A fleet and the document that it was read from."""

    fleet: Fleet
    document: Document


@dataclass(frozen=True)
class Policies:
    """The rules beside a spec, their day, and examples of a base, by NAME/FILE."""

    sources: tuple[Source, ...] = ()
    today: str = "1970-01-01"
    examples: Mapping[str, Source] = field(default_factory=dict, compare=False)

    @cached_property
    def _read(self) -> tuple[tuple[Policy, ...], list[Diagnostic]]:
        return texts.read(self.sources)

    @property
    def rules(self) -> tuple[Policy, ...]:
        """The rules, sorted by file."""
        return self._read[0]

    @property
    def codes(self) -> dict[str, bool]:
        """The codes of their findings, and whether a check gives them: some rules judge only changes."""
        return {rule.code: CHECK in rule.functions for rule in self.rules}

    @property
    def pages(self) -> dict[str, str]:
        """The page of each code."""
        return {rule.code: rule.page for rule in self.rules}

    def tells_day(self, functions: Collection[str]) -> bool:
        """Whether a rule with one of these functions asks for the day."""
        return any("today" in rule.words and not rule.functions.keys().isdisjoint(functions) for rule in self.rules)

    def check(self, judged: Judged) -> list[Diagnostic]:
        """What the rules find in a fleet, and what is wrong with rules."""
        requests = [RuleCall(rule, CHECK, (0,)) for rule in self.rules if CHECK in rule.functions]
        return [*self._read[1], *(each for findings in run(requests, (judged,), self.today) for each in findings)]


class RuleCall(NamedTuple):
    """A function of a rule, and which of several fleets it gets."""

    rule: Policy
    function: str
    sides: tuple[int, ...]


def run(requests: Sequence[RuleCall], sides: Sequence[Judged], today: str) -> list[list[Diagnostic]]:
    """What each rule finds; its places are in the last fleet that it gets. All of them run in one process."""
    if not requests:
        return []
    from fleetc.policy.sandbox import run as sandbox  # only here: most fleets have no rules

    words = frozenset().union(*(each.rule.words for each in requests))
    seen = [views.view_of(side.document.raw, side.fleet, words) for side in sides]
    tasks = [
        sandbox.Task(f"{each.rule.code}{texts.SUFFIX}", each.rule.source.text, each.function, each.sides)
        for each in requests
    ]
    try:
        answers = sandbox.run(tasks, seen, today)
    except sandbox.NoInterpreterError:
        place = Label(Span(requests[0].rule.source.name, 0, 0))
        advice = "install fleetc again with its dependencies: starlark-pyo3 is one of them"
        missing = error("policy-invalid", "the interpreter of rules is not installed", place, help=advice)
        return [[missing], *([] for _ in requests[1:])]
    return [
        list(_diagnostics(each.rule, each.function, answer, sides[each.sides[-1]].document))
        for each, answer in zip(requests, answers, strict=True)
    ]


def _diagnostics(rule: Policy, function: str, answer: TaskAnswer, document: Document) -> Iterator[Diagnostic]:
    if answer.fault is not None:
        yield _failed(rule, function, answer.fault)
    for finding in answer.findings:
        yield _finding(rule, finding, document)


# --- findings -------------------------------------------------------------------------------------


def _finding(rule: Policy, finding: Mapping[str, Any], document: Document) -> Diagnostic:
    message, advice, severity = finding["message"], finding["help"], _SEVERITIES.get(finding["severity"])
    at, line = finding["at"], finding["line"]
    if not isinstance(message, str) or not message.strip() or not isinstance(advice, str) or severity is None:
        wrong = "returns a finding without a message, or with a severity other than error or warning"
        return _fault(rule, line, wrong, 'write finding("gateways.gw-eu.max_price", "what is wrong")')
    path = _place(document.raw, at)
    if path is None:
        shown = at if isinstance(at, str) else ".".join(map(str, at)) if isinstance(at, list) else type(at).__name__
        wrong = f'gives a finding at "{shown}", which is not in the spec'
        return _fault(rule, line, wrong, "name a table or key of the spec, such as gateways.gw-eu.max_price")
    return Diagnostic(rule.code, severity, message, Label(path), (), advice)


def _place(raw: Mapping[str, Any], at: object) -> Path | None:
    """The key path that a finding names; None where it is not in the spec."""
    parts = parse_key(at) if isinstance(at, str) else tuple(at) if isinstance(at, list) else None
    if not parts or not all(isinstance(part, str | int) for part in parts):
        return None
    path: list[str | int] = []
    value: Any = raw
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        if isinstance(value, list) and str(part).isdecimal() and int(part) < len(value):
            part = int(part)
            value = value[part]
        elif isinstance(value, dict) and str(part) in value:
            part = str(part)
            value = value[part]
        elif place == 0 and part in views.TABLES:
            value = {} if part in views.SINGLE or last else None
        elif not (isinstance(value, dict) and last and place):
            return None
        path.append(part)
    return tuple(path)


# --- faults of rules --------------------------------------------------------------------------------


def _failed(rule: Policy, function: str, fault: Fault) -> Diagnostic:
    end = rule.source.text.rstrip().count("\n") + 1
    line = end if fault.line < 0 else fault.line or rule.source.text.count("\n", 0, rule.functions[function]) + 1
    if fault.kind in ("failed", "answer"):
        words = fault.message if fault.kind == "failed" else "its answer is not a list of findings"
        return _fault(rule, line, f"fails: {words}", "" if fault.kind == "failed" else _LIST, fault.column)
    message, advice = _LIMITS[fault.kind]
    return _fault(rule, line, message, advice, fault.column, "policy-limit")


_LIMITS: Mapping[str, tuple[str, str]] = {
    "steps": ("takes more than 100 million steps", "look at its loops: does one go through another?"),
    "memory": ("takes more than 256 MiB of memory", "make no lists or texts of that size"),
    "depth": ("has calls or values that are nested too deeply", "let no function call itself without end"),
    "time": ("takes more than 10 seconds", "make smaller lists and numbers"),
    "late": ("could not run: the rules before it took all the time there is", "look at the other rules first"),
    "crashed": ("ended the interpreter", "look at what this line does with large or nested values"),
}
"""What a rule did that it may not, and what to do about it."""


def _fault(
    rule: Policy, line: int, message: str, advice: str, column: int = 0, code: str = "policy-failed"
) -> Diagnostic:
    return error(code, f"the rule {rule.name} {message}", Label(_span(rule.source, line, column)), help=advice)


def _span(source: Source, line: int, column: int) -> Span:
    """A line of a text from its first word, or from a column; the start where there is no such line."""
    lines = LineMap(source.text)
    count = source.text.count("\n") + 1
    if not 1 <= line <= count:
        return Span(source.name, 0, 0)
    text = lines.text(line)
    start = sum(len(each) + 1 for each in source.text.split("\n")[: line - 1])
    first = column - 1 if 0 < column <= len(text) else len(text) - len(text.lstrip())
    return Span(source.name, start + first, start + len(text))


def judged(fleet: Fleet | None, document: Document | None) -> Judged | None:
    """Both in one, where both are there."""
    return Judged(fleet, document) if fleet is not None and document is not None else None
