"""`fleetc why`: the reason for a line of the tree.

In: a line of a compiled tree, or a node and one of its flags. Out: the chain from it to the spec.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, OverlayOption, ReportOption, upwards
from fleetc.cli.shared.output import PROBLEMS, coloured, files_failure, message, report, wrong_usage
from fleetc.cli.shared.paging import put
from fleetc.cli.shared.working import (
    load_settings,
    quietly,
    read_sources,
)
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    from fleetc.settings import Settings
    from fleetc.toml.document import Source


def why(
    line: Annotated[
        str,
        typer.Argument(
            metavar="FILE:LINE|NODE",
            help="FILE:LINE of a compiled tree, or the name of a node.",
            autocompletion=completing.nodes,
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
    answer_form: ReportOption = ReportFormat.text,
) -> None:
    """Explain where a line of the tree comes from.

    Prints the spec line, the default or the derivation behind it.
    """
    from fleetc.disk import files
    from fleetc.review import why as provenance

    name, _, number = line.rpartition(":")
    if flag is None and not (name and number.isascii() and number.isdigit() and len(number) < 10):
        wrong_usage("write FILE:LINE, such as rendered/FLEET.md:12, or a node and one of its flags")
    form, settings = Format(answer_form), load_settings(spec, overlay=overlay)
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
        explanation = quietly(provenance.explain_line, question, artifact, place)
    except provenance.UnknownLineError as problem:
        if flag is None and root is None and not Path(name).exists():
            message(f"error: there is no file {name} and no compiled tree around it: run fleetc compile first")
        wrong_usage(f"{problem}; {problem.help}")
    if root is not None and not files.has_line(root / artifact, place, explanation.text):
        message(f"note: {artifact} was edited, or made by another version of fleetc; this is the line as compiled")
    if form is Format.json:
        put(provenance.as_json(explanation))
    else:
        put(provenance.as_text(explanation, coloured(settings, sys.stdout)))


def _question(sources: list[Source], settings: Settings, form: Format) -> Any:
    """What `why` uses: the plan of a sound spec, without its rules, which do not change it."""
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
    try:
        templates, playbooks = files.read_templates(), files.read_playbooks()
    except files.FilesError as failure:
        files_failure(failure, form)
    return Derivation(fleet, lower.lower(fleet), document, sources, templates, playbooks)
