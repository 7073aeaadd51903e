"""A stack's tag is not a release, and its remote cluster control is unset.

Why: remote cluster control is off before v1.3.5, and on in later releases. A rolling tag or the tag of a commit does
not tell the release. fleetc then writes off, which you may not want.

Example:

    [fleet]
    avatar_release = "latest"

    [avatars.stage]
    slots = 2

Instead:

    [fleet]
    avatar_release = "latest"

    [avatars.stage]
    slots = 2
    remote_cluster_control = true
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the stacks whose release should decide, but cannot."""
    for stack in fleet.stacks:
        release = effective_avatar.release_of(fleet, stack)
        if stack.settings.remote_cluster_control is None and release.value.release is None:
            yield warning(
                "cluster-control-unsaid",
                f"nobody knows whether {release.value} lets slots of {stack.name} be controlled remotely, so it is off",
                Label(stack.path, "here", on_key=True),
                [Label(release.origin.paths[0], f"a {release.value.kind}")],
                "write remote_cluster_control = true or false",
            )
