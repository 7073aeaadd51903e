"""The command `fleetc streams`: reads what the stream API answered about a stream, compares, and prints.

In: arguments, through typer. Out: text or JSON on stdout, exit code 0 when the stream is as declared and 1 when it is
not. It talks to no service: an answer comes from a file or from standard input.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.options import HERE, PROBLEMS, USAGE, OverlayOption, ReportOption, SpecArgument
from fleetc.cli.output import files_failure, message, report
from fleetc.cli.working import load_settings, quietly, read_sources
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    from fleetc.stream_api.data import Binding
    from fleetc.stream_api.observed import Answer

_LIMIT = 16 * 1024 * 1024
"""Most bytes of an answer; a stream has a few thousand."""


def streams(
    observed: Annotated[
        Path,
        typer.Option(
            "--observed", metavar="FILE", help="File with the JSON of GET /stream/{id}, or - for standard input."
        ),
    ],
    stream: Annotated[str, typer.Option("--stream", metavar="NAME", help="Name of the stream in the spec.")],
    spec: SpecArgument = HERE,
    status: Annotated[
        int | None,
        typer.Option("--status", metavar="NUMBER", min=100, max=599, help="HTTP status of the answer, if known."),
    ] = None,
    bindings: Annotated[
        Path | None,
        typer.Option("--bindings", metavar="FILE", help="JSON file with the ids that the service gave to new targets."),
    ] = None,
    overlay: OverlayOption = None,
    asked: ReportOption = ReportFormat.text,
) -> None:
    """Compare a stream with what the stream API answered.

    Prints what differs, and the requests that fix it.
    """
    from fleetc.disk import files
    from fleetc.lower.streams import lower_streams
    from fleetc.messages.json import as_data
    from fleetc.messages.locate import locate
    from fleetc.pipeline import check_spec
    from fleetc.stream_api.data import IN_SYNC
    from fleetc.stream_api.drift import compare
    from fleetc.stream_api.report import as_json, as_text
    from fleetc.text.suggestions import did_you_mean

    form, settings = Format(asked), load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, form)
    checked = quietly(check_spec, sources)
    if checked.fleet is None:
        report(checked, sources, settings, form, always=True)
        raise typer.Exit(PROBLEMS)
    plans = {plan.name: plan for plan in lower_streams(checked.fleet)}
    if stream not in plans:
        advice = did_you_mean(stream, plans, "" if plans else "the spec declares none")
        message(f'there is no stream "{stream}"; {advice}')
        raise typer.Exit(USAGE)
    try:
        found = compare(plans[stream], _answer(observed, status), _bindings(bindings))
    except files.FilesError as failure:
        files_failure(failure, form)
    if form is Format.json:
        located = locate(checked.diagnostics, sources, checked.document)
        typer.echo(as_json(found, as_data(located)), nl=False)
    else:
        report(checked, sources, settings, form, always=False)
        typer.echo(as_text(found), nl=False)
    if found.kind != IN_SYNC:
        raise typer.Exit(PROBLEMS)


def _answer(path: Path, status: int | None) -> Answer:
    from fleetc.disk import files
    from fleetc.stream_api.observed import NotJsonError, read

    text = files.read_answer(path, _LIMIT)
    try:
        return read(text, status)
    except NotJsonError as problem:
        place = f" at line {problem.line}, column {problem.column}" if problem.line else ""
        advice = "save the body of the answer as it came; if its status is not 200, add --status"
        text = f"this is not JSON{place}: {problem}"
        raise files.FilesError("answer-not-json", text, path=files.answer_name(path), advice=advice) from None


def _bindings(path: Path | None) -> tuple[Binding, ...] | None:
    from fleetc.disk import files
    from fleetc.stream_api.observed import read_bindings

    if path is None:
        return None
    text = files.read_answer(path, _LIMIT)
    try:
        return read_bindings(text)
    except ValueError:  # no JSON, or of another form
        advice = 'write [{"profile": "720p", "kind": "env", "reference": "NAME", "id": "..."}]'
        raise files.FilesError(
            "bindings-invalid", "this is not a list of bindings", path=files.answer_name(path), advice=advice
        ) from None
