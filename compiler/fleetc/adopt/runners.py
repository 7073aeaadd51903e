"""Fills tables of live runners: from the list that an orchestrator reads, and from processes that register themselves.

In: a `Filling` of an orchestrator, or processes that are no nodes. Out: tables in the session, and their names in the
table of the orchestrator. A runner whose process is among the sources is one that fleetc starts, any other has a url.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from fleetc.adopt.documents import DocumentError
from fleetc.adopt.filling import Facts, Filling, plain_path
from fleetc.adopt.listeners import http_listener, is_loopback
from fleetc.adopt.reading import Running, missing
from fleetc.adopt.runner_host import Machines, same_project
from fleetc.adopt.runner_list import MODES, Entry, RunnerList, gpu_text, meaning, quoted_price, read_list
from fleetc.adopt.session import Session, Table
from fleetc.adopt.variables import variable
from fleetc.adopt.words import Fate, Other, Word
from fleetc.language.quantities import QuantityError, RunnerPrice, parse_url
from fleetc.language.runner import Runner
from fleetc.lower.runner import ROLE
from fleetc.places.diagnostic import Span
from fleetc.text import leaks

FLAG = "liveRunnerConfig"
_ASKED = 'an orchestrator asks it at health = "/health"'
_HERE = "127.0.0.1"
_REWRITTEN = "containers use the host's network, where it is reached on loopback"


def fill_listed(work: Filling) -> None:
    """The runners of the list that an orchestrator reads."""
    running, machines = work.running, work.facts.machines
    if not work.has(FLAG) or not running.text(FLAG) or running.word(FLAG).holes:
        return
    word = running.word(FLAG)
    source = work.session.library.find(word.text, work.process.span.source)
    if source is None:
        missing(word, "the list of live runners", work.session.ledger)
        return
    try:
        found = read_list(source.name, source.text, running.on_chain)
    except DocumentError as problem:
        work.mistake(
            "adopt-document-unread", FLAG, f"the node stops at its start: {problem}", "repair the list of live runners"
        )
        return
    _faults(found, work.session)
    names = [_Listed(work, machines, entry).table() for entry in found.entries]
    work.take(FLAG, "runners")
    if names:
        work.say("runners", list(dict.fromkeys(names)))
    else:
        work.say("live_runners", True)
        running.reasons[FLAG] = "the list is empty, and only says that runners may register"


def _faults(found: RunnerList, session: Session) -> None:
    for fault in found.faults:
        session.ledger.mistake(
            "adopt-runner-refused", fault.span, fault.key,
            f"the node refuses its whole list of live runners, and stops at its start: {leaks.shown(fault.message)}",
            fault.help,
        )  # fmt: skip


@dataclass
class _Listed:
    """One entry of the list of an orchestrator."""

    work: Filling
    machines: Machines
    entry: Entry

    def table(self) -> str:
        """Fill the table of the runner, or find it; its name comes back."""
        session, entry, ours = self.work.session, self.entry, self.work.process.ours
        beside = self.machines.server(self.work.running, entry)
        label = entry.text("label")
        server = beside if beside is None or session.runner_of.get(id(beside), label) == label else None
        if server is not None and ours:
            self.machines.learn_public(self.work.running, server, entry.text("runner_url"))
        said = {**meaning(entry, True), "runner_url": id(server) if server else entry.text("runner_url"), "health_url": ""}
        key = (label,) if ours else tuple(map(str, said.values()))
        if key in session.runner_names:
            self.work.running.runners[label] = session.runner_names[key]
            return session.runner_names[key]
        name = session.name_for(label or entry.text("app").rpartition("/")[2], "runner", {*session.runners, *self.work.facts.processes})
        session.runner_names[key] = name
        table = session.runners[name] = Table(origin=f"from {leaks.shown(entry.span.source)}")
        self.work.running.runners[label] = name
        if name != label:
            self._because(name, "label", "a runner is called as its table, and names of tables have a-z, 0-9 and -")
        if server is not None:
            session.runner_of[id(server)] = label
        self._say(name, table, server, beside)
        session.runners[name].values = in_order(table.values)
        return name

    def _because(self, name: str, key: str, reason: str) -> None:
        self.work.running.reasons[f"{FLAG} {name} {key}"] = reason

    def _say(self, name: str, table: Table, server: Other | None, beside: Other | None) -> None:
        self._what(name, table)
        self._where(name, table, server, beside)
        self._health(name, table, server, beside)
        self._price(name, table)
        if server is not None:
            Started(self.work.session, self.work.facts, server, name, table).fill()
            if "gpu" in self.entry.keys and self.machines.learn_gpu(self.entry, server, table.values.get("gpus")):
                self._took("gpu", "gpus of its host")
        if "gpu" in self.entry.keys and "gpu" not in self._taken:
            self._left("gpu", "clients are told of the GPU of a runner that fleetc starts, if its host lists it")
        if gpu_text(self.entry) or server is not None:
            self._because(name, "gpu", "clients are told of the one GPU of a runner that fleetc starts")
        for key, span in self.entry.odd.items():
            self.work.session.ledger.note(span, leaks.shown(key[:60]), Fate.DROPPED, "the node reads no such key")

    def __post_init__(self) -> None:
        self._taken: set[str] = set()

    def _took(self, key: str, where: str) -> None:
        self._taken.add(key)
        if key in self.entry.keys:
            self.work.session.ledger.note(self.entry.keys[key].span, key, Fate.UNDERSTOOD, where)

    def _left(self, key: str, why: str) -> None:
        self._taken.add(key)
        self.work.session.ledger.note(self.entry.keys[key].span, key, Fate.DROPPED, why)

    def _what(self, name: str, table: Table) -> None:
        """What it serves: keys that a spec has as they are."""
        entry, ours = self.entry, self.work.process.ours
        self._took("label", f"runners.{name}")
        if entry.text("app"):
            table.values["app"] = entry.text("app")
            self._took("app", "app")
        else:
            table.ask('TODO app = "owner/model": what it serves')
        if MODES[entry.text("mode")] != "persistent":
            table.values["mode"] = MODES[entry.text("mode")]
        if entry.text("routing").strip() != "label":
            table.values["routing"] = "runner-id"
        for key, field, plain in (("capacity", "capacity", 1), ("healthy_status_code", "health_status", 200)):
            value = entry.keys[key].value if key in entry.keys else 0
            if value and (ours or value != plain):
                table.values[field] = value
            self._took(key, field)
        if "proxy" in entry.keys and (entry.keys["proxy"].value or ours):
            table.values["proxy"] = entry.keys["proxy"].value
        for key in ("version", "metadata"):
            if entry.text(key):
                table.values[key] = entry.text(key)
        for key in ("mode", "routing", "proxy", "version", "metadata"):
            self._took(key, key)

    def _where(self, name: str, table: Table, server: Other | None, beside: Other | None) -> None:
        url = self.entry.text("runner_url")
        if not url:
            table.ask('TODO url = "http://192.0.2.7:8000": where the orchestrator reaches it')
            return
        parts = urlsplit(url)
        self._took("runner_url", "host, port and path" if server is not None else "url")
        if server is not None:
            port = self.machines.port_of(server, parts)
            table.values |= {"host": self.machines.host_of(server), "port": port}
            if parts.path.rstrip("/") or (parts.path and self.work.process.ours):
                table.values["path"] = parts.path if self.work.process.ours else parts.path.rstrip("/")
            self._because(name, "runner_url", _REWRITTEN)
            return
        text = self._reached(url, beside) if beside is not None else url
        try:
            table.values["url"] = str(parse_url(text, ("http", "https")))
        except QuantityError as problem:
            table.ask(f'TODO url = "http://192.0.2.7:8000": {problem.message}')
            return
        if text != url:
            self._because(name, "runner_url", _REWRITTEN)
        elif "." not in (parts.hostname or "") and not is_loopback(parts.hostname or "") and ":" not in parts.netloc:
            table.ask("TODO url: its name is none that a host knows; write the address of its machine")

    def _reached(self, url: str, server: Other) -> str:
        """An address of a process of the fleet, as its host reaches it once containers have no network of their own."""
        parts = urlsplit(url)
        port = self.machines.port_of(server, parts)
        return parts._replace(netloc=f"{self.machines.address(self.work.running, server)}:{port}").geturl()

    def _health(self, name: str, table: Table, server: Other | None, beside: Other | None) -> None:
        health, url = self.entry.text("health_url"), self.entry.text("runner_url").rstrip("/")
        if not health:
            table.ask(f'TODO health = "/health": {_ASKED}')
            return
        self._took("health_url", "health")
        if not health.startswith("/") and not self.work.process.ours:
            if url and health.startswith(f"{url}/"):
                health = health[len(url) :]
            elif beside is not None and urlsplit(health).netloc == urlsplit(url).netloc:
                health = self._reached(health, beside)
        table.values["health"] = health
        if server is not None or beside is not None:
            self._because(name, "health_url", _REWRITTEN)

    def _price(self, name: str, table: Table) -> None:
        if "price_info" not in self.entry.keys:
            if self.work.running.on_chain:
                table.ask('TODO price = "0.72 USD / hour": on a chain the node refuses a runner without one')
                self._because(name, "price_info", "a question is left: its price")
            return
        said = quoted_price(self.entry)
        if said is None:
            self._left("price_info", "off-chain the node does not check it, and no spec can say it")
            return
        price = price_text(*said)
        if price is None:
            self._left("price_info", "it has more digits than a spec takes")
            table.ask(f"TODO price: round {leaks.shown(str(said[0])[:60])} USD / {said[1]}")
            self._because(name, "price_info", "a question is left: its price")
            return
        table.values["price"] = price
        self._took("price_info", "price")


def price_text(amount: Any, unit: str) -> str | None:
    """A price as a spec has it; None for one with more digits than a spec takes."""
    try:
        return str(RunnerPrice(amount.normalize(), "USD", unit))
    except QuantityError:
        return None


def in_order(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a runner in the order of its type."""
    return {key: values[key] for key in Runner.model_fields if key in values}


class _Argument(NamedTuple):
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
            table.ask(f"TODO image: {question}")
        self._image()
        self._arguments()
        self._directories()
        if server.gpus:
            table.values["gpus"] = server.gpus if isinstance(server.gpus, str) else list(server.gpus)
        if server.host_ipc:
            table.values["host_ipc"] = True
        for name, word in sorted(server.variables.items()):
            variable(self.own, name, self._reached(word))

    def _image(self) -> None:
        image = self.server.image
        if self.server.runtime != "docker":
            self.table.values["program"] = self.server.program
        elif image is None:
            self.table.ask('TODO image = "registry.example.net/name:tag": the image that it starts from')
        elif image.holes:
            self.table.ask(f"TODO image: the source says {leaks.shown(image.text)}")
        else:
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
                ledger.note(found.words[0].span, leaks.shown(found.words[0].text[:60]), Fate.DROPPED,
                            "its value is not in the sources; asked with a TODO", "adopt-value-unknown")  # fmt: skip
                self.table.ask(f"TODO arguments: the source says {leaks.shown(' '.join(w.text for w in found.words))}")
                continue
            for word in found.words:
                ledger.note(word.span, leaks.shown(word.text[:80]), Fate.UNDERSTOOD, "arguments")
                said.append(self._reached(word).text)
        if said:
            self.table.values["arguments"] = said

    def _is_secret(self, found: _Argument) -> bool:
        if found.value.text in self.secrets or leaks.find(found.value.text, found.name) is not None:
            return True
        return bool(found.name) and leaks.names_secret(found.name) and bool(found.value.text)

    def _reached(self, word: Word) -> Word:
        """A text in which containers of the same network are where the network of the host has them."""
        if self.server.ours or self.server.network == "host" or "://" not in word.text:
            return word
        names = self.machines.beside(self.server)
        text = re.sub(
            r"://([A-Za-z0-9_.-]+)(?=[:/]|$)", lambda at: f"://{_HERE}" if at[1] in names else at[0], word.text
        )
        return word if text == word.text else Word(text, word.span, word.holes, word.variable)

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


def arguments(words: tuple[Word, ...]) -> Iterator[_Argument]:
    """Words in the pairs that flags and values make; a word that is neither stands alone."""
    at = 0
    while at < len(words):
        word = words[at]
        flag, equals, _ = word.text.partition("=")
        dashes = len(flag) - len(flag.lstrip("-"))
        if not dashes:
            yield _Argument("", word, (word,))
        elif equals:
            yield _Argument(flag[dashes:], word.part(len(flag) + 1), (word,))
        elif at + 1 < len(words) and not words[at + 1].text.startswith("-"):
            yield _Argument(flag[dashes:], words[at + 1], (word, words[at + 1]))
            at += 1
        else:
            yield _Argument(flag[dashes:], Word("", word.span), (word,))
        at += 1


# ------------------------------------------------------------------------------------------ by themselves


def fill_others(session: Session, facts: Facts, orchestrators: dict[str, Table]) -> None:
    """Processes that register themselves become runners; what is none is dropped with its reason."""
    machines = facts.machines
    registries = {
        name: one for name, one in facts.processes.items() if one.role == "orchestrator" and one.on("useLiveRunners")
    }
    for other in machines.others:
        if id(other) in session.runner_of:
            continue
        whom = _registers_with(other, registries)
        if whom is None or not machines.fits(other):
            session.ledger.note(other.span, other.name or leaks.shown(other.program), Fate.DROPPED, other.why)
            continue
        taken = {*session.runners, *facts.processes}
        name = session.name_for(called(other), "runner", taken)
        session.runner_of[id(other)] = name
        table = session.runners[name] = Table({"register_by": "runner"})
        Started(session, facts, other, name, table).fill()
        _by_itself(other, table, facts.on_chain)
        table.values = in_order(table.values)
        for one in whom:
            values = orchestrators[one].values
            values.setdefault("runners", []).append(name)
            values.pop("live_runners", None)
            values["runners"] = values.pop("runners")


def called(other: Other) -> str:
    """What a source calls a process that is no node."""
    return other.name.removeprefix("livepeer-") if other.ours else other.name or (
        other.image.text.rpartition("/")[2].partition(":")[0] if other.image else "runner"
    )


def _registers_with(other: Other, registries: dict[str, Running]) -> list[str] | None:
    """The orchestrators with which a process registers; None where nothing says that it does."""
    if other.ours:
        return list(registries)
    said = [found.value.text for found in arguments(other.words)] + [word.text for word in other.variables.values()]
    urls = [parts for text in said if (parts := _url(text)) is not None]
    for name, one in registries.items():
        secret = one.text("orchSecret")
        if any(_is_of(parts, one, same_project(one.process, other)) for parts in urls) and secret and secret in said:
            return [name]
    return None


def _url(text: str) -> SplitResult | None:
    if not text.startswith(("http://", "https://")):
        return None
    try:
        parts = urlsplit(text)
        return parts if parts.hostname and (parts.port or 1) else None
    except ValueError:
        return None


def _is_of(parts: SplitResult, one: Running, beside: bool) -> bool:
    """Whether an address is that of an orchestrator."""
    host = parts.hostname or ""
    listener = http_listener("orchestrator", one.text("httpAddr"), one.text("serviceAddr"))[1]
    port = listener[1] if listener is not None else 8935
    if (parts.port or (443 if parts.scheme == "https" else 80)) != port:
        return False
    service = one.text("serviceAddr").partition("://")[2] or one.text("serviceAddr")
    return (beside and host in one.process.peers) or is_loopback(host) or host == service.rpartition(":")[0]


def _by_itself(other: Other, table: Table, on_chain: bool) -> None:
    """What a runner tells its orchestrator itself: a spec repeats it, as far as its arguments say it."""
    said = {found.name.replace("_", "-").lower(): found.value.text for found in arguments(other.words) if found.name}
    said |= {name.replace("_", "-").lower(): word.text for name, word in other.variables.items() if not word.holes}
    app = next((said[key] for key in ("app", "app-id", "capability-name") if said.get(key)), "")
    if app and app == app.strip():
        table.values["app"] = app
    else:
        table.ask('TODO app = "owner/model": what it registers as; its program says that')
    own = [
        parts
        for text in said.values()
        if (parts := _url(text)) is not None
        and ((parts.hostname or "") in other.peers or is_loopback(parts.hostname or ""))
    ]
    port = next((parts.port for key, text in said.items() if "runner" in key and (parts := _url(text)) in own and parts), None)
    port = port or next((int(said[key]) for key in ("port", "runner-port") if said.get(key, "").isdigit()), None)
    if port is not None and 0 < port < 65536:
        table.values["port"] = port
    else:
        table.ask("TODO port = 8000: where it listens; its program says that")
    if said.get("capacity", "").isdigit() and 0 < int(said["capacity"][:7]) <= 1_000_000:
        table.values["capacity"] = int(said["capacity"])
    if on_chain:
        price = said.get("price")
        words = f"; its own argument says {leaks.shown(price[:40])}" if price else ""
        table.ask(f'TODO price = "0.72 USD / hour": what it asks{words}')


