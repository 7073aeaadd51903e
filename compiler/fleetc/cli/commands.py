"""How the command line shows its help, and how it takes arguments that look like options.

In: arguments of the process. Out: classes for `app.py`. Every command takes -h as well as --help. Contexts have no type
here, because typer has its own click in some releases and the package of that name in others.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

HELP = {"help_option_names": ["-h", "--help"]}


EXPECTED = {
    "--dry-run": "--check", "-n": "--check", "--json": "--format json",
    "-q": "2>/dev/null behind it to see only its answer", "--quiet": "2>/dev/null behind it to see only its answer",
}  # fmt: skip
"""Options of other tools, and what fleetc has instead."""


class OneCommand(TyperCommand):
    """A command whose help ends with examples, with its own messages for wrong arguments."""

    examples: tuple[tuple[str, str], ...] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        if not ctx.ignore_unknown_options:
            _refuse_flags_of_nodes(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as problem:
            text = getattr(problem, "message", None)
            if isinstance(text, str):
                known = {name for parameter in self.params for name in parameter.opts}
                meant = EXPECTED.get(getattr(problem, "option_name", ""), "")
                advice = (
                    f"; write {meant}" if meant and (meant.split()[0] in known or not meant.startswith("-")) else ""
                )
                problem.message = text.removeprefix("Value error, ") + advice  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command; the problems that it leaves to this place end it as text."""
        from fleetc.cli.shared.output import Failures

        with Failures():
            return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line; braces are around alternatives alone, as people know it."""
        pieces = super().collect_usage_pieces(ctx)
        return [piece if "|" in piece else piece.replace("{", "").replace("}", "") for piece in pieces]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for example, what in self.examples:
                    formatter.write(f"  {example}\n      {what}\n")


class TakesFlags(OneCommand):
    """A command whose arguments may be flags of the node: -httpAddr is not -h with a value."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings = {"ignore_unknown_options": True, "help_option_names": ["--help"]}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read -h as --help where it stands alone, and not behind --."""
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, ["--help" if arg == "-h" else arg for arg in args[:end]] + args[end:])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What a shell offers: options, and flags of the node."""
        arguments = [parameter for parameter in self.params if parameter.param_type_name == "argument"]
        flags = [item for argument in arguments for item in argument.shell_complete(ctx, incomplete)]
        return [*super().shell_complete(ctx, incomplete), *flags]


class Listed(NamedTuple):
    """A command: its name, the first paragraph of its help, examples of it and what they do, and how it is loaded.

    `function` is the one in its file if that has another name.
    """

    name: str
    summary: str
    examples: tuple[tuple[str, str], ...] = ()
    function: str = ""
    takes_flags: bool = False

    def load(self) -> Any:
        """The command itself, from its file."""
        own = typer.Typer(add_completion=False, rich_markup_mode=None)
        file = self.name.replace("-", "_")
        function = getattr(import_module(f"fleetc.cli.{file}"), self.function or file)
        kind = TakesFlags if self.takes_flags else OneCommand
        own.command(self.name, cls=kind, short_help=self.summary)(function)
        command = typer.main.get_command(own)
        command.examples = self.examples  # type: ignore[attr-defined]
        return command


GROUPS = {
    "Begin": (
        Listed(
            "init",
            "Write a first spec, and with --ci the workflows for it.",
            (
                ("fleetc init", "asks four questions"),
                ("fleetc init fleet --run orchestrator --where systemd --host gpu-1=203.0.113.20", "asks nothing"),
                ("fleetc init fleet --example two-regions", "copies a whole fleet"),
                ("fleetc init --ci github", "writes workflows beside the spec that is there"),
            ),
        ),
        Listed(
            "adopt",
            "Write a spec of nodes that already run, from the commands, units or Compose files that start them.",
            (
                ("fleetc adopt start.sh compose.yaml -o fleet.toml", "reads files; what they leave open is a TODO"),
                ("fleetc adopt start.sh -o fleet.toml --set fleet.node_release=v0.9.1", "gives a missing value"),
                ("fleetc adopt --from gpu-1=root@203.0.113.20 -o fleet.toml", "asks a host, and changes nothing there"),
            ),
        ),
    ),
    "Write a spec": (
        Listed(
            "check",
            "Check a spec: every problem, its line, and what to write.",
            (
                ("fleetc check", "the spec here, or above"),
                ("fleetc check --fix", "first makes the fixes that are certain"),
                ("fleetc check --explain-prices", "also lists buyers, sellers and prices"),
                ("fleetc check --resolved gateways.gate", "a table with the defaults in force, and where each is from"),
            ),
        ),
        Listed(
            "fmt",
            "Format a spec: order, spacing, quotes of keys. Comments stay, and what it means stays.",
            (("fleetc fmt", "formats it"), ("fleetc fmt --check", "changes nothing, for CI")),
        ),
        Listed(
            "compile",
            "Compile a spec into the tree of files that its hosts need.",
            (
                ("fleetc compile", "writes rendered/ beside the spec"),
                ("fleetc compile --check", "writes nothing, and fails if the tree is out of date, for CI"),
                ("fleetc compile --watch", "compiles at every save, and shows what that changes and means"),
            ),
            function="compile_",
        ),
    ),
    "Understand it": (
        Listed(
            "explain",
            "Explain a table, a field, a diagnostic code or a flag.",
            (
                ("fleetc explain", "the tables of a spec"),
                ("fleetc explain gateways.max_price", "a field"),
                ("fleetc explain -maxPricePerUnit", "the field that sets a flag of the node"),
                ("fleetc explain --search deposit", "what has a word"),
                ("fleetc explain --schema spec > spec.schema.json", "the JSON Schema of a spec, for editors"),
            ),
            takes_flags=True,
        ),
        Listed(
            "why",
            "Explain where a line of the tree comes from, or what comes of a place in the spec.",
            (
                ("fleetc why gate maxPricePerUnit", "a flag of a node"),
                ("fleetc why rendered/hosts/edge-1/gate/launch.flags:7", "a line of a file"),
                ("fleetc why gateways.gate.max_price", "a value of the spec, by its key path"),
                ("fleetc why fleet.toml:34", "a value or a table of the spec, by its line"),
            ),
            takes_flags=True,
        ),
    ),
    "Review a change": (
        Listed(
            "diff",
            "Review what would change, which line causes it, what it means.",
            (
                ("fleetc diff", "against the compiled tree"),
                ("fleetc diff --against main", "against a branch"),
                ("fleetc diff --release v0.9.1", "what another release of the node would mean"),
                ("fleetc diff --format html -o review.html", "as a page for a browser"),
                ("fleetc diff --max-impact price=5%,exposure=none", "fails where it goes further"),
            ),
        ),
        Listed(
            "policy",
            "Your own rules, in policy/ beside the spec: try them on their examples, or copy ready ones.",
            (("fleetc policy list", "the ready rules"), ("fleetc policy add no-any-cap", "copies one")),
        ),
    ),
    "Roll out": (
        Listed("todo", "List what people provide before the first rollout, each with a command."),
        Listed(
            "plan",
            "Plan a rollout in advance and seal it, or verify a plan.",
            (
                ("fleetc plan -o plan.json", "makes one"),
                ("fleetc deploy --plan plan.json", "carries out exactly that, or nothing"),
            ),
        ),
        Listed(
            "deploy",
            "Roll out the compiled tree to its hosts, batch by batch.",
            (
                ("fleetc deploy --check", "changes nothing; asks hosts what would keep the release from running"),
                ("fleetc deploy --limit edge-1", "one host"),
                ("fleetc deploy", "all hosts"),
            ),
        ),
        Listed(
            "rollback",
            "Take hosts back to releases that they keep, through the same batches as a rollout.",
            (("fleetc rollback --check", "changes nothing"), ("fleetc rollback", "undoes the last rollout")),
        ),
        Listed(
            "restart",
            "Restart nodes, batch by batch as in a rollout. They keep their releases, and other nodes run on.",
            (("fleetc restart orch-1", "one node"), ('fleetc restart "orch-*" --check', "what would restart")),
        ),
    ),
    "Watch what runs": (
        Listed(
            "verify",
            "Compare what runs with what was reviewed, and change nothing.",
            (
                ("fleetc verify", "all hosts, nodes and public addresses"),
                ("fleetc verify --format html -o report.html", "as a page for a browser"),
            ),
        ),
        Listed(
            "diagnose",
            "Explain node logs: what happened, how often and when, and what to change in the spec.",
            (
                ("fleetc diagnose node.log", "a file"),
                ("fleetc diagnose edge-1/gate --since 2h", "the log that a host has of a node"),
            ),
        ),
        Listed(
            "streams",
            "Compare the spec's streams with the stream API; --apply changes the API's.",
            (("fleetc streams", "only asks"), ("fleetc streams --apply", "sends what is missing")),
        ),
    ),
    "For programs": (
        Listed("lsp", "Answer an editor: diagnostics, fixes, hover, completion, rename and more, as you type."),
        Listed("comment", "Write a review into one comment of a pull request, which every later run updates."),
        Listed("merge-file", "Resolve a file of a compiled tree in a merge, for git."),
    ),
}
"""All commands, as the help has them. Only the command that runs is imported, so summaries are here."""

COMMANDS = tuple(listed for group in GROUPS.values() for listed in group)

ELSEWHERE = {
    "apply": "deploy", "build": "compile", "drift": "verify", "format": "fmt", "generate": "compile", "import": "adopt",
    "lint": "check", "logs": "diagnose", "new": "init", "render": "compile", "review": "diff", "revert": "rollback",
    "schema": "explain --schema spec", "status": "verify", "template": "compile", "undo": "rollback", "up": "deploy",
    "validate": "check",
}  # fmt: skip
"""What other tools call a command."""


class Commands(TyperGroup):
    """The commands; long summaries wrap."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return [listed.name for listed in COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One of them; None for an unknown name."""
        return next((listed.load() for listed in COMMANDS if listed.name == cmd_name), None)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments. A shell that asks for the first word has none, and then typer need not read its own."""
        return [] if ctx.resilient_parsing and not args else super().parse_args(ctx, args)

    def _main_shell_completion(self, *args: Any, **kwargs: Any) -> None:
        if "_FLEETC_COMPLETE" in os.environ or any(word.endswith("-completion") for word in sys.argv[1:2]):
            from fleetc.cli.shared.completing import prepare

            prepare()
        super()._main_shell_completion(*args, **kwargs)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What a shell offers: commands with their summaries, without loading any."""
        named: dict[str, Any] = {
            listed.name: TyperCommand(listed.name, short_help=listed.summary) for listed in COMMANDS
        }
        # typer asks the context for its command, and the context is of this answer alone.
        ctx.command = TyperGroup(name=self.name, params=self.params, commands=named)
        return ctx.command.shell_complete(ctx, incomplete)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name. Exits with what was meant instead of an unknown one."""
        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            _unknown(args[0])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the name and the whole summary of each command, under headings."""
        width = max(len(listed.name) for listed in COMMANDS)
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(listed.name.ljust(width), listed.summary) for listed in group])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Name the next steps."""
        formatter.write_paragraph()
        formatter.write_text("fleetc COMMAND -h has options and examples; fleetc explain lists all tables of a spec.")


def _refuse_flags_of_nodes(args: list[str]) -> None:
    """Exit where a command of a node was given instead of a file: -orchestrator is not -o with a value."""
    for arg in args:
        if len(arg) > 2 and arg[0] == "-" and arg[1] != "-":
            from fleetc.cli.shared.output import wrong_usage
            from fleetc.upstream import FLAGS

            if (name := arg[1:].partition("=")[0]) in FLAGS:
                wrong_usage(
                    f"-{name} is a flag of the node; write its command into a file, such as start.sh, and run "
                    f"fleetc adopt start.sh; fleetc explain -{name} names its key"
                )


def _unknown(name: str) -> NoReturn:
    from fleetc.cli.shared.output import wrong_usage
    from fleetc.text.suggestions import did_you_mean

    names = [listed.name for listed in COMMANDS]
    meant = ELSEWHERE.get(name)
    advice = f'fleetc calls it "{meant}"' if meant else did_you_mean(name, names, "fleetc -h lists them")
    wrong_usage(f'there is no command "{name}"; {advice}')
