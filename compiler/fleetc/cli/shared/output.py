"""What the commands print: answers on stdout, messages on stderr; and the meaning of their exit codes.

In: diagnostics, failures and text. Out: text on a stream, encoded for a terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import typer

from fleetc.cli.shared.width import fitted
from fleetc.messages.forms import Format, written

if TYPE_CHECKING:
    from fleetc.messages.locate import Located
    from fleetc.pipeline import Checked, Compiled
    from fleetc.places.diagnostic import Diagnostic
    from fleetc.settings import Settings
    from fleetc.toml.document import Source

PROBLEMS, USAGE, FAILURE, UNKNOWN = 1, 2, 3, 4


def answer(compiled: Compiled, form: Format, located: Sequence[Located], **more: Any) -> None:
    """The single output document of a command: its diagnostics, and in JSON also what it did."""
    document, policies = compiled.sound.document, compiled.checked.policies
    pages = policies.pages if policies else {}
    typer.echo(written(form, located, document.sources, document, more=more, pages=pages), nl=False)


def report(
    checked: Checked,
    sources: list[Source],
    settings: Settings,
    form: Format,
    always: bool,
    more: dict[str, Any] | None = None,
    stream: TextIO | None = None,
) -> None:
    """Print the diagnostics of a spec: text on `stream`, by default stderr, and other forms on stdout."""
    from fleetc.messages.locate import locate

    if not checked.diagnostics and not always:
        return
    diagnostics: Sequence[Diagnostic] = checked.diagnostics
    if checked.document is None:
        from fleetc.adopt import instead_of_toml  # only here: few texts are no TOML

        for source in sources:
            diagnostics = instead_of_toml(source, diagnostics)
    policies = checked.policies
    rules, pages = (policies.sources, policies.pages) if policies else ((), {})
    located = locate(diagnostics, [*sources, *rules], checked.document)
    stream = (stream or sys.stderr) if form is Format.text else sys.stdout
    colour = form is Format.text and coloured(settings, stream)
    text = written(form, located, sources, checked.document, colour, more, pages)
    stream.write(fitted(text, stream) if form is Format.text else text)


def coloured(settings: Settings | None, stream: TextIO) -> bool:
    """Whether a stream gets colours, according to NO_COLOR, the terminal and the setting, which may be unknown."""
    if settings is None or settings.color == "auto":
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
    return settings.color == "always"


def about_foreign(paths: Sequence[str], target: Path) -> list[Located]:
    """Files in a tree's directory that are not in the tree: an error if a rollout would use them, else a warning."""
    from fleetc.disk.manifest import shown
    from fleetc.emit.tree import is_rolled_out
    from fleetc.messages.locate import outside
    from fleetc.places.diagnostic import Severity

    used = [path for path in paths if is_rolled_out(path)]
    idle = [path for path in paths if not is_rolled_out(path)]
    located = []
    if used:
        text = (
            f"{target} has files that the spec does not compile to: {_first(used)}; Ansible runs or reads everything "
        )
        text += "in ansible/, and copies everything in hosts/ to the hosts"
        advice = "find out who put them there, and remove them; fleetc compile removes what an earlier compile left"
        located.append(outside("foreign-in-rollout", text, advice, shown(str(target / used[0]))))
    if idle:
        text = f"{target} has files that the spec does not compile to: {_first(idle)}; nothing uses them"
        advice = "move them out of the tree, so that everything there is compiled"
        located.append(outside("foreign-in-tree", text, advice, shown(str(target / idle[0])), Severity.WARNING))
    return located


def _first(paths: Sequence[str]) -> str:
    """Some paths by name, and how many more."""
    from fleetc.disk.manifest import shown
    from fleetc.text.counting import first_of

    return first_of([*map(shown, paths)], 5)


def print_blocks(located: Sequence[Located]) -> None:
    """Print diagnostics on stderr, without a count."""
    from fleetc.messages.text import block

    for item in located:
        sys.stderr.write(fitted("\n".join(block(item)) + "\n", sys.stderr))


def print_located(located: Sequence[Located], colour: bool) -> None:
    """Print diagnostics on stderr, with a count, if there are any."""
    if located:
        sys.stderr.write(fitted(written(Format.text, located, colour=colour), sys.stderr))


def files_failure(failure: Any, form: Format, before: Sequence[Located] = ()) -> NoReturn:
    """Print what is wrong with a file and exit; as text, print it after the diagnostics found `before`."""
    from fleetc.messages.locate import outside
    from fleetc.text.encoders import visible

    if form is Format.text:
        text = f"error[{failure.code}]: {visible(failure.message)}\n --> {visible(failure.path)}\n"
        text += f" = help: {visible(failure.help)}\n" if failure.help else ""
        sys.stderr.write(fitted(text, sys.stderr))
    else:
        problem = outside(failure.code, failure.message, failure.help, failure.path)
        typer.echo(written(form, [*before, problem]), nl=False)
    raise typer.Exit(failure.exit_code)


class Failures:
    """Ends the command, in a form, where a file is at fault or a rollout cannot begin."""

    def __init__(self, form: Format = Format.text) -> None:
        self._form = form

    def __enter__(self) -> None:
        """Nothing begins."""

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        """Print the problem, and exit."""
        if problem is None or isinstance(problem, typer.Exit):
            return
        from fleetc.disk.manifest import FilesError
        from fleetc.rollout.hosts.secrets import DeployError

        if isinstance(problem, FilesError):
            files_failure(problem, self._form)
        if isinstance(problem, DeployError):
            message(f"error: {problem}")
            raise typer.Exit(problem.exit_code) from None


def plain(text: str) -> str:
    """Text that is safe to print."""
    from fleetc.text.encoders import plain_output

    return plain_output(text)


def message(text: str) -> None:
    """Print a line of text for people on stderr."""
    sys.stderr.write(fitted(plain(text) + "\n", sys.stderr))


def wrong_usage(text: str) -> NoReturn:
    """Print what is wrong with the options of a command, and exit."""
    message(f"error: {text}")
    raise typer.Exit(USAGE)
