"""Commands about the tree that a spec compiles to: compile, why, affects.

In: arguments. Out: text, trees, exit codes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fleetc.commands.shared import (
    HERE,
    PROBLEMS,
    RECOMPILE,
    USAGE,
    FormatOption,
    OutputOption,
    OverlayOption,
    ReportOption,
    SpecArgument,
    about_foreign,
    answer,
    coloured,
    compile_or_exit,
    files_failure,
    load_settings,
    message,
    plain,
    print_blocks,
    quietly,
    read_sources,
    report,
    target_of,
    tell_settings,
)
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    from fleetc.messages.locate import Located
    from fleetc.pipeline import Compiled
    from fleetc.settings import Settings
    from fleetc.toml.document import Source, read_document


def compile_(
    spec: SpecArgument = HERE,
    output: OutputOption = None,
    overlay: OverlayOption = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit 1 and name the files when the tree is not up to date."),
    ] = False,
    overwrite_edited: Annotated[
        bool, typer.Option("--overwrite-edited", help="Replace files of the tree that were edited by hand.")
    ] = False,
    form: FormatOption = Format.text,
) -> None:
    """Compile a spec into the tree of files that its hosts need."""
    from fleetc.disk import files
    from fleetc.emit.tree import is_rolled_out

    settings = load_settings(spec, overlay=overlay, output=output)
    compiled, found = compile_or_exit(spec, settings, form)
    assert compiled.tree is not None  # noqa: S101  # it compiled
    target = target_of(spec, settings)
    tell_settings(spec, settings)
    try:
        if check:
            _check(compiled, target, form, found)
            return
        done = files.write_tree(compiled.tree, target, overwrite_edited=overwrite_edited)
        names = files.strangers(compiled.tree, target).foreign if done.foreign else ()
    except files.FilesError as failure:
        files_failure(failure, form, found)
    foreign = about_foreign(names, target)
    if form is not Format.text:
        counts = {
            "tree": str(target),
            "written": list(done.written),
            "removed": list(done.removed),
            "unchanged": done.unchanged,
        }
        answer(compiled, form, [*found, *foreign], **counts, foreign=list(done.foreign))
    else:
        print_blocks(foreign)
    message(f"{target}: {len(done.written)} files written, {len(done.removed)} removed, {done.unchanged} unchanged")
    if any(map(is_rolled_out, names)):
        raise typer.Exit(PROBLEMS)


def _check(compiled: Compiled, target: Path, form: Format, found: Sequence[Located]) -> None:
    """Tell what in the tree's directory is not what the spec compiles to; exit 1 where that matters."""
    from fleetc.disk import files
    from fleetc.emit.tree import is_rolled_out

    assert compiled.tree is not None  # noqa: S101  # it compiled
    stale = files.stale(compiled.tree, target)
    names = files.strangers(compiled.tree, target).foreign
    foreign = about_foreign(names, target)
    if form is Format.text:
        for name in stale:
            typer.echo(plain(name))
        print_blocks(foreign)
    else:
        located = [*found, *foreign, *_staleness(stale, target, form)]
        answer(compiled, form, located, stale=list(stale), foreign=list(names), tree=str(target))
    if stale:
        message(f"{len(stale)} files in {target} are not what the spec compiles to; {RECOMPILE}")
    if stale or any(map(is_rolled_out, names)):
        raise typer.Exit(PROBLEMS)
    message(f"{target} is up to date")


def _staleness(stale: Sequence[str], target: Path, form: Format) -> list[Located]:
    """A tree that is not up to date as an error; JSON has a list of its own for it."""
    from fleetc.messages.locate import outside

    if not stale or form is Format.json:
        return []
    text = f"{len(stale)} files in {target} are not what the spec compiles to: {', '.join(stale[:5])}"
    text += ", ..." if len(stale) > 5 else ""
    place = str(target / stale[0].partition(" ")[2])
    return [outside("tree-stale", text, RECOMPILE, place)]


def why(
    line: Annotated[str, typer.Argument(help="FILE:LINE of a compiled tree, or the name of a node.")],
    flag: Annotated[
        str | None, typer.Argument(help="With a node: one of its flags or variables, such as maxPricePerUnit.")
    ] = None,
    spec: Annotated[
        Path, typer.Option("--spec", help="Spec to ask when FILE is no file of a tree; by default fleet.toml here.")
    ] = HERE,
    overlay: OverlayOption = None,
    asked: ReportOption = ReportFormat.text,
) -> None:
    """Tell why a line of the tree is what it is: the spec line, default or derivation behind it."""
    from fleetc.disk import files
    from fleetc.review import why as provenance

    name, _, number = line.rpartition(":")
    if flag is None and not (name and number.isascii() and number.isdigit() and len(number) < 10):
        message("error: write FILE:LINE, such as rendered/FLEET.md:12, or a node and one of its flags")
        raise typer.Exit(USAGE)
    form, settings = Format(asked), load_settings(spec, overlay=overlay)
    root = None if flag is not None else files.tree_around(Path(name)) or files.tree_around(Path(name).absolute())
    try:
        sources = files.recorded_sources(root, settings.max_spec_mib * 1024 * 1024) if root else []
    except files.FilesError as failure:
        files_failure(failure, form)
    sources = sources or read_sources(spec, settings, form)
    question = _question(sources, settings, form)
    artifact = Path(name).absolute().relative_to(root.absolute()).as_posix() if root else Path(name).as_posix()
    try:
        if flag is not None:
            artifact, place = provenance.find_flag(question, line, flag)
        else:
            place = int(number)
        found = quietly(provenance.explain_line, question, artifact, place)
    except provenance.UnknownLineError as problem:
        if flag is None and root is None and not Path(name).exists():
            message(f"error: there is no file {name}, nor a compiled tree around it: run fleetc compile first")
        message(f"error: {problem}; {problem.help}")
        raise typer.Exit(USAGE) from None
    if root is not None and not files.has_line(root / artifact, place, found.text):
        message(f"note: {artifact} was edited, or made by another version of fleetc; this is the line as compiled")
    if form is Format.json:
        typer.echo(provenance.as_json(found), nl=False)
    else:
        typer.echo(provenance.as_text(found, coloured(settings, sys.stdout)), nl=False)


def _question(sources: list[Source], settings: Settings, form: Format) -> Any:
    """What `why` works from: the plan of a sound spec, without its rules, which do not change it."""
    from fleetc import lower
    from fleetc.disk import files
    from fleetc.language.spec import read_fleet
    from fleetc.pipeline import Checked
    from fleetc.review.why import Question

    document, found = read_document(sources)
    fleet = None
    if document is not None:
        fleet, problems = read_fleet(document)
        found = [*found, *problems]
    if document is None or fleet is None:
        report(Checked(document, None, tuple(found)), sources, settings, form, always=True)
        raise typer.Exit(PROBLEMS)
    try:
        templates, playbooks = files.read_templates(), files.read_playbooks()
    except files.FilesError as failure:
        files_failure(failure, form)
    return Question(fleet, lower.lower(fleet), document, sources, templates, playbooks)


def affects(
    place: Annotated[str, typer.Argument(help="Key path such as gateways.gate.max_price, or FILE:LINE of the spec.")],
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    asked: ReportOption = ReportFormat.text,
) -> None:
    """List every line of the tree that depends on a value of the spec, by trying another value."""
    from fleetc.disk import files
    from fleetc.review import affects

    form, settings = Format(asked), load_settings(spec, overlay=overlay)
    compiled, _ = compile_or_exit(spec, settings, form)
    document = compiled.checked.document
    assert document is not None  # noqa: S101  # it compiled
    try:
        shipped = affects.Shipped(files.read_templates(), files.read_playbooks())
        paths = affects.places(document, place)
    except files.FilesError as failure:
        files_failure(failure, form)
    except affects.UnknownPlaceError as problem:
        message(f"error: {problem}")
        raise typer.Exit(USAGE) from None
    asked_for = paths[: affects.VALUES_LIMIT]
    found = [one for path in asked_for for one in quietly(affects.affected, compiled, document.sources, path, shipped)]
    typer.echo(affects.as_json(found) if form is Format.json else affects.as_text(found), nl=False)
    if len(paths) > affects.VALUES_LIMIT:
        message(f"note: {len(paths) - affects.VALUES_LIMIT} more values were not tried; ask about them by name")
