"""`fleetc affects`: which lines of the tree depend on a value of the spec.

In: a key path, or a line of the spec. Out: the lines of the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import (
    HERE,
    OverlayOption,
    ReportOption,
    SpecArgument,
)
from fleetc.cli.shared.output import files_failure, message, wrong_usage
from fleetc.cli.shared.paging import put
from fleetc.cli.shared.working import (
    compile_or_exit,
    load_settings,
    quietly,
)
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    pass


def affects(
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE",
            help="Key path such as gateways.gate.max_price, or FILE:LINE of the spec.",
            autocompletion=completing.paths,
        ),
    ],
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    answer_form: ReportOption = ReportFormat.text,
) -> None:
    """List the lines of the tree that depend on a value of the spec.

    It tries another value and compares. Of a choice it tries the other words, and only one of them if PLACE is a table
    or a list.
    """
    from fleetc.disk import files
    from fleetc.review import affects

    form, settings = Format(answer_form), load_settings(spec, overlay=overlay)
    compiled, _ = compile_or_exit(spec, settings, form)
    document = compiled.checked.document
    assert document is not None  # noqa: S101  # it compiled
    try:
        shipped = affects.Shipped(files.read_templates(), files.read_playbooks())
        trials = affects.Trials(compiled, document.sources, shipped)
        paths = affects.places(document, place)
    except files.FilesError as failure:
        files_failure(failure, form)
    except affects.UnknownPlaceError as problem:
        wrong_usage(str(problem))
    words = affects.CHOICES if len(paths) == 1 else 1
    affected = [value for path in paths[: affects.VALUES_LIMIT] for value in quietly(trials.affected, path, words)]
    put(affects.as_json(affected) if form is Format.json else affects.as_text(affected))
    if len(paths) > affects.VALUES_LIMIT:
        message(f"note: {len(paths) - affects.VALUES_LIMIT} more values were not tried; name them one by one")
