"""The whole of an adoption: sources become processes, these a fleet, the fleet a spec, and the spec is compiled again.

In: sources by name, and what hosts say. Out: `Adopted`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from fleetc import lower
from fleetc.adopt.compare import Comparison, compare
from fleetc.adopt.found.ledger import Entry, Fate, InClear, Ledger
from fleetc.adopt.found.library import Library, Said
from fleetc.adopt.found.process import Process
from fleetc.adopt.found.questions import Difference, Question
from fleetc.adopt.node.settings import Running
from fleetc.adopt.read.on_host import OnHost, observed
from fleetc.adopt.read.sources import read_sources
from fleetc.adopt.tables.answers import answer, ask_refused, exemplary
from fleetc.adopt.tables.assemble import assemble, chosen
from fleetc.adopt.tables.session import Session, written
from fleetc.adopt.tables.stacks import stack_differences
from fleetc.blueprint.blueprint import Blueprint
from fleetc.language.fleet import Fleet
from fleetc.language.spec import read_fleet
from fleetc.messages.locate import Located, locate
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Diagnostic, Span, has_errors
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

_MOST_NAMES = 20
"""Names of processes that a message lists."""


@dataclass(frozen=True)
class Adopted:
    """What came of some sources. `text` is the spec, "" where there is none.

    `compared` counts settings, with the `variables` of avatar stacks, and `stacks` these stacks. `waiting` are
    settings, by node, that could not be compared because an answer is missing. `unused` are sources without a trace in
    the spec.
    """

    sources: tuple[Source, ...]
    text: str
    diagnostics: tuple[Diagnostic, ...]
    entries: tuple[Entry, ...]
    processes: tuple[Process, ...]
    nodes: tuple[Running, ...] = ()
    questions: tuple[Question, ...] = ()
    checked: Checked | None = None
    blueprint: Blueprint | None = None
    library: Library = field(default_factory=lambda: Library({}))
    differences: tuple[Difference, ...] = ()
    compared: int = 0
    variables: int = 0
    waiting: tuple[tuple[str, str], ...] = ()
    in_clear: tuple[InClear, ...] = ()
    stacks: int = 0
    unused: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the spec compiles as it stands."""
        return self.checked is not None and self.checked.fleet is not None


def adopt(sources: Sequence[Source], said: Said | None = None, on_hosts: Mapping[str, OnHost] | None = None) -> Adopted:
    """Adopt sources, of which people have `said` something. `on_hosts` is what hosts say that runs there.

    Raises WrongAnswerError for an answer that cannot be taken, SenselessAnswerError where what a host says makes no
    sense, UnknownNodeError where somebody says the host of a node that there is none of.
    """
    said, ledger = said or Said(), Ledger()
    seen = {host: observed(host, one.answer, ledger, said.only) for host, one in (on_hosts or {}).items()}
    named = tuple(sources)
    sources = [*sources, *(source for one in seen.values() for source in one.sources)]
    library = Library({source.name: source for source in sources})
    session = Session(library, ledger)
    found = read_sources(named, said.hosts, library, ledger, said.listed)
    found.claimed = {*said.claimed, *seen}
    processes, known = chosen(found, said, library)
    for host, one in seen.items():
        processes += one.processes
        found.hosts.setdefault(host, {}).update((on_hosts or {})[host].table)
    for host, address in said.addresses.items():
        found.hosts.setdefault(host, {})["address"] = address
    if not processes and not found.models and not found.stacks and not has_errors(ledger.findings):
        _nothing_found(named, known, ledger)
    assembled = None if has_errors(ledger.findings) else assemble(processes, found, session, said)
    if assembled is None or has_errors(ledger.findings):
        return Adopted(tuple(sources), "", ledger.findings, tuple(ledger.entries), tuple(processes))
    answered = answer(assembled, said.answers)
    unused = _account_for_files(sources, library, ledger)
    text = written(assembled)
    checked = check_spec([Source("fleet.toml", text)])
    if ask_refused(assembled, checked.diagnostics, answered):
        text = written(assembled)
    examples = exemplary(assembled) if assembled.questions else None
    blueprint = _lowered(checked, examples)
    asked = checked.fleet is None
    of_nodes = compare(assembled.nodes, blueprint, library, asked) if blueprint is not None else Comparison()
    of_stacks = stack_differences(assembled.stacks, assembled.tables.get("avatars", {}), blueprint)
    return Adopted(
        tuple(library.sources.values()), text, ledger.findings, tuple(ledger.entries), tuple(processes),
        tuple(assembled.nodes), assembled.questions, checked, blueprint, library,
        (*of_nodes.differences, *filter(None, of_stacks)), of_nodes.compared + len(of_stacks), len(of_stacks),
        of_nodes.waiting, tuple(ledger.in_clear), len(assembled.tables.get("avatars", {})), unused,
    )  # fmt: skip


def _nothing_found(sources: Sequence[Source], others: Collection[str], ledger: Ledger) -> None:
    """Refuse sources that start no node, or none of those that were asked for."""
    name = sources[0].name if sources else ""
    known = sorted(leaks.shown(visible(one)) for one in others if one)[:_MOST_NAMES]
    ledger.refuse(
        "adopt-nothing-found", Span(name, 0, 1),
        "no source starts a node of the names that --only gives" if others else "no source starts a node",
        f"the sources start {', '.join(known)}" if others
        else "name the command, the unit or the Compose file that starts it, or ask its host with --from",
    )  # fmt: skip


def _lowered(checked: Checked, examples: Fleet | None) -> Blueprint | None:
    """What the spec compiles to, or with examples for answers; else what rules refuse of it."""
    if checked.fleet is not None:
        return lower.lower(checked.fleet)
    sound = read_fleet(checked.document)[0] if checked.document is not None else None  # even where rules refuse it
    for fleet in filter(None, (examples, sound)):
        with suppress(ValueError):  # it needs what a rule refuses
            return lower.lower(fleet)
    return None


def _account_for_files(sources: Sequence[Source], library: Library, ledger: Ledger) -> tuple[str, ...]:
    """Account for sources as a whole; those that nothing reads come back."""
    noted = {entry.span.source for entry in ledger.entries}
    known = {entry.span.source for entry in ledger.entries if entry.fate is not Fate.DROPPED}
    unused = []
    for source in sources:
        span = Span(source.name, 0, 1)
        if source.name in library.used:
            ledger.note(span, "the file", Fate.UNDERSTOOD, "what it says is in the spec, as the node reads it")
        elif source.name not in known:
            unused.append(source.name)
            if source.name not in noted:
                ledger.note(span, "the file", Fate.DROPPED, "no command among the sources names it")
    return tuple(unused)


def located(adopted: Adopted) -> list[Located]:
    """The diagnostics with their places, without the text of a line: it may have a secret."""
    items = locate(adopted.diagnostics, adopted.sources, None)
    return [item._replace(primary=item.primary._replace(hidden=True, text="")) for item in items]
