"""Fills tables of live runners: those of the lists of orchestrators, and those that register themselves.

In: orchestrators, and the processes that are no nodes. Out: tables in the session, and their names in the tables of
the orchestrators. A runner whose process is among the sources is one that fleetc starts, any other has a url.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.process import Other, Word
from fleetc.adopt.found.questions import Ask, Why
from fleetc.adopt.node.documents import DocumentError
from fleetc.adopt.node.listeners import LOOPBACK, SERVICE_PORT, address, http_listener, is_loopback
from fleetc.adopt.node.paths import plain_path
from fleetc.adopt.node.runner_list import FLAG, MODES, UNITS, Entry, gpu_text, price_of, quoted_price, read_list
from fleetc.adopt.node.secrets import keyless, may_repeat
from fleetc.adopt.node.settings import Running, missing
from fleetc.adopt.tables.filling import Facts, Filling, variable
from fleetc.adopt.tables.machines import own_directory, same_project
from fleetc.adopt.tables.session import Session, Table, toml
from fleetc.language.quantities import QuantityError, RunnerPrice, parse_url
from fleetc.lower.common import BY_PLACE, GPU_ORDER, VISIBLE_GPUS
from fleetc.lower.runner import ROLE
from fleetc.text import leaks

_PLAIN = {"app": "app", "capacity": "capacity", "healthy_status_code": "health_status", "proxy": "proxy",
          "version": "version", "metadata": "metadata"}  # fmt: skip
"""The fields of a runner that have a key of a list as it is."""
_ORCHESTRATORS = ("orchestrator", "orchestrator-url", "orch", "orch-url", "livepeer-orch-url")
"""How programs call the address of the orchestrator that they register with."""
_STARTS = re.compile(r"[\w-]{1,40}\.(?:py|js|mjs|sh)|bash|node|python3?|run|serve|sh|start|uvicorn")
"""Arguments without a name that are part of how programs are started."""


def fill_listed(work: Filling) -> None:
    """The runners of the list that an orchestrator reads."""
    running = work.running
    if not work.has(FLAG) or not running.text(FLAG) or running.word(FLAG).holes:
        return
    source = work.own_file(FLAG, "runners")
    if source is None:
        missing(running.word(FLAG), "the list of live runners", work.session.ledger)
        return
    try:
        entries, faults = read_list(source.name, source.text, running.on_chain)
    except DocumentError as problem:
        work.mistake("adopt-document-unread", FLAG, Why.STOPS, "repair the list", source, problem=problem)
        return
    for fault in faults:
        message = "the node refuses its whole list of live runners, and stops at its start"
        work.session.ledger.mistake(
            "adopt-runner-refused", fault.span, fault.key, f"{message}: {leaks.shown(fault.message)}", fault.help
        )
    names = [_listed(work, entry) for entry in entries]
    work.take(FLAG, "runners")
    if names:
        work.table.say("runners", list(dict.fromkeys(names)))
    else:
        work.table.say("live_runners", True)
        work.because(FLAG, Why.EMPTY_LIST)


def fill_callback(work: Filling) -> None:
    """Where runners call their orchestrator: a name of its container becomes loopback, as its host has it."""
    flag = "liveRunnerAddr"
    url = address(work.running.text(flag)) if work.has(flag) and work.process.network != "host" else None
    if url is not None and url.host in work.process.peers:
        work.give(flag, "live_runner_address", url.at(LOOPBACK))
        work.because(flag, Why.ON_LOOPBACK)


def _listed(work: Filling, entry: Entry) -> str:
    """Fill the table of a runner, or find that of another list; its name comes back."""
    session, machines, label = work.session, work.facts.machines, entry.text("label")
    url, name, lost = address(entry.text("runner_url")), "", dict[str, str]()
    process = machines.behind(work.running, url, label)
    if process is not None and not machines.takes(process):
        process = None  # it stays as it is, and so does its address
    first = process is not None and session.runner_of.setdefault(id(process), label) == label
    server = process if first else None
    if server is not None and work.process.ours and url is not None:
        machines.learn_public(work.running, server, url)
    own = str(id(process)) if process is not None else f"{work.running.name} {entry.text('runner_url')}"
    key = (label, "" if work.process.ours else own)
    name = session.runner_names.get(key, "")
    if not name:
        taken = {*session.runners, *session.hosts, *work.facts.processes}
        name = session.name_for(label or entry.text("app").rpartition("/")[2], "runner", taken)
        session.runner_names[key] = name
        table = session.runners[name] = Table(origin=f"from {leaks.shown(entry.span.source)}", path=("runners", name))
        _Listed(work, entry, table, process, server, lost).fill()
    work.running.runners[label] = name
    for given, (_, span) in entry.keys.items():
        fate = Fate.DROPPED if given in lost else Fate.UNDERSTOOD
        session.ledger.note(span, given, fate, lost.get(given, f"runners.{name}"))
    for odd, span in entry.odd.items():
        session.ledger.note(span, leaks.shown(odd)[:60], Fate.DROPPED, "the node reads no such key")
    return name


class _Listed(NamedTuple):
    """An entry on its way into the table of its runner. `process` is that at its address, `server` the same if fleetc
    starts it for this entry. `lost` are the keys that no spec has, and why.
    """

    work: Filling
    entry: Entry
    table: Table
    process: Other | None
    server: Other | None
    lost: dict[str, str]

    def fill(self) -> None:
        """Fill the table."""
        entry, table = self.entry, self.table
        given = {field: entry.keys[key].value for key, field in _PLAIN.items() if key in entry.keys}
        mode, labelled = MODES[entry.text("mode")], entry.text("routing").strip() == "label"
        given |= {"mode": mode if mode != "persistent" else "", "routing": "" if labelled else "runner-id"}
        table.values.update({key: value for key, value in given.items() if value or value is False})
        if "app" not in table.values:
            table.put(Ask.NO_SOURCE, "app")
        if table.path[1] != entry.text("label"):
            self._because("label", Why.CALLED_AS_TABLE)
        self._price()
        self._where()
        known = False
        if self.server is not None:
            _start(self.work.session, self.work.facts, self.server, table)
            known = self.work.facts.machines.learn_gpu(entry, self.server, table)
        if "gpu" in entry.keys and not known:
            self.lost["gpu"] = "clients are told of the GPU of a runner that fleetc starts, if its host lists it"
        if gpu_text(entry) or self.server is not None:
            self._because("gpu", Why.ONE_GPU)

    def _because(self, key: str, why: Why, **facts: str) -> None:
        self.work.because(f"{FLAG} {self.table.path[1]} {key}", why, **facts)

    def _where(self) -> None:
        """Where it is, and where it is asked whether it is well: an address of a container is one of its host now."""
        text, health, values = self.entry.text("runner_url"), self.entry.text("health_url"), self.table.values
        url, asked, machines, ours = address(text), address(health), self.work.facts.machines, self.work.process.ours
        moved, base = text, text.rstrip("/")
        if self.process is not None and url is not None:
            self._because("runner_url", Why.ON_LOOPBACK)
            self._because("health_url", Why.ON_LOOPBACK)
            moved = machines.moved(self.work.running, self.process, url)
            if not ours and health.startswith(f"{base}/"):
                health = health[len(base) :]
            elif not ours and asked is not None and asked[:3] == url[:3]:
                health = machines.moved(self.work.running, self.process, asked)
        if self.server is not None and url is not None:
            path = url.rest if ours else url.rest.rstrip("/")
            values |= {"port": machines.port_of(self.server, url)} | ({"path": path} if path else {})
        else:
            try:
                values["url"] = str(parse_url(moved if ours or keyless("url", moved) else "", ("http", "https")))
            except QuantityError:
                self.table.put(Ask.URL, "url")
            if url is not None and moved == text and not re.search(r"[.:]", url.host) and not is_loopback(url.host):
                self.table.put(Ask.URL_NAME, "url", name=url.host)
        if health and (ours or keyless("url", health)):
            values["health"] = health
        else:
            self.table.put(Ask.HEALTH, "health")

    def _price(self) -> None:
        quoted, chain = quoted_price(self.entry), self.work.running.on_chain
        price = _price_text(*quoted) if quoted is not None else ""
        if price:
            self.table.values["price"] = price
            return
        if "price_info" in self.entry.keys:
            self.lost["price_info"] = "no spec can say it; off-chain the node does not check it"
        if chain or quoted is not None:
            question = self.table.put(Ask.RUNNER_PRICE, "price")
            self._because("price_info", Why.ASKED, question=question.text)


def _price_text(amount: Decimal, unit: str) -> str:
    """A price as a spec has it; "" for one with more digits than a spec takes."""
    try:
        return str(RunnerPrice(amount.normalize(), "USD", unit))
    except QuantityError:
        return ""


def fill_others(session: Session, facts: Facts, orchestrators: Mapping[str, Table]) -> None:
    """Make runners of processes that register themselves, and account for what is none."""
    nodes = [node for node in facts.processes.values() if node.role == "orchestrator" and node.on("useLiveRunners")]
    for other in facts.machines.others:
        if id(other) in session.runner_of:
            continue
        whom = [node for node in nodes if _registers_with(other, node)]
        if not whom or not facts.machines.takes(other):
            session.ledger.note(other.span, leaks.shown(other.name or other.program), Fate.DROPPED, other.why)
            continue
        taken = {*session.runners, *session.hosts, *facts.processes}
        name = session.name_for(other.name.removeprefix("livepeer-"), "runner", taken)
        session.runner_of[id(other)] = name
        table = session.runners[name] = Table({"register_by": "runner"}, path=("runners", name))
        _start(session, facts, other, table)
        _by_itself(other, table, facts.on_chain)
        for node in whom:
            values = orchestrators[node.name].values
            values.pop("live_runners", None)
            values["runners"] = [*values.pop("runners", []), name]


def _registers_with(other: Other, node: Running) -> bool:
    """Whether a process registers with an orchestrator: it has its address, and a secret."""
    given = _given(other)
    url = next((url for key in _ORCHESTRATORS if (url := address(given.get(key, ""))) is not None), None)
    if other.ours or url is None or not any("secret" in key and text for key, text in given.items()):
        return other.ours
    _, listener = http_listener("orchestrator", node.text("httpAddr"), node.text("serviceAddr"))
    beside = same_project(node.process, other) and url.host in node.process.peers
    called = url.host == node.text("serviceAddr").rpartition("://")[2].rpartition(":")[0]
    port = listener[1] if listener is not None else SERVICE_PORT
    return url.port == port and (beside or called or is_loopback(url.host))


def _given(other: Other) -> dict[str, str]:
    """What arguments and variables say, by name in lower case; of both, the variable."""
    words = {argument.name: argument.value for argument in arguments(other.words)} | other.variables
    return {name.replace("_", "-").lower(): word.text for name, word in words.items() if name and not word.holes}


def _by_itself(other: Other, table: Table, on_chain: bool) -> None:
    """What a runner tells its orchestrator itself: a spec repeats it, as far as its arguments say it."""
    given = _given(other)
    url, numbers = address(given.get("runner-url", "")), {key: int(t[:7]) for key, t in given.items() if t.isdecimal()}
    app = next((given[key].strip() for key in ("app", "app-id", "capability-name") if key in given), "")
    port, capacity = url.port if url is not None else numbers.get("port", 0), numbers.get("capacity", 0)
    known = {"app": app, "port": port if port < 65536 else 0, "capacity": capacity if capacity <= 1_000_000 else 0}
    table.values.update({key: value for key, value in known.items() if value})
    for key in ("app", "port"):
        if not known[key]:
            table.put(Ask.OWN_FIELD, key)
    if on_chain:
        amount, unit = price_of(given.get("price", "")), UNITS.get(given.get("unit", "").lower())
        price = _price_text(amount, unit) if amount is not None and amount > 0 and unit is not None else ""
        table.put(Ask.OWN_PRICE, "price", toml(price) if price else "")


class Argument(NamedTuple):
    """A flag of a program with its value, of one word or two; without a name, a word that stands alone."""

    name: str
    value: Word
    words: tuple[Word, ...]


def arguments(words: tuple[Word, ...]) -> Iterator[Argument]:
    """Words in the pairs that flags and values make."""
    left = list(words)
    while left:
        word = left.pop(0)
        flag, equals, _ = word.text.partition("=")
        if not flag.startswith("-"):
            yield Argument("", word, (word,))
        elif not equals and left and not left[0].text.startswith("-"):
            yield Argument(flag.lstrip("-"), left[0], (word, left.pop(0)))
        else:
            value = word.part(len(flag) + 1) if equals else Word("", word.span)
            yield Argument(flag.lstrip("-"), value, (word,))


def _start(session: Session, facts: Facts, server: Other, table: Table) -> None:
    """Fill the fields of a runner that fleetc starts, and account for the words of its source."""
    host, name = facts.machines.host_of(server), table.path[1]
    work = Filling(session, Running(server, ROLE, {}, name=name, host=host), facts, table)
    table.values["host"], table.origin = host, f"from {leaks.shown(server.span.source)}"
    session.ledger.take(server.account)
    session.ledger.note(server.span, name, Fate.UNDERSTOOD, f"runners.{name}")
    for why in server.lost:
        table.put(Ask.REFUSED, "image", why=why)
    if server.runtime != "docker":
        table.values["program"] = server.program
    elif server.image is not None and server.image.holes:
        table.put(Ask.NO_VALUE, "image", text=server.image.text)
    elif server.image is not None:
        table.values["image"] = server.image.text
    _fill_arguments(work, server)
    if isinstance(server.sees, str):
        table.put(Ask.REFUSED, "gpus", why=server.sees)
    elif (listed := _listed_gpus(server)) is not None:
        table.values["gpus"] = listed
    elif server.gpus:
        table.values["gpus"] = server.gpus if isinstance(server.gpus, str) else list(server.gpus)
    if server.host_ipc:
        table.values["host_ipc"] = True
    for mount in server.mounts:
        if mount.inside != mount.outside or plain_path(mount.inside) != mount.inside:
            work.asks(Ask.DIRECTORY, "directories", inside=mount.inside, outside=mount.outside or "a volume of Docker")
        elif mount.inside != own_directory(server):
            table.values.setdefault("directories", []).append(mount.inside)
    for key, word in sorted(server.variables.items()):
        variable(work, key, _moved(work, server, word))


def _listed_gpus(server: Other) -> list[int] | None:
    """The GPUs that a unit lists by their place, as fleetc writes them."""
    listed, order = (server.variables.get(name, Word("", server.span)).text for name in (VISIBLE_GPUS, GPU_ORDER))
    if server.runtime == "docker" or order != BY_PLACE or not re.fullmatch(r"\d{1,3}(,\d{1,3})*", listed):
        return None
    return [int(number) for number in listed.split(",")]


def _fill_arguments(work: Filling, server: Other) -> None:
    """Arguments; every user of a host reads them, so what may be a secret is asked for by its name alone."""
    ledger, given = work.session.ledger, list[str]()
    secrets = {node.text("orchSecret") for node in work.facts.processes.values()} - {""}
    for number, argument in enumerate(arguments(server.words), 1):
        name = leaks.shown(argument.name or f"word {number} of its command")
        plain = is_harmless(argument.name, argument.value.text) and argument.value.text not in secrets
        if any(word.holes for word in argument.words) or not (server.ours or plain):
            ledger.note(argument.words[0].span, name, Fate.DROPPED, "asked with a TODO", "adopt-value-unknown")
            work.asks(Ask.ARGUMENT, "arguments", name=name)
            continue
        for word in argument.words:
            ledger.note(word.span, name, Fate.UNDERSTOOD, "arguments")
            given.append(_moved(work, server, word).text)
    if given:
        work.table.say("arguments", given)


def is_harmless(name: str, text: str) -> bool:
    """Whether an argument is no secret by its name, or as part of how programs are started."""
    return not text or (may_repeat(name, text) if name else _STARTS.fullmatch(text) is not None)


def _moved(work: Filling, server: Other, word: Word) -> Word:
    """A text in which containers of the same network are where the network of the host has them."""
    beside, text = work.facts.machines.beside(server), word.text
    for host in set(re.findall(r"://([A-Za-z0-9_.-]+)(?=[:/]|$)", text)) & beside.keys():
        text = re.sub(rf"://{re.escape(host)}(?=[:/]|$)", f"://{LOOPBACK}", text)
        if isinstance(beside[host], Other) and host not in server.peers:
            work.asks(Ask.CALLS, "arguments", name=host)
    return Word(text, word.span, word.holes, said=word.said) if text != word.text else word
