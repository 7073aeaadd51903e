"""One page of `fleetc explain` for a message that comes from no rule.

In: words. Out: `Page` values.
"""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    """The parts of a page. `fix` is when or how `fleetc check --fix` repairs it, if ever."""

    what: str
    why: str
    instead: str
    fix: str = ""
