"""`fleetc diagnose`: what the logs of nodes mean, and what to change in the spec.

In: logs, as files, on standard input, or by host and node; and a spec if there is one. Out: findings in the forms of
`check`, and the shapes of all other lines.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, FormatOption, OverlayOption, upwards
from fleetc.cli.shared.output import PROBLEMS, UNKNOWN, coloured, message, plain, wrong_usage
from fleetc.cli.shared.paging import put, tell
from fleetc.cli.shared.working import compile_or_exit, load_settings, quietly, read_sources
from fleetc.disk.manifest import FilesError
from fleetc.messages.forms import Format, written
from fleetc.places.diagnostic import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fleetc.emit.tree import Tree
    from fleetc.language.fleet import Fleet
    from fleetc.messages.locate import Located
    from fleetc.observe.diagnose import Spec
    from fleetc.observe.tally import Tally
    from fleetc.rollout.hosts.logs import LogRequest
    from fleetc.settings import Settings


def diagnose(
    logs: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG",
            help="Files with logs, plain, gzip or zstd; - for standard input; HOST/NODE for the log that a host has.",
            show_default=False,
            autocompletion=completing.logs,
        ),
    ],
    spec: Annotated[
        Path | None,
        typer.Option("--spec", metavar="SPEC", help="Spec to find the lines in that may have to change."),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option(
            "--node",
            metavar="NAME",
            help="Node or live runner of the spec that wrote the logs.",
            autocompletion=completing.writers,
        ),
    ] = None,
    since: Annotated[
        str, typer.Option("--since", metavar="DURATION", help="How far back the log of HOST/NODE is read.")
    ] = "1h",
    size: Annotated[
        str, typer.Option("--size", metavar="SIZE", help="How much of the log of HOST/NODE is read at most.")
    ] = "16 MiB",
    overlay: OverlayOption = None,
    form: FormatOption = Format.text,
) -> None:
    """Explain node logs: what happened, how often and when, and what to change in the spec.

    Exits 1 if there is a problem, or a log could not be read, and 4 if there are only errors that fleetc does not
    understand.
    """
    from fleetc.disk.logs import is_log
    from fleetc.observe.diagnose import located
    from fleetc.observe.findings import findings
    from fleetc.observe.report import as_text, as_values, not_understood

    remote = [name for name in logs if not is_log(name) and "/" in name]
    above = upwards(HERE) if remote and spec is None else None
    there = spec or (above if above is not None and (above / "fleet.toml").exists() else None)
    settings = load_settings(there or HERE, overlay=overlay)
    if there is None and node is not None:
        wrong_usage("--node names a node of a spec; name the spec with --spec")
    read, tree = _spec(there, node, bool(remote), settings, form) if there is not None else (None, None)
    requests = {name: _asked(name, read, since, size) for name in remote} if read is not None else {}
    if read is not None and node is None and len(requests) == len(logs) == 1:
        read = read._replace(writer=read.fleet.started_by_name[requests[logs[0]].node])
    fetched = _fetch(tree, requests, settings) if tree is not None else {}
    tally, wrong = _read(logs, fetched, read)
    meanings = findings(tally)
    items = [*located(meanings, read), *wrong]
    sources, document = (read.sources, read.document) if read is not None else ((), None)
    more = as_values(tally, meanings) if form is Format.json else None
    colour = form is Format.text and coloured(settings, sys.stdout)
    text = written(form, items, sources, document, colour, more)
    if form is Format.text:
        tell(f"{text}\n{as_text(meanings, tally)}")
    else:
        put(text)
    if any(item.diagnostic.severity is Severity.ERROR for item in items) or any(
        meaning.severity is not Severity.NOTE for meaning in meanings
    ):
        raise typer.Exit(PROBLEMS)
    if not_understood(tally):
        raise typer.Exit(UNKNOWN)


def _spec(path: Path, name: str | None, compiles: bool, settings: Settings, form: Format) -> tuple[Spec, Tree | None]:
    """What can be read of the spec: its errors may be what the logs complain about. To ask hosts it compiles: the tree
    has the inventory.
    """
    from fleetc.observe.diagnose import Spec
    from fleetc.pipeline import check_spec

    tree: Tree | None = None
    if compiles:
        compiled, _ = compile_or_exit(path, settings, form)
        checked, tree = compiled.checked, compiled.tree
    else:
        checked = quietly(check_spec, read_sources(path, settings, form))
    fleet = checked.typed
    if fleet is None:
        message(f"error: the spec cannot be read, so the logs cannot be compared with it: run fleetc check {path}")
        raise typer.Exit(PROBLEMS)
    if name is not None:
        _need_node(fleet, name)
    writer = fleet.started_by_name[name] if name is not None else None
    return Spec(fleet, checked.sources, checked.document, checked.diagnostics, writer), tree


def _need_node(fleet: Fleet, name: str) -> None:
    from fleetc.text.suggestions import did_you_mean

    if name in fleet.started_by_name:
        return
    if name in fleet.runners:
        wrong_usage(f'live runner "{plain(name)}" is at a url, so fleetc has no log of it: give its log as a file')
    wrong_usage(f'there is no node "{plain(name)}"; {did_you_mean(name, fleet.started_by_name)}')


def _asked(name: str, spec: Spec, since: str, size: str) -> LogRequest:
    """What HOST/NODE asks for."""
    from fleetc.language.fleet import PlacedRunner
    from fleetc.language.quantities import QuantityError, parse_bytes, parse_duration
    from fleetc.rollout.hosts.logs import LIMIT, LONGEST, LogRequest
    from fleetc.text.suggestions import did_you_mean

    host, _, node = name.partition("/")
    if host not in spec.fleet.hosts:
        guess = did_you_mean(host, spec.fleet.hosts)
        wrong_usage(f'there is no file "{plain(name)}", and the spec has no host "{plain(host)}"; {guess}')
    _need_node(spec.fleet, node)
    started = spec.fleet.started_by_name[node]
    home = started.host if isinstance(started, PlacedRunner) else started.settings.host
    if host != home:
        wrong_usage(
            f'there is no file "{plain(name)}", and {plain(node)} is on host {home}: write {home}/{plain(node)}'
        )
    try:
        seconds, limit = parse_duration(since).microseconds // 1_000_000, parse_bytes(size).count
    except QuantityError as problem:
        wrong_usage(f"--since and --size: {problem.message}; {problem.help}")
    if not (1 <= seconds <= LONGEST and 1 <= limit <= LIMIT):
        wrong_usage("--since and --size: a log is read for a second to a year, and 64 MiB of it at most")
    return LogRequest(host, node, seconds, limit)


def _fetch(tree: Tree, requests: dict[str, LogRequest], settings: Settings) -> dict[str, Iterable[bytes] | FilesError]:
    """The logs of nodes by their names, or why a host does not give one."""
    from fleetc.rollout.hosts.logs import fetch
    from fleetc.rollout.hosts.progress import progress

    logs: dict[str, Iterable[bytes] | FilesError] = {}
    with progress(sys.stderr) as show:
        for name, request in requests.items():
            try:
                log = fetch(tree, request, settings, show)
            except FilesError as problem:
                logs[name] = problem
                continue
            logs[name] = [log.data]
            if log.cut:
                message(f"note: {name} has more in that time; only its end was read: --size and --since set how much")
    return logs


def _read(
    logs: list[str], fetched: dict[str, Iterable[bytes] | FilesError], spec: Spec | None
) -> tuple[Tally, list[Located]]:
    """Count all logs, and report those not read to their end, and errors that nobody understands."""
    from fleetc.disk.logs import LogPieces
    from fleetc.messages.locate import outside
    from fleetc.observe.matching import Matcher
    from fleetc.observe.report import not_understood
    from fleetc.observe.tally import Tally
    from fleetc.text.counting import counted
    from fleetc.upstream import NEWEST_RELEASE
    from fleetc.upstream.messages import lookup
    from fleetc.upstream.signatures import signatures

    release = spec.fleet.fleet.node_release if spec is not None else NEWEST_RELEASE
    tally, wrong = Tally(Matcher(signatures().values()), lookup(release)), []
    for name in logs:
        pieces = LogPieces(Path(name))
        log = fetched.get(name, pieces)
        try:
            if isinstance(log, FilesError):
                raise log
            tally.read(name if name in fetched else pieces.name, log)
        except FilesError as problem:
            wrong.append(outside(problem.code, problem.message, problem.help, problem.path))
        if pieces.flaw:
            text = f"{pieces.name} ends too early: {pieces.flaw}"
            advice = "copy the log again; what stood behind that place was not read"
            wrong.append(outside("log-cut-off", text, advice, pieces.name, Severity.WARNING))
    if tally.jumps:
        often = "once" if tally.jumps == 1 else f"{tally.jumps} times"
        text = f"times went back {often} in the logs, so rates and spans are not exact"
        advice = "look at the time service of the host, if the logs of several nodes were not mixed"
        wrong.append(outside("log-times-jump", text, advice, "", Severity.NOTE))
    if kinds := not_understood(tally):
        lines = counted(sum(kind.count for kind in kinds), "line")
        text = f"errors of {counted(len(kinds), 'kind')} are not understood, {lines}"
        advice = "read them below, each with what the node does there and its place in the source, if they are known"
        first = min(kinds, key=lambda kind: (kind.where.log, kind.where.number)).where
        wrong.append(outside("log-not-understood", text, advice, first.log, Severity.WARNING))
    return tally, wrong
