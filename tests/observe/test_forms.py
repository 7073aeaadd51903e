"""The forms that logs come in: each of them says the same, and nothing is too odd to be read."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import struct
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.disk.logs import LogPieces
from fleetc.observe import tally
from fleetc.observe.blocks import LINE_LIMIT, whole_lines
from fleetc.observe.clock import Moment, moment
from fleetc.observe.lines import line_of
from fleetc.observe.shapes import LIMIT, shape_of
from fleetc.observe.tally import MANY_SHAPES, NOT_TEXT
from tests.observe.support import counts, glog, tally_of, tally_of_pieces

UTC = Moment(1795410733, True)
"""2026-11-23 05:12:13 in UTC, as `date -u -d` counts it."""
LOCAL = moment(2000, 11, 23, b"05:12:13")
INNER = glog("OrchestratorCapped", level="E")
DOCKER = json.dumps({"log": INNER + "\n", "stream": "stderr", "time": "2026-11-23T05:12:13.123456789Z"})
JOURNAL = {"__CURSOR": "s=1f;i=2", "__REALTIME_TIMESTAMP": "1795410733123456", "PRIORITY": "6", "_PID": "812"}

FORMS: dict[str, tuple[str, Moment | None]] = {
    "glog": (INNER, LOCAL),
    "slog": ("2026/11/23 05:12:13 ERROR OrchestratorCapped stream=a", LOCAL),
    "slog text handler": ('time=2026-11-23T05:12:13.000Z level=ERROR msg="OrchestratorCapped" a=1', UTC),
    "slog json": ('{"time":"2026-11-23T05:12:13.1Z","level":"ERROR","msg":"x","err":"OrchestratorCapped"}', UTC),
    "docker json-file": (DOCKER, UTC),
    "docker json-file, other zone": (DOCKER.replace("05:12:13.123456789Z", "07:42:13.1+02:30"), UTC),
    "docker logs --timestamps": (f"2026-11-23T05:12:13.123456789Z {INNER}", UTC),
    "pm2": (f"0|gate-1 | {INNER}", LOCAL),
    "a collector's own head": (f"2026-11-23 05:12:13 [STDERR] {INNER}", LOCAL),
    "a level before it": (f"INFO: {INNER}", LOCAL),
    "runner of live video": (
        "timestamp=2026-11-23 05:12:13 level=ERROR location=process.py:12:run gateway_request_id= manifest_id=a "
        "stream_id= message=OrchestratorCapped",
        LOCAL,
    ),
    "docker compose logs": (f"gate-1  | {INNER}", LOCAL),
    "journal json": (json.dumps({**JOURNAL, "MESSAGE": INNER}), UTC),
    "journal json, bytes": (json.dumps({**JOURNAL, "MESSAGE": list(b"\x1b[31m" + INNER.encode() + b"\x1b[0m")}), UTC),
    "journal short": (f"Nov 23 05:12:13 gpu-1 livepeer[812]: {INNER}", LOCAL),
    "journal short, one digit": (f"Nov 03 05:12:13 gpu-1 livepeer[812]: {INNER}", moment(2000, 11, 3, b"05:12:13")),
    "journal short-precise": (f"Nov 23 05:12:13.123456 gpu-1 livepeer[812]: {INNER}", LOCAL),
    "journal short-iso": (f"2026-11-23T05:12:13+0000 gpu-1 livepeer[812]: {INNER}", UTC),
    "journal short-iso, other zone": (f"2026-11-22T23:12:13-06:00 gpu-1 livepeer[812]: {INNER}", UTC),
    "runner": ("2026-11-23 05:12:13,123 - app.main - ERROR - OrchestratorCapped", LOCAL),
    "terminal escapes": (f"\x1b[31m{INNER}\x1b[0m", LOCAL),
    "no form": ("OrchestratorCapped", None),
}


@pytest.mark.parametrize("form", FORMS)
def test_form(form: str) -> None:
    text, when = FORMS[form]
    said = line_of(text.encode())
    assert said.text.strip('"').startswith(("OrchestratorCapped", "x err=OrchestratorCapped", "app.main"))
    assert said.level in (("error",) if form != "no form" else ("",))
    seen = tally_of(text, text).seen["orchestrator-capped"]
    assert (seen.count, seen.first, seen.last) == (2, when, when)


def test_same_seconds_as_the_calendar() -> None:
    assert moment(2026, 11, 23, b"05:12:13", b"Z") == UTC
    assert str(UTC) == "2026-11-23 05:12:13 UTC"
    assert str(LOCAL) == "11-23 05:12:13"


@given(st.datetimes(min_value=datetime(1970, 1, 2)))  # noqa: DTZ001  # moments without a zone are what is tested
def test_every_moment_is_written_as_it_was_read(when: datetime) -> None:
    text = f"{when:%Y-%m-%d %H:%M:%S}"
    year, month, day = (int(part) for part in text[:10].split("-"))
    assert str(moment(year, month, day, text[11:].encode(), b"Z")) == f"{year:04}-{text[5:]} UTC"


@pytest.mark.parametrize(
    "text",
    [
        "I1399 25:61:61.1       1 a.go:1] x",
        "Foo 99 05:12:13 a b: x",
        "2026-02-31T05:12:13Z x",
        "1969-12-31T23:59:59Z x",
    ],
)
def test_impossible_time_is_none(text: str) -> None:
    said = line_of(text.encode())
    assert said.stamp is None or said.stamp.of(text.encode()) is None


def export(*messages: bytes) -> bytes:
    """Records of `journalctl -o export`; a message that is not plain text comes with its length."""
    made = b""
    for number, message in enumerate(messages):
        made += b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=%d\n_PID=812\n" % (1795410733123456 + number * 10**6)
        plain = b"\n" not in message and b"\x1b" not in message
        made += b"MESSAGE=%b\n" % message if plain else b"MESSAGE\n%b%b\n" % (struct.pack("<Q", len(message)), message)
        made += b"_COMM=livepeer\n\n"
    return made


@pytest.mark.parametrize("piece", [1, 7, 64, 1 << 20])
def test_journal_export(piece: int) -> None:
    data = export(INNER.encode(), b"two\nOrchestratorCapped\x1b[0m", b"hello") + export(INNER.encode())[:-1]
    tally = tally_of_pieces(data[at : at + piece] for at in range(0, len(data), piece))
    seen = tally.seen["orchestrator-capped"]
    assert (tally.lines, seen.count, seen.first) == (4, 3, UTC)
    assert [shape.text for shape in tally.shapes.values()] == ["hello"]


def test_journal_export_that_is_cut_off() -> None:
    data = export(b"OrchestratorCapped", b"two\nlines" * 1000)
    for end in range(len(data)):
        if end % 397 == 0 or end < 300:
            tally = tally_of_pieces([data[:end]])
            seen = int(b"OrchestratorCapped" in data[:end])
            assert counts(tally) == ({"orchestrator-capped": 1} if seen else {})
            assert sum(shape.count for shape in tally.shapes.values()) == tally.lines - seen
            assert tally.lines <= 1 + seen


@given(st.lists(st.binary(max_size=40)), st.integers(1, 50))
def test_pieces_of_any_size_give_the_same_lines(lines: list[bytes], piece: int) -> None:
    data = b"x" + b"\n".join(line.replace(b"\n", b"") for line in lines)
    cut = list(whole_lines(data[at : at + piece] for at in range(0, len(data), piece)))
    assert b"\n".join(cut).split(b"\n") == data.removesuffix(b"\n").split(b"\n")


@given(st.binary(max_size=2000))
def test_any_bytes_are_read(data: bytes) -> None:
    tally = tally_of_pieces([data])
    known = sum(seen.count for seen in tally.seen.values())
    assert known + sum(shape.count for shape in tally.shapes.values()) == tally.lines


@given(st.text(max_size=300))
def test_any_text_has_a_shape_without_numbers(text: str) -> None:
    shape = shape_of(text)
    assert len(shape) <= LIMIT
    assert not re.search("[0-9]", shape)


def test_lines_of_one_shape_are_one() -> None:
    text = "manifestID=a7{0:014x} sent {0} bytes to https://10.0.0.{0}:8935 for 0x{0:040x} from 10.0.0.{0}"
    lines = [glog(text.format(number)) for number in range(1, 250)]
    (shape,) = tally_of(*lines).shapes.values()
    assert shape.text == "manifestID=<id> sent <n> bytes to <url> for <address> from <ip>"
    assert (shape.count, shape.level, shape.where.number) == (249, "info", 1)


@pytest.mark.parametrize("bound", [tally._KEY_BYTES, 5000])
def test_ids_that_look_like_nothing_are_known_by_their_names(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "_KEY_BYTES", bound)
    said = ("Received segment", 'Error err="OrchestratorCapped"', "Sent it")
    ids = ["".join(letters) for letters in product("ghijkz", repeat=3)] + ["my-stream", "OrchestratorCapped", "a1z"]
    found = tally_of(*(glog(f"manifestID={one} orchSessionID={one}x {text}") for one in ids for text in said))
    assert counts(found) == {"orchestrator-capped": len(ids)}
    shapes = {shape.text: shape.count for shape in found.shapes.values()}
    head = "manifestID=<id> orchSessionID=<id>"
    assert shapes == {f"{head} Received segment": len(ids), f"{head} Sent it": len(ids)}


@pytest.mark.parametrize("end", ["\0", "\u00a0", ";", "]", "\x1b[1m", "\\u0067"])
def test_what_follows_an_id_is_read_as_if_no_line_came_before(end: str) -> None:
    before, line = glog("ID=xyz text"), glog(f"ID=gh{end}OrchestratorCapped text")
    after, first, alone = tally_of(before, line), tally_of(before), tally_of(line)
    assert counts(after) == counts(alone)
    assert {*after.shapes} == {*first.shapes, *alone.shapes}


def test_binary_is_counted_and_not_shown() -> None:
    tally = tally_of(b"\x00\x01\x02", b"OrchestratorCapped", b"\xff\xfe\x00")
    assert counts(tally) == {"orchestrator-capped": 1}
    assert [(shape.text, shape.count) for shape in tally.shapes.values()] == [(NOT_TEXT, 2)]


def test_last_line_without_an_end_counts() -> None:
    assert counts(tally_of_pieces([b"OrchestratorCapped\nOrchestra", b"torCapped"])) == {"orchestrator-capped": 2}


def test_long_lines_are_cut_and_held_in_bounds() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(3):
            yield b"OrchestratorCapped " + b"x" * (1 << 20)
            yield from (b"y" * (1 << 20) for _ in range(9))
            yield b"\n" + b"short\n"

    tally = tally_of_pieces(pieces())
    assert counts(tally) == {"orchestrator-capped": 3}
    assert max(len(shape.text) for shape in tally.shapes.values()) <= LIMIT
    blocks = list(whole_lines(pieces()))
    assert max(map(len, blocks)) < 3 << 20
    assert all(len(line) < LINE_LIMIT + 20 for block in blocks for line in block.split(b"\n"))


@pytest.mark.parametrize("over", [1, 1 << 21])
@pytest.mark.parametrize("form", ["text", "export", "export of bytes"])
def test_every_line_that_is_cut_is_reported(form: str, over: int) -> None:
    """One byte too many is too long, and so is what a reader of blocks has cut already."""
    for more, cut in ((0, 0), (over, 1)):
        head = b"" if form == "text" else b"@0 "
        message = b"x" * (LINE_LIMIT + more - len(head))
        log = {
            "text": message + b"\n",
            "export": b"__CURSOR=s=1\nMESSAGE=" + message + b"\n\n",
            "export of bytes": b"__CURSOR=s=1\nMESSAGE\n%b%b\n\n" % (len(message).to_bytes(8, "little"), message),
        }[form]
        assert tally_of_pieces(log[at : at + 65536] for at in range(0, len(log), 65536)).cut == cut


def test_blank_lines_count_for_nothing_whatever_stands_around_them() -> None:
    """Lines of digits and a to f have no other letters, as if they were blank."""
    for end in (b"", b"\r"):
        tally = tally_of(b"42" + end, end, b"dead" + end, end, end, b"7" + end, b"hello" + end, end)
        assert tally.lines == 4
        assert {shape.text: shape.count for shape in tally.shapes.values()} == {"<n>": 2, "dead": 1, "hello": 1}


def test_line_that_says_nothing_is_a_shape_as_others_are() -> None:
    tally = tally_of(glog(""), glog(""), glog("hello"))
    assert {shape.text: shape.count for shape in tally.shapes.values()} == {"": 2, "hello": 1}
    assert (tally.dropped_lines, tally.dropped_shapes) == (0, 0)


def test_shapes_are_bounded_and_the_rest_is_counted() -> None:
    letters = [chr(code) for code in range(0x3B1, 0x3C9)]
    words = [f"word {a}{b}{c}" for a in letters for b in letters for c in letters][:5000]
    tally = tally_of(*words, *words)
    assert len(tally.shapes) == MANY_SHAPES
    assert tally.dropped_shapes == 3000
    assert tally.dropped_lines == 6000
    assert sum(shape.count for shape in tally.shapes.values()) + tally.dropped_lines == 10000


def test_zones_are_mixed() -> None:
    """Moments with a zone are compared in UTC; those without one are used only where there is no other."""
    lines = [
        "2026-11-23T05:12:13Z OrchestratorCapped",
        "2026-11-23T07:00:00+03:00 OrchestratorCapped",
        "2026-11-22T23:59:59-06:00 OrchestratorCapped",
        glog("OrchestratorCapped", "23:00:00"),
    ]
    for some in (lines, lines[::-1]):
        seen = tally_of(*some).seen["orchestrator-capped"]
        assert (str(seen.first), str(seen.last)) == ("2026-11-23 04:00:00 UTC", "2026-11-23 05:59:59 UTC")


def test_a_clock_that_jumps_is_counted() -> None:
    far = [glog("a", "05:00:00"), *(glog("b", "05:30:00") for _ in range(50)), glog("c", "04:00:00")]
    tally = tally_of(*far, *far)
    assert (tally.jumps, tally.minutes) == (2, 30 + 60 + 30)


# --- files ------------------------------------------------------------------------------------------------------------


def read(path: Path) -> tuple[bytes, str]:
    pieces = LogPieces(path)
    return b"".join(pieces), pieces.flaw


def test_compressed_files(tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    data = b"OrchestratorCapped\n" * 5000
    (tmp_path / "a.log").write_bytes(data)
    (tmp_path / "b").write_bytes(gzip.compress(data[:1900]) + gzip.compress(data[1900:]))
    (tmp_path / "c").write_bytes(zstd.compress(data[:1900]) + zstd.compress(data[1900:]))
    assert [read(tmp_path / name) for name in ("a.log", "b", "c")] == [(data, "")] * 3


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_compressed_file_that_is_cut_off_or_damaged(kind: str, tmp_path: Path) -> None:
    zstd = pytest.importorskip("backports.zstd")
    data = b"".join(b"%d OrchestratorCapped\n" % number for number in range(200_000))
    packed = (
        gzip.compress(data)
        if kind == "gzip"
        else zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    )
    for name, content in (("cut", packed[: len(packed) // 2]), ("bad", packed[:5000] + b"\x55" * 64 + packed[5064:])):
        (tmp_path / name).write_bytes(content)
        found, flaw = read(tmp_path / name)
        assert "damaged" in flaw
        assert name == "bad" or (data.startswith(found) and found)


def test_bomb_is_read_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"\0" * (64 << 20)))
    assert max(map(len, LogPieces(tmp_path / "bomb.gz"))) <= 1 << 20


def test_standard_input_of_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    data = gzip.compress(b"OrchestratorCapped\n")

    class Stdin(io.StringIO):
        def fileno(self) -> int:
            return reader

    def write_slowly() -> None:
        for byte in data:
            os.write(writer, bytes([byte]))
            time.sleep(0.002)
        os.close(writer)

    threading.Thread(target=write_slowly).start()
    monkeypatch.setattr("sys.stdin", Stdin())
    pieces = LogPieces(Path("-"))
    assert b"".join(pieces) == b"OrchestratorCapped\n"
    assert pieces.name == "standard input"
    os.close(reader)
