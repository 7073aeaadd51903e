"""The command `fleetc show`: one spec with its overlays applied and, on request, with its defaults.

In: arguments, through typer. Out: TOML on stdout, which is a spec itself; messages on stderr; exit code 1 when the spec
has errors.
"""

from __future__ import annotations

from typing import Annotated

import typer

from fleetc.cli.options import HERE, PROBLEMS, OverlayOption, SpecArgument
from fleetc.cli.output import report
from fleetc.cli.paging import put
from fleetc.cli.working import load_settings, quietly, read_sources
from fleetc.messages.forms import Format


def show(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    with_defaults: Annotated[bool, typer.Option("--resolved", help="Also write the defaults in force.")] = False,
) -> None:
    """Print a spec and its overlays as one spec.

    Order and spelling are canonical. Secrets stay references.
    """
    from fleetc.language.resolved import as_toml
    from fleetc.pipeline import check_spec

    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, Format.text)
    checked = quietly(check_spec, sources)
    report(checked, sources, settings, Format.text, always=False)
    if checked.fleet is None or checked.document is None:
        raise typer.Exit(PROBLEMS)
    put(as_toml(checked.document.raw, checked.fleet, with_defaults))
