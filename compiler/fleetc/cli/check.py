"""`fleetc check`: checks a spec, and makes fixes that are certain.

In: a spec. Out: its diagnostics in the requested form; with `--fix` the fixed files; with `--resolved` the whole spec
with the defaults in force.
"""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, FormatOption, OverlayOption, SpecArgument, TodayOption, upwards
from fleetc.cli.shared.output import PROBLEMS, Failures, message, plain, report, wrong_usage
from fleetc.cli.shared.paging import put, tell
from fleetc.cli.shared.working import STDIN, day_used, load_settings, quietly, read_policies, read_sources, tell_day
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.analysis.seen_market import Recorded
    from fleetc.pipeline import Checked
    from fleetc.policy.judging import Policies
    from fleetc.settings import Settings
    from fleetc.toml.document import Source

_MARKET_BYTES = 64 * 1024 * 1024


def check(
    spec: SpecArgument = HERE,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE.NAME",
            help="With --resolved: only this table, such as gateways.gate; without SPEC, it stands alone.",
            show_default=False,
            autocompletion=completing.paths,
        ),
    ] = None,
    overlay: OverlayOption = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Make fixes that are certain in the spec and its overlays, then check.")
    ] = False,
    explain_prices: Annotated[
        bool,
        typer.Option(
            "--explain-prices",
            help="Also print who buys what from whom, and what gateways pay from; with --market FILE also who "
            "sells at each cap of those in a JSON report of verify. In CI, FILE is outside of the checkout.",
        ),
    ] = False,
    market: Annotated[
        Path | None, typer.Option("--market", metavar="FILE", help="Also print what FILE has.", hidden=True)
    ] = None,
    resolved: Annotated[
        bool,
        typer.Option(
            "--resolved",
            help="Print the spec as one file, with overlays, classes, counters and the defaults in force written out, "
            "and behind each setting where it is from.",
        ),
    ] = False,
    today: TodayOption = None,
    form: FormatOption = Format.text,
) -> None:
    """Check a spec: every problem, its line, and what to write.

    Exits 1 if there is an error. SPEC may be - for standard input.

    What --resolved prints is a spec itself: order and spelling are canonical, secrets stay references.
    """
    from fleetc.pipeline import check_spec

    if resolved and (explain_prices or form is not Format.text):
        wrong_usage("--resolved prints a spec; remove --explain-prices and --format")
    spec, table = _spec_and_table(spec, table)
    if table is not None and not resolved:
        wrong_usage("check looks at the whole spec; a table is for --resolved")
    if explain_prices and form is not Format.text:
        wrong_usage("--explain-prices prints tables for people; remove --format")
    if fix and spec == STDIN:
        wrong_usage("--fix writes files, and - is none; name the spec")
    if market is not None and not explain_prices:
        wrong_usage("--market belongs to --explain-prices")
    seen = _recorded(market) if market is not None else None
    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, form, stdin=True)
    policies = read_policies(spec, today, form)
    if fix:
        checked, sources, more = _repaired(sources, settings, form, policies, today)
    else:
        checked, more = quietly(check_spec, sources, policies, today), {}
    stream = sys.stderr if resolved else sys.stdout
    report(checked, sources, settings, form, not resolved, more | day_used(checked, today), stream)
    tell_day(checked, today)
    if explain_prices:
        _explain_prices(checked, seen)
    if checked.fleet is None:
        raise typer.Exit(PROBLEMS)
    if resolved:
        _put_resolved(checked, table or "")


def _put_resolved(checked: Checked, table: str) -> None:
    """Print a sound spec as one, or a table of it, with the origin of each setting."""
    from fleetc.language.resolved import as_toml
    from fleetc.messages.origins import with_origins

    assert checked.document is not None and checked.fleet is not None  # noqa: S101  # the precondition
    try:
        text = as_toml(checked.document.raw, checked.fleet, table)
    except LookupError as problem:
        wrong_usage(str(problem.args[0]))
    put(with_origins(text, checked.document, checked.fleet))


def _spec_and_table(spec: Path, table: str | None) -> tuple[Path, str | None]:
    """The spec, and the table where it stands alone; exits where a word is neither."""
    from fleetc.language.fleet import Fleet
    from fleetc.text.suggestions import did_you_mean

    word, name = str(spec), str(spec).partition(".")[0]
    may_be_table = re.fullmatch(r"[a-z_]+\.[\w.\"-]{1,200}", word) is not None and not word.endswith(".toml")
    if table is not None or not may_be_table or spec.exists():
        return spec, table
    if name not in Fleet.model_fields:
        advice = did_you_mean(name, list(Fleet.model_fields))
        wrong_usage(f'there is no file {word}, and a spec has no table "{name}"; {advice}')
    return upwards(HERE) or HERE, word


def _recorded(file: Path) -> Recorded:
    """What gateways saw, from a file; exits if it has another form, or if a change may bring it into CI."""
    from fleetc.analysis.seen_market import Recorded
    from fleetc.disk.manifest import read_path
    from fleetc.disk.new_files import repository_top

    if os.environ.get("CI") and file.resolve().is_relative_to(repository_top(Path.cwd()).resolve()):
        wrong_usage("in CI, --market takes no file of the checkout: a change could bring its own market")
    try:
        report = json.loads(read_path(file, _MARKET_BYTES), parse_int=str, parse_float=str)
        return Recorded.model_validate(report["verify"])
    except OSError as problem:
        wrong_usage(f"{plain(str(file))} cannot be read: {problem.strerror}")
    except (ValueError, TypeError, LookupError, RecursionError):
        wrong_usage(f"{plain(str(file))} is no report with a market; fleetc verify --format json -o FILE writes one")


def _explain_prices(checked: Checked, seen: Recorded | None) -> None:
    """Print the market, even if a rule found errors: the prices may be the reason to look."""
    from fleetc.lower.market import lower_market
    from fleetc.lower.market_words import recorded_text
    from fleetc.messages.market import as_text

    fleet = checked.typed
    if fleet is not None:
        tell(as_text(lower_market(fleet)))
        if seen is not None:
            tell(recorded_text(fleet, seen))


def _repaired(
    sources: list[Source], settings: Settings, form: Format, policies: Policies | None, today: date | None
) -> tuple[Checked, list[Source], dict[str, list[dict[str, str | int]]]]:
    """Fix the spec and write its files. Returns the remaining report, and the fixes for JSON."""
    from fleetc import fixes
    from fleetc.disk import files

    repaired = quietly(fixes.repair, sources, policies, today)
    with Failures(form):
        files.write_sources(sources, repaired.sources, settings.max_spec_bytes)
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
