"""Fills tables of live runners from the list that an orchestrator reads.

In: a `Filling` of an orchestrator. Out: tables in the session, and their names in the table of the orchestrator. A
runner whose process is among the sources is one that fleetc starts, any other has a url.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.process import Other
from fleetc.adopt.node.documents import DocumentError
from fleetc.adopt.node.listeners import LOOPBACK, is_loopback
from fleetc.adopt.node.reading import missing
from fleetc.adopt.node.runner_list import FLAG, MODES, Entry, RunnerList, gpu_text, meaning, quoted_price, read_list
from fleetc.adopt.node.web import Address, address
from fleetc.adopt.tables.filling import Filling
from fleetc.adopt.tables.runner_host import Machines
from fleetc.adopt.tables.runner_processes import Started, in_order
from fleetc.adopt.tables.session import HOUR_PRICE, Session, Table
from fleetc.language.quantities import QuantityError, RunnerPrice, parse_url
from fleetc.text import leaks

_REWRITTEN = "containers use the host's network, where it is reached on loopback"


def fill_listed(work: Filling) -> None:
    """The runners of the list that an orchestrator reads."""
    running, machines = work.running, work.facts.machines
    if not work.has(FLAG) or not running.text(FLAG) or running.word(FLAG).holes:
        return
    word = running.word(FLAG)
    source = work.own_file(FLAG)
    if source is None:
        missing(word, "the list of live runners", work.session.ledger)
        return
    try:
        found = read_list(source.name, source.text, running.on_chain)
    except DocumentError as problem:
        work.damaged(FLAG, source, problem, "the node stops at its start", "repair the list of live runners")
        return
    _faults(found, work.session)
    names = [_Listed(work, machines, entry).table() for entry in found.entries]
    work.take(FLAG, "runners")
    if names:
        work.say("runners", list(dict.fromkeys(names)))
    else:
        work.say("live_runners", True)
        running.reasons[FLAG] = "the list is empty, and only says that runners may register"


def fill_callback(work: Filling) -> None:
    """Where runners call their orchestrator: a name of its container becomes loopback, as its host has it."""
    flag = "liveRunnerAddr"
    running = work.running
    if not work.has(flag) or running.word(flag).holes or work.process.network == "host":
        return
    url = address(running.text(flag))
    if url is not None and url.host in work.process.peers:
        work.say("live_runner_address", url.at(LOOPBACK))
        work.take(flag, "live_runner_address")
        running.reasons[flag] = _REWRITTEN


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
        if beside is not None and not self.machines.takes(beside):
            beside = None  # it stays as it is, and so does its address
        label = entry.text("label")
        server = beside if beside is None or session.runner_of.get(id(beside), label) == label else None
        url = address(entry.text("runner_url"))
        if server is not None and ours and url is not None:
            self.machines.learn_public(self.work.running, server, url)
        said = {
            **meaning(entry, True),
            "runner_url": id(server) if server else entry.text("runner_url"),
            "health_url": "",
        }
        key = (label,) if ours else tuple(map(str, said.values()))
        if key in session.runner_names:
            name = self.work.running.runners[label] = session.runner_names[key]
            for known in entry.keys:
                self._took(known, f"runners.{name}, which another list has too")
            return name
        name = session.name_for(
            label or entry.text("app").rpartition("/")[2],
            "runner",
            {*session.runners, *session.hosts, *self.work.facts.processes},
        )
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
            if "gpu" in self.entry.keys and self.machines.learn_gpu(self.entry, server, table):
                self._took("gpu", "gpus of its host")
        if "gpu" in self.entry.keys and "gpu" not in self._taken:
            self._left("gpu", "clients are told of the GPU of a runner that fleetc starts, if its host lists it")
        if gpu_text(self.entry) or server is not None:
            self._because(name, "gpu", "clients are told of the one GPU of a runner that fleetc starts")
        for key, span in self.entry.odd.items():
            self.work.session.ledger.note(span, leaks.shown(key)[:60], Fate.DROPPED, "the node reads no such key")

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
        text = self.entry.text("runner_url")
        url = address(text)
        if url is None:
            table.ask('TODO url = "http://192.0.2.7:8000": where the orchestrator reaches it')
            return
        self._took("runner_url", "host, port and path" if server is not None else "url")
        if server is not None:
            table.values |= {"host": self.machines.host_of(server), "port": self.machines.port_of(server, url)}
            path = url.rest if self.work.process.ours else url.rest.rstrip("/")
            if path:
                table.values["path"] = path
            self._because(name, "runner_url", _REWRITTEN)
            return
        reached = text if beside is None else self._reached(url, beside)
        try:
            table.values["url"] = str(parse_url(reached, ("http", "https")))
        except QuantityError as problem:
            table.ask(f'TODO url = "http://192.0.2.7:8000": {problem.message}')
            return
        if reached != text:
            self._because(name, "runner_url", _REWRITTEN)
        elif "." not in url.host and ":" not in url.host and not is_loopback(url.host):
            table.ask("TODO url: its name is none that a host knows; write the address of its machine")

    def _reached(self, url: Address, server: Other) -> str:
        """An address of a process of the fleet, as its host reaches it once containers have no network of their own."""
        port = self.machines.port_of(server, url)
        return url._replace(port=port).at(self.machines.reached(self.work.running, server))

    def _health(self, name: str, table: Table, server: Other | None, beside: Other | None) -> None:
        health, url = self.entry.text("health_url"), self.entry.text("runner_url").rstrip("/")
        if not health:
            table.ask('TODO health = "/health": where the orchestrator asks whether it is well')
            return
        self._took("health_url", "health")
        asked, reached = address(health), address(url)
        if not health.startswith("/") and not self.work.process.ours:
            if url and health.startswith(f"{url}/"):
                health = health[len(url) :]
            elif beside is not None and asked is not None and reached is not None and asked[:3] == reached[:3]:
                health = self._reached(asked, beside)
        table.values["health"] = health
        if server is not None or beside is not None:
            self._because(name, "health_url", _REWRITTEN)

    def _price(self, name: str, table: Table) -> None:
        if "price_info" not in self.entry.keys:
            if self.work.running.on_chain:
                table.ask(f"TODO price = {HOUR_PRICE}: on a chain the node refuses a runner without one")
                self._because(name, "price_info", "a question is left: its price")
            return
        said = quoted_price(self.entry)
        if said is None:
            self._left("price_info", "off-chain the node does not check it, and no spec can say it")
            return
        price = price_text(*said)
        if price is None:
            self._left("price_info", "it has more digits than a spec takes")
            table.ask(f"TODO price: round {leaks.shown(str(said[0]))[:60]} USD / {said[1]}")
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
