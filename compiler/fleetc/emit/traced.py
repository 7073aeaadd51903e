"""Values and lines that know their origins: values of a view, and lines of a file.

In: values and their origins. Out: `Traced` for the views of templates, `TracedLine` for lines. Used by all formats;
`fleetc why` reads the lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from fleetc.places.origin import Origin

Origins = tuple[Origin, ...]


Mark = Callable[..., Any]
"""Makes a leaf of a view from a value and its origins: `Traced` for `fleetc why`, `plain` in a compile."""

Line = tuple[str, Origins]
"""A line written by code, without its line end, and the origins of its values; or several related lines."""


class TracedLine(NamedTuple):
    """A line of an artifact without its line end.

    `origins` are those of the values on it, without repetition; `deciding`, in groups, those that decide whether the
    line exists. `template` and `template_line` are the place of its constant text; "" and 0 for lines written by code.
    """

    text: str
    origins: Origins
    deciding: tuple[Origins, ...] = ()
    template: str = ""
    template_line: int = 0

    @property
    def presence(self) -> Origins:
        """The origins that decide whether the line is there, without repetition.

        Built on demand: a row of a table is there because of everything in the table.
        """
        return together(*self.deciding)


def plain(value: Any, *_origins: Origin) -> Any:
    """The value alone."""
    return value


class Traced:
    """A value of a view with its origins. Templates print, test and compare it like the plain value.

    The value may be a tuple, such as the cells of a row, whose parts all have the same origins.
    """

    __slots__ = ("origins", "value")

    def __init__(self, value: Any, *origins: Origin) -> None:
        self.value = value
        self.origins = origins

    def __bool__(self) -> bool:
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __iter__(self) -> Iterator[object]:
        return iter(self.value)

    def __getitem__(self, index: int) -> Traced:
        return Traced(self.value[index], *self.origins)


def together(*origins: Iterable[Origin]) -> Origins:
    """All origins of several iterables, each once, in the order of their first mention."""
    return tuple(dict.fromkeys(origin for some in origins for origin in some))


def origins_in(value: object) -> Iterator[Origin]:
    """Every origin in a value of a view, at any depth."""
    if isinstance(value, Traced):
        yield from value.origins
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from origins_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from origins_in(part)
