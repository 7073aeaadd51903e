"""`fleetc check`: checks a spec, and makes fixes that are certain.

In: a spec. Out: its diagnostics in the requested form, and with `--fix` the fixed files.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.options import HERE, FormatOption, OverlayOption, SpecArgument, TodayOption
from fleetc.cli.shared.output import PROBLEMS, files_failure, message, report, wrong_usage
from fleetc.cli.shared.paging import put
from fleetc.cli.shared.working import STDIN, day_used, load_settings, quietly, read_policies, read_sources, tell_day
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.pipeline import Checked
    from fleetc.policy.judging import Policies
    from fleetc.settings import Settings
    from fleetc.toml.document import Source


def check(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Make fixes that are certain in the spec and its overlays, then check.")
    ] = False,
    explain_prices: Annotated[
        bool, typer.Option("--explain-prices", help="Also print who buys what from whom, and what gateways pay from.")
    ] = False,
    today: TodayOption = None,
    form: FormatOption = Format.text,
) -> None:
    """Check a spec: every problem, its line, and what to write.

    Exits 1 if there is an error. --fix makes the fixes that are certain. SPEC may be - for standard input.
    """
    from fleetc.pipeline import check_spec

    if explain_prices and form is not Format.text:
        wrong_usage("--explain-prices prints tables for people; remove --format")
    if fix and spec == STDIN:
        wrong_usage("--fix writes files, and - is none; name the spec")
    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, form, stdin=True)
    policies = read_policies(spec, today, form)
    if fix:
        checked, sources, more = _repaired(sources, settings, form, policies, today)
    else:
        checked, more = quietly(check_spec, sources, policies, today), {}
    report(checked, sources, settings, form, always=True, more=more | day_used(checked, today))
    tell_day(checked, today)
    if explain_prices:
        _explain_prices(checked)
    if checked.fleet is None:
        raise typer.Exit(PROBLEMS)


def _explain_prices(checked: Checked) -> None:
    """Print the market, even if a rule found errors: the prices may be the reason to look."""
    from fleetc.lower.market import lower_market
    from fleetc.messages.market import as_text

    fleet = checked.typed
    if fleet is not None:
        put(as_text(lower_market(fleet)))


def _repaired(
    sources: list[Source], settings: Settings, form: Format, policies: Policies | None, today: date | None
) -> tuple[Checked, list[Source], dict[str, list[dict[str, str | int]]]]:
    """Fix the spec and write its files. Returns the remaining report, and the fixes for JSON."""
    from fleetc import fixes
    from fleetc.disk import files

    repaired = quietly(fixes.repair, sources, policies, today)
    try:
        files.write_sources(sources, repaired.sources, settings.max_spec_mib * 1024 * 1024)
    except files.FilesError as failure:
        files_failure(failure, form)
    if form is not Format.json:
        for code, change in repaired.repairs:
            message(f"repaired[{code}] {change.file}:{change.line}:{change.column}: {change}")
        if repaired.repairs:
            message("")
    changes = [
        {"code": code, "file": change.file, "line": change.line, "column": change.column, "change": str(change)}
        for code, change in repaired.repairs
    ]
    return repaired.checked, list(repaired.sources), {"repaired": changes}
