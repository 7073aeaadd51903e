"""The service refuses a target of a stream.

Why: a target is an existing one, by id, or a new one, by spec, and never both. It gets a rendition of the stream, once:
a platform that gets a stream twice with one key drops one of them. Without profiles, the renditions are the default
ladder; with profiles = [] there is only the source.

Example:

    [streams.main]
    profiles = []
    multistream = { targets = [{ profile = "720p", id = "5a1b" }] }

Instead:

    [streams.main]
    profiles = []
    multistream = { targets = [{ profile = "source", id = "5a1b" }] }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.renditions import stream_rungs
from fleetc.language.stream import Target
from fleetc.places.diagnostic import Diagnostic, Label, Path, error
from fleetc.upstream.stream_api import SOURCE

_CODE = "stream-target-refused"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at each target of each stream, existing ones by id and new ones by the reference in their address."""
    for name, stream in sorted(fleet.streams.items()):
        targets = (stream.multistream.targets if stream.multistream else None) or ()
        known = [*dict.fromkeys(rung.name or "" for rung in stream_rungs(fleet, name).value), SOURCE] if targets else []
        seen: dict[tuple[str, ...], Path] = {}
        for index, target in enumerate(targets):
            path = ("streams", name, "multistream", "targets", index)
            if target.profile not in known:
                message = f'stream {name} has no rendition "{target.profile}" to push'
                advice = fleet.suggestions.did_you_mean(target.profile, known)
                yield error(_CODE, message, Label((*path, "profile")), help=advice)
            if (target.id is None) == (target.spec is None):
                yield _without_one_place(f"target {index + 1} of stream {name}", target, path)
            spec = target.spec
            key = ("id", target.id) if target.id is not None else (spec.url.kind, spec.url.name) if spec else ()
            before = seen.setdefault((target.profile, *key), path) if key else path
            if before != path:
                message = f'stream {name} pushes "{target.profile}" to the same target twice'
                yield error(
                    _CODE, message, Label(path, "here again"), [Label(before, "first here")], "keep one of them"
                )


def _without_one_place(who: str, target: Target, path: Path) -> Diagnostic:
    if target.id is None:
        advice = 'write id = "..." of an existing target, or spec = { url = { env = "NAME" } } for a new one'
        return error(_CODE, f"{who} has neither an id nor a spec", Label(path), help=advice)
    existing = [Label((*path, "id"), "the existing one")]
    advice = "keep id for an existing target, or spec for a new one"
    return error(_CODE, f"{who} has both an id and a spec", Label((*path, "spec"), "the new one"), existing, advice)
