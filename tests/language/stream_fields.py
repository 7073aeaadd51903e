"""Every field of the stream resource with values it takes and values it does not: a table for test_stream_fields.py.

In: nothing. Out: `ROWS`, one for each field, and `RESOURCE`, the fields of each object of the resource by name. A row
has JSON values for the answer of the API, and others for a declaration where those differ: there secrets are
references, whole numbers have no fraction, and fields of the service are refused whatever they hold.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

RESOURCE: dict[str, tuple[str, ...]] = {
    "": (
        *("id", "name", "kind", "creatorId", "userTags", "lastSeen", "sourceSegments", "transcodedSegments"),
        *("sourceSegmentsDuration", "transcodedSegmentsDuration", "sourceBytes", "transcodedBytes", "ingestRate"),
        *("outgoingRate", "isActive", "isHealthy", "issues", "createdByTokenName", "createdAt", "parentId"),
        *("streamKey", "pull", "playbackId", "playbackPolicy", "profiles", "projectId", "record", "recordingSpec"),
        *("multistream", "suspended", "lastTerminatedAt", "userId", "renditions"),
    ),
    "creatorId": ("type", "value"),
    "pull": ("source", "headers", "isMobile", "location"),
    "pull.location": ("lat", "lon"),
    "playbackPolicy": ("type", "webhookId", "webhookContext", "refreshInterval", "allowedOrigins"),
    "profiles.0": ("width", "name", "height", "bitrate", "fps", "fpsDen", "quality", "gop", "profile", "encoder"),
    "recordingSpec": ("profiles",),
    "recordingSpec.profiles.0": (
        *("width", "name", "height", "bitrate", "quality", "fps", "fpsDen", "gop", "profile", "encoder"),
    ),
    "multistream": ("targets",),
    "multistream.targets.0": ("profile", "videoOnly", "id", "spec"),
    "multistream.targets.0.spec": ("url", "name"),
}
"""The fields of each object; items of lists stand at place 0."""

REQUIRED: dict[str, tuple[str, ...]] = {
    "": ("name",),
    "creatorId": ("type", "value"),
    "pull": ("source",),
    "pull.location": ("lat", "lon"),
    "playbackPolicy": ("type",),
    "profiles.0": ("width", "name", "height", "bitrate", "fps"),
    "recordingSpec.profiles.0": ("bitrate",),
    "multistream.targets.0": ("profile",),
    "multistream.targets.0.spec": ("url",),
}
"""What each object must have. A declared stream may leave its name to its table."""

SERVER_OWNED = frozenset(RESOURCE[""]) - {
    *("name", "creatorId", "userTags", "pull", "playbackPolicy", "profiles", "record", "recordingSpec"),
    *("multistream", "suspended"),
}

DECLARED: dict[str, Any] = {
    "name": "main",
    "creatorId": {"type": "unverified", "value": "u"},
    "userTags": {"tag": "x"},
    "pull": {
        "source": "https://studio.example.net/live",
        "headers": {"Authorization": {"env": "STUDIO_TOKEN"}},
        "isMobile": 0,
        "location": {"lat": 52.5, "lon": 13.4},
    },
    "playbackPolicy": {"type": "webhook", "webhookId": "w", "webhookContext": {"a": 1}},
    "profiles": [{"name": "720p", "width": 1280, "height": 720, "bitrate": 3_000_000, "fps": 30}],
    "record": True,
    "recordingSpec": {"profiles": [{"bitrate": 3_000_000}]},
    "multistream": {"targets": [{"profile": "source", "spec": {"url": {"env": "TARGET_URL"}}}]},
}
"""A declared stream with every object in it."""

ANSWERED: dict[str, Any] = {
    **DECLARED,
    "id": "5a1b",
    "pull": {**DECLARED["pull"], "headers": {"Authorization": "Bearer x"}},
    "multistream": {"targets": [{"profile": "source", "id": "5a1b"}]},
}
"""An answered stream with every object in it."""


class Row(NamedTuple):
    """One field. `declared` and `undeclared` are the values for a declaration; None stands for those of the answer.

    Null is no value of TOML, so that it is left out there.
    """

    path: str
    good: tuple[Any, ...]
    bad: tuple[Any, ...]
    declared: tuple[Any, ...] | None = None
    undeclared: tuple[Any, ...] | None = None


_NO_TEXT: tuple[Any, ...] = (1, 1.5, True, [], {}, None)
_NO_NUMBER: tuple[Any, ...] = ("1", True, [], {}, None)
_NO_WHOLE: tuple[Any, ...] = ("30", 30.5, True, False, [], {}, None)
_NO_FLAG: tuple[Any, ...] = (0, 1, "true", [], {}, None)
_NO_TABLE: tuple[Any, ...] = ("x", 1, True, [], None)
_NO_LIST: tuple[Any, ...] = ("x", 1, True, {}, None)
_H264 = ("H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh")
_EXACT = 2**53
_TINY = Decimal("1e-400")


def text(path: str) -> Row:
    """Any text."""
    return Row(path, ("", "x", "Bühne 1"), _NO_TEXT)


def number(path: str) -> Row:
    """Any number."""
    return Row(path, (0, 1, -1, 1.5, 10**15), _NO_NUMBER)


def flag(path: str) -> Row:
    """True or false."""
    return Row(path, (True, False), _NO_FLAG)


def whole(path: str, low: int, high: int | None = None) -> Row:
    """A whole number with bounds; an answer may write it as 30.0, a declaration may not."""
    good = (low, low + 1, high if high is not None else 2**31)
    outside = (low - 1,) if high is None else (low - 1, high + 1)
    bad = (*outside, *_NO_WHOLE)
    return Row(path, (*good, float(low + 1)), bad, good, (*bad, float(low + 1)))


def word(path: str, *words: str) -> Row:
    """One of a few words, in exactly this spelling."""
    return Row(path, words, ("", words[0].swapcase(), f"{words[0]} ", *_NO_TEXT))


def limited(path: str) -> Row:
    """A text of 1 to 500 characters."""
    return Row(path, ("x", "x" * 500, "ü" * 500), ("", "x" * 501, *_NO_TEXT))


def _profile(path: str, encoders: tuple[str, ...]) -> tuple[Row, ...]:
    return (
        whole(f"{path}.width", 128),
        limited(f"{path}.name"),
        whole(f"{path}.height", 128),
        whole(f"{path}.bitrate", 400),
        whole(f"{path}.fps", 0),
        whole(f"{path}.fpsDen", 1),
        whole(f"{path}.quality", 0, 44),
        Row(f"{path}.gop", ("2", "intra", "", "any text"), (2, 2.0, True, [], {}, None)),
        word(f"{path}.profile", *_H264),
        word(f"{path}.encoder", *encoders),
    )


_REFERENCES = ({"env": "NAME"}, {"vault": "key"})
_NO_REFERENCE = (*_NO_TEXT, {"env": ""}, {"env": "A", "vault": "b"}, {"host_file": "/etc/x"}, {"file": "/etc/x"})
_PROFILE = DECLARED["profiles"][0]
_ORIGINS = ("https://a.example", "http://a.example:1", "https://a.example:65535", "https://[2001:db8::1]:8443")
_NO_ORIGIN = (
    *("*", "a.example", "https://", "https://*.example", "https://a.example/", "https://a.example/path"),
    *("https://a.example?x=1", "https://a.example#x", "https://u:p@a.example", "https://a.example:0"),
    *("https://a.example:65536", "https://a.example:", "https://[::1", ""),
)

ROWS: tuple[Row, ...] = (
    text("id")._replace(good=("x", "5a1b/ü"), bad=("", ".", "..", *_NO_TEXT)),
    text("name"),
    text("kind"),
    Row(
        "creatorId",
        ({"type": "unverified", "value": ""},),
        ("u", *_NO_TABLE[1:], {}),
        ("u", "", {"type": "unverified", "value": "u"}),
        (1, True, [], {}),
    ),
    word("creatorId.type", "unverified"),
    text("creatorId.value"),
    Row(
        "userTags",
        ({}, {"a": "x", "b": 1, "c": ["x", 1.5]}),
        _NO_TABLE,
        undeclared=(*_NO_TABLE, {"$secret": "x"}, {"a": 1, "$secret": {"env": "A"}}),
    ),
    Row(
        "userTags.tag",
        ("", "x", 0, -1.5, _EXACT, [], ["x", 1, 1.5]),
        (True, None, {}, {"a": 1}, [True], [["x"]], [{}]),
        undeclared=(True, {}, {"a": 1}, [True], [["x"]], [{}], _EXACT + 1, -_EXACT - 1, _TINY, [-_TINY]),
    ),
    *map(
        number,
        (
            *("lastSeen", "sourceSegments", "transcodedSegments", "sourceSegmentsDuration"),
            *("transcodedSegmentsDuration", "sourceBytes", "transcodedBytes", "ingestRate", "outgoingRate"),
        ),
    ),
    flag("isActive"),
    Row("isHealthy", (True, False, None), (0, "true", [], {})),
    Row("issues", (None, [], ["late segments"]), ("late", 1, True, [1], {})),
    text("createdByTokenName"),
    number("createdAt"),
    text("parentId"),
    text("streamKey"),
    Row("pull", ({"source": "https://a.example/x"},), (*_NO_TABLE, {})),
    Row(
        "pull.source",
        ("https://a.example/x", "rtmp://a.example/x", "anything"),
        _NO_TEXT,
        ("https://a.example/x", "rtmp://a.example:1935/x", "srt://a.example:9000", *_REFERENCES),
        ("", "a.example/x", "/x", "https://", "https://u:p@a.example/x", *_NO_REFERENCE),
    ),
    Row(
        "pull.headers",
        ({}, {"X-One": "1", "X-Two": ""}),
        (*_NO_TABLE, {"X-One": 1}, {"X-One": None}),
        ({}, {"X-One": {"env": "A"}}),
        (
            *(*_NO_TABLE, {"X-One": "1"}, {"X One": {"env": "A"}}, {"X-One": 1}, {"$secret": {"env": "A"}}),
            {"X-One": {"env": "A"}, "x-one": {"env": "B"}},
        ),
    ),
    Row(
        "pull.isMobile",
        (True, False, 0, 1, 2, 1.0),
        (3, -1, "1", "true", 1.5, [], {}, None),
        (True, False, 0, 1, 2),
        (3, -1, "1", "true", 1.0, 1.5, [], {}),
    ),
    Row("pull.location", ({"lat": 0, "lon": 0.5},), (*_NO_TABLE, {}, {"lat": 1}, {"lon": 1})),
    number("pull.location.lat")._replace(
        declared=(90, -90, 0, 89.999), undeclared=(91, -91, 90.001, -90.001, _TINY, *_NO_NUMBER)
    ),
    number("pull.location.lon")._replace(
        declared=(180, -180, 0, 179.999), undeclared=(181, -181, 180.001, -180.001, *_NO_NUMBER)
    ),
    text("playbackId"),
    Row(
        "playbackPolicy",
        ({"type": "public"}, None),
        ("public", 1, True, [], {}),
        ({"type": "public"},),
        ("public", 1, True, [], {}),
    ),
    word("playbackPolicy.type", "public", "jwt", "webhook"),
    text("playbackPolicy.webhookId"),
    Row(
        "playbackPolicy.webhookContext",
        ({}, {"a": {"b": [1, "x", True, {"c": 1.5}]}}),
        _NO_TABLE,
        undeclared=(*_NO_TABLE, {"$secret": 1}, {"a": {"$secret": {"env": "A"}}}, {"a": _EXACT + 1}),
    ),
    number("playbackPolicy.refreshInterval")._replace(undeclared=(*_NO_NUMBER, _EXACT + 1, _TINY)),
    Row(
        "playbackPolicy.allowedOrigins",
        ([], list(_ORIGINS), ["anything"]),
        (*_NO_LIST, [1], [None]),
        ([], list(_ORIGINS), ["rtmp://a.example"]),
        (*_NO_LIST, [1], *([origin] for origin in _NO_ORIGIN)),
    ),
    Row(
        "profiles",
        ([], [_PROFILE], None),
        ("x", 1, True, {}, [1], [None]),
        ([], [_PROFILE]),
        ("x", 1, True, {}, [1]),
    ),
    *_profile("profiles.0", ("H.264",)),
    text("projectId"),
    flag("record"),
    Row("recordingSpec", ({}, {"profiles": []}), _NO_TABLE),
    Row(
        "recordingSpec.profiles",
        ([], [{"bitrate": 400}], None),
        ("x", 1, True, {}, [1], [{}]),
        ([], [{"bitrate": 400}]),
        ("x", 1, True, {}, [1], [{}]),
    ),
    *_profile("recordingSpec.profiles.0", ("H.264", "HEVC", "VP8", "VP9")),
    Row("multistream", ({}, {"targets": []}), _NO_TABLE),
    Row("multistream.targets", ([], [{"profile": "source", "id": "a"}]), (*_NO_LIST, [1], [{}])),
    limited("multistream.targets.0.profile"),
    flag("multistream.targets.0.videoOnly"),
    text("multistream.targets.0.id")._replace(declared=("x", "5a1b/ü"), undeclared=("", *_NO_TEXT)),
    Row("multistream.targets.0.spec", ({},), _NO_TABLE, ({"url": {"env": "A"}},), (*_NO_TABLE, {})),
    Row("multistream.targets.0.spec.url", (), (), _REFERENCES, ("rtmp://a.example/app/key", *_NO_REFERENCE)),
    Row("multistream.targets.0.spec.name", (), (), ("", "twitch"), (1, True, [], {})),
    flag("suspended"),
    Row("lastTerminatedAt", (None, 0, 1.5), ("1", True, [], {})),
    text("userId"),
    Row("renditions", ({}, {"720p": "url"}, {"a": 1}), _NO_TABLE),
)
