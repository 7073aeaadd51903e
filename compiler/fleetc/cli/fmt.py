"""`fleetc fmt`: writes a spec in its one form.

In: a spec and its overlays. Out: their files, formatted; with `--check` what would change, and nothing is written.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.options import HERE, OverlayOption, SpecArgument
from fleetc.cli.shared.output import PROBLEMS, message, plain
from fleetc.cli.shared.working import STDIN, load_settings, read_sources
from fleetc.messages.forms import Format, written
from fleetc.text import leaks

if TYPE_CHECKING:
    from fleetc.toml.document import Source

_MOST = 2000
"""Up to so many lines, from the first change to the last, each is shown."""


def fmt(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; print what would change, and exit 1 if there is anything.")
    ] = False,
) -> None:
    """Format a spec: order, spacing, quotes of keys. Comments stay, and what it means stays.

    Tables come in the order of the reference, but never across a blank line or a comment. SPEC may be -
    for standard input: then the text goes to standard output.
    """
    from fleetc.disk import files
    from fleetc.formatting import formatted
    from fleetc.messages.locate import locate

    settings = load_settings(spec, overlay=overlay)
    sources = read_sources(spec, settings, Format.text, stdin=True)
    after: list[Source] = []
    for source in sources:
        text, problems = formatted(source)
        if text is None:
            typer.echo(written(Format.text, locate(problems, sources, None), sources, None), err=True, nl=False)
            raise typer.Exit(PROBLEMS)
        after.append(replace(source, text=text))
    changed = [pair for pair in zip(sources, after, strict=True) if pair[0] != pair[1]]
    if check:
        for old, new in changed:
            sys.stdout.writelines(plain(line) + "\n" for line in _difference(old, new))
            message(f"{old.name} is not formatted; run fleetc fmt {old.name}")
        raise typer.Exit(PROBLEMS if changed else 0)
    if spec == STDIN:
        sys.stdout.write(after.pop(0).text)
        sources.pop(0)
    for name in files.write_sources(sources, after, settings.max_spec_bytes):
        message(f"formatted {name}")


def _difference(old: Source, new: Source) -> Iterator[str]:
    """The lines of a unified diff, without possible secrets; if too many change, only their place.

    The time of difflib grows with the square of what changes.
    """
    before, after = old.text.split("\n"), new.text.split("\n")
    first, last = _alike(before, after), _alike(before[::-1], after[::-1])
    many = max(len(before), len(after)) - first - last
    if many > _MOST:
        yield f"{old.name}: too much changes to show it, from line {first + 1} to line {len(before) - last}"
        return
    for line in difflib.unified_diff(before, after, old.name, new.name, lineterm=""):
        yield line if leaks.may_show(line) else f"{line[:1]} (not shown: it may hold a secret)"


def _alike(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines two texts have in common where they begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
