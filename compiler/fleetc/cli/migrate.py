"""`fleetc migrate`: brings a spec to the newest version of the language.

In: a spec, what it includes and its overlays. Out: their files, in the newest version, and what was changed; with
`--check` only the latter, and nothing is written.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.options import HERE, OverlayOption, SpecArgument
from fleetc.cli.shared.output import PROBLEMS, files_failure, message, plain
from fleetc.cli.shared.working import load_settings, read_sources
from fleetc.messages.forms import Format, written
from fleetc.text import leaks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fleetc.migrating import Step


def migrate(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; print what would change, and exit 1 if there is anything.")
    ] = False,
) -> None:
    """Bring a spec to the newest version of the language.

    What it means stays the same, and so do comments and order. Name all overlays: they have no version of their own.
    """
    from fleetc.disk import files
    from fleetc.messages.locate import locate
    from fleetc.migrating import migrate as migrated
    from fleetc.policy.source import FOLDER, SUFFIX

    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, Format.text)
    done = migrated(sources)
    if done.diagnostics:
        typer.echo(written(Format.text, locate(done.diagnostics, sources, None), sources, None), err=True, nl=False)
        raise typer.Exit(PROBLEMS)
    names: tuple[str, ...] = ()
    if not check:
        try:
            names = files.write_sources(sources, done.sources, settings.max_spec_mib * 1024 * 1024)
        except files.FilesError as failure:
            files_failure(failure, Format.text)
    _tell(done.steps)
    for name in names:
        message(f"migrated {name}")
    if not done.steps:
        message("nothing to migrate")
    elif any((Path(sources[0].name).parent / FOLDER).glob(f"*{SUFFIX}")):
        message(f"note: the rules in {FOLDER}/ see the newer names, too; fleetc policy test tries them")
    raise typer.Exit(PROBLEMS if check and done.steps else 0)


def _tell(steps: Sequence[Step]) -> None:
    """One line for each change, and below it why, once for several of a kind."""
    said = ""
    for step in sorted(steps, key=lambda step: (step.why, step.file, step.line)):
        if step.why != said:
            typer.echo(f"{step.why}:")
            said = step.why
        shown = f"{step.before or 'nothing'} -> {step.after or 'nothing'}"
        lines = "\n      ".join(plain(line) for line in shown.split("\n"))
        hidden = "a line that is not shown, because it may contain a secret"
        typer.echo(f"  {plain(step.file)}:{step.line}: {lines if leaks.may_show(shown) else hidden}")
