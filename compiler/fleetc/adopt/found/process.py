"""The processes that sources start, and the containers that some of them run in.

In: words of sources. Out: `Process`, `Other`, and `Container`, which becomes one of both in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.words import Word
from fleetc.places.diagnostic import Span


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
    each setting there is one that a spec gives. `sees` are the GPUs of the host that its container sees, which counts
    them from 0; () for all of them, and words where no source says their numbers. `directory` is where relative paths
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
    sees: tuple[int, ...] | str = ()
    caller_home: str = ""
    project: str = ""
    container: str = ""
    unread: tuple[Unread, ...] = ()

    def moved(self, move: Callable[[Span], Span]) -> Process:
        """The same process with other places for its words."""
        words = tuple(replace(word, span=move(word.span)) for word in self.words)
        variables = {name: replace(word, span=move(word.span)) for name, word in self.variables.items()}
        image = replace(self.image, span=move(self.image.span)) if self.image else None
        unread = tuple(file._replace(span=move(file.span)) for file in self.unread)
        return replace(self, span=move(self.span), words=words, variables=variables, image=image, unread=unread)


@dataclass(frozen=True, slots=True)
class Other(Process):
    """A process that is no node. It is a live runner if a list or its own arguments say so, and else nothing.

    `account` is what its reader noted and found, which only counts if it is one, and `why` is all that is said of it
    otherwise. `gpus` are those that it sees, "all" for all; `lost` what a spec cannot say of it: a question each.
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


@dataclass(frozen=True, slots=True)
class Container:
    """A container as `docker run`, a Compose file or its host describes it.

    `names` are those that other containers reach it by, `called` is what a shell on its host calls it. `gpus` are
    those of the host that it sees: "all", numbers, () for none, and words where no source says the numbers.
    """

    name: str
    image: Word | None = None
    variables: dict[str, Word] = field(default_factory=dict)
    network: str = ""
    user: str = ""
    mounts: tuple[Mount, ...] = ()
    published: tuple[Published, ...] = ()
    names: tuple[str, ...] = ()
    gpus: tuple[int, ...] | str = ()
    host_ipc: bool = False
    project: str = ""
    called: str = ""
    secrets: dict[str, tuple[str, str]] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()

    def process(self, span: Span, words: tuple[Word, ...]) -> Process:
        """The process of its node."""
        return Process(**self._fields(span, words))

    def other(self, span: Span, words: tuple[Word, ...], account: Ledger, why: str, lost: tuple[str, ...]) -> Other:
        """The process of a container that is no node's."""
        return Other(**self._fields(span, words), account=account, why=why, lost=lost, gpus=self.gpus,
                     host_ipc=self.host_ipc)  # fmt: skip

    def _fields(self, span: Span, words: tuple[Word, ...]) -> dict[str, Any]:
        user = self.user or "root"
        return {
            "name": self.name, "span": span, "words": words, "variables": self.variables, "runtime": "docker",
            "image": self.image, "user": user, "home": "/root" if user in ("root", "0", "0:0") else "",
            "network": "host" if self.network == "host" else "bridge", "mounts": self.mounts,
            "published": self.published, "peers": tuple(dict.fromkeys(filter(None, self.names))),
            "secrets": self.secrets, "sees": () if self.gpus == "all" else self.gpus, "project": self.project,
            "container": self.called, "unread": self.unread,
        }  # fmt: skip
