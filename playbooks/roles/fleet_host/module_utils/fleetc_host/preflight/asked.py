"""What every check of the preflight is given, and what it yields.

In: nothing. Out: types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..places import Json
from ..rpc import Rpcs
from ..system import Ids

Finding = tuple[str, str]

WARNINGS = (
    *("deposit-low", "deposit-unlocking", "file-open-to-all", "password-file-newline", "reserve-low"),
    "wallet-balance-low",
)
"""Codes of findings that keep no release from running: people top up money and close files while nodes run."""

AFTER_ROLLOUTS = ("registration",)
"""Needs that keep no release from running, so that no preflight asks for them: people register what runs already."""

MEGABYTE = 1024**2


class Asked(NamedTuple):
    """What checks know besides their need: the release, values of secrets, and as whom nodes run, None for root.

    `renamed` says that this machine may have had another name. `rpcs` are the JSON-RPC servers that are asked.
    """

    wanted: Json
    values: Json
    reader: Ids | None
    renamed: bool
    rpcs: Rpcs


Check = Callable[[Json, Asked], Iterable[Finding]]


def has_scheme(address: str, schemes: str) -> bool:
    """Whether an address is absolute, with one of some schemes."""
    scheme, separator, rest = address.partition("://")
    return bool(separator) and scheme in schemes.split() and bool(rest.strip("/") or scheme == "file")
