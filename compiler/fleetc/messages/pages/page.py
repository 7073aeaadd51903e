"""One page of `fleetc explain` for a message that comes from no rule.

In: words. Out: `Page` values.
"""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    """The parts of a page. `fix` says when or how `fleetc check --fix` repairs it, where it ever does."""

    what: str
    why: str
    instead: str
    fix: str = ""
