"""What the readers of sources find: words with places, and the processes that they start.

In: nothing. Out: `Word`, `Process`, `Other`, `Fate` and the account that every reader keeps (`Ledger`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Self

from fleetc.places.diagnostic import Diagnostic, Label, Severity, Span

OURS = "# Written by fleetc"
"""How each file begins that fleetc writes for a process."""


@dataclass(frozen=True, slots=True)
class Word:
    """A text of a source and its place. `holes` are variables and placeholders in it that no source gives a value.

    `variable` is the one variable whose value it ends with, where a source has that, and `said` where the value stands.
    `behind` are the characters before that value: those of `-flag=` or `NAME=`, and of a text that it is a part of.
    """

    text: str
    span: Span
    holes: tuple[str, ...] = ()
    variable: str = ""
    said: Span | None = None
    behind: int = 0

    @property
    def alone(self) -> str:
        """The variable whose value it is, and nothing else; "" where that is only a part of it."""
        return "" if self.behind else self.variable

    def part(self, start: int, end: int | None = None) -> Word:
        """Some of its characters, with the whole word as their place: quotes and escapes may stand between them."""
        text = self.text[start:end]
        holes = tuple(hole for hole in self.holes if hole in text) if self.holes else ()
        return Word(text, self.span, holes, self.variable, self.said, max(0, self.behind - start))


def unknown(name: str, word: Word) -> Word:
    """A variable that no source gives a value any more, in place of what it was."""
    hole = f"${{{name}}}"
    return Word(hole, word.span, (hole,))


def in_one(words: Sequence[Word]) -> Word:
    """Words in one text with spaces between them, as ssh sends them."""
    span = Span(words[0].span.source, words[0].span.start, words[-1].span.end)
    return Word(" ".join(word.text for word in words), span, tuple(hole for word in words for hole in word.holes))


class Fate(StrEnum):
    """What became of a word of a source."""

    UNDERSTOOD = "understood"
    KEPT = "kept in extra_flags"
    DROPPED = "dropped"
    MISTAKE = "a mistake today"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the account: a place of a source, what stands there as it may be shown, and what became of it.

    `words` say where it went, or why it was dropped. `code` is that of the diagnostic about a mistake.
    """

    span: Span
    shown: str
    fate: Fate
    words: str
    code: str = ""


SET = "set"
"""Stands for a secret, of which only its being there is compared and shown."""


class Same(str):
    """A reason for which a setting is written otherwise and does the same: nobody has to look at it."""

    __slots__ = ()


class Brief(str):
    """A reason whose first screen says less, because another line there says the rest: `brief`, "" for nothing."""

    __slots__ = ("brief",)
    brief: str

    def __new__(cls, words: str, brief: str) -> Self:
        """The whole reason, and what of it the first screen says."""
        made = super().__new__(cls, words)
        made.brief = brief
        return made


class Unknown(str):
    """A reason of a setting whose value of today no source says, so that nobody knows whether it changes."""

    __slots__ = ()


class Unread(NamedTuple):
    """What a process reads its settings from and no source is, such as an environment file: where it is named, and its
    name as people may see it. `optional` says that it need not be there, `flags` that it is a variable in the place of
    flags. `likely` is a source of another name that may be it.
    """

    span: Span
    shown: str
    optional: bool = False
    flags: bool = False
    likely: str = ""


class Aside(NamedTuple):
    """What changes for a process beside its settings: in `words`, and as a `topic` with what is so of this process, by
    which the first screen tells it of several at once. `values` are keys with another value: key, today, then.
    """

    words: str
    topic: str = ""
    detail: str = ""
    values: tuple[tuple[str, str, str], ...] = ()


class InClear(NamedTuple):
    """A secret that stands in a source: the variable that the spec has for it, where it stands, and what is special.

    `keeper` is the host that keeps the value to itself; "" where the value stands in the source.
    """

    variable: str
    span: Span
    hint: str = ""
    keeper: str = ""


@dataclass
class Ledger:
    """What readers and builders leave beside their values: the account, and what people must know.

    `elsewhere` are messages, by code and place, whose fact a question, a change or the list of `in_clear` says too.
    """

    entries: list[Entry] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    secrets: list[Span] = field(default_factory=list)
    """Where secrets stand: no message shows those lines."""
    in_clear: list[InClear] = field(default_factory=list)
    elsewhere: set[tuple[str, Span]] = field(default_factory=set)
    _said: set[tuple[str, Span, str]] = field(default_factory=set)
    _noted: set[Entry] = field(default_factory=set)

    def note(self, span: Span, shown: str, fate: Fate, words: str, code: str = "") -> None:
        """Account for something, once: a loop has the same words again and again."""
        entry = Entry(span, shown, fate, words, code)
        known = len(self._noted)
        self._noted.add(entry)
        if len(self._noted) > known:  # hashed once: there are as many entries as words
            self.entries.append(entry)

    def take(self, other: Ledger, move: Callable[[Span], Span]) -> None:
        """All of the account of a text within this one, at the places that it has here."""
        for entry in other.entries:
            self.note(move(entry.span), entry.shown, entry.fate, entry.words, entry.code)
        for one in other.findings:
            span = one.primary.place
            assert isinstance(span, Span)  # noqa: S101  # readers of sources have no other places
            self._add(one.code, one.severity, move(span), one.message, one.help, one.primary.note)
        self.secrets += map(move, other.secrets)
        self.in_clear += (one._replace(span=move(one.span)) for one in other.in_clear)
        self.elsewhere |= {(code, move(span)) for code, span in other.elsewhere}

    def mistake(
        self, code: str, span: Span, shown: str, message: str, help: str, note: str = "", elsewhere: bool = False
    ) -> Diagnostic:
        """A mistake that the node makes today: a warning, and a line of the account."""
        self.note(span, shown, Fate.MISTAKE, message, code)
        return self.warn(code, span, message, help, note, elsewhere)

    def warn(
        self, code: str, span: Span, message: str, help: str, note: str = "", elsewhere: bool = False
    ) -> Diagnostic:
        """Something that people must look at; `elsewhere` if a question or a change says it too."""
        if elsewhere:
            self.elsewhere.add((code, span))
        return self._add(code, Severity.WARNING, span, message, help, note)

    def refuse(self, code: str, span: Span, message: str, help: str) -> None:
        """Something for which no spec can be written."""
        self._add(code, Severity.ERROR, span, message, help, "")

    def remark(self, code: str, span: Span, message: str, help: str, elsewhere: bool = False) -> None:
        """Something worth knowing; `elsewhere` if a question or a change says it too."""
        self._add(code, Severity.NOTE, span, message, help, "")
        if elsewhere:
            self.elsewhere.add((code, span))

    def _add(self, code: str, severity: Severity, span: Span, message: str, help: str, note: str) -> Diagnostic:
        key, found = (code, span, message), Diagnostic(code, severity, message, Label(span, note), help=help)
        if key not in self._said:
            self._said.add(key)
            self.findings.append(found)
        return found


@dataclass(frozen=True, slots=True)
class Mount:
    """A path of a container and what is there: a path of the host, or "" for a volume that Docker or a cluster keeps.

    `volume` says in words where that is. `name` is what Docker calls it, behind the name of its Compose project if it
    is one `of_project`. `secret` is the Secret of a cluster whose keys are files there.
    """

    inside: str
    outside: str
    volume: str = "a volume; docker volume inspect says where"
    name: str = ""
    of_project: bool = False
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A port of a container that its host publishes: `address` "" is all interfaces."""

    address: str
    port: int
    inside: int


@dataclass(frozen=True, slots=True)
class Process:
    """A node process as a source starts it.

    `words` follow the program, `variables` are its environment. `network` is "host", or "bridge" where a container has
    a network of its own. `peers` are names of other containers that reach it. `secrets` are references that fleetc
    itself wrote beside variables, `release` the release that it named. `login` is how people log in to its host, as
    USER@HOST:PORT with what is said of it. `sees` are the GPUs of the host that its container sees, which counts them
    from 0; () for all of them, and words where no source says their numbers. `directory` is where relative paths begin:
    for a container, those of whoever starts it, whose home is `caller_home`. `project` is that of Compose. `ours` says
    that fleetc wrote the source: then each setting there is one that a spec gives. `placed` says in words how something
    else than the source chooses its host, or how often it runs, and `several` that it is more than one process.
    `bounds` are what its unit or container limits, grants or does beside its command. `container` is its container as a shell on its host names it, and
    `workload` what a cluster calls it. `of_pod` says that its network is that of a pod, of which others than pods reach
    the ports `open_in_pod`; 0 may be any. `unread` may set any variable that the process has not by `variables`.
    `given` is how many GPUs a cluster gives it. `orders` are what its unit waits for, is bound to or checks. `located`
    says in words what of the path of its source says its host. `likely` is what its script gives variables, by the
    holes that they are in `words`; one of the `unread` may give them other values. `waits` are the services that
    Compose starts before it, and `profiles` those without which Compose does not start it.
    """

    name: str
    span: Span
    words: tuple[Word, ...]
    variables: dict[str, Word] = field(default_factory=dict)
    runtime: str = "systemd"
    host: str = ""
    image: Word | None = None
    program: str = ""
    user: str = ""
    home: str = ""
    directory: str = ""
    network: str = "host"
    mounts: tuple[Mount, ...] = ()
    published: tuple[Published, ...] = ()
    peers: tuple[str, ...] = ()
    secrets: dict[str, tuple[str, str]] = field(default_factory=dict)
    release: str = ""
    login: str = ""
    ours: bool = False
    sees: tuple[int, ...] | str = ()
    caller_home: str = ""
    project: str = ""
    placed: str = ""
    several: bool = False
    bounds: tuple[tuple[str, str], ...] = ()
    container: str = ""
    workload: str = ""
    of_pod: bool = False
    open_in_pod: tuple[int, ...] = ()
    unread: tuple[Unread, ...] = ()
    orders: tuple[tuple[str, str], ...] = ()
    likely: dict[str, str] = field(default_factory=dict)
    located: str = ""
    given: int = 0
    waits: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()

    def moved(self, move: Callable[[Span], Span]) -> Process:
        """The same process with other places for its words."""
        words = tuple(replace(word, span=move(word.span)) for word in self.words)
        variables = {name: replace(word, span=move(word.span)) for name, word in self.variables.items()}
        image = replace(self.image, span=move(self.image.span)) if self.image else None
        unread = tuple(one._replace(span=move(one.span)) for one in self.unread)
        return replace(self, span=move(self.span), words=words, variables=variables, image=image, unread=unread)

    def at(self, span: Span) -> Process:
        """The same process with one place for all its words, where theirs are of a text within a text; those of other
        sources keep their places.
        """
        words = tuple(Word(word.text, span, word.holes) for word in self.words)
        variables = {
            name: Word(word.text, span, word.holes) if word.span.source == span.source else word
            for name, word in self.variables.items()
        }
        image = Word(self.image.text, span, self.image.holes) if self.image else None
        unread = tuple(one._replace(span=span) for one in self.unread)
        return replace(self, span=span, words=words, variables=variables, image=image, unread=unread)


@dataclass(frozen=True, slots=True)
class Other(Process):
    """A process that is no node. It is a live runner if a list or its own arguments say so, and else nothing.

    `account` is what its reader noted and found, which only counts if it is one, and `why` is all that is said of it
    otherwise. `gpus` are those that it sees, `lost` what a spec cannot say of it: a question each.
    """

    account: Ledger = field(default_factory=Ledger)
    why: str = "this service is no node"
    gpus: tuple[int, ...] | str = ()
    host_ipc: bool = False
    lost: tuple[str, ...] = ()

    def moved(self, move: Callable[[Span], Span]) -> Other:
        """The same with other places for its words and its account."""
        moved = Process.moved(self, move)
        assert isinstance(moved, Other)  # noqa: S101  # a copy is of the same kind
        account = Ledger()
        account.take(self.account, move)
        return replace(moved, account=account)

    def at(self, span: Span) -> Other:
        """The same with one place for all its words; an account of places within a text within a text is none."""
        moved = Process.at(self, span)
        assert isinstance(moved, Other)  # noqa: S101  # a copy is of the same kind
        return replace(moved, account=Ledger())
