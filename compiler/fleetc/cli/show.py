"""The command `fleetc show`: one spec with its overlays applied and, on request, with its defaults.

In: arguments, through typer. Out: TOML on stdout, which is a spec itself; messages on stderr; exit code 1 when the spec
has errors.
"""

from __future__ import annotations

import re
from typing import Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, OverlayOption, SpecArgument
from fleetc.cli.shared.output import PROBLEMS, report, wrong_usage
from fleetc.cli.shared.paging import put
from fleetc.cli.shared.working import load_settings, quietly, read_sources
from fleetc.messages.forms import Format


def show(
    spec: SpecArgument = HERE,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE.NAME",
            help="Only this table, such as gateways.gate; without SPEC, it stands alone.",
            show_default=False,
            autocompletion=completing.paths,
        ),
    ] = None,
    overlay: OverlayOption = None,
    with_defaults: Annotated[
        bool,
        typer.Option("--resolved", help="Also write the defaults in force, and behind each setting where it is from."),
    ] = False,
) -> None:
    """Print a spec as one file, with overlays, classes and counters written out.

    Order and spelling are canonical. Secrets stay references.
    """
    import tomli_w

    from fleetc.language.resolved import part_of, resolved
    from fleetc.messages.origins import with_origins
    from fleetc.pipeline import check_spec

    if table is None and not spec.exists() and _is_table(str(spec)):
        spec, table = HERE, str(spec)
    elif not spec.exists() and _may_be_table(str(spec)):
        wrong_usage(f"there is no file {spec}, and a spec has no table {_unknown(str(spec))}")
    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, Format.text)
    checked = quietly(check_spec, sources)
    report(checked, sources, settings, Format.text, always=False)
    if checked.fleet is None or checked.document is None:
        raise typer.Exit(PROBLEMS)
    whole = resolved(checked.document.raw, checked.fleet, with_defaults)
    try:
        text = tomli_w.dumps(part_of(whole, table) if table else whole)
    except LookupError as problem:
        wrong_usage(str(problem.args[0]))
    put(with_origins(text, checked.document, checked.fleet) if with_defaults else text)


def _may_be_table(word: str) -> bool:
    """Whether a word has the form of a table and its name, and not of a path."""
    return re.fullmatch(r"[a-z_]+\.[\w.-]+", word) is not None and not word.endswith(".toml")


def _unknown(word: str) -> str:
    """A table that no spec has, and what was meant."""
    from fleetc.language.fleet import Fleet
    from fleetc.text.suggestions import did_you_mean

    name = word.partition(".")[0]
    return f'"{name}"; {did_you_mean(name, list(Fleet.model_fields))}'


def _is_table(word: str) -> bool:
    """Whether a word that is no file begins like a table of a spec."""
    from fleetc.language.fleet import Fleet

    return word.partition(".")[0] in Fleet.model_fields
