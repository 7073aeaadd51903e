"""Commands that screen and tmux start in a terminal of their own, and ssh on another host.

In: the words of a command line. Out: the command, and what its terminal or host is called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fleetc.adopt.words import Word, in_one

TERMINALS = {"screen": "SceshtTp", "tmux": "sntcxyeFLfS"}
"""The programs, and their options that take a word."""
_SSH_TAKES = frozenset({"-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-E", "-b", "-c", "-m", "-S", "-W", "-w"})
_PRINTS = re.compile(r"(?:\$\(\s*(?:cat\s|<)|`\s*cat\s)\s*[^\s)`]*?([A-Za-z0-9._-]+)[\"']?\s*[)`]")
_NAMES = {"screen": "S", "tmux": "snt"}
"""Those of them whose word is a name of the terminal."""
_KEYS = frozenset({"C-m", "Enter", "KPEnter"})


class Terminal(NamedTuple):
    """A command in a terminal: how many words stand before it, the command, and what the terminal is called."""

    begins: int
    command: list[Word]
    name: str


def in_terminal(program: str, words: Sequence[Word]) -> Terminal:
    """The command of `screen -dmS NAME command`, `tmux new -d "command"` and `tmux send-keys "command" Enter`; without
    one, all words stand before it.
    """
    place, name = 1, ""
    said = program == "screen"  # tmux has a word for what it should do, such as new-session
    while place < len(words):
        text = words[place].text
        if text.startswith("-") and len(text) > 1:
            takes = text[-1] in TERMINALS[program]
            if takes and text[-1] in _NAMES[program] and place + 1 < len(words):
                name = words[place + 1].text.partition(":")[0]
            place += 2 if takes else 1
        elif not said:
            said = True
            place += 1
        else:
            break
    return Terminal(min(place, len(words)), [word for word in words[place:] if word.text not in _KEYS], name)


class Elsewhere(NamedTuple):
    """A command on another host, and how its caller logs in there, as USER@HOST:PORT."""

    host: str
    login: str
    command: Word


def on_other_host(words: Sequence[Word], given: Word | None, names: Mapping[str, str]) -> Elsewhere | None:
    """The command of `ssh HOST command`, or what is `given` as its input; None for a call that only logs in.

    What a file of this host holds is a variable of `names` there, by the text that prints it.
    """
    place, port = 1, ""
    while place < len(words) and words[place].text.startswith("-"):
        takes = words[place].text in _SSH_TAKES
        if words[place].text == "-p" and place + 1 < len(words):
            port = words[place + 1].text
        place += 2 if takes else 1
    rest = words[place + 1 :]
    if place >= len(words) or not (rest or given):
        return None
    called = words[place].text
    command = in_one(rest) if rest else given
    assert command is not None  # noqa: S101  # or there were no words
    return Elsewhere(called.rpartition("@")[2], f"{called}:{port}", _printed_here(command, names))


def _printed_here(command: Word, names: Mapping[str, str]) -> Word:
    """A command whose words from files of this host are variables, because the other host has no such files."""
    text = command.text
    for hole in command.holes:
        found = _PRINTS.fullmatch(hole)
        if found is not None:
            name = names.get(hole) or re.sub("[^A-Za-z0-9]+", "_", found[1]).strip("_").upper()
            text = text.replace(hole, f"${{{name}}}")
    return Word(text, command.span)
