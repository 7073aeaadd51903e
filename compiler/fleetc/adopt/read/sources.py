"""Reads every source by what it is, and joins what they say: processes with their environment files, and hosts.

In: sources. Out: `Found`. What kind a source is shows in its text; its name only decides where texts look alike.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fleetc.adopt.found.words import OURS, Fate, Ledger, Other, Process, Word
from fleetc.adopt.node.flags import TYPES
from fleetc.adopt.read.compose import read_compose
from fleetc.adopt.read.compose_files import extended, projects
from fleetc.adopt.read.env_files import environment
from fleetc.adopt.read.library import Library
from fleetc.adopt.read.shell import ShellText, not_followed, read_shell
from fleetc.adopt.read.shell_words import node_commands
from fleetc.adopt.read.stack_files import StackFiles, is_stack_file, read_stacks
from fleetc.adopt.read.systemd import is_unit, read_units
from fleetc.adopt.read.unit_instances import is_link
from fleetc.adopt.tables.naming import BY_FOLDER
from fleetc.adopt.tables.session import Table
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_COMPOSE_NAME = re.compile(r"(?:docker-)?compose[^/]*\.ya?ml$")
_YAML_KEY = re.compile(r"(?m)^(?:services|command|image|version|name):(?:\s|$)")
_HEREDOC = re.compile(r"<<-?[ \t]*['\"\\]?\w")
_VARIABLE_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_]*[ \t]*=")
_COMMAND = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)+(?:\S*/)?(?:livepeer|docker)\s")
"""A command behind assignments, which alone would be a file of variables."""
_READS = re.compile(r"(?m)(?:^|[;&|{(])[ \t]*(?:source|\.)[ \t]+(\S.*)$")
"""A command of a script that reads another one."""
_CONFIG_NAMES = frozenset(TYPES) | {"LP_" + name.upper() for name in TYPES}


@dataclass
class Found:
    """What all sources together hold: processes, hosts, avatar stacks, lists of models that no process names.

    `others` are processes that are no nodes, of which some may be live runners. `claimed` are hosts that somebody named
    for some of the sources: what the others start may run anywhere.
    """

    processes: list[Process] = field(default_factory=list)
    others: list[Other] = field(default_factory=list)
    hosts: dict[str, Table] = field(default_factory=dict)
    models: list[Source] = field(default_factory=list)
    stacks: list[StackFiles] = field(default_factory=list)
    claimed: set[str] = field(default_factory=set)


def read_sources(
    sources: Sequence[Source], hosts: Mapping[str, str], library: Library, ledger: Ledger,
    instances: Collection[str] = (),
) -> Found:  # fmt: skip
    """Read all sources; `hosts` says which host a source is about, `instances` which units of templates run."""
    found = Found()
    kinds: dict[str, list[Source]] = {}
    for source in sources:
        kinds.setdefault(kind_of(source), []).append(source)
    hosts_of_tree: dict[str, Source] = {}
    found.stacks = read_stacks(kinds.get("stack", []), hosts, hosts_of_tree, ledger)
    below = extended(kinds.get("compose", []), library)
    for source, overrides in projects(kinds.get("compose", [])):
        found.processes += read_compose(source, library, ledger, overrides, below)
    started = list(read_units(kinds.get("unit", []), library, ledger, kinds.get("shell", []), instances))
    variables = _shell_variables(kinds.get("environment", []), library)
    scripts = kinds.get("shell", [])
    reads = "\n".join(found[1] for source in scripts for found in _READS.finditer(source.text))
    for source in sorted(scripts, key=lambda one: posixpath.basename(one.name) in reads):
        if source.name in library.used:
            continue
        shell = read_shell(source.name, source.text, ledger, library, variables)
        found.processes += [*shell.processes, *_written(shell, library, ledger)]
    found.processes += started
    for source in kinds.get("flags", []):
        folder = posixpath.dirname(source.name)
        if any(posixpath.dirname(process.span.source) == folder for process in found.processes):  # nodes and others
            ledger.note(
                Span(source.name, 0, 1), source.name, Fate.DROPPED, "the flags of the unit or container beside it"
            )
            continue
        found.processes.append(_flags(source))
    processes = [_on_host(process, hosts, library) for process in found.processes]
    found.processes = [one for one in processes if not isinstance(one, Other)]
    found.others = [one for one in processes if isinstance(one, Other)]
    _alone(kinds, found, library, ledger)
    _lost(kinds, processes, library, ledger)
    found.models = kinds.get("models", [])
    return found


def _lost(kinds: Mapping[str, list[Source]], processes: Sequence[Process], library: Library, ledger: Ledger) -> None:
    """Warn of commands of nodes in sources that start none, such as tasks of a playbook."""
    read = {process.span.source for process in processes}
    for kind, sources in kinds.items():
        for source in sources if kind not in ("shell", "unit", "flags") else ():
            if source.name not in read and source.name not in library.used:
                for at in node_commands(source.text):
                    not_followed(Span(source.name, at, at + len("livepeer")), "a text that is no script", ledger)


def _written(shell: ShellText, library: Library, ledger: Ledger) -> list[Process]:
    """The processes of the files that a script writes, at their places in the script."""
    account = Ledger()
    files = {path: Source(path, text) for path, (text, _) in shell.files.items()}
    found = list(read_units([one for one in files.values() if kind_of(one) == "unit"], library, account))
    started = {process.span.source for process in found}
    for path, source in files.items():
        kind, place = kind_of(source), shell.files[path][1]
        if kind == "compose":
            found += read_compose(source, library, account)
        elif kind == "shell" and library.written[path].name not in started:
            if source.text.startswith("#!") or path.endswith(".sh"):
                found += read_shell(path, source.text, account, library).processes
            elif any(node_commands(source.text)):
                not_followed(place(0, 1), "a text that is no script", ledger)
    names = {name: place for path, (_, place) in shell.files.items() for name in (path, library.written[path].name)}

    def move(span: Span) -> Span:
        return names[span.source](span.start, span.end) if span.source in names else span

    ledger.take(account, move)
    return [one.moved(move) for one in found]


def _flags(source: Source) -> Process:
    """One flag a line."""
    words = []
    place = 0
    for line in source.text.split("\n"):
        if line.startswith("-"):
            words.append(Word(line, Span(source.name, place, place + len(line))))
        place += len(line) + 1
    return Process(posixpath.basename(posixpath.dirname(source.name)), Span(source.name, 0, 1), tuple(words))


def kind_of(source: Source) -> str:
    """What a source is: stack, compose, unit, flags, models, runners, prices,
    renditions, json, config, environment or shell.
    """
    text, name = source.text, posixpath.basename(source.name)
    start = text.lstrip()[:1]
    if name.endswith(".flags"):
        return "flags"
    if is_stack_file(source.name, text):
        return "stack"
    if is_unit(text) or is_link(source.name):
        return "unit"
    if name.endswith(".json") or (start in ("{", "[") and _json(text) is not None):
        return _kind_of_json(text)
    key = _YAML_KEY.search(text[:20_000])
    written = key is not None and _HEREDOC.search(text, 0, key.start())
    if _COMPOSE_NAME.search(name) or name.endswith((".yml", ".yaml")) or (key is not None and not written):
        return "compose"
    lines = [line.strip() for line in text[:20_000].split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if lines and sum(line.split(" ")[0] in _CONFIG_NAMES for line in lines) * 2 > len(lines):
        return "config"
    if name.endswith(".sh") or text.startswith("#!") or any(map(_COMMAND.match, lines)):
        return "shell"
    if lines and all(_VARIABLE_LINE.match(line) and "$(" not in line for line in lines):
        return "environment"
    return "shell"


def _json(text: str) -> object:
    if len(text) > 20_000_000:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _kind_of_json(text: str) -> str:
    value = _json(text)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        keys = {str(key).lower() for key in value[0]}
        return "models" if "pipeline" in keys else "renditions" if {"width", "bitrate"} & keys else "json"
    if isinstance(value, dict) and isinstance(value.get("runners"), list):
        return "runners"
    if isinstance(value, dict):
        return "prices" if {"capabilities_prices", "gateways", "broadcasters"} & set(value) else "json"
    return "json"


def _shell_variables(files: Sequence[Source], library: Library) -> dict[str, Word]:
    """What a script takes from a `.env` beside it."""
    found: dict[str, Word] = {}
    for source in files:
        if posixpath.basename(source.name).endswith(".env"):
            found |= environment(source.name, source.text).variables
    return found


def _on_host(process: Process, hosts: Mapping[str, str], library: Library) -> Process:
    """The host that a source is about: as the user says, or by a folder of the tree that fleetc writes."""
    said, located = hosts.get(process.span.source, ""), ""
    parts = process.span.source.split("/")
    if not said and "hosts" in parts[:-2]:
        said, located = parts[len(parts) - 1 - parts[::-1].index("hosts") + 1], BY_FOLDER
    source = library.sources.get(process.span.source)
    process = replace(process, host=said or process.host, located=located)
    if source is None or not source.text.startswith(OURS):
        return process
    process = replace(process, located="")  # a tree of fleetc has no other folders
    words = tuple(Word(word.text, word.span) for word in process.words)  # what looks like a placeholder is a value
    variables = {name: Word(word.text, word.span) for name, word in process.variables.items()}
    return replace(process, words=words, variables=variables, ours=True)


def _alone(kinds: Mapping[str, list[Source]], found: Found, library: Library, ledger: Ledger) -> None:
    """Config and environment files that no command names: each is a process of its own."""
    for source in kinds.get("config", []):
        if source.name in library.used or _named(found.processes, source.name):
            continue
        word = Word(source.name, Span(source.name, 0, 1))
        found.processes.append(Process("", word.span, (Word("-config", word.span), word)))
    if found.processes:
        return
    for source in kinds.get("environment", []):
        read = environment(source.name, source.text)
        if any(name.startswith("LP_") for name in read.variables):
            found.processes.append(Process("", Span(source.name, 0, 1), (), read.variables, secrets=read.secrets))
    for source in kinds.get("json", []):
        ledger.note(Span(source.name, 0, 1), source.name, Fate.DROPPED, "no file that a node reads")


def _named(processes: Sequence[Process], name: str) -> bool:
    """Whether a process names a config file of this name."""
    base = posixpath.basename(name)
    for process in processes:
        for at, word in enumerate(process.words):
            flag, equals, value = word.text.lstrip("-").partition("=")
            if flag == "config":
                path = value if equals else process.words[at + 1].text if at + 1 < len(process.words) else ""
                if posixpath.basename(path) == base:
                    return True
        config = process.variables.get("LP_CONFIG")
        if config is not None and posixpath.basename(config.text) == base:
            return True
    return False
