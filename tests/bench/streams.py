"""Measures how fast `fleetc streams` asks about many streams, beside a loop that only sends the same requests by httpx.

In: a `Report` and a number of streams. Out: lines of the report. Both ask one stand-in for the API on this machine,
in a process of its own, with the same number of requests at once. The loop reads the answers as JSON and looks at
nothing in them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace

import httpx

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.online.asking import ask_all
from fleetc.online.http import Limits, Service, connected
from fleetc.stream_api.data import IN_SYNC
from fleetc.stream_api.ids import Known
from tests.bench.measure import Cost, Line, Report
from tests.online.support import TOKEN, Api, running
from tests.stream_api.support import planned

AT_ONCE = 16
SLOWER = 2.0
"""At least half the rate: at most twice the time."""
_LADDER = [
    {"name": "360p", "width": 640, "height": 360, "bitrate": 800000, "fps": 0},
    {"name": "720p", "width": 1280, "height": 720, "bitrate": 3000000, "fps": 30},
]


def streams_lines(report: Report, count: int) -> Iterator[Line]:
    """Ask about `count` streams in turn with the bare loop; the best round of each counts."""
    plan = planned({"profiles": _LADDER, "userTags": {"seats": 1}})
    with running() as api:
        for start in range(0, count, 200):
            api.put(*(_stored(number) for number in range(start, min(start + 200, count))))
        asking, bare = f"fleetc asks about {count} streams", f"bare httpx loop, {count} requests"
        ways: dict[str, Callable[[], Coroutine[None, None, None]]] = {
            asking: lambda: _ask(api, plan, count),
            bare: lambda: _bare(api, count),
        }
        for _ in range(report.rounds):
            for name, way in ways.items():
                cost = _cost(way)
                report.costs[name] = report.costs[name].best(cost) if name in report.costs else cost
    took, least = report.costs[asking], report.costs[bare]
    yield Line("fleetc streams / bare httpx loop, time of all answers", took.wall_s / least.wall_s, "", SLOWER)
    yield Line("the same, processor time", took.processor_s / least.processor_s, "", SLOWER)
    yield Line("answers a second", count / took.wall_s, "")


def _stored(number: int) -> dict[str, object]:
    filled = [{**row, "profile": "H264ConstrainedHigh"} for row in _LADDER]
    counters = {"createdAt": 1, "lastSeen": 2, "sourceSegments": 3, "sourceBytes": 4}
    declared = {"name": "main", "profiles": filled, "userTags": {"seats": 1}, "record": False}
    return {"id": f"s{number}", "isActive": False, "issues": None, "renditions": {}, **declared, **counters}


async def _ask(api: Api, plan: StreamBlueprint, count: int) -> None:
    """What the command does once it has read the spec."""
    plans = [replace(plan, name=f"s{number}") for number in range(count)]
    known = {plan.name: Known(plan.name) for plan in plans}
    async with connected(Service(api.base_url, TOKEN), Limits(at_once=AT_ONCE)) as client:
        asked = await ask_all(client, plans, known, {}, lambda _report: None)
    if any(report.kind != IN_SYNC or report.drifts for report in asked) or len(asked) != count:
        raise RuntimeError("a stream was not found as it was declared")


async def _bare(api: Api, count: int) -> None:
    """Only the requests."""
    waiting = iter(range(count))
    limits = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(headers=headers, limits=limits, trust_env=False, verify=False) as client:

        async def work() -> None:
            for number in waiting:
                answer = await client.get(f"{api.base_url}/stream/s{number}")
                answer.raise_for_status()
                answer.json()

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(work())


def _cost(way: Callable[[], Coroutine[None, None, None]]) -> Cost:
    wall, processor = time.perf_counter(), time.process_time()
    asyncio.run(way())
    return Cost(time.process_time() - processor, time.perf_counter() - wall, 0)
