"""Commands about a spec and its language: check, explain, upgrade, schema.

In: arguments. Out: text, repaired specs, exit codes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.commands.shared import (
    HERE,
    PROBLEMS,
    USAGE,
    FormatOption,
    OverlayOption,
    SpecArgument,
    coloured,
    files_failure,
    load_settings,
    message,
    plain,
    quietly,
    read_sources,
    report,
)
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    from fleetc.pipeline import Checked
    from fleetc.settings import Settings
    from fleetc.toml.document import Source
    from fleetc.upstream import Release


class SchemaOf(StrEnum):
    """What a schema describes."""

    spec = "spec"
    stream = "stream"
    stream_error = "stream-error"
    review = "review"


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
    from fleetc.pipeline import check_spec

    if explain_prices and form is not Format.text:
        message("error: --explain-prices prints tables for people; leave out --format")
        raise typer.Exit(USAGE)
    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, form)
    if fix:
        checked, sources, more = _repaired(sources, settings, form)
    else:
        checked, more = quietly(check_spec, sources), {}
    report(checked, sources, settings, form, always=True, more=more)
    if explain_prices:
        _explain_prices(checked)
    if checked.fleet is None:
        raise typer.Exit(PROBLEMS)


def _explain_prices(checked: Checked) -> None:
    """Print the market, also of a fleet in which a rule found errors: its prices may be the reason to look."""
    from fleetc.language.spec import read_fleet
    from fleetc.lower.market import lower_market
    from fleetc.messages.market import as_text

    fleet = checked.fleet or (read_fleet(checked.document)[0] if checked.document else None)
    if fleet is not None:
        typer.echo(as_text(lower_market(fleet)), nl=False)


def _repaired(
    sources: list[Source], settings: Settings, form: Format
) -> tuple[Checked, list[Source], dict[str, list[dict[str, str | int]]]]:
    """Repair the spec and write its files. Returns what is left to report, and what JSON tells of the repairs."""
    from fleetc import fixes
    from fleetc.disk import files

    found = quietly(fixes.repair, sources)
    try:
        files.write_sources(sources, found.sources, settings.max_spec_mib * 1024 * 1024)
    except files.FilesError as failure:
        files_failure(failure, form)
    if form is not Format.json:
        for code, change in found.repairs:
            message(f"repaired[{code}] {change.file}:{change.line}:{change.column}: {change}")
        if found.repairs:
            message("")
    told = [
        {"code": code, "file": change.file, "line": change.line, "column": change.column, "change": str(change)}
        for code, change in found.repairs
    ]
    return found.checked, list(found.sources), {"repaired": told}


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
    from fleetc.messages import reference
    from fleetc.messages.explain import pages
    from fleetc.text.suggestions import did_you_mean

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
        message(f'there is no code or field "{plain(code)}"; {advice}')
        raise typer.Exit(USAGE)
    typer.echo(f"{code}\n\n{known[code].rstrip()}")


def upgrade(
    to: Annotated[str, typer.Option("--to", help="Release of the node to compare with, such as v0.9.1.")],
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    form: Annotated[ReportFormat, typer.Option("--format", help="Form of the report.")] = ReportFormat.text,
) -> None:
    """Tell what another release of the node would mean; exit 1 when the spec must change for it."""
    from fleetc.language.fields import read_release
    from fleetc.pipeline import check_spec
    from fleetc.review.reports.upgrade import as_json, as_text
    from fleetc.review.upgrade import compare
    from fleetc.upstream import RELEASES, format_release

    target = read_release(to)
    if target is None:
        known = {format_release(release): release for release in RELEASES}
        message(f'there is no release "{plain(to)}" here; {_known_releases(to, known)}')
        raise typer.Exit(USAGE)
    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, Format(form))
    checked = quietly(check_spec, sources)
    if checked.fleet is None:
        report(checked, sources, settings, Format(form), always=True)
        raise typer.Exit(PROBLEMS)
    found = quietly(compare, checked, sources, target)
    typer.echo(
        as_json(found) if form is ReportFormat.json else as_text(found, coloured(settings, sys.stdout)), nl=False
    )
    if found.must_change:
        raise typer.Exit(PROBLEMS)


def _known_releases(asked: str, known: Mapping[str, Release]) -> str:
    """What to write for a release that is not known: another spelling, or which ones are known."""
    from fleetc.text.suggestions import did_you_mean
    from fleetc.upstream import parse_release

    oldest, newest = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
    between = f"{oldest} to {newest} are known"
    try:
        release = parse_release(asked if asked.startswith("v") else f"v{asked}")
    except ValueError:
        return did_you_mean(asked, known, between)
    if release in known.values():
        return f'write "v{asked.removeprefix("v")}"'
    if release < known[oldest]:
        return f"it is older than all that this fleetc knows: {between}"
    if release > known[newest]:
        return f"it is newer than all that this fleetc knows: {between}; upgrade fleetc"
    return did_you_mean(asked, known, between)


def schema(
    of: Annotated[
        SchemaOf, typer.Option("--of", help="A spec, a stream or an error as the stream API answers it, or a review.")
    ] = SchemaOf.spec,
) -> None:
    """Print a JSON Schema; editors use that of a spec for completion."""
    if of is SchemaOf.stream:
        from fleetc.stream_api.resource import json_schema as found
    elif of is SchemaOf.stream_error:
        from fleetc.stream_api.resource import error_schema as found
    elif of is SchemaOf.review:
        from fleetc.review.reports.json import schema as found
    else:
        from fleetc.language.spec import json_schema as found

    typer.echo(json.dumps(found(), indent=2))
