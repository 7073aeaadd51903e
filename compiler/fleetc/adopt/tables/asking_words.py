"""The words by which a question is known again: its line in the spec is all that there is of it.

In: what a question is about. Out: its words; and from words, what those that ask put into them. `questions.py` and the
prompts read with the same names that the others write with, so that words can change.
"""

from __future__ import annotations

import re

CREDENTIAL = "the runner of "
"""How a question begins about a model whose runner loses its credential."""
REPAIR = "repair "
"""How a question begins that only a repaired source answers."""
BY_NAME = " is taken for its file by the name alone"
"""What a question says of a source that has only the name of the file that is meant."""
NO_SOURCE = " has it: copy it from the host and name it too"
"""What a question says of a file that somebody has to name."""
UNREAD = " says so, where the node does not read it"
"""What a question says of a value that a source has in vain."""
_ROOM = re.compile("(?<=, or )containers_per_gpu = ([0-9]+) if there is enough memory")
"""What the check says of a GPU that has room for more containers."""
_KEEP = "or keep it with cli = "
ONE_RPC = "a host has one RPC address, but "
ONE_HOST = "no source says that it is one host, and "
SHOWS_RELEASE = " livepeer -version says it"
HAS_NONE = ", as a spec has none"
RELEASE, RELEASE_HERE = "which release runs?", "which release runs here?"
FOR_GAS = "what to keep for gas"
ALSO_LOGIN = "is this also where you log in?"
IN_BRIEF = (
    (ONE_RPC, ""), (ONE_HOST, "one host? "), (RELEASE, "which?"), (RELEASE_HERE, "which?"), (SHOWS_RELEASE, ""),
    (HAS_NONE, ""), (FOR_GAS, "for gas"), (ALSO_LOGIN, "where you log in"),
)  # fmt: skip
"""Words of questions that a list of them can do without, with what stands for them there."""
_SETS = " sets it; "
_SHOWS = " shows it in wei"
_TURN = "; if "
_LEAST = re.compile(r'; raise \S+ to "([^"]+)" or more')
"""How the check says the least amount that it takes."""


def funds(what: str, command: str, more: str = "") -> str:
    """What a wallet has set aside, and the command that shows it; `more` says which of its values that is."""
    return f"{what}; {command}{_SHOWS}{more}"


def command_of(words: str) -> str:
    """The command of a question about funds; "" where none shows them."""
    before, shows, _ = words.partition(_SHOWS)
    return before.partition("; ")[2] if shows else ""


def same_command(words: str) -> str:
    """A question about funds whose command stands just above."""
    return f"the same command shows it{words.partition(_SHOWS)[2]}"


def shown_by(words: str) -> str:
    """How to see what a wallet has set aside: its command, and which of the values it is."""
    return words.partition("; ")[2]


def only_command(words: str) -> str:
    """What a question about funds is where its key says what is asked."""
    return command_of(words)


def several(why: str, condition: str, options: str) -> str:
    """Whether nodes run on one host: why that is asked, and when to say it in which options."""
    return f"{why}{_TURN}{condition}, {options}"


def why_several(words: str) -> str:
    """Why it is asked whether nodes run on one host."""
    return words.rpartition(_TURN)[0] or words


def least_in(words: str) -> str:
    """The least amount that the check takes where it refuses one; "" where it names none."""
    found = _LEAST.search(words)
    return found[1] if found is not None else ""


def keep_listener(listener: str) -> str:
    """What to do with an administration listener that others reach."""
    return f'use an SSH tunnel, {_KEEP}"{listener}", cli_exposed = true and a firewall'


def listener_in(words: str) -> str:
    """The listener that can be kept; "" where none is."""
    return words.partition(f'{_KEEP}"')[2].partition('"')[0]


def room_in(words: str) -> tuple[str, str]:
    """What gives a node room for its warm containers, in words, and how many that is for each GPU; "" where nothing."""
    found = _ROOM.search(words)
    return (found[0], found[1]) if found is not None else ("", "")
