"""The stand-in for the stream API as a process, and a spec of streams at its address.

In: a directory. Out: `Api`, which is asked and told over HTTP; the text of a spec.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.online.asking import Values, ask_all
from fleetc.online.http import Limits, Service, connected
from fleetc.stream_api.data import Report
from fleetc.stream_api.ids import Known
from tests.rules.support import broadcast
from tests.support import ROOT

TOKEN = "tok/en+0123456789-abcdef.ghijk"
Json = dict[str, Any]


class Api:
    """A stand-in that runs: its address, and what it was asked."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def log(self) -> list[Json]:
        """Every request so far: method, path, body, token and time."""
        found: list[Json] = json.loads(self._at("log"))
        return found

    def streams(self) -> dict[str, Json]:
        """What is stored, by id."""
        found: dict[str, Json] = json.loads(self._at("streams"))
        return found

    def put(self, *streams: Json) -> None:
        """Store streams exactly as given."""
        self._at("streams", json.dumps(streams).encode())

    def _at(self, name: str, body: bytes | None = None) -> bytes:
        address = f"{self.base_url.removesuffix('/api')}/standin/{name}"
        with urllib.request.urlopen(urllib.request.Request(address, data=body), timeout=20) as answer:
            content: bytes = answer.read()
            return content


@contextmanager
def running(*options: str) -> Iterator[Api]:
    """A stand-in in a process of its own."""
    words = [sys.executable, "-m", "tests.standin.stream_api", "--token", TOKEN, *options]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Api(json.loads(process.stdout.readline())["base_url"])
    finally:
        process.terminate()
        process.wait(timeout=20)


def spec_text(api: Api, *streams: str) -> str:
    """A spec with streams at the stand-in."""
    return broadcast(*streams) + f'\n[stream_api]\nbase_url = "{api.base_url}"\ntoken = {{ env = "STREAM_TOKEN" }}\n'


async def asked(
    base_url: str,
    plans: list[StreamBlueprint],
    known: dict[str, Known],
    limits: Limits,
    values: Values | None = None,
    token: str = TOKEN,
) -> list[Report]:
    """Ask about streams, as the command does."""
    async with connected(Service(base_url, token), limits) as client:
        return await ask_all(client, plans, known, values or {}, lambda _report: None)
