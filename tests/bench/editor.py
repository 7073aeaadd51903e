"""What answers cost that an editor waits for after a key press, at the size of a large fleet, over the real protocol.

In: a number of nodes and of rounds. Out: a `Report` with the processor time of a key press and its answer, and of a
check of the same text. Nothing else runs in the server meanwhile: its check waits for a pause.

The server is a process of its own that is asked as an editor asks, and its processor time is that of all its threads,
so other work on the machine does not count. Each question comes after a letter is typed into a price in the middle of
the text; then the letter is taken away again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.fleetgen import spec_text
from tests.bench.measure import Line, Report, file_system, memory_directory

HANGS = 300
IDLE = 0.3
SECONDS = {"completion": 0.05, "lens": 1.0, "check": None}
"""The processor time that a key press and its answer may take; 0.1 for all other questions."""
FIELD = 'max_price = "1500 wei / pixel"'


class Editor:
    """A client that speaks the protocol over pipes, and reads what the server's processor time is."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "fleetc", "lsp"]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self.uri = (root / "fleet.toml").as_uri()
        self.number = 0
        self.version = 1
        self.checked = 0

    def processor_time(self) -> float:
        """Seconds that all threads of the server have run."""
        tasks = Path(f"/proc/{self.server.pid}/task")
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9

    def tell(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: object) -> Any:
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def _send(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def read(self) -> Any:
        """The next message; what the server asks is answered with nothing."""
        assert self.server.stdout is not None
        length = 0
        while line := self.server.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message = json.loads(self.server.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.checked = message["params"].get("version") or 0
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "result": None})
        return message

    def settle(self) -> None:
        """Wait until the server does nothing, not even what it prepares after its first check."""
        before = -1.0
        while before < self.processor_time():
            before = self.processor_time()
            time.sleep(IDLE)

    def type(self, line: int, column: int, end: int, text: str) -> None:
        self.version += 1
        where = {"start": {"line": line, "character": column}, "end": {"line": line, "character": end}}
        document = {"uri": self.uri, "version": self.version}
        self.tell(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"range": where, "text": text}]}
        )

    def rest(self) -> None:
        """Wait for the diagnostics of the text as it is."""
        while self.checked != self.version:
            self.read()


def editor_report(nodes: int, rounds: int) -> Report:
    """Measure every question of `QUESTIONS` in one session. Raises RuntimeError when the server refuses one."""
    with memory_directory() as work:
        text = spec_text(nodes)
        (work / "fleet.toml").write_text(text, encoding="utf-8")
        report = Report(nodes, rounds, file_system(work), 1, len(text), sys.version.split()[0])
        with opened(work, text) as editor:
            report.lines += _lines(editor, text, rounds)
    return report


def _lines(editor: Editor, text: str, rounds: int) -> Iterator[Line]:
    line = text[: text.index(FIELD, len(text) // 2)].count("\n")
    elsewhere = {"textDocument": {"uri": "file:///elsewhere.toml"}, "position": {"line": 0, "character": 0}}
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, params in _questions(editor.uri, line, text.count("\n")).items():
            before = editor.processor_time()
            editor.type(line, len(FIELD) - 1, len(FIELD) - 1, "s")
            editor.ask(f"textDocument/{name}", params)
            found.setdefault(name, []).append(editor.processor_time() - before)
            editor.type(line, len(FIELD) - 1, len(FIELD), "")
            editor.ask("textDocument/hover", elsewhere)  # answered once the last key press is done with
        before = editor.processor_time()
        editor.rest()
        editor.settle()
        found.setdefault("check", []).append(editor.processor_time() - before)
        before = editor.processor_time()
        lenses = editor.ask("textDocument/codeLens", {"textDocument": {"uri": editor.uri}})
        editor.ask("codeLens/resolve", lenses[len(lenses) // 2])
        found.setdefault("lens", []).append(editor.processor_time() - before)
    for name, seconds in found.items():
        yield Line(f"{name}, best", min(seconds), " s", SECONDS.get(name, 0.1))
        yield Line(f"{name}, the first time", seconds[0], " s")


def _questions(uri: str, line: int, last: int) -> dict[str, dict[str, object]]:
    """What an editor asks after a key press in a line, with the lines around it on its screen."""
    document: dict[str, object] = {"textDocument": {"uri": uri}}
    place = {**document, "position": {"line": line, "character": len(FIELD) - 4}}
    screen = {"start": {"line": line - 25, "character": 0}, "end": {"line": line + 25, "character": 0}}
    return {
        "completion": place,
        "hover": place,
        "definition": {**document, "position": {"line": line, "character": 3}},
        "inlayHint": {**document, "range": screen},
        "documentSymbol": document,
        "semanticTokens/range": {**document, "range": screen},
        "semanticTokens/full": document,
    }


@contextmanager
def opened(root: Path, text: str) -> Iterator[Editor]:
    """A server that has checked a text."""
    editor = Editor(root)
    try:
        editor.ask("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}})
        editor.tell("initialized", {})
        document = {"uri": editor.uri, "languageId": "toml", "version": 1, "text": text}
        editor.tell("textDocument/didOpen", {"textDocument": document})
        editor.rest()
        editor.settle()
        yield editor
        editor.ask("shutdown", None)
        editor.tell("exit", None)
        editor.server.wait(HANGS)
    finally:
        editor.server.kill()
        editor.server.wait()
