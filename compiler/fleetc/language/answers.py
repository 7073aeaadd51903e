"""Answers about a fleet that are found once, because lowering and dozens of rules ask the same question.

In: a function of a fleet, or of a fleet and one of its nodes or stacks. Out: the same function, which keeps what it
found in the fleet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TypeVar

from fleetc.language.fleet import Fleet, Subject

T = TypeVar("T")


def once(ask: Callable[[Fleet, Subject], T]) -> Callable[[Fleet, Subject], T]:
    """Find the answer once for each node or stack of a fleet."""

    def answer(fleet: Fleet, subject: Subject) -> T:
        return fleet.answer(ask, subject)

    update_wrapper(answer, ask)
    return answer


def once_for_all(ask: Callable[[Fleet], T]) -> Callable[[Fleet], T]:
    """Find the answer once for a whole fleet."""

    def answer(fleet: Fleet) -> T:
        return fleet.answer_of_all(ask)

    update_wrapper(answer, ask)
    return answer
