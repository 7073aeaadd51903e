"""Limits on changes, and who may approve a broken limit.

In: the text of a limits file, of the branch that a change wants to get into; the limits that a review breaks; comments.
Out: `Rules`, and an `Approval` for each broken limit. Pure: `online/` has read the comments and their authors.

An approval is a comment of one line, `fleetc approve price COMMIT`, by an owner. It names the whole id of the commit,
so any push voids it: no service reports the time of a push, and authors choose commit dates. For the same reason a
label approves nothing: it names no commit. A comment that was edited does not count, because people other than its
author can edit it. Owners go by class of impact, not by path as in CODEOWNERS, because a limit is about what a change
does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import tomli

from fleetc.review.limits import CLASSES, RULE, Breach, ImpactLimit, LimitError, parse_limits
from fleetc.text.suggestions import did_you_mean

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,99})")
_COMMIT = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
COMMIT = re.compile(_COMMIT)
"""The whole id of a commit."""
_APPROVAL = re.compile(rf"/?fleetc approve ([a-z0-9/-]+(?:[, ]+[a-z0-9/-]+)*) ({_COMMIT})")
ALL_RULES = "policy"
"""Owners of this class may approve what any rule beside the spec finds, if that one has no owners of its own."""


class RulesError(ValueError):
    """An invalid limits file; the message has what to write."""


class Rules(NamedTuple):
    """Limits, and by class of impact the account names of people who may approve more.

    A rule beside the spec that has owners has a limit too: everything new that it finds waits for one of them.
    """

    limits: tuple[ImpactLimit, ...]
    owners: Mapping[str, tuple[str, ...]]


class PullComment(NamedTuple):
    """A comment: who wrote it by the service's word, its text, and whether it was edited since."""

    author: str
    text: str
    edited: bool


class Approval(NamedTuple):
    """A broken limit, who may approve it, and who did, by the name in the limits file, or empty."""

    broken: Breach
    owners: tuple[str, ...]
    approved_by: str


def read_rules(text: str) -> Rules:
    """Read a limits file. Raises `RulesError`."""
    try:
        raw = tomli.loads(text)
    except tomli.TOMLDecodeError as problem:
        raise RulesError(f"it is not TOML: {problem}") from None
    except RecursionError:
        raise RulesError("its lists or tables are nested too deeply") from None
    unknown = sorted(raw.keys() - {"max_impact", "owners"})
    if unknown:
        raise RulesError(f'it has an unknown key "{unknown[0]}"')
    limits, owners = raw.get("max_impact", ""), raw.get("owners", {})
    if not isinstance(limits, str) or not isinstance(owners, dict):
        raise RulesError("max_impact must be a text and owners a table")
    try:
        parsed = parse_limits(limits) if limits.strip() else ()
    except LimitError as problem:
        raise RulesError(f"max_impact: {problem}") from None
    named = {impact: _names(impact, names) for impact, names in owners.items()}
    limited = {limit.impact for limit in parsed}
    owned = [ImpactLimit(code, None) for code in named if RULE.fullmatch(code) and code not in limited]
    return Rules((*parsed, *owned), named)


def _names(impact: str, names: Any) -> tuple[str, ...]:
    if impact not in (*CLASSES, ALL_RULES) and not RULE.fullmatch(impact):
        raise RulesError(f'owners has "{impact}", which is no class of impact; {did_you_mean(impact, CLASSES)}')
    if not isinstance(names, list) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise RulesError(
            f'the owners of {impact} must be a list of account names of people, such as ["name"]; teams do not count'
        )
    return tuple(names)


def judge(rules: Rules, broken: Sequence[Breach], comments: Iterable[PullComment], commit: str) -> list[Approval]:
    """Who approved each broken limit for exactly this commit."""
    approvals = [(comment.author, classes) for comment in comments if (classes := _approves(comment, commit))]
    return [_verdict(breach, _owners(rules, breach.limit.impact), approvals) for breach in broken]


def _owners(rules: Rules, impact: str) -> tuple[str, ...]:
    own = rules.owners.get(impact)
    if own is None and RULE.fullmatch(impact):
        own = rules.owners.get(ALL_RULES)
    return own or ()


def _approves(comment: PullComment, commit: str) -> frozenset[str]:
    """The classes that a comment approves for a commit, whoever wrote it. The approval has to be all of its text."""
    match = _APPROVAL.fullmatch(comment.text.strip())
    if match is None or comment.edited or match[2] != commit:
        return frozenset()
    return frozenset(re.split("[, ]+", match[1]))


def _verdict(breach: Breach, owners: tuple[str, ...], approvals: Sequence[tuple[str, frozenset[str]]]) -> Approval:
    authors = {author.casefold() for author, classes in approvals if breach.limit.impact in classes}
    return Approval(breach, owners, next((name for name in owners if name.casefold() in authors), ""))
