"""One line of a log: what the node said in it, how bad it called that, and where its time stands.

In: the bytes of a line. Out: `Line`. The forms wrap one another, as in a line of journalctl that holds one of glog:
Docker's json-file, journalctl (JSON and short forms), `docker compose logs`, `docker logs --timestamps`; then glog,
slog (text and JSON), and logs of runners. A line that has none of these forms is text. A line of glog may have
anything before it, as some collectors of logs write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from fleetc.observe.clock import YEAR, Moment, moment

LEAST, INFO, WARNING, ERROR = "", "info", "warning", "error"
"""The level of a line in its own words, or ""."""


class Stamp(NamedTuple):
    """How to find a time in a raw line, again and again: the pattern, and the moment of a match."""

    pattern: re.Pattern[bytes]
    read: Callable[[re.Match[bytes]], Moment | None]

    def of(self, line: bytes) -> Moment | None:
        """The time of a line; None where it has none."""
        match = self.pattern.search(line)
        return self.read(match) if match else None


class Line(NamedTuple):
    """The text of a line, without wrappers. `source` is "FILE:NUMBER] " of the program, where glog wrote it."""

    text: str
    level: str
    stamp: Stamp | None
    source: str = ""

    @property
    def sourced(self) -> str:
        """The text behind its source, as signatures are looked for."""
        return self.source + self.text


_CLOCK = rb"([0-9]{2}:[0-9]{2}:[0-9]{2})"
_ISO = rb"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]" + _CLOCK + rb"(?:[.,][0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?"


def _iso(match: re.Match[bytes]) -> Moment | None:
    return moment(int(match[1]), int(match[2]), int(match[3]), match[4], match[5] or b"")


def _microseconds(match: re.Match[bytes]) -> Moment | None:
    seconds = int(match[1]) // 1_000_000
    return Moment(seconds, True) if seconds < 253402300800 else None


_DOCKER = Stamp(re.compile(rb'"time" ?: ?"' + _ISO), _iso)
_JOURNAL = Stamp(re.compile(rb'"__REALTIME_TIMESTAMP" ?: ?"([0-9]{1,18})"'), _microseconds)
_EXPORT = Stamp(re.compile(rb"@([0-9]{1,18}) "), _microseconds)
_LEADING = Stamp(re.compile(rb"(?:[\w.-]+ +\| )?(?:time(?:stamp)?=\"?)?\[?" + _ISO), _iso)
_SHORT = Stamp(re.compile(rb"([A-Z][a-z]{2}) ([ 0-9][0-9]) " + _CLOCK), lambda m: moment(YEAR, m[1], int(m[2]), m[3]))
_GLOG = Stamp(re.compile(rb"[IWEF]([0-9]{2})([0-9]{2}) " + _CLOCK), lambda m: moment(YEAR, int(m[1]), int(m[2]), m[3]))
_SLOG = Stamp(
    re.compile(rb"[0-9]{4}/([0-9]{2})/([0-9]{2}) " + _CLOCK), lambda m: moment(YEAR, int(m[1]), int(m[2]), m[3])
)

_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]{0,40}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")
_COMPOSE = re.compile(r"[\w.-]{1,80}(?:\|[\w.-]{1,80})? +\| ")
_UNIT = re.compile(r"[\w.@:-]{1,255} [^\s\[\]:]{1,80}(?:\[[0-9]+\])?: ")
_GLOG_HEAD = re.compile(r"([IWEF])[0-9]{4} [0-9:]{8}\.[0-9]+ +[0-9]+ ([^\s:\]]{1,80}:[0-9]+\] ?)")
_SLOG_HEAD = re.compile(
    r"[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9:]{8}(?:\.[0-9]+)? (?:(DEBUG|INFO|WARN|ERROR)(?:[+-][0-9]+)? )?"
)
_ISO_HEAD = re.compile(
    r"\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?(?:\]? - |\]? |$)"
)
_SHORT_HEAD = re.compile(r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}(?:\.[0-9]+)? ")
_EXPORT_HEAD = re.compile(r"@[0-9]{1,18} ")
_KEY_VALUE = re.compile(r'time="?[0-9][^\s"]*"? level="?([A-Za-z]+)[^\s"]*"? msg=')
_RUNNER = re.compile(r"timestamp=[0-9: .,-]{19,26} level=(\w+) location=([\w.-]+:[0-9]+):.{0,400}? message=")
_WORD = re.compile(
    r"(?:[\w.-]{1,40} - |\[)?\b(DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL|debug|info|warning|error)\b[\]:]?"
)
_BAD = re.compile(
    r"(?:Error|Failed|Cannot|Could not|Unable)\b|.{0,200}?(?:\bTraceback \(most recent|\bhttp: panic serving|\[E\] "
    r"|\b[\w.]*(?:Error|Exception|error)(?:: | response from ))"
)
"""What is bad news in a line without a level: words of Python, Docker, C libraries and the shell."""
_WITHIN = 200  # characters in which a line shows what it is
_LEVELS = {"I": INFO, "W": WARNING, "E": ERROR, "F": ERROR, "warn": WARNING, "critical": ERROR, "fatal": ERROR}
_PRIORITIES = {"0": ERROR, "1": ERROR, "2": ERROR, "3": ERROR, "4": WARNING}
_LAYERS = 5


def line_of(raw: bytes) -> Line:
    """The text of a raw line. It never fails: bytes that are no UTF-8 become replacement characters."""
    if b"\x1b" in raw:
        raw = _ESCAPES.sub(b"", raw)
    text, level, stamp, source = raw.decode("utf-8", "replace").rstrip("\r"), LEAST, None, ""
    for _ in range(_LAYERS):
        inner = _unwrapped(text, raw)
        if inner is None:
            break
        text, level, source = inner.text, inner.level or level, inner.source or source
        if stamp is None or (stamp in (_SHORT, _GLOG, _SLOG) and inner.stamp is not None and inner.stamp in _ZONED):
            stamp = inner.stamp
        if source:
            break
    if not level and (word := _WORD.match(text)):
        level = _level(word[1])
    if not level and _BAD.match(text, 0, 2 * _WITHIN):
        level = ERROR
    return Line(text, level, stamp, source)


_ZONED = (_DOCKER, _JOURNAL, _EXPORT)


def _level(word: str) -> str:
    lower = word.lower()
    return _LEVELS.get(word, _LEVELS.get(lower, lower if lower in (INFO, WARNING, ERROR) else LEAST))


def _unwrapped(text: str, raw: bytes) -> Line | None:
    """What is inside one wrapping; None if there is none."""
    if text.startswith("{"):
        return _of_json(text)
    if head := _GLOG_HEAD.match(text):
        return Line(text[head.end() :], _LEVELS[head[1]], _GLOG, head[2])
    if head := _SLOG_HEAD.match(text):
        return Line(text[head.end() :], _level(head[1] or ""), _SLOG)
    if head := _KEY_VALUE.match(text):
        return Line(text[head.end() :], _level(head[1]), _LEADING)
    if head := _RUNNER.match(text):
        return Line(text[head.end() :], _level(head[1]), _LEADING, f"{head[2]}] ")
    if head := _EXPORT_HEAD.match(text):
        return Line(text[head.end() :], LEAST, _EXPORT)
    if head := _SHORT_HEAD.match(text):
        return Line(_after_unit(text[head.end() :]), LEAST, _SHORT)
    if head := _ISO_HEAD.match(text):
        return Line(_after_unit(text[head.end() :]), LEAST, _LEADING)
    if head := _COMPOSE.match(text):
        return Line(text[head.end() :], LEAST, None)
    if head := _GLOG_HEAD.search(text, 0, _WITHIN):
        return Line(text[head.end() :], _LEVELS[head[1]], _GLOG, head[2])
    return None


def _after_unit(text: str) -> str:
    """What comes behind the host and the program that journalctl names."""
    head = _UNIT.match(text)
    return text[head.end() :] if head else text


def _of_json(text: str) -> Line | None:
    """A line of Docker's json-file, of journalctl -o json, or of slog as JSON."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    if isinstance(record.get("log"), str):
        return Line(record["log"].rstrip("\r\n"), LEAST, _DOCKER)
    if "MESSAGE" in record:
        return Line(_message(record["MESSAGE"]), _PRIORITIES.get(str(record.get("PRIORITY")), LEAST), _JOURNAL)
    if isinstance(record.get("msg"), str):
        more = "".join(f" {key}={value}" for key, value in record.items() if key not in ("time", "level", "msg"))
        return Line(record["msg"] + more, _level(str(record.get("level", ""))), _DOCKER)
    return None


def _message(value: object) -> str:
    """A message of the journal: text, or a list of bytes where it is not plain."""
    if isinstance(value, list) and all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):
        value = _ESCAPES.sub(b"", bytes(value)).decode("utf-8", "replace")
    return value if isinstance(value, str) else ""
