"""Fills what fleetc needs to start a live runner: image or program, arguments, variables, directories, GPUs.

In: a process of a source that is no node. Out: fields of the table of its runner, and an account of its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.process import Other
from fleetc.adopt.found.words import Word
from fleetc.adopt.node.host_paths import plain_path
from fleetc.adopt.node.listeners import LOOPBACK
from fleetc.adopt.node.reading import Running
from fleetc.adopt.tables.filling import Facts, Filling
from fleetc.adopt.tables.session import Session, Table
from fleetc.adopt.tables.variables import variable
from fleetc.language.runner import Runner
from fleetc.lower.runner import ROLE
from fleetc.text import leaks


class Argument(NamedTuple):
    """A flag of a program with its value, of one word or two."""

    name: str
    value: Word
    words: tuple[Word, ...]


class Started:
    """The process of a runner: image or program, arguments, variables, directories and GPUs."""

    def __init__(self, session: Session, facts: Facts, server: Other, name: str, table: Table) -> None:
        self.session, self.machines, self.server, self.name, self.table = session, facts.machines, server, name, table
        running = Running(server, ROLE, {}, name=name, host=self.machines.host_of(server))
        self.own = Filling(session, running, facts, table)
        self.secrets = {one.text("orchSecret") for one in facts.processes.values() if len(one.text("orchSecret")) > 2}

    def fill(self) -> None:
        """Fill the fields of a runner that fleetc starts, and account for the words of its source."""
        server, table, ledger = self.server, self.table, self.session.ledger
        table.origin = f"from {leaks.shown(server.span.source)}"
        table.values["host"] = self.machines.host_of(server)
        ledger.entries += server.account.entries
        ledger.findings += server.account.findings
        ledger.note(server.span, self.name, Fate.UNDERSTOOD, f"runners.{self.name}")
        for question in server.lost:
            table.ask(f'TODO image = "registry.example.net/name:tag": {question}')
        self._image()
        self._arguments()
        self._directories()
        if isinstance(server.sees, str):
            table.ask(f"TODO gpus = [0]: {server.sees}")
        elif server.gpus:
            table.values["gpus"] = server.gpus if isinstance(server.gpus, str) else list(server.gpus)
        if server.host_ipc:
            table.values["host_ipc"] = True
        for name, word in sorted(server.variables.items()):
            variable(self.own, name, self._reached(word))

    def _image(self) -> None:
        image = self.server.image
        if self.server.runtime != "docker":
            self.table.values["program"] = self.server.program
        elif image is not None and image.holes:
            self.table.ask(f"TODO image: the source says {leaks.shown(image.text)}")
        elif image is not None:
            self.table.values["image"] = image.text.removeprefix("docker.io/") if not self.server.ours else image.text

    def _arguments(self) -> None:
        ledger = self.session.ledger
        said: list[str] = []
        for found in arguments(self.server.words):
            holes = [hole for word in found.words for hole in word.holes]
            if not self.server.ours and self._is_secret(found):
                ledger.secrets += [word.span for word in found.words]
                ledger.note(found.words[0].span, found.name, Fate.DROPPED,
                            "a secret, which no argument may have: every user of a host reads it")  # fmt: skip
                self.table.ask(f"TODO secret_environment: the program got a secret as {leaks.shown(found.name)}, which "
                               "a spec cannot say; hand it over in a variable that it reads")  # fmt: skip
                continue
            if holes:
                ledger.note(found.words[0].span, leaks.shown(found.words[0].text)[:60], Fate.DROPPED,
                            "its value is not in the sources; asked with a TODO", "adopt-value-unknown")  # fmt: skip
                self.table.ask(f"TODO arguments: the source says {leaks.shown(' '.join(w.text for w in found.words))}")
                continue
            for word in found.words:
                ledger.note(word.span, leaks.shown(word.text)[:80], Fate.UNDERSTOOD, "arguments")
                said.append(self._reached(word).text)
        if said:
            self.table.values["arguments"] = said

    def _is_secret(self, found: Argument) -> bool:
        if found.value.text in self.secrets or leaks.find(found.value.text, found.name) is not None:
            return True
        return bool(found.name) and leaks.names_secret(found.name) and bool(found.value.text)

    def _reached(self, word: Word) -> Word:
        """A text in which containers of the same network are where the network of the host has them."""
        if self.server.ours or self.server.network == "host" or "://" not in word.text:
            return word
        names = self.machines.beside(self.server)
        text = re.sub(
            r"://([A-Za-z0-9_.-]+)(?=[:/]|$)", lambda at: f"://{LOOPBACK}" if at[1] in names else at[0], word.text
        )
        return word if text == word.text else Word(text, word.span, word.holes, said=word.said)

    def _directories(self) -> None:
        said = []
        own = f"{self.machines.state_dir(self.server)}/{self.name}"
        for mount in self.server.mounts:
            if mount.inside == mount.outside and plain_path(mount.inside) == mount.inside:
                if not (self.server.ours and mount.inside == own):
                    said.append(mount.inside)
            else:
                kept = leaks.shown(mount.outside) if mount.outside else "a volume of Docker"
                self.table.ask(
                    f"TODO directories: {leaks.shown(mount.inside)} was {kept}; a spec has the same path inside and "
                    "outside, and the runner a directory of its own"
                )
        if said:
            self.table.values["directories"] = said


def arguments(words: tuple[Word, ...]) -> Iterator[Argument]:
    """Words in the pairs that flags and values make; a word that is neither stands alone."""
    at = 0
    while at < len(words):
        word = words[at]
        flag, equals, _ = word.text.partition("=")
        dashes = len(flag) - len(flag.lstrip("-"))
        if not dashes:
            yield Argument("", word, (word,))
        elif equals:
            yield Argument(flag[dashes:], word.part(len(flag) + 1), (word,))
        elif at + 1 < len(words) and not words[at + 1].text.startswith("-"):
            yield Argument(flag[dashes:], words[at + 1], (word, words[at + 1]))
            at += 1
        else:
            yield Argument(flag[dashes:], Word("", word.span), (word,))
        at += 1


def in_order(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a runner in the order of its type."""
    return {key: values[key] for key in Runner.model_fields if key in values}
