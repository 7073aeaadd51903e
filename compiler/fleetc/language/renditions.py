"""Who uses which list of renditions, and what each of its destinations gets.

In: a sound `Fleet`. Out: `Rung`s, their entries in the three destinations, and every list with its users
(`rendition_lists`). Rules and lowering both ask here, so that what is checked is what is emitted. The destinations: the
payload of a stream (`api_entry`), and the node's file and a webhook's answer (`node_entry`), which the node reads
alike; `rung_places` has the origin of each value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from fleetc.language.answers import once_for_all
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, Origin, default, derived, given
from fleetc.upstream.stream_api import DEFAULT_PROFILES

_GOP = re.compile(r"(0|[1-9][0-9]{0,4})(\.[0-9]{1,6})?")
INTRA = "intra"
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,499}")
"""Rendition names that work in paths."""


class Rung(NamedTuple):
    """One rendition and its place in the spec. Undeclared values are None; a default has the place of its stream."""

    path: Path
    name: str | None
    width: int | None
    height: int | None
    bitrate: int
    fps: int | None
    fps_den: int | None
    quality: int | None
    gop: str | None
    profile: str | None
    encoder: str | None
    color_depth: int | None = None
    chroma_format: int | None = None

    @property
    def title(self) -> str:
        """What messages call it: its name, or its position in the list."""
        return self.name or f"number {int(self.path[-1]) + 1}"

    def at(self, key: str) -> Path:
        """The place of one of its keys, as spelled in the spec."""
        return (*self.path, key)


class Renditions(NamedTuple):
    """One list and its users: `streams` whose payload has it, `files` of gateways, and `answers` about streams."""

    path: Path
    rungs: tuple[Rung, ...]
    streams: tuple[str, ...]
    files: tuple[str, ...]
    answers: tuple[str, ...]

    @property
    def to_node(self) -> bool:
        """Whether a node of this fleet gets the list."""
        return bool(self.files or self.answers)


def rungs_of(path: Path, profiles: Any) -> tuple[Rung, ...]:
    """The rungs of a list of profiles at a place of the spec, whichever kind of profile it holds."""
    return tuple(_rung((*path, place), profile) for place, profile in enumerate(profiles))


def _rung(path: Path, profile: Any) -> Rung:
    return Rung(
        path,
        profile.name,
        profile.width,
        profile.height,
        profile.bitrate,
        profile.fps,
        profile.fpsDen,
        profile.quality,
        profile.gop,
        profile.profile,
        profile.encoder,
        getattr(profile, "colorDepth", None),  # only ladders have these two
        getattr(profile, "chromaFormat", None),
    )


def plain_gop(text: str) -> str | None:
    """The canonical spelling of a key frame interval: "2" for "2.0"; None unless it is a number or "intra"."""
    if text == INTRA:
        return INTRA
    if not _GOP.fullmatch(text):
        return None
    return text.rstrip("0").rstrip(".") if "." in text else text


def api_entry(rung: Rung) -> dict[str, Any]:
    """A rung as in the payload of a stream: H.264 is the API's default, and is not written."""
    return _entry(rung, None if rung.encoder == "H.264" else rung.encoder)


def recording_entry(rung: Rung) -> dict[str, Any]:
    """A rung of a recording as in the payload; its codec has no default."""
    return _entry(rung, rung.encoder)


def _entry(rung: Rung, encoder: str | None, fps: int | None = None) -> dict[str, Any]:
    entry = {
        "name": rung.name,
        "width": rung.width,
        "height": rung.height,
        "bitrate": rung.bitrate,
        "fps": rung.fps if fps is None else fps,
        "fpsDen": rung.fps_den,
        "quality": rung.quality,
        "gop": rung.gop if rung.gop is None else plain_gop(rung.gop) or rung.gop,
        "profile": rung.profile,
        "encoder": encoder,
    }
    return {key: value for key, value in entry.items() if value is not None}


def node_entry(rung: Rung) -> dict[str, Any]:
    """A rung as the node reads it, with the keys that have an effect.

    A written fpsDen, even 1, narrows the choice of orchestrators, and quality 0 is what the node does anyway.
    """
    entry = _entry(rung, None if rung.encoder == "H.264" else rung.encoder, rung.fps or 0)
    if entry.get("fpsDen") == 1:
        del entry["fpsDen"]
    if entry.get("quality") == 0:
        del entry["quality"]
    more = {"colorDepth": rung.color_depth, "chromaFormat": rung.chroma_format}
    return entry | {key: value for key, value in more.items() if value is not None}


def rung_places(
    rungs: Sequence[Rung], below: Path = (), entry: Callable[[Rung], dict[str, Any]] = node_entry
) -> dict[Path, Origin]:
    """The origin of each value of a list of rungs at `below` in a file, written by `entry`."""
    return {(*below, index, key): _rung_origin(rung, key) for index, rung in enumerate(rungs) for key in entry(rung)}


def _rung_origin(rung: Rung, key: str) -> Origin:
    if isinstance(rung.path[-1], str):  # the path of a whole stream: this rung is a default
        return default("the default ladder of the stream API", rung.path)
    if key == "fps" and rung.fps is None:
        return default("the frame rate of the source", rung.path)
    return given(*rung.at(key))


def stream_rungs(fleet: Fleet, name: str) -> Chosen[tuple[Rung, ...]]:
    """The renditions of a stream: its ladder, its own list (which may be empty), or the default of the service."""
    stream = fleet.streams[name]
    path = ("streams", name)
    if stream.ladder is not None:
        origin = derived("the ladder", (*path, "ladder"), ("ladders", stream.ladder))
        return Chosen(rungs_of(("ladders", stream.ladder, "profiles"), fleet.ladders[stream.ladder].profiles), origin)
    if stream.profiles is not None:
        return Chosen(rungs_of((*path, "profiles"), stream.profiles), given(*path, "profiles"))
    rungs = tuple(
        Rung(path, *(row[key] for key in ("name", "width", "height", "bitrate", "fps")), *[None] * 5)
        for row in DEFAULT_PROFILES
    )
    return Chosen(rungs, default("the default ladder of the stream API", path))


def gateway_rungs(fleet: Fleet, name: str) -> Chosen[tuple[Rung, ...]] | None:
    """The renditions in a gateway's own file: its ladder, or the shared ladder of its streams.

    None if the node uses its built-in renditions, or if each stream gets its own from a webhook.
    """
    gateway = fleet.gateways[name]
    path = ("gateways", name)
    if gateway.ladder is not None:
        rungs = rungs_of(("ladders", gateway.ladder, "profiles"), fleet.ladders[gateway.ladder].profiles)
        return Chosen(rungs, derived("the ladder", (*path, "ladder"), ("ladders", gateway.ladder)))
    streams = fleet.streams_by_gateway.get(name, ())
    if gateway.renditions or not streams:
        return None
    first, *others = (stream_rungs(fleet, stream) for stream in streams)
    if not first.value or any(entries(other.value) != entries(first.value) for other in others):
        return None
    places = (*first.origin.paths, *(("streams", stream, "gateway") for stream in streams))
    return Chosen(first.value, derived("the ladder of the streams that are sent to it", *places))


def entries(rungs: tuple[Rung, ...]) -> list[dict[str, Any]]:
    """Rungs as the node reads them, in their order."""
    return [node_entry(rung) for rung in rungs]


@once_for_all
def rendition_lists(fleet: Fleet) -> tuple[Renditions, ...]:
    """Every list of renditions that the spec writes, by place, with its users; a ladder may have none."""
    return _lists(fleet) if fleet.ladders or fleet.streams else ()


def recordings(fleet: Fleet) -> Iterator[tuple[Rung, ...]]:
    """The renditions of each stream's recordings, if the spec has them; they reach no node."""
    for name, stream in sorted(fleet.streams.items()):
        if stream.recordingSpec is not None and stream.recordingSpec.profiles is not None:
            yield rungs_of(("streams", name, "recordingSpec", "profiles"), stream.recordingSpec.profiles)


def written_rungs(fleet: Fleet) -> Iterator[Rung]:
    """Every rung that the spec writes, in ladders, in streams and for recordings."""
    for found in rendition_lists(fleet):
        yield from found.rungs
    for rungs in recordings(fleet):
        yield from rungs


def _lists(fleet: Fleet) -> tuple[Renditions, ...]:
    lists: dict[Path, tuple[Rung, ...]] = {}
    users: dict[Path, tuple[list[str], list[str], list[str]]] = {}

    def note(path: Path, rungs: tuple[Rung, ...], place: int, user: str) -> None:
        lists.setdefault(path, rungs)
        users.setdefault(path, ([], [], []))[place].append(user)

    for name, ladder in fleet.ladders.items():
        path: Path = ("ladders", name, "profiles")
        lists[path], users[path] = rungs_of(path, ladder.profiles), ([], [], [])
    for name, stream in sorted(fleet.streams.items()):
        rungs = stream_rungs(fleet, name).value
        path = ("ladders", stream.ladder, "profiles") if stream.ladder else ("streams", name, "profiles")
        if stream.ladder is None and stream.profiles is None:
            continue  # the service's own ladder is sound everywhere
        note(path, rungs, 0, name)
        if stream.gateway is not None:
            note(path, rungs, 2, name)
    for name in sorted(fleet.gateways):
        chosen = gateway_rungs(fleet, name)
        if chosen is not None and chosen.value and chosen.value[0].path[:-1] in lists:
            note(chosen.value[0].path[:-1], chosen.value, 1, name)
    return tuple(Renditions(path, lists[path], *map(tuple, users[path])) for path in sorted(lists, key=str))
