"""`fleetc why`: where a line of the tree comes from, and what comes of a place in the spec.

In: a line of a compiled tree, a node and one of its flags, or a place of the spec. Out: the chain from the line to the
spec, or the lines of the tree that depend on the place.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, OverlayOption, ReportOption, upwards
from fleetc.cli.shared.output import PROBLEMS, coloured, files_failure, message, plain, report, wrong_usage
from fleetc.cli.shared.paging import put, tell
from fleetc.cli.shared.working import compile_or_exit, load_settings, quietly, read_sources
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    from fleetc.settings import Settings
    from fleetc.toml.document import Source


def why(
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE",
            help="FILE:LINE of a compiled tree or of the spec, a key path of the spec, or the name of a node.",
            autocompletion=completing.places,
        ),
    ],
    flag: Annotated[
        str | None,
        typer.Argument(
            metavar="FLAG",
            help="With a node: one of its flags or variables, such as maxPricePerUnit.",
            autocompletion=completing.flags,
        ),
    ] = None,
    spec: Annotated[
        Path,
        typer.Option(
            "--spec",
            metavar="SPEC",
            help="Spec to use if FILE is not in a tree; by default fleet.toml here, or the nearest above.",
            callback=upwards,
        ),
    ] = HERE,
    overlay: OverlayOption = None,
    whole: Annotated[bool, typer.Option("--all", help="All lines that depend on a place, at full length.")] = False,
    answer_form: ReportOption = ReportFormat.text,
) -> None:
    """Explain where a line of the tree comes from, or what comes of a place in the spec.

    Of a line: the spec line, the default or the derivation behind it. Of a place: the lines of the tree that change
    with it. fleetc tries another value there and compares the trees.
    """
    from fleetc.disk import files
    from fleetc.review.why import UnknownPlaceError

    form, settings = Format(answer_form), load_settings(spec, overlay=overlay)
    name, _, number = place.rpartition(":")
    is_line = bool(name) and number.isascii() and number.isdigit() and len(number) < 10
    root = files.tree_around(Path(name)) or files.tree_around(Path(name).absolute()) if is_line and not flag else None
    in_spec = False
    try:
        sources = files.recorded_sources(root, settings.max_spec_bytes) if root else []
        sources = sources or read_sources(spec, settings, form)
        in_spec = any(source.name == name or source.name.endswith(f"/{name}") for source in sources)
        if flag is None and root is None and (in_spec or not is_line):
            _put_dependents(place, spec, settings, form, whole)
            return
        question = _question(sources, settings, form)
        _put_origin(question, place if flag else name, flag or int(number), root, settings, form)
    except files.FilesError as failure:
        files_failure(failure, form)
    except UnknownPlaceError as problem:
        if is_line and root is None and not in_spec and not Path(name).exists():
            message(f"error: there is no file {name} and no compiled tree around it: run fleetc compile first")
        wrong_usage(f"{problem}; {problem.help}")


def _put_origin(
    question: Any, name: str, flag_or_line: str | int, root: Path | None, settings: Settings, form: Format
) -> None:
    """Print where a line of a tree comes from, or a flag of a node. Raises UnknownPlaceError."""
    from fleetc.disk import files
    from fleetc.review import why as provenance

    if isinstance(flag_or_line, str):
        artifact, line = provenance.find_flag(question, name, flag_or_line)
    else:
        path = Path(name).absolute().relative_to(root.absolute()) if root else Path(name)
        artifact, line = path.as_posix(), flag_or_line
    explanation = quietly(provenance.explain_line, question, artifact, line)
    if root is not None and not files.has_line(root / artifact, line, explanation.text):
        message(f"note: {artifact} was edited, or made by another version of fleetc; this is the line as compiled")
    if form is Format.json:
        put(provenance.as_json(explanation))
    else:
        tell(provenance.as_text(explanation, coloured(settings, sys.stdout)))


def _put_dependents(place: str, spec: Path, settings: Settings, form: Format, whole: bool) -> None:
    """Print which lines of the tree depend on a place of the spec. Raises UnknownPlaceError and FilesError."""
    from fleetc.disk import files
    from fleetc.review import affects

    compiled, _ = compile_or_exit(spec, settings, form)
    document, fleet, _, _ = compiled.sound
    table = next((node.table for node in fleet.nodes if node.name == place), None)
    if table is not None:
        wrong_usage(f"{plain(place)} is a node: name a flag of it too, or its table, {table}.{plain(place)}")
    paths = affects.places(document, place)
    trials = affects.Trials(compiled, document.sources, files.read_shipped())
    words = affects.CHOICES if len(paths) == 1 else 1
    affected = [value for path in paths[: affects.VALUES_LIMIT] for value in quietly(trials.affected, path, words)]
    if form is Format.json:
        put(affects.as_json(affected))
    else:
        tell(affects.as_text(affected, whole))
    if len(paths) > affects.VALUES_LIMIT:
        message(f"note: {len(paths) - affects.VALUES_LIMIT} more values were not tried; name them one by one")


def _question(sources: list[Source], settings: Settings, form: Format) -> Any:
    """What the origin of a line is derived from: the plan of a sound spec, without its rules, which do not change it.

    Raises FilesError.
    """
    from fleetc import lower
    from fleetc.disk import files
    from fleetc.language.spec import read_fleet, read_spec
    from fleetc.pipeline import Checked
    from fleetc.places.diagnostic import has_errors
    from fleetc.review.why import Derivation

    document, diagnostics = read_spec(sources)
    fleet = None
    if document is not None and not has_errors(diagnostics):
        fleet, problems = read_fleet(document)
        diagnostics = [*diagnostics, *problems]
    if document is None or fleet is None:
        report(Checked(document, None, tuple(diagnostics)), sources, settings, form, always=True)
        raise typer.Exit(PROBLEMS)
    return Derivation(fleet, lower.lower(fleet), document, sources, files.read_shipped())
