"""`fleetc adopt`: a spec of what already runs.

In: commands, scripts, units, Compose files and the files that nodes read, by name; hosts to be asked. Out: a spec on
stdout or in a file, what people must know on stderr, and on request an account of every word. Sources are read, never
run. Hosts are not changed, but for a note about processes to keep.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from fleetc.cli.adopted import Told, compile_known, show_carried, show_comparison, summarise
from fleetc.cli.asked_hosts import plan_takeover, read_hosts, senseless
from fleetc.cli.asking import ask, can_ask
from fleetc.cli.host_folders import Directories, Homes, NodeHosts, addresses_of, folders_of, refuse_unknown
from fleetc.cli.host_prompts import WITHOUT
from fleetc.cli.named_sources import read_named
from fleetc.cli.options import HERE, PROBLEMS
from fleetc.cli.output import coloured, files_failure, message, print_located, wrong_usage
from fleetc.cli.paging import put
from fleetc.messages.forms import AdoptionFormat, Format
from fleetc.places.diagnostic import Severity, Span

if TYPE_CHECKING:
    from fleetc.adopt.adoption import Adopted
    from fleetc.adopt.earlier import Earlier
    from fleetc.toml.document import Source

_ROLES = ("gateway", "orchestrator", "transcoder", "ai-worker", "remote-signer", "redeemer")

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCE",
        help="Files with commands, units, Compose files and what they name; directories of such; - for standard "
        "input. HOST=FILE or HOST@ADDRESS=FILE says which host a file is from. With --in-place, the spec.",
        show_default=False,
    ),
]
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="NAME=[USER@]ADDRESS[:PORT]",
        help="Read the nodes that run on this host, over ssh; NAME is the host in the spec; repeatable.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File to write the spec to, which must not exist yet, unless it is that of --answers; - is standard "
        "output, as without it.",
    ),
]
Report = Annotated[
    AdoptionFormat | None,
    typer.Option("--report", help="Print what became of every word, and what the spec changes, instead of the spec."),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME",
        help="Adopt only this service, unit, container or node, or process by its number; repeatable.",
    ),
]
Instances = Annotated[
    list[str] | None,
    typer.Option(
        "--instance",
        metavar="UNIT@NAME",
        help="An instance of a template of units that runs, such as livepeer@eu; repeatable.",
    ),
]
InPlace = Annotated[
    str | None,
    typer.Option(
        "--in-place",
        metavar="HOST",
        help="Say what the first rollout of a spec does to the nodes that this host of it runs already.",
    ),
]
KeepRunning = Annotated[
    bool,
    typer.Option(
        "--keep-running",
        help="With --in-place: have the host know which processes the first rollout keeps, where nothing changes.",
    ),
]
Compare = Annotated[
    Path | None,
    typer.Option(
        "--compare",
        metavar="SPEC",
        help="Write no spec: say where the nodes of this one differ from what the sources start today.",
    ),
]
Answers = Annotated[
    Path | None,
    typer.Option(
        "--answers",
        metavar="SPEC",
        help="Keep what you answered in the spec of an earlier adoption; to replace that spec, name it with -o too.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="TABLE.KEY=VALUE",
        help="Answer a question of the spec, such as wallets.payer.deposit='0.1 ETH'; a secret as env NAME or "
        "host_file /path; repeatable.",
    ),
]


def adopt(
    sources: Sources = None,
    hosts: Hosts = None,
    in_place: InPlace = None,
    keep_running: KeepRunning = False,
    compare: Compare = None,
    answers: Answers = None,
    given: Set = None,
    no_input: Annotated[
        bool, typer.Option("--no-input", help="Ask nothing; without it, -o at a terminal asks what is open.")
    ] = False,
    homes: Homes = None,
    directories: Directories = None,
    node_hosts: NodeHosts = None,
    instances: Instances = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it on hosts without asking first.")] = False,
    output: Output = None,
    report: Report = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Name of the fleet; without it, adopted.", show_default=False)
    ] = "",
    only: Only = None,
    role: Annotated[
        str,
        typer.Option("--role", metavar="ROLE", help="What a node is whose command does not say it, such as gateway."),
    ] = "",
) -> None:
    """Write a spec of nodes that already run, from the commands, units or Compose files that start them.

    Comments say where each table comes from, and TODO what is left to answer. With -o at a terminal you are asked that:
    ? says more, and Ctrl-C ends the questions and keeps your answers. Secrets become references. With --from, a
    host is asked what runs there, after you have seen what is read; nothing is changed there, and secrets stay there.
    Exits 1 if no spec can be written. With --answers, an earlier spec gives what no source says, and you are told where
    it contradicts the sources. With --compare SPEC, no spec is written: you see where that spec differs from the
    sources, and the exit code is 1 if a difference has no known reason, a node is on one side only, or a file that may
    have settings is none of the sources. With --in-place HOST, the one source is a spec, and no spec is written: you
    see what would change for each process, and whether it restarts. Where nothing changes and the unit has the name
    that fleetc gives it, --keep-running has the first rollout keep the process.
    """
    if in_place is not None:
        others = (hosts, compare, answers, given, homes, directories, node_hosts, instances)
        if any(others) or any((output, report, only, role, name)) or len(sources or []) > 1:
            wrong_usage("--in-place takes a host and its spec, and of the other options only --keep-running and --yes")
        plan_takeover(in_place, Path((sources or [str(HERE)])[0]), yes, keep_running)
        return
    if keep_running:
        wrong_usage("--keep-running belongs to --in-place")
    if not sources and not hosts:
        wrong_usage("name what starts your nodes: files, directories, - or a host with --from")
    if role and role not in _ROLES:
        wrong_usage(f"--role takes one of {', '.join(_ROLES)}")
    if compare is not None and (output or answers or given):
        wrong_usage("--compare writes no spec, so it takes neither -o nor --answers nor --set")
    if not all(re.fullmatch(r"[^@/\s]+@[^@/\s]+", one) for one in instances or []):
        wrong_usage("--instance takes a unit with its name, such as livepeer@eu")
    asked = _Asked(
        sources or [], hosts or [], yes, name, only or [], role, homes or [], directories or [], node_hosts or [],
        instances or [],
    )  # fmt: skip
    if compare is not None:
        known = compile_known(compare)
        found = _Adopting(asked, None).found
        _refuse(found)
        show_comparison(found, known, compare, report)
        return
    earlier = _earlier(answers) if answers is not None else None
    output = None if output == Path("-") else output
    adopting, told = _Adopting(asked, earlier), Told()
    if given:
        adopting.set(given)
    if output is not None and report is None and not no_input and can_ask():
        told = adopting.ask(output)
    _answer(adopting, output, report, told)


class _Asked(NamedTuple):
    """What is to be adopted, as people say it."""

    sources: list[str]
    hosts: list[str]
    yes: bool
    name: str
    only: list[str]
    role: str
    homes: list[str]
    directories: list[str]
    node_hosts: list[str]
    instances: list[str]

    @property
    def words(self) -> list[str]:
        """The same as words of a command."""
        more = [*(("--from", host) for host in self.hosts), *(("--only", name) for name in self.only)]
        more += [*(("--home", path) for path in self.homes), *(("--directory", path) for path in self.directories)]
        more += [("--host", one) for one in self.node_hosts]
        more += [("--instance", one) for one in self.instances]
        more += [("--role", self.role)] if self.role else []
        return [*self.sources, *(word for pair in more for word in pair)]


def _earlier(path: Path) -> Earlier:
    """The spec whose answers are kept; exits where it cannot be read."""
    from fleetc.adopt.earlier import read_earlier
    from fleetc.disk.adopting import read_answers
    from fleetc.disk.manifest import FilesError
    from fleetc.messages.locate import locate

    try:
        source = read_answers(path)
    except FilesError as failure:
        files_failure(failure, Format.text)
    earlier, found = read_earlier(source)
    if earlier is None:
        print_located(locate(found, [source], None), coloured(None, sys.stderr))
        raise typer.Exit(PROBLEMS)
    return earlier


class _Adopting:
    """Sources and hosts, read once, and what is adopted of them: again and again, as people answer.

    `carried` is what was kept of the spec that --answers names, and `before` the spec that the next one replaces.
    """

    def __init__(self, asked: _Asked, earlier: Earlier | None) -> None:
        self.asked, self.earlier = asked, earlier
        self._read = read_named(asked.sources)
        self._on_hosts = read_hosts(asked.hosts, asked.yes)
        self._unread: list[tuple[Source, str]] = []
        self._typed: set[tuple[str, ...]] = set()
        self._leave_out()
        self.found = self._adopted(earlier)
        self.carried = self.found.carried
        self.before = earlier.source if earlier is not None else None

    def _leave_out(self) -> None:
        """Pass over pages, and those loose texts for which all sources would be refused."""
        from fleetc.adopt.markdown import LOOSE, PAGE
        from fleetc.disk.manifest import shown

        self._unread = [(page, PAGE) for page in self._read.pages]
        while (
            self._read.loose
            and (refused := _refused(self._adopted(None), self._read.loose))
            and len(refused) < len(self._read.texts)
        ):
            left = [[one for one in some if one not in refused] for some in (self._read.texts, self._read.loose)]
            self._read = self._read._replace(texts=left[0], loose=left[1])
            self._unread += [(one, LOOSE) for one in refused]
        for source, why in self._unread:
            message(f"passed over {shown(source.name)}: {why}; name it as a source to adopt them")

    def say(self, options: list[tuple[str, str]]) -> None:
        """Adopt with more options, such as --home with its value."""
        more = {option: [value for known, value in options if known == option] for option, _ in options}
        asked, gone = self.asked, more.get(WITHOUT, [])
        self.asked = asked._replace(
            only=[node.name for node in self.found.nodes if node.name not in gone] if gone else asked.only,
            homes=[*asked.homes, *more.get("--home", [])],
            directories=[*asked.directories, *more.get("--directory", [])],
            node_hosts=[*asked.node_hosts, *more.get("--host", [])],
        )
        self.found = self._adopted(self.earlier)

    def take(self, text: str, typed: Collection[tuple[str, ...]] = ()) -> None:
        """Adopt with a spec that somebody has answered, and with values at places that the sources have otherwise."""
        from fleetc.adopt.earlier import read_earlier
        from fleetc.toml.document import Source

        earlier, _ = read_earlier(Source("your answers", text))
        assert earlier is not None  # noqa: S101  # it is the spec that adopting wrote, with answers that it takes
        self._typed |= {place[:3] for place in typed}
        self.found = self._adopted(replace(earlier, typed=frozenset(self._typed)))

    def set(self, given: list[str]) -> None:
        """Adopt with answers of the form TABLE.KEY=VALUE; exits where one cannot be."""
        from fleetc.adopt.answering import WrongAnswerError, set_all

        if not self.found.text:
            return
        try:
            text = set_all(self.found.text, given)
        except WrongAnswerError as problem:
            wrong_usage(f"--set {problem}")
        self.take(text)

    def ask(self, output: Path) -> Told:
        """Write the spec, so that it is there whatever comes, and ask what it leaves open; what is told first."""
        from fleetc.toml.document import Source

        if not self.found.text:
            return Told()
        _write(output, self.found.text, self.before)
        self.before = Source(str(output), self.found.text)
        return ask(self)

    def _adopted(self, earlier: Earlier | None) -> Adopted:
        """What comes of the sources, and of what hosts say."""
        from fleetc.adopt.adoption import adopt as adopt_sources
        from fleetc.adopt.again import adopt_again
        from fleetc.adopt.assembled import FLEET_NAME
        from fleetc.adopt.markdown import passed_over
        from fleetc.adopt.naming import UnknownNodeError
        from fleetc.adopt.on_host import SenselessAnswerError
        from fleetc.adopt.said import Said

        asked, texts = self.asked, self._read.texts
        folders = folders_of(asked.homes, asked.directories, asked.node_hosts)
        addresses = self._read.addresses | addresses_of(asked.node_hosts)
        said = Said(
            asked.name or FLEET_NAME, self._read.hosts, addresses, asked.only, asked.role, folders, asked.instances,
            self._read.others, self._read.more,
        )  # fmt: skip
        try:
            if earlier is None:
                found = adopt_sources(texts, said, self._on_hosts)
            else:
                found = adopt_again(earlier, lambda answers: adopt_sources(texts, said, self._on_hosts, answers))
        except SenselessAnswerError as problem:
            files_failure(senseless(str(problem)), Format.text)
        except UnknownNodeError as problem:
            wrong_usage(f"--host: {problem}")
        refuse_unknown(folders, found)
        entries = (passed_over(source, why) for source, why in self._unread)
        return replace(
            found,
            entries=(*found.entries, *entries),
            sources=(*found.sources, *(source for source, _ in self._unread)),
        )


def _refused(found: Adopted, loose: list[Source]) -> list[Source]:
    """Those of some texts for which all sources are refused."""
    errors = [one for one in found.diagnostics if one.severity is Severity.ERROR and one.code != "adopt-nothing-found"]
    places = {one.primary.place.source for one in errors if isinstance(one.primary.place, Span)}
    return [one for one in loose if one.name in places]


def _refuse(found: Adopted) -> None:
    """Exit where the sources are no fleet, and say why; what else is to be said of them, adopting has said."""
    from fleetc.adopt.adoption import located

    if not found.text:
        print_located(located(found), coloured(None, sys.stderr))
        raise typer.Exit(PROBLEMS)


def _answer(adopting: _Adopting, output: Path | None, report: AdoptionFormat | None, told: Told) -> None:
    """Show what came of it but for what was `told` already, and write the spec; exits where there is none."""
    from fleetc.adopt.adoption import located

    found = adopting.found
    messages = [one for one in located(found) if one not in told.messages]
    if not found.text or report is not None:
        print_located(messages, coloured(None, sys.stderr))
    if report is not None:
        from fleetc.adopt.report import reported

        put(reported(found, report, messages))
    if not found.text:
        raise typer.Exit(PROBLEMS)
    if output is not None:
        _write(output, found.text, adopting.before)
    elif report is None:
        put(found.text)
    show_carried(adopting.carried, found)
    summarise(found, output, adopting.asked.words, messages if report is None else None, told)


def _write(path: Path, text: str, before: Source | None) -> None:
    from fleetc.disk.adopting import write_spec
    from fleetc.disk.manifest import FilesError

    try:
        write_spec(path, text, before)
    except FilesError as failure:
        files_failure(failure, Format.text)
