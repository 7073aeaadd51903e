"""Which commands of a script run: those in the branch of an `if` that the script itself decides, and those that may.

In: what opens and closes, and what a test says. Out: whether a command is run, may be, or is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Level:
    """One open `if`, loop, case or function: `mode` is run, maybe or skip; `kept` the mode around it."""

    kind: str
    kept: str
    mode: str
    condition: bool = False
    decided: bool = False


class Branches:
    """What is open where a script has been read to; `truth` is what the last command said, None for nobody knows."""

    def __init__(self) -> None:
        self.levels: list[Level] = []
        self.truth: bool | None = True

    @property
    def mode(self) -> str:
        """Whether a command is run, may be, or is passed over ("skip")."""
        return self.levels[-1].mode if self.levels else "run"

    def condition_over(self) -> None:
        """`then` and `do`: the test before them decides about what follows."""
        if not self.levels or not self.levels[-1].condition:
            return
        level = self.levels[-1]
        level.condition = False
        if level.kept != "run" or level.kind == "loop":
            level.mode = "skip" if level.kept == "skip" else "maybe"
        elif self.truth is None:
            level.mode = "maybe"
        else:
            level.mode, level.decided = ("run" if self.truth else "skip"), self.truth
        self.truth = True

    def other_branch(self, word: str) -> None:
        """`else` and `elif`."""
        if not self.levels:
            return
        level = self.levels[-1]
        if level.kept != "run":
            return
        if level.decided:
            level.mode = "skip"
        elif level.mode == "skip":
            level.mode = "run"
        level.condition = word == "elif"
