"""A service in memory that goes wrong at any request, and `--apply` against it: all its real code but the connection.

In: the streams of a spec, a state of service and ids file, and which request meets which fault. Out: the state after
the run, its reports, and what the requests were. Time is simulated, so that a hang of 30 s costs nothing.
"""

from __future__ import annotations

import asyncio
import json
import selectors
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.cli.shared.streaming import Talk, talk
from fleetc.disk.ids_file import ids_path
from fleetc.language.fleet import Fleet
from fleetc.lower.streams import lower_streams
from fleetc.messages.forms import Format
from fleetc.online.http import Client, Limits, Service
from fleetc.settings import Settings
from fleetc.stream_api.observed import read_body
from tests.rules.support import broadcast, checked
from tests.stream_api.support import Json, RefusedError, StandIn

URL = "https://streams.example.net/api"
SECRETS = {"STREAM_TOKEN": "token-0123456789", "TARGET_URL": "rtmp://a.example/live/key-1"}
KINDS = {
    "GET": ("question lost", "late copy", "killed"),
    "POST": ("question lost", "answer lost", "not connected", "status 429", "killed", "killed behind it"),
}
KINDS["PATCH"] = KINDS["POST"]
LIKE_THEM = {
    "GET": ("status 429", "status 500", "silence"),
    "POST": ("status 500", "status 500 all the same", "silence", "silence all the same"),
}
LIKE_THEM["PATCH"] = LIKE_THEM["POST"]
"""What can happen to a request; what is like another fault leads to the same, only later or in other words."""


class KilledError(BaseException):
    """The end of the process."""


class State(NamedTuple):
    """The streams of the service by id, each as now and as before its last change, and the text of the ids file."""

    streams: str
    ids: str


class Run(NamedTuple):
    """One call of `--apply`: the state it left, its output if it lived, and the method of each request."""

    after: State
    talk: Talk | None
    methods: tuple[str, ...]


class Memory:
    """The service: it carries out what arrives, and the fault of a request is what its client hears of it."""

    def __init__(self, streams: str, faults: Mapping[int, str]) -> None:
        self.now, self.before, self.targets_made = json.loads(streams)
        self.faults = faults
        self.methods: list[str] = []

    @property
    def streams(self) -> str:
        """All that the service remembers."""
        return json.dumps([self.now, self.before, self.targets_made])

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, content: bytes | None, headers: Mapping[str, str]
    ) -> AsyncIterator[Any]:
        """One request, as httpx has it."""
        fault = self.faults.get(len(self.methods), "")
        self.methods.append(method)
        if fault == "not connected":
            raise httpx.ConnectError("refused")
        arrives = fault in ("", "late copy", "answer lost") or fault.endswith(("all the same", "behind it"))
        held = self.before if fault == "late copy" else self.now
        status, body = self.carried_out(method, url.removeprefix(URL), content, held) if arrives else (0, None)
        if fault.startswith("killed"):
            raise KilledError
        if fault.endswith("lost"):
            raise httpx.ReadError("broken")
        if fault.startswith("silence"):
            await asyncio.sleep(1e6)
        if fault.startswith("status"):
            status, body = int(fault.split()[1]), {"errors": ["a fault"]}
        yield _Answer(status, body, {"retry-after": "7"} if status == 429 else {})

    def carried_out(self, method: str, path: str, content: bytes | None, held: Json) -> tuple[int, Any]:
        """Status and body of the answer to a request that arrived."""
        stream_id = path.removeprefix("/stream").strip("/")
        one = StandIn()
        one.made = len(self.targets_made)
        try:
            if method == "GET":
                one.stored = held[stream_id]
                return 200, one.get()
            body = json.loads(content or b"")
            if method == "POST":
                one.create(body)
                stream_id = one.stored["id"] = f"own-{len(self.now)}"
            else:
                one.stored = deepcopy(self.now[stream_id])
                self.before[stream_id] = self.now[stream_id]
                one.patch(body)
        except KeyError:
            return 404, {"errors": ["not found"]}
        except RefusedError as refusal:
            return int(str(refusal).split()[0]), {"errors": [str(refusal)]}
        self.targets_made += one.targets_made
        self.now[stream_id] = one.stored
        return (201, one.get()) if method == "POST" else (204, None)


class _Answer:
    def __init__(self, status: int, body: Any, headers: dict[str, str]) -> None:
        self.status_code = status
        self.headers = httpx.Headers(headers)
        self._bytes = b"" if body is None else json.dumps(body).encode()

    async def aiter_raw(self) -> AsyncIterator[bytes]:
        """The body."""
        yield self._bytes


class _Hurry(selectors.DefaultSelector):
    """A selector that never waits, but notes how long it should have."""

    waited = 0.0

    def select(self, timeout: float | None = None) -> Any:
        """What is ready now."""
        self.waited += timeout or 0.0
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only where it would wait."""

    def __init__(self) -> None:
        self._hurry = _Hurry()
        super().__init__(self._hurry)

    def time(self) -> float:
        """The simulated time."""
        return self._hurry.waited


class World:
    """A spec of streams, and the command about it."""

    def __init__(self, directory: Path) -> None:
        self.spec = directory / "fleet.toml"
        self.ids_file = ids_path(self.spec)
        self.loop = _Loop()
        self.runs = 0
        self.fleet: Fleet
        self.plans: tuple[StreamBlueprint, ...]
        self._memory: Memory

    def declare(self, *streams: str) -> None:
        """The spec has these streams from now on."""
        api = f'\n[stream_api]\nbase_url = "{URL}"\ntoken = {{ env = "STREAM_TOKEN" }}\n'
        found = checked(broadcast(*streams) + api)
        assert found.fleet is not None, found.diagnostics
        self.fleet, self.plans = found.fleet, lower_streams(found.fleet)

    @asynccontextmanager
    async def connected(self, service: Service, limits: Limits) -> AsyncIterator[Client]:
        """The real client at the service in memory."""
        yield Client(service, limits, self._memory, self._memory)  # type: ignore[arg-type]

    def apply(self, state: State, faults: Mapping[int, str]) -> Run:
        """Run `--apply` once."""
        self.runs += 1
        self._memory = Memory(state.streams, faults)
        self.ids_file.write_text(state.ids)
        own = Settings(stream_apis=(URL,), stream_seconds=100)
        said = None
        try:
            said = talk(self.spec, self.fleet, self.plans, own, True, Format.json)
        except BaseException as problem:
            if not _killed(problem):
                raise
        return Run(State(self._memory.streams, self.ids_file.read_text()), said, tuple(self._memory.methods))


def _killed(problem: BaseException) -> bool:
    if isinstance(problem, BaseExceptionGroup):
        return any(map(_killed, problem.exceptions))
    return isinstance(problem, KilledError)


@contextmanager
def world(directory: Path) -> Iterator[World]:
    """A world in which nobody waits: for time, for the disk, for a connection."""
    made = World(directory)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SECRETS.items():
            patch.setenv(name, value)
        patch.setattr("fleetc.online.http.connected", made.connected)
        patch.setattr("asyncio.run", made.loop.run_until_complete)
        patch.setattr("fleetc.stream_api.refused.notes", lambda _seen: ())  # they take half of the time
        patch.setattr("fleetc.online.asking.read_body", cache(read_body))
        patch.setattr("os.fsync", lambda _descriptor: None)
        patch.setattr("random.uniform", lambda _least, most: most)
        yield made
    made.loop.close()
