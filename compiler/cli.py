"""The commands: they read files, call the pipeline, print, and choose the exit code.

In: arguments of the process, through typer. Out: text on stdout (answers) and stderr (messages), exit codes 0 fine,
1 problems found, 2 wrong usage, 3 the tool itself failed. Nothing is decided here.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

if TYPE_CHECKING:
    from compiler.pipeline import Checked, Compiled
    from compiler.settings import Settings
    from compiler.source import Source

app = typer.Typer(
    name="fleetc",
    help="Compiles one TOML spec of a video and AI node fleet into everything its hosts need.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

PROBLEMS, USAGE, FAILURE = 1, 2, 3


class Format(StrEnum):
    """How diagnostics are printed."""

    text = "text"
    json = "json"


SpecArgument = Annotated[
    Path,
    typer.Argument(help="Spec file, or a directory that holds a fleet.toml.", show_default=False),
]
OverlayOption = Annotated[
    list[Path] | None, typer.Option("--overlay", help="Overlay file laid over the spec; may be given again.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Directory of the tree; by default rendered/ beside the spec."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="Form of the diagnostics.")]
HERE = Path()


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from compiler.version import __version__

        typer.echo(f"fleetc {__version__}")
        raise typer.Exit


@app.command()
def check(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Make the repairs that are certain in the spec and its overlays, then check.")
    ] = False,
    explain_prices: Annotated[
        bool, typer.Option("--explain-prices", help="Also print who buys what from whom, and what gateways pay from.")
    ] = False,
    form: FormatOption = Format.text,
) -> None:
    """Check a spec and print every problem with its place and what to write instead."""
    from compiler.pipeline import check_spec

    if explain_prices and form is Format.json:
        _message("error: --explain-prices prints tables for people; leave out --format json")
        raise typer.Exit(USAGE)
    settings = _settings(overlay=overlay)
    sources = _sources(spec, settings, form)
    if fix:
        checked, sources, more = _repaired(sources, settings, form)
    else:
        checked, more = _quietly(check_spec, sources), {}
    _report(checked, sources, settings, form, always=True, more=more)
    if explain_prices:
        _explain_prices(checked)
    if checked.fleet is None:
        raise typer.Exit(PROBLEMS)


def _explain_prices(checked: Checked) -> None:
    """Print the market, also of a fleet in which a rule found errors: its prices may be the reason to look."""
    from compiler import model
    from compiler.lower.market import lower_market
    from compiler.market_report import as_text

    fleet = checked.fleet or (model.parse(checked.document)[0] if checked.document else None)
    if fleet is not None:
        typer.echo(as_text(lower_market(fleet)), nl=False)


@app.command("compile")
def compile_(
    spec: SpecArgument = HERE,
    output: OutputOption = None,
    overlay: OverlayOption = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit 1 and name the files when the tree is not up to date."),
    ] = False,
    overwrite_edited: Annotated[
        bool, typer.Option("--overwrite-edited", help="Replace files of the tree that were edited by hand.")
    ] = False,
    form: FormatOption = Format.text,
) -> None:
    """Compile a spec into the tree of files that its hosts need."""
    from compiler import files

    settings = _settings(overlay=overlay, output=output)
    compiled, found = _compiled(spec, settings, form)
    assert compiled.tree is not None  # noqa: S101  # _compiled exits otherwise
    target = _target(spec, settings)
    try:
        if check:
            stale = files.stale(compiled.tree, target)
            if form is Format.json:
                _answer(found, stale=list(stale))
            else:
                for name in stale:
                    typer.echo(name)
            if stale:
                _message(f"{len(stale)} files in {target} are not what the spec compiles to; run fleetc compile")
                raise typer.Exit(PROBLEMS)
            _message(f"{target} is up to date")
            return
        report = files.write_tree(compiled.tree, target, overwrite_edited=overwrite_edited)
    except files.FilesError as failure:
        _files_failure(failure, form, found)
    if form is Format.json:
        _answer(found, written=list(report.written), removed=list(report.removed), unchanged=report.unchanged)
    for name in report.foreign:
        _message(f"note: {name} is not of this compiler and was left alone")
    _message(
        f"{target}: {len(report.written)} files written, {len(report.removed)} removed, {report.unchanged} unchanged"
    )


@app.command()
def explain(
    code: Annotated[
        str | None,
        typer.Argument(help="Code of a diagnostic, as printed in brackets, or a field such as gateways.max_price."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print the whole reference, fields and codes, as Markdown.")
    ] = False,
) -> None:
    """Print the page of a diagnostic code or of a field; without either, list all codes."""
    from compiler import reference
    from compiler.explain import pages
    from compiler.model.problems import did_you_mean

    if everything:
        typer.echo(reference.markdown(), nl=False)
        return
    known = pages()
    if code is None:
        for name, page in known.items():
            typer.echo(f"{name}: {page.splitlines()[0]}")
        return
    field = reference.lookup(code) if code not in known else None
    if field is not None:
        typer.echo(field, nl=False)
        return
    if code not in known:
        advice = did_you_mean(code, [*known, *reference.names()], "fleetc explain lists the codes, --all everything")
        _message(f'there is no code or field "{_plain(code)}"; {advice}')
        raise typer.Exit(USAGE)
    typer.echo(f"{code}\n\n{known[code].rstrip()}")


@app.command()
def upgrade(
    to: Annotated[str, typer.Option("--to", help="Release of the node to compare with, such as v0.9.1.")],
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    form: Annotated[Format, typer.Option("--format", help="Form of the report.")] = Format.text,
) -> None:
    """Tell what another release of the node would mean; exit 1 when the spec must change for it."""
    from compiler.model.problems import did_you_mean
    from compiler.pipeline import check_spec
    from compiler.upgrade import compare
    from compiler.upgrade_report import as_json, as_text
    from compiler.upstream import RELEASES, format_release

    known = {format_release(release): release for release in RELEASES}
    if to not in known:
        _message(f'there is no release "{_plain(to)}"; {did_you_mean(to, known, "v0.7.6 and later are known")}')
        raise typer.Exit(USAGE)
    settings = _settings(overlay=overlay)
    sources = _sources(spec, settings, form)
    checked = _quietly(check_spec, sources)
    if checked.fleet is None:
        _report(checked, sources, settings, form, always=True)
        raise typer.Exit(PROBLEMS)
    found = _quietly(compare, checked, sources, known[to])
    typer.echo(as_json(found) if form is Format.json else as_text(found, _coloured(settings, sys.stdout)), nl=False)
    if found.must_change:
        raise typer.Exit(PROBLEMS)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a spec; editors use it for completion."""
    from compiler.model import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))


@app.command()
def deploy(
    spec: SpecArgument = HERE,
    output: OutputOption = None,
    overlay: OverlayOption = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; show what Ansible would do.")] = False,
    limit: Annotated[list[str] | None, typer.Option("--limit", help="Only this host; may be given again.")] = None,
) -> None:
    """Roll the compiled tree out to its hosts. The tree must be up to date with the spec."""
    from compiler import files
    from compiler.ops.deploy import DeployError, deploy_tree
    from compiler.ops.progress import progress

    settings = _settings(overlay=overlay, output=output)
    compiled, _ = _compiled(spec, settings, Format.text)
    assert compiled.tree is not None and compiled.plan is not None  # noqa: S101  # _compiled exits otherwise
    target = _target(spec, settings)
    try:
        stale = files.stale(compiled.tree, target)
        if stale:
            for name in stale[:20]:
                typer.echo(name)
            _message(
                f"{len(stale)} files in {target} are not what the spec compiles to; review and run fleetc compile first"
            )
            raise typer.Exit(PROBLEMS)
        with progress(sys.stderr) as show:
            outcome = deploy_tree(compiled.tree, compiled.plan, settings, tuple(limit or ()), check, show)
    except files.FilesError as failure:
        _files_failure(failure, Format.text)
    except DeployError as failure:
        _message(f"error: {failure}")
        raise typer.Exit(failure.exit_code) from None
    for line in outcome.lines():
        typer.echo(line)
    if not outcome.succeeded:
        raise typer.Exit(PROBLEMS)


def _settings(**options: Any) -> Settings:
    from pydantic import ValidationError

    from compiler import settings

    try:
        return settings.load(**options)
    except ValidationError as failure:
        for fault in failure.errors(include_input=False, include_url=False):
            name = ".".join(map(str, fault["loc"]))
            _message(f"error: setting {_plain(name)}: {_plain(fault['msg'])}")
        raise typer.Exit(USAGE) from None
    except (OSError, ValueError) as failure:
        _message(f"error: the settings file cannot be read: {_plain(str(failure))}")
        raise typer.Exit(USAGE) from None


def _sources(spec: Path, settings: Settings, form: Format) -> list[Source]:
    from compiler import files

    limit = settings.max_spec_mib * 1024 * 1024
    try:
        base = files.find_spec(spec)
        return [files.read_source(path, str(path), limit) for path in (base, *settings.overlay)]
    except files.FilesError as failure:
        _files_failure(failure, form)


def _compiled(spec: Path, settings: Settings, form: Format) -> tuple[Compiled, list[dict[str, Any]]]:
    """Compile, or print the problems and exit. As text the warnings are printed at once, as JSON they are returned."""
    from compiler import files, render
    from compiler.pipeline import compile_spec

    sources = _sources(spec, settings, form)
    try:
        templates, playbooks = files.read_templates(), files.read_playbooks()
    except files.FilesError as failure:
        _files_failure(failure, form)
    compiled: Compiled = _quietly(compile_spec, sources, templates, playbooks)
    if form is Format.text or compiled.tree is None:
        _report(compiled.checked, sources, settings, form, always=form is Format.json)
    if compiled.tree is None:
        raise typer.Exit(PROBLEMS)
    if form is Format.text:
        return compiled, []
    checked = compiled.checked
    return compiled, render.as_data(render.locate(checked.diagnostics, sources, checked.document))


def _answer(found: list[dict[str, Any]], **more: Any) -> None:
    """The one JSON document of a command: its diagnostics, and what it did."""
    typer.echo(json.dumps({"diagnostics": found, **more}, indent=2))


def _quietly(work: Any, *arguments: Any) -> Any:
    """Run the pure core without the cyclic garbage collector, and keep what it made out of later collections.

    It makes no cycles and its result is needed to the end, so that looking through it would only cost time.
    """
    gc.disable()
    try:
        return work(*arguments)
    finally:
        gc.freeze()
        gc.enable()


def _repaired(
    sources: list[Source], settings: Settings, form: Format
) -> tuple[Checked, list[Source], dict[str, list[dict[str, str | int]]]]:
    """Repair the spec and write its files. Returns what is left to report, and what JSON tells of the repairs."""
    from compiler import files, fixes

    found = _quietly(fixes.repair, sources)
    try:
        files.write_sources(sources, found.sources, settings.max_spec_mib * 1024 * 1024)
    except files.FilesError as failure:
        _files_failure(failure, form)
    if form is Format.text:
        for code, change in found.repairs:
            _message(f"repaired[{code}] {change.file}:{change.line}:{change.column}: {change}")
        if found.repairs:
            _message("")
    told = [
        {"code": code, "file": change.file, "line": change.line, "column": change.column, "change": str(change)}
        for code, change in found.repairs
    ]
    return found.checked, list(found.sources), {"repaired": told}


def _report(
    checked: Checked,
    sources: list[Source],
    settings: Settings,
    form: Format,
    always: bool,
    more: dict[str, Any] | None = None,
) -> None:
    from compiler import render

    if not checked.diagnostics and not always:
        return
    located = render.locate(checked.diagnostics, sources, checked.document)
    if form is Format.json:
        typer.echo(render.as_json(located, more), nl=False)
    else:
        sys.stderr.write(render.as_text(located, _coloured(settings, sys.stderr)))


def _coloured(settings: Settings, stream: TextIO) -> bool:
    if settings.color == "auto":
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
    return settings.color == "always"


def _target(spec: Path, settings: Settings) -> Path:
    from compiler import files

    return settings.output or files.find_spec(spec).parent / "rendered"


def _files_failure(failure: Any, form: Format, before: Sequence[dict[str, Any]] = ()) -> NoReturn:
    """Print what is wrong with a file and exit; as JSON behind the diagnostics found `before`."""
    from compiler.encoding import visible

    if form is Format.json:
        found = {"code": failure.code, "severity": "error", "message": failure.message, "help": failure.help}
        _answer([*before, {**found, "primary": {"file": failure.path}, "related": []}])
    else:
        text = f"error[{failure.code}]: {visible(failure.message)}\n --> {visible(failure.path)}\n"
        sys.stderr.write(text + (f" = help: {visible(failure.help)}\n" if failure.help else ""))
    raise typer.Exit(failure.exit_code)


def _plain(text: str) -> str:
    from compiler.encoding import plain_output

    return plain_output(text)


def _message(text: str) -> None:
    sys.stderr.write(_plain(text) + "\n")
