"""A host with a fixed release or commit updates itself.

Why: the command line updates its checkout to the newest state of the main branch, and a sleeping host then upgrades
itself. The running release then differs from the spec.

Example:

    [avatars.stage]
    avatar_release = "v1.3.6"
    slots = 2
    cli_auto_update = true

Instead:

    [avatars.stage]
    avatar_release = "v1.3.6"
    slots = 2
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the two switches of stacks whose release is not a rolling tag."""
    for stack in fleet.stacks:
        release = effective_avatar.release_of(fleet, stack)
        if not release.value.fixed:
            continue
        for key in ("cli_auto_update", "auto_upgrade_when_sleeping"):
            if getattr(stack.settings, key):
                yield warning(
                    "avatar-updates-itself",
                    f"{stack.name} should run {release.value}, but {key} replaces it with the newest version",
                    Label((*stack.path, key)),
                    [Label(release.origin.paths[0], "the release")],
                    f"remove {key}, or use a rolling tag as the release",
                )
