"""Sessions and recordings of a slot are in the same directory, or inside the checkout of the avatar stack.

Why: each slot has a directory of its name below `session_dir` and below `recordings_dir`. If the two overlap, anybody
who may read and delete files through the recorder reaches session files too. A single extra file makes the checkout
dirty: the command line then skips updates, and remote upgrades are refused with an answer that looks like success.

Example:

    [avatars.stage]
    slots = 2
    session_dir = "/srv/stage"
    recordings_dir = "/srv/stage"

Instead:

    [avatars.stage]
    slots = 2
    session_dir = "/srv/stage/sessions"
    recordings_dir = "/srv/stage/recordings"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, error, warning

_CODE = "avatar-directories-meet"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the three directories of each stack; a checkout inside another is as bad, because slots write there."""
    for stack in fleet.stacks:
        yield from _mixed(fleet, stack)
        checkout = stack.settings.project_dir
        for key, directory in (
            ("session_dir", stack.settings.session_dir),
            ("recordings_dir", stack.settings.recordings_dir),
        ):
            if f"{directory}/".startswith(f"{checkout}/") or f"{checkout}/".startswith(f"{directory}/"):
                message = f"{key} of {stack.name} is {directory}, but the checkout of the stack is {checkout}"
                labels = _written(stack, key, "project_dir")
                yield error(_CODE, message, labels[0], labels[1:], f"use a {key} outside the checkout")


def _mixed(fleet: Fleet, stack: Stack) -> Iterator[Diagnostic]:
    sessions, recordings = stack.settings.session_dir, stack.settings.recordings_dir
    outer, inner = sorted((sessions, recordings), key=len)
    slugs = {slot.slug for slot in effective_avatar.slots_of(fleet, stack)}
    if outer == inner or (inner.startswith(f"{outer}/") and inner.removeprefix(f"{outer}/").split("/")[0] in slugs):
        message = f"sessions of {stack.name} are below {sessions} and its recordings below {recordings}"
        labels = _written(stack, "recordings_dir", "session_dir")
        pair = f'session_dir = "{outer}/sessions" and recordings_dir = "{outer}/recordings"'
        yield warning(
            _CODE, f"{message}: slots mix the two", labels[0], labels[1:], f"use separate directories, such as {pair}"
        )


def _written(stack: Stack, *keys: str) -> list[Label]:
    written = [key for key in keys if key in stack.settings.model_fields_set]
    return [Label((*stack.path, key), "the other one" if at else "") for at, key in enumerate(written)]
