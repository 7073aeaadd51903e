"""The report of a comparison between sources and an existing spec.

In: `Compared`. Out: text, Markdown or JSON, or a few lines for people in a hurry, in which what adopting has explained
is counted. Values that may be secrets are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fleetc.adopt.advised import is_advised
from fleetc.adopt.against import OTHERWISE, Compared, Pair
from fleetc.adopt.compare import QUESTION, SPEC_ANSWERS, Difference
from fleetc.adopt.glance import MONEY, SHARED, brief, joined
from fleetc.adopt.report import (
    NOT_KNOWN,
    beside_lines,
    cell,
    counted,
    difference_lines,
    difference_table,
    difference_values,
    doubt_lines,
    doubt_values,
)
from fleetc.adopt.words import Brief, Same, Unknown
from fleetc.messages.forms import AdoptionFormat
from fleetc.text.encoders import plain_output, visible

_UNEXPLAINED = "the sources say otherwise"


def reported(found: Compared, form: AdoptionFormat, spec: str) -> str:
    """The report in a form; `spec` is how people call the spec."""
    if form is AdoptionFormat.json:
        return json.dumps(_values(found), indent=2, ensure_ascii=False) + "\n"
    lines = _markdown(found, spec) if form is AdoptionFormat.markdown else _text(found, spec)
    return "\n".join(map(plain_output, lines)) + "\n"


def glance(found: Compared, spec: str, questions: Sequence[str]) -> Iterator[str]:
    """What people must see first; `questions` are the places of the spec that still ask."""
    yield visible(summary(found, spec))
    listed = [one for one in found.differences if _shown(one)]
    strange = [one for one in found.beside if not one.reason]
    moved = [pair for pair in found.pairs if (pair.today.name, pair.today.host) != _name(pair)]
    for line in (*map(_pair, moved), *_alone(found)):
        yield f"  {visible(line)}"
    answered = [replace(one, reason=Brief(SPEC_ANSWERS, "")) for one in listed if one.reason == SPEC_ANSWERS]
    several = len(answered) > 1
    yield from joined((one for one in listed if not several or one.reason != SPEC_ANSWERS), _UNEXPLAINED)
    if several:
        yield f"  {SPEC_ANSWERS}:"
        yield from (f"  {line}" for line in joined(answered))
    told = (replace(one, what=one.what._replace(words=f"{one.words}: {_UNEXPLAINED}")) for one in strange)
    yield from beside_lines(told)
    rest = len(found.differences) + len(found.beside) - len(listed) - len(strange)
    if rest:
        yield f"  adopting explains {rest}{' more' if listed or strange else ''} (--report text)"
    yield from (f"not known: {line}, and no source has it" for line in doubt_lines(found.doubts))
    yield f"TODO lines are left: {visible(', '.join(questions))}" if questions else "no question is left"
    yield f"not compared: {'; '.join(visible(brief(one)) for one in found.uncompared)}"


def _shown(one: Difference) -> bool:
    """Whether people must see a difference: money, what they answered otherwise than it is, what nodes of a wallet
    have elsewhere, what check asked for, what nobody explains or knows.
    """
    explained = (
        bool(one.reason)
        and one.reason not in (SPEC_ANSWERS, OTHERWISE, *SHARED)
        and not one.reason.startswith(QUESTION)
        and not is_advised(one.reason)
        and not isinstance(one.reason, Unknown)
    )
    return not explained or (one.flag.partition(" ")[0] in MONEY and not isinstance(one.reason, Same))


def _name(pair: Pair) -> tuple[str, str]:
    return pair.node.service.name, pair.node.place.name


def summary(found: Compared, spec: str) -> str:
    """The result in one line. Settings are counted as at the first run, and what changes beside them apart."""
    nodes, beside = len(found.pairs), len(found.beside)
    words = f"{'1 node' if nodes == 1 else f'{nodes} nodes'} compared with {spec}: {found.compared} settings, "
    if found.differences or beside:
        more = "1 other change" if beside == 1 else f"{beside} other changes"
        words += f"{counted(found.differences)}{f', {more}' if beside else ''}"
        words += f", {found.unexplained or 'none'} without a reason"
    else:
        words += "nothing differs"
    variables = sum(one.flags for one in found.doubts)
    counts = (("file", len(found.doubts) - variables), ("variable", variables))
    things = " and ".join(f"{number} {what}{'s' * (number > 1)}" for what, number in counts if number)
    return words + (f"; what {things} may set is not known" if things else "")


def _pair(pair: Pair) -> str:
    """A process and its node, in words."""
    one, node = pair.today, pair.node
    called = f"{one.name} on {one.host} ({one.process.span.source})"
    if (one.name, one.host) == _name(pair):
        return f"{called} is the node of that name"
    return f"{called} is {node.service.name} on {node.place.name}: {pair.same}"


def _alone(found: Compared) -> Iterator[str]:
    """The nodes that only one side has."""
    for node in found.unstarted:
        yield f"{node.service.name} on {node.place.name}: the spec has it, and no source starts it"
    for one in found.unknown:
        yield f"{one.name} on {one.host} ({one.process.span.source}): it runs today, and no node of the spec is it"


def _text(found: Compared, spec: str) -> Iterator[str]:
    yield "Nodes:"
    for line in (*map(_pair, found.pairs), *_alone(found)):
        yield f"  {visible(line)}"
    yield f"What differs, of {found.compared} settings:"
    yield from difference_lines(found.differences, _UNEXPLAINED)
    if not found.differences:
        yield "  nothing"
    if found.beside:
        yield "Beside the settings:"
    for one in found.beside:
        yield f"  {one.node}: {visible(one.words)}: {one.reason or _UNEXPLAINED}"
    if found.doubts:
        yield NOT_KNOWN
    yield from (f"  {line}" for line in doubt_lines(found.doubts))
    yield "Not compared:"
    for words in found.uncompared:
        yield f"  {words}"
    yield f"In sum: {summary(found, visible(spec))}"


def _markdown(found: Compared, spec: str) -> Iterator[str]:
    yield from ("# Compared", "", f"{cell(summary(found, spec))}.", "")
    yield from (*(f"- {cell(line)}" for line in (*map(_pair, found.pairs), *_alone(found))), "")
    if found.differences:
        yield from ("## What differs", "", *difference_table(found.differences, _UNEXPLAINED), "")
    if found.beside:
        yield from ("## Beside the settings", "", "| Node | What | Why |", "|---|---|---|")
        for one in found.beside:
            yield f"| {cell(one.node)} | {cell(one.words)} | {cell(one.reason or _UNEXPLAINED)} |"
        yield ""
    if found.doubts:
        yield from ("## Not known", "", NOT_KNOWN, "", *(f"- {cell(line)}" for line in doubt_lines(found.doubts)), "")
    yield from ("## Not compared", "", *(f"- {cell(words)}" for words in found.uncompared))


def _values(found: Compared) -> dict[str, Any]:
    return {
        "settled": found.settled,
        "compared": found.compared,
        "pairs": [
            {"process": pair.today.name, "process_host": pair.today.host, "source": pair.today.process.span.source,
             "node": pair.node.service.name, "host": pair.node.place.name, "by": pair.same}
            for pair in found.pairs
        ],
        "only_in_spec": [{"node": one.service.name, "host": one.place.name} for one in found.unstarted],
        "only_in_sources": [
            {"process": one.name, "host": one.host, "source": one.process.span.source} for one in found.unknown
        ],
        "differences": difference_values(found.differences),
        "beside": [{"node": one.node, "what": one.words, "reason": one.reason} for one in found.beside],
        "not_compared": list(found.uncompared),
        "unknown": doubt_values(found.doubts),
    }  # fmt: skip
