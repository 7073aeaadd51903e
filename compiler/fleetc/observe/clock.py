"""Times in logs, as seconds; and seconds as text.

In: the parts of a time stamp. Out: whole seconds. A stamp with a zone counts from 1970 in UTC. Without a zone it is
local time of an unknown machine, and the node writes no year: the year is 2000, which has a 29 February. The two kinds
are never compared.
"""

from __future__ import annotations

from calendar import timegm
from typing import NamedTuple

YEAR = 2000
"""The year of stamps that have none, or no zone."""

_MONTHS = {
    name: number
    for number, name in enumerate(
        (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"), 1
    )
}
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Moment(NamedTuple):
    """A time in whole seconds; `zoned`: it is UTC, else local time without a year."""

    seconds: int
    zoned: bool

    def __str__(self) -> str:
        return written(self)


def moment(year: int, month: int | bytes, day: int, clock: bytes, zone: bytes = b"") -> Moment | None:
    """The moment of a stamp; `clock` is hh:mm:ss, `zone` Z or an offset. None where there is no such time, or
    where it is before 1970.
    """
    number = _MONTHS.get(month, 0) if isinstance(month, bytes) else month
    hour, minute, second = (int(part) for part in clock.split(b":"))
    if not (1 <= number <= 12 and 1 <= day <= _DAYS[number - 1] and hour < 24 and minute < 60 and second <= 60):
        return None
    if zone and year < 1970:
        return None
    if not zone:
        return Moment(timegm((YEAR, number, day, hour, minute, second)), False)
    return Moment(timegm((year, number, day, hour, minute, second)) - _offset(zone), True)


def _offset(zone: bytes) -> int:
    """Seconds east of UTC."""
    if zone in (b"Z", b"z"):
        return 0
    digits = zone[1:].replace(b":", b"")
    seconds = int(digits[:2]) * 3600 + int(digits[2:4]) * 60
    return -seconds if zone.startswith(b"-") else seconds


def written(when: Moment) -> str:
    """The moment as text: 2026-11-23 05:12:13 UTC, or 11-23 05:12:13 where year and zone are not known."""
    days, rest = divmod(when.seconds, 86400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    year, month, day = _date(days)
    return f"{year:04}-{month:02}-{day:02} {clock} UTC" if when.zoned else f"{month:02}-{day:02} {clock}"


def _date(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day that counts from 1970-01-01, in the Gregorian calendar.

    Years begin in March here, so that the day of a leap year is the last one.
    """
    era, of_era = divmod(days + 719468, 146097)
    years = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return years + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1
