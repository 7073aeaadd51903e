"""Sorts out the redirections of a command: where its output goes is decided by what starts it.

In: the words of a command. Out: those that are no redirection, an account of the others where a node is started, and
nodes with the file that has their log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fleetc.adopt.found.words import Fate, Ledger, Process, Word
from fleetc.adopt.read.shell_words import Token
from fleetc.adopt.read.shell_wrappers import base_of, behind_wrappers
from fleetc.adopt.read.showing import file_name
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


def note_log(line: Sequence[Token], words: Sequence[Word], processes: list[Process], before: int) -> None:
    """Give processes the file that a command writes their output to: those behind `before`, which it starts, and the
    containers whose logs it follows.
    """
    files = (
        line[place + 1].text
        for place, token in enumerate(line[:-1])
        if token.kind == "op" and ">" in token.text and _has_target(token)
    )
    file = next((text for text in files if not text.isdecimal() and not text.startswith(("&", "/dev/"))), "")
    if not file:
        return
    texts = [word.text for word in words]
    follows = texts[2:] if texts[:2] in (["docker", "logs"], ["podman", "logs"]) else []
    for place, one in enumerate(processes):
        if place >= before or (one.runtime == "docker" and one.name in follows):
            processes[place] = replace(one, log=file_name(file))


def note_tee(words: Sequence[Word], processes: list[Process], before: int) -> None:
    """Give processes behind `before` the file that a `tee` keeps their output in."""
    behind = words[behind_wrappers(list(words), {}) :]
    files = [word.text for word in behind[1:] if not word.text.startswith("-")] if behind else []
    if files and base_of(behind[0].text) == "tee" and not files[0].startswith("/dev/"):
        processes[before:] = [replace(one, log=file_name(files[0])) for one in processes[before:]]


def _has_target(token: Token) -> bool:
    """Whether the word behind an operator is the file that it names, or what stands for one."""
    return token.text not in ("<<", "<<-") and token.text.endswith(("<", ">", "<&", ">&", ">|"))
