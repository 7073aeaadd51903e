"""fleetc does not know what is in the release of an avatar stack.

Why: a rolling tag such as latest is different every day, so fleetc cannot check what its settings do. The tag of a
commit, such as sha-1a2b3c4, stays the same, but does not tell the release either. For a release that this version of
fleetc does not know, it assumes the behaviour of the nearest older one, which may be wrong.

Example:

    [fleet]
    avatar_release = "latest"

Instead:

    [fleet]
    avatar_release = "v1.3.6"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.avatar_fields import AvatarTag
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning
from fleetc.upstream.avatar import NEWEST_RELEASE, RELEASES


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each release that a stack uses, where it is written."""
    seen: set[Path] = set()
    for stack in fleet.stacks:
        release = effective_avatar.release_of(fleet, stack)
        place = release.origin.paths[0]
        if place not in seen and release.value.release not in RELEASES:
            seen.add(place)
            yield _unknown(release.value, place)


def _unknown(tag: AvatarTag, place: Path) -> Diagnostic:
    if tag.release is None:
        return warning(
            "avatar-release-unknown",
            f"{tag} is a {tag.kind}: fleetc cannot know what it can do",
            Label(place),
            help=f'write a release, such as "{NEWEST_RELEASE}"',
        )
    older = [known for known in RELEASES if known < tag.release]
    taken = f"it assumes that it works like {older[-1]}" if older else "it is older than all known ones"
    return warning(
        "avatar-release-unknown",
        f"this version of fleetc does not know the release {tag}: {taken}",
        Label(place),
        help=f'write a known release, such as "{NEWEST_RELEASE}", or silence the warning',
    )
