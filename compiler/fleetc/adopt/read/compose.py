"""Reads the services of Docker Compose projects: those that run a node, and others that may be live runners.

In: a project, with the environment files among the sources. Out: a `Process` for each service that starts. Variables
are filled in from the `.env` of the project and from defaults; others are holes, and never guessed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from itertools import pairwise

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import OURS, Mount, Other, Process, Word, in_container, unknown
from fleetc.adopt.found.yaml_nodes import NOTHING, Node
from fleetc.adopt.node.flags import TYPES
from fleetc.adopt.node.settings import missing
from fleetc.adopt.read import docker_run
from fleetc.adopt.read.compose_project import Project, merged, only_document, part_of, services_of
from fleetc.adopt.read.env_files import EnvironmentFile, cut, filled, of_files, replace_variables
from fleetc.adopt.read.shell import read_shell
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

_VARIABLE = re.compile(
    r"\$\$|\$\{(?P<name>[A-Za-z_]\w*)(?:(?P<by>:?[-?+])(?P<else>(?:[^{}]|\{[^{}]*\})*))?\}|\$(?P<bare>[A-Za-z_]\w*)",
    re.ASCII,
)
"""A variable of Compose: its name, and what stands for it without a value."""
_OF_PROJECT = frozenset({"secrets", "configs", "volumes", "name"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "env", "exec"})
_MOST_EXTENDS = 20
_LONGEST_DEFAULT = 500


def read_compose(project: Project, library: Library, ledger: Ledger) -> Iterator[Process]:
    """The processes of a project."""
    roots = [(source, root) for source in project.files if (root := only_document(source, ledger)) is not None]
    if len(roots) == len(project.files):
        yield from _Reader(project, library, ledger).processes(roots)


class _Reader:
    def __init__(self, project: Project, library: Library, ledger: Ledger) -> None:
        self.project, self.library, self.ledger = project, library, ledger
        self.values = project.variables
        self.top: dict[str, Node] = {}  # what stands beside the services
        self.keys: dict[int, tuple[Node, Node]] = {}  # the key of each field with its value, by the id of that
        self.parsed: dict[str, dict[str, Node]] = {}  # the services of each file that others extend
        self.asked: set[str] = set()

    def processes(self, roots: list[tuple[Source, Node]]) -> Iterator[Process]:
        """The processes of the services, each with what all files say of it."""
        services: dict[str, dict[str, Node]] = {}
        spans: dict[str, Span] = {}
        for source, root in roots:
            lone = "services" not in root.fields() and bool(root.get("command") or root.get("image"))
            for key, value in root.pairs if not lone else ():
                if key.text == "include":
                    self.ledger.not_followed(key.span(source.name), "the Compose files that this one includes")
                elif key.text != "services":
                    taken = key.text in _OF_PROJECT
                    self.ledger.note(key.span(source.name), key.text[:60], Fate.UNDERSTOOD if taken else Fate.DROPPED,
                                     "of all services" if taken else "no part of a node")  # fmt: skip
                    self.top = merged(self.top, {key.text: value}, self.library, self.ledger)
            listed = root.get("services") or NOTHING
            keys = {key.text: key for key, _ in listed.pairs}
            for name, service in {"": root}.items() if lone else listed.fields().items():
                fields = self._fields(name, service, source, ())
                if fields is None:
                    return
                place = Span(source.name, root.start, root.start + 1) if lone else keys.get(name, service).span("")
                spans.setdefault(name, place)
                if name in services:
                    self.ledger.note(place, name, Fate.UNDERSTOOD, "laid over that of other files")
                services[name] = merged(services.get(name, {}), fields, self.library, self.ledger)
        for name, fields in services.items():
            yield from self._service(name, spans[name], fields)

    # ------------------------------------------------------------------------------------------- fields

    def _fields(
        self, name: str, service: Node, source: Source, seen: tuple[tuple[str, str], ...]
    ) -> dict[str, Node] | None:
        """The fields of a service, over those of the service that it extends; None where that goes in a circle."""
        keys = {id(value): key for key, value in service.pairs}
        fields = {key: _whole(key, value) for key, value in service.fields().items() if not value.empty or value.tag}
        for key, value in fields.items():
            if (written := keys.get(id(service.fields()[key]))) is not None:
                self.keys[id(value)] = written, value
        extends = fields.get("extends")
        if extends is None:
            return fields
        file, other = extends.get("file"), extends.get("service") or extends
        part = part_of(file.text, source, self.library) if file is not None else source
        if part is None:
            missing(self._word(file or extends), "the file that this service extends", self.ledger)
            return fields
        self.library.used.add(part.name)
        wanted = part.name, other.text
        if wanted in ((source.name, name), *seen) or len(seen) > _MOST_EXTENDS:
            self.ledger.refuse(
                "adopt-source-unreadable", extends.span(""), "services extend each other in a circle",
                "remove one extends; docker compose refuses the file too",
            )  # fmt: skip
            return None
        if part.name not in self.parsed:
            self.parsed[part.name] = services_of(part)
        base = self.parsed[part.name].get(other.text)
        if base is None:
            self.ledger.warn(
                "adopt-file-missing", extends.span(""),
                f"this service extends {leaks.shown(other.text)}, which no source has",
                "name the file with it among the sources",
            )  # fmt: skip
            return fields
        below = self._fields(other.text, base, part, (*seen, wanted))
        return merged(below, fields, self.library, self.ledger) if below is not None else None

    def _text(self, node: Node | None) -> str:
        return self._word(node).text if node is not None and node.kind == "text" else ""

    def _word(self, node: Node) -> Word:
        return self._filled(node.text, node.span(""))

    def _filled(self, raw: str, span: Span) -> Word:
        def value(variable: re.Match[str]) -> Word:
            name = variable["name"] or variable["bare"]
            operator, other = variable["by"] or "", variable["else"] or ""
            known = self.values.get(name)
            if known is not None and (known.text or not operator.startswith(":")):
                return Word(other, span) if operator.endswith("+") else known
            if operator.endswith(("-", "+")):
                other = other if operator.endswith("-") else ""
                return self._filled(other, span) if len(other) < _LONGEST_DEFAULT else Word(other, span)
            if name not in self.asked and name not in ("HOME", "PWD"):
                self.asked.add(name)
                self.ledger.remark(
                    "adopt-value-unknown", span, f"no source gives {name} a value",
                    "name the .env file beside the Compose file among the sources",
                )  # fmt: skip
            return unknown(name, Word("", span))

        return filled(raw, span, _VARIABLE, value) if {"$", "<", "{"} & set(raw) else Word(raw, span)

    def _words(self, node: Node) -> Iterator[Word]:
        """A command: a list of words, or a text that is cut into words as a shell does, without comments."""
        if node.kind != "text":
            yield from map(self._word, node.texts())
            return
        source = self.library.sources[node.source]
        head = re.match(r"[|>][^\n]*\n|[\"']|", source.text[node.start : node.end])
        start = node.start + (head.end() if head is not None else 0)
        raw = source.text[start : node.end - (head is not None and head[0] in ("'", '"'))]
        pieces, known = list(cut(raw, _unescaped)), list(cut(node.text, _unescaped))
        sure = [piece.text for piece in pieces] == [piece.text for piece in known]
        for piece in pieces if sure else known:
            span = Span(source.name, start + piece.start, start + piece.end) if sure else node.span("")
            word = self._filled(piece.text, span)
            bare = "$" in piece.text and not word.holes and not {"'", '"'} & set(raw[piece.start : piece.end])
            yield from (replace(word, text=text) for text in (word.text.split() if bare else [word.text]))

    def _environment(self, fields: Mapping[str, Node]) -> EnvironmentFile:
        named = []
        for item in fields.get("env_file", NOTHING).items:
            path = item.get("path") or item
            named += [(self._word(path), self._text(item.get("required")) == "false")] if path.kind == "text" else []
        read = of_files(named, self.library, self.ledger)
        own: dict[str, Word] = {}
        for key, value in fields.get("environment", NOTHING).fields().items():
            if value.kind == "text" and not value.empty:
                own[key] = self._word(value)
            else:  # Compose passes on what its own environment has
                own[key] = self.values.get(key) or unknown(key, Word("", value.span("")))
        replace_variables(read.variables, own, self.library, self.ledger)
        return read

    # ------------------------------------------------------------------------------------------- services

    def _service(self, name: str, span: Span, fields: dict[str, Node]) -> Iterator[Process]:
        node = fields.get("image")
        image = self._word(node) if node is not None and node.kind == "text" else None
        command = [*self._words(fields.get("command", NOTHING))]
        words = [*self._words(fields.get("entrypoint", NOTHING)), *command]
        ours = self.library.sources[span.source].text.startswith(OURS)
        is_node = _is_node(image if not ours else None, words)  # a runner of fleetc may have any image
        if not self._starts(name, span, fields, is_node):
            return
        reader = copy(self)
        reader.ledger = self.ledger if is_node else Ledger()
        understood = docker_run.UNDERSTOOD if is_node else docker_run.OF_RUNNERS
        for field, value in fields.items():
            place = self.keys.get(id(value), (value,))[0].span("")
            docker_run.note_part(place, field, field in understood, reader.ledger)
        container = reader._container(name, span, image, fields)
        if is_node:
            yield from self._started(container, words)
            return
        lost = [docker_run.OTHER_ENTRYPOINT] if "entrypoint" in fields else []
        if image is None:
            lost += ["push what the source builds to a registry, and name it"] if "build" in fields else []
            lost = lost or ["the source names none"]
        container = replace(container, name=container.name if ours else name, words=tuple(command))
        yield container.other(reader.ledger, "this service is no node", tuple(lost))

    def _container(self, name: str, span: Span, image: Word | None, fields: Mapping[str, Node]) -> Process:
        called = self._text(fields.get("container_name"))
        read = self._environment(fields)
        project = self.values.get("COMPOSE_PROJECT_NAME") or self._word(self.top.get("name", NOTHING))
        ports = [self._port(item) for item in fields.get("ports", NOTHING).items]
        process = Process(
            called or name, span, (), read.variables, secrets=read.secrets, unread=tuple(read.unread),
            mounts=(*self._mounts(fields), *self._files(fields)), project=project.text if not project.holes else "",
            published=tuple(port for text in ports for port in docker_run.published(text)),
            gpus=docker_run.seen_gpus(self._asked_gpus(fields), read.variables, self._text(fields.get("runtime"))),
            host_ipc=self._text(fields.get("ipc")) == "host",
        )  # fmt: skip
        return in_container(
            process, image, self._text(fields.get("network_mode")), self._text(fields.get("user")),
            (name, called, self._text(fields.get("hostname"))), called or f"$(docker compose ps -q {name})",
        )  # fmt: skip

    def _starts(self, name: str, span: Span, fields: Mapping[str, Node], is_node: bool) -> bool:
        """Whether Compose starts a service; one that runs several times is said to."""
        profiles = fields.get("profiles", NOTHING)
        needed = [self._text(text) for text in profiles.texts()]
        shown = leaks.shown(visible(name))
        if needed and not self.project.profiles & {"*", *needed}:
            why = f"docker compose does not start it: its profile {leaks.shown(visible(needed[0]))} is not active"
            self.ledger.note(span, name, Fate.DROPPED, why)
            if is_node:
                self.ledger.warn(
                    "adopt-profile-inactive", profiles.span(""), f"{shown}: {why}",
                    "if it runs, set COMPOSE_PROFILES in the .env beside the Compose file, and name both",
                )  # fmt: skip
            return False
        node = fields.get("scale") or fields.get("deploy", NOTHING).get("replicas") or NOTHING
        count = self._text(node)
        number = int(count[:6]) if count.isascii() and count.isdecimal() else 1
        if number == 0:
            self.ledger.note(span, name, Fate.DROPPED, "docker compose starts it 0 times")
        elif number > 1 and is_node:
            self.ledger.warn(
                "adopt-cannot-say", node.span(""), f"{shown} runs {number} times today, and the spec has it once",
                "copy its table for each of them, with listeners and directories of its own",
            )  # fmt: skip
        return number > 0

    def _started(self, container: Process, words: list[Word]) -> Iterator[Process]:
        first = posixpath.basename(words[0].text) if words else ""
        if first not in _SHELLS:
            yield replace(container, words=tuple(words[first in ("livepeer", "livepeer.exe") :]))
            return
        text = next((text for word, text in pairwise(words) if word.text == "-c"), None)
        if text is None:
            self.ledger.not_followed(words[0].span, "a script of the image that starts the node of this service")
            return
        place, given = text.span, container.variables
        shell = read_shell(place.source, text.text, self.ledger, self.library, given, place=lambda *_: place)
        for process in shell.processes:
            if not isinstance(process, Other):
                yield replace(container, variables={**given, **process.variables}, words=process.words)

    # ------------------------------------------------------------------------------- parts of a container

    def _asked_gpus(self, fields: Mapping[str, Node]) -> tuple[str, bool] | None:
        """The GPUs that a service asks for in words, and whether these are ids; None where it asks for none."""
        devices = fields.get("gpus")
        if devices is not None and devices.kind == "text":
            return self._text(devices), False
        if devices is None:
            devices = fields.get("deploy", NOTHING)
            for key in ("resources", "reservations", "devices"):
                devices = devices.get(key) or NOTHING
        for device in devices.items:
            ids, count = device.get("device_ids"), device.get("count")
            if ids is not None:
                return ",".join(self._word(item).text for item in ids.texts()), True
            return self._text(count) or "all", False
        return None

    def _mounts(self, fields: Mapping[str, Node]) -> Iterator[Mount]:
        """The mounts of a service, in the short and in the long form; of two at one place, the last one counts."""
        mounts: dict[str, tuple[Mount, Span]] = {}
        for item in fields.get("volumes", NOTHING).items:
            parts = [self._text(item.get(key)) for key in ("source", "target")]
            for mount in docker_run.mount(self._text(item) or ":".join(filter(None, parts))):
                if mount.inside in mounts:
                    place = self.library.place(item.span(""))
                    self.ledger.note(mounts[mount.inside][1], mount.inside, Fate.REPLACED, place)
                mounts[mount.inside] = self._described(mount, item), item.span("")
        return (mount for mount, _ in mounts.values())

    def _described(self, mount: Mount, item: Node) -> Mount:
        """A mount with what the project says of its volume. Paths in a file that others extend begin in its folder."""
        if mount.outside.startswith(".") and item.source not in {source.name for source in self.project.files}:
            own, whole = (posixpath.dirname(name) or "." for name in (item.source, self.project.files[0].name))
            path = posixpath.normpath(posixpath.join(posixpath.relpath(own, whole), mount.outside))
            return replace(mount, outside=path if path.startswith("..") else f"./{path}")
        volume = self.top.get("volumes", NOTHING).fields().get(mount.name)
        if volume is None or mount.outside or not mount.name:
            return replace(mount, of_project=bool(mount.name) and not mount.outside)
        if volume.get("driver_opts") is not None or self._text(volume.get("driver")) not in ("", "local"):
            return Mount(mount.inside, "")
        called, mine = self._text(volume.get("name")), self._text(volume.get("external")) in ("", "false")
        return Mount(mount.inside, "", name=called or mount.name, of_project=not called and mine)

    def _files(self, fields: Mapping[str, Node]) -> Iterator[Mount]:
        """The secrets and configs of a service, which are files of the container."""
        for kind, folder in (("secrets", "/run/secrets/"), ("configs", "/")):
            for item in fields.get(kind, NOTHING).items:
                name = self._text(item.get("source") or item)
                inside = self._text(item.get("target")) or name
                described = self.top.get(kind, NOTHING).fields().get(name)
                if described is not None:
                    variable = self._text(described.get("environment"))
                    where = f"the variable {variable} of who starts Compose" if variable else f"{name} of {kind}"
                    yield Mount(posixpath.join(folder, inside), self._text(described.get("file")), where)

    def _port(self, item: Node) -> str:
        """A published port in the short form."""
        parts = [self._text(item.get(key)) for key in ("host_ip", "published", "target")]
        return self._text(item) or ":".join(filter(None, parts))


def _whole(key: str, value: Node) -> Node:
    """A field in the long form, in which those of several files add up."""
    if key == "env_file" and value.kind == "text":
        return Node("list", value.start, value.end, items=[value], source=value.source)
    if key != "environment" or value.kind != "list":
        return value
    own: dict[str, Node] = {}
    for item in value.texts():
        name, equals, text = item.text.partition("=")
        own[name] = Node("text", item.start, item.end, text, not equals, source=item.source)
    return Node("map", value.start, value.end, tag=value.tag, source=value.source, merged=own)


def _unescaped(text: str, quote: str) -> str:
    """A text without the backslashes that a shell takes away."""
    if quote == "'" or "\\" not in text:
        return text
    return re.sub(r"\\([\"\\$`\n])" if quote else r"\\(.)", r"\1", text, flags=re.DOTALL)


def _is_node(image: Word | None, words: list[Word]) -> bool:
    if image is not None and docker_run.names_node(image.text):
        return True
    starts = any(posixpath.basename(word.text) == "livepeer" for word in words[:2])
    return starts or (bool(words) and words[0].text.startswith("-") and all(map(_is_flag, words[:3])))


def _is_flag(word: Word) -> bool:
    """Whether a word may be a flag of the node, or the value of one."""
    name, equals, value = word.text.lstrip("-").partition("=")
    if not word.text.startswith("-"):
        return True
    return name in TYPES and not (equals and TYPES[name] == "bool" and value.lower() not in ("true", "false", "1", "0"))
