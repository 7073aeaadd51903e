"""Two releases of the node have programs with one digest.

Why: the same bytes cannot be two releases. You probably copied a table and kept its digest. A host would refuse the
program, which reports another release.

Example:

    [programs."v0.9.0"]
    url = "https://downloads.example.net/v0.9.0/livepeer"
    sha256 = "1111111111111111111111111111111111111111111111111111111111111111"

    [programs."v0.9.1"]
    url = "https://downloads.example.net/v0.9.1/livepeer"
    sha256 = "1111111111111111111111111111111111111111111111111111111111111111"

Instead:

    [programs."v0.9.0"]
    url = "https://downloads.example.net/v0.9.0/livepeer"
    sha256 = "1111111111111111111111111111111111111111111111111111111111111111"

    [programs."v0.9.1"]
    url = "https://downloads.example.net/v0.9.1/livepeer"
    sha256 = "2222222222222222222222222222222222222222222222222222222222222222"
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, Path, error


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the digests of all programs and builds."""
    first: dict[str, tuple[str, Path]] = {}
    for release, program in sorted(fleet.programs.items()):
        place: Path = ("programs", release)
        builds = [(place, program.sha256)]
        builds += [((*place, "builds", name), build.sha256) for name, build in sorted(program.builds.items())]
        for at, digest in builds:
            before, known = first.setdefault(digest, (release, (*at, "sha256")))
            if before != release:
                yield error(
                    "program-digest-used-twice",
                    f"{before} and {release} have programs with one digest, and one program cannot be both",
                    Label((*at, "sha256")),
                    [Label(known, f"that of {before}")],
                    "copy each digest from the checksums of its own release",
                )
