"""Reads the newest part of a node's log, and changes nothing.

In: a node, how many seconds back, and the most bytes. Out: the end of its log, compressed, without its secrets.
"""

from __future__ import annotations

import base64
import collections
import re
import subprocess
import threading
import zlib

from .nodes import is_here
from .places import Json, RefusedError
from .releases import runtime_here, unit_of
from .secret_files import known_secrets, longest_first

LOG_BYTES = 64 * 1024 * 1024
"""The most bytes of a log that anybody gets at once."""

READ_SECONDS = 120
_PIECE = 1 << 16
_ADDRESS = re.compile(rb'([A-Za-z][A-Za-z0-9+.-]{0,20}://)(?:[^\s",;\\]*@)?([^\s"/?#;,\\]*)([/?#][^\s"\\]*)?')


def newest_log(node: str, seconds: int, limit: int) -> Json:
    """The end of a node's log: `log` is zlib in base64, `cut` says that what is older was left out."""
    if not (0 < seconds <= 366 * 86400 and 0 < limit <= LOG_BYTES):
        raise RefusedError("log-bounds", "a log is read for a year at most, and %d bytes at most" % LOG_BYTES)
    runtime = runtime_here(node)
    if not is_here(node, runtime):
        raise RefusedError("log-missing", "%s has never run on this host" % node)
    try:
        found, cut = tail(command(node, runtime, seconds), limit)
    except RefusedError as refusal:
        plain = without_secrets(str(refusal).encode(errors="replace"), node, runtime)  # the program may quote the log
        raise RefusedError(refusal.code, plain.decode()) from None
    packed = base64.b64encode(zlib.compress(without_secrets(found, node, runtime)))
    return {"changed": False, "log": packed.decode("ascii"), "bytes": len(found), "cut": cut}


def command(node: str, runtime: str, seconds: int) -> list[str]:
    """The program that prints the log of a node, with the time of each line."""
    if runtime == "docker":
        return ["docker", "container", "logs", "--timestamps", "--since", "%ds" % seconds, unit_of(node)]
    unit = "--unit=%s.service" % unit_of(node)
    return [
        "journalctl",
        "--no-pager",
        "--quiet",
        "--all",
        "--utc",
        "--output=short-iso",
        "--since=-%ds" % seconds,
        unit,
    ]


def tail(argv: list[str], limit: int) -> tuple[bytes, bool]:
    """The last whole lines of what a program prints, and whether there was more. Memory holds no more than that."""
    held: collections.deque[bytes] = collections.deque()
    size = total = 0
    try:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as failure:
        raise RefusedError("log-unreadable", "%s: %s" % (argv[0], failure.strerror)) from None
    timer = threading.Timer(READ_SECONDS, process.kill)
    timer.start()
    with process:
        assert process.stdout is not None
        for piece in iter(lambda: process.stdout.read(_PIECE), b""):  # type: ignore[union-attr]  # asserted above
            held.append(piece)
            size, total = size + len(piece), total + len(piece)
            while size - len(held[0]) >= limit:
                size -= len(held.popleft())
    timer.cancel()
    found = b"".join(held)
    if process.returncode:
        words = found[-300:].decode(errors="replace").strip()
        slow = process.returncode < 0
        raise RefusedError("log-unreadable", "%s %s" % (argv[0], "did not end in time" if slow else "says: " + words))
    cut = total > limit
    return (found[-limit:].partition(b"\n")[2] if cut else found), cut


def without_secrets(text: bytes, node: str, runtime: str) -> bytes:
    """A log without the secrets of its node, and of addresses only the scheme and the host."""
    for value in longest_first(known_secrets(node, runtime)):
        text = text.replace(value.encode(), b"***")
    return _ADDRESS.sub(shortened, text)


def shortened(address: re.Match[bytes]) -> bytes:
    """An address without its account, and without what stands behind its host."""
    scheme, host, rest = address.groups()
    return scheme + host + (b"/***" if rest else b"")
