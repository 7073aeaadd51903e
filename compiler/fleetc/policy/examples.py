"""The examples beside a rule: whole specs that it must find fault with, or must not.

In: the rules, and the texts of `policy/examples/NAME/*.toml`. Out: a `Trial` for each example. An example named ok...
has no finding. One named bad... has at least one, exactly at lines that end with `# finding` if there are any.
`base.toml` is what a rule about changes compares with. A first line `# today = 2026-11-27` sets the day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fleetc.language.spec import read_fleet, read_spec
from fleetc.places.diagnostic import Diagnostic, Span
from fleetc.policy.judging import Judged, RuleCall, run
from fleetc.policy.source import CHANGE, CHECK, FOLDER, Policy
from fleetc.toml.document import Document, Source

EXAMPLES = "examples"
"""The folder in the folder of rules."""
_BASE = "base.toml"
_TODAY = re.compile(r"# today = ([0-9]{4}-[0-9]{2}-[0-9]{2})\n")
_MARKED = re.compile(r"#\s*finding\s*$")


class Trial(NamedTuple):
    """One example of a rule: `wrong` is the error with its place, or empty."""

    rule: str
    example: str
    wrong: tuple[str, ...]


def trials(rules: Mapping[str, Policy], texts: Mapping[str, Source], today: str) -> Iterator[Trial]:
    """Try every example. `texts` are those below `policy/examples/`, by NAME/FILE; rules without one have no trial."""
    for path, source in sorted(texts.items()):
        name, _, file = path.partition("/")
        if file == _BASE and name in rules:
            continue
        if name not in rules:
            yield Trial(name, file, (f"there is no rule {FOLDER}/{name}.star",))
        elif not file.startswith(("ok", "bad")):
            yield Trial(name, file, ("the name of an example begins with ok or bad, or is base.toml",))
        else:
            yield Trial(name, file, tuple(_tried(rules[name], source, texts.get(f"{name}/{_BASE}"), today, file)))


def _tried(rule: Policy, source: Source, base: Source | None, today: str, file: str) -> Iterator[str]:
    head = _judged(source)
    before = _judged(base) if base is not None else None
    if isinstance(head, str) or isinstance(before, str):
        yield head if isinstance(head, str) else str(before)
        return
    if CHANGE in rule.functions and before is None:
        yield f"a rule about changes needs {FOLDER}/{EXAMPLES}/{rule.name}/{_BASE}"
        return
    day = _TODAY.match(source.text)
    findings = _found(rule, head, before, day[1] if day else today)
    faults = [each for each in findings if each.code != rule.code]
    if faults:
        yield from (each.message for each in faults)
    elif file.startswith("ok"):
        yield from (f"{_where(head.document, each)}: finds what is no fault: {each.message}" for each in findings)
    else:
        yield from _unlike(head.document, source, findings)


def _judged(source: Source) -> Judged | str:
    document, wrong = read_spec([source])
    fleet, more = read_fleet(document) if document is not None else (None, [])
    if fleet is None or document is None:
        return f"the example {source.name} is no spec: {[*wrong, *more][0].message}"
    return Judged(fleet, document)


def _found(rule: Policy, head: Judged, before: Judged | None, today: str) -> list[Diagnostic]:
    sides = (before, head) if before is not None else (head,)
    requests = [RuleCall(rule, CHECK, (len(sides) - 1,))] if CHECK in rule.functions else []
    requests += [RuleCall(rule, CHANGE, (0, 1))] if CHANGE in rule.functions else []
    return [each for findings in run(requests, sides, today) for each in findings]


def _line(document: Document, finding: Diagnostic) -> int:
    place = finding.primary.place
    span = place if isinstance(place, Span) else document.nearest(place)
    return document.position(span.source, span.start)[0]


def _where(document: Document, finding: Diagnostic) -> str:
    return f"{document.sources[0].name}:{_line(document, finding)}"


def _unlike(document: Document, source: Source, findings: list[Diagnostic]) -> Iterator[str]:
    """How the findings differ from what the example wants."""
    if not findings:
        yield f"{source.name}: finds nothing, but this is an example of a fault"
    marked = {number for number, line in enumerate(source.text.split("\n"), 1) if _MARKED.search(line)}
    lines = {_line(document, each): each for each in findings}
    if marked and findings:
        yield from (f"{source.name}:{line}: finds nothing here" for line in sorted(marked - lines.keys()))
        extra = sorted(lines.keys() - marked)
        yield from (f"{source.name}:{line}: finds what is not marked: {lines[line].message}" for line in extra)
