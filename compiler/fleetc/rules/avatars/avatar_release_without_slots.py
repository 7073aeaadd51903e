"""The release of an avatar stack is too old for the spec.

Why: slots came with v1.3.0-beta.1. Service images have the release as their tag from v1.3.1-beta.2 on; before, no image
has that tag.

Example:

    [fleet]
    avatar_release = "v1.2.4"

    [avatars.stage]
    slots = 2

Instead:

    [fleet]
    avatar_release = "v1.3.6"

    [avatars.stage]
    slots = 2
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error, warning
from fleetc.upstream.avatar import ABILITIES


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the release of each stack, and the tag of its images, with the first release that can do it."""
    for stack in fleet.stacks:
        release = effective_avatar.release_of(fleet, stack)
        tag = effective_avatar.image_tag(fleet, stack)
        if effective_avatar.can(fleet, stack, "slots") is False:
            yield error(
                "avatar-release-without-slots",
                f"{release.value} of {stack.name} has no slots: they came with {ABILITIES['slots']}",
                Label(release.origin.paths[0]),
                [Label((*stack.path, "slots"), "the slots", on_key=True)],
                f'write avatar_release = "{ABILITIES["images-per-release"]}" or a newer one',
            )
        elif tag.value.release is not None and tag.value.release < ABILITIES["images-per-release"]:
            yield warning(
                "avatar-release-without-slots",
                f"the services of {stack.name} have no images with the tag {tag.value}",
                Label(tag.origin.paths[0]),
                help=f"images have a tag for each release from {ABILITIES['images-per-release']} on: use one of them",
            )
