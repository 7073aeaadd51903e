"""The words by which a question is known again: its line in the spec is all that there is of it.

In: what a question is about. Out: its words; and from words, what those that ask put into them. `questions.py` and the
prompts read with the same names that the others write with, so that words can change.
"""

from __future__ import annotations

CREDENTIAL = "the runner of "
"""How a question begins about a model whose runner loses its credential."""
REPAIR = "repair "
"""How a question begins that only a repaired source answers."""
BY_NAME = " is taken for its file by the name alone"
"""What a question says of a source that has only the name of the file that is meant."""
NO_SOURCE = " has it: copy it from the host and name it too"
"""What a question says of a file that somebody has to name."""
ONE_RPC = "a fleet has one RPC address, but "
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


def funds(what: str, command: str, more: str = "") -> str:
    """What a wallet has set aside, and the command that shows it; `more` says which of its values that is."""
    return f"{what}; {command}{_SHOWS}{more}"


def command_of(words: str) -> str:
    """The command of a question about funds; "" where none shows them."""
    before, shows, _ = words.partition(_SHOWS)
    return before.partition("; ")[2] if shows else ""


def same_command(words: str) -> str:
    """A question about funds whose command stands just above."""
    return words.replace(f"{command_of(words)}{_SHOWS}", "the same command shows it")


def only_command(words: str) -> str:
    """What a question about funds is where its key says what is asked."""
    return command_of(words)


def unless(variable: str, value: str, file: str, more: str) -> str:
    """What a script gives a variable, which a file that is none of the sources may give another value."""
    return f"{variable} is {value} unless {file}{_SETS}{more}"


def variable_of(words: str) -> str:
    """What a question says of such a variable; "" for any other question."""
    before, sets, _ = words.partition(_SETS)
    return before if sets and " unless " in before else ""


def several(why: str, condition: str, options: str) -> str:
    """Whether nodes run on one host: why that is asked, and when to say it in which options."""
    return f"{why}{_TURN}{condition}, {options}"


def why_several(words: str) -> str:
    """Why it is asked whether nodes run on one host."""
    return words.rpartition(_TURN)[0] or words
