"""Sessions and recordings of a slot lie in one directory.

Why: each slot has the directory of its name below `session_dir` and below `recordings_dir`. Where one is the other, or
holds it, whoever may have the recorder hand out and delete files reaches those of sessions too.

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
            f"sessions of {stack.name} lie below {sessions} and its recordings below {recordings}: slots mix the two",
            Label((*stack.path, written[0])),
            [Label((*stack.path, other), "the other one") for other in written[1:]],
            f'write directories of their own, such as session_dir = "{outer}/sessions" and '
            f'recordings_dir = "{outer}/recordings"',
        )


def _holds(outer: str, inner: str, slugs: set[str]) -> bool:
    """Whether a slot's directory below `outer` holds the whole of `inner`."""
    return inner.startswith(f"{outer}/") and inner.removeprefix(f"{outer}/").split("/")[0] in slugs
