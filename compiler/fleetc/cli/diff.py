"""The command `fleetc diff`: find what to compare a spec with, compare, report, check the limits.

With `--release`, the spec is compared with itself for another release of the node.

In: arguments, through typer. Out: the report on stdout or in a file, broken limits on stderr, exit codes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.comparing import FINDINGS, options, run
from fleetc.cli.shared.options import HERE, OverlayOption, SpecArgument, TodayOption
from fleetc.cli.shared.output import PROBLEMS, Failures, coloured, files_failure, message, plain, report, wrong_usage
from fleetc.cli.shared.paging import put, tell
from fleetc.cli.shared.working import (
    compile_or_exit,
    load_settings,
    quietly,
    read_inputs,
    read_limits,
    read_policies,
)
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.cli.shared.working import Inputs
    from fleetc.pipeline import Compiled
    from fleetc.places.diagnostic import Diagnostic
    from fleetc.settings import Settings

ReportForm = StrEnum("ReportForm", ["text", "markdown", "html", "json", "sarif", "github", "junit"])


def diff(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="WHAT", help="A tree, a spec, or a git revision.")
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            metavar="RELEASE",
            help="Compare the spec with itself for this release of the node, such as v0.9.1.",
            autocompletion=completing.releases,
        ),
    ] = None,
    max_impact: Annotated[
        str, typer.Option("--max-impact", metavar="LIMITS", help="Such as price=5%,exposure=none,restart=3.")
    ] = "",
    limits: Annotated[
        Path | None,
        typer.Option("--limits", metavar="FILE", help="Take the limits from this file, which also names their owners."),
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 1 if anything would change.")] = False,
    today: TodayOption = None,
    form: Annotated[ReportForm, typer.Option("--format", help="Form of the report.")] = ReportForm.text,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write the report to.")
    ] = None,
) -> None:
    """Review what would change, which line causes it, what it means.

    With --release, exits 1 if the spec must change for that release.
    """
    from fleetc.cli.shared.baseline import kind_of
    from fleetc.disk import files

    settings = load_settings(spec, overlay=overlay)
    if release is not None and against is not None:
        wrong_usage("--release compares the spec with itself, so it takes no --against")
    if limits is not None and max_impact:
        wrong_usage("--max-impact and --limits both set limits; use one of them")
    request = options(against, max_impact, form, output)
    message_form = Format(form) if form in FINDINGS else Format.text
    policies = read_policies(spec, today, message_form, ("check", "change"))
    compares_specs = against is not None and kind_of(Path(against)) != "tree"
    inputs, old = read_inputs(spec, settings, message_form), None
    if release is not None:
        now, then = _releases(inputs, release)
        old, _ = compile_or_exit(spec, settings, message_form, policies, today, now, later=True, keep=True)
        inputs = then
    compiled, _ = compile_or_exit(
        spec, settings, message_form, policies, today, inputs, later=True, like=old, keep=compares_specs
    )
    standing: tuple[Diagnostic, ...] = ()
    try:
        if limits is not None:
            request = request._replace(limits=read_limits(limits).limits)
        compared = quietly(run, request, spec, compiled, settings, today, old)
        standing = compared.standing
    except files.FilesError as failure:
        _tell_warnings(compiled, standing, settings, message_form)
        files_failure(failure, message_form)
    _tell_warnings(compiled, standing, settings, message_form)
    with Failures(message_form):
        text = compared.text(output is None and coloured(settings, sys.stdout))
        show = tell if form is ReportForm.text else put
        show(text)
    for line in compared.broken:
        message(line)
    if compared.broken or (exit_code and compared.differs):
        raise typer.Exit(PROBLEMS)


def _releases(inputs: Inputs, written: str) -> tuple[Inputs, Inputs]:
    """The inputs with an overlay that sets the release of the spec, and with one that sets another.

    Exits if there is no such release.
    """
    from fleetc.language.fields import read_release
    from fleetc.pipeline import check_spec
    from fleetc.text.suggestions import did_you_mean
    from fleetc.toml.document import Source
    from fleetc.upstream import RELEASES, format_release

    name = written if written.startswith("v") else f"v{written}"
    if read_release(name) is None:
        known = [format_release(release) for release in sorted(RELEASES)]
        advice = did_you_mean(name, known, f"it knows {known[0]} to {known[-1]}")
        wrong_usage(f'fleetc knows no release "{plain(written)}"; {advice}')
    fleet = quietly(check_spec, inputs.sources).fleet
    if fleet is None:
        return inputs, inputs  # compiling it says why
    texts = (f'[fleet]\nnode_release = "{text}"\n' for text in (format_release(fleet.fleet.node_release), name))
    now, then = (inputs._replace(sources=[*inputs.sources, Source("--release", text)]) for text in texts)
    return now, then


def _tell_warnings(compiled: Compiled, standing: tuple[Diagnostic, ...], settings: Settings, form: Format) -> None:
    """Print the warnings that are new, and how many the other side has too: those are no part of the change."""
    if form is not Format.text:
        return
    checked = compiled.checked
    fresh = tuple(diagnostic for diagnostic in checked.diagnostics if diagnostic not in standing)
    report(replace(checked, diagnostics=fresh), list(checked.sources), settings, form, always=False)
    if standing:
        count = "1 warning is" if len(standing) == 1 else f"{len(standing)} warnings are"
        message(f"note: {count} as before this change; fleetc check shows all warnings")
