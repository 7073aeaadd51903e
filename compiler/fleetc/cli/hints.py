"""What a prompt says of how an answer looks, and what Enter takes.

In: questions of an adoption, and the draft of its spec with the answers so far. Out: the words of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fleetc.adopt import asking_words
from fleetc.adopt.questions import Kind, Question
from fleetc.adopt.releases import NEWEST
from fleetc.cli.host_prompts import MOST_HOSTS
from fleetc.cli.prompts import SHORT, listed

if TYPE_CHECKING:
    from fleetc.adopt.adoption import Adopted

_RPC = "an address that all these nodes reach, or env NAME for a variable"
_KEPT_OPEN = " to keep it open behind a firewall (cli_exposed)"


class Draft:
    """The text of a spec, and what somebody has answered of it so far; `refused` are the places that `Adopted` has."""

    def __init__(self, found: Adopted) -> None:
        self.text, self.refused = found.text, found.refused


def looks_of_all(draft: Draft, group: Sequence[Question], own: bool, default: str) -> str:
    """How an answer for all of a group looks; where it would be of one table alone, a yes or each."""
    if len({asking_words.listener_in(one.words) for one in group}) > 1:
        return f'"each"{_KEPT_OPEN}'
    if not own:
        return f'{looks_of(draft, group[0]) or "another"}, for all; or "each"'
    if default or any((one.table, one.key) in draft.refused for one in group):
        return '"each"'
    raw = raw_of(draft.text)
    stands = [stands_at(raw, one) for one in group]
    texts = dict.fromkeys(one[:SHORT] for one in stands if isinstance(one, str))
    every = all(isinstance(one, str) for one in stands)
    return f'{listed([*texts])}? yes, or "each"' if every else 'yes for all, or "each"'


def looks_of(draft: Draft, one: Question) -> str:
    """How an answer looks."""
    from fleetc.adopt.answering import addresses_in, example_at, place_of, problem_at, words_of
    from fleetc.adopt.writing import toml

    if one.kind is Kind.METRICS:
        hosts = [name for name in addresses_in(raw_of(draft.text)) if name != default_of(one)][:MOST_HOSTS]
        return f"{' or '.join(hosts)}, https://... of a receiver, or nobody"
    if one.kind is Kind.ALERTS:
        return "such as 203.0.113.5:9093, or nobody"
    if one.kind is Kind.LISTENER and (today := asking_words.listener_in(one.words)):
        return f"{today}{_KEPT_OPEN}"
    if default_of(one):
        return ""
    if one.kind is Kind.CROWDED:
        return f"yes for {asking_words.room_in(one.words)[0]}"
    stands = stands_at(raw_of(draft.text), one)
    if stands is not None and (one.table, one.key) in draft.refused and asking_words.least_in(one.words):
        now = problem_at(draft.text, [place_of(one)])  # what is answered by now can change the amount
        return f"it is {toml(stands).strip(chr(34))[:SHORT]}; {instead_of_refused(words_of(now) if now else one.words)}"
    meant = re.search(rf"write {re.escape(one.key)} = (\"[^\"]*\")(, which [^,;]+)?", one.words)
    if meant is not None:
        return f"such as {meant[1].strip(chr(34))}{meant[2] or ''}"
    if stands is not None and (one.table, one.key) in draft.refused:
        return f"it is {toml(stands).strip(chr(34))[:SHORT]}; another"
    if one.kind is Kind.CREDENTIAL:
        return "yes if it will answer this host without a token"
    if one.kind is Kind.RPC and stands is not None:
        shown = " ".join(stands.popitem()) if isinstance(stands, dict) else stands
        return f"{shown}? yes, or {_RPC}"
    if isinstance(stands, list | dict):
        return "yes if it is right as it stands, or another value"
    if stands is not None and one.key == "node_release" and NEWEST in one.words:
        return f"yes if {stands} runs today, or another"
    if stands is not None:
        return f"{toml(stands).strip(chr(34))[:SHORT]}? yes, or another"
    looks = example_at(place_of(one), one.example)
    if one.kind is Kind.UNREAD:
        return f"{looks}? yes, or another"
    if one.kind is Kind.RPC:
        return f"{_RPC}, such as {looks}"
    if one.kind is Kind.FUNDS:
        looks = "500000000000000000 wei"  # as the command has it
    return f"such as {looks}" if looks else "a value"


def default_of(one: Question) -> str:
    """An answer that Enter gives: the address that only the host itself reaches, which is safe whatever runs, what is
    recommended to keep for gas, the host that runs a Prometheus, and a path as a script says it.
    """
    from fleetc.adopt.answering import example_at, place_of

    example = one.example.strip('"')
    if one.kind is Kind.VARIABLE:
        return example_at(place_of(one), one.example)
    if one.kind is Kind.LISTENER:
        return example if is_closed(example) else ""
    return example if one.kind in (Kind.BALANCE, Kind.METRICS) and example != "..." else ""


def instead_of_refused(words: str) -> str:
    """What to write instead of an amount that the check refuses."""
    least = asking_words.least_in(words)
    return f"write {least} or more" if least else "write another"


def is_closed(typed: str) -> bool:
    """Whether only the host itself reaches a listener that somebody typed."""
    from fleetc.adopt.listeners import is_loopback

    return is_loopback(typed.strip('"').rpartition(":")[0])


def stands_at(raw: dict[str, Any], one: Question) -> object:
    """The value that the spec has there already."""
    from fleetc.adopt.answering import place_of
    from fleetc.toml.document import value_at

    return value_at(raw, place_of(one))


def raw_of(text: str) -> dict[str, Any]:
    """What a spec says, as TOML reads it."""
    import tomli

    return tomli.loads(text)
