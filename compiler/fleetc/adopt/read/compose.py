"""Reads Docker Compose files: the services that run a node.

In: the text of a file, with the environment files among the sources. Out: a `Process` for each such service. Variables
are filled in from the `.env` among the sources and from defaults; others are holes, and never guessed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

from fleetc.adopt.found.words import OURS, Fate, Ledger, Mount, Other, Process, Word
from fleetc.adopt.node.flags import TYPES, holes_in
from fleetc.adopt.node.reading import missing
from fleetc.adopt.read.bounds import OF_SERVICES, of_service
from fleetc.adopt.read.compose_files import extended_file, merged, only_document
from fleetc.adopt.read.compose_mounts import described_volumes, files_of, mounts_of, names_of, ports_of, profiles_of
from fleetc.adopt.read.compose_words import VARIABLE, lone_variable, names_in, place_of, spaced_holes, unquoted
from fleetc.adopt.read.docker_run import VISIBLE, gpus_of, names_node, seen_gpus, visible_gpus
from fleetc.adopt.read.env_files import EnvironmentFile, environment, of_files
from fleetc.adopt.read.library import Library
from fleetc.adopt.read.shell import read_shell
from fleetc.adopt.read.showing import harmless
from fleetc.adopt.read.yaml_nodes import Node, YamlError, documents
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import Source

_UNDERSTOOD = {
    "image": "image of the node, and its release", "command": "how the node starts",
    "entrypoint": "how the node starts",
    "environment": "variables of the process", "env_file": "variables of the process",
    "volumes": "where paths of the container are on the host",
    "secrets": "where files of the container are on the host",
    "configs": "where files of the container are on the host", "ports": "which ports the host publishes",
    "network_mode": "whether the container has a network of its own", "container_name": "name of the node",
    "hostname": "a name that other containers use", "extends": "another service", "user": "who the node runs as",
    "deploy": "whether the container sees GPUs", "gpus": "whether the container sees GPUs",
}  # fmt: skip
RUNNER_FIELDS = {
    "image": "image of the runner", "command": "arguments of the runner", "environment": "variables of the runner",
    "env_file": "variables of the runner", "volumes": "directories of the runner",
    "network_mode": "whether the container has a network of its own", "container_name": "name of the runner",
    "hostname": "a name that other containers use", "extends": "another service", "deploy": "GPUs of the runner",
    "gpus": "GPUs of the runner", "runtime": "GPUs of the runner", "ipc": "memory segments of the host",
}  # fmt: skip
RUNNER_LEFT = {
    "ports": "containers use the host's network, where its own port counts", "build": "a spec names an image",
    "healthcheck": "its orchestrator asks it", "depends_on": "its orchestrator waits until it is well",
    "profiles": "a spec starts what it lists", "entrypoint": "a spec starts an image by its own entrypoint",
    "shm_size": "a spec has no word for it; host_ipc shares the memory of the host",
}  # fmt: skip
_MOST_EXTENDS = 20


def read_compose(
    source: Source, library: Library, ledger: Ledger, overrides: Sequence[Source] = (),
    below: Collection[tuple[str, str]] = (),
) -> list[Process]:  # fmt: skip
    """The processes of a Compose file; `overrides` are laid over it, as Compose does with its override file. Services
    in `below`, by source and name, are parts of others.
    """
    roots = [(one, only_document(one, ledger)) for one in (source, *overrides)]
    above = []
    for one, root in roots[1:]:
        if root is not None:
            above.append(_Compose(one, library, ledger, root))
            ledger.note(Span(one.name, 0, 1), "the file", Fate.UNDERSTOOD, f"laid over {leaks.shown(source.name)}")
    first = roots[0][1]
    if first is None or len(above) < len(overrides):
        return []
    return list(_Compose(source, library, ledger, first, *above).processes(below))


class _Compose:
    def __init__(self, source: Source, library: Library, ledger: Ledger, root: Node, *overrides: _Compose) -> None:
        self.source, self.library, self.ledger, self.root = source, library, ledger, root
        self.overrides = overrides  # readers of the files that are laid over this one
        self.values = self._dot_env()
        self.asked: set[str] = set()
        self.volumes = described_volumes(root.get("volumes"), self._text)

    def _dot_env(self) -> dict[str, Word]:
        """Variables of the `.env` beside the file."""
        beside = posixpath.join(posixpath.dirname(self.source.name), ".env")
        source = self.library.sources.get(beside)
        if source is None:
            return {}
        self.library.used.add(source.name)
        return environment(source.name, source.text).variables

    def _project(self) -> str:
        """The name of the project, where the sources say it; else it is that of the folder."""
        said = self.values.get("COMPOSE_PROJECT_NAME")
        if said is not None and said.text and not said.holes:
            return said.text
        node = self.root.get("name")
        word = self._word(node) if node is not None and node.kind == "text" else None
        return word.text if word is not None and not word.holes else ""

    def processes(self, below: Collection[tuple[str, str]]) -> Iterator[Process]:
        services = self.root.get("services")
        if services is None:
            lone = self.root if self.root.get("command") or self.root.get("image") else None
            named = {"": lone} if lone else {}
        else:
            named = services.fields()
        for key, _ in self.root.pairs:
            if key.text not in ("services", "") and services is not None:
                files = key.text in ("secrets", "configs")
                self.ledger.note(key.span(self.source.name), key.text[:60],
                                 Fate.UNDERSTOOD if files else Fate.DROPPED,
                                 "where files of containers are" if files else "no part of a node")  # fmt: skip
        for other in self.overrides:
            named = {**other.named(), **named}
        for name, service in named.items():
            if (self.source.name, name) in below:
                span = service.span(self.source.name)
                self.ledger.note(Span(span.source, span.start, span.start + 1), name, Fate.UNDERSTOOD,
                                 "other services extend it")  # fmt: skip
            elif service is not None and service.kind == "map":
                yield from self._service(name, service)

    def _service(self, name: str, service: Node) -> Iterator[Process]:
        fields = self._extended(name, service, [])
        if fields is None:
            return
        for other in self.overrides:
            over = other.named().get(name)
            above = other._extended(name, over, []) if over is not None and over is not service else {}
            if above is None:
                return
            fields = merged(fields, above)
        image = self._image(fields)
        entry, command = self._words(fields.get("entrypoint")), self._words(fields.get("command"))
        words = [*entry, *command]
        place = service.span(self.source.name)
        key = self._names.get(id(service))
        span = key.span(self.source.name) if key is not None else Span(self.source.name, place.start, place.start + 1)
        if not self._is_node(image, words):
            yield self._other(name, span, service, fields)
            return
        for field, node in fields.items():
            why = _UNDERSTOOD.get(field)
            compared = "; what differs is said" if field in OF_SERVICES or field == "logging" else ""
            where = (service.key(field) or node).span(self.source.name)
            self.ledger.note(where, field, Fate.UNDERSTOOD if why else Fate.DROPPED,
                             why or f"fleetc decides how containers of nodes run{compared}")  # fmt: skip
        copies = self._copies(name, fields)
        read = self._environment(fields)
        variables = read.variables
        network = self._text(fields.get("network_mode"))
        user = self._text(fields.get("user")) or "root"
        base = Process(
            name=self._text(fields.get("container_name")) or name, span=span, words=(), variables=variables,
            runtime="docker", image=image, user=user, home="/root" if user in ("root", "0", "0:0") else "",
            network="host" if network == "host" else "bridge", project=self._project(),
            mounts=(*self._mounts(fields), *files_of(fields, self.root, self._text)),
            sees=self._seen(fields, variables),
            placed=f"it runs {copies} times on this host" if copies > 1 else "", several=copies > 1,
            published=tuple(ports_of(fields.get("ports"), self._text)), secrets=read.secrets, bounds=of_service(fields),
            container=self._text(fields.get("container_name")) or f"$(docker compose ps -q {name})",
            unread=tuple(read.unread), waits=names_of(fields.get("depends_on"), self._text),
            profiles=profiles_of(fields.get("profiles"), self.values.get("COMPOSE_PROFILES"), self._text),
            peers=tuple(dict.fromkeys(filter(None, (name, self._text(fields.get("container_name")),
                                                     self._text(fields.get("hostname")))))),
        )  # fmt: skip
        yield from self._started(base, words, variables)

    def _copies(self, name: str, fields: dict[str, Node]) -> int:
        """How often a service runs; more than once is said."""
        deploy = fields.get("deploy")
        node = fields.get("scale") or (deploy.get("replicas") if deploy is not None else None)
        count = self._text(node)
        if node is not None and count.isascii() and count.isdecimal() and int(count[:6]) > 1:
            self.ledger.warn(
                "adopt-cannot-say", node.span(self.source.name),
                f"{leaks.shown(name)} runs {int(count[:6])} times today, and the spec has it once",
                "copy its table for each of them, with listeners and directories of its own",
            )  # fmt: skip
            return int(count[:6])
        return 1

    def _other(self, name: str, span: Span, service: Node, fields: dict[str, Node]) -> Other:
        """A service that is no node, with an account of its own, which only counts if it is a live runner."""
        reader = copy(self)
        reader.ledger, reader.asked = Ledger(), set(self.asked)
        for field, node in fields.items():
            why = RUNNER_FIELDS.get(field)
            where = (service.key(field) or node).span(self.source.name)
            left = RUNNER_LEFT.get(field, "fleetc decides how containers of runners run")
            reader.ledger.note(where, field, Fate.UNDERSTOOD if why else Fate.DROPPED, why or left)
        entry, image = reader._words(fields.get("entrypoint")), reader._image(fields)
        read = reader._environment(fields)
        variables = read.variables
        lost = []
        if entry:
            lost.append("the source starts its image by another entrypoint, and a spec by the image's own")
        if "build" in fields and image is None:
            lost.append("push what the source builds to a registry, and name it")
        if image is None and not lost:
            lost.append("the source names none")
        network = reader._text(fields.get("network_mode"))
        called = reader._text(fields.get("container_name"))
        peers = (name, called, reader._text(fields.get("hostname")))
        return Other(
            name=called if self.source.text.startswith(OURS) else name, span=span,
            words=tuple(reader._words(fields.get("command"))), variables=variables, runtime="docker", image=image,
            network="host" if network == "host" else "bridge", mounts=tuple(reader._mounts(fields)),
            published=tuple(ports_of(fields.get("ports"), reader._text)), secrets=read.secrets,
            peers=tuple(dict.fromkeys(filter(None, peers))), account=reader.ledger,
            gpus=reader._gpus(fields, variables), sees=reader._seen(fields, variables),
            host_ipc=reader._text(fields.get("ipc")) == "host", lost=tuple(lost),
        )  # fmt: skip

    def _gpus(self, fields: dict[str, Node], variables: dict[str, Word]) -> tuple[int, ...] | str:
        """The GPUs that a service asks for; one on the runtime of NVIDIA has those of a variable."""
        asked = self._asked_gpus(fields)
        if asked is not None:
            return gpus_of(*asked)
        if self._text(fields.get("runtime")) == "nvidia":
            visible = variables.get(VISIBLE)
            return gpus_of(visible.text, listed=True) if visible is not None else "all"
        return ()

    def _seen(self, fields: dict[str, Node], variables: dict[str, Word]) -> tuple[int, ...] | str:
        """The GPUs that the container of a node sees."""
        asked = self._asked_gpus(fields)
        return seen_gpus(*asked) if asked is not None else visible_gpus(variables)

    def _asked_gpus(self, fields: dict[str, Node]) -> tuple[str, bool] | None:
        """The GPUs that a service asks for in words, and whether these are ids; None where it asks for none."""
        lone = fields.get("gpus")
        if lone is not None and lone.kind == "text":
            return self._text(lone), False
        devices = lone
        for key in ("resources", "reservations", "devices") if lone is None else ():
            above = fields.get("deploy") if key == "resources" else devices
            devices = above.get(key) if above is not None else None
        for device in devices.items if devices is not None else []:
            ids, count = device.get("device_ids"), device.get("count")
            if ids is not None:
                return ",".join(self._word(one).text for one in ids.texts()), True
            return (self._text(count) if count is not None else "all"), False
        return None

    def _mounts(self, fields: dict[str, Node]) -> Iterator[Mount]:
        return mounts_of(fields.get("volumes"), self.volumes, self._text)

    def named(self) -> dict[str, Node]:
        """The services of this file, by name."""
        services = self.root.get("services")
        return services.fields() if services is not None else {}

    @cached_property
    def _names(self) -> dict[int, Node]:
        """The name of each service, by the id of the service."""
        services = self.root.get("services")
        return {id(service): name for name, service in services.pairs} if services is not None else {}

    def _started(self, base: Process, words: list[Word], variables: dict[str, Word]) -> Iterator[Process]:
        first = posixpath.basename(words[0].text) if words else ""
        if first in ("livepeer", "livepeer.exe"):
            yield replace(base, words=tuple(words[1:]), program="")
        elif first in ("sh", "bash", "dash", "ash", "env", "exec"):
            at = next((i for i, word in enumerate(words) if word.text == "-c"), 0)
            if not at or at + 1 >= len(words):
                self.ledger.warn(
                    "adopt-cannot-say", base.span, "this service starts its node through a script of the image",
                    "give the script as a source, with the command that it starts",
                )  # fmt: skip
                return
            text = words[at + 1]
            shell = read_shell(
                self.source.name, text.text, self.ledger, self.library, variables, place=lambda *_: text.span
            )
            for one in shell.processes:
                if not isinstance(one, Other):
                    yield replace(base, words=one.words, variables={**variables, **one.variables})
        else:
            yield replace(base, words=tuple(words))

    def _is_node(self, image: Word | None, words: list[Word]) -> bool:
        if image is not None and names_node(image.text) and not self.source.text.startswith(OURS):
            return True  # a file of fleetc always says what a node is, and a runner may have any image
        starts = any(posixpath.basename(word.text) == "livepeer" for word in words[:2])
        return starts or (bool(words) and words[0].text.startswith("-") and all(map(_is_flag, words[:3])))

    # ------------------------------------------------------------------------------------------- fields

    def _extended(self, name: str, service: Node, seen: list[str]) -> dict[str, Node] | None:
        """The fields of a service, with those of the service that it extends; None where that goes in a circle."""
        fields = {key: value for key, value in service.fields().items() if not value.empty}
        extends = fields.get("extends")
        if extends is None:
            return fields
        file = extends.get("file") if extends.kind == "map" else None
        other = extends.get("service") if extends.kind == "map" else extends
        wanted = other.text if other is not None else ""
        source, root = self.source, self.root
        if file is not None:
            found = extended_file(file.text, self.source, self.library)
            if found is None:
                missing(Word(file.text, file.span(self.source.name)), "the file that this service extends", self.ledger)
                return fields
            self.library.used.add(found.name)
            try:
                roots = documents(found.text, found.name)
            except YamlError:
                roots = []
            source, root = found, roots[0] if roots else Node("map", 0, 0)
        key = f"{source.name}:{wanted}"
        if key in seen or f"{self.source.name}:{name}" == key or len(seen) > _MOST_EXTENDS:
            self.ledger.refuse(
                "adopt-source-unreadable", extends.span(self.source.name), "services extend each other in a circle",
                "remove one extends; docker compose refuses the file too",
            )  # fmt: skip
            return None
        services = root.get("services")
        base = services.fields().get(wanted) if services is not None else None
        if base is None:
            self.ledger.warn(
                "adopt-file-missing", extends.span(self.source.name),
                f"this service extends {leaks.shown(wanted)}, which no source has",
                "name the file with it among the sources",
            )  # fmt: skip
            return fields
        reader = self if source is self.source else _Compose(source, self.library, self.ledger, root)
        below = reader._extended(wanted, base, [*seen, key])
        if below is None:
            return None
        return merged(below, fields)

    def _image(self, fields: dict[str, Node]) -> Word | None:
        node = fields.get("image")
        return self._word(node) if node is not None and node.kind == "text" else None

    def _text(self, node: Node | None) -> str:
        return self._word(node).text if node is not None and node.kind == "text" else ""

    def _word(self, node: Node) -> Word:
        if "$" not in node.text:
            return Word(node.text, node.span(self.source.name))
        text, holes = self._filled(node.text, node)
        name, behind = lone_variable(node.text)
        return Word(text, node.span(self.source.name), holes, name, self._said(node.text), behind)

    def _said(self, raw: str) -> Span | None:
        """Where the value stands of the variable that a text is, or of the one in it that may be a secret."""
        whole = bool(lone_variable(raw)[0])
        known = [self.values[name] for name in names_in(raw) if name in self.values]
        spans = [word.span for word in known if whole or not harmless(word)]
        return spans[0] if len(spans) == 1 else None

    def _filled(self, text: str, node: Node) -> tuple[str, tuple[str, ...]]:
        holes: list[str] = []

        def variable(found: re.Match[str]) -> str:
            if found[0] == "$$":
                return "$"
            name = found[1] or found[4]
            known = self.values.get(name)
            operator, other = found[2] or "", found[3] or ""
            if known is not None and (known.text or not operator.startswith(":")):
                if operator.endswith("+"):
                    return other
                holes.extend(known.holes)
                return known.text
            if operator.endswith("-"):
                return VARIABLE.sub(variable, other) if "$" in other and len(other) < 500 else other
            if operator.endswith("+"):
                return ""
            hole = "${" + name + "}"
            holes.append(hole)
            if name not in self.asked and name not in ("HOME", "PWD"):
                self.asked.add(name)
                self.ledger.remark(
                    "adopt-value-unknown", node.span(self.source.name), f"no source gives {name} a value",
                    "name the .env file beside the Compose file among the sources",
                )  # fmt: skip
            return hole

        filled = VARIABLE.sub(variable, text)
        holes += [hole for hole in holes_in(filled) if hole not in holes]
        return filled, tuple(dict.fromkeys(holes))

    def _words(self, node: Node | None) -> list[Word]:
        """A command: a list of words, or a text that is cut into words as a shell does, without comments."""
        if node is None:
            return []
        if node.kind == "list":
            return [self._word(item) for item in node.items if item.kind == "text"]
        text = self._word(node)
        origin = self.library.sources.get(node.source, self.source)
        raw = origin.text[node.start : node.end]
        place = 0
        found = []
        for piece in spaced_holes(text.text):
            word = unquoted(piece)
            at, end = place_of(piece, raw, place)
            place = end
            span = Span(origin.name, node.start + at, node.start + end) if end > at else text.span
            holes = tuple(hole for hole in text.holes if hole in word)
            name, behind = lone_variable(raw[at:end])
            found.append(Word(word, span, holes, name, self._said(raw[at:end]), behind))
        return found

    def _environment(self, fields: dict[str, Node]) -> EnvironmentFile:
        files = fields.get("env_file")
        named: list[tuple[Word, bool]] = []
        for item in [] if files is None else files.items if files.kind == "list" else [files]:
            path = item if item.kind == "text" else item.get("path")
            if path is not None:
                named.append((self._word(path), item.kind == "map" and self._text(item.get("required")) == "false"))
        found = of_files(named, self.library, self.ledger)
        variables = found.variables
        node = fields.get("environment")
        if node is not None and node.kind == "map":
            for key, value in node.fields().items():
                variables[key] = self._passed(key, value)
        elif node is not None:
            for item in node.texts():
                word = self._word(item)
                key, equals, _ = word.text.partition("=")
                variables[key] = word.part(len(key) + 1) if equals else self._passed(key, item, bare=True)
        return found

    def _passed(self, key: str, value: Node, bare: bool = False) -> Word:
        """A variable with a value, or one that Compose passes on from its own environment."""
        if value.kind == "text" and not value.empty and not bare:
            return self._word(value)
        if key in self.values:
            return self.values[key]
        hole = "${" + key + "}"
        return Word(hole, value.span(self.source.name), (hole,))


def _is_flag(word: Word) -> bool:
    """Whether a word may be a flag of the node, or the value of one."""
    name, equals, value = word.text.lstrip("-").partition("=")
    if not word.text.startswith("-"):
        return True
    return name in TYPES and not (equals and TYPES[name] == "bool" and value.lower() not in ("true", "false", "1", "0"))
