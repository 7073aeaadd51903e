"""Asks at a terminal what `fleetc check` would warn of in an adopted spec: a rate, or why it is right as it is.

In: an adoption whose spec compiles. Out: that adoption with what somebody said; Enter leaves a warning to the check.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from fleetc.cli.output import message
from fleetc.cli.prompts import read_line

if TYPE_CHECKING:
    from fleetc.adopt.accepting import Warned
    from fleetc.adopt.adoption import Adopted
    from fleetc.cli.asking import Adopting

_MOST = 4
"""Warnings of one code that are shown."""


def warned(found: Adopted) -> list[Warned]:
    """What the check warns of in an adopted spec, and somebody may answer."""
    from fleetc.adopt.accepting import left

    return left(found.checked)


def ask_warnings(adopting: Adopting) -> None:
    """Ask about each kind of warning once, and about those that a rate brings up. Raises EndedError."""
    asked: set[tuple[str, str]] = set()
    while one := next((one for one in warned(adopting.found) if (one.code, one.currency) not in asked), None):
        asked.add((one.code, one.currency))
        _ask(adopting, one)


def _ask(adopting: Adopting, one: Warned) -> None:
    """Ask about a warning, and adopt with what somebody says to it."""
    from fleetc.adopt.accepting import accepted, changed, is_setting, rated
    from fleetc.adopt.answering import WrongAnswerError

    text = adopting.found.text
    if one.currency:
        message(
            f"rates.{one.currency}: what is one {one.currency} worth? check compares prices with it; nodes ask a feed"
        )
        prompt = "such as 0.00042 ETH"
    else:
        for place, words in islice(one.messages.items(), _MOST):
            message(f"{'.'.join(place)}: check warns [{one.code}]: {words}")
        if len(one.messages) > _MOST:
            message(f"and {len(one.messages) - _MOST} more of [{one.code}]; the answer is for all")
        if one.help != f"write {one.setting}":
            message(f"  {one.help}")
        setting = f"{one.setting}, or " if one.setting else ""
        prompt = f"{setting}why it is right as it is; Enter leaves the warning"
    while typed := read_line(f"  {prompt}: "):
        if typed == "?":
            message(f"  a reason becomes a silence, which reviewers read; fleetc explain {one.code} says more")
            continue
        try:
            if one.currency:
                adopting.take(rated(text, one.currency, typed))
            elif is_setting(one, typed):
                after, place = changed(text, one, typed)
                adopting.take(after, [place])
            else:
                adopting.take(accepted(text, one, typed))
        except WrongAnswerError as problem:
            message(f"  {problem}")
        else:
            return
