"""The processes that sources start, and the containers that some of them run in.

In: words of sources. Out: `Process` and `Other`; `in_container` makes those of containers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from fleetc.adopt.found.ledger import Ledger
from fleetc.places.diagnostic import Span

OURS = "# Written by fleetc"
"""How each file begins that fleetc writes for a process."""
SET = "set"
"""Stands for a secret, of which only its being there is compared and shown."""


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


class Unread(NamedTuple):
    """What a process reads its settings from and no source is, such as an environment file: where it is named, and its
    name as people may see it. `optional` says that it need not be there, `flags` that it is a variable in the place of
    flags.
    """

    span: Span
    shown: str
    optional: bool = False
    flags: bool = False


@dataclass(frozen=True, slots=True)
class Mount:
    """A path of a container and what is there: a path of the host, or "" for a volume that Docker keeps.

    `volume` says in words where that is. `name` is what Docker calls it, behind the name of its Compose project if it
    is one `of_project`.
    """

    inside: str
    outside: str
    volume: str = "a volume; docker volume inspect says where"
    name: str = ""
    of_project: bool = False


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
    itself wrote beside variables, `release` the release that it named; `ours` says that fleetc wrote the source: then
    each setting there is one that a spec gives. `gpus` are those of the host that its container sees: "all", numbers,
    () where none are asked for, and words where no source says the numbers. `directory` is where relative paths
    begin: for a container, those of whoever starts it, whose home is `caller_home`. `project` is that of Compose,
    `container` its container as a shell on its host names it. `unread` may set any variable that the process has not
    by `variables`.
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
    ours: bool = False
    gpus: tuple[int, ...] | str = ()
    host_ipc: bool = False
    caller_home: str = ""
    project: str = ""
    container: str = ""
    unread: tuple[Unread, ...] = ()

    @property
    def sees(self) -> tuple[int, ...] | str:
        """The GPUs that its container sees, which counts them from 0; () for all of them."""
        return () if self.gpus == "all" else self.gpus

    def other(self, account: Ledger, why: str, lost: tuple[str, ...] = ()) -> Other:
        """The same as a process that is no node."""
        values: dict[str, Any] = {key: getattr(self, key) for key in Process.__dataclass_fields__}
        return Other(**values, account=account, why=why, lost=lost)


@dataclass(frozen=True, slots=True)
class Other(Process):
    """A process that is no node. It is a live runner if a list or its own arguments say so, and else nothing.

    `account` is what its reader noted and found, which only counts if it is one, and `why` is all that is said of it
    otherwise. `lost` is what a spec cannot say of it: a question each.
    """

    account: Ledger = field(default_factory=Ledger)
    why: str = "this service is no node"
    lost: tuple[str, ...] = ()


def in_container(
    process: Process, image: Word | None, network: str, user: str, names: Iterable[str], called: str
) -> Process:
    """A process in a container, which others reach by `names` and which a shell on its host calls `called`."""
    user = user or "root"
    return replace(
        process, runtime="docker", image=image, user=user, home="/root" if user in ("root", "0", "0:0") else "",
        network="host" if network == "host" else "bridge", peers=tuple(dict.fromkeys(filter(None, names))),
        container=called,
    )  # fmt: skip
