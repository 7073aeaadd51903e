"""fleetc does not know what is in the release of a node or of an avatar stack.

Why: fleetc uses the flags, defaults and startup checks of the newest release it fully knows, and the few public facts
about later ones. The release may refuse a flag, or read it differently, and fleetc cannot see that. Put its new flags
into extra_flags; they are passed as written. A newer fleetc knows more releases. For an avatar release that it does not
know, fleetc assumes the behaviour of the nearest older one. A rolling tag such as latest is different every day, and
the tag of a commit, such as sha-1a2b3c4, does not tell the release.

Example:

    [fleet]
    node_release = "v0.9.9"

Instead:

    [fleet]
    node_release = "v0.9.1"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective, effective_avatar
from fleetc.language.avatar_fields import AvatarTag
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning
from fleetc.upstream import NEWEST_RELEASE, Release, avatar, format_release
from fleetc.upstream.releases import releases

_CODE = "release-unknown"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each release that a node or a stack uses, where it is written."""
    seen: set[Path] = set()
    for stack in fleet.stacks:
        named = effective_avatar.release_of(fleet, stack)
        place = named.origin.paths[0]
        if place not in seen and named.value.release not in avatar.RELEASES:
            seen.add(place)
            yield _avatar(named.value, place)
    for node in fleet.nodes:
        release = effective.release_of(fleet, node)
        place = release.origin.paths[0]
        if place not in seen and release.value > NEWEST_RELEASE:
            seen.add(place)
            yield warning(
                _CODE,
                f"{format_release(release.value)} is newer than this version of fleetc, which assumes the flags and "
                f"startup of {format_release(NEWEST_RELEASE)}{_further(release.value)}",
                Label(place),
                help="read what the release changed, put flags that fleetc does not know into extra_flags, then "
                "silence this warning",
            )


def _further(release: Release) -> str:
    """The later releases that some facts are known about."""
    known = [facts.release for facts in releases() if NEWEST_RELEASE < facts.release <= release]
    return f", and what is public about {' and '.join(map(format_release, known))}" if known else ""


def _avatar(tag: AvatarTag, place: Path) -> Diagnostic:
    if tag.release is None:
        return warning(
            _CODE,
            f"{tag} is a {tag.kind}: fleetc cannot know what it can do",
            Label(place),
            help=f'write a release, such as "{avatar.NEWEST_RELEASE}"',
        )
    older = [known for known in avatar.RELEASES if known < tag.release]
    taken = f"it assumes that it works like {older[-1]}" if older else "it is older than all known ones"
    first = next(known for known in avatar.RELEASES if known.dated)
    if tag.release.dated and tag.release < first:
        taken += f"; the first release in date form is of March 2026, {first}"
    return warning(
        _CODE,
        f"this version of fleetc does not know the release {tag}: {taken}",
        Label(place),
        help=f'write a known release, such as "{avatar.NEWEST_RELEASE}", or silence the warning',
    )
