"""What the commands share: their options, reading and compiling a spec, printing problems.

In: arguments of the process. Out: values for the commands, or text and an exit code.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from fleetc.emit.tree import MANIFEST
from fleetc.messages.forms import Format, ReportFormat, written

if TYPE_CHECKING:
    from fleetc.emit.tree import Tree
    from fleetc.messages.locate import Located
    from fleetc.pipeline import Checked, Compiled
    from fleetc.settings import Settings
    from fleetc.toml.document import Source

PROBLEMS, USAGE, FAILURE = 1, 2, 3

RECOMPILE = "recompile: run fleetc compile and commit what it writes"
"""What to do about a tree that is not what the spec compiles to, as after a merge."""


SpecArgument = Annotated[
    Path,
    typer.Argument(help="Spec file, or a directory that holds a fleet.toml.", show_default=False),
]
OverlayOption = Annotated[
    list[Path] | None, typer.Option("--overlay", help="Overlay file laid over the spec; may be given again.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Directory of the tree; by default rendered/ beside the spec."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="Form of the diagnostics.")]
ReportOption = Annotated[ReportFormat, typer.Option("--format", help="Form of the answer.")]
LimitOption = Annotated[list[str] | None, typer.Option("--limit", help="Only this host; may be given again.")]
SignersOption = Annotated[Path | None, typer.Option("--allowed-signers", help="File of the people who may sign plans.")]
SignerOption = Annotated[str | None, typer.Option("--signer", help="Who must have signed the plan.")]
HERE = Path()


def load_settings(spec: Path, **options: Any) -> Settings:
    """The tool's settings with the options of a command about `spec` over them; exits when they are wrong."""
    from pydantic import ValidationError

    from fleetc import settings
    from fleetc.disk import files

    try:
        return settings.load(files.find_spec(spec), **options)
    except ValidationError as failure:
        for fault in failure.errors(include_input=False, include_url=False):
            name = ".".join(map(str, fault["loc"]))
            message(f"error: setting {plain(name)}: {plain(fault['msg'])}")
        raise typer.Exit(USAGE) from None
    except files.FilesError as failure:
        files_failure(failure, Format.text)


def read_sources(spec: Path, settings: Settings, form: Format) -> list[Source]:
    """The spec and its overlays; exits when one cannot be read."""
    from fleetc.disk import files

    limit = settings.max_spec_mib * 1024 * 1024
    try:
        base = files.find_spec(spec)
        return [files.read_source(path, str(path), limit) for path in (base, *settings.overlay)]
    except files.FilesError as failure:
        files_failure(failure, form)


def compile_or_exit(spec: Path, settings: Settings, form: Format) -> tuple[Compiled, list[Located]]:
    """Compile, or print the problems and exit. As text the warnings are printed at once, else they are returned."""
    from fleetc.disk import files
    from fleetc.messages.locate import locate
    from fleetc.pipeline import compile_spec

    sources = read_sources(spec, settings, form)
    try:
        templates, playbooks = files.read_templates(), files.read_playbooks()
    except files.FilesError as failure:
        files_failure(failure, form)
    compiled: Compiled = quietly(compile_spec, sources, templates, playbooks)
    if form is Format.text or compiled.tree is None:
        report(compiled.checked, sources, settings, form, always=form is not Format.text)
    if compiled.tree is None:
        raise typer.Exit(PROBLEMS)
    if form is Format.text:
        return compiled, []
    checked = compiled.checked
    return compiled, locate(checked.diagnostics, sources, checked.document)


def answer(compiled: Compiled, form: Format, found: Sequence[Located], **more: Any) -> None:
    """The one document of a command: its diagnostics, and as JSON what it did."""
    document = compiled.checked.document
    assert document is not None  # noqa: S101  # it compiled
    typer.echo(written(form, found, document.sources, document, more=more), nl=False)


def quietly(work: Any, *arguments: Any) -> Any:
    """Run the pure core without the cyclic garbage collector, and keep what it made out of later collections.

    It makes no cycles and its result is needed to the end, so that looking through it would only cost time.
    """
    gc.disable()
    try:
        return work(*arguments)
    finally:
        gc.freeze()
        gc.enable()


def report(
    checked: Checked,
    sources: list[Source],
    settings: Settings,
    form: Format,
    always: bool,
    more: dict[str, Any] | None = None,
) -> None:
    from fleetc.messages.locate import locate

    if not checked.diagnostics and not always:
        return
    located = locate(checked.diagnostics, sources, checked.document)
    colour = form is Format.text and coloured(settings, sys.stderr)
    stream = sys.stderr if form is Format.text else sys.stdout
    stream.write(written(form, located, sources, checked.document, colour, more))


def coloured(settings: Settings, stream: TextIO) -> bool:
    """Whether a stream gets colours: NO_COLOR, a dumb terminal and the setting are heard."""
    if settings.color == "auto":
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()
    return settings.color == "always"


def target_of(spec: Path, settings: Settings) -> Path:
    """The directory of the tree."""
    from fleetc.disk import files

    return settings.tree_of(files.find_spec(spec))


def tell_settings(spec: Path, settings: Settings) -> None:
    """Say what the checkout sets, and where else a tree lies that a setting leads away from."""
    from fleetc.disk import files

    for setting in settings.from_checkout:
        message(f"note: {setting}")
    usual = files.find_spec(spec).parent / "rendered"
    led_away = any(setting.name == "output" for setting in settings.from_checkout)
    if led_away and usual.absolute() != target_of(spec, settings).absolute() and (usual / MANIFEST).is_file():
        message(f"note: {usual} is a tree too, and was not looked at")


def about_foreign(paths: Sequence[str], target: Path) -> list[Located]:
    """What lies in a tree's directory and is not of the tree: an error where a rollout would use it, else a warning."""
    from fleetc.disk.manifest import shown
    from fleetc.emit.tree import is_rolled_out
    from fleetc.messages.locate import outside
    from fleetc.places.diagnostic import Severity

    used = [path for path in paths if is_rolled_out(path)]
    idle = [path for path in paths if not is_rolled_out(path)]
    found = []
    if used:
        text = f"{target} holds what the spec does not compile to: {_first(used)}; Ansible runs or reads what lies "
        text += "in ansible/, and copies what lies in hosts/ to the hosts"
        advice = "see who put it there, and remove it; what an earlier compile left, fleetc compile removes"
        found.append(outside("foreign-in-rollout", text, advice, shown(str(target / used[0]))))
    if idle:
        text = f"{target} holds what the spec does not compile to: {_first(idle)}; nothing uses it"
        advice = "move it out of the tree, so that all that lies there is compiled"
        found.append(outside("foreign-in-tree", text, advice, shown(str(target / idle[0])), Severity.WARNING))
    return found


def _first(paths: Sequence[str]) -> str:
    """Some paths by name, and how many more."""
    from fleetc.disk.manifest import shown

    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return ", ".join(map(shown, paths[:5])) + more


def print_blocks(located: Sequence[Located]) -> None:
    """Print diagnostics on stderr, without a count."""
    from fleetc.messages.text import block

    for item in located:
        sys.stderr.write("\n".join(block(item)) + "\n")


def need_fresh(tree: Tree, target: Path) -> None:
    """Exit unless a directory holds exactly this tree: what is rolled out has been there to be reviewed."""
    from fleetc.disk import files
    from fleetc.emit.tree import is_rolled_out

    try:
        files.need_tree(target)
        stale = files.stale(tree, target)
        foreign = files.strangers(tree, target).foreign
    except files.FilesError as failure:
        files_failure(failure, Format.text)
    print_blocks(about_foreign(foreign, target))
    if not stale and any(map(is_rolled_out, foreign)):
        raise typer.Exit(PROBLEMS)
    if stale:
        for name in stale[:20]:
            typer.echo(plain(name))
        message(f"{len(stale)} files in {target} are not what the spec compiles to; {RECOMPILE}, then review it")
        raise typer.Exit(PROBLEMS)


def files_failure(failure: Any, form: Format, before: Sequence[Located] = ()) -> NoReturn:
    """Print what is wrong with a file and exit; but as text behind the diagnostics found `before`."""
    from fleetc.messages.locate import outside
    from fleetc.text.encoders import visible

    if form is Format.text:
        text = f"error[{failure.code}]: {visible(failure.message)}\n --> {visible(failure.path)}\n"
        sys.stderr.write(text + (f" = help: {visible(failure.help)}\n" if failure.help else ""))
    else:
        problem = outside(failure.code, failure.message, failure.help, failure.path)
        typer.echo(written(form, [*before, problem]), nl=False)
    raise typer.Exit(failure.exit_code)


def plain(text: str) -> str:
    """Text that is safe to print."""
    from fleetc.text.encoders import plain_output

    return plain_output(text)


def message(text: str) -> None:
    """Print a line of text for people on stderr."""
    sys.stderr.write(plain(text) + "\n")
