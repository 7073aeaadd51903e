"""Changes of the rules beside a spec, and findings of the rules of base and head.

In: two `Side`s with their rules, and what a check of the head found. Out: `RuleNote`s, in the order of reports. A pull
request may change rules too. So removed, changed or silenced rules judge the head in their base form. Findings that the
head's own rules lack are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fleetc.messages.locate import NAMES, locate
from fleetc.places.diagnostic import Diagnostic, Label, Severity, Span
from fleetc.policy.examples import trials
from fleetc.policy.judging import Judged, Policies, RuleCall, judged, run
from fleetc.policy.source import CHANGE, CHECK, PREFIX, Policy
from fleetc.review.data import RULE_KINDS, Cause, RuleNote
from fleetc.review.sides import Side
from fleetc.rules.silences import heard
from fleetc.text.counting import counted
from fleetc.toml.document import Source

Told = tuple[str, Diagnostic]
"""The kind of a note, and what it says where."""
Found = Mapping[tuple[str, str], list[Diagnostic]]
"""What rules found, by the side whose rule it is, base or head, and its name."""


def rule_notes(old: Side, new: Side, diagnostics: Iterable[Diagnostic], today: str) -> tuple[RuleNote, ...]:
    """Everything about rules. `diagnostics` are those of the head, without those that its spec silences."""
    head = _by_name(new.policies)
    base = head if old.policies is None else _by_name(old.policies)
    before, after = judged(old.fleet, old.document), judged(new.fleet, new.document)
    if after is None or not (head or base):
        return ()
    silences = _Silences(old, new)
    suspects = {name for name, rule in base.items() if name not in head or head[name].source.text != rule.source.text}
    judge = suspects | {name for name in base if PREFIX + name in silences.codes}
    answers = _ask(base, head, judge, before, after, today)
    earlier = {_key(each) for (side, _), findings in answers.items() if side == "then" for each in findings}
    fresh = [each for each in diagnostics if each.code.startswith(PREFIX) and before and _key(each) not in earlier]
    examples = old.policies.examples if old.policies is not None else {}
    notes = [
        *_changed(silences, base, head, suspects, answers, examples, today),
        *_silenced(silences, base, answers),
        *(("finding", each) for each in fresh),
        *_of_change(silences, answers),
    ]
    return tuple(sorted(dict.fromkeys(_notes(notes, old, new)), key=_order))


def _by_name(policies: Policies | None) -> dict[str, Policy]:
    return {rule.name: rule for rule in policies.rules} if policies is not None else {}


def _key(finding: Diagnostic) -> tuple[object, ...]:
    return finding.code, finding.primary.place


def _order(note: RuleNote) -> tuple[object, ...]:
    severity = list(NAMES.values()).index(note.severity)
    place = (note.place.file, note.place.line, note.place.column) if note.place else ("", 0, 0)
    return RULE_KINDS.index(note.kind), severity, note.code, place, note.text


def _ask(
    base: Mapping[str, Policy],
    head: Mapping[str, Policy],
    judge: Iterable[str],
    before: Judged | None,
    after: Judged,
    today: str,
) -> Found:
    """Ask all rules at once: as base or head the head's fleet, as then the base's fleet, as change both."""
    sides = (before, after) if before is not None else (after,)
    last = (len(sides) - 1,)
    checks = [
        (side, known[name])
        for name in sorted(judge)
        for side, known in (("base", base), ("head", head))
        if name in known
    ]
    wanted = [(side, RuleCall(rule, CHECK, last)) for side, rule in checks]
    if before is not None:
        fresh = [rule for name, rule in head.items() if name not in base or base[name].source.text != rule.source.text]
        wanted += [("then", RuleCall(rule, CHECK, (0,))) for rule in head.values()]
        wanted += [("base change", RuleCall(rule, CHANGE, (0, 1))) for rule in base.values()]
        wanted += [("head change", RuleCall(rule, CHANGE, (0, 1))) for rule in fresh]
    requests = {(side, call.rule.name): call for side, call in wanted if call.function in call.rule.functions}
    answers = run(list(requests.values()), [side for side in sides if side is not None], today)
    return {
        key: [_of_rule(each.rule, finding) for finding in findings]
        for (key, each), findings in zip(requests.items(), answers, strict=True)
    }


def _of_rule(rule: Policy, finding: Diagnostic) -> Diagnostic:
    """A finding as it is; what is wrong with the rule itself under the code of the rule, which has owners."""
    return finding if finding.code.startswith(PREFIX) else replace(finding, code=rule.code)


# --- what became of rules ---------------------------------------------------------------------------


def _changed(
    silences: _Silences,
    base: Mapping[str, Policy],
    head: Mapping[str, Policy],
    suspects: Iterable[str],
    answers: Found,
    examples: Mapping[str, Source],
    today: str,
) -> Iterator[Told]:
    for name in sorted(suspects):
        rule, now, findings = base[name], head.get(name), answers.get(("head", name), [])
        lost = silences.heard(each for each in answers.get(("base", name), []) if not _covered(each, findings))
        yield _became(rule, now, len(lost), _passed_over(rule, now, examples, today) if now and not lost else ())
        yield from (("finding", replace(each, message=f"as the base has the rule: {each.message}")) for each in lost)
    for name in sorted(head.keys() - base.keys()):
        yield "added", _about(f"the rule {head[name].code} is new", head[name], Severity.NOTE)


def _passed_over(rule: Policy, now: Policy, examples: Mapping[str, Source], today: str) -> tuple[str, ...]:
    """The examples of a fault that the base has, that its rule still finds, and that the head's rule does not."""
    own = {path: text for path, text in examples.items() if path.startswith(f"{rule.name}/")}
    failed = {
        side: {each.example for each in trials({rule.name: version}, own, today) if each.wrong}
        for side, version in (("then", rule), ("now", now))
        if own
    }
    return tuple(
        sorted(name for name in failed.get("now", ()) if name.startswith("bad") and name not in failed["then"])
    )


def _became(rule: Policy, now: Policy | None, lost: int, passed_over: Sequence[str]) -> Told:
    """The change of a rule that misses so many old findings and so many examples of faults."""
    finds = f"as it was, it finds {counted(lost, 'place')} here" if lost else "as it was, it finds nothing here"
    if now is None:
        return "removed", _about(f"the rule {rule.code} was removed; {finds}", rule)
    if CHECK in rule.functions and CHECK not in now.functions:
        return "loosened", _about(f"the rule {rule.code} no longer checks the fleet; {finds}", now)
    if CHANGE in rule.functions and CHANGE not in now.functions:
        return "loosened", _about(f"the rule {rule.code} no longer judges changes", now)
    if passed_over:
        text = f"the rule {rule.code} was loosened: it no longer finds the fault in its example {passed_over[0]}"
        return "loosened", _about(text, now)
    if lost:
        text = f"the rule {rule.code} was loosened: it no longer finds {counted(lost, 'place')} that it found before"
        return "loosened", _about(text, now)
    return "changed", _about(f"the text of the rule {rule.code} was changed; {finds} that it does not find now", now)


def _covered(finding: Diagnostic, now: Iterable[Diagnostic]) -> bool:
    """Whether a rule as it is now says at least as much about a place."""
    return any(_key(each) == _key(finding) and each.severity <= finding.severity for each in now)


def _silenced(silences: _Silences, base: Mapping[str, Policy], answers: Found) -> Iterator[Told]:
    """The silences that the base does not have, of rules that it has."""
    for silence, code, reason in silences.fresh:
        name = code.removeprefix(PREFIX)
        if name not in base:
            continue
        hidden = silences.hidden_by(silence, answers.get(("head", name), answers.get(("base", name), [])))
        text = f"{code} is newly silenced ({reason}); this hides {counted(len(hidden), 'place')}"
        yield "silenced", Diagnostic(code, Severity.WARNING, text, Label(("silences", silence, "code")))
        yield from (("finding", replace(each, message=f"newly silenced: {each.message}")) for each in hidden)


def _of_change(silences: _Silences, answers: Found) -> Iterator[Told]:
    """What rules about changes find: those of the base, and those of the head that the base does not have so."""
    seen: set[tuple[object, ...]] = set()
    for side in ("base change", "head change"):
        for each in (each for key, findings in answers.items() if key[0] == side for each in silences.heard(findings)):
            if (*_key(each), each.message) not in seen:
                seen.add((*_key(each), each.message))
                yield "finding", each


def _about(text: str, rule: Policy, severity: Severity = Severity.WARNING) -> Diagnostic:
    return Diagnostic(rule.code, severity, text, Label(Span(rule.source.name, 0, 0)))


class _Silences:
    """The silences of rules, on both sides."""

    def __init__(self, old: Side, new: Side) -> None:
        self._old, self._new = old.fleet, new.fleet
        known = {(each.code, each.at) for each in old.fleet.silences.values()} if old.fleet else None
        listed = sorted(new.fleet.silences.items()) if new.fleet is not None and known is not None else []
        self.fresh = [
            (name, each.code, each.reason)
            for name, each in listed
            if each.code.startswith(PREFIX) and (each.code, each.at) not in (known or ())
        ]
        self.codes = {code for _, code, _ in self.fresh}

    def heard(self, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
        """What the base does not silence: silences of the head are reported, and hide nothing here."""
        fleet = self._old or self._new
        return list(heard(fleet, findings)) if fleet is not None else list(findings)

    def hidden_by(self, name: str, findings: Sequence[Diagnostic]) -> list[Diagnostic]:
        """What one silence of the head takes away that the base does not."""
        if self._new is None:
            return []
        alone = self._new.model_copy(update={"silences": {name: self._new.silences[name]}})
        left = list(heard(alone, findings))
        return self.heard(each for each in findings if each not in left)


# --- notes ------------------------------------------------------------------------------------------


def _notes(notes: Sequence[Told], old: Side, new: Side) -> Iterator[RuleNote]:
    """What was told, with lines and without secrets."""
    document = new.document
    texts = [source for side in (new, old) if side.policies is not None for source in side.policies.sources]
    sources = [*(document.sources if document is not None else ()), *texts]
    gone = {source.name for source in texts} - {
        source.name for source in (new.policies.sources if new.policies else ())
    }
    for kind in RULE_KINDS:
        for item in locate((each for of, each in notes if of == kind), sources, document):
            diagnostic, place = item.diagnostic, item.primary
            text = "" if place.hidden else place.text
            side = "old" if place.file in gone else "new"
            cause = Cause(side, "given", *place[:3], place.path, text, "", place.hidden)
            yield RuleNote(
                diagnostic.code, kind, NAMES[diagnostic.severity], diagnostic.message, diagnostic.help, cause
            )
