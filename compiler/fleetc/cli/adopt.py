"""`fleetc adopt`: a spec of what already runs.

In: commands, scripts, units, Compose files and the files that nodes read, by name; hosts to be asked. Out: a spec on
stdout or in a file, what people must know on stderr, and on request an account of every word. Sources are read, never
run. Hosts are not changed, but for a note about processes to keep.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.asked_hosts import plan_takeover, read_hosts, senseless
from fleetc.cli.host_folders import Directories, Homes, folders_of
from fleetc.cli.options import HERE, PROBLEMS
from fleetc.cli.output import coloured, files_failure, message, print_located, wrong_usage
from fleetc.cli.paging import put
from fleetc.messages.forms import AdoptionFormat, Format

if TYPE_CHECKING:
    from fleetc.adopt.adoption import Adopted
    from fleetc.adopt.host_paths import Folders
    from fleetc.toml.document import Source

_ROLES = ("gateway", "orchestrator", "transcoder", "ai-worker", "remote-signer", "redeemer")

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


def adopt(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Files with commands, units, Compose files and what they name; directories of such; - for standard "
            "input. HOST=FILE or HOST@ADDRESS=FILE says which host a file is from. With --in-place, the spec.",
            show_default=False,
        ),
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="NAME=[USER@]ADDRESS[:PORT]",
            help="Read the nodes that run on this host, over ssh; NAME is the host in the spec; repeatable.",
        ),
    ] = None,
    in_place: InPlace = None,
    keep_running: KeepRunning = False,
    homes: Homes = None,
    directories: Directories = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it on hosts without asking first.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write the spec to, which must not exist yet."),
    ] = None,
    report: Annotated[
        AdoptionFormat | None,
        typer.Option(
            "--report", help="Print what became of every word, and what the spec changes, instead of the spec."
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the fleet.")] = "adopted",
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Adopt only this service, unit or container, or process by its number; repeatable.",
        ),
    ] = None,
    role: Annotated[
        str,
        typer.Option("--role", metavar="ROLE", help="What a node is whose command does not say it, such as gateway."),
    ] = "",
) -> None:
    """Write a spec of nodes that already run, from the commands, units or Compose files that start them.

    Comments say where each table comes from, and TODO what is left to answer. Secrets become references. With --from, a
    host is asked what runs there, after you have seen what is read; nothing is changed there, and secrets stay there.
    Exits 1 if no spec can be written. With --in-place HOST, the one source is a spec, and no spec is written: you get
    what would change for each process, and whether it restarts. Where nothing changes and the unit has the name that
    fleetc gives it, --keep-running has the first rollout keep the process.
    """
    if in_place is not None:
        if hosts or output or report or only or role or homes or directories or len(sources or []) > 1:
            wrong_usage("--in-place takes a host and its spec, and of the other options only --keep-running and --yes")
        plan_takeover(in_place, Path((sources or [str(HERE)])[0]), yes, keep_running)
        return
    if keep_running:
        wrong_usage("--keep-running belongs to --in-place")
    if not sources and not hosts:
        wrong_usage("name what starts your nodes: files, directories, - or a host with --from")
    if role and role not in _ROLES:
        wrong_usage(f"--role takes one of {', '.join(_ROLES)}")
    folders = folders_of(homes, directories)
    found = _adopted(sources or [], hosts or [], yes, name, only or [], role, folders)
    _answer(found, output, report)


def _adopted(
    sources: list[str], hosts: list[str], yes: bool, name: str, only: list[str], role: str, folders: Folders
) -> Adopted:
    """What comes of the sources, and of what hosts say."""
    from fleetc.adopt.adoption import adopt as adopt_sources
    from fleetc.adopt.on_host import SenselessAnswerError

    texts, known, addresses = _read(sources)
    try:
        return adopt_sources(texts, known, addresses, name, only, role, read_hosts(hosts, yes), folders)
    except SenselessAnswerError as problem:
        files_failure(senseless(str(problem)), Format.text)


def _answer(found: Adopted, output: Path | None, report: AdoptionFormat | None) -> None:
    """Show what came of it, and write the spec; exits where there is none."""
    from fleetc.adopt.adoption import located

    messages = located(found)
    print_located(messages, coloured(None, sys.stderr))
    if report is not None:
        from fleetc.adopt.report import reported

        put(reported(found, report, messages))
    if not found.text:
        raise typer.Exit(PROBLEMS)
    if output is not None:
        _write(output, found.text)
    elif report is None:
        put(found.text)
    _summary(found, output)


def _read(names: list[str]) -> tuple[list[Source], dict[str, str], dict[str, str]]:
    """The texts, which host each is from, and the addresses of hosts."""
    from fleetc.disk.adopting import read_source_files
    from fleetc.disk.manifest import FilesError

    hosts: dict[str, str] = {}
    addresses: dict[str, str] = {}
    texts: list[Source] = []
    for given in names:
        host, equals, path = given.partition("=")
        if not equals or Path(given).exists():
            host, path = "", given
        host, _, address = host.partition("@")
        try:
            read = read_source_files(path)
        except FilesError as failure:
            files_failure(failure, Format.text)
        texts += [source for source in read if source.name not in {known.name for known in texts}]
        if host:
            hosts |= {source.name: host for source in read}
        if address:
            addresses[host] = address
    return texts, hosts, addresses


def _write(path: Path, text: str) -> None:
    from fleetc.disk.adopting import write_spec
    from fleetc.disk.manifest import FilesError

    try:
        write_spec(path, text)
    except FilesError as failure:
        files_failure(failure, Format.text)


def _summary(found: Adopted, output: Path | None) -> None:
    """What came of it, in a few lines."""
    from fleetc.places.diagnostic import has_errors

    nodes = len(found.nodes)
    questions = found.text.count("\n# TODO ")
    asked = "question" if questions == 1 else "questions"
    where = f"wrote {output}: " if output is not None else ""
    stacks = f", {found.stacks} avatar {'stack' if found.stacks == 1 else 'stacks'}" if found.stacks else ""
    message(f"{where}{nodes} {'node' if nodes == 1 else 'nodes'}{stacks}, {questions} {asked}")
    if found.checked is not None and has_errors(found.checked.diagnostics):
        first = "answer the TODO lines, then run" if questions else "run"
        message(f"{first} fleetc check, which says what is still wrong; fleetc compile works after that")
    elif found.checked is not None:
        changes = len(found.differences)
        message(
            f"the spec compiles: {found.compared} settings compared, {changes} differ; --report markdown lists them"
        )
