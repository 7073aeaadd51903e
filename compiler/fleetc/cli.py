"""The command line: its commands, and what it says of itself.

In: arguments of the process, through typer. Out: text on stdout (answers) and stderr (messages), exit codes 0 fine,
1 problems found, 2 wrong usage, 3 the tool itself failed. The commands themselves are in `commands/`.
"""

from __future__ import annotations

from typing import Annotated

import typer

from fleetc.commands import diffs, init, merge, plans, rollouts, show, specs, streams, trees

app = typer.Typer(
    name="fleetc",
    help="Compiles one TOML spec of a video and AI node fleet into everything its hosts need.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from fleetc.version import __version__

        typer.echo(f"fleetc {__version__}")
        raise typer.Exit


app.command()(init.init)
app.command()(specs.check)
app.command("compile")(trees.compile_)
app.command()(diffs.diff)
app.command(context_settings={"ignore_unknown_options": True})(trees.why)
app.command()(trees.affects)
app.command()(show.show)
app.command()(specs.explain)
app.command()(specs.upgrade)
app.command()(specs.schema)
app.command()(streams.streams)
app.command()(plans.plan)
app.command()(rollouts.deploy)
app.command("merge-file")(merge.merge_file)
