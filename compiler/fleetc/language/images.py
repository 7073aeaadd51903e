"""The meaning of a container image's tag: fixed or moving, and the node release.

In: the text of an image. Out: its tag and digest, and answers about them. Called by the rules about images.
"""

from __future__ import annotations

import re

from fleetc.upstream import Release, parse_release

_MOVING = frozenset({"latest", "master", "main", "stable", "nightly", "edge", "dev", "develop", "staging"})
_SERIES = re.compile(r"v?[0-9]+(\.[0-9]+)?")


def split_image(image: str) -> tuple[str, str]:
    """Tag and digest of an image; either may be ""."""
    rest, _, digest = image.partition("@")
    last = rest.rsplit("/", 1)[-1]
    return last.partition(":")[2], digest


def is_pinned(tag: str, digest: str) -> bool:
    """Whether the image never changes: it has a digest, or a tag that is no branch or series such as v0.9."""
    return bool(digest) or (bool(tag) and tag not in _MOVING and not _SERIES.fullmatch(tag))


def release_of_tag(tag: str) -> Release | None:
    """The node release that a tag names, with or without the v; None for any other tag."""
    try:
        return parse_release(tag if tag.startswith("v") else f"v{tag}")
    except ValueError:
        return None
