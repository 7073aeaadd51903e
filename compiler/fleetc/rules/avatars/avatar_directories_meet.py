"""Sessions and recordings of a slot are in the same directory.

Why: each slot has a directory of its name below `session_dir` and below `recordings_dir`. If the two overlap, anybody
who may read and delete files through the recorder reaches session files too.

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
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the directories of the slots of each stack; one warning for each stack."""
    for stack in fleet.stacks:
        settings = stack.settings
        sessions, recordings = settings.session_dir, settings.recordings_dir
        outer, inner = sorted((sessions, recordings), key=len)
        slugs = {slot.slug for slot in effective_avatar.slots_of(fleet, stack)}
        if outer != inner and not _holds(outer, inner, slugs):
            continue
        written = [key for key in ("recordings_dir", "session_dir") if key in settings.model_fields_set]
        yield warning(
            "avatar-directories-meet",
            f"sessions of {stack.name} are below {sessions} and its recordings below {recordings}: slots mix the two",
            Label((*stack.path, written[0])),
            [Label((*stack.path, other), "the other one") for other in written[1:]],
            f'use separate directories, such as session_dir = "{outer}/sessions" and '
            f'recordings_dir = "{outer}/recordings"',
        )


def _holds(outer: str, inner: str, slugs: set[str]) -> bool:
    """Whether a slot's directory below `outer` contains all of `inner`."""
    return inner.startswith(f"{outer}/") and inner.removeprefix(f"{outer}/").split("/")[0] in slugs
