"""The command line: its commands and its help.

In: arguments of the process, through typer. Out: text on stdout (answers) and stderr (messages), exit codes 0 fine,
1 problems found, 2 wrong usage, 3 the tool itself failed. Each command has a file beside this one.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from fleetc.cli.commands import HELP, Commands
from fleetc.cli.shared.paging import VARIABLE

app = typer.Typer(
    name="fleetc",
    cls=Commands,
    context_settings=HELP,
    help="Compile one TOML spec of a video and AI node fleet into everything its hosts need.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and exit.")] = False,
    no_pager: Annotated[
        bool,
        typer.Option("--no-pager", help="Print long answers without a pager, like an empty FLEETC_PAGER or PAGER."),
    ] = False,
) -> None:
    if no_pager:
        os.environ[VARIABLE] = ""
    if version:
        from fleetc.version import __version__

        typer.echo(f"fleetc {__version__}")
        raise typer.Exit
