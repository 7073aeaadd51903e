"""What other programs build on: ten names at the top of the package, text in, values out.

In: the texts of a spec and its overlays. Out: what `check`, `compile` and `diff` find, as values. Nothing is printed,
and nothing is read but the templates and playbooks that fleetc ships. Everything else in the package may change at any
time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from fleetc.disk.reading import read_shipped
from fleetc.messages.locate import Located, locate
from fleetc.messages.text import as_text
from fleetc.pipeline import Checked, Compiled, check_spec, compile_spec
from fleetc.places.diagnostic import Diagnostic
from fleetc.review.compare import compare
from fleetc.review.data import Review
from fleetc.review.sides import of_compiled
from fleetc.toml.document import Source

__all__ = ["Checked", "Compiled", "Diagnostic", "Located", "Review", "as_text", "check", "compile", "diff", "located"]


def check(spec: str, *overlays: str, today: date | None = None) -> Checked:
    """Check a spec: its diagnostics in a total order, and the typed fleet if none is an error.

    `today` is the day by which silences end; without one they all hold.
    """
    return check_spec(_sources(spec, overlays), today=today)


def compile(spec: str, *overlays: str, today: date | None = None) -> Compiled:  # noqa: A001  # as the command is called
    """The tree that a spec compiles to, in memory. `tree` is None if `checked` has errors. `today` as for `check`."""
    return compile_spec(_sources(spec, overlays), *read_shipped(), today=today)


def diff(old: Compiled, new: Compiled) -> Review:
    """What would change from one compiled spec to another, why, and what it means.

    Raises ValueError if one of them did not compile.
    """
    if old.tree is None or new.tree is None:
        raise ValueError(
            f"the {'old' if old.tree is None else 'new'} spec did not compile; see its checked.diagnostics"
        )
    return compare(of_compiled("old", old), of_compiled("new", new))


def located(checked: Checked) -> Sequence[Located]:
    """The diagnostics with the lines they refer to, secrets hidden; `as_text` prints them.

    A spec is called fleet.toml, and its overlays are overlay-1.toml and so on.
    """
    return locate(checked.diagnostics, checked.sources, checked.document)


def _sources(spec: str, overlays: Sequence[str]) -> list[Source]:
    names = ("fleet.toml", *(f"overlay-{number}.toml" for number in range(1, len(overlays) + 1)))
    return [Source(name, text) for name, text in zip(names, (spec, *overlays), strict=True)]
