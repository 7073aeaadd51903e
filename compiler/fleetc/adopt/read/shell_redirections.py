"""Sorts out the redirections of a command: where its output goes is decided by what starts it.

In: the words of a command. Out: those that are no redirection, an account of the others where a node is started, and
nodes with the file that has their log.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.process import Process
from fleetc.adopt.node.secrets import file_name
from fleetc.adopt.read.shell_words import Token
from fleetc.places.diagnostic import Span


def without_redirections(line: list[Token]) -> list[Token]:
    """The words of a command that are no redirection and no target of one."""
    kept: list[Token] = []
    skip = False
    for token in line:
        if token.kind == "op":
            skip = _has_target(token)
        elif skip:
            skip = False
        else:
            kept.append(token)
    return kept


def note_redirections(line: Sequence[Token], started: Sequence[Process], source: str, ledger: Ledger) -> None:
    """Account for where the output of nodes went, in a command that has started some."""
    if not started:
        return
    docker = all(one.runtime == "docker" for one in started)
    log = "docker logs" if docker else "the journal of its unit, or docker logs"
    for place, token in enumerate(line):
        if token.kind != "op" or ">" not in token.text:
            continue
        target = line[place + 1] if _has_target(token) and place + 1 < len(line) else None
        shown = token.text if target is None else f"{token.text} {file_name(target.text)}"
        span = Span(source, token.start, target.end if target is not None else token.end)
        ledger.note(span, shown, Fate.DROPPED, f"what a node of fleetc prints is in {log}")


def _has_target(token: Token) -> bool:
    """Whether the word behind an operator is the file that it names, or what stands for one."""
    return token.text not in ("<<", "<<-") and token.text.endswith(("<", ">", "<&", ">&", ">|"))
