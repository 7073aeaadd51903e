"""STAND-INS for servers that answer badly: over real sockets, with TLS where it is wanted, in every way that is odd.

In: the name of an illness, and a certificate for TLS. Out: `IllServer`, with its address. It speaks to as many as ask,
counts them, and ends with its block.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e"
PAUSE = 0.1
"""Seconds between the bytes of those that send one at a time: less than any limit for one packet."""

Speaks = Callable[[socket.socket], object]


def says(body: bytes, status: str = "200 OK", *headers: str) -> Speaks:
    """A whole answer."""
    head = [f"HTTP/1.1 {status}", "Connection: close", f"Content-Length: {len(body)}", *headers, "", ""]
    return lambda peer: peer.sendall("\r\n".join(head).encode() + body)


def huge(peer: socket.socket) -> None:
    """2 GB, as long as somebody reads them."""
    peer.sendall(OK + b"Content-Length: 2000000000\r\n\r\n")
    piece = b"x" * 1_000_000
    for _ in range(2000):
        peer.sendall(piece)


def huge_in_chunks(peer: socket.socket) -> None:
    """Chunks without end."""
    peer.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(20_000):
        peer.sendall(b"186a0\r\n" + b"x" * 100_000 + b"\r\n")


def silent(peer: socket.socket) -> None:
    """Takes the question and says nothing."""
    with contextlib.suppress(OSError):
        while peer.recv(1000):
            pass


def dripping(first: bytes) -> Speaks:
    """What it says comes first, and then a byte at a time, without end."""

    def speak(peer: socket.socket) -> None:
        peer.sendall(first)
        while True:
            time.sleep(PAUSE)
            peer.sendall(b"x")

    return speak


def repeated(first: bytes, more: bytes) -> Speaks:
    """What it says comes first, and then the same again and again."""

    def speak(peer: socket.socket) -> None:
        peer.sendall(first)
        while True:
            peer.sendall(more)

    return speak


ILLNESSES: dict[str, Speaks] = {
    "HTML": says(b"<!doctype html><html><title>nginx</title></html>", "200 OK", "Content-Type: text/html"),
    "an empty body": says(b""),
    "an error that says 200": says(b'{"error": {"message": "not ready \x1b[31m"}}'),
    "a number as text": says(b'{"Version": "0.9.1", "RegisteredTranscodersNumber": "3"}'),
    "binary": says(bytes(range(256)) * 100),
    "nested without end": says(b"[" * 100_000),
    "a number of 100,000 digits": says(b"1" * 100_000),
    "terminal escapes": says(f'{{"Version": "{ESCAPES}"}}'.encode(), f"200 {ESCAPES}"),
    "2 GB": huge,
    "2 GB in chunks": huge_in_chunks,
    "less than it says": lambda peer: peer.sendall(OK + b"Content-Length: 100\r\n\r\nshort"),
    "a length that is none": lambda peer: peer.sendall(OK + b"Content-Length: \xff\r\n\r\nshort"),
    "chunks that are none": lambda peer: peer.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n"),
    "a refusal": says(b"no", "500 Internal Server Error"),
    "no HTTP": lambda peer: peer.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "nothing": lambda peer: None,
    "a record that nobody can decrypt": lambda peer: os.write(peer.fileno(), b"\x17\x03\x03\x00\x20" + b"x" * 32),
    "a status that is none": lambda peer: peer.sendall(b"HTTP/1.1 \xff\xfe\r\n\r\n"),
    "silence": silent,
    "a byte at a time": dripping(b""),
    "headers a byte at a time": dripping(OK + b"X: "),
    "a body a byte at a time": dripping(OK + b"Content-Length: 1000000\r\n\r\n"),
    "headers without end": repeated(OK, b"X: y\r\n" * 1000),
    "a header without end": repeated(OK + b"X: ", b"y" * 10_000),
    "nothing final": repeated(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
}
"""By name. What each server does once somebody is connected, after TLS where it has some."""

NEVER_ENDS = (
    "silence", "a byte at a time", "headers a byte at a time", "a body a byte at a time", "nothing final",
)  # fmt: skip
"""Those that only a limit of time ends."""

ENDLESS = ("2 GB", "2 GB in chunks", "headers without end", "a header without end")
"""Those that a limit of size ends, if the machine is fast enough."""


class IllServer:
    """A server on 127.0.0.1; `asked` is how often somebody connected."""

    def __init__(self, speak: Speaks, certificate: Path | None = None, greets: bool = True) -> None:
        self._speak, self._greets = speak, greets
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(certificate)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.address = f"http{'s' if certificate else ''}://{self.place}"
        self.asked = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # whoever waits for the next one hears of it
        self._listener.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                self.asked += 1
                threading.Thread(target=self._answer, args=(peer,), daemon=True).start()

    def _answer(self, peer: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.closing(peer):
            if self._context is not None:
                with self._context.wrap_socket(peer, server_side=True) as secure:
                    self._after_question(secure)
            else:
                self._after_question(peer)

    def _after_question(self, peer: socket.socket) -> None:
        if self._greets:
            peer.recv(10_000)
        self._speak(peer)


@contextlib.contextmanager
def ill(speak: Speaks, certificate: Path | None = None, greets: bool = True) -> Iterator[IllServer]:
    """A server for a block; one that does not greet speaks before it is asked."""
    server = IllServer(speak, certificate, greets)
    try:
        yield server
    finally:
        server.close()
