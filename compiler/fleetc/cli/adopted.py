"""What `fleetc adopt` says at its end: what came of the sources, what was kept of an earlier spec, and what is next.

In: an adoption and how it was asked for. Out: lines on stderr, and the report of a comparison on stdout.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from fleetc.cli.options import PROBLEMS
from fleetc.cli.output import coloured, message
from fleetc.cli.paging import put
from fleetc.cli.working import compile_or_exit, load_settings, quietly, read_policies
from fleetc.messages.forms import AdoptionFormat, Format
from fleetc.places.diagnostic import Severity

if TYPE_CHECKING:
    from fleetc.adopt.adoption import Adopted
    from fleetc.adopt.earlier import Carried
    from fleetc.messages.locate import Located
    from fleetc.pipeline import Checked, Compiled

_MOST_VALUES = 80


def compile_known(spec: Path) -> Compiled:
    """An existing spec, compiled; prints what is wrong with it and exits, if it does not compile."""
    settings = load_settings(spec)
    try:
        compiled, _ = compile_or_exit(spec, settings, Format.text, later=True)
    except typer.Exit:
        message("nothing was compared")
        raise
    return compiled


def show_comparison(found: Adopted, compiled: Compiled, spec: Path, form: AdoptionFormat | None) -> None:
    """Print how sources differ from a spec, shortly without a `form`; exits 1 where something differs without a reason,
    or is on one side.
    """
    from fleetc.adopt.advised import advised
    from fleetc.adopt.against import against
    from fleetc.adopt.against_report import glance, reported
    from fleetc.text.encoders import plain_output

    assert compiled.blueprint is not None  # noqa: S101  # it compiled
    compared = advised(against(found, compiled.blueprint), found, compiled.checked)
    if form is not None:
        put(reported(compared, form, str(spec)))
    else:
        lines = [*glance(compared, str(spec), _questions(compiled)), _checked(compiled.checked, spec)]
        put("".join(f"{plain_output(line)}\n" for line in lines))
    if not compared.settled:
        raise typer.Exit(PROBLEMS)


def _questions(compiled: Compiled) -> list[str]:
    """The places of the spec that still ask."""
    from fleetc.adopt.questions import questions_in

    return [f"{source.name}:{one.line}" for source in compiled.checked.sources for one in questions_in(source.text)]


def _checked(checked: Checked, spec: Path) -> str:
    """What `fleetc check` says of a spec that was read already, in one line; it asks the rules beside the spec too."""
    from fleetc.pipeline import check_spec

    policies = read_policies(spec, None, Format.text)
    checked = checked if policies is None else quietly(check_spec, checked.sources, policies, None)
    said = []
    for severity in (Severity.ERROR, Severity.WARNING):
        codes = [one.code for one in checked.diagnostics if one.severity is severity]
        if codes:
            kind = severity.name.lower() + ("s" if len(codes) > 1 else "")
            said.append(f"{len(codes)} {kind} ({', '.join(dict.fromkeys(codes))})")
    return f"check: {', '.join(said)}: fleetc check {shlex.quote(str(spec))}" if said else "check: clean"


class Told(NamedTuple):
    """What people are told before they are asked: messages, and other lines."""

    messages: tuple[Located, ...] = ()
    lines: tuple[str, ...] = ()


def tell_first(found: Adopted) -> Told:
    """Print what can make questions needless: what the node does not read of sources, and files that are missing."""
    from fleetc.adopt import glance
    from fleetc.adopt.adoption import located
    from fleetc.messages.text import as_brief_text

    unread = tuple(one for one in located(found) if one.diagnostic.code == "adopt-document-unread")
    sys.stderr.write(as_brief_text(unread, coloured(None, sys.stderr)))
    lines = tuple(glance.unknown(found))
    for line in lines:
        message(line)
    return Told(unread, lines)


def summarise(
    found: Adopted, output: Path | None, again: Sequence[str], messages: Sequence[Located] | None, told: Told
) -> None:
    """What came of it: what was made, what is open, what changes, and what is next. `again` are the words that name the
    same sources, and `messages` what is to be said of them; None where a report has said that, and what changes. What
    was `told` is not said again.
    """
    from fleetc.adopt import glance
    from fleetc.messages.text import as_brief_text

    count = len(found.nodes)
    questions = found.text.count("\n# TODO ")
    asked = "question" if questions == 1 else "questions"
    where = f"wrote {output}: " if output is not None else ""
    stacks = f", {found.stacks} avatar {'stack' if found.stacks == 1 else 'stacks'}" if found.stacks else ""
    message(f"{where}{count} {'node' if count == 1 else 'nodes'}{stacks}, {questions} {asked}{_compared(found)}")
    lines = [*glance.nodes(found)]
    if messages is not None:
        lines += glance.secrets(found)
    for line in lines:
        message(line)
    sys.stderr.write(as_brief_text(glance.unsaid(found, messages or ()), coloured(None, sys.stderr)))
    lines = [*glance.questions(found, str(output) if output is not None else "")]
    if messages is not None:
        unknown = [*glance.unknown(found)]
        lines += [] if set(unknown) <= set(told.lines) else unknown
        lines += [*glance.passed_over(found), *glance.changes(found)]
    for line in (*lines, *_next(found, output, again, questions)):
        message(line)


def _compared(found: Adopted) -> str:
    if not found.comparable:
        return "; nothing could be compared yet"
    if not found.compared:
        return ""
    from fleetc.adopt.report import compared

    waits = len(found.waiting)
    waiting = f", {waits} open" if waits else ""
    unknown = f", {found.unknown} {'is' if found.unknown == 1 else 'are'} unknown" if found.unknown else ""
    compiles = "the spec compiles: " if found.complete else ""
    return f"; {compiles}{compared(found)}{waiting}{unknown}"


def _next(found: Adopted, output: Path | None, again: Sequence[str], questions: int) -> Iterator[str]:
    """What to do next, in order."""
    from fleetc.adopt import glance

    spec = shlex.quote(str(output)) if output is not None else "SPEC"
    sources = shlex.join(again) if again else "SOURCE..."
    options, hosts = glance.options(found), sorted(glance.hosts(found))
    if options:
        yield f"with your values: fleetc adopt {sources} --answers {spec} -o {spec} {options}"
    if output is not None and not questions and found.checked is not None and found.complete:
        yield _checked(found.checked, output)
    if not questions and not found.complete:
        yield f"next: fleetc check {spec} refuses it as it stands, and says why: repair that"
    todo = "next: answer the TODO lines, then: " if questions else "next: " if found.complete else "then: "
    yield f"{todo}fleetc adopt {sources} --compare {spec}"
    first = ""
    if hosts:
        one = hosts[0] if len(hosts) == 1 else "HOST"
        each = "" if len(hosts) == 1 else " of a host"
        first = f"; before the first deploy{each}: fleetc adopt --in-place {one} {spec}"
    yield f"then: fleetc compile {spec}{first}"


def show_carried(carried: Carried | None, found: Adopted) -> None:
    """What was kept of an earlier spec, and what was not; of answers that came later, what the sources contradict."""
    if carried is not None:
        for line in _carried(carried, found.text):
            message(line)
    if found.carried is not None and found.carried is not carried:
        for line in _contradicted(found.carried, found.carried.earlier.source.name):
            message(line)


def _carried(carried: Carried, text: str) -> Iterator[str]:
    from fleetc.adopt.answers import lost_comments
    from fleetc.text import leaks

    name = carried.earlier.source.name
    yield from _kept(carried, name)
    yield from _contradicted(carried, name)
    lost = lost_comments(carried.earlier.source, text)
    if lost:
        yield f"comments of {name} that are not kept:"
    for line, words in lost:
        yield f"  line {line}: {leaks.shown(words)}"
    if carried.shares:
        yield f"classes and defaults of {name} are written out, and said once anew where tables are alike"


def _kept(carried: Carried, name: str) -> Iterator[str]:
    """What only the earlier spec has, and what keeps its words."""
    from fleetc.language.fleet import NODE_TABLES

    answers: dict[tuple[str, ...], list[str]] = {}
    for place in carried.answers:
        answers.setdefault(place[:2] if len(place) > 2 else place[:1], []).append(place[-1])
    more = [
        _counted(len(carried.renamed), "name"), _counted(len(carried.tables) + len(carried.stacks), "table"),
    ]  # fmt: skip
    values = _counted(len(carried.answers), "value")
    parts = [f"{values} that the sources leave open" if values else "", *more]
    yield (
        f"kept from {name}: {', '.join(filter(None, parts))}:"
        if any(parts)
        else f"kept from {name}: nothing, because the sources say all of it themselves"
    )
    for table, keys in answers.items():
        yield f"  [{'.'.join(table)}] {', '.join(keys)}"
    for kind, theirs, kept in carried.renamed:
        yield f"  [{kind}.{kept}] is {theirs} in the sources, and keeps its name"
    used = {("hosts", name) for name in carried.hosts}
    gone = [one for one in carried.tables if one[0] in (*NODE_TABLES, "hosts", "avatars") and one not in used]
    others = [place for place in carried.tables if place not in gone]
    if others:
        yield "  as a whole: " + ", ".join(f"[{'.'.join(place)}]" for place in others)
    for place in gone:
        yield f"  [{'.'.join(place)}] as a whole: no source has it; remove it if it is gone"
    for stack in carried.stacks:
        yield f"  [avatars.{stack}] as a whole, although the sources have it: stacks of avatars are not compared"


def _counted(number: int, what: str) -> str:
    return "" if not number else f"1 {what}" if number == 1 else f"{number} {what}s"


def _contradicted(carried: Carried, name: str) -> Iterator[str]:
    """Where the sources have won."""
    from fleetc.adopt.writing import toml
    from fleetc.text import leaks

    if carried.contradictions:
        yield f"the sources say something other than {name}, and theirs is taken:"
    for one in carried.contradictions:
        values = [
            leaks.shown(toml(value))[:_MOST_VALUES] if value is not None else "the default of the node"
            for value in (one.sources, one.earlier)
        ]
        yield f"  [{'.'.join(one.place[:-1])}] {one.place[-1]}: {values[0]}, and no longer {values[1]}"
