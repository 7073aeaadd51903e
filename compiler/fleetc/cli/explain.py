"""`fleetc explain`: the page of a code or a field.

In: a code, or the path of a field. Out: text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.options import USAGE
from fleetc.cli.output import message, plain

if TYPE_CHECKING:
    pass


def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE",
            help="Diagnostic code, as printed in brackets, or a field such as gateways.max_price.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Print the whole reference, fields and codes, as Markdown.")
    ] = False,
) -> None:
    """Explain a diagnostic code or a field.

    Without an argument, list all codes.
    """
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
        advice = did_you_mean(
            code, [*known, *reference.names()], "fleetc explain lists all codes, --all prints everything"
        )
        message(f'there is no code or field "{plain(code)}"; {advice}')
        raise typer.Exit(USAGE)
    typer.echo(f"{code}\n\n{known[code].rstrip()}")
