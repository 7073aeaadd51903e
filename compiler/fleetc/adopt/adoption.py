"""The whole of an adoption: sources become processes, these a fleet, the fleet a spec, and the spec is compiled again.

In: sources by name. Out: `Adopted`. Called by `cli/adopt.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from fleetc import lower
from fleetc.adopt.answers import carry
from fleetc.adopt.assemble import assemble
from fleetc.adopt.assembled import Assembled
from fleetc.adopt.beside import Beside, beside_all
from fleetc.adopt.choosing import chosen
from fleetc.adopt.compare import ANSWERED, QUESTION, Comparison, Difference, compare
from fleetc.adopt.earlier import Carried, Earlier
from fleetc.adopt.library import Library
from fleetc.adopt.likely_files import with_likely
from fleetc.adopt.on_host import OnHost, observed
from fleetc.adopt.own_files import own_file
from fleetc.adopt.passed_over import UNNAMED, not_read, passed_over
from fleetc.adopt.questions import questions_in
from fleetc.adopt.reading import PATH_OR_TEXT, Running, secret_file
from fleetc.adopt.refusals import Exemplary, ask_refusals, sound
from fleetc.adopt.registering import registers_elsewhere
from fleetc.adopt.releases import OFFERED
from fleetc.adopt.said import Said
from fleetc.adopt.session import Session, Table
from fleetc.adopt.sources import read_sources
from fleetc.adopt.unit_instances import is_link
from fleetc.adopt.volumes import follow
from fleetc.adopt.words import Entry, Fate, InClear, Ledger, Process
from fleetc.adopt.writing import written
from fleetc.blueprint.blueprint import Blueprint
from fleetc.messages.locate import Located, Place, locate
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Diagnostic, Span, has_errors
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import LineMap, Source


@dataclass(frozen=True)
class Adopted:
    """What came of some sources. `text` is the spec, "" where it was refused.

    `compared` counts settings, with the `variables` of avatar stacks, and `stacks` these stacks. `waiting` are
    settings, by node, that could not be compared because an answer is missing, `unknown` counts those that a file may
    have which is none of the sources, and `asked` are the places of the spec that ask. `beside` is what changes for
    processes beside their settings. `in_clear` are the secrets of sources, and `elsewhere` messages, by code and place,
    whose fact stands elsewhere in all of this too. `sharing` has the nodes that a question about a port is about beside
    its own, by its table and key, and `refused` are the tables and keys whose values the check refuses.
    `passed_over` are sources without a trace in the spec, with why.
    """

    sources: tuple[Source, ...]
    text: str
    diagnostics: tuple[Diagnostic, ...]
    entries: tuple[Entry, ...]
    processes: tuple[Process, ...]
    nodes: tuple[Running, ...] = ()
    checked: Checked | None = None
    differences: tuple[Difference, ...] = ()
    compared: int = 0
    secrets: tuple[Span, ...] = ()
    stacks: int = 0
    waiting: tuple[tuple[str, str], ...] = ()
    asked: frozenset[tuple[str, ...]] = frozenset()
    blueprint: Blueprint | None = None
    library: Library = field(default_factory=lambda: Library({}))
    carried: Carried | None = None
    beside: tuple[Beside, ...] = ()
    in_clear: tuple[InClear, ...] = ()
    elsewhere: frozenset[tuple[str, Span]] = frozenset()
    sharing: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    refused: frozenset[tuple[str, str]] = frozenset()
    variables: int = 0
    unknown: int = 0
    passed_over: tuple[tuple[str, str], ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the spec compiles as it stands."""
        return self.checked is not None and self.checked.fleet is not None

    @property
    def comparable(self) -> bool:
        """Whether nodes were compared with those of today; where an answer is missing, without what waits for it."""
        return self.blueprint is not None


NOTHING = Said()
NOTHING_FOUND = "adopt-nothing-found"


def adopt(
    sources: Sequence[Source], said: Said = NOTHING, on_hosts: Mapping[str, OnHost] | None = None,
    earlier: Earlier | None = None,
) -> Adopted:  # fmt: skip
    """Adopt sources, of which people have `said` something. `on_hosts` is what hosts say that runs there, `earlier`
    what people have answered.

    Raises SenselessAnswerError where what a host says makes no sense, and UnknownNodeError where somebody says the host
    of a node that there is none of.
    """
    ledger = Ledger()
    seen = {host: observed(host, one.answer, ledger, said.only) for host, one in (on_hosts or {}).items()}
    named = tuple(sources)
    sources = [*sources, *(source for one in seen.values() for source in one.sources)]
    library = Library({source.name: source for source in sources})
    session = Session(library, ledger)
    found = read_sources(named, said.hosts, library, ledger, said.instances, bool(said.only))
    found.claimed = {*said.claimed, *seen}
    found.processes = [*with_likely(found.processes, (*named, *said.left), library)]
    processes, known = chosen(found, said, library)
    for host, one in seen.items():
        processes += one.processes
        found.hosts.setdefault(host, Table()).values.update((on_hosts or {})[host].table)
    for host, address in said.addresses.items():
        found.hosts.setdefault(host, Table()).values["address"] = address
    others = found.stacks or any(map(registers_elsewhere, found.others))
    if not processes and not found.models and not others and not has_errors(ledger.findings):
        _nothing_found(sources, known, found.hosts, ledger)
    assembled = None if has_errors(ledger.findings) else assemble(processes, found, session, said)
    if assembled is None or has_errors(ledger.findings):
        return Adopted(tuple(sources), "", tuple(ledger.findings), tuple(ledger.entries), tuple(processes),
                       secrets=tuple(ledger.secrets))  # fmt: skip
    session.note_repeated_secrets()
    _account_for_secret_files(assembled.nodes, library, ledger)
    _unused(sources, library, ledger)
    starts = {one.span.source for one in (*found.processes, *processes)}
    left = (*passed_over(named, starts, library, ledger), *not_read(said.left, said.more, ledger))
    sources = (*sources, *library.written.values(), *said.left)
    carried = carry(earlier, assembled) if earlier is not None else None
    followed = follow(session.in_volumes)
    guessed = {
        ("hosts", name, "address")
        for name, table in assembled.tables.get("hosts", {}).items()
        if any(question.startswith("TODO address:") for question in table.questions)
    }
    examples = ask_refusals(assembled, written)
    text = written(assembled)
    checked = check_spec([Source("fleet.toml", text)])
    blueprint, asked = _lowered(checked, examples)
    corrected = [*session.without_variable(text)]
    findings = [next((new for told, new in corrected if told == one), one) for one in ledger.findings]
    of_nodes = Comparison()
    if blueprint is not None:
        before = (
            ((*carried.answers, *followed), carried.earlier.asked | carried.earlier.typed)
            if carried is not None
            else ()
        )
        of_nodes = compare(assembled.nodes, blueprint, library, asked, *before)
    differences = (*of_nodes.differences, *assembled.differences)
    doubted = {("adopt-file-missing", file.span) for one in assembled.nodes for file in one.unread}
    if earlier is not None and not any(questions_in(text)):
        differences = tuple(map(_with_answer, differences))
    return Adopted(
        tuple(sources), text, _still_open(findings, assembled), tuple(ledger.entries), tuple(processes),
        tuple(assembled.nodes), checked, differences,
        of_nodes.compared + assembled.compared, tuple(ledger.secrets), len(assembled.tables.get("avatars", {})),
        of_nodes.waiting, asked | guessed, blueprint, library, carried,
        tuple(beside_all(assembled.nodes, blueprint, processes)) if blueprint is not None else (),
        tuple(ledger.in_clear), frozenset(ledger.elsewhere | doubted), assembled.sharing,
        frozenset(assembled.refused), assembled.compared, of_nodes.unknown, left,
    )  # fmt: skip


def _with_answer(one: Difference) -> Difference:
    """A difference of a spec that asks nothing any more."""
    return replace(one, reason=ANSWERED) if one.reason.startswith(QUESTION) else one


def _still_open(found: Sequence[Diagnostic], assembled: Assembled) -> tuple[Diagnostic, ...]:
    """What there is to say, without what only told to answer a question that is answered."""
    tables = (assembled.fleet, *(one for members in assembled.tables.values() for one in members.values()))
    gone = [about for one in tables for question, about in one.told.items() if question not in one.questions]
    return tuple(one for one in found if one not in gone)


def _nothing_found(
    sources: Sequence[Source], others: Collection[str], hosts: Mapping[str, Table], ledger: Ledger
) -> None:
    """Refuse sources that start no node, or, of those nodes that they start, none that was asked for."""
    name = sources[0].name if sources else ""
    ledger.secrets.append(Span(name, 0, 1))  # the first line of whatever it is
    known = sorted(leaks.shown(visible(one)) for one in others if one)[:_MOST_NAMES]
    ledger.refuse(
        NOTHING_FOUND, Span(name, 0, 1),
        "no source starts a node of the names that --only gives" if others else "no source starts a node",
        f"the sources start {', '.join(known)}" if others
        else f"name the file with the command, the unit or the Compose file that starts it{_asking_host(hosts)}",
    )  # fmt: skip


def _asking_host(hosts: Mapping[str, Table]) -> str:
    """How to ask the first host of an inventory what runs there, in words."""
    for name, table in hosts.items():
        if address := table.values.get("address"):
            port = f":{table.values['ssh_port']}" if "ssh_port" in table.values else ""
            called = f"{leaks.shown(visible(name))}={table.values.get('ssh_user', 'root')}@{address}{port}"
            return f" on its host, or ask the host: fleetc adopt --from {called}"
    return ""


_MOST_NAMES = 20
"""Names of processes that a message lists."""


def _lowered(checked: Checked, examples: Exemplary | None) -> tuple[Blueprint | None, frozenset[tuple[str, ...]]]:
    """What the spec compiles to; else what it does with examples for answers, and where these stand; else what it does
    although rules refuse it.
    """
    nowhere = frozenset[tuple[str, ...]]()
    if checked.fleet is not None:
        return lower.lower(checked.fleet), nowhere
    for fleet, said in (*([(examples.fleet, examples.asked)] if examples else []), (sound(checked), nowhere)):
        if fleet is not None:
            with suppress(ValueError):  # it needs what a rule refuses
                return lower.lower(fleet), said
    return None, nowhere


def _unused(sources: Sequence[Source], library: Library, ledger: Ledger) -> None:
    """Account for sources as a whole: those that a node reads, and those that nothing names."""
    known = {entry.span.source for entry in ledger.entries}
    places = (one.primary.place for one in ledger.findings if one.code == "adopt-name-unreached")
    calls = {place.source for place in places if isinstance(place, Span)} - known
    left = {entry.span.source for entry in ledger.entries if entry.fate is not Fate.UNDERSTOOD}
    others = {entry.span.source for entry in ledger.entries if entry.words != OFFERED}
    for source in sources:
        span = Span(source.name, 0, 1)
        if source.name in library.used:
            but = ", but for the lines of it that this account names" if source.name in left else ""
            ledger.note(span, "the file", Fate.UNDERSTOOD, f"what it says is in the spec, as the node reads it{but}")
        elif source.name in calls:
            words = "no node reads it; it names addresses of nodes, and those that lead nowhere from now on are said"
            ledger.note(span, "the file", Fate.DROPPED, words)
        elif is_link(source.name) and source.name not in known:
            ledger.note(span, "the file", Fate.UNDERSTOOD, "a link to the unit that systemd starts")
        elif source.name in known - others:
            ledger.note(span, "the file", Fate.DROPPED, "but for its release, no node reads it")
        elif source.name not in known:
            ledger.note(span, "the file", Fate.DROPPED, UNNAMED)


def _account_for_secret_files(nodes: Sequence[Running], library: Library, ledger: Ledger) -> None:
    """A source in which a node finds a secret is no script, whatever its text looks like."""
    scripts = {one.process.span.source for one in nodes}
    readers: dict[str, list[str]] = {}
    for one in nodes:
        for flag in sorted(PATH_OR_TEXT & one.settings.keys()):
            path = secret_file(one.word(flag), library, one.process.span.source)
            source = own_file(library, one.process, path).source if path else None
            if source is not None and source.name not in scripts:
                readers.setdefault(source.name, []).append(f"{one.name} has it as -{flag}")
    ledger.entries[:] = [entry for entry in ledger.entries if entry.span.source not in readers]
    for name, words in readers.items():
        library.used.discard(name)
        why = f"{', '.join(words)}; the spec says where it is, and its value is not read"
        ledger.note(Span(name, 0, 1), "the file of a secret", Fate.UNDERSTOOD, why)


def _covered(item: Located) -> Place:
    """A place without its line, which may hold a secret; where no line says anything, the file as a whole."""
    if item.diagnostic.code == NOTHING_FOUND:
        return item.primary._replace(line=0, column=0, end_line=0, end_column=0, text="")
    return item.primary._replace(hidden=True)


def located(found: Adopted) -> list[Located]:
    """The diagnostics with their lines; a line with a secret is never shown."""
    lines = {source.name: LineMap(source.text) for source in found.sources}
    hidden = set()
    for span in found.secrets:
        known = lines.get(span.source)
        if known is not None:
            first, last = known.position(span.start)[0], known.position(span.end)[0]
            hidden |= {(span.source, line) for line in range(first, last + 1)}
    return [
        item._replace(primary=_covered(item))
        if any((item.primary.file, line) in hidden for line in range(item.primary.line, item.primary.end_line + 1))
        else item
        for item in locate(found.diagnostics, found.sources, None)
    ]
