"""Sessions or recordings are inside the checkout of the avatar stack.

Why: a single extra file makes the checkout dirty. The command line then skips updates, and remote upgrades are refused
with an answer that looks like success.

Example:

    [avatars.stage]
    slots = 2
    project_dir = "/srv/stack"
    recordings_dir = "/srv/stack/recordings"

Instead:

    [avatars.stage]
    slots = 2
    project_dir = "/srv/stack"
    recordings_dir = "/srv/recordings"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the directories of each stack; a checkout inside one of the two is as bad, because slots write there."""
    for stack in fleet.stacks:
        checkout = stack.settings.project_dir
        for key in ("session_dir", "recordings_dir"):
            directory: str = getattr(stack.settings, key)
            if not f"{directory}/".startswith(f"{checkout}/") and not f"{checkout}/".startswith(f"{directory}/"):
                continue
            written = [k for k in (key, "project_dir") if k in stack.settings.model_fields_set]
            yield error(
                "checkout-made-dirty",
                f"{key} of {stack.name} is {directory}, but the checkout of the stack is {checkout}",
                Label((*stack.path, written[0])),
                [Label((*stack.path, other), "the other one") for other in written[1:]],
                f"use a {key} outside the checkout",
            )
