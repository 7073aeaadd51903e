"""Reads answers: JSON, plain text, metrics. The real node and its documentation write some of them differently.

In: a `Reply`. Out: values, or `UnknownError` with what is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fleetc.rollout.verify.data import Reply, UnknownError
from fleetc.text.encoders import visible

_SHOWN = 60
_LONGEST_NUMBER = 100
_NUMBER = re.compile(r"-?[0-9]{1,80}(?:\.[0-9]{1,40}|/[0-9]{1,80})?(?:[eE][+-]?[0-9]{1,2})?")


def words(reply: Reply, what: str) -> str:
    """The plain text of an answer with status 200, without space around it. Raises UnknownError."""
    if reply.status != 200:
        raise UnknownError(f"it answers {reply.status} to {what}")
    return reply.body.strip()


def value(reply: Reply, what: str) -> Any:
    """The JSON of an answer with status 200; its numbers are texts. Raises UnknownError."""
    text = words(reply, what)
    try:
        return json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        kind = "HTML" if text[:1] == "<" else "an empty body" if not text else "no JSON"
        raise UnknownError(f"it answers {kind} to {what}") from None


def mapping(reply: Reply, what: str) -> Mapping[str, Any]:
    """The JSON object of an answer; a bare error with status 200 is none."""
    answer = value(reply, what)
    if not isinstance(answer, dict):
        raise UnknownError(f"it answers to {what} with no JSON object")
    problem = answer.get("error")
    if problem and len(answer) <= 2:
        words = problem.get("message") if isinstance(problem, dict) else problem
        raise UnknownError(f"it answers an error to {what}: {shown(words)}")
    return answer


def number(written: object) -> Fraction | None:
    """A number as programs write it: 3, "3", "3/2", 1.5; None for everything else."""
    if isinstance(written, bool) or not isinstance(written, str | int):
        return None
    text = str(written).strip()
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def metric(reply: Reply, name: str) -> Fraction | None:
    """The sum over all series of a metric; None without one."""
    series = re.findall(
        rf"(?m)^{re.escape(name)}(?:\{{[^\n]*\}})? ([^\s]{{1,40}})(?: -?[0-9]+)?\r?$", words(reply, "/metrics")
    )
    known = [amount for amount in map(number, series) if amount is not None]
    return sum(known, Fraction(0)) if known else None


def shown(answer: object) -> str:
    """A reported text, short and safe to print."""
    return visible(str(answer))[:_SHOWN] or "nothing"
