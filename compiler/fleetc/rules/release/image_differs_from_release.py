"""The images of a node or of an avatar stack are of a different release than the one its settings are checked for.

Why: flags, defaults and startup checks follow node_release. A node of another release may refuse a flag, or read it
differently. The checkout and the settings of an avatar stack follow avatar_release; a rolling image_tag changes under
a running host.

Example:

    [fleet]
    node_release = "v0.9.1"
    image = "livepeer/go-livepeer:v0.8.10"

Instead:

    [fleet]
    node_release = "v0.8.10"
    image = "livepeer/go-livepeer"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective, effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.language.images import is_pinned, release_of_tag, split_image
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning
from fleetc.upstream import Release, format_release


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the fixed tag of each node's image with the release in force; moving tags have their own rule."""
    for stack in fleet.stacks:
        image_tag, named = stack.settings.image_tag, effective_avatar.release_of(fleet, stack)
        if image_tag is not None and image_tag != named.value:
            yield warning(
                "image-differs-from-release",
                f"the services of {stack.name} have images of {image_tag}, but the stack is {named.value}",
                Label((*stack.path, "image_tag")),
                [Label(named.origin.paths[0], "the release")],
                "remove image_tag: images then use the release as their tag",
            )
    seen: set[tuple[Path, Release]] = set()
    for node in fleet.nodes:
        own = node.settings.image
        image, path = (own, (*node.path, "image")) if own else (fleet.fleet.image, ("fleet", "image"))
        if image is None or fleet.hosts[node.settings.host].runtime != "docker":
            continue
        tag, _ = split_image(image)
        release = effective.release_of(fleet, node)
        if not tag or not is_pinned(tag, "") or release_of_tag(tag) == release.value or (path, release.value) in seen:
            continue
        seen.add((path, release.value))
        found = release_of_tag(tag)
        wanted = format_release(release.value)
        yield warning(
            "image-differs-from-release",
            f"{node.name} runs the image {tag}, but its settings are for {wanted}",
            Label(path),
            [Label(release.origin.paths[0], "the release")],
            "remove the tag" + (f', or write node_release = "{format_release(found)}"' if found else ""),
        )
