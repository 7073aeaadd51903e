"""Asks the stream API about declared streams, several at a time, and compares each answer with its declaration.

In: a client, the blueprints of streams, and what is known of their ids. Out: a `Report` for each, in the order of the
blueprints. A stream without an id is not asked about: names are not unique in the service, so none is looked up by its
name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.online.http import Client, Failure
from fleetc.stream_api.data import UNKNOWN, Report
from fleetc.stream_api.drift import compare
from fleetc.stream_api.ids import Known
from fleetc.stream_api.observed import INVALID, MISSING, STREAM, UNREACHABLE, StreamAnswer, read_body
from fleetc.stream_api.steps import creation, path_of_id

Values = Mapping[tuple[str, str], str]
"""Values of secrets by kind and reference."""


async def ask_all(
    client: Client,
    blueprints: Sequence[StreamBlueprint],
    known: Mapping[str, Known],
    values: Values,
    tell: Callable[[Report], None],
) -> list[Report]:
    """A report for each stream; `tell` gets each as it comes."""
    reports: dict[int, Report] = {}
    waiting = iter(enumerate(blueprints))

    async def work() -> None:
        for place, blueprint in waiting:
            reports[place] = await ask(client, blueprint, known.get(blueprint.name), values)
            tell(reports[place])

    async with asyncio.TaskGroup() as group:
        for _ in range(min(client.limits.at_once, len(blueprints))):
            group.create_task(work())
    return [reports[place] for place in range(len(blueprints))]


async def ask(client: Client, blueprint: StreamBlueprint, known: Known | None, values: Values) -> Report:
    """How one stream is, compared with its declaration."""
    if known is None:
        reason = "no id of it is known; --apply creates it"
        return Report(blueprint.name, MISSING, steps=creation(blueprint), reasons=(reason,))
    if known.id is None:
        reason = "the answer to the request that creates it was lost: look for a stream named "
        reason += (
            f'"{blueprint.request.content["name"]}" in the service, and write its id; or remove its entry if there '
        )
        reason += "is none, so that --apply creates it"
        return Report(blueprint.name, UNKNOWN, reasons=(known.why or reason,))
    answer = await ask_by_id(client, known.id)
    if answer.kind == MISSING:
        reason = "this id does not exist, or is of another account or project; if it is gone, remove its entry"
        answer = replace(answer, reasons=(*answer.reasons, reason))
    return compare(blueprint, answer, known.targets, values)


async def ask_by_id(client: Client, stream_id: str) -> StreamAnswer:
    """What the service answers about an id. The answer has that id, even where the service leaves it out."""
    reply = await client.get(path_of_id(stream_id))
    if isinstance(reply, Failure):
        return StreamAnswer(UNREACHABLE, {}, (reply.reason,))
    answer = read_body(reply.body, reply.status)
    if answer.kind != STREAM:
        return answer
    if answer.stream.get("id", stream_id) != stream_id:
        return StreamAnswer(INVALID, {}, ("it is about a stream with another id",))
    return replace(answer, stream={**answer.stream, "id": stream_id})
