"""Commands that screen and tmux start in a terminal of their own.

In: the words of a command line. Out: the command, and what its terminal is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fleetc.adopt.words import Word

TERMINALS = {"screen": "SceshtTp", "tmux": "sntcxyeFLfS"}
"""The programs, and their options that take a word."""
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
