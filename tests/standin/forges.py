"""A stand-in for the APIs of GitHub and GitLab, on a real socket: comments of pull requests, heads, statuses.

In: requests over HTTP; accounts by token, pull requests, faults. Out: answers in the form that the services document.
It keeps everything in memory and has the habits that matter to a client: pages of at most 100, a text that is too long
is refused, ids only grow, a token of a workflow may not ask who it is over REST, a missing thing is 404. It is no proof
of what the real services do.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

BOT = "github-actions[bot]"
TOKEN = "ghs_standin0123456789abcdefghijklmnopqrst"
ROOM = {"github": 65_536, "gitlab": 1_000_000}
Json = dict[str, Any]


@dataclass
class Fault:
    """What goes wrong with the next `times` requests of a method to a path; `after` it was carried out, or instead."""

    method: str
    path: str
    status: int
    times: int = 1
    after: bool = False
    headers: dict[str, str] = field(default_factory=dict)


class Forge:
    """A repository `me/fleet` with the project number 7, on both services."""

    def __init__(self) -> None:
        self.accounts = {TOKEN: BOT}
        self.comments: list[Json] = []
        self.pulls: dict[int, Json] = {}
        self.statuses: list[tuple[str, Json]] = []
        self.faults: list[Fault] = []
        self.log: list[tuple[str, str, dict[str, str]]] = []
        self.together: threading.Barrier | None = None
        self.lock = threading.RLock()
        self.address = ""
        self._clock = 0

    def pull(self, number: int, head: str, repository: str = "fork/fleet", base: str = "main") -> None:
        """Open a pull request, or push to it."""
        self.pulls[number] = {"number": number, "head": head, "repository": repository, "base": base}

    def say(self, number: int, author: str, body: str) -> int:
        """Add a comment, with the id and the time that come next."""
        with self.lock:
            now = self._now()
            self.comments.append(
                {"id": 1000 + now, "number": number, "author": author, "body": body, "created": now, "updated": now}
            )
            return 1000 + now

    def edit(self, comment: int, body: str) -> None:
        """Give a comment another text, as whoever may write to the repository can."""
        with self.lock:
            for each in self.comments:
                if each["id"] == comment:
                    each.update(body=body, updated=self._now())

    def of(self, number: int, author: str = BOT) -> list[str]:
        """The comments of somebody on a pull request."""
        return [each["body"] for each in self.comments if (each["number"], each["author"]) == (number, author)]

    def asked(self, method: str) -> list[str]:
        """The paths that were asked for by a method."""
        return [path for found, path, _ in self.log if found == method]

    def _now(self) -> int:
        self._clock += 1
        return self._clock


@contextmanager
def running() -> Iterator[Forge]:
    """A stand-in that listens."""
    forge = Forge()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(forge))
    server.daemon_threads = True
    forge.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(forge: Forge) -> type[BaseHTTPRequestHandler]:
    """The class that answers one connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def do_PATCH(self) -> None:
            self._answer()

        def do_PUT(self) -> None:
            self._answer()

        def do_DELETE(self) -> None:
            self._answer()

        def _answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with forge.lock:
                forge.log.append((self.command, self.path, dict(self.headers)))
                fault = _due(forge, self.command, self.path)
            if fault is not None and not fault.after:
                return self._send(fault.status, {"message": "not now"}, fault.headers)
            status, content = _carry_out(forge, self.command, self.path, raw, self.headers.get("Authorization", ""))
            if fault is not None:
                return self._send(fault.status, {"message": "lost"}, fault.headers)
            return self._send(status, content, {})

        def _send(self, status: int, content: Any, headers: dict[str, str]) -> None:
            body = b"" if status == 204 else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Set-Cookie": "crumb=1", "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _due(forge: Forge, method: str, path: str) -> Fault | None:
    for fault in forge.faults:
        if fault.times and fault.method == method and re.search(fault.path, path):
            fault.times -= 1
            return fault
    return None


def _carry_out(forge: Forge, method: str, path: str, raw: bytes, authorization: str) -> tuple[int, Any]:
    me = forge.accounts.get(authorization.removeprefix("Bearer "))
    if me is None:
        return 401, {"message": "Bad credentials"}
    parts = urlsplit(path)
    body = json.loads(raw) if raw else {}
    page = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    gitlab = parts.path.startswith("/api/v4/")
    answer = _gitlab if gitlab else _github
    first_look = method == "GET" and re.search(r"/(comments|notes)$", parts.path)
    if first_look and (together := forge.together) is not None:
        together.wait(timeout=20)
        forge.together = None
    with forge.lock:
        return answer(forge, method, unquote(parts.path.removeprefix("/api/v4")), page, body, me)


def _github(forge: Forge, method: str, path: str, page: dict[str, str], body: Json, me: str) -> tuple[int, Any]:
    if path == "/user":
        return 403, {"message": "Resource not accessible by integration"}
    if (method, path) == ("POST", "/graphql"):
        return 200, {"data": {"viewer": {"login": me}}}
    rest = path.removeprefix("/repos/me/fleet")
    if rest == path:
        return 404, {"message": "Not Found"}
    if (method, rest) == ("GET", "/pulls"):
        open_ones = [_github_pull(pull) for pull in forge.pulls.values() if page.get("base") in (None, pull["base"])]
        return 200, _paged(open_ones, page)
    if match := re.fullmatch(r"/pulls/(\d+)", rest):
        pull = forge.pulls.get(int(match[1]))
        return (200, _github_pull(pull)) if pull else (404, {"message": "Not Found"})
    if match := re.fullmatch(r"/statuses/([0-9a-f]{40})", rest):
        forge.statuses.append((match[1], body))
        return 201, {}
    if match := re.fullmatch(r"/issues/(\d+)/comments", rest):
        return _comments(forge, method, int(match[1]), page, body, me, "github")
    if match := re.fullmatch(r"/issues/comments/(\d+)", rest):
        return _comment(forge, method, int(match[1]), body, "github")
    return 404, {"message": "Not Found"}


def _gitlab(forge: Forge, method: str, path: str, page: dict[str, str], body: Json, me: str) -> tuple[int, Any]:
    if path == "/user":
        return 200, {"id": 5, "username": me}
    if match := re.fullmatch(r"/projects/7/merge_requests/(\d+)", path):
        pull = forge.pulls.get(int(match[1]))
        found = {"iid": int(match[1]), "sha": pull["head"], "target_branch": pull["base"]} if pull else {}
        return (200, found) if found else (404, {"message": "404 Not found"})
    if match := re.fullmatch(r"/projects/7/merge_requests/(\d+)/notes", path):
        return _comments(forge, method, int(match[1]), page, body, me, "gitlab")
    if match := re.fullmatch(r"/projects/7/merge_requests/\d+/notes/(\d+)", path):
        return _comment(forge, method, int(match[1]), body, "gitlab")
    return 404, {"message": "404 Not found"}


def _github_pull(pull: Json) -> Json:
    repository = {"full_name": pull["repository"]} if pull["repository"] else None
    return {
        "number": pull["number"],
        "state": "open",
        "head": {"sha": pull["head"], "repo": repository},
        "base": {"ref": pull["base"]},
    }


def _comments(
    forge: Forge, method: str, number: int, page: dict[str, str], body: Json, me: str, kind: str
) -> tuple[int, Any]:
    if number not in forge.pulls:
        return 404, {"message": "Not Found"}
    if method == "GET":
        return 200, _paged([_shown(each, kind) for each in forge.comments if each["number"] == number], page)
    if not 0 < len(body["body"]) <= ROOM[kind]:
        return 422, {"message": "body is too long"}
    made = forge.say(number, me, body["body"])
    return 201, next(_shown(each, kind) for each in forge.comments if each["id"] == made)


def _comment(forge: Forge, method: str, comment: int, body: Json, kind: str) -> tuple[int, Any]:
    if not any(each["id"] == comment for each in forge.comments):
        return 404, {"message": "Not Found"}
    if method == "DELETE":
        forge.comments = [each for each in forge.comments if each["id"] != comment]
        return 204, None
    if not 0 < len(body["body"]) <= ROOM[kind]:
        return 422, {"message": "body is too long"}
    forge.edit(comment, body["body"])
    return 200, {}


def _shown(comment: Json, kind: str) -> Json:
    created, updated = (f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z" for at in (comment["created"], comment["updated"]))
    shown = {"id": comment["id"], "body": comment["body"], "created_at": created, "updated_at": updated}
    if kind == "gitlab":
        return {**shown, "system": False, "author": {"id": 5, "username": comment["author"]}}
    return {**shown, "user": {"login": comment["author"]} if comment["author"] else None}


def _paged(entries: list[Json], page: dict[str, str]) -> list[Json]:
    size = min(100, int(page.get("per_page", 30)))
    start = (int(page.get("page", 1)) - 1) * size
    return entries[start : start + size]
