"""What `fleetc adopt` says at its end: what came of the sources, what was kept of an earlier spec, and what is next.

In: an adoption and how it was asked for. Out: lines on stderr, and the report of a comparison on stdout.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fleetc.cli.options import PROBLEMS
from fleetc.cli.output import message
from fleetc.cli.paging import put
from fleetc.cli.working import compile_or_exit, load_settings
from fleetc.messages.forms import AdoptionFormat, Format

if TYPE_CHECKING:
    from fleetc.adopt.adoption import Adopted
    from fleetc.adopt.earlier import Carried
    from fleetc.pipeline import Compiled

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


def show_comparison(found: Adopted, compiled: Compiled, spec: Path, form: AdoptionFormat) -> None:
    """Print how sources differ from a spec; exits 1 where something differs without a reason, or is on one side."""
    from fleetc.adopt.against import against
    from fleetc.adopt.against_report import reported

    assert compiled.blueprint is not None  # noqa: S101  # it compiled
    compared = against(found, compiled.blueprint)
    put(reported(compared, form, str(spec)))
    if not compared.settled:
        raise typer.Exit(PROBLEMS)


def summarise(found: Adopted, output: Path | None, again: Sequence[str], reported: bool) -> None:
    """What came of it: what was made, what is open, what changes, and what is next. `again` are the words that name the
    same sources, and `reported` whether a report has said what changes.
    """
    from fleetc.adopt import glance

    count = len(found.nodes)
    questions = found.text.count("\n# TODO ")
    asked = "question" if questions == 1 else "questions"
    where = f"wrote {output}: " if output is not None else ""
    stacks = f", {found.stacks} avatar {'stack' if found.stacks == 1 else 'stacks'}" if found.stacks else ""
    message(f"{where}{count} {'node' if count == 1 else 'nodes'}{stacks}, {questions} {asked}{_compared(found)}")
    lines = [*glance.nodes(found), *glance.questions(found, str(output) if output is not None else "")]
    lines += [] if reported else [*glance.changes(found), *glance.beside(found)]
    options, spec = glance.options(found), shlex.quote(str(output)) if output is not None else "SPEC"
    if options:
        sources = shlex.join(again) if again else "SOURCE..."
        lines.append(f"command, with your values: fleetc adopt {sources} --answers {spec} -o {spec} {options}")
    for line in (*lines, *_next(found, output, again, questions)):
        message(line)


def _compared(found: Adopted) -> str:
    if not found.comparable:
        return "; nothing could be compared yet"
    if not found.compared:
        return ""
    changes, waits = len(found.differences), len(found.waiting)
    differ = "1 differs" if changes == 1 else f"{changes} differ"
    waiting = "" if not waits else ", 1 waits for an answer" if waits == 1 else f", {waits} wait for answers"
    compiles = "the spec compiles: " if found.complete else ""
    return f"; {compiles}{found.compared} settings compared, {differ}{waiting}"


def _next(found: Adopted, output: Path | None, again: Sequence[str], questions: int) -> Iterator[str]:
    """What to do next, in order."""
    from fleetc.adopt import glance

    spec = shlex.quote(str(output)) if output is not None else "SPEC"
    todo = f"answer the TODO lines{f' in {spec}' if output is not None else ''}" if questions else f"repair {spec}"
    if not questions and not found.complete:
        yield f"next: fleetc check {spec} refuses it as it stands, and says why: repair that"
    elif found.complete:
        yield f"next: {f'{todo}, then ' if questions else ''}fleetc check {spec}"
    else:
        yield f"next: {todo}, until fleetc check {spec} passes"
    sources = shlex.join(again) if again else "SOURCE..."
    yield f"then: fleetc adopt {sources} --compare {spec}"
    hosts = sorted(glance.hosts(found))
    yield f"then: fleetc compile {spec}"
    if hosts:
        one = hosts[0] if len(hosts) == 1 else "HOST"
        each = "" if len(hosts) == 1 else f", for each of {len(hosts)} hosts" + _listed(hosts)
        yield f"before the first deploy: fleetc adopt --in-place {one} {spec} says what to stop there{each}"


def _listed(hosts: Sequence[str]) -> str:
    return f" ({', '.join(hosts)})" if len(hosts) <= 4 else ""


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
    gone = [place for place in carried.tables if place[0] in (*NODE_TABLES, "hosts", "avatars")]
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
