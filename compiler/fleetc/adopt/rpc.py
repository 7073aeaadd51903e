"""Which RPC address a node asks today, and whether a compiled one asks the same.

In: nodes, and what their settings mean. Out: what of an address may be told, and what is compared of it.
"""

from __future__ import annotations

from fleetc.adopt.reading import Running
from fleetc.adopt.words import SET
from fleetc.text import leaks
from fleetc.text.encoders import visible

ASKED = "a question is left: the RPC address"
"""The reason of nodes whose address is asked for: no source has one, or nodes name several."""


def is_known(one: Running) -> bool:
    """Whether a source has the address itself."""
    return bool(one.text("ethUrl")) and not one.word("ethUrl").holes and "LP_ETHURL" not in one.process.secrets


def site_of(address: str) -> str:
    """Where an address leads: its path and what stands before the host may be a key."""
    site = address.partition("://")[2].partition("/")[0].rpartition("@")[2] if "://" in address else ""
    return leaks.shown(visible(site)) if site else "its own reference"


def compared_rpc(one: Running, today: object, compiled: object) -> tuple[object, object]:
    """What is to be compared of the address that a node asks today, and of that of a compiled node: texts, or SET.

    A reference has the address of today, unless nodes name several: then nobody knows which one it has.
    """
    if not is_known(one) or not compiled:
        return (SET if today else today), (SET if compiled else compiled)
    text = one.text("ethUrl")
    if compiled == SET:
        return (site_of(text), "the address in its reference") if one.reasons.get("ethUrl") == ASKED else (SET, SET)
    if compiled == text:
        return SET, SET
    sites = site_of(text), site_of(str(compiled))
    return sites if sites[0] != sites[1] else (sites[0], f"another path of {sites[1]}")
