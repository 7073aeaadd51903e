"""`fleetc diagnose`: what the logs of nodes mean, and what to change in the spec.

In: logs, as files, on standard input, or by host and node; and a spec if there is one. Out: findings in the forms of
`check`, and the shapes of all other lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.options import HERE, PROBLEMS, USAGE, FormatOption, OverlayOption
from fleetc.cli.output import coloured, message, plain
from fleetc.cli.working import load_settings, quietly, read_sources
from fleetc.messages.forms import Format, written

if TYPE_CHECKING:
    from fleetc.messages.locate import Located
    from fleetc.observe.diagnose import Spec
    from fleetc.observe.tally import Tally
    from fleetc.settings import Settings


def diagnose(
    logs: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG...",
            help="Files with logs, plain, gzip or zstd; - for standard input.",
            show_default=False,
        ),
    ],
    spec: Annotated[
        Path | None,
        typer.Option("--spec", metavar="SPEC", help="Spec to find the lines in that may have to change."),
    ] = None,
    node: Annotated[
        str | None, typer.Option("--node", metavar="NAME", help="Node of the spec that wrote the logs.")
    ] = None,
    overlay: OverlayOption = None,
    form: FormatOption = Format.text,
) -> None:
    """Say what the logs of nodes mean, how often and when, and what to change in the spec.

    Exits 1 if a finding is an error, or a log could not be read.
    """
    import sys

    from fleetc.observe.diagnose import located
    from fleetc.observe.findings import findings
    from fleetc.observe.report import as_text, as_values

    settings = load_settings(spec or HERE, overlay=overlay)
    read = _spec(spec, node, settings, form)
    tally, wrong = _read(logs)
    found = findings(tally)
    items = [*located(found, read), *wrong]
    sources, document = (read.sources, read.document) if read is not None else ((), None)
    more = as_values(tally, found)
    colour = form is Format.text and coloured(settings, sys.stdout)
    typer.echo(written(form, items, sources, document, colour, more), nl=False)
    if form is Format.text:
        typer.echo("\n" + as_text(tally), nl=False)
    if any(item.diagnostic.severity is item.diagnostic.severity.ERROR for item in items):
        raise typer.Exit(PROBLEMS)


def _spec(path: Path | None, name: str | None, settings: Settings, form: Format) -> Spec | None:
    """What can be read of the spec: its errors may be what the logs complain about."""
    from fleetc.language.spec import read_fleet
    from fleetc.observe.diagnose import Spec
    from fleetc.pipeline import check_spec
    from fleetc.text.suggestions import did_you_mean

    if path is None:
        if name is not None:
            message("error: --node names a node of a spec; name the spec with --spec")
            raise typer.Exit(USAGE)
        return None
    sources = read_sources(path, settings, form)
    checked = quietly(check_spec, sources)
    fleet = checked.fleet or (read_fleet(checked.document)[0] if checked.document else None)
    if fleet is None:
        message(f"error: the spec cannot be read, so the logs cannot be compared with it: run fleetc check {path}")
        raise typer.Exit(PROBLEMS)
    if name is not None and name not in fleet.nodes_by_name:
        message(f'there is no node "{plain(name)}"; {did_you_mean(name, fleet.nodes_by_name)}')
        raise typer.Exit(USAGE)
    writer = fleet.nodes_by_name[name] if name is not None else None
    return Spec(fleet, sources, checked.document, checked.diagnostics, writer)


def _read(logs: list[str]) -> tuple[Tally, list[Located]]:
    """Count all logs, and say which could not be read, or not to their end."""
    from fleetc.disk.files import FilesError
    from fleetc.disk.logs import LogPieces
    from fleetc.messages.locate import outside
    from fleetc.observe.matching import Matcher
    from fleetc.observe.tally import Tally
    from fleetc.places.diagnostic import Severity
    from fleetc.upstream.signatures import signatures

    tally, wrong = Tally(Matcher(signatures().values())), []
    for name in logs:
        pieces = LogPieces(Path(name))
        try:
            tally.read(pieces.name, pieces)
        except FilesError as problem:
            wrong.append(outside(problem.code, problem.message, problem.help, problem.path))
        if pieces.flaw:
            text = f"{pieces.name} ends too early: {pieces.flaw}"
            advice = "copy the log again; what stood behind that place was not read"
            wrong.append(outside("log-cut-off", text, advice, pieces.name, Severity.WARNING))
    if tally.jumps:
        text = f"times went back {tally.jumps} times in the logs, so rates and spans are not exact"
        advice = "look at the time service of the host, if the logs of several nodes were not mixed"
        wrong.append(outside("log-times-jump", text, advice, "", Severity.NOTE))
    return tally, wrong
