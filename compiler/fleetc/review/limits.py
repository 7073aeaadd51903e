"""Limits on the impact of a change, as a build sets them: `price=5%,exposure=none,restart=3`.

In: the text of `--max-impact`, a `Review`. Out: `ImpactLimit`s, and the changes that break one. Called by `cli/`.

`none` admits no effect of the class at all. A number bounds the count of the class. For price it is the largest change
in percent (100 if it comes, goes or is not comparable). For others it is a sum over all changes: openings, restarting
or stopping processes, live changes, warm models to load (once per process), lost sessions and slots, else effects.

The class `policy/NAME` counts what a rule beside the spec newly finds, and whether the change removes, changes or
silences that rule. An error that a rule finds breaks a limit without anybody setting one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

from fleetc.review.data import IMPACTS, Change, Review, RuleNote

CLASSES = tuple(impact for impact in IMPACTS if impact != "none")
RULE = re.compile(r"policy/[a-z0-9-]{1,60}")
"""The class of what a rule beside the spec finds."""
_FORM = re.compile(r"([a-z0-9/-]+)=(none|[0-9]{1,9}(?:\.[0-9]{1,6})?(%)?)")


class LimitError(ValueError):
    """An invalid limit; the message has what to write."""


class ImpactLimit(NamedTuple):
    """A class of impact and its maximum; None admits none of it."""

    impact: str
    most: Decimal | None

    def __str__(self) -> str:
        percent = "%" if self.impact == "price" and self.most is not None else ""
        return f"{self.impact}={'none' if self.most is None else f'{self.most:f}'}{percent}"


class Breach(NamedTuple):
    """A limit that is broken, by how much, and the changes, or notes of rules, that break it, the worst first."""

    limit: ImpactLimit
    amount: Decimal
    changes: tuple[Change, ...]
    rules: tuple[RuleNote, ...] = ()

    @property
    def reached(self) -> str:
        """What it comes to, as the end of a sentence; nothing where a limit admits none at all."""
        percent = "%" if self.limit.impact == "price" else ""
        return "" if self.limit.most is None else f" (it comes to {amount_text(self.amount)}{percent})"

    def __str__(self) -> str:
        return f"{self.limit} is broken{self.reached}"


def amount_text(amount: Decimal) -> str:
    """An amount with two decimals, rounded up like the amount itself."""
    short = amount.quantize(Decimal("0.01"), ROUND_CEILING) if amount < 10**9 else amount
    return f"{amount:f}" if short == amount else f"about {short:f}"


def parse_limits(text: str) -> tuple[ImpactLimit, ...]:
    """Read limits. Raises `LimitError`."""
    limits: dict[str, ImpactLimit] = {}
    for part in text.split(","):
        match = _FORM.fullmatch(part.strip())
        if match is None:
            raise LimitError(f'"{part.strip()}" is not a limit; write for example price=5%, exposure=none or restart=3')
        impact, value, percent = match.groups()
        if impact not in CLASSES and not RULE.fullmatch(impact):
            raise LimitError(f'there is no impact class "{impact}"; the classes are {", ".join(CLASSES)}, policy/NAME')
        if impact in limits:
            raise LimitError(f"{impact} has two limits; write one")
        if impact == "price" and value != "none" and not percent:
            raise LimitError(f"a price limit must be a percentage; write price={value}% or price=none")
        if impact != "price" and (percent or "." in value):
            raise LimitError(
                f"a limit of {impact} must be a whole number; write for example {impact}=3 or {impact}=none"
            )
        limits[impact] = ImpactLimit(impact, None if value == "none" else Decimal(value.removesuffix("%")))
    return tuple(limits.values())


def breaches(review: Review, limits: Sequence[ImpactLimit]) -> Iterator[Breach]:
    """The limits that a review breaks."""
    yield from _of_rules(review, limits)
    for limit in (limit for limit in limits if limit.impact in CLASSES):
        weighed = [(amount, change) for change in review.changes for amount in _amounts(change, limit.impact)]
        total = _total(review, limit.impact, [amount for amount, _ in weighed])
        if weighed if limit.most is None else total > limit.most:
            worst = sorted(weighed, key=lambda pair: -pair[0])
            culprits = [change for amount, change in worst if amount or limit.most is None]
            yield Breach(limit, total, tuple(dict.fromkeys(culprits)))


_COUNTED = ("removed", "loosened", "silenced", "changed", "finding")
"""What a limit of a rule counts. A changed text may always be weaker."""


def _of_rules(review: Review, limits: Sequence[ImpactLimit]) -> Iterator[Breach]:
    """The broken limits of rules, set ones and those of errors."""
    most = {limit.impact: limit for limit in limits if limit.impact not in CLASSES}
    notes: dict[str, list[RuleNote]] = {}
    for note in review.rules:
        if note.kind in _COUNTED:
            notes.setdefault(note.code, []).append(note)
    for code, of_code in notes.items():
        limit = most.get(code, ImpactLimit(code, None))
        errors = [note for note in of_code if note.severity == "error"]
        if (code in most and (limit.most is None or len(of_code) > limit.most)) or errors:
            yield Breach(limit, Decimal(len(of_code)), (), tuple(of_code if code in most else errors))


def _amounts(change: Change, impact: str) -> list[Decimal]:
    """What one change comes to in a class, in a list that is empty where the class is not there."""
    amounts = [effect.amount for effect in change.effects if effect.impact == impact]
    return [max(amounts) if impact == "price" else sum(amounts, Decimal(0))] if amounts else []


def _total(review: Review, impact: str, amounts: Sequence[Decimal]) -> Decimal:
    """Several changes of one process restart it once, or are taken live by one, and its models load once."""
    once: dict[str, Sequence[object]] = {
        "restart": review.restarts,
        "live": review.live,
        "cold-start": review.cold_starts,
    }
    if impact in once:
        return Decimal(len(once[impact]))
    return max(amounts, default=Decimal(0)) if impact == "price" else sum(amounts, Decimal(0))
