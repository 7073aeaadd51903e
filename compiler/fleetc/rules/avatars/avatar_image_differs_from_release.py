"""The service images of an avatar stack have a different tag than its release.

Why: the checkout, the settings and the checks follow the release, but the services would behave like another one. A
rolling tag changes under a running host.

Example:

    [avatars.stage]
    avatar_release = "v1.3.6"
    image_tag = "latest"
    slots = 2

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
    """Compare the two where both are written."""
    for stack in fleet.stacks:
        tag = stack.settings.image_tag
        release = effective_avatar.release_of(fleet, stack)
        if tag is not None and tag != release.value:
            yield warning(
                "avatar-image-differs-from-release",
                f"the services of {stack.name} have images of {tag}, but the stack is {release.value}",
                Label((*stack.path, "image_tag")),
                [Label(release.origin.paths[0], "the release")],
                "remove image_tag: images then use the release as their tag",
            )
