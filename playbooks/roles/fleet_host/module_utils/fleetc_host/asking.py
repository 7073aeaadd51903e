"""Asks nodes of this host over HTTP.

In: an address of this host and a path. Out: status and body; status 0 without an answer.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import urllib.parse
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

FAILURES = (OSError, http.client.HTTPException, ValueError)

BODY_LIMIT = 4 * 1024 * 1024


def same_number(said: object, wanted: str) -> bool:
    """Whether a node's rational, such as 3/2, is the one that is wanted."""
    try:
        return Fraction(str(said)) == Fraction(wanted)
    except (ValueError, ZeroDivisionError):
        return False


def get(where: str, path: str, seconds: float = 5) -> tuple[int, Any]:
    """Status and body of a GET to a node of this host, parsed where it is JSON; (0, None) without an answer."""
    status, body = ask(where, path, seconds=seconds)
    try:
        return status, json.loads(body)
    except (ValueError, RecursionError):  # nested without end
        return status, None


def ask(where: str, path: str, form: dict[str, str] | None = None, seconds: float = 5) -> tuple[int, bytes]:
    """Status and body of a GET to a node of this host, or of a POST of a form; (0, b"") without an answer."""
    if form is None:
        return _answer(where, "GET", path, None, {}, seconds)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return _answer(where, "POST", path, urllib.parse.urlencode(form).encode(), headers, seconds)


def send(where: str, path: str, document: bytes, seconds: float) -> tuple[int, bytes]:
    """Status and body of a POST of JSON to a node of this host; (0, b"") without an answer."""
    return _answer(where, "POST", path, document, {"Content-Type": "application/json"}, seconds)


def tell(where: str, path: str, words: dict[str, Any], seconds: float = 240) -> int | None:
    """Status of the answer to a POST of JSON to a service of this host; 0 where there is none to come.

    None where it did not answer in time: it may still do what it was told.
    """
    try:
        return exchange(where, "POST", path, json.dumps(words).encode(), {"Content-Type": "application/json"}, seconds)[
            0
        ]
    except socket.timeout:
        return None
    except FAILURES:
        return 0


def _answer(
    where: str, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float
) -> tuple[int, bytes]:
    """Status and body of an answer; (0, b"") without one."""
    try:
        return exchange(where, method, path, body, headers, seconds)
    except FAILURES:
        return 0, b""


def exchange(
    where: str, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float
) -> tuple[int, bytes]:
    """Status and body of an answer. Raises one of FAILURES without one.

    `where` is http://address:port or https://address:port. Certificates of nodes are self-signed, and nothing secret is
    sent.
    """
    scheme, _, address = where.partition("://")
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host.strip("[]"), int(port), timeout=seconds)
    context = None
    if scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    late = threading.Event()
    try:
        with opened(connection, context, seconds, late):
            connection.request(method, path, body, {"Connection": "close", **headers})
            answer = connection.getresponse()
            content = answer.read(BODY_LIMIT)
    except FAILURES:
        if late.is_set():  # the end of its time looks like many failures
            raise socket.timeout from None
        raise
    if late.is_set():  # who sends a byte a second never times out by itself
        raise socket.timeout
    return answer.status, content


@contextlib.contextmanager
def opened(
    connection: http.client.HTTPConnection, context: ssl.SSLContext | None, seconds: float, late: threading.Event
) -> Iterator[None]:
    """A connection that is open, with TLS where there is a context, and that ends after so many seconds.

    That counts from the first byte of TLS to the last of the answer. `late` is set where the time was over.
    """
    http.client.HTTPConnection.connect(connection)  # TLS has to be within the time too
    handle = connection.sock.dup()  # the answer takes the socket from the connection
    watch = threading.Timer(seconds, hang_up, (handle, late))
    watch.daemon = True
    watch.start()
    try:
        if context is not None:
            connection.sock = context.wrap_socket(connection.sock, server_hostname=connection.host)
        yield
    finally:
        watch.cancel()
        connection.close()
        handle.close()


def hang_up(connection: socket.socket, late: threading.Event) -> None:
    """End a connection that takes too long, whatever it is waiting for."""
    late.set()
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
