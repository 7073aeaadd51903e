"""What all quantities share: their error, and the check that they are written as text.

In: raw values. Out: text of reasonable length, or a QuantityError. Called by the other modules of this package.
"""

from __future__ import annotations

from decimal import Decimal

from fleetc.text import leaks

_MAX_TEXT = 300
_SHOWN = 60


class QuantityError(ValueError):
    """Not the quantity it should be: `message` is what is wrong, `help` what to write instead.

    `secret`: the text is a secret and is never shown.
    """

    def __init__(self, message: str, help: str, secret: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.secret = secret


def shown(text: str) -> str:
    """Text in quotes for a message, cut when it is long; "the text" when it must not be repeated."""
    if not leaks.may_show(text):  # before the cut, which would hide it from the search
        return "the text"
    return f'"{text}"' if len(text) <= _SHOWN else f'"{text[: _SHOWN - 1]}…"'


def need_text(value: object, what: str, example: str) -> str:
    """The value if it is a text of reasonable length; otherwise a QuantityError that shows the form.

    TOML numbers are refused although Python could convert them: a unit is missing, and a float is not exact. An example
    with a space in it is a number and its unit; a port or an address has none.
    """
    if type(value) is not str:
        number = type(value) in (int, Decimal, float)
        raise QuantityError(
            f"{what} must be text with its unit" if number and " " in example else f"{what} must be text",
            f'write it in quotes, for example "{example}"',
        )
    if len(value) > _MAX_TEXT:
        raise QuantityError(f"the text is too long for {what}", f'write it like "{example}"')
    return value
