"""What happens around the requests that change streams: how often the service is read again, and when."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from fleetc.online.applying import Notes, apply_all
from fleetc.online.http import Client, Reply
from fleetc.stream_api.ids import Known
from tests.stream_api.support import SECRETS, as_text, judged, planned

TARGET = {"profile": "source", "spec": {"url": {"env": "TARGET_URL"}}}
DECLARED: dict[str, Any] = {"multistream": {"targets": [TARGET]}}
BARE = {"id": "s-1", "name": "main", "multistream": {"targets": []}}


class Recorder(Client):
    """A client that writes down what it is asked, and always answers a stream without targets."""

    def __init__(self) -> None:
        self.events: list[str | float] = []

    async def get(self, path: str) -> Reply:
        self.events.append("read")
        return Reply(200, as_text(BARE).encode())

    async def send(self, method: str, path: str, body: bytes) -> Reply:
        self.events.append(f"{method} {len(json.loads(body)['multistream']['targets'])}")
        return Reply(204, b"")

    async def pause(self, seconds: float) -> bool:
        if seconds:
            self.events.append(seconds)
        return True


def test_every_pause_after_a_change_has_a_reading_behind_it() -> None:
    client, known = Recorder(), Known("s-1", ())
    pair = (planned(DECLARED), judged(DECLARED, BARE, ()))
    notes = Notes(lambda _name, _known: None, lambda _text: True)
    asyncio.run(apply_all(client, [pair], {"main": known}, SECRETS, notes, lambda _done: None))
    readings = ["read", 0.3, "read", 1.0, "read", 2.0, "read"]
    assert client.events == ["PATCH 1", *readings, *readings]
