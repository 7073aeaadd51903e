"""The release of an avatar stack is too old for the spec.

Why: the release that runs does not read a setting that came later, and an unchecked token protects nothing. Slots came
with v1.3.0-beta.1. Service images have the release as their tag from v1.3.1-beta.2 on; before, no image has that tag.

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
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.upstream.avatar import ABILITIES, settings

_CODE = "avatar-release-too-old"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the release of each stack with the first that has its slots, its images and its settings."""
    for stack in fleet.stacks:
        release = effective_avatar.release_of(fleet, stack)
        tag = effective_avatar.image_tag(fleet, stack)
        if effective_avatar.can(fleet, stack, "slots") is False:
            yield error(
                _CODE,
                f"{release.value} of {stack.name} has no slots: they came with {ABILITIES['slots']}",
                Label(release.origin.paths[0]),
                [Label((*stack.path, "slots"), "the slots", on_key=True)],
                f'write avatar_release = "{ABILITIES["images-per-release"]}" or a newer one',
            )
        elif tag.value.release is not None and tag.value.release < ABILITIES["images-per-release"]:
            yield warning(
                _CODE,
                f"the services of {stack.name} have no images with the tag {tag.value}",
                Label(tag.origin.paths[0]),
                help=f"images have a tag for each release from {ABILITIES['images-per-release']} on: use one of them",
            )
        for setting in settings().values():
            if release.value.release is None or setting.since is None or setting.since <= release.value.release:
                continue
            if _written(stack.settings, setting.field):
                yield warning(
                    _CODE,
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
