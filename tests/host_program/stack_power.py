"""A stand-in for the service of the avatar stack that says what runs, and puts slots to sleep and wakes them.

In: the directory of `stack_docker.py`, the checkout on this machine, and a port. It answers on 127.0.0.1 while the
container of that service runs, as docker.json there says. POSTs get lines in docker.log, like calls of docker.
`power.json` beside them says how it is ill: `meta` replaces what it says of itself, `deaf` changes no container,
`status` is what it answers.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

SERVICE, HOST = "orchestrator-health", "vtuber-host"


class Service(BaseHTTPRequestHandler):
    """One request, answered from the files."""

    directory, checkout = Path(), Path()

    def do_GET(self) -> None:
        self._answer(self._meta() if self.path == "/meta" else {})

    def do_POST(self) -> None:
        words = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        project = self.path.removeprefix("/power/projects/")
        with (self.directory / "docker.log").open("a") as log:
            log.write(json.dumps({"command": words["action"], "project": project}) + "\n")
        state = self._file("docker.json")
        if not self._file("power.json").get("deaf"):
            status = {"sleep": "exited", "wake": "running"}[words["action"]]
            state["projects"][project] = dict.fromkeys(state["projects"][project], status)
            (self.directory / "docker.json").write_text(json.dumps(state))
        self._answer({"state": words["action"]})

    def log_message(self, *words: Any) -> None:
        """Say nothing."""

    def _meta(self) -> dict[str, Any]:
        lines = (self.checkout / ".env").read_text().splitlines()
        tags = dict(line.split("=", 1) for line in lines if "_SERVICE_IMAGE_TAG=" in line)
        found: dict[str, Any] = self._file("power.json").get("meta") or {"env": tags, "git": None, "containers": []}
        return found

    def _file(self, name: str) -> dict[str, Any]:
        file = self.directory / name
        found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return found

    def _answer(self, words: dict[str, Any]) -> None:
        if self._file("docker.json")["projects"].get(HOST, {}).get(SERVICE) != "running":
            self.close_connection = True  # nobody listens there
            return
        self.send_response(self._file("power.json").get("status", 200))
        self.end_headers()
        self.wfile.write(json.dumps(words).encode())


if __name__ == "__main__":
    Service.directory, Service.checkout = map(Path, sys.argv[1:3])
    HTTPServer(("127.0.0.1", int(sys.argv[3])), Service).serve_forever()
