"""The state of filling one node table: what is said, what is asked, and what happened to each setting.

In: a running process and the session. Out: the table, and an account of every setting that `nodes.py` and the files of
the roles take, drop or ask about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.process import Process
from fleetc.adopt.found.questions import Ask, Question, Reason, Why, facts_of
from fleetc.adopt.found.words import SET, Same, Word
from fleetc.adopt.node.documents import DocumentError
from fleetc.adopt.node.flags import SECRET_VARIABLES
from fleetc.adopt.node.host_paths import Place, callers_place, on_host, opens_home_or_folder, whereabouts
from fleetc.adopt.node.listeners import http_listener, split
from fleetc.adopt.node.own_files import own_file
from fleetc.adopt.node.reading import (
    PATH_OR_TEXT,
    Running,
    in_open_folder,
    looks_like_path,
    names_document,
    secret_file,
    shown,
)
from fleetc.adopt.report.compare import QUESTION
from fleetc.adopt.tables import asking_words
from fleetc.adopt.tables.links import loopback_port
from fleetc.adopt.tables.runner_host import Machines
from fleetc.adopt.tables.session import PIXEL_PRICE, Session, Table
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source
from fleetc.upstream import FLAGS

PATHS = frozenset({"dataDir", "ethKeystorePath", "aiModelsDir", "liveRunnerConfig", "verifierPath"})
"""Flags whose values are paths and nothing else."""

_FILE_NAME = re.compile(r"\.?(?:[a-z]+[-_.]?)?(?:secret|pass(?:word|wd)?|pw|key)", re.IGNORECASE)
"""What looks like the name of a file with a secret, rather than like one."""
_LONGEST_REFUSED = 200
"""Characters of a value that no spec takes, and that stays in it for people to replace."""


@dataclass(frozen=True)
class Facts:
    """What all nodes of the fleet agree about.

    `services` are addresses of orchestrators with their names, `local` those at the loopback of each host, `workers`
    the roles of those that name each, `machines` the hosts with what runs there besides nodes.
    """

    network: str
    services: Mapping[str, str]
    local: Mapping[tuple[str, int], str]
    signers: Mapping[str, str]
    redeemers: Mapping[str, str]
    peers: Mapping[tuple[str, str], Running]
    processes: Mapping[str, Running]
    workers: Mapping[str, frozenset[str]]
    machines: Machines

    @property
    def on_chain(self) -> bool:
        """Whether the fleet is paid on a chain."""
        return self.network != "offchain"

    def orchestrator_at(self, running: Running, url: str) -> str:
        """The adopted orchestrator to which an address leads from a process; "" if it is another one."""
        host, _ = split(url.partition("://")[2]) or ("", 0)
        peer = self.peers.get((running.process.span.source, host))
        port = loopback_port(running, url)
        local = self.local.get((running.host, port), "") if port is not None else ""
        called = peer.name if peer is not None and peer.role == "orchestrator" else ""
        return self.services.get(url) or called or local

    def helper_at(self, running: Running, known: Mapping[str, str], url: str, role: str) -> str:
        """The adopted signer or redeemer, of those `known` by address, to which an address leads from a process; "" if
        it is another one.
        """
        host, port = split(url.rpartition("//")[2]) or ("", 0)
        peer = self.peers.get((running.process.span.source, host))
        listener = http_listener(role, peer.text("httpAddr"), "")[1] if peer is not None and peer.role == role else None
        called = peer.name if peer is not None and listener is not None and listener[1] == port else ""
        return known.get(f"{running.host} {url}") or known.get(url) or called


@dataclass
class Filling:
    """One node on its way into the spec."""

    session: Session
    running: Running
    facts: Facts
    table: Table
    done: set[str] = field(default_factory=set)

    @property
    def process(self) -> Process:
        """The process of the source."""
        return self.running.process

    def has(self, flag: str) -> bool:
        """Whether a flag is set, and nothing has taken it yet."""
        return flag in self.running.settings and flag not in self.done

    def take(self, flag: str, where: str) -> None:
        """Account for a setting that the spec has now."""
        self.done.add(flag)
        if flag in self.running.settings:
            word = self.running.word(flag)
            self.session.ledger.note(word.span, shown(flag, word.text), Fate.UNDERSTOOD, where)

    def drop(self, flag: str, why: str, reason: bool = True) -> None:
        """Account for a setting that the spec does not have; `reason` if the compiled node differs by it."""
        self.done.add(flag)
        if flag in self.running.settings:
            word = self.running.word(flag)
            self.session.ledger.note(word.span, shown(flag, word.text), Fate.DROPPED, why)
        if reason:
            self.running.reasons[flag] = why

    def mistake(self, code: str, flag: str, message: str, help: str) -> None:
        """Account for a setting that is a mistake today, and that the spec does not have."""
        self.done.add(flag)
        word = self.running.word(flag)
        self.session.ledger.mistake(code, word.span, shown(flag, word.text), message, help)
        self.running.reasons[flag] = Same(message) if code == "adopt-setting-unread" else message

    def asks(self, kind: Ask, key: str, flag: str = "", example: str = "", **facts: object) -> None:
        """Leave a question about a key, and where `flag` is given account for that setting."""
        question = self.table.put(kind, key, example, **facts)
        if flag:
            self.open(flag, question)

    def open(self, flag: str, question: Question) -> None:
        """Account for a setting that a question is about: nothing of it is understood."""
        self.done.add(flag)
        self.running.reasons[flag] = Reason(Why.ASKED, (("question", question.text),))
        if flag in self.running.settings:
            word = self.running.word(flag)
            where = f"asked with a TODO at {'.'.join(question.place)}"
            self.session.ledger.note(word.span, shown(flag, word.text), Fate.DROPPED, where, "adopt-value-unknown")

    def because(self, flag: str, why: Why, **facts: object) -> None:
        """Say why the compiled node has another value of a setting, where nothing has said that yet."""
        self.running.reasons.setdefault(flag, Reason(why, facts_of(facts)))

    def damaged(self, flag: str, source: Source | None, problem: DocumentError, what: str, help: str) -> None:
        """Account for a setting whose file or text the node does not read, at the line of the fault. `what` the node
        does then is the reason of the difference; a `Same` where the spec without it means the same.
        """
        message = f"{what}: {problem}"
        if source is None:
            self.mistake("adopt-document-unread", flag, message, help)
            return
        word = self.running.word(flag)
        self.done.add(flag)
        self.running.reasons[flag] = what
        self.session.ledger.note(word.span, shown(flag, word.text), Fate.MISTAKE, message, "adopt-document-unread")
        self.session.ledger.warn("adopt-document-unread", problem.span(source), message, help)

    def say(self, key: str, value: Any, note: str = "") -> None:
        """Give a field of the table a value; a dotted key is a field of a table within."""
        place = self.table.values
        *above, last = key.split(".")
        for part in above:
            place = place.setdefault(part, {})
        place[last] = value
        if note:
            self.table.notes[key] = note

    def refused(self, flag: str, key: str, why: str) -> None:
        """Leave a question for a value that no spec has; it stays, if the node would get its default instead."""
        word = self.running.word(flag)
        words = why if word.text in why else f"the source says {leaks.shown(word.text)[:60]}: {why}"
        self.ask(key, words, flag, warn=False)
        known = FLAGS[flag]
        plain = not known.secret and leaks.find(word.text, flag) is None and len(word.text) <= _LONGEST_REFUSED
        if plain and known.default not in ("", 0):
            self.say(key, int(word.text) if re.fullmatch("-?[0-9]{1,18}", word.text) else word.text)
        self.session.ledger.warn(
            "adopt-value-invalid", word.span, f"the spec does not take this value of -{flag}: {why}",
            f"look which value is right, and write {key} where the spec has its TODO line", elsewhere=True,
        )  # fmt: skip

    def ask_price(self, key: str, flag: str, refused: bool) -> None:
        """Leave a question for a price that no spec has: the node may have `refused` it, or read it."""
        word = self.running.word(flag)
        said = leaks.shown(word.text)[:60]
        words = f"the node refuses {said} as a price, so it would not start" if refused else f"no spec has {said}"
        self.ask(key, words, flag, PIXEL_PRICE, warn=False)
        advice = f"write {key} where the spec has its TODO line"
        self.session.ledger.warn("adopt-value-invalid", word.span, words, advice, elsewhere=True)

    def ask(self, key: str, words: str, flag: str = "", example: str = '"..."', warn: bool = True) -> None:
        """Leave a question where a value is not known; `warn` unless something else already has."""
        told = None
        if flag:
            self.leave_open(flag, key, words)
            if warn and flag in self.running.settings:
                told = self.session.ledger.warn(
                    "adopt-value-unknown", self.running.word(flag).span,
                    f"the value of -{flag} is not in the sources", f"write {key} where the spec has its TODO line",
                    elsewhere=True,
                )  # fmt: skip
        self.table.ask(f"TODO {key} = {example}: {words}", told)

    def leave_open(self, flag: str, key: str, words: str, code: str = "adopt-value-unknown") -> None:
        """Account for a setting that the spec asks for at `key`: nothing of it is understood."""
        self.done.add(flag)
        self.running.reasons[flag] = f"{QUESTION}: {words}"
        if flag in self.running.settings:
            word = self.running.word(flag)
            asked = f"{words}; asked with a TODO at {key}"
            self.session.ledger.note(word.span, shown(flag, word.text), Fate.DROPPED, asked, code)

    def unknown(self, flag: str, key: str, example: str = '"..."') -> bool:
        """Whether the value of a setting has holes; then a question stands in its place."""
        word = self.running.word(flag)
        if not word.holes or (flag in PATHS and opens_home_or_folder(word)):
            return False
        said = f"the source says {leaks.shown(word.text)[:80]}"
        if FLAGS[flag].secret:
            self.ask(key, "only who runs the command knows it", flag)
        else:
            self.ask(key, said, flag, example)
        return True

    def hidden(self, flag: str, key: str) -> dict[str, str] | None:
        """A reference for a setting that is a secret: a file on the host, a variable of who deploys, or one made up.

        None where it is a file that no source places on the host; then a question is left at `key`, if there is one.
        """
        word, process = self.running.word(flag), self.process
        known = process.secrets.get(FLAGS[flag].env)
        if known is not None and word.text == known[1]:
            return {known[0]: known[1]}
        variable = hole_variable(word)
        if variable:
            return {"env": variable}
        printed = printed_place(process, word)
        if printed is not None:
            return {"host_file": self.placed(printed)}
        file = self.secret_file(flag)
        if file:
            path = None if in_open_folder(word) and not opens_home_or_folder(word) else self.host_path(file)
            if path is not None:
                self._say_relative(flag, word, path)
                return {"host_file": path}
            if key:
                said = whereabouts(process, file)
                self.ask(
                    key, f"its file, by the path on the host; {said}", example='{ host_file = "/etc/livepeer/..." }'
                )
            return None
        name = word.alone or f"{self.running.name}_{SECRET_VARIABLES.get(flag, flag)}".upper().replace("-", "_")
        if word.holes:
            if word.text not in word.holes:
                self.session.ledger.secrets.append(word.span)
                self.session.ledger.warn(
                    "adopt-value-unknown", word.span, f"the sources have a part of the value of -{flag} only",
                    f"put the whole value into the variable {name} of whoever deploys",
                )  # fmt: skip
            return {"env": name}
        otherwise = ""
        hint = ""
        if flag in PATH_OR_TEXT and "/" not in word.text:
            otherwise = "; if it is the name of a file where the node starts, the node reads that: name that path"
            hint = "if it is the name of a file, name its path as host_file" if _FILE_NAME.fullmatch(word.text) else ""
        return self.session.secret(word, name, f"the value of -{flag}", otherwise, hint)

    def yields(self, flag: str, own: str, reason: str) -> None:
        """Say that a setting, which this node has from `own`, yields to what its wallet has from another node."""
        self.running.own[flag] = own
        self.running.reasons[flag] = reason

    def way(self, flag: str, reference: Mapping[str, str]) -> str:
        """How the process has a secret today: a path on the host or a reference; SET where a source has it in clear."""
        kind, name = next(iter(reference.items()))
        if kind == "host_file":
            return name
        elsewhere = self.running.word(flag).holes or self.secret_file(flag) or FLAGS[flag].env in self.process.secrets
        return f"{kind} {name}" if elsewhere else SET

    def secret_file(self, flag: str) -> str:
        """The path of the file that a secret is in, as the process names it; "" for one that is in no file."""
        if flag not in PATH_OR_TEXT:
            return ""
        return secret_file(self.running.word(flag), self.session.library, self.process.span.source)

    def _say_relative(self, flag: str, word: Word, path: str) -> None:
        """Say that a text without a folder is taken for the name of a file."""
        if not looks_like_path(word.text):
            self.session.ledger.remark(
                "adopt-file-missing", word.span,
                f"this is taken for the file {path}: the node reads -{flag} from a file of that name, if there is one, "
                "and takes the name itself for the value otherwise",
                "make sure that the host has this file",
            )  # fmt: skip

    def host_path(self, path: str) -> str | None:
        """The path on the host of a path that the process sees, whole or not; None where it is in its container."""
        place = on_host(self.process, path)
        return self.placed(place) if place is not None else None

    def placed(self, place: Place) -> str:
        """The path of a place that the spec has now; what is open of it becomes a question."""
        self.session.opened.add(self.running.host, self.process, place)
        return place.path

    def document(self, flag: str) -> Source | None:
        """The text that a setting names or holds."""
        word = self.running.word(flag)
        return self.own_file(flag) if names_document(word.text) else None

    def own_file(self, flag: str) -> Source | None:
        """The source that a path means to the process; what only has its name is told as a guess, and asked about."""
        word = self.running.word(flag)
        found = own_file(self.session.library, self.process, word.text)
        if found.source is None or not found.guess:
            return found.source
        name = leaks.shown(visible(found.source.name))
        place = on_host(self.process, word.text)
        where = leaks.shown(place.path) if place is not None and not place.open else found.guess
        words = f"{name}{asking_words.BY_NAME}; compare it with the one of the host: {where}"
        self.table.ask(f"TODO {FILE_KEYS.get(flag, flag)}: {words}")
        self.running.reasons[flag] = f"{QUESTION}: {words}"
        self.session.ledger.warn(
            "adopt-file-guessed", word.span, f"{name} is taken for this file by its name alone: {found.guess}",
            "compare it with the file of the host, and adopt again with that one in its place if they differ",
            elsewhere=True,
        )  # fmt: skip
        return found.source


ONE_KEYSTORE = "one wallet has one keystore directory on all hosts"
ONE_PASSWORD = "one wallet has one password, and another node of it names another one"  # noqa: S105
UNPLACED_PASSWORD = "one wallet has one password, and no source says whether its file is this one"  # noqa: S105
"""The reasons of what yields to what a wallet has from another node."""

FILE_KEYS = {
    "aiModels": "models", "pricePerGateway": "gateway_prices", "pricePerBroadcaster": "gateway_prices",
    "maxPricePerCapability": "max_prices", "transcodingOptions": "ladder", "liveRunnerConfig": "runners",
}  # fmt: skip
"""The keys that have what a file says, by the flag that names it."""


def hole_variable(word: Word) -> str:
    """The variable whose value a word is, and nothing else; "" for any other word."""
    if len(word.holes) != 1 or word.holes[0] != word.text:
        return ""
    name = word.text.strip("${}<> ").removeprefix("env:").replace(" ", "_").replace("-", "_")
    if not name.replace("_", "").isalnum() or not name.isascii() or name[0].isdigit():
        return ""
    return name.upper()


_PRINTED = re.compile(
    r"(?:\$\(\s*(?:cat\s|<)\s*|`\s*cat\s)\s*[\"']?"
    r"((?:~|\$HOME|\$\{HOME\})?/[^\s\"'$*?;|&<>(){}`]+)[\"']?\s*[)`]"
)


def printed_place(process: Process, word: Word) -> Place | None:
    """The file that a script prints where the word stands, as in $(cat /etc/livepeer/secret); None for other words."""
    found = _PRINTED.fullmatch(word.text) if word.holes else None
    return callers_place(process, found[1]) if found is not None else None
