"""The command `fleetc diff`: find what a spec is compared with, compare, report, judge the limits.

In: arguments, through typer. Out: the report on stdout or in a file, broken limits on stderr, exit codes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from compiler.commands.shared import (
    HERE,
    PROBLEMS,
    OverlayOption,
    SpecArgument,
    coloured,
    compile_or_exit,
    files_failure,
    load_settings,
    message,
    quietly,
)
from compiler.formats import Format

if TYPE_CHECKING:
    from compiler.pipeline import Compiled
    from compiler.review.data import Review
    from compiler.review.limits import Breach, Limit
    from compiler.settings import Settings

ReportForm = StrEnum("ReportForm", ["text", "markdown", "html", "json"])

_NAMED = 10
"""Changes that break one limit and are named."""


def diff(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    against: Annotated[str | None, typer.Option("--against", help="A tree, a spec, or a revision of git.")] = None,
    max_impact: Annotated[str, typer.Option("--max-impact", help="Such as price=5%,exposure=none,restart=3.")] = "",
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 1 when anything would change.")] = False,
    form: Annotated[ReportForm, typer.Option("--format", help="Form of the report.")] = ReportForm.text,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write the report to.")] = None,
) -> None:
    """Review what a spec would change: each change with the line that causes it and what it means."""
    from compiler import files

    settings = load_settings(spec, overlay=overlay)
    asked = options(against, max_impact, form, output)
    compiled, _ = compile_or_exit(spec, settings, Format.text)
    try:
        found = quietly(run, asked, spec, compiled, settings)
        typer.echo(found.text(output is None and coloured(settings, sys.stdout)), nl=False)
    except files.FilesError as failure:
        files_failure(failure, Format.text)
    for line in found.broken:
        message(line)
    if found.broken or (exit_code and found.differs):
        raise typer.Exit(PROBLEMS)


class Options(NamedTuple):
    """What a user asks for; `form` is text, markdown, html or json."""

    against: str | None
    limits: tuple[Limit, ...]
    form: str
    output: Path | None


def options(against: str | None, max_impact: str, form: str, output: Path | None) -> Options:
    """Understand the options before any work is done. Raises typer.BadParameter."""
    from compiler.review.limits import LimitError, parse_limits

    try:
        return Options(against, parse_limits(max_impact) if max_impact else (), form, output)
    except LimitError as problem:
        raise typer.BadParameter(str(problem), param_hint="--max-impact") from problem


class Found(NamedTuple):
    """A review and what was asked about it."""

    review: Review
    asked: Options
    templates: Mapping[str, str]

    @property
    def differs(self) -> bool:
        """Whether anything would change."""
        return bool(self.review.changes or self.review.files)

    def text(self, colour: bool) -> str:
        """The report for standard output; nothing where it was written to a file instead. Raises `FilesError`."""
        text = _report(self.review, self.asked.form, colour, self.templates)
        if self.asked.output is None:
            return text
        _write(text, self.asked.output)
        return ""

    @property
    def broken(self) -> tuple[str, ...]:
        """A line for each limit that is broken, and for the changes that break it; one where none can be judged."""
        from compiler.review.limits import breaches

        if self.asked.limits and self.review.files_only:
            return ("error: the limits cannot be judged, because only files are compared; see the notes of the review",)
        return tuple(line for breach in breaches(self.review, self.asked.limits) for line in _lines(breach))


def run(asked: Options, spec: Path, compiled: Compiled, settings: Settings) -> Found:
    """Compare. Raises `FilesError`, see `baseline.py`."""
    from compiler import files
    from compiler.baseline import baseline, like
    from compiler.review.compare import compare
    from compiler.review.side import of_compiled

    shipped = files.read_templates(), files.read_playbooks()
    limit = settings.max_spec_mib * 1024 * 1024
    old = baseline(asked.against, spec, settings, shipped, limit)
    new = replace(of_compiled(str(spec), compiled), notes=tuple(map(str, settings.from_checkout)))
    return Found(compare(old, like(old, new)), asked, shipped[0])


def _report(review: Review, form: str, colour: bool, templates: Mapping[str, str]) -> str:
    from compiler.review import html, markdown, report_json, terminal  # only here: a run needs one of them

    if form == "markdown":
        return markdown.as_markdown(review)
    if form == "html":
        return html.as_html(review, templates)
    return report_json.as_json(review) if form == "json" else terminal.as_text(review, colour)


def _write(text: str, file: Path) -> None:
    from compiler.recorded import failure

    try:
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as problem:
        raise failure(problem, str(file), "write") from problem


def _lines(breach: Breach) -> Iterator[str]:
    yield f"error: the limit {breach}"
    for change in breach.changes[:_NAMED]:
        where = " ".join(filter(None, (change.targets[0].host, change.targets[0].node)))
        more = f" and {len(change.targets) - 1} more" if len(change.targets) > 1 else ""
        cause = change.causes[0] if change.causes else None
        at = f" ({cause.file}:{cause.line}:{cause.column})" if cause is not None and cause.line else ""
        yield f"  {change.kind} {change.what} on {where or 'the whole fleet'}{more}{at}"
    if len(breach.changes) > _NAMED:
        yield f"  and {len(breach.changes) - _NAMED} changes more"
