"""Addresses of HTTP in sources, as loosely as the node and Compose read them: names of containers may have any letters.

In: text. Out: an `Address`, or None for what is none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ADDRESS = re.compile(r"(?i)(https?)://(?:[^/?#@\s]*@)?(\[[0-9a-f:.]+\]|[^/?#:@\s]+)(?::([0-9]{0,5}))?([/?#]\S*)?")
_PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    """Scheme, host without brackets, port, and what follows: a path, or nothing."""

    scheme: str
    host: str
    port: int
    rest: str

    def at(self, host: str) -> str:
        """The same address on another host."""
        shown = f"[{host}]" if ":" in host else host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{shown}{port}{self.rest}"


def address(text: str) -> Address | None:
    """The address that a text is; None for any other text."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    scheme = found[1].lower()
    port = int(found[3]) if found[3] else _PORTS[scheme]
    return Address(scheme, found[2].strip("[]").lower(), port, found[4] or "") if 0 < port < 65536 else None
