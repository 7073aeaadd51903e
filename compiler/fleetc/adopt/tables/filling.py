"""The state of filling one node table, and what all nodes of a fleet agree about.

In: a running process and the session. Out: its table, and an account of each setting that `nodes.py` and the files of
the roles give, drop or ask about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.process import Process, Word
from fleetc.adopt.found.questions import Ask, Reason, Why, facts_of
from fleetc.adopt.node import listeners, paths, secrets
from fleetc.adopt.node.documents import DocumentError
from fleetc.adopt.node.listeners import LOOPBACK, Listener, is_loopback, split, written
from fleetc.adopt.node.paths import EXAMPLE_PATH, callers_place, on_host, whereabouts
from fleetc.adopt.node.settings import PATH_OR_TEXT, Running
from fleetc.adopt.read.docker_run import VISIBLE
from fleetc.adopt.tables.machines import Machines
from fleetc.adopt.tables.session import Session, Table
from fleetc.lower.common import BY_PLACE, GPU_ORDER, VISIBLE_GPUS
from fleetc.toml.document import Source
from fleetc.toml.edits import toml_value
from fleetc.upstream import FLAGS

SECRET_ON_HOST = f"{{ host_file = {toml_value(EXAMPLE_PATH)} }}"
"""The example of a reference to a secret that no source places."""
_VARIABLE = re.compile("[${}<> ]*(?:env:)?([A-Za-z_][A-Za-z0-9_ -]*?)[${}<> ]*")
_PRINTED = re.compile(
    r"(?:\$\(\s*(?:cat\s|<)\s*|`\s*cat\s)\s*[\"']?"
    r"((?:~|\$HOME|\$\{HOME\})?/[^\s\"'$*?;|&<>(){}`]+)[\"']?\s*[)`]"
)
_READ_BY_NODES = (
    "LIVE_AI_", "FAL_", "W3_", "DOCKER_", "AWS_", "GOOGLE_", "NVIDIA_", "CUDA_", "GO", "SSL_", "HTTP_PROXY",
    "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "HF_", "HUGGINGFACE_", "LD_", "TZ", "TMPDIR", "XDG_",
)  # fmt: skip
"""How the names of variables begin that the node, its libraries or its runners may read."""
_OF_STARTER = re.compile("HOME|PATH|USER|LOGNAME|SHELL|PWD|LANG|TERM|HOSTNAME|SHLVL|LC_.*")
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Facts:
    """What all nodes of the fleet agree about.

    `answers` are names of nodes by role, by who reaches them and by address, `workers` the roles of the workers of each
    orchestrator. `ports` are the ports of hosts in use so far, each with the node that listens there and its address.
    """

    network: str
    processes: Mapping[str, Running]
    machines: Machines
    answers: Mapping[tuple[str, str, str], set[str]]
    workers: dict[str, set[str]] = field(default_factory=dict)
    ports: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: Iterable[Running], network: str, machines: Machines) -> Facts:
        """The facts of nodes."""
        processes = {node.name: node for node in nodes}
        answers: dict[tuple[str, str, str], set[str]] = {}
        for node in processes.values():
            for caller, address in _answers(node):
                answers.setdefault((node.role, caller, address), set()).add(node.name)
        facts = cls(network, processes, machines, answers)
        for node in processes.values():
            if node.table in ("transcoders", "ai_workers") and node.text("orchAddr"):
                url = listeners.orchestrator_url(node.text("orchAddr").split(",")[0])
                facts.workers.setdefault(facts.node_at(node, "orchestrator", url), set()).add(node.role)
        return facts

    @property
    def on_chain(self) -> bool:
        """Whether the fleet is paid on a chain."""
        return self.network != "offchain"

    def node_at(self, caller: Running, role: str, url: str) -> str:
        """The node of a role that a caller reaches at an address; "" where there is none, or more than one."""
        address = url.rpartition("://")[2]
        host, port = split(address) or ("", 0)
        callers = [("", address), (caller.process.span.source, address)]
        if caller.process.network == "host" and is_loopback(host):
            callers.append((caller.host, f":{port}"))
        names = {name for place in callers for name in self.answers.get((role, *place), ())}
        return names.pop() if len(names) == 1 else ""


def _answers(node: Running) -> Iterator[tuple[str, str]]:
    """Where a node answers: who reaches it ("" for all, a source for its containers, or a host), and its address."""
    process, service = node.process, node.text("serviceAddr")
    if node.role == "orchestrator" and service not in ("", "none"):
        yield "", listeners.orchestrator_url(listeners.service_url(service)).rpartition("://")[2]
    listener = listeners.http_listener(node.role, node.text("httpAddr"), service)[1]
    if listener is None:
        return
    yield from ((process.span.source, f"{name}:{listener[1]}") for name in process.peers)
    if (reached := _on_host(process, listener)) is not None:
        host, port = reached
        local = host in ("*", "0.0.0.0", "[::]", "::") or is_loopback(host)  # noqa: S104  # as a port is published
        yield (node.host, f":{port}") if local else ("", f"{host}:{port}")


def _on_host(process: Process, listener: Listener) -> Listener | None:
    """Where a listener is on the host of a process; None for one that stays inside its container."""
    if process.network == "host":
        return listener
    port = next((one for one in process.published if one.inside == listener[1]), None)
    return None if port is None or is_loopback(listener[0]) else (port.address or "*", port.port)


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
        self._note(flag, Fate.UNDERSTOOD, where)

    def give(self, flag: str, key: str, value: Any) -> None:
        """Give a field the value of a setting."""
        self.table.say(key, value)
        self.take(flag, key)

    def drop(self, flag: str, why: Why, **facts: object) -> None:
        """Account for a setting, if it is set, that the spec does not have."""
        if flag in self.running.settings:
            self.running.reasons[flag] = reason = Reason(why, facts_of(facts))
            self._note(flag, Fate.DROPPED, str(reason))

    def because(self, flag: str, why: Why, **facts: object) -> None:
        """Say why the compiled node has another value of a setting, where nothing has said that yet."""
        self.running.reasons.setdefault(flag, Reason(why, facts_of(facts)))

    def mistake(self, code: str, flag: str, why: Why, advice: str, at: Source | None = None, **facts: Any) -> None:
        """Account for a setting, if it is set, that is a mistake today, and that the spec does not have."""
        if flag in self.running.settings:
            self.running.reasons[flag] = reason = Reason(why, facts_of(facts))
            self._note(flag, Fate.MISTAKE, str(reason), code)
            span = facts["problem"].span(at) if at is not None else self.running.word(flag).span
            self.session.ledger.warn(code, span, str(reason), advice)

    def asks(
        self, kind: Ask, key: str, flag: str = "", example: str = "", at: Table | None = None, **facts: object
    ) -> None:
        """Leave a question about a key of the table, or of another one `at`; it accounts for the setting `flag`."""
        question = (at or self.table).put(kind, key, example, **facts)
        if flag:
            self.running.reasons[flag] = question.reason
            self._note(flag, Fate.DROPPED, f"asked with a TODO at {'.'.join(question.place)}", "adopt-value-unknown")

    def _note(self, flag: str, fate: Fate, words: str, code: str = "") -> None:
        self.done.add(flag)
        if flag in self.running.settings:
            word = self.running.word(flag)
            self.session.ledger.note(word.span, secrets.flag(flag, word.text), fate, words, code)

    def unknown(self, flag: str, key: str, example: str = "", at: Table | None = None) -> bool:
        """Whether no source has the whole value of a setting, or it may hold a key; then a question stands there."""
        if not self.has(flag):
            return False
        keyless = FLAGS[flag].secret or self.process.ours or secrets.keyless(flag, self.running.text(flag))
        if keyless and not self.running.word(flag).holes:
            return False
        kind, facts = (Ask.NO_VALUE, {"text": self.shown(flag)}) if keyless else (Ask.NOT_REPEATED, {})
        self.asks(kind, key, flag, example, at, **facts)
        return True

    def shown(self, flag: str) -> str:
        """The text of a setting as people may see it."""
        return secrets.shown(flag, self.running.text(flag))[:80]

    def in_clear(self, flag: str) -> str:
        """The text of a setting that may be a secret, where it is none: fleetc wrote it, or it is only a host."""
        word = self.running.word(flag)
        ours = self.process.ours and FLAGS[flag].env not in self.process.secrets
        return word.text if not word.holes and (ours or secrets.ONLY_HOST.fullmatch(word.text)) else ""

    def listens(self, flag: str, key: str, listener: Listener | None, default: str) -> None:
        """Write down where a node listens on its host, whose network containers get too; a default is left out."""
        if self.unknown(flag, key):
            return
        if listener is None:
            self.asks(Ask.LISTENER, key, flag)
            return
        reached = _on_host(self.process, listener)
        if reached != listener:
            self.because(flag, Why.PUBLISHED if reached is not None else Why.NOT_PUBLISHED)
        host, port = listener = reached or (LOOPBACK, listener[1])
        exposed, name = key == "cli" and not is_loopback(host), self.running.name
        other, theirs = self.facts.ports.setdefault((self.running.host, port), (name, host))
        if exposed and not self.process.ours:
            local = toml_value(f"{LOOPBACK}:{port}")
            self.mistake("adopt-listener-exposed", flag, Why.EXPOSED, f"write cli = {local}, and use an SSH tunnel")
            self.asks(Ask.EXPOSED_CLI, key, "", local, listener=written(listener))
        elif other != name and (host == theirs or "*" in (host, theirs)):
            self.asks(Ask.SAME_PORT, key, flag, node=other, port=port)
        elif written(listener) == default:
            self.take(flag, f"{default}, the default of its role, which the spec leaves out")
        else:
            self.give(flag, key, written(listener))
        if exposed and self.process.ours:
            self.table.say("cli_exposed", True)

    def asks_path(self, key: str, flag: str, path: str, at: Table | None = None) -> None:
        """Ask for the path on the host of a path that the process sees."""
        self.asks(Ask.PATH, key, flag, toml_value(EXAMPLE_PATH), at, where=whereabouts(self.process, path))

    def own_file(self, flag: str, key: str = "models") -> Source | None:
        """The source that a path means to the process; one that only has its name is asked about at `key`."""
        file = paths.own_file(self.session.library, self.process, self.running.text(flag))
        if file.source is not None and file.guess:
            self.asks(Ask.BY_NAME, key, file=file.source.name, path=self.shown(flag))
        return file.source

    def parsed(self, flag: str, key: str, parse: Callable[[str], _Read], why: Why) -> _Read | None:
        """What the text of a setting, or the file that it names, says; None where a question or a mistake stands."""
        text, source = self.running.text(flag), None
        if not text or not self.has(flag) or self.unknown(flag, key):
            return None
        if paths.names_document(text):
            source = self.own_file(flag, key)
            if source is None:
                self.asks(Ask.NO_FILE, key, flag, file=secrets.file_name(text))
                return None
        try:
            return parse(source.text if source is not None else text)
        except DocumentError as problem:
            self.mistake("adopt-document-unread", flag, why, "repair the JSON", source, problem=problem)
            return None

    def read(self, flag: str, key: str, parse: Callable[[str], object], why: Why) -> None:
        """Give a field what the text of a setting, or the file that it names, says."""
        value = self.parsed(flag, key, parse, why)
        if value is not None:
            self.give(flag, key, value)

    def secret(self, flag: str, key: str, at: Table | None = None) -> dict[str, str] | None:
        """A reference for a setting that is a secret: a file on the host, or a variable of who deploys.

        None where no source has all of it: then a question stands at `key`.
        """
        word, process = self.running.word(flag), self.process
        if (known := known_reference(process, FLAGS[flag].env, word)) is not None:
            return known
        printed = printed_file(word)
        path = printed or (flag in PATH_OR_TEXT and paths.secret_file(word, self.session.library, process.span.source))
        name = re.sub("[^A-Z0-9]", "_", word.alone or f"{self.running.name}_{key}".upper())
        if path:
            place = None if printed else on_host(process, path)
            if place is not None:
                return {"host_file": place}
            self.asks(Ask.SECRET_FILE, key, flag, SECRET_ON_HOST, at, where=whereabouts(process, path, bool(printed)))
        elif word.holes:
            self.asks(Ask.PART_OF_SECRET, key, flag, f'{{ env = "{name}" }}', at)
        else:
            return self.session.secret(word, name, f"the value of -{flag}")
        return None


def hole_variable(word: Word) -> str:
    """The variable whose value a word is, and nothing else; "" for any other word."""
    name = _VARIABLE.fullmatch(word.text) if word.holes == (word.text,) else None
    return re.sub("[ -]", "_", name[1]).upper() if name is not None else ""


def printed_file(word: Word) -> str:
    """The file that a script prints where the word stands, as in $(cat /etc/livepeer/secret); "" for other words."""
    printed = _PRINTED.fullmatch(word.text) if word.holes else None
    return printed[1] if printed is not None else ""


def known_reference(process: Process, variable: str, word: Word) -> dict[str, str] | None:
    """The reference that a source has itself for the value of a variable, or of its flag: that of fleetc, another
    variable, or a file that a script prints.
    """
    known, hole, printed = process.secrets.get(variable), hole_variable(word), printed_file(word)
    if known is not None and word.text == known[1]:
        return {known[0]: known[1]}
    place = callers_place(process, printed) if printed else None
    return {"env": hole} if hole else {"host_file": place} if place is not None else None


def variable(work: Filling, name: str, word: Word) -> None:
    """Fill one variable, as plain text or as a reference to a secret."""
    ledger, ours = work.session.ledger, work.process.ours
    plain = ours or secrets.may_repeat(name, word.text)
    if dropped := _dropped(work, name, word):
        ledger.note(word.span, name, Fate.DROPPED, dropped)
        return
    if (known := known_reference(work.process, name, word)) is not None:
        work.table.say(f"secret_environment.{name}", known)
    elif word.holes:
        work.asks(Ask.NO_SOURCE, f"environment.{name}")
    elif plain:
        work.table.say(f"environment.{name}", word.text)
    else:
        own = re.sub("^RUNNER_", "APP_", f"{work.running.name}_{name}".upper().replace("-", "_"))  # of deployments
        reference = work.session.secret(word, own, f"the value of {name}, which may be a secret,")
        work.table.say(f"secret_environment.{name}", reference)
    ledger.note(word.span, name, Fate.UNDERSTOOD, "environment")


def _dropped(work: Filling, name: str, word: Word) -> str:
    """Why the spec does without a variable; "" for one that it has."""
    if (name, word.text) == (GPU_ORDER, BY_PLACE) and "gpus" in work.table.values:
        return "fleetc sets it wherever a node has GPUs"
    if name == VISIBLE_GPUS and word.text == ",".join(map(str, work.table.values.get("gpus", ()))):
        return "gpus of the spec says it"
    if work.process.ours:
        return ""
    if _OF_STARTER.fullmatch(name):
        return "whoever starts a process sets it"
    read = name.startswith(_READ_BY_NODES) or name.endswith("_proxy")
    if name.startswith("COMPOSE_") or (name in work.session.library.variables and not read):
        return "the node does not read it; the sources use it themselves"
    if name == VISIBLE and work.process.sees and "gpus" in work.table.values:
        return "gpus of the spec says it; containers of fleetc see all GPUs"
    return "" if word.text else "it is empty"
