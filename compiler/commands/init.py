"""The command `fleetc init`: a first spec, and workflows that check, review and deploy it.

In: arguments, through typer. Out: new files, and on stdout what was written and what to type next; exit code 1 when
something is there already.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from compiler.commands.shared import files_failure
from compiler.formats import Format
from compiler.scaffold import Service


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory of the new spec.", show_default=False)
    ] = Path(),
    ci: Annotated[
        Service | None, typer.Option("--ci", help="Also write workflows for this service; beside a spec, only them.")
    ] = None,
) -> None:
    """Write a first spec, and with --ci workflows that check, review and deploy it. Nothing is ever overwritten."""
    from compiler import files, scaffold
    from compiler.encoding import plain_output
    from compiler.model import json_schema

    try:
        shipped = files.read_starter()
        here, spec = {}, directory / files.SPEC_NAME
        if ci is None or not os.path.lexists(spec):
            here = scaffold.first_files(shipped, json.dumps(json_schema(), indent=2) + "\n")
        kept = here.pop(scaffold.ATTRIBUTES, "") if os.path.lexists(directory / scaffold.ATTRIBUTES) else ""
        texts = {directory / name: text for name, text in here.items()}
        top = files.repository_top(directory)
        if ci is not None:
            place = Path(os.path.relpath(spec, top)).as_posix()
            if "$" in place:
                raise typer.BadParameter(f"{place} holds a $, which services fill in; name it another way")
            found = scaffold.workflows(shipped, ci, f"./{place}" if place.startswith("-") else place)
            texts |= {Path(os.path.relpath(top / name)): text for name, text in found.items()}
        files.write_new(texts)
    except files.FilesError as failure:
        files_failure(failure, Format.text)
    for path in texts:
        typer.echo(plain_output(f"wrote {path}"))
    if kept:
        typer.echo(
            plain_output(f"{directory / scaffold.ATTRIBUTES} is yours and was left alone; it may want these lines:")
        )
        typer.echo("".join(f"    {line}\n" for line in kept.splitlines()), nl=False)
    typer.echo("next:")
    for line in scaffold.next_commands(str(directory), list(map(str, texts))):
        typer.echo(plain_output(f"    {line}"))
