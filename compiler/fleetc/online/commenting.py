"""Keeps one comment on a pull request: creates it once and gives it another text after that.

In: a `Forge`, the number of the pull request, a marker, a text that begins with it. Out: what was done, in a word.

Marker and author identify the comment: markers of others are ignored. No service has a request that creates a comment
only if there is none. So two runs at once can both create one. Each looks again afterwards, keeps the oldest and
removes its others.
"""

from __future__ import annotations

from fleetc.online.forges import Comment, Forge, ForgeError, NotCreatedError
from fleetc.online.http import Client

CREATED, UPDATED, UNCHANGED = "created", "updated", "unchanged"
_TRIES = 4
_WAITS = (1.0, 3.0, 9.0)


async def keep_comment(client: Client, forge: Forge, number: int, marker: str, text: str) -> str:
    """Make the pull request have this comment, and no other of ours with this marker. Raises `ForgeError`."""
    me = await forge.own_name()
    for attempt in range(_TRIES):
        mine = await _own(forge, number, me, marker)
        if mine:
            if await _settle(forge, number, mine, text):
                return UNCHANGED if mine[0].body == text else UPDATED
            continue  # removed in the meantime
        try:
            await forge.create(number, text)
        except NotCreatedError as unknown:
            if attempt == _TRIES - 1 or not await client.pause(max(_WAITS[attempt], unknown.wait)):
                break
            continue
        await _settle(forge, number, await _own(forge, number, me, marker), text)
        return CREATED
    raise ForgeError("the service took no comment; it may have one now, which the next run finds")


async def _own(forge: Forge, number: int, me: str, marker: str) -> list[Comment]:
    """Our comments with this marker as their first line, the oldest first."""
    own = (comment for comment in await forge.comments(number) if comment.author == me)
    return sorted(comment for comment in own if comment.body.partition("\n")[0].rstrip("\r") == marker)


async def _settle(forge: Forge, number: int, mine: list[Comment], text: str) -> bool:
    """Give the oldest one the text and remove the others; False if it is gone. An empty list is a list that is late."""
    there = not mine or mine[0].body == text or await forge.update(number, mine[0].id, text)
    for other in mine[1:]:
        await forge.remove(number, other.id)
    return there
