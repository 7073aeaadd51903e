"""What runs on a host, as its program says: the processes of nodes, with the files that they read.

In: an answer of the program `fleetc_host` to the request `find`, which is data of somebody else's machine. Out: sources
with a line for each argument and variable, and a `Process` for each. Secrets came as numbers; each is a variable here.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fleetc.adopt.found.ledger import Fate, InClear, Ledger
from fleetc.adopt.found.process import Mount, Process, Published, Unread, Word, in_container
from fleetc.adopt.node.flags import BY_VARIABLE, ROLES, TYPES
from fleetc.adopt.read.docker_run import published
from fleetc.places.diagnostic import Span
from fleetc.text.encoders import visible
from fleetc.toml.document import Source
from fleetc.upstream import FLAGS

_SECRET_VARIABLES = {"ethUrl": "RPC_URL", "ethPassword": "PASSWORD", "orchSecret": "SECRET"}
"""The names of variables for secrets that stay on their host, where they are not those of the flags."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where a word of the name of a flag ends."""
_NUMBER = re.compile(r"\*\*\*([0-9]{1,6})\*\*\*")
_MOST = 2000
_LONGEST = 100_000
_FILE_LIMIT = 4 * 1024 * 1024


class SenselessAnswerError(Exception):
    """A host says something that makes no sense."""


@dataclass(frozen=True)
class OnHost:
    """A host that was asked: its answer, and what its table in the spec says of how it is reached."""

    answer: Mapping[str, Any]
    table: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What is known of a process beside its settings. `unit` and `container` are names, "" for none."""

    pid: int
    unit: str
    container: str
    managed: bool
    process: str = ""
    """The host's own name of the process, which no other one ever gets."""


@dataclass
class Observed:
    """What a host says: `facts` are by the source of each process."""

    processes: list[Process] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    facts: dict[str, Facts] = field(default_factory=dict)


def observed(host: str, answer: Mapping[str, Any], ledger: Ledger, only: Collection[str] = ()) -> Observed:
    """The processes of a host, or those of these names and numbers. Raises SenselessAnswerError for an answer that no
    program of fleetc gives.
    """
    try:
        return _Reader(host, ledger, only).read(answer)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise SenselessAnswerError(host) from problem


class _Reader:
    def __init__(self, host: str, ledger: Ledger, only: Collection[str]) -> None:
        self.host, self.ledger, self.only = host, ledger, only
        self.result = Observed()
        self.variables: dict[str, str] = {}

    def read(self, answer: Mapping[str, Any]) -> Observed:
        files = [file for file in _items(answer["files"]) if isinstance(file, Mapping)]
        managed = {_text(name) for name in _items(answer.get("managed", []))}
        for process in _items(answer["processes"]):
            self._process(process, files, managed)
        line = f"{len(self.result.processes)} processes of nodes on {self.host}"
        span = Span(f"{self.host}/processes", 0, len(line))
        self.result.sources.append(Source(span.source, line + "\n"))
        self.ledger.note(span, line, Fate.UNDERSTOOD, "each is a source of its own")
        if int(answer.get("more", 0)):
            more = f"{self.host} has {int(answer['more'])} more processes of nodes than are read at once"
            self.ledger.warn("adopt-host-cut", span, more, "adopt their units or commands as files")
        return self.result

    def _process(self, answer: Mapping[str, Any], files: list[Mapping[str, Any]], managed: set[str]) -> None:
        pid = int(answer["pid"])
        folder = f"{self.host}/process-{pid}"
        unit, container = answer.get("unit") or {}, answer.get("container") or {}
        unit_name, contained = _text(unit.get("name", "")), _text(container.get("name", ""))
        arguments = [_text(word) for word in _items(answer["arguments"])]
        name = contained or unit_name.removesuffix(".service") or self._by_role(arguments)
        if self.only and not {name, str(pid)} & set(self.only):
            return
        page = _Page(f"{folder}/arguments", f"# {self.host}: process {pid}, {name}")
        program = page.line(_text(answer["program"]))
        words = tuple(self._word(page, word, "") for word in arguments)
        variables = {_text(key): self._word(page, _text(value), _text(key))
                     for key, value in list(answer["environment"].items())[:_MOST]}  # fmt: skip
        for other in _items(answer.get("other_variables", [])):
            word = page.line(_text(other))
            self.ledger.note(word.span, word.text, Fate.DROPPED, "no node reads this variable; it was left there")
        self.result.sources.append(Source(page.name, page.text))
        for file in files:
            if file["pid"] == pid:
                self._file(folder, file, program.span)
        home = variables.pop("HOME").text if "HOME" in variables else ""
        user, directory = _text(answer.get("user", "")), _text(answer.get("directory", ""))
        process = Process(name, program.span, words, variables, user=user, directory=directory)
        if container:
            process = self._container(process, container)
        unread: tuple[Unread, ...] = ()
        if answer.get("environment_read", True) is not True:
            unread = (Unread(program.span, f"/proc/{pid}/environ"),)
            self.ledger.warn(
                "adopt-host-cut", program.span,
                f"{self.host} does not let this user read {unread[0].shown}: no variable of it is known",
                "ask the host as root, or adopt its unit or its command as a file",
            )  # fmt: skip
        process = replace(process, host=self.host, home=home, program=program.text, unread=unread)
        self.result.processes.append(process)
        if int(answer.get("more_arguments", 0)):
            more = "the process has more arguments than are read"
            self.ledger.warn("adopt-host-cut", program.span, more, "adopt its command as a file")
        self._unit(unit, unit_name, process)
        node = name.removeprefix("livepeer-")
        ours = name.startswith("livepeer-") and node in managed
        if ours:
            self.ledger.remark(
                "adopt-host-managed", program.span, f"fleetc has rolled {node} out on {self.host} already",
                "the spec that did so is the one to keep; this one repeats what came of it",
            )  # fmt: skip
        self.result.facts[page.name] = Facts(pid, unit_name, contained, ours, _text(answer.get("process", "")))

    def _by_role(self, words: list[str]) -> str:
        """A name for a process that is in no unit: its role, and its host."""
        flags = [word.lstrip("-").partition("=")[0] for word in words if word.startswith("-")]
        role = next((name for flag, name in ROLES.items() if flag in flags), "node")
        return f"{role}-{self.host}"

    def _container(self, process: Process, container: Mapping[str, Any]) -> Process:
        image = _text(container.get("image", ""))
        if not image:
            self.ledger.warn(
                "adopt-host-cut", process.span, "Docker on the host does not know the container of this process",
                "its paths and ports inside the container are not those of the host; look at them before a rollout",
            )  # fmt: skip
        mounts = [
            Mount(_text(mount["inside"]), _text(mount["outside"])) for mount in _items(container.get("mounts", []))
        ]
        published = tuple(_published(container.get("ports", [])))
        return in_container(
            replace(process, mounts=tuple(mounts), published=published, directory=""),
            Word(image, process.span) if image else None, _text(container.get("network", "")), process.user,
            (process.name,), process.name,
        )  # fmt: skip

    def _unit(self, unit: Mapping[str, Any], name: str, process: Process) -> None:
        """Say where a unit would start its process otherwise than it runs."""
        started = [_text(pair[1]) for pair in _items(unit.get("settings", [])) if pair[0] == "ExecStart"]
        if len(started) != 1 or not started[0]:
            return
        if [self._known(word) for word in shlex.split(started[0])[1:]] != [word.text for word in process.words]:
            self.ledger.warn(
                "adopt-unit-changed", process.span, f"{name} would start this process with other arguments than it has",
                "the spec is of the process that runs; see which of both you want, because the next start of the unit "
                "has the others",
            )  # fmt: skip

    def _file(self, folder: str, file: Mapping[str, Any], span: Span) -> None:
        path, text, why = _text(file["path"]), _text(file["text"], _FILE_LIMIT), _text(file.get("why", ""))
        if not why:
            self.result.sources.append(Source(f"{folder}/{path.lstrip('/')}", self._known(text)))
            return
        self.ledger.warn("adopt-file-missing", span, f"{visible(path)} was not read: {visible(why)}",
                         "copy what the node reads there, and name it among the sources")  # fmt: skip

    def _word(self, page: _Page, text: str, variable: str) -> Word:
        """A line for an argument, or for a variable, with the secrets in it as variables."""
        dashes, equals, _ = text.partition("=")
        flag = dashes.lstrip("-") if text.startswith("-") and equals else page.waiting
        flag = BY_VARIABLE.get(variable, variable) if variable else flag
        numbers = [found[0] for found in _NUMBER.finditer(text)]
        known = self._known(text, flag)
        takes = text.startswith("-") and not equals and not variable
        page.waiting = text.lstrip("-") if takes and TYPES.get(text.lstrip("-")) != "bool" else ""
        word = page.line(known, f"{variable}=" if variable else "")
        for name in (self.variables[number] for number in numbers):
            kind = f"-{flag}" if flag in FLAGS else flag or "an argument"
            self.ledger.in_clear.append(InClear(name, word.span, keeper=self.host))
            self.ledger.warn(
                "adopt-secret-on-host", word.span, f"{self.host} keeps a secret to itself: {kind}",
                f"give it to whoever deploys in the variable {name}, or into a file on {self.host}, and write "
                '{ host_file = "/path" }',
            )  # fmt: skip
        return Word(word.text, word.span, tuple("${" + self.variables[number] + "}" for number in numbers))

    def _known(self, text: str, flag: str = "") -> str:
        """A text in which each number of a secret is a variable, named by where it was met first."""

        def one(found: re.Match[str]) -> str:
            if found[0] not in self.variables:
                what = _SECRET_VARIABLES.get(flag) or _HUMP.sub("_", flag) or "SECRET"
                base = re.sub(r"[^A-Z0-9]+", "_", f"{self.host}_{what}".upper()).strip("_")
                name, number = base if not base[:1].isdigit() else f"HOST_{base}", 2
                while name in self.variables.values():
                    name, number = f"{base}_{number}", number + 1
                self.variables[found[0]] = name
            return "${" + self.variables[found[0]] + "}"

        return _NUMBER.sub(one, text)


class _Page:
    """The text of a process: one line for each thing. `waiting` is the flag whose value comes next."""

    def __init__(self, name: str, first: str) -> None:
        self.name, self.text, self.waiting = name, visible(first) + "\n", ""

    def line(self, text: str, before: str = "") -> Word:
        """One more line; its word is the text behind `before`."""
        shown, begun = visible(text), len(self.text) + len(before)
        self.text += f"{before}{shown}\n"
        return Word(text, Span(self.name, begun, begun + max(1, len(shown))))


def _items(value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError("no list")
    return list(value[:_MOST])


def _text(value: object, limit: int = _LONGEST) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    if len(value) > limit:
        raise ValueError("too long")
    return value


def _published(ports: object) -> Iterator[Published]:
    for one in _items(ports):
        address, port, inside = (_text(one[key]) for key in ("address", "port", "inside"))
        yield from published(f"{f'[{address}]' if ':' in address else address}:{port}:{inside}")
