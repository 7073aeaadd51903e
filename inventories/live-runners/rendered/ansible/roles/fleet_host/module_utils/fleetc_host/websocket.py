"""One question and one answer over a WebSocket (RFC 6455), on a connection that is open already.

In: an open connection and a message. Out: the answer.
"""

from __future__ import annotations

import base64
import http.client
import os
from typing import BinaryIO

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
LAST = 0x80
MASKED = 0x80


class RefusedUpgradeError(Exception):
    """The server speaks HTTP only; its status is in `status`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def converse(
    connection: http.client.HTTPConnection, path: str, headers: dict[str, str], question: bytes, limit: int
) -> bytes:
    """The first message that the server sends after a question, cut after `limit` bytes.

    Raises RefusedUpgradeError, and OSError or HTTPException where the server does not speak the protocol.
    """
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = {"Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
    line = connection.sock
    connection.request("GET", path, headers={**headers, **upgrade, "Connection": "Upgrade"})
    answer = connection.getresponse()
    if answer.status != http.client.SWITCHING_PROTOCOLS:
        raise RefusedUpgradeError(answer.status)
    line.sendall(frame(question))
    return message(answer.fp, limit)


def frame(content: bytes) -> bytes:
    """A text message as a client sends it: masked."""
    size, key = len(content), os.urandom(4)
    if size < 126:
        head = bytes([LAST | TEXT, MASKED | size])
    else:
        head = bytes([LAST | TEXT, MASKED | 126]) + size.to_bytes(2, "big")
    return head + key + bytes(one ^ key[at % 4] for at, one in enumerate(content))


def message(stream: BinaryIO, limit: int) -> bytes:
    """One message of a server, put together from its frames."""
    content = b""
    while True:
        first, size = exactly(stream, 2)
        if size >= 126:
            size = int.from_bytes(exactly(stream, 2 if size == 126 else 8), "big")
        if size + len(content) > limit:
            return content + exactly(stream, limit - len(content))
        part, kind = exactly(stream, size), first & 0xF
        if kind == CLOSE:
            raise http.client.HTTPException
        if kind in (PING, PONG):
            continue
        content += part
        if first & LAST:
            return content


def exactly(stream: BinaryIO, size: int) -> bytes:
    """So many bytes."""
    found = stream.read(size)
    if len(found) < size:
        raise http.client.HTTPException
    return found
