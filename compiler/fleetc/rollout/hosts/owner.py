"""Who rolls out: what hosts write down of a rollout, and name to the next one.

In: nothing. Out: an owner. No host can tell whether another rollout is dead. Those of the same journal are, as its lock
is held; for others a person states it.
"""

from __future__ import annotations

import getpass
import secrets
import socket
from functools import cache


@cache
def this_run() -> dict[str, str]:
    """This process as an owner: an id of 16 hexadecimal digits, and words for people."""
    return {"id": secrets.token_hex(8), "who": f"{getpass.getuser()} on {socket.gethostname()}"}
