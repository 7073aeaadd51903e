"""The options that commands share, and what their exit codes mean.

In: nothing. Out: annotated types for typer.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    pass


PROBLEMS, USAGE, FAILURE = 1, 2, 3


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
