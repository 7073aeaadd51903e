"""Commands that screen and tmux start in a terminal of their own.

In: the words of a command line. Out: where the command begins, and its words.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleetc.adopt.words import Word

TERMINALS = {"screen": "SceshtTp", "tmux": "sntcxyeFLfS"}
"""The programs, and their options that take a word."""
_KEYS = frozenset({"C-m", "Enter", "KPEnter"})


def in_terminal(program: str, words: Sequence[Word]) -> tuple[int, list[Word]]:
    """The command of `screen -dmS NAME command`, `tmux new -d "command"` and `tmux send-keys "command" Enter`.

    The number is how many words stand before it; without a command, that is all of them.
    """
    place = 1
    said = program == "screen"  # tmux has a word for what it should do, such as new-session
    while place < len(words):
        text = words[place].text
        if text.startswith("-") and len(text) > 1:
            place += 2 if text[-1] in TERMINALS[program] else 1
        elif not said:
            said = True
            place += 1
        else:
            break
    return min(place, len(words)), [word for word in words[place:] if word.text not in _KEYS]
