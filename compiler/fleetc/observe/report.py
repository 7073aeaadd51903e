"""The log lines without a signature, for people and for programs.

In: a tally. Out: text, or plain values for JSON. Nothing of a log is shown raw.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleetc.observe.diagnose import as_data
from fleetc.observe.findings import LogFinding
from fleetc.observe.lines import ERROR, WARNING
from fleetc.observe.tally import MANY_SHAPES, Shape, Tally
from fleetc.places.diagnostic import Severity
from fleetc.text import leaks
from fleetc.text.counting import counted
from fleetc.text.encoders import visible

_SHOWN = 15
_WIDTH = 150
_RANK = {ERROR: 0, WARNING: 1}


def _ordered(tally: Tally) -> list[Shape]:
    """The shapes: errors, warnings, the rest; the most frequent first."""
    shapes = [shape for shape in tally.shapes.values() if shape.count]
    return sorted(shapes, key=lambda shape: (_RANK.get(shape.level, 2), -shape.count, shape.text))


def not_understood(tally: Tally) -> list[Shape]:
    """The kinds of errors that nobody can explain, the most frequent first."""
    return [shape for shape in _ordered(tally) if shape.open]


def headline(findings: Sequence[LogFinding], tally: Tally) -> str:
    """Three numbers: problems, what is harmless, and errors that are not understood."""
    harmless = sum(finding.severity is Severity.NOTE for finding in findings)
    problems, kinds = len(findings) - harmless, len(not_understood(tally))
    return f"problems: {problems}, harmless: {harmless}, kinds of errors that are not understood: {kinds}"


def as_text(findings: Sequence[LogFinding], tally: Tally) -> str:
    """What there is to know in three numbers, how much was read, and the shapes of unknown lines, cut to length."""
    shapes = [shape for shape in _ordered(tally) if not shape.ends]  # their ends are findings
    span = f", {tally.first} to {tally.last}" if tally.first is not None else ""
    lines = [headline(findings, tally), f"{counted(tally.lines, 'line')}, {_megabytes(tally.size)}{span}"]
    if tally.cut:
        lines.append(f"{tally.cut} kinds of lines are longer than 16 KiB, and only their beginning was read")
    if shapes:
        total = sum(shape.count for shape in shapes) + tally.dropped_lines
        verb = "lines match" if total > 1 else "line matches"
        lines.append(f"{total} {verb} no error pattern ({_number_of(tally, shapes)}):")
        width = max(len(str(shape.count)) for shape in shapes[:_SHOWN])
        for shape in shapes[:_SHOWN]:
            lines.append(f"  {shape.count:>{width}}  {shape.level or '-':7}  {_shown(shape)}")
            if shape.site is not None and shape.open:
                place = f"{shape.site.path}:{shape.site.line}: " if shape.site.line else ""
                lines.append(f"  {'':{width}}           {place}{shape.site.says}")
    if len(shapes) > _SHOWN:
        lines.append(f"  and {len(shapes) - _SHOWN} more shapes; --format json has all of them")
    if tally.dropped_shapes:
        lines.append(
            f"  {tally.dropped_lines} lines of {_dropped(tally)} further shapes: only {MANY_SHAPES} are told apart"
        )
    return "\n".join(lines) + "\n"


def _number_of(tally: Tally, shapes: list[Shape]) -> str:
    more = " and more" if tally.dropped_shapes else ""
    return f"{len(shapes)}{more} shape{'s' if more or len(shapes) > 1 else ''}"


def _dropped(tally: Tally) -> str:
    number = tally.dropped_shapes
    return f"{number} or more" if number >= 100_000 else str(number)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 50_000 else f"{size} bytes"


def _shown(shape: Shape) -> str:
    text = visible(leaks.shown(shape.text))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def as_values(tally: Tally, findings: Sequence[LogFinding]) -> dict[str, object]:
    """All of it as plain values."""
    return {
        "findings": [as_data(finding) for finding in findings],
        "read": {
            "lines": tally.lines,
            "bytes": tally.size,
            "first": str(tally.first) if tally.first is not None else None,
            "last": str(tally.last) if tally.last is not None else None,
            "minutes": tally.minutes,
            "times_went_back": tally.jumps,
        },
        "unknown": [
            {
                "shape": visible(leaks.shown(shape.text)),
                "level": shape.level or None,
                "lines": shape.count,
                "example": visible(leaks.shown(shape.where.text)),
                "source": f"{shape.site.path}:{shape.site.line}" if shape.site is not None else None,
                "meaning": shape.site.says if shape.site is not None else None,
                "log": visible(shape.where.log),
                "line": shape.where.number,
            }
            for shape in _ordered(tally)
        ],
        "dropped": {"lines": tally.dropped_lines, "shapes": tally.dropped_shapes},
    }
