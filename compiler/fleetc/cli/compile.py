"""`fleetc compile`: a spec into the tree of files that its hosts need.

In: a spec. Out: the tree on disk, or with `--check` whether it is up to date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.options import HERE, FormatOption, OutputOption, OverlayOption, SpecArgument, TodayOption
from fleetc.cli.shared.output import (
    PROBLEMS,
    about_foreign,
    answer,
    files_failure,
    message,
    plain,
    print_blocks,
    wrong_usage,
)
from fleetc.cli.shared.remembering import Remembered
from fleetc.cli.shared.watching import watch
from fleetc.cli.shared.working import (
    RECOMPILE,
    compile_or_exit,
    day_used,
    load_settings,
    read_inputs,
    read_policies,
    target_of,
    tell_settings,
)
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.messages.locate import Located
    from fleetc.pipeline import Compiled


def compile_(
    spec: SpecArgument = HERE,
    output: OutputOption = None,
    overlay: OverlayOption = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit 1 and list the files if the tree is out of date."),
    ] = False,
    overwrite_edited: Annotated[
        bool,
        typer.Option("--overwrite-edited", help="Replace files that were edited by hand.", hidden=True),
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Compile and compare every file, even if nothing seems to have changed.")
    ] = False,
    watching: Annotated[
        bool,
        typer.Option("--watch", help="Compile at every save, and show what that changes; Ctrl-C ends it."),
    ] = False,
    today: TodayOption = None,
    form: FormatOption = Format.text,
) -> None:
    """Compile a spec into the tree of files that its hosts need.

    --watch looks at the spec, the files that it includes, its overlays, the rules in policy/ and settings.
    """
    from fleetc.disk import files
    from fleetc.emit.tree import is_rolled_out

    if watching:
        if check or overwrite_edited or no_cache or form is not Format.text:
            wrong_usage("--watch compiles at every save and shows a review; of options it takes -o and --overlay")
        watch(spec, output, overlay)
        return
    settings = load_settings(spec, overlay=overlay, output=output)
    inputs, policies = read_inputs(spec, settings, form), read_policies(spec, today, form)
    target = target_of(spec, settings)
    remembered = None if no_cache or form is not Format.text else Remembered(spec, target, inputs, policies, today)
    if remembered is not None and remembered.is_unchanged(settings):
        tell_settings(spec, settings)
        message(f"{target} is up to date" if check else _counted(target, 0, 0, remembered.files))
        return
    compiled, diagnostics = compile_or_exit(spec, settings, form, policies, today, inputs)
    tree = compiled.sound.tree
    tell_settings(spec, settings)
    try:
        if check:
            _check(compiled, target, form, diagnostics, day_used(compiled.checked, today))
            return
        note = remembered.note(compiled.checked) if remembered is not None else None
        done = files.write_tree(tree, target, overwrite_edited=overwrite_edited, note=note)
        names = files.strangers(tree, target).foreign if done.foreign else ()
    except files.FilesError as failure:
        files_failure(failure, form, diagnostics)
    foreign = about_foreign(names, target)
    if form is not Format.text:
        counts = {
            "tree": str(target),
            "written": list(done.written),
            "removed": list(done.removed),
            "unchanged": done.unchanged,
            **day_used(compiled.checked, today),
        }
        answer(compiled, form, [*diagnostics, *foreign], **counts, foreign=list(done.foreign))
    else:
        print_blocks(foreign)
    message(_counted(target, len(done.written), len(done.removed), done.unchanged))
    if any(map(is_rolled_out, names)):
        raise typer.Exit(PROBLEMS)


def _counted(target: Path, written: int, removed: int, unchanged: int) -> str:
    return f"{target}: {written} files written, {removed} removed, {unchanged} unchanged"


def _check(
    compiled: Compiled, target: Path, form: Format, diagnostics: Sequence[Located], day: Mapping[str, str]
) -> None:
    """Report what in the tree's directory differs from what the spec compiles to; exit 1 if that matters."""
    from fleetc.disk import files
    from fleetc.emit.tree import is_rolled_out

    tree = compiled.sound.tree
    stale = files.stale(tree, target)
    names = files.strangers(tree, target).foreign
    foreign = about_foreign(names, target)
    if form is Format.text:
        for name in stale:
            typer.echo(plain(name))
        print_blocks(foreign)
    else:
        located = [*diagnostics, *foreign, *_staleness(stale, target, form)]
        answer(compiled, form, located, stale=list(stale), foreign=list(names), tree=str(target), **day)
    if stale:
        message(f"{len(stale)} files in {target} are not what the spec compiles to; {RECOMPILE}")
    if stale or any(map(is_rolled_out, names)):
        raise typer.Exit(PROBLEMS)
    message(f"{target} is up to date")


def _staleness(stale: Sequence[str], target: Path, form: Format) -> list[Located]:
    """A tree that is out of date as an error; JSON has a separate list for it."""
    from fleetc.messages.locate import outside

    if not stale or form is Format.json:
        return []
    text = f"{len(stale)} files in {target} are not what the spec compiles to: {', '.join(stale[:5])}"
    text += ", ..." if len(stale) > 5 else ""
    place = str(target / stale[0].partition(" ")[2])
    return [outside("tree-stale", text, RECOMPILE, place)]
