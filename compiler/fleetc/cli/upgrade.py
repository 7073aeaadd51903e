"""`fleetc upgrade`: what another node release means for a spec.

In: a spec and a release. Out: what changes, as text or JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, OverlayOption, SpecArgument
from fleetc.cli.shared.output import PROBLEMS, coloured, plain, report, wrong_usage
from fleetc.cli.shared.paging import put
from fleetc.cli.shared.working import load_settings, quietly, read_sources
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    from fleetc.upstream import Release


def upgrade(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="RELEASE",
            help="Node release to compare with, such as v0.9.1.",
            autocompletion=completing.releases,
        ),
    ],
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    form: Annotated[ReportFormat, typer.Option("--format", help="Form of the report.")] = ReportFormat.text,
) -> None:
    """Show what another node release would mean.

    Exits 1 if the spec must change for it.
    """
    from fleetc.language.fields import read_release
    from fleetc.pipeline import check_spec
    from fleetc.review.reports.upgrade import as_json, as_text
    from fleetc.review.upgrade import compare
    from fleetc.upstream import RELEASES, format_release

    target = read_release(to)
    if target is None:
        known = {format_release(release): release for release in RELEASES}
        wrong_usage(f'fleetc knows no release "{plain(to)}"; {_known_releases(to, known)}')
    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, Format(form))
    checked = quietly(check_spec, sources)
    if checked.fleet is None:
        report(checked, sources, settings, Format(form), always=True)
        raise typer.Exit(PROBLEMS)
    meaning = quietly(compare, checked, sources, target)
    put(as_json(meaning) if form is ReportFormat.json else as_text(meaning, coloured(settings, sys.stdout)))
    if meaning.must_change:
        raise typer.Exit(PROBLEMS)


def _known_releases(written: str, known: Mapping[str, Release]) -> str:
    """What to write for an unknown release: another spelling, or the known ones."""
    from fleetc.text.suggestions import did_you_mean
    from fleetc.upstream import parse_release

    oldest, newest = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
    between = f"{oldest} to {newest}"
    try:
        release = parse_release(written if written.startswith("v") else f"v{written}")
    except ValueError:
        return did_you_mean(written, known, f"it knows {between}")
    if release in known.values():
        return f'write "v{written.removeprefix("v")}"'
    if release < known[oldest]:
        return f"it is older than the releases that this fleetc knows: {between}"
    if release > known[newest]:
        return f"it is newer than the releases that this fleetc knows: {between}; upgrade fleetc"
    return did_you_mean(written, known, f"it knows {between}")
