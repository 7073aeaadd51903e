"""Asks a JSON-RPC server, such as that of a chain.

In: an address, a method. Out: its result, or `UnansweredError` with a reason. What a server answers is data. An address
may hold a key, so no reason holds any part of one. Redirects are not followed, and no proxy is used.
"""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import ssl
import threading
import urllib.parse
from typing import Any

from .asking import opened
from .keccak import keccak256
from .secret_files import masked
from .websocket import RefusedUpgradeError, converse

ASK_SECONDS = 10
"""What one answer may take, from the first packet to its last byte."""

ANSWER_LIMIT = 1024**2
"""Bytes of one answer."""

SAID_LIMIT = 160
"""Characters of a server's own words in a message."""

AS_WRITTEN = "/?%:@!$&'()*+,;=~"
"""What stays in a path and a query as it is; the node too writes a space as %20."""

KINDS = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
REASONS = {
    401: "it refuses the key (HTTP 401)",
    403: "it refuses the key (HTTP 403)",
    404: "it has nothing at this path (HTTP 404)",
    429: "it is asked too often with this key (HTTP 429)",
}


class UnansweredError(Exception):
    """Nobody knows the answer; the text says why, without any secret."""


class RevertedError(UnansweredError):
    """A contract refuses a call, as one does that has no such function."""


class Rpc:
    """A JSON-RPC server. `name` is what messages call it."""

    def __init__(self, address: str, name: str) -> None:
        self.address, self.name = address, name
        self._chain_id: int | UnansweredError | None = None
        self._lock = threading.Lock()

    def ask(self, method: str, *params: object) -> Any:
        """The result of a call."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        try:
            answer = json.loads(post(self.address, body), parse_int=str)  # long numbers take long
        except (ValueError, RecursionError):
            raise UnansweredError("its answer to %s is not JSON" % method) from None
        failure = answer.get("error") if isinstance(answer, dict) else None
        if failure:
            said = failure.get("message") if isinstance(failure, dict) else failure
            kind = RevertedError if "revert" in str(said).lower() else UnansweredError
            raise kind("it says to %s: %s" % (method, self._hidden(str(said))))
        if not isinstance(answer, dict) or answer.get("result") is None:
            raise UnansweredError("its answer to %s has no result" % method)
        return answer["result"]

    def number(self, method: str, *params: object) -> int:
        """A result that is one number."""
        return number_in(self.ask(method, *params), method)

    def call(self, contract: str, signature: str, *arguments: bytes) -> bytes:
        """What a function of a contract returns, without a transaction; b"" where there is no such function."""
        data = selector(signature) + b"".join(one.rjust(32, b"\0") for one in arguments)
        try:
            found = self.ask("eth_call", {"to": contract, "data": "0x" + data.hex()}, "latest")
        except RevertedError:
            return b""
        if not isinstance(found, str) or not re.fullmatch("0x([0-9a-fA-F]{2})*", found):
            raise UnansweredError("its answer to %s is not bytes" % signature)
        return bytes.fromhex(found[2:])

    def chain_id(self) -> int:
        """The chain that it serves; asked once, whoever wants to know."""
        with self._lock:
            if self._chain_id is None:
                try:
                    self._chain_id = self.number("eth_chainId")
                except UnansweredError as failure:
                    self._chain_id = failure
        if isinstance(self._chain_id, UnansweredError):
            raise self._chain_id
        return self._chain_id

    def _hidden(self, said: str) -> str:
        """Words of the server without parts of the address, on one line."""
        pieces = re.split("[/?&=:@]", self.address.partition("://")[2])
        plain = masked(said[: 10 * SAID_LIMIT], [self.address, *pieces, *map(urllib.parse.unquote, pieces)])
        return " ".join(re.sub(r"[^ -~]", " ", plain).split())[:SAID_LIMIT] or "nothing"


class Rpcs:
    """The servers that one preflight asks, each once by its address."""

    def __init__(self) -> None:
        self._known: dict[str, Rpc] = {}
        self._lock = threading.Lock()

    def at(self, address: str, name: str) -> Rpc:
        """The server at an address."""
        with self._lock:
            return self._known.setdefault(address, Rpc(address, name))


def selector(signature: str) -> bytes:
    """What names a function to a contract."""
    return keccak256(signature.encode())[:4]


def number_in(said: object, what: str) -> int:
    """A number as JSON-RPC writes it, such as 0xa4b1."""
    if not isinstance(said, str) or not re.fullmatch("0x[0-9a-fA-F]{1,64}", said):
        raise UnansweredError("its answer to %s is not a number" % what)
    return int(said, 16)


def post(address: str, body: bytes) -> bytes:
    """The answer to some JSON, over HTTP or a WebSocket: complete, soon, and of bearable length."""
    try:
        connection, context, path, headers = prepared(address)
    except ValueError:
        raise UnansweredError("it is not an address") from None
    late = threading.Event()
    try:
        with opened(connection, context, ASK_SECONDS, late):
            if address.startswith("ws"):
                status, content = 200, converse(connection, path, headers, body, ANSWER_LIMIT + 1)
            else:
                connection.request("POST", path, body, {**headers, **KINDS})
                answer = connection.getresponse()
                status, content = answer.status, answer.read(ANSWER_LIMIT + 1) if answer.status == 200 else b""
    except RefusedUpgradeError as refusal:
        status, content = refusal.status, b""
        if status == 200:
            raise UnansweredError("it does not speak WebSocket") from None
    except ssl.SSLCertVerificationError:
        raise UnansweredError("its certificate is not one that this host trusts for its name") from None
    except (OSError, http.client.HTTPException, ValueError) as failure:
        raise UnansweredError(reason_of(failure, late.is_set())) from None
    if late.is_set():
        raise UnansweredError(reason_of(TimeoutError(), True))
    if 300 <= status < 400:
        message = "it leads elsewhere (HTTP %d), and the node asks no other address: write that one"
        raise UnansweredError(message % status)
    if status != 200:
        raise UnansweredError(REASONS.get(status, "it answers HTTP %d" % status))
    if len(content) > ANSWER_LIMIT:
        raise UnansweredError("its answer is longer than 1 MB")
    return content


def prepared(address: str) -> tuple[http.client.HTTPConnection, ssl.SSLContext | None, str, dict[str, str]]:
    """A connection that is not open yet, its TLS if it has any, the path to ask there, and headers.

    Raises ValueError.
    """
    parts = urllib.parse.urlsplit(address)
    secure = {"http": False, "ws": False, "https": True, "wss": True}.get(parts.scheme)
    if secure is None or not re.fullmatch("[!-~]+", parts.netloc) or not parts.hostname:
        raise ValueError
    context = ssl.create_default_context() if secure else None
    connection = (
        http.client.HTTPConnection(parts.hostname, parts.port, timeout=ASK_SECONDS)
        if context is None
        else http.client.HTTPSConnection(parts.hostname, parts.port, timeout=ASK_SECONDS, context=context)
    )
    headers = {}
    if parts.username is not None:
        user = "%s:%s" % (urllib.parse.unquote(parts.username), urllib.parse.unquote(parts.password or ""))
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    return connection, context, urllib.parse.quote(path, safe=AS_WRITTEN), headers


def reason_of(failure: Exception, late: bool) -> str:
    """Why there is no answer, in words that hold nothing of the address."""
    if late or isinstance(failure, (TimeoutError, socket.timeout)):
        return "no whole answer within %d seconds" % ASK_SECONDS
    if isinstance(failure, socket.gaierror):
        return "its name has no address"
    if isinstance(failure, ssl.SSLError):
        return "it does not speak TLS as it should"
    if isinstance(failure, OSError) and failure.strerror:
        return failure.strerror
    return "its answer makes no sense"
