"""How the command line shows its help, and how it takes arguments that look like options.

In: arguments of the process. Out: classes for `app.py`. Every command takes -h as well as --help. Contexts have no type
here, because typer has its own click in some releases and the package of that name in others.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

HELP = {"help_option_names": ["-h", "--help"]}


class Commands(TyperGroup):
    """The commands; a summary that does not fit in its line goes on in the next."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the name and the whole summary of each command."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, " ".join((command.help or "").partition("\n\n")[0].split())))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class TakesFlags(TyperCommand):
    """A command whose arguments may be flags of the node: there, -httpAddr is not -h with something behind it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings = {"ignore_unknown_options": True, "help_option_names": ["--help"]}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read -h as --help where it stands alone, and not behind --."""
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, ["--help" if arg == "-h" else arg for arg in args[:end]] + args[end:])
