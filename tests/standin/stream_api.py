"""A stand-in for the stream API, on a real socket, with TLS if asked for: `python -m tests.standin.stream_api`.

In: options, and requests over HTTP. Out: on the first line of standard output, its address as JSON. It keeps streams in
memory with the habits of the service that matter to a client (`tests/stream_api/support.py`), and misbehaves on demand:
an id that begins with `fault-` names what is wrong with the answer (`FAULTS`), and so does the name of a stream that is
created or patched. It is no proof of what the real service does.

`GET /standin/log` answers what came in, `POST /standin/streams` puts streams there as they are sent, `GET
/standin/streams` gives them back; these need no token.
"""

from __future__ import annotations

import argparse
import json
import random
import ssl
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests.stream_api.support import RefusedError, StandIn

PREFIX = "/api"
LEFT_OPEN = {
    *(("POST", f"made-{how}") for how in ("then-silent", "then-cut", "then-500", "without-id", "with-token")),
    ("PATCH", "patched-then-cut"),
}
"""Changes that are carried out without a proper answer, by method and by the name in the body."""

STREAM: dict[str, Any] = {"name": "main", "createdAt": 1, "isActive": False}
Handler = BaseHTTPRequestHandler


class Service:
    """The streams of one account, and what came in."""

    def __init__(self, token: str, faulty: float = 0.0) -> None:
        self.token = token
        self.faulty = faulty
        self.chance = random.Random(1)
        self.streams: dict[str, StandIn] = {}
        self.log: list[dict[str, Any]] = []
        self.targets = 0
        self.exact: set[str] = set()
        self.active = 0
        self.lock = threading.Lock()

    def fault(self) -> str:
        """What goes wrong with the next request; mostly nothing."""
        faults = ("question lost", "answer lost", "status 429", "status 500")
        return self.chance.choice(faults) if self.chance.random() < self.faulty else ""

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        """A new stream with an id of its own."""
        stream = StandIn()
        stream.made = self.targets
        stream.create(body)
        self.targets = stream.made
        stream.stored["id"] = f"stream-{len(self.streams) + 1}"
        self.streams[stream.stored["id"]] = stream
        return stream.get()

    def patch(self, stream_id: str, body: dict[str, Any]) -> None:
        """A change of a stream."""
        stream = self.streams[stream_id]
        stream.made = self.targets
        stream.patch(body)
        self.targets = stream.made

    def put(self, stream: dict[str, Any]) -> None:
        """A stream exactly as given."""
        held = StandIn()
        held.stored = stream
        self.streams[stream["id"]] = held
        self.exact.add(stream["id"])

    def get(self, stream_id: str) -> dict[str, Any]:
        """A stream as it is answered."""
        held = self.streams[stream_id]
        return held.stored if stream_id in self.exact else held.get()


def make_handler(service: Service, silence_seconds: float) -> type[Handler]:
    """The class that answers one connection."""

    class StreamApi(Handler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        lost = False

        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def do_PATCH(self) -> None:
            self._answer("PATCH")

        def log_message(self, *_: Any) -> None:
            pass

        def reply(self, status: int, body: Any = None, **headers: str) -> None:
            """Send an answer, unless it gets lost: bytes as they are, anything else as JSON."""
            if self.lost:
                return
            content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            if body is not None:
                self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(content)

        def _answer(self, method: str) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if self.path.startswith("/standin/"):
                self._about_itself(method, body)
                return
            with service.lock:
                seen = {"method": method, "path": self.path, "body": body}
                service.log.append({**seen, "token": self.headers.get("Authorization"), "at": time.monotonic()})
            try:
                self._admit(method, body)
            except BrokenPipeError:
                self.close_connection = True

        def _admit(self, method: str, body: Any) -> None:
            if self.headers.get("Authorization") != f"Bearer {service.token}":
                self.reply(401, {"errors": [f"no token object {self.headers.get('Authorization')} found"]})
                return
            fault = service.fault()
            if fault.startswith("status"):
                self.reply(int(fault.split()[1]), {"errors": ["a fault"]}, Retry_After="1")
            elif fault != "question lost":
                self.lost = fault == "answer lost"
                self._judge(method, body)
            self.close_connection |= bool(fault)

        def _about_itself(self, method: str, body: Any) -> None:
            if self.path == "/standin/log":
                self.reply(200, service.log)
            elif method == "POST":
                for stream in body:
                    service.put(stream)
                self.reply(204)
            else:
                self.reply(200, {name: held.stored for name, held in service.streams.items()})

        def _judge(self, method: str, body: Any) -> None:
            parts = self.path.removeprefix(PREFIX).split("/")[1:]
            if not self.path.startswith(PREFIX) or parts[0] != "stream" or len(parts) > 2:
                self.reply(404, {"errors": ["not found"]})
                return
            stream_id = unquote(parts[1]) if len(parts) == 2 else ""
            name = str((body or {}).get("name", "")) if method != "GET" else stream_id
            if name in FAULTS:
                FAULTS[name](self, service)
                return
            try:
                with service.lock:
                    answer = self._done(method, stream_id, body)
            except KeyError:
                self.reply(404, {"errors": ["not found"]})
            except RefusedError as refusal:
                status, _, why = str(refusal).partition(" ")
                self.reply(int(status), {"errors": [why]})
            else:
                self._tell(method, name, *answer)

        def _done(self, method: str, stream_id: str, body: Any) -> tuple[int, Any]:
            """Status and body of the answer to a request that was carried out."""
            if method == "POST" and not stream_id:
                return 201, service.create(body)
            if method == "PATCH":
                service.patch(stream_id, body)
                return 204, None
            if not stream_id:
                return 200, [held.get() for held in service.streams.values()]
            return 200, service.get(stream_id)

        def _tell(self, method: str, name: str, status: int, found: Any) -> None:
            """Answer, or leave open what became of a change."""
            if (method, name) not in LEFT_OPEN:
                self.reply(status, found)
                return
            if name == "made-then-silent":
                time.sleep(silence_seconds)
            elif name == "made-then-500":
                self.reply(500, {"errors": ["server error"]})
            elif name == "made-without-id":
                self.reply(201, {key: value for key, value in found.items() if key != "id"})
            elif name == "made-with-token":
                self.reply(201, {**found, "id": service.token})
            self.close_connection = True

    return StreamApi


def _endless(handler: Any, _service: Service) -> None:
    """Two gigabytes, of which a client should read little."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(2 * 1024**3))
    handler.end_headers()
    for _ in range(2 * 1024):
        handler.wfile.write(b" " * 1024 * 1024)


def _drip(handler: Any, _service: Service) -> None:
    """One byte a second."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        time.sleep(1)


def _silent(handler: Any, _service: Service) -> None:
    """Nothing at all."""
    time.sleep(100)
    handler.close_connection = True


def _slow(handler: Any, service: Service) -> None:
    """A stream after a while; the log has how many wait like this at once."""
    with service.lock:
        service.active += 1
        service.log[-1]["active"] = service.active
    time.sleep(0.2)
    with service.lock:
        service.active -= 1
    handler.reply(200, {**STREAM, "id": "fault-slow"})


def _cut(handler: Any, _service: Service) -> None:
    """Less than was announced."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"name"')
    handler.close_connection = True


def _not_http(handler: Any, _service: Service) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    handler.close_connection = True


def _elsewhere(handler: Any, service: Service) -> None:
    address = f"http://127.0.0.1:{handler.server.server_address[1]}{PREFIX}/stream/{service.token}"
    handler.reply(302, b"", Location=address)


def _busy_twice(handler: Any, service: Service) -> None:
    """Too many requests, twice; then an answer."""
    asked = sum(seen["path"].endswith("/fault-busy-twice") for seen in service.log)
    if asked <= 2:
        handler.reply(429, {"errors": ["too many requests"]}, Retry_After="1")
    else:
        handler.reply(200, {**STREAM, "id": "fault-busy-twice"})


def _says(status: int, body: Any, **headers: str) -> Callable[[Any, Service], None]:
    return lambda handler, _service: handler.reply(status, body, **headers)


def _echo(status: int) -> Callable[[Any, Service], None]:
    def answer(handler: Any, service: Service) -> None:
        token = service.token
        handler.reply(status, {"errors": [f"Bearer {token} is not good", token], "name": token, "kind": [token]})

    return answer


FAULTS: dict[str, Callable[[Any, Service], None]] = {
    "fault-html": _says(200, b"<!doctype html><title>Sign in</title>"),
    "fault-empty": _says(200, b""),
    "fault-error-inside": _says(200, {"errors": ["account not found"]}),
    "fault-numbers-as-text": _says(200, {**STREAM, "createdAt": "1", "lastSeen": "0"}),
    "fault-list": _says(200, [STREAM]),
    "fault-other-id": _says(200, {**STREAM, "id": "another"}),
    "fault-session": _says(200, {**STREAM, "parentId": "p"}),
    "fault-not-utf8": _says(200, b'{"name": "\xff"}'),
    "fault-deep": _says(200, b"[" * 100_000),
    "fault-gzip": _says(200, b"\x1f\x8b", Content_Encoding="gzip"),
    "fault-2-gb": _endless,
    "fault-drip": _drip,
    "fault-silent": _silent,
    "fault-slow": _slow,
    "fault-cut": _cut,
    "fault-not-http": _not_http,
    "fault-redirect": _elsewhere,
    "fault-400": _says(400, {"errors": ["id was not provided"]}),
    "fault-401": _echo(401),
    "fault-403": _says(403, {"errors": ["this key must not"]}),
    "fault-404": _says(404, {"errors": ["not found"]}),
    "fault-422": _says(422, {"errors": ['{"keyword": "additionalProperties"}']}),
    "fault-423": _says(423, {"errors": ["locked"]}),
    "fault-429": _says(429, {"errors": ["too many requests"]}, Retry_After="3600"),
    "fault-500": _says(500, {"errors": ["server error"]}),
    "fault-502": _says(502, b"<html>Bad Gateway</html>"),
    "fault-503": _says(503, {}),
    "fault-echo-200": _echo(200),
    "fault-echo-500": _echo(500),
    "fault-busy-twice": _busy_twice,
    "fault-errors-empty": _says(400, {"errors": []}),
    "fault-errors-absent": _says(400, {}),
}
"""What can be wrong with an answer, by the id that is asked for, or by the name in the body of a request."""


class _Server(ThreadingHTTPServer):
    """One that lets many wait for a connection."""

    request_queue_size = 256


def serve(
    token: str, certificate: Path | None, silence_seconds: float, port: int = 0, faulty: float = 0.0
) -> tuple[ThreadingHTTPServer, str]:
    """A server that listens, and the address of its API."""
    server = _Server(("127.0.0.1", port), make_handler(Service(token, faulty), silence_seconds))
    scheme = "http"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        scheme = "https"
    return server, f"{scheme}://127.0.0.1:{server.server_address[1]}{PREFIX}"


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--token", required=True, help="the token that it takes")
    parser.add_argument("--certificate", type=Path, help="PEM file with key and certificate; without it, plain HTTP")
    parser.add_argument("--port", type=int, default=0, help="the port; by default any that is free")
    parser.add_argument("--silence", type=float, default=5.0, help="seconds that it keeps silent instead of an answer")
    parser.add_argument("--faulty", type=float, default=0.0, help="how many of all requests go wrong, from 0 to 1")
    given = parser.parse_args()
    server, address = serve(given.token, given.certificate, given.silence, given.port, given.faulty)
    sys.stdout.write(json.dumps({"base_url": address}) + "\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
