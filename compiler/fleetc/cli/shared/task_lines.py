"""Tasks as `fleetc todo` shows them: one entry for all hosts that have the same task, at most 80 columns wide.

In: tasks, a blueprint. Out: lines of text. A command that is longer than a line goes on behind a backslash.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.tasks import NAMED, Task
from fleetc.text.counting import counted, first_of

_WIDTH = 80
_SCREEN = 25
"""Lines after which nobody sees the first one any more."""

_WORD = re.compile(r"""(?:-\w (?=[^-\s]))?(?:'[^']*'|"[^"]*"|[^\s'"])+""")
"""One word of a command with what is quoted in it, behind the option of which it is the value."""


_LATER = re.compile(r"nc |(docker exec -it \S+ )?livepeer_cli ")
"""Commands that ask a node, or connect to one."""


class Group(NamedTuple):
    """One task of several hosts, with the command of the first; `example` says that the others have their own."""

    task: Task
    hosts: tuple[str, ...]
    example: bool


def task_lines(tasks: Sequence[Task], blueprint: Blueprint) -> Iterator[str]:
    """What each person provides; above more than a screen of it, how much that is."""
    groups = _groups(tasks, blueprint)
    lines = [line for who, some in groupby(groups, lambda one: one.task.who) for line in (who, *_of(list(some)), "")]
    if len(lines) > _SCREEN:
        hosts = {host for group in groups for host in group.hosts}
        yield f"{counted(len(groups), 'task')} on {counted(len(hosts), 'host')}:"
        yield from (f"  {who}: {number}" for who, number in Counter(one.task.who for one in groups).items())
        if len(hosts) > 1:
            yield "fleetc todo --limit HOST and hosts/HOST/README.md list those of one host."
        yield ""
    yield from lines


def _groups(tasks: Sequence[Task], blueprint: Blueprint) -> list[Group]:
    """Tasks that differ only in a host and its name and address are one."""
    hosts = {host.name: host for host in blueprint.hosts}
    found: dict[tuple[str, ...], list[Task]] = {}
    for task in tasks:
        names = {"its name": "", "its address": ""}
        if task.host:
            names = {"its name": hosts[task.host].public, "its address": hosts[task.host].address}
        texts = (_without(text, names) for text in (task.words, task.subject, task.command))
        found.setdefault((task.who, task.host and "host", *texts), []).append(task)
    groups = []
    for (_, _, words, subject, command), alike in found.items():
        first, several = alike[0], len(alike) > 1
        shown = first._replace(words=words, subject=subject) if several else first
        groups.append(
            Group(shown, tuple(task.host for task in alike if task.host), several and command != first.command)
        )
    return groups


def _without(text: str, names: dict[str, str]) -> str:
    """A text in which each name of a host is replaced by a word for it."""
    for word, name in names.items():
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", word, text) if name else text
    return text


def _of(groups: Sequence[Group]) -> Iterator[str]:
    """The tasks of one person."""
    for task, hosts, example in groups:
        subject = f": {task.subject}" if task.subject else ""
        if len(hosts) > 1:
            yield from _filled(f"{task.words}{subject}", "  ", "    ")
            first = f"; on {hosts[0]}:" if example else ""
            yield from _filled(f"on {counted(len(hosts), 'host')}: {first_of(hosts, NAMED)}{first}", " " * 6, " " * 8)
        else:
            host = f"{task.host}: " if task.host else ""
            nodes = f", for {first_of(task.nodes, NAMED)}" if task.nodes else ""
            yield from _filled(f"{host}{task.words}{subject}{nodes}", "  ", "    ")
        if _LATER.match(task.command):
            yield "      once the node runs:"
        yield from _command(task.command)


def _filled(words: str, first: str, other: str) -> list[str]:
    return textwrap.wrap(
        words, _WIDTH, initial_indent=first, subsequent_indent=other, break_long_words=False, break_on_hyphens=False
    )


def _command(command: str) -> Iterator[str]:
    """A command on lines that a shell reads as one."""
    line = ""
    for word in _WORD.findall(command):
        if line and len(line) + len(word) > _WIDTH - 10:
            yield f"      {line} \\"
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield f"      {line}"
