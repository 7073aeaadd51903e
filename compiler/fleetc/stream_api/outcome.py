"""What became of the changes of a stream, and the exit code of a command that compared or changed streams.

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

    `result` is created, changed, unchanged, left (it needs a person, or nobody sending it), refused, unknown (an answer
    was lost) or not_begun (after a failure that would meet all of them).
    """

    stream: str
    result: str
    accepted: int = 0
    reasons: tuple[str, ...] = ()


def exit_code(reports: Iterable[Report], applied: Iterable[Applied] = ()) -> int:
    """0 where all is as declared, 1 where something differs or was refused, 4 where it could not be found out."""
    kinds = {report.kind for report in reports} - {IN_SYNC}
    results = {done.result for done in applied}
    if kinds - set(_UNASKED_KINDS) or REFUSED in results:
        return DIFFERENT
    return UNASKED if kinds or results & {LOST, NOT_BEGUN} else FINE
