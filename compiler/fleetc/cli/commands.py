"""How the command line shows its help, and how it takes arguments that look like options.

In: arguments of the process. Out: classes for `app.py`. Every command takes -h as well as --help. Contexts have no type
here, because typer has its own click in some releases and the package of that name in others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

HELP = {"help_option_names": ["-h", "--help"]}


class TakesFlags(TyperCommand):
    """A command whose arguments may be flags of the node: there, -httpAddr is not -h with something behind it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings = {"ignore_unknown_options": True, "help_option_names": ["--help"]}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read -h as --help where it stands alone, and not behind --."""
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, ["--help" if arg == "-h" else arg for arg in args[:end]] + args[end:])


class Listed(NamedTuple):
    """A command: its name, the first paragraph of its help, and the function in its file if that has another name."""

    name: str
    summary: str
    function: str = ""
    takes_flags: bool = False

    def load(self) -> Any:
        """The command itself, from its file."""
        own = typer.Typer(add_completion=False, rich_markup_mode=None)
        file = self.name.replace("-", "_")
        function = getattr(import_module(f"fleetc.cli.{file}"), self.function or file)
        own.command(self.name, cls=TakesFlags if self.takes_flags else None)(function)
        return typer.main.get_command(own)


COMMANDS = (
    Listed("init", "Write a first spec, and with --ci the workflows for it."),
    Listed(
        "adopt",
        "Write a spec of nodes that already run, from the commands, units or Compose files that start them.",
    ),
    Listed("check", "Check a spec: every problem, its line, and what to write."),
    Listed("fmt", "Format a spec: order, spacing, quotes of keys. Comments stay, and what it means stays."),
    Listed("migrate", "Bring a spec to the newest version of the language."),
    Listed("compile", "Compile a spec into the tree of files that its hosts need.", function="compile_"),
    Listed("watch", "Check a spec at every save; if it is sound, compile it and show what that changes and means."),
    Listed("diff", "Review what would change, which line causes it, what it means."),
    Listed("why", "Explain why a line of the tree is what it is.", takes_flags=True),
    Listed("affects", "List the lines of the tree that depend on a value of the spec."),
    Listed("show", "Print a spec, its overlays, and all that its classes and counters stand for, as one spec."),
    Listed("explain", "Explain a table, a field, a diagnostic code or a flag.", takes_flags=True),
    Listed(
        "policy",
        "Your own rules, in policy/ beside the spec: try them on their examples, or copy ready ones.",
    ),
    Listed("diagnose", "Say what the logs of nodes mean, how often and when, and what to change in the spec."),
    Listed("upgrade", "Show what another node release would mean."),
    Listed("schema", "Print a JSON Schema, for example for completion in editors."),
    Listed(
        "streams",
        "Compare the streams of the spec with those of the stream API, and with --apply make them as declared.",
    ),
    Listed("comment", "Write a review into one comment of a pull request, which every later run updates."),
    Listed("plan", "Plan a rollout in advance and seal it, or verify a plan."),
    Listed("todo", "List what people provide before the first rollout, each with a command."),
    Listed(
        "preflight",
        "Ask hosts for all that would keep their release from running there, and change nothing.",
    ),
    Listed("deploy", "Roll out the compiled tree to its hosts, batch by batch."),
    Listed("rollback", "Take hosts back to releases that they keep, through the same batches as a rollout."),
    Listed("verify", "Compare what runs with what was reviewed, and change nothing."),
    Listed("lsp", "Answer an editor: diagnostics, fixes, hover, completion, rename and more, as you type."),
    Listed("merge-file", "Resolve a file of a compiled tree in a merge, for git."),
)
"""All commands, in the order of the help. Only the one that runs is imported, so its summary is here too."""


class Commands(TyperGroup):
    """The commands; a summary that does not fit in its line goes on in the next."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return [listed.name for listed in COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One of them; None for an unknown name."""
        return next((listed.load() for listed in COMMANDS if listed.name == cmd_name), None)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the name and the whole summary of each command."""
        with formatter.section("Commands"):
            formatter.write_dl([(listed.name, listed.summary) for listed in COMMANDS])
