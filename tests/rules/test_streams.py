"""Borders of the rules about streams and ladders of renditions: one test for each rule, named as its code."""

from __future__ import annotations

import json

from syrupy.assertion import SnapshotAssertion

from fleetc.emit.artifacts import json_document
from fleetc.upstream import RENDITIONS
from tests.rules.support import (
    OneRule,
    broadcast,
    free_gateway,
    free_orchestrator,
    ladder,
    listed,
    offchain,
    printed,
    rung,
    silent,
    small,
    stream,
)
from tests.support import compile_text


def test_bitrate_looks_like_kilobits(rule: OneRule) -> None:
    # Rates of a stream and of its recording.
    recorded = "{ profiles = [{ bitrate = 19999 }] }"
    text = broadcast(stream(profiles=listed(rung(bitrate="400")), record="true", recordingSpec=recorded))
    assert rule.warns(text).endswith("2 warnings\n")
    # Bits a second are fine.
    silent(broadcast(ladder(rung(bitrate="20000"))))
    silent(
        broadcast(stream(profiles=listed(rung()), record="true", recordingSpec="{ profiles = [{ bitrate = 20000 }] }"))
    )


def test_frame_rate_denominator_unused(rule: OneRule) -> None:
    # Denominator without any rate.
    rule.warns(broadcast(ladder(rung(fps=None, fpsDen="1"))), "fpsDen")


def test_key_frame_interval(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Text that is no distance.
    for gop in ["2s", " 2", "Intra", "-1", "inf", "nan", "", "2.", "1e1"]:
        text = broadcast(stream(profiles=listed(rung(gop=f'"{gop}"'))))
        rule.warns(text, "gop")
    # Recording too.
    recorded = '{ profiles = [{ bitrate = 3000000, gop = "2s" }] }'
    rule.warns(broadcast(stream(record="true", recordingSpec=recorded)), "2s")
    # Distance is fine.
    for gop in ["intra", "0", "2", "2.0", "0.5"]:
        silent(broadcast(stream(profiles=listed(rung(gop=f'"{gop}"')))))
    # For a node it is an error and said once.
    found = printed(broadcast(stream(gateway='"gate"', profiles=listed(rung(gop='"2s"')))))
    assert "ladder-unfit-for-node" in found
    assert rule.code not in found
    # Node forgets the denominator.
    text = broadcast(ladder(rung(fps="30000", fpsDen="1001", gop='"2"')))
    found = rule.warns(text)
    assert "every 60000 frames" in found
    assert found == snapshot
    # Whole rate source rate and intra are fine.
    silent(broadcast(ladder(rung(fps="30", gop='"2"'))))
    silent(broadcast(ladder(rung(fps="30", fpsDen="1", gop='"2"'))))
    silent(broadcast(ladder(rung(fps="0", gop='"2"'))))
    silent(broadcast(ladder(rung(fps="30000", fpsDen="1001", gop='"intra"'))))


def test_ladder_not_ascending(rule: OneRule) -> None:
    # List of a stream and one message for a list.
    rungs = listed(rung("a", width="1920", height="1080"), rung("b"), small("c"))
    assert rule.warns(broadcast(stream(profiles=rungs))).endswith("\n1 warning\n")


FAULTS = {
    "width": rung(width="126"),
    "height": rung(width="214", height="120"),
    "bitrate": rung(bitrate="399"),
    "fps": rung(fps=None),
    "encoder": rung(encoder='"HEVC"'),
    "colorDepth": rung(colorDepth="0"),
    "chromaFormat": rung(chromaFormat="1"),
}


def test_ladder_unfit_for_api(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Each bound.
    for fault in FAULTS.values():
        assert rule.errs(broadcast(ladder(fault), stream(ladder='"live"'))) == snapshot
    # Every fault has its own message.
    text = broadcast(ladder(small(height="120", encoder='"VP9"'), rung(fps=None)), stream(ladder='"live"'))
    assert rule.errs(text).endswith("\n3 errors\n")
    # The node takes them.
    for key in ["height", "fps", "encoder", "colorDepth", "chromaFormat"]:
        silent(broadcast(ladder(FAULTS[key]), ladder='"live"'))
    # Bounds are fine.
    text = ladder(rung("a", width="146", height="128", bitrate="20000", fps="0", encoder='"H.264"'))
    silent(broadcast(text, stream(ladder='"live"')))


NODE_FAULTS = {
    "width": rung(width="145"),
    "height": rung(height="49"),
    "large": rung(width="4097"),
    "bitrate": rung(bitrate="2147483648"),
    "gop": rung(gop='"2s"'),
    "name": rung("a b"),
}


def test_ladder_unfit_for_node(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Each bound.
    for fault in NODE_FAULTS.values():
        assert rule.errs(broadcast(ladder(fault), ladder='"live"')) == snapshot
    # Rate beyond reason.
    text = broadcast(stream(gateway='"gate"', profiles=listed(rung(fps="1000001"))))
    rule.errs(text, "too high")
    # Profiles of a stream that the gateway gets.
    text = broadcast(
        stream(gateway='"gate"', profiles=listed(small(width="130"), rung())), auth_webhook='"https://a.example/"'
    )
    assert rule.errs(text) == snapshot
    # Each destination has its own message.
    found = printed(broadcast(ladder(rung(height="40")), stream(ladder='"live"'), ladder='"live"'))
    assert "error[ladder-unfit-for-node]" in found
    assert "error[ladder-unfit-for-api]" in found
    # Bounds are fine.
    rungs = (
        rung("a", width="146", height="50", gop='"2"'),
        rung("b", width="4096", height="4096", bitrate="2147483647", gop='"intra"'),
    )
    silent(broadcast(ladder(*rungs), ladder='"live"'))
    # The service alone takes them.
    for key in ["width", "large", "gop", "name", "bitrate"]:
        assert "error" not in printed(broadcast(stream(profiles=listed(NODE_FAULTS[key]))))


def test_low_latency_without_profile(rule: OneRule) -> None:
    # Ladder of a stream that a gateway gets.
    text = broadcast(stream(gateway='"gate"', profiles=listed(rung(gop='"0.5"'))))
    rule.warns(text, "every 0.5 s")
    # Profile longer distance or the service are fine.
    silent(broadcast(ladder(rung(gop='"1"', profile='"H264ConstrainedHigh"')), ladder='"live"'))
    silent(broadcast(ladder(rung(gop='"2"')), ladder='"live"'))
    silent(broadcast(ladder(rung(gop='"intra"')), ladder='"live"'))
    silent(broadcast(stream(profiles=listed(rung(gop='"1"')))))


def _pulled(lat: str, lon: str) -> str:
    return broadcast(
        stream(pull=f'{{ source = "https://studio.example.net/a.m3u8", location = {{ lat = {lat}, lon = {lon} }} }}')
    )


def test_pull_location_ignored(rule: OneRule) -> None:
    # Zero in any spelling.
    assert rule.warns(_pulled("-0.0", "0.00")).endswith("2 warnings\n")
    # Place nearby is fine.
    silent(_pulled("51.48", "0.01"))


def test_rendition_name(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # The word for the stream itself.
    assert rule.errs(broadcast(stream(profiles=listed(rung("source"))))) == snapshot
    # Recording.
    one = '{ name = "a", bitrate = 3000000 }'
    spec = f"{{ profiles = [{one}, {{ bitrate = 1000000 }}, {{ bitrate = 2000000 }}, {one}] }}"
    found = rule.errs(broadcast(stream(record="true", recordingSpec=spec)))
    assert found.endswith("\n1 error\n")
    silent(broadcast(ladder(small(), rung("Source"))))
    spec = "{ profiles = [{ bitrate = 1000000 }, { bitrate = 2000000 }] }"
    silent(broadcast(stream(record="true", recordingSpec=spec)))
    silent(broadcast(stream(profiles=listed(small("360p_v1.0-low"), rung()))))
    # Name that is not plain.
    for name in ["720p / sport", "a/b", "..", "ü", ".hidden"]:
        rule.warns(broadcast(stream(profiles=listed(rung(name)))), "part of paths")
    # Message.
    text = broadcast(stream(profiles=listed(small("low"), rung("LOW"))), ladder(rung("a b")))
    assert rule.warns(text) == snapshot
    # Twins are told for a node too.
    text = broadcast(ladder(small("low"), rung("Low")), ladder='"live"')
    rule.warns(text, "differ only in case")


def test_rendition_size(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Odd height of a recording.
    recorded = "{ profiles = [{ bitrate = 3000000, height = 721 }] }"
    text = broadcast(stream(profiles=listed(rung()), record="true", recordingSpec=recorded))
    rule.warns(text, "write height = 722")
    # Low rendition of a ladder that nobody uses.
    rule.warns(broadcast(ladder(rung(height="48"))), "height 48")
    silent(broadcast(ladder(rung(width="854", height="480"))))
    silent(
        broadcast(stream(profiles=listed(rung("a", width="146", height="128"), rung("b", width="4096", height="4096"))))
    )
    # Narrow rendition of a stream.
    assert rule.warns(broadcast(stream(profiles=listed(rung(width="144"))))) == snapshot
    # Large rendition.
    for key, side in [("width", "4098"), ("height", "4098")]:
        rule.warns(broadcast(stream(profiles=listed(rung(**{key: side})))), side)
    # For a node it is an error and said once.
    found = printed(broadcast(stream(gateway='"gate"', profiles=listed(rung(width="144")))))
    assert "ladder-unfit-for-node" in found
    assert rule.code not in found


TWO = (ladder(small(), name="small"), ladder(rung(), name="large"))
WEBHOOK = '"https://hooks.example.net/streams"'


def _main(**settings: str) -> str:
    return stream("main", gateway='"gate"', **settings)


def _phone(**settings: str) -> str:
    return stream("phone", gateway='"gate"', **settings)


def test_stream_ladder_needs_webhook(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Gateway with another ladder.
    assert rule.errs(broadcast(*TWO, _main(ladder='"large"'), ladder='"small"')) == snapshot
    # Gateway with built in renditions.
    text = broadcast(*TWO, _main(ladder='"large"'), renditions='["P360p30fps16x9"]')
    rule.errs(text, "those of the gateway")
    # Default differs from a ladder.
    rule.errs(broadcast(*TWO, _main(), _phone(ladder='"small"')), "different renditions")
    # Source only cannot be said in a file.
    assert rule.errs(broadcast(_main(profiles="[]"))) == snapshot
    silent(broadcast(_main(profiles="[]"), auth_webhook=WEBHOOK))
    # Webhook is fine.
    silent(broadcast(*TWO, _main(ladder='"large"'), _phone(ladder='"small"'), auth_webhook=WEBHOOK))
    silent(broadcast(*TWO, _main(ladder='"large"'), ladder='"small"', auth_webhook=WEBHOOK))
    # One ladder for all is fine.
    silent(broadcast(*TWO, _main(ladder='"small"'), _phone(ladder='"small"')))
    silent(broadcast(*TWO, _main(ladder='"small"'), _phone(profiles=listed(small(fpsDen="1", quality="0")))))
    silent(broadcast(*TWO, _main(ladder='"small"'), ladder='"small"'))
    silent(broadcast(_main(), _phone()))
    silent(broadcast(stream(profiles="[]")))


def test_stream_origin_not_web() -> None:
    # Web pages are fine.
    policy = '{ type = "public", allowedOrigins = ["https://a.example", "http://[2001:db8::1]:8080"] }'
    silent(broadcast(stream(playbackPolicy=policy)))


def test_stream_policy_webhook(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Empty ID is none.
    rule.errs(broadcast(stream(playbackPolicy='{ type = "webhook", webhookId = "" }')), "needs a webhook")
    silent(broadcast(stream(playbackPolicy='{ type = "webhook", webhookId = "w" }')))
    silent(broadcast(stream(playbackPolicy='{ type = "jwt" }')))
    silent(broadcast(stream(playbackPolicy='{ type = "webhook", webhookId = "w", webhookContext = { a = 1 } }')))
    silent(broadcast(stream(playbackPolicy='{ type = "jwt", refreshInterval = 60 }')))
    # Webhook of a public policy.
    text = broadcast(stream(playbackPolicy='{ type = "public", webhookId = "w", webhookContext = { a = 1 } }'))
    assert rule.warns(text) == snapshot


def test_stream_recording_spec_without_record(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Record switched off.
    assert rule.errs(broadcast(stream(record="false", recordingSpec="{ profiles = [] }"))) == snapshot


LIMIT = 102_400


def _told(length: int, char: str = "x") -> str:
    """A stream whose request has `length` bytes as short JSON; lines of a spec are shorter than that."""
    start = '{"name":"main","playbackPolicy":{"type":"webhook","webhookId":"w","webhookContext":{"a":"","b":""}}}'
    count, rest = divmod(length - len(start), len(char.encode()))
    half = count // 2
    texts = f'a = "{char * half}"\nb = "{char * (count - half)}{"x" * rest}"\n'
    policy = '[streams.main.playbackPolicy]\ntype = "webhook"\nwebhookId = "w"\n'
    return broadcast(stream(), f"{policy}[streams.main.playbackPolicy.webhookContext]\n{texts}")


def _tagged(length: int, char: str = "x") -> str:
    """Tags that are `length` characters as compact JSON: {"t":"..."}."""
    return broadcast(stream(userTags=f'{{ t = "{char * (length - 8)}" }}'))


def test_stream_request_too_large(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # One byte too many.
    rule.errs(_told(LIMIT + 1), f"has {LIMIT + 1} bytes as JSON, more than {LIMIT}")
    rungs = listed(*(rung(f"{'n' * 490}-{place}") for place in range(200)))
    found = rule.errs(broadcast(stream(record="true", profiles=rungs)))
    assert "help: shorten profiles, which has" in found
    assert found == snapshot
    silent(_told(LIMIT))
    silent(_tagged(2048))
    silent(_tagged(2048, "ü"))
    # Bytes are counted and not characters.
    silent(_told(LIMIT, "ü"))
    rule.errs(_told(LIMIT + 2, "ü"), f"has {LIMIT + 2} bytes")

    # Placeholders count as they stand.
    def pulled(count: int) -> str:
        headers = "\n".join(f'X-{place:04} = {{ env = "HEADER_{place:04}" }}' for place in range(count))
        pull = '[streams.main.pull]\nsource = "https://a.example/x"\n'
        return broadcast(stream(), f"{pull}[streams.main.pull.headers]\n{headers}\n")

    one = len('"X-0000":{"$secret":{"env":"HEADER_0000"}},')
    rest = len('{"name":"main","pull":{"source":"https://a.example/x","headers":{}}}')
    most = (LIMIT - rest + 1) // one  # no comma behind the last
    silent(pulled(most))
    rule.errs(pulled(most + 1), "shorten pull")
    # Measure is that of the file without spaces.
    plan = compile_text(_told(LIMIT)).blueprint
    assert plan is not None
    (planned,) = plan.streams
    short = json.dumps(json.loads(json_document(planned.request.content)), ensure_ascii=False, separators=(",", ":"))
    assert len(short.encode()) == LIMIT
    # One too many.
    rule.errs(_tagged(2049), "are 2049 characters", "keep an id here and the rest elsewhere\n")
    rule.errs(broadcast(stream("b", userTags=f"{{ a = [{', '.join(['1234.5'] * 300)}] }}")))
    # Two units for a character beyond the first plane.
    wide = "\N{GRINNING FACE}"
    silent(broadcast(stream(userTags=f'{{ t = "{wide * 1020}" }}')))
    rule.errs(broadcast(stream(userTags=f'{{ t = "{wide * 1021}" }}')), "are 2050 characters")


SPEC = '{ url = { env = "TARGET_URL" } }'


def _target(more: str) -> str:
    return broadcast(stream(multistream=f'{{ targets = [{{ profile = "source"{more} }}] }}'))


def _targets(first: str, second: str) -> str:
    return broadcast(stream(multistream=f"{{ targets = [{first}, {second}] }}"))


def _pushed(profile: str, **settings: str) -> str:
    targets = f'{{ targets = [{{ profile = "{profile}", id = "5a1b" }}] }}'
    return broadcast(ladder(small(), rung()), stream(multistream=targets, **settings))


def test_stream_target_refused(rule: OneRule, snapshot: SnapshotAssertion) -> None:
    # Neither.
    assert rule.errs(_target("")) == snapshot
    # Both.
    assert rule.errs(_target(f', id = "5a1b", spec = {SPEC}')) == snapshot
    # Same ID.
    one = '{ profile = "source", id = "5a1b" }'
    assert rule.errs(_targets(one, one.replace(" }", ", videoOnly = true }"))) == snapshot
    # Same address.
    one = '{ profile = "source", spec = { url = { env = "TARGET_URL" } } }'
    rule.errs(_targets(one, one), "twice")
    # Name that stands there twice is told once.
    rule.errs(_pushed("other", profiles=listed(rung(), rung())), "known: 720p, source\n")
    # Another rendition or target is fine.
    one = '{ profile = "source", id = "5a1b" }'
    silent(_targets(one, one.replace("source", "720p0")))
    silent(_targets(one, one.replace("5a1b", "5a1c")))
    silent(_targets(one, '{ profile = "source", spec = { url = { env = "A" } } }'))
    # Misspelt name.
    assert rule.errs(_pushed("720", ladder='"live"')) == snapshot
    # Default ladder counts when none is declared.
    assert rule.errs(_pushed("1080p0")) == snapshot
    for name in ("240p0", "360p0", "480p0", "720p0", "source"):
        silent(_pushed(name))
    # Only the source is left of no profiles.
    rule.errs(_pushed("720p0", profiles="[]"), "720p0")
    silent(_pushed("source", profiles="[]"))
    # Declared profiles are all there is.
    rule.errs(_pushed("720p0", profiles=listed(rung())), "720p0")
    rule.errs(_pushed("Source", profiles=listed(rung())), "Source")
    silent(_pushed("720p", profiles=listed(rung())))
    silent(_pushed("360p", ladder='"live"'))


def _gate(*names: str) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return offchain(free_orchestrator(), free_gateway(renditions=f"[{listed}]"))


def test_unknown_rendition(rule: OneRule) -> None:
    # Every known rendition is fine.
    assert len(RENDITIONS) == 13
    silent(_gate(*RENDITIONS))
    # Case counts.
    rule.errs(_gate("p360p30fps16x9"), 'did you mean "P360p30fps16x9"?')
