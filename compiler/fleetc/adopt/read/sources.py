"""Reads every source by what it is, and joins what they say: processes with their environment files, and hosts.

In: sources. Out: `Found`. What kind a source is shows in its text; its name only decides where texts look alike. What
may start a node and is no kind that fleetc reads is named, with its line and what to do instead.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import OURS, Other, Process, Word
from fleetc.adopt.node.flags import TYPES
from fleetc.adopt.read.compose import read_compose
from fleetc.adopt.read.compose_project import note_unused, projects
from fleetc.adopt.read.env_files import environment
from fleetc.adopt.read.shell import read_shell
from fleetc.adopt.read.shell_words import node_commands
from fleetc.adopt.read.stack_files import StackFiles, is_stack_file, plain_json, read_stacks
from fleetc.adopt.read.systemd import is_unit, read_units
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_PROGRAMS = (
    ("a page of notes", r"(?i)\.(?:md|markdown|rst|html?)$", r"(?!)"),
    ("a template", r"\.(?:j2|jinja2?|tpl|tmpl)$",
     r"(?m)^[ \t]*(?:ExecStart[ \t]*=[-@:+!]*)?[ \t]*\{\{|\{%[^\n]{1,300}?%\}|<%[^\n]{1,300}?%>"),
    ("a launch file of an editor", r"(?:^|/)launch\.json$", r'"(?:configurations"\s*:\s*\[|request"\s*:\s*"launch")'),
    ("a Kubernetes manifest", r"(?!)", r"(?m)^[ \t{]*[\"']?apiVersion[\"']?[ \t]*:"),
    ("an Ansible playbook", r"(?!)",
     r"\A(?:(?:---|#)[^\n]*\n|\s)*-[ \t]+(?:name|hosts|become|block|[a-z_.]+\.[a-z_]+)[ \t]*:|\bdocker_container:"),
    ("an Ansible inventory", r"(?:^|/)(?:group_vars|host_vars)/", r"\bansible_(?:host|user|connection)\b"),
    ("a configuration of supervisor", r"(?!)", r"(?m)^[ \t]*\[program:"),
    ("a crontab", r"(?:^|/)(?:crontab|cron\.[a-z]+/)",
     r"\A(?:[ \t]*(?:#[^\n]*|[A-Za-z_]+[ \t]*=[^\n]*)?\n)*[ \t]*(?:@[a-z]+|(?:[0-9*/,-]+[ \t]+){4}[0-9*/,-]+)[ \t]+\S"),
)  # fmt: skip
"""What may start a node and is not followed: what it is, and how it shows in a name or in a text."""
_HEREDOC = re.compile(r"<<-?[ \t]*['\"\\]?[A-Za-z_]")
_YAML_KEY = re.compile(r"(?m)^(?:services|command|image|version|name):(?:\s|$)")
_VARIABLE_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_]*[ \t]*=")
_COMMAND = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)+(?:\S*/)?(?:livepeer|docker)\s")
"""A command behind assignments, which alone would be a file of variables."""
_READS = re.compile(r"(?m)(?:^|[;&|{(])[ \t]*(?:source|\.)[ \t]+(\S.*)$")
"""A command of a script that reads another one."""
_CONFIG_NAMES = frozenset(TYPES) | {"LP_" + name.upper() for name in TYPES}
_HEAD = 20_000
"""Characters by which a kind shows."""
_LONGEST_LINE = 1024 * 1024
"""Neither systemd nor a command of a host takes a longer one."""
_OF_HOST = re.compile(r"(?:^|/)ansible/(?:host_vars/(?P<host>[^/]+)|inventory)\.json$")
_FIELDS = {
    "ansible_host": "address", "ansible_user": "ssh_user", "ansible_port": "ssh_port", "ansible_become": "become",
    "fleet_host_owner": "node_user",
}  # fmt: skip
_DEFAULTS: Mapping[str, object] = {"ssh_user": "root", "ssh_port": 22, "become": False, "node_user": "livepeer"}


@dataclass
class Found:
    """What all sources together hold: processes, hosts, avatar stacks, lists of models that no process names, and
    documents of capabilities.

    `hosts` have what is known for their tables. `others` are processes that are no nodes, of which some may be live
    runners. `claimed` are hosts that somebody named for some of the sources: what the others start may run anywhere.
    """

    processes: list[Process] = field(default_factory=list)
    others: list[Other] = field(default_factory=list)
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    models: list[Source] = field(default_factory=list)
    capabilities: list[Source] = field(default_factory=list)
    stacks: list[StackFiles] = field(default_factory=list)
    claimed: set[str] = field(default_factory=set)


def read_sources(
    sources: Sequence[Source], hosts: Mapping[str, str], library: Library, ledger: Ledger, listed: Collection[str] = ()
) -> Found:
    """Read all sources; `hosts` says which host a source is about, `listed` are those that nobody named, but the folder
    that they are in. Files that scripts write are sources too.
    """
    given, result = sources, Found()
    kinds = _by_kind(sources)
    of_tree: dict[str, Source] = {}
    for host, values, source in read_hosts(kinds.get("tree", []), ledger):
        result.hosts[host], of_tree[host] = values, source
    result.stacks = read_stacks(kinds.get("stack", []), hosts, of_tree, ledger)
    processes, started = list[Process](), list[Process]()
    while sources:
        some, written, known = _by_kind(sources), list[Source](), set[str]()
        for project in projects(some.get("compose", []), listed, hosts, library, ledger):
            processes += read_compose(project, library, ledger)
        note_unused(some.get("compose", []), library, ledger)
        started += read_units(some.get("unit", []), library, ledger)
        scripts = [source for source in some.get("shell", []) if sources is given or _is_script(source)]
        reads = "\n".join(found[1] for source in scripts for found in _READS.finditer(source.text))
        for source in sorted(scripts, key=lambda script: posixpath.basename(script.name) in reads):
            if source.name not in library.used:
                shell = read_shell(source.name, source.text, ledger, library)
                processes += shell.processes
                written += shell.written
                known |= {source.name} if shell.written else set()  # what starts in these files is looked for there
                hosts = {**hosts, **{one.name: hosts[source.name] for one in shell.written if source.name in hosts}}
        known |= {process.span.source for process in (*processes, *started)} | library.used
        _not_followed(some, known, ledger)
        sources = written
    processes = [*{repr(one): one for one in processes}.values(), *started]  # what scripts read twice starts once
    for source in kinds.get("flags", []):
        ledger.note(Span(source.name, 0, 1), source.name, Fate.DROPPED, "flags of the unit or container beside it")
    processes = [on_host(process, hosts, library) for process in processes]
    result.others = [process for process in processes if isinstance(process, Other)]
    result.processes = [process for process in processes if not isinstance(process, Other)]
    _alone(kinds, listed, result, library)
    result.models = kinds.get("models", [])
    result.capabilities = kinds.get("capability", [])
    return result


def _by_kind(sources: Iterable[Source]) -> dict[str, list[Source]]:
    kinds: dict[str, list[Source]] = {}
    for source in sources:
        kinds.setdefault(kind_of(source), []).append(source)
    return kinds


def _is_script(source: Source) -> bool:
    """Whether a file that was written by a script is itself a script."""
    return source.text.startswith("#!") or source.name.endswith(".sh")


def _not_followed(kinds: Mapping[str, list[Source]], known: set[str], ledger: Ledger) -> None:
    """Name each source that may start a node in a way that is not read, but for `known` ones; and lines too long."""
    for source in kinds.get("long", []):
        span = Span(source.name, 0, 1)
        ledger.refuse(
            "adopt-source-unreadable", span, f"a line of this file has more than {_LONGEST_LINE} characters",
            "name the file that systemd, Docker or a shell reads; none of them takes such a line",
        )  # fmt: skip
    known |= {finding.primary.place.source for finding in ledger.findings if isinstance(finding.primary.place, Span)}
    for kind, sources in kinds.items():
        program = any(kind == what for what, _, _ in _PROGRAMS)
        for source in sources:
            if source.name in known:
                continue
            node = source.text.find("livepeer") if program else next(node_commands(source.text), -1)
            if node >= 0:
                what = kind if program else "a text in which a node may start"
                ledger.not_followed(Span(source.name, node, node + len("livepeer")), what)


def kind_of(source: Source) -> str:
    """What a source is: flags, tree, stack, unit, models, capability, json, compose, config, environment or shell.

    It is "long" with a line that nothing takes, and what it is in words where it is not followed.
    """
    text, name = source.text, posixpath.basename(source.name)
    json_text = name.endswith(".json") or text.lstrip()[:1] in ("{", "[")
    if name.endswith(".flags"):
        return "flags"
    if is_of_hosts(source):
        return "tree"
    if is_stack_file(source.name, text):
        return "stack"
    for what, by_name, by_text in _PROGRAMS:
        if re.search(by_name, source.name) or re.search(by_text, text[:_HEAD]):
            return what
    value = plain_json(text) if json_text else None
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "models" if "pipeline" in {str(key).lower() for key in value[0]} else "json"
    if isinstance(value, dict) and {"name", "url"} <= value.keys() and {"capacity", "price_per_unit"} & value.keys():
        return "capability"
    if value is not None or name.endswith(".json"):
        return "json"
    if len(text) > _LONGEST_LINE and max(map(len, text.split("\n"))) > _LONGEST_LINE:
        return "long"
    if is_unit(source):
        return "unit"
    script = text.startswith("#!") or _HEREDOC.search(text[:_HEAD]) is not None
    if name.endswith((".yml", ".yaml")) or (not script and _YAML_KEY.search(text[:_HEAD])):
        return "compose"
    lines = [line.strip() for line in text[:_HEAD].split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if lines and sum(line.split(" ")[0] in _CONFIG_NAMES for line in lines) * 2 > len(lines):
        return "config"
    if script or name.endswith(".sh") or any(map(_COMMAND.match, lines)):
        return "shell"
    if lines and all(_VARIABLE_LINE.match(line) and "$(" not in line for line in lines):
        return "environment"
    return "shell"


def _alone(kinds: Mapping[str, list[Source]], listed: Collection[str], result: Found, library: Library) -> None:
    """Config and environment files that no command names: each is a process of its own, if people named it, or if no
    source beside it could start one.
    """
    words = [word for process in result.processes for word in (*process.words, *process.variables.values())]
    bases = {re.split("[/=]", word.text)[-1] for word in words}
    alone = kinds.keys().isdisjoint(("compose", "unit", "shell"))
    for source in kinds.get("config", []):
        free = source.name not in library.used and posixpath.basename(source.name) not in bases
        if free and (alone or source.name not in listed):
            word = Word(source.name, Span(source.name, 0, 1))
            result.processes.append(Process("", word.span, (Word("-config", word.span), word)))
    for source in kinds.get("environment", []) if alone and not result.processes else ():
        read = environment(source.name, source.text)
        if any(name.startswith("LP_") for name in read.variables):
            result.processes.append(Process("", Span(source.name, 0, 1), (), read.variables, secrets=read.secrets))


# ------------------------------------------------------------------------------------------ trees of fleetc


def is_of_hosts(source: Source) -> bool:
    """Whether a source is the inventory of a tree, or the variables of one of its hosts."""
    return _OF_HOST.search(source.name) is not None and "fleet_host" in source.text


def read_hosts(sources: Iterable[Source], ledger: Ledger) -> Iterator[tuple[str, dict[str, Any], Source]]:
    """The hosts of a tree: the name, what it says of the table of the host, and the file that says it."""
    for source in sources:
        ledger.note(Span(source.name, 0, 1), "the file", Fate.UNDERSTOOD, "hosts, and how they are reached")
        called = _OF_HOST.search(source.name)
        values = plain_json(source.text)
        if called is not None and called["host"] and isinstance(values, dict):
            fields = {name: values[key] for key, name in _FIELDS.items() if key in values}
            own = {key: value for key, value in fields.items() if _DEFAULTS.get(key) != value}
            yield called["host"], own, source


def on_host(process: Process, hosts: Mapping[str, str], library: Library) -> Process:
    """A process on its host: as people say, or as the folder below `hosts` is called. In a file of fleetc, what looks
    like a placeholder is a value.
    """
    folders = process.span.source.split("/")[:-2]
    host = hosts.get(process.span.source, "") or process.host
    if not host and "hosts" in folders:
        host = process.span.source.split("/")[len(folders) - folders[::-1].index("hosts")]
    process = replace(process, host=host)
    source = library.sources.get(process.span.source)
    if source is None or not source.text.startswith(OURS):
        return process
    words = tuple(Word(word.text, word.span) for word in process.words)
    variables = {name: Word(word.text, word.span) for name, word in process.variables.items()}
    return replace(process, words=words, variables=variables, ours=True)
