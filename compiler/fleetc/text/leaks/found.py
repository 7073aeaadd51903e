"""What a search for secrets finds. In: nothing. Out: `Leak`, which all files of this package return."""

from __future__ import annotations

from typing import NamedTuple


class Leak(NamedTuple):
    """What a text seems to hold, such as "an access token".

    `certain`: it can be nothing else, by an issuer's token form or a checksum. What is not certain is long and random,
    and may be an id that looks like a key.
    """

    kind: str
    certain: bool
