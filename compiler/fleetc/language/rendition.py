"""Types of a rendition that ladders and streams share: bit rate, frame rate, name and H.264 profile.

In: values of a spec. Out: the same values, or a refusal with the numbers that are meant.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictStr

from fleetc.language.fields import Integer, refuse
from fleetc.language.units import Unit

_KILO = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,6}))? ?([kKmM])(?:bps|bit/s|b/s)?")


def parse_bitrate(value: Any) -> Any:
    """Refuse a text such as "3000k" and give the number that it means; the field's type judges anything else."""
    found = _KILO.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    digits = 3 if found[3] in "kK" else 6
    bits = int(found[1] + (found[2] or "").ljust(digits, "0")[:digits])
    raise refuse("a bit rate must be a whole number of bits per second", f"write {bits}, without quotes", repair=bits)


def whole_rate(value: Any) -> Any:
    """Refuse 29.97 with the two whole numbers that it means; those of NTSC are thousands divided by 1001."""
    if not isinstance(value, Decimal) or not 1 <= value < 10**6 or value == int(value):
        return value
    exact, ntsc = Fraction(value), Fraction(round(value * 1001 / 1000) * 1000, 1001)
    rate = ntsc if abs(exact - ntsc) < Fraction(1, 100) else exact.limit_denominator(10**6)
    words = "fps is a whole number that fpsDen divides"
    raise refuse(words, f"write fps = {rate.numerator} and fpsDen = {rate.denominator}")


Bitrate = Annotated[Integer, BeforeValidator(parse_bitrate), Unit("bits / s")]
FrameRate = Annotated[Integer, Field(ge=0), BeforeValidator(whole_rate), Unit("frames / s")]
ProfileName = Annotated[StrictStr, Field(min_length=1, max_length=500)]
H264 = Literal["H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh"]
