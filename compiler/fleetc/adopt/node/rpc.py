"""Which RPC address a node asks today, and which webhooks, stores and queues; and whether a compiled one has the same.

In: nodes, and what their settings mean. Out: what of an address may be told, and what is compared of it.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping

from fleetc.adopt.found.words import SET
from fleetc.adopt.node.reading import Running
from fleetc.text import leaks
from fleetc.upstream import FLAGS

ADDRESSES = frozenset({"ethUrl", "authWebhookUrl", "liveAIAuthWebhookUrl", "metadataQueueUri", "objectStore",
                       "orchWebhookUrl", "recordStore", "remoteSignerWebhookUrl"})  # fmt: skip
"""Settings that a spec has in clear, or as a reference where a part of them is a key."""
ASKED = "a question is left: the RPC address"
"""The reason of nodes whose address is asked for: no source has one, or nodes name several."""


def is_known(one: Running, flag: str = "ethUrl") -> bool:
    """Whether a source has the address itself."""
    return bool(one.text(flag)) and not one.word(flag).holes and FLAGS[flag].env not in one.process.secrets


def no_answer(one: Running, flag: str, today: object, compiled: object) -> bool:
    """Whether another address is no answer, because a source has the one of today: only the same host with TLS may be.

    Where nodes of a host name several, its question is the reason of the setting, and any address is an answer.
    """
    tls = isinstance(today, str) and re.sub("^(http|ws)://", r"\1s://", today) == compiled
    return flag in ADDRESSES and is_known(one, flag) and not tls


def site_of(address: str) -> str:
    """Where an address leads: its path and what stands before the host may be a key."""
    if "://" not in address:
        return "its own reference"
    rest = address.partition("://")[2]
    before_path = re.split("[/?#]", rest, maxsplit=1)[0]
    site = before_path.rpartition("@")[2]
    password = "@" in rest[len(before_path) :]  # it may have a slash in it
    return leaks.shown(site) if _SITE.fullmatch(site) and not password else _HIDDEN


_SITE = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_HIDDEN = "an address"


def compare_addresses(one: Running, today: MutableMapping[str, object], compiled: MutableMapping[str, object]) -> None:
    """Put what is to be compared in place of the addresses that a node has today, and of those of a compiled node."""
    for flag in ADDRESSES:
        today[flag], compiled[flag] = _compared(one, flag, today.get(flag), compiled.get(flag))


def _compared(one: Running, flag: str, today: object, compiled: object) -> tuple[object, object]:
    """What is to be compared of one address: texts, or SET.

    A reference has the address of today, unless nodes name several RPC addresses: then nobody knows which one it has.
    """
    if not is_known(one, flag) or not compiled:
        return (SET if today else today), (SET if compiled else compiled)
    text = one.text(flag)
    if compiled == SET:
        return (site_of(text), "the address in its reference") if one.reasons.get(flag) == ASKED else (SET, SET)
    if compiled == text:
        return SET, SET
    made = str(compiled)
    (scheme, site), (other_scheme, other) = (
        (address.partition("://")[0], site_of(address)) for address in (text, made)
    )
    if site != other:
        return site, other
    if site != _HIDDEN and "://" in text and scheme != other_scheme:
        return f"{scheme}://{site}", f"{other_scheme}://{site}"
    return site, "another address" if site == _HIDDEN else f"another address of {site}"
