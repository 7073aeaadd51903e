"""Takes what people say to the warnings that `fleetc check` has of an adopted spec: why one is right, or a rate.

In: the text of a spec and what the check says of it. Out: `Warned`, and the text with silences or with the rate. What
changes how nodes run is never offered: adopting says what runs today.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import tomli

from fleetc.adopt.answering import (
    WrongAnswerError,
    answered,
    refuse_unfit,
    with_silence,
    with_table,
    words_of,
)
from fleetc.adopt.writing import toml
from fleetc.language.versions import OLD
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Diagnostic, Path, Severity
from fleetc.text import leaks
from fleetc.toml.comments import TODO_LEFT
from fleetc.toml.document import Source

_RATE = "rate-missing"
_NO_ANSWER = frozenset({TODO_LEFT, OLD})
"""Warnings that go by other means than a reason."""
_SHORTEST = 4
"""Characters of a reason: "y" and "yes" say nothing to who reviews it."""


@dataclass(frozen=True)
class Warned:
    """Warnings of one code: what each says, by the place of the spec that it is about, and the advice of the first one.

    `currency` is that of a missing rate, "" for any other.
    """

    code: str
    messages: Mapping[str, str]
    help: str
    currency: str = ""


def left(checked: Checked | None) -> list[Warned]:
    """What the check warns of where a spec compiles, and somebody may accept, in its order; [] for any other spec."""
    if checked is None or checked.fleet is None:
        return []
    found: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in checked.diagnostics:
        if one.severity is Severity.WARNING and one.code not in _NO_ANSWER and _place(one):
            currency = one.primary.note.removeprefix("in ") if one.code == _RATE else ""
            found.setdefault((one.code, currency), []).append(one)
    return [
        Warned(code, {_place(one): leaks.shown(one.message) for one in some}, leaks.shown(some[0].help), currency)
        for (code, currency), some in found.items()
    ]


def _place(one: Diagnostic) -> str:
    """The table of the spec that a warning is about, or the key of a table without names; "" for none."""
    place: Path | None = one.primary.place if isinstance(one.primary.place, tuple) else one.doubted
    return ".".join(map(str, place[:2])) if place else ""


def accepted(text: str, warned: Warned, reason: str) -> str:
    """The text with a silence for each place, for a reason. Raises WrongAnswerError, also where none silences it."""
    refuse_unfit(reason)
    if len(reason) < _SHORTEST:
        raise WrongAnswerError("write why it is right, in a few words: reviewers read them")
    after = text
    for place in warned.messages:
        after = with_silence(after, warned.code, warned.code, reason, place)
    checked = check_spec([Source("fleet.toml", after)])
    if checked.fleet is None or any(one.code == warned.code for one in checked.diagnostics):
        raise WrongAnswerError("a silence does not end this warning; change the spec instead")
    return after


def rated(text: str, currency: str, typed: str) -> str:
    """The text with what one unit of a currency is worth. Raises WrongAnswerError."""
    refuse_unfit(typed)
    if "rates" in tomli.loads(text):
        after = answered(text, {("rates", currency): typed})
    else:
        after = with_table(text, "rates", [f"{currency} = {toml(typed.strip(chr(34)))}"])
    errors = [one for one in check_spec([Source("fleet.toml", after)]).diagnostics if one.severity is Severity.ERROR]
    if errors:
        raise WrongAnswerError(words_of(errors[0]))
    return after
