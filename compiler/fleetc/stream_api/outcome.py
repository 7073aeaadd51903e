"""The results of changes of a stream, and the exit code of the command.

In: reports and outcomes. Out: `Applied`, `exit_code`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fleetc.stream_api.data import IN_SYNC, UNKNOWN, Report
from fleetc.stream_api.observed import INVALID, UNREACHABLE

CREATED, CHANGED, UNCHANGED, LEFT = "created", "changed", "unchanged", "left"
REFUSED, LOST, NOT_BEGUN = "refused", "unknown", "not_begun"

FINE, DIFFERENT, UNASKED = 0, 1, 4
_UNASKED_KINDS = (UNREACHABLE, INVALID, UNKNOWN)


class Applied(NamedTuple):
    """What became of one stream: a word, reasons, and how many requests the service accepted.

    `result` is created, changed, unchanged, left (needs a person or an inactive stream), refused, unknown (a lost
    answer) or not_begun (after a general failure).
    """

    stream: str
    result: str
    accepted: int = 0
    reasons: tuple[str, ...] = ()


def exit_code(reports: Iterable[Report], applied: Iterable[Applied] = ()) -> int:
    """0 as declared, 1 a difference or refusal, 4 unknown."""
    kinds = {report.kind for report in reports} - {IN_SYNC}
    results = {done.result for done in applied}
    if kinds - set(_UNASKED_KINDS) or REFUSED in results:
        return DIFFERENT
    return UNASKED if kinds or results & {LOST, NOT_BEGUN} else FINE
