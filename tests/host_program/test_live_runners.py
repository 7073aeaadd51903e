"""Live runners on a host are well when they answer with the one status that their orchestrator wants."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.host_program.program import loaded


class Runner(BaseHTTPRequestHandler):
    """Answers 204 at /v1/health and 404 elsewhere."""

    def do_GET(self) -> None:
        self.send_response(204 if self.path == "/v1/health" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def where() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Runner) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def told(root: Path, where: str, path: str, status: int) -> str:
    program = loaded(root)
    health = {"answers": {"where": where, "path": path, "status": status}}
    found: str = program["ill_by_answer"](health, program["Answers"]())
    return found


def test_the_one_status_at_the_one_path_is_well(tmp_path: Path, where: str) -> None:
    assert told(tmp_path, where, "/v1/health", 204) == ""


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/v1/health", 200, "it answers 204 to /v1/health instead of 200, so its orchestrator hides it"),
        ("/health", 204, "it answers 404 to /health instead of 204, so its orchestrator hides it"),
    ],
)
def test_any_other_is_ill(tmp_path: Path, where: str, path: str, status: int, words: str) -> None:
    assert told(tmp_path, where, path, status) == words


def test_silence_is_ill_and_what_asks_for_nothing_is_well(tmp_path: Path) -> None:
    words = "it answers nothing to /health instead of 200, so its orchestrator hides it"
    assert told(tmp_path, "http://127.0.0.1:1", "/health", 200) == words
    assert loaded(tmp_path)["ill_by_answer"]({}, None) == ""
