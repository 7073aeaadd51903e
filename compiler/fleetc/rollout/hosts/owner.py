"""Who rolls out: what hosts write down of a rollout, and name to the next one.

In: nothing. Out: an owner. Whether another one is dead no host can tell: those of the same journal are, because its
lock is held, and of others a person states it.
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
