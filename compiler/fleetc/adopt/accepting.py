"""Takes what people say to the warnings that `fleetc check` has of an adopted spec: why one is right, another value for
a setting, or a rate.

In: the text of a spec and what the check says of it. Out: `Warned`, and the text with silences, values or the rate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import tomli

from fleetc.adopt.answering import (
    WrongAnswerError,
    answered,
    is_field,
    refuse_unfit,
    with_silence,
    with_table,
    words_of,
)
from fleetc.adopt.earlier import Place
from fleetc.adopt.writing import toml
from fleetc.pipeline import Checked, check_spec
from fleetc.places.diagnostic import Diagnostic, Severity
from fleetc.text import leaks
from fleetc.toml.comments import TODO_LEFT
from fleetc.toml.document import Source, value_at

_RATE = "rate-missing"
_NO_ANSWER = frozenset({TODO_LEFT})
"""Warnings that go by other means than a reason."""
_SHORTEST = 4
"""Characters of a reason: "y" and "yes" say nothing to who reviews it."""


_SETTING = re.compile(r"(?<![\w.])([a-z_]+(?:\.[A-Za-z0-9_-]+)*)(?: = | to (?=\"))(\"[^\"]*\"|\{[^{}]*\}|\S+)")
_TYPED = re.compile(r"[a-z_]+(?:\.[A-Za-z0-9_-]+)*\s*=.+")
"""A setting in an advice, and as somebody types one."""


@dataclass(frozen=True)
class Warned:
    """Warnings of one code: what each says, by the place of the spec that it is about, and the advice of the first one.

    `currency` is that of a missing rate, "" for any other. `setting` is what the advice says to write in the table of
    the warning, as people type it; "" where it says none.
    """

    code: str
    messages: Mapping[Place, str]
    help: str
    currency: str = ""
    setting: str = ""


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
        Warned(
            code,
            {_place(one): leaks.shown(one.message) for one in some},
            leaks.shown(some[0].help),
            currency,
            _setting(some[0]) if len(some) == 1 else "",
        )
        for (code, currency), some in found.items()
    ]


def _place(one: Diagnostic) -> Place:
    """The table of the spec that a warning is about, or the key of a table without names; () for none."""
    place = one.primary.place if isinstance(one.primary.place, tuple) else one.doubted
    return tuple(map(str, place[:2])) if place else ()


def _setting(one: Diagnostic) -> str:
    """What the advice says to write in the table of a warning, if a value that is typed can say it there."""
    found = _SETTING.search(leaks.shown(one.help))
    if found is None or "..." in found[0] or not is_field((*_place(one), found[1].partition(".")[0])):
        return ""
    return f"{found[1]} = {found[2]}"


def is_setting(warned: Warned, typed: str) -> bool:
    """Whether somebody types a setting, and no reason: they are told that only where the advice has one."""
    return bool(warned.setting) and _TYPED.fullmatch(typed) is not None


def changed(text: str, warned: Warned, typed: str) -> tuple[str, Place]:
    """The text with a setting in the table of a warning, and its place. Raises WrongAnswerError."""
    key, _, value = (part.strip() for part in typed.partition("="))
    (table,) = warned.messages
    place = (*table, *key.split("."))
    if value.startswith("{") and value_at(tomli.loads(text), place) is not None:
        raise WrongAnswerError(f"{key} stands there: add one of its entries as {key}.NAME = VALUE")
    after = answered(text, {place: value})
    errors = [one for one in check_spec([Source("fleet.toml", after)]).diagnostics if one.severity is Severity.ERROR]
    if errors:
        raise WrongAnswerError(words_of(errors[0]))
    return after, place


def accepted(text: str, warned: Warned, reason: str) -> str:
    """The text with a silence for each place, for a reason. Raises WrongAnswerError, also where none silences it."""
    refuse_unfit(reason)
    if _TYPED.fullmatch(reason):
        raise WrongAnswerError("write settings in the spec, and here why it is right as it is")
    if len(reason) < _SHORTEST:
        raise WrongAnswerError("write why it is right, in a few words: reviewers read them")
    after = text
    for place in warned.messages:
        after = with_silence(after, warned.code, warned.code, reason, ".".join(place))
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
