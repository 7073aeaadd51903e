"""What the avatar stack says of itself, compared with its release."""

from __future__ import annotations

import contextlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import loaded

COMMIT = "0123456789abcdef0123456789abcdef01234567"
STACK = {"services": ["orchestrator-health"], "prefix": "AVATAR", "commit": COMMIT}
TAG = {"AVATAR_SERVICE_IMAGE_TAG": "v1.3.6"}

WELL: dict[str, tuple[int, Any]] = {
    "as it should be": (200, {"env": TAG, "git": {"mode": "detached", "ref": "", "sha": COMMIT}}),
    "a short commit": (200, {"env": TAG, "git": {"sha": COMMIT[:7].upper()}}),
    "no git": (200, {"env": TAG, "git": None}),
    "no tag": (200, {"env": {"AVATAR_SERVICE_IMAGE_TAG": None}}),
    "another shape": (200, {"env": ["v1.3.5"], "git": "main"}),
    "not allowed": (403, None),
    "an old one": (404, {"detail": "Not Found"}),
}
ILL: dict[str, tuple[int, Any, str, str]] = {
    "no object": (200, [1, 2], "unanswered", "orchestrator-health answers no JSON object to /meta"),
    "no answer": (0, None, "unanswered", "orchestrator-health does not answer"),
    "another tag": (
        200,
        {"env": {"AVATAR_SERVICE_IMAGE_TAG": "v1.3.5"}},
        "ill",
        "images of v1.3.5 instead of v1.3.6",
    ),
    "another commit": (
        200,
        {"env": TAG, "git": {"sha": "f" * 40}},
        "ill",
        "the checkout is at ffffffffffff instead",
    ),
}


def said(root: Path, answer: tuple[int, Any]) -> dict[str, list[str]]:
    program = loaded(root)
    program |= {"get": lambda *_: answer, "settings_in": lambda _path: TAG}
    found: dict[str, list[str]] = program["judged_by_meta"](STACK)
    return found


@pytest.mark.parametrize("case", WELL)
def test_what_is_as_it_should_be_or_unknown_is_well(tmp_path: Path, case: str) -> None:
    assert said(tmp_path, WELL[case]) == {}


@pytest.mark.parametrize("case", ILL)
def test_what_differs_is_named(tmp_path: Path, case: str) -> None:
    status, body, kind, words = ILL[case]
    ((found, (text,)),) = said(tmp_path, (status, body)).items()
    assert found == kind and words in text


HUGE = b'{"env": {}, "more": "' + b"x" * 10_000_000 + b'"}'
NO_ANSWER = "does not answer"
BAD: dict[str, tuple[bytes, float, str, str]] = {
    # what is sent, for how many seconds it is late; what a rollout says, and verify
    "HTML": (b"<html>502</html>", 0, "answers no JSON object to /meta", "<html>"),
    "nothing": (b"", 0, "answers no JSON object to /meta", ""),
    "nested without end": (b"[" * 100_000, 0, "answers no JSON object to /meta", "[["),
    "10 MB": (HUGE, 0, "answers no JSON object to /meta", "longer than 1024 kB"),
    "late": (b"{}", 3, NO_ANSWER, "no whole answer within 2 seconds"),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2", -1, NO_ANSWER, "its answer is not HTTP"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.usefixtures("processes")
def test_answers_that_make_no_sense_are_named_by_rollouts_and_by_verify(tmp_path: Path, case: str) -> None:
    body, late, to_rollouts, to_verify = BAD[case]

    class Stack(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(max(0, late))
            head = b"" if late < 0 else b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
            with contextlib.suppress(OSError):  # whoever called has enough
                self.wfile.write(head + body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Stack) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        try:
            program, where = loaded(tmp_path), f"http://127.0.0.1:{server.server_port}"
            asked = program["ask"]
            program |= {"steering": lambda: where, "settings_in": lambda _path: TAG, "SECONDS": 2}
            program["ask"] = lambda where, path, seconds: asked(where, path, seconds=2)
            assert program["judged_by_meta"](STACK) == {"unanswered": [f"orchestrator-health {to_rollouts}"]}
            answer = program["answer_to"](where, "/meta", time.monotonic() + 60)
        finally:
            server.shutdown()
    assert to_verify in (answer["body"] if answer["status"] else answer["reason"])
