"""A setting of an avatar stack came with a later release.

Why: the release that runs does not read it. An unchecked token protects nothing.

Example:

    [avatars.stage]
    avatar_release = "v1.3.5"
    slots = 2
    runner_token = { env = "AVATAR_RUNNER_TOKEN" }

Instead:

    [avatars.stage]
    avatar_release = "v1.3.6"
    slots = 2
    runner_token = { env = "AVATAR_RUNNER_TOKEN" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fields import Base
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning
from fleetc.upstream.avatar import settings


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the settings in the spec that came with a later release."""
    for stack in fleet.stacks:
        release = effective_avatar.release_of(fleet, stack)
        for setting in settings().values():
            if release.value.release is None or setting.since is None or setting.since <= release.value.release:
                continue
            if _written(stack.settings, setting.field):
                yield warning(
                    "avatar-setting-unknown-to-release",
                    f"{release.value} of {stack.name} does not read {setting.field}: it came with {setting.since}",
                    Label((*stack.path, *setting.field.split(".")), on_key=True),
                    [Label(release.origin.paths[0], "the release")],
                    f"remove it, or write {setting.since} or a newer release",
                )


def _written(table: Base, field: str) -> bool:
    """Whether the spec has the field, which may be in a table below: `game_files.engine`."""
    key, _, below = field.partition(".")
    if key not in table.model_fields_set:
        return False
    return not below or _written(getattr(table, key), below)
