"""Measures the commands that watch a fleet: `diagnose`, `verify` and `streams`, one after the other.

In: which of them, and sizes. Out: one `Report`. Called by `__main__.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.diagnose import diagnose_lines
from tests.bench.measure import Report, memory_directory, new_report

PARTS = ("diagnose", "verify", "streams")


def observe_report(parts: Sequence[str], rounds: int, *, megabytes: int, hosts: int, streams: int) -> Report:
    """Measure these parts. Raises RuntimeError when a command fails, or where there can be no hosts for `verify`.

    Memory is measured of `diagnose`, so that comes first, and what the others need is loaded after it: a process hands
    its peak on to those that it starts.
    """
    with memory_directory() as work:
        report = new_report(0, rounds, work)
        if "diagnose" in parts:
            report.lines += diagnose_lines(report, work, megabytes)
        if "verify" in parts:
            from tests.bench.verify import verify_lines

            report.lines += verify_lines(report, work, hosts)
        if "streams" in parts:
            from tests.bench.streams import streams_lines

            report.lines += streams_lines(report, streams)
    return report
