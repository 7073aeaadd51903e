"""The command `fleetc streams`: compares streams with the stream API, and applies the spec.

In: arguments, through typer. Out: text or JSON on stdout; exit code 0 as declared, 1 a difference or refusal, 4
unknown. It asks the API of the spec, if the user allows the token there. Or it compares an answer from a file or
standard input, offline.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, OverlayOption, ReportOption, SpecArgument
from fleetc.cli.shared.output import PROBLEMS, Failures, report, wrong_usage
from fleetc.cli.shared.paging import put, tell
from fleetc.cli.shared.streaming import Talk, talk
from fleetc.cli.shared.working import load_settings, quietly, read_sources
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    from fleetc.blueprint.blueprint import StreamBlueprint
    from fleetc.pipeline import Checked
    from fleetc.settings import Settings
    from fleetc.stream_api.data import Binding
    from fleetc.stream_api.observed import StreamAnswer
    from fleetc.toml.document import Source

_LIMIT = 16 * 1024 * 1024
"""Most bytes of an answer in a file; a stream has a few thousand."""


def streams(
    spec: SpecArgument = HERE,
    apply: Annotated[
        bool, typer.Option("--apply", help="Send the requests that make streams as declared; without it, only ask.")
    ] = False,
    stream: Annotated[
        list[str] | None,
        typer.Option(
            "--stream",
            metavar="NAME",
            help="Only this stream of the spec; repeatable.",
            autocompletion=completing.streams,
        ),
    ] = None,
    send_token_to: Annotated[
        list[str] | None,
        typer.Option(
            "--send-token-to", metavar="URL", help="Let the token go to this API, if the spec names it; repeatable."
        ),
    ] = None,
    observed: Annotated[
        Path | None,
        typer.Option(
            "--observed",
            metavar="FILE",
            help="Work offline: compare the JSON of GET /stream/{id} in this file, or - for standard input.",
        ),
    ] = None,
    status: Annotated[
        int | None,
        typer.Option("--status", metavar="NUMBER", min=100, max=599, help="HTTP status of that answer, if known."),
    ] = None,
    bindings: Annotated[
        Path | None,
        typer.Option("--bindings", metavar="FILE", help="JSON file with the ids of targets, for such an answer."),
    ] = None,
    overlay: OverlayOption = None,
    answer_form: ReportOption = ReportFormat.text,
) -> None:
    """Compare the spec's streams with the stream API; --apply changes the API's.

    Prints what differs, and the requests that fix it. The ids that the service gives are kept in a file beside the
    spec; commit it.
    """
    from fleetc.disk import files
    from fleetc.pipeline import check_spec
    from fleetc.stream_api.drift import compare

    _need_one_way(apply, observed, status, bindings, stream)
    form = Format(answer_form)
    options = {"stream_apis": send_token_to}
    settings = load_settings(spec, overlay=overlay, **options)
    sources = read_sources(spec, settings, form)
    checked = quietly(check_spec, sources)
    if checked.fleet is None:
        report(checked, sources, settings, form, always=True)
        raise typer.Exit(PROBLEMS)
    chosen = _chosen(checked, stream)
    with Failures(form):
        if observed is not None:
            talked = Talk([compare(chosen[0], _answer(observed, status), _bindings(bindings))])
        else:
            talked = talk(files.find_spec(spec), checked.fleet, chosen, settings, apply, form)
    _print(talked, checked, sources, settings, form)


def _need_one_way(
    apply: bool, observed: Path | None, status: int | None, bindings: Path | None, stream: list[str] | None
) -> None:
    """Exit where options do not go together."""
    if observed is None and (status is not None or bindings is not None):
        wrong_usage("--status and --bindings belong to an answer in a file; name the file with --observed")
    if observed is not None and apply:
        wrong_usage("--observed works offline, so it takes no --apply")
    if observed is not None and len(stream or ()) != 1:
        wrong_usage("--observed has the answer about one stream; name it with --stream")


def _chosen(checked: Checked, names: list[str] | None) -> list[StreamBlueprint]:
    """The streams that were named, or all; exits where the spec lacks one."""
    from fleetc.lower.streams import lower_streams
    from fleetc.text.suggestions import did_you_mean

    assert checked.fleet is not None  # noqa: S101  # asked for before
    plans = {plan.name: plan for plan in lower_streams(checked.fleet)}
    for name in names or ():
        if name not in plans:
            advice = did_you_mean(name, plans, "" if plans else "the spec declares none")
            wrong_usage(f'there is no stream "{name}"; {advice}')
    return [plan for name, plan in plans.items() if not names or name in names]


def _print(talked: Talk, checked: Checked, sources: list[Source], settings: Settings, form: Format) -> None:
    """Print the reports and exit. As text, the plan of changes was printed before they were made."""
    from fleetc.messages.json import as_data
    from fleetc.messages.locate import locate
    from fleetc.stream_api.outcome import exit_code
    from fleetc.stream_api.report import all_as_json, all_as_text

    if form is Format.json:
        located = locate(checked.diagnostics, sources, checked.document)
        put(talked.masked(all_as_json(talked.reports, as_data(located), talked.applied, talked.plan)))
    else:
        report(checked, sources, settings, form, always=False)
        tell(talked.masked(all_as_text(talked.reports, talked.applied)))
    if code := exit_code(talked.reports, talked.applied or ()):
        raise typer.Exit(code)


def _answer(path: Path, status: int | None) -> StreamAnswer:
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
