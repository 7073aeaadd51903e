"""Which known name was probably meant, and how a help line asks.

In: a word that is not a known name, and the names. Out: help lines. A suggestion is a question: it names all names that
are equally similar, and repairs nothing. Only a difference of spelling (`same_but_for_spelling`) is certain. Called by
the model, the rules and commands.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import lru_cache
from heapq import nlargest, nsmallest

LIMIT = 20
"""How many words of one run get suggestions: more of them are usually one mistake made many times."""
_FINALISTS = 12
_LIKENESS = 0.6
_AS_NEAR = 3
_LISTED = 12


class Suggestions:
    """The search for similar names over one run of a checker. `left` counts down; at zero the search stops.

    Results about a collection of names are cached by its identity, so pass the same one each time.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = self.left = LIMIT if limit is None else limit
        self._known: dict[int, tuple[Iterable[str], _Names]] = {}

    def restart(self) -> None:
        """Begin another run over the same names."""
        self.left = self._limit

    def did_you_mean(self, word: str, known: Iterable[str], otherwise: str = "") -> str:
        """A help line: the names most like `word`, else `otherwise`, else the few that exist, else ""."""
        return asked(self.near(word, known)) or otherwise or self.listed(known)

    def listed(self, known: Iterable[str]) -> str:
        """The names, or the first of many, as a help line; "" if there is none."""
        return self._names(known).listed

    def near(self, word: str, known: Iterable[str]) -> tuple[str, ...]:
        """The names most like `word`; none if none is similar, or if the run has asked often enough."""
        if self.left <= 0:
            return ()
        self.left -= 1
        return self._names(known).near(word)

    def _names(self, known: Iterable[str]) -> _Names:
        held = self._known.get(id(known))
        if held is None:
            held = self._known[id(known)] = (known, _Names(known))  # holding `known`, its id stays its own
        return held[1]


class _Names:
    """Some names, and for each of them the features used to find similar ones."""

    def __init__(self, known: Iterable[str]) -> None:
        self._all = tuple(known)
        self._features: list[tuple[str, frozenset[str]]] = []
        self.listed = ""
        if self._all:
            first = nsmallest(_LISTED + 1, self._all)
            self.listed = f"known: {', '.join(first[:_LISTED])}{', ...' if len(first) > _LISTED else ''}"

    def near(self, word: str) -> tuple[str, ...]:
        """The names most like `word`, several if they are equally similar; none if none is similar."""
        if not self._features:
            self._features = [(name, _features(name)) for name in self._all]
        own = _features(word)
        shared = ((len(own & features) / (len(own) + len(features)), name) for name, features in self._features)
        matcher = difflib.SequenceMatcher(b=word)
        rated: list[tuple[float, str]] = []
        for _, name in nlargest(_FINALISTS, shared):
            matcher.set_seq1(name)
            if matcher.real_quick_ratio() >= _LIKENESS and matcher.quick_ratio() >= _LIKENESS:
                rated.append((matcher.ratio(), name))
        best = max(rated, default=(0.0, ""))[0]
        return tuple(sorted(name for ratio, name in rated if ratio == best)) if best >= _LIKENESS else ()


def _features(word: str) -> frozenset[str]:
    """The characters of a word and its pairs of neighbours, including its ends."""
    ends = f"\0{word}\0"
    return frozenset([*word, *(ends[at : at + 2] for at in range(len(ends) - 1))])


def asked(near: Iterable[str]) -> str:
    """The question for some names; "" for none."""
    names = tuple(near)
    return f"did you mean {one_of(names)}?" if names else ""


def one_of(names: Iterable[str], shown: int = _AS_NEAR) -> str:
    """Names to choose from, as a part of a sentence: "a", or: "a", "b" or another."""
    quoted = [f'"{name}"' for name in names]
    listed = [*quoted[:shown], "another"] if len(quoted) > shown else quoted
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The help line for a single word, if nothing else in the run needs one."""
    return Suggestions(1).did_you_mean(word, tuple(known), otherwise)


@lru_cache(maxsize=256)
def _few(known: tuple[str, ...]) -> _Names:
    return _Names(known)


def nearest_name(word: str, known: tuple[str, ...]) -> str:
    """The known name most like `word`, or "" if none is similar. For a few names, asked about often."""
    return next(iter(_few(known).near(word)), "")


def same_but_for_spelling(word: str, known: Iterable[str]) -> str:
    """The only known name that differs from `word` just in case, hyphens, underscores or spaces; "" if none does."""
    found = [name for name in known if folded(name) == folded(word)]
    return found[0] if len(found) == 1 else ""


def folded(word: str) -> str:
    """A word without the characters and case that people vary."""
    return re.sub(r"[-_ ]", "", word).lower()
