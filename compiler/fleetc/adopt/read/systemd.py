"""Reads systemd units with their drop-ins: the node that `ExecStart` starts.

In: units by name, with the environment files among the sources. Out: a `Process` for each unit that starts a node.
Specifiers that only a running systemd knows are holes. An instance is known by the name of its file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import OURS, Mount, Other, Process, Word, unknown
from fleetc.adopt.node.flags import starts_node
from fleetc.adopt.node.paths import home_of
from fleetc.adopt.read.env_files import EnvironmentFile, cut, filled, of_files, replace_variables
from fleetc.adopt.read.shell import read_shell
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9]*)[ \t]*=[ \t]*")
_SECTION = re.compile(r"[ \t]*\[([A-Za-z ]+)\][ \t]*")
_LINE = re.compile(r"(?m)^(?![ \t]*(?:[#;][^\n]*)?\r?$)(?:[^\n]*\\\r?\n(?:[ \t]*[#;][^\n]*\n)*)*[^\n]*")
"""A logical line: one that ends in a backslash goes on, past comments, in the next one."""
_JOINED = re.compile(r"\\\r?\n(?:[ \t]*[#;][^\n]*\n)*")
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)\}|\$(?P<bare>[A-Za-z_]\w*)|\$\$|%[a-zA-Z%]", re.ASCII)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_RELEASE = re.compile(r"Livepeer .* release (v[0-9]+\.[0-9]+\.[0-9]+)")
_TAKEN = frozenset({"ExecStart", "Environment", "EnvironmentFile", "User", "WorkingDirectory", "Description"})
_LISTS = frozenset({"ExecStart", "Environment", "EnvironmentFile", "ReadWritePaths"})
"""Settings of which all count that follow an empty one; of others the last one does."""
_LEFT = "fleetc writes its own unit"
_ANOTHER = "no node: this unit starts another program"


@dataclass
class _Unit:
    """The settings of a unit with its drop-ins, in their order; `known` specifiers follow from its name."""

    name: str
    source: Source
    known: Mapping[str, str]
    settings: dict[str, list[Word]] = field(default_factory=dict)

    def values(self, key: str) -> list[Word]:
        """The values of a setting, with the known specifiers filled in."""
        return [
            replace(word, text=re.sub("%.", lambda found: self.known.get(found[0], found[0]), word.text))
            for word in self.settings.get(key, [])
        ]

    def last(self, key: str) -> str:
        """The value that counts, of a setting that has one."""
        return next((word.text for word in self.values(key)[-1:]), "")


def is_unit(source: Source) -> bool:
    """Whether a source is a unit or a part of one; a script that writes one is none."""
    text = source.text
    starts = re.search(r"(?m)^[ \t]*ExecStart[ \t]*=", text)
    heads = re.match(r"(?s)\A(?:[ \t]*(?:[#;][^\n]*)?\n)*[ \t]*\[(?:Unit|Service|Install)\]", text)
    return heads is not None or (starts is not None and "<<" not in text[: starts.start()])


def read_units(sources: Sequence[Source], library: Library, ledger: Ledger) -> Iterator[Process]:
    """The processes of some units, each with the drop-ins in the folder `NAME.service.d`."""
    units: dict[str, Source] = {}
    above: dict[str, list[Source]] = {}
    for source in sorted(sources, key=lambda one: one.name):
        folder = posixpath.dirname(source.name)
        if folder.endswith(".service.d"):
            above.setdefault(folder.removesuffix(".d"), []).append(source)
        else:
            units[source.name if source.name.endswith(".service") else f"{source.name}.service"] = source
    for name in above.keys() - units.keys():
        for source in above[name]:
            ledger.note(Span(source.name, 0, 1), source.name, Fate.DROPPED, "its unit is none of the sources")
    for name, source in units.items():
        prefix, at, instance = posixpath.basename(name).removesuffix(".service").partition("@")
        if at and not instance:
            _warn_of_template(source, prefix, ledger)
            continue
        whole = f"{prefix}@{instance}"
        plain = _ESCAPE.sub(_character, instance.replace("-", "/"))
        known = {"%i": instance, "%I": plain, "%n": f"{whole}.service", "%N": whole, "%p": prefix} if at else {}
        own = _Unit(f"{prefix}-{instance}" if at else prefix, source, known)
        yield from _started_by(own, [source, *above.get(name, ())], library, ledger)


def _warn_of_template(source: Source, prefix: str, ledger: Ledger) -> None:
    span = Span(source.name, 0, 1)
    ledger.note(
        span, source.name, Fate.DROPPED, "a template does not say which instances run", "adopt-instances-unknown"
    )
    ledger.warn(
        "adopt-instances-unknown", span, f"a template of units does not say which {prefix}@NAME run",
        f"ask the host with --from, or name a copy of it as {prefix}@NAME.service for each that systemctl list-units "
        f"'{prefix}@*' shows on the host",
    )  # fmt: skip


def _read(source: Source, unit: _Unit, library: Library, ledger: Ledger) -> None:
    section = ""
    for found in _LINE.finditer(source.text):
        line = _JOINED.sub(lambda joint: " " * len(joint[0]), found[0]).rstrip()
        header, key = _SECTION.fullmatch(line), _KEY.match(line)
        section = header[1] if header is not None else section
        start = found.start() + (key.end() if key is not None else 0)
        span = Span(source.name, start, max(found.start() + len(line), start + 1))
        if key is None and header is None:
            ledger.note(span, "a line", Fate.DROPPED, "systemd reads no setting here")
        elif key is not None and section in ("Unit", "Install") and key[1] != "Description":
            ledger.note(span, key[1], Fate.DROPPED, _LEFT)
        elif key is not None:
            value = line[key.end() :]
            known = unit.settings.setdefault(key[1], [])
            if not value or key[1] not in _LISTS:  # an empty value takes away what came before
                for before in known:
                    ledger.note(before.span, key[1], Fate.REPLACED, library.place(span))
                known.clear()
            known += [Word(value, span)] if value else []


def _started_by(unit: _Unit, sources: Sequence[Source], library: Library, ledger: Ledger) -> Iterator[Process]:
    account = Ledger()
    for source in sources:
        _read(source, unit, library, account)
    for key, words in sorted(unit.settings.items()):
        for word in words:
            fate, why = (Fate.UNDERSTOOD, "how it starts") if key in _TAKEN else (Fate.DROPPED, _LEFT)
            account.note(word.span, key, fate, why)
    variables: dict[str, Word] = {}
    for item in (item for word in unit.values("Environment") for item in split_words(word, {}, unit.known)):
        name, equals, _ = item.text.partition("=")
        replace_variables(variables, {name: item.part(len(name) + 1)} if equals else {}, library, account)
    home = variables.pop("HOME").text if "HOME" in variables else ""
    named = [
        (word.part(word.text.startswith("-")), word.text.startswith("-")) for word in unit.values("EnvironmentFile")
    ]
    read = of_files(named, library, account, variables)
    release = _RELEASE.fullmatch(unit.last("Description"))
    base = Process(
        unit.name, Span(unit.source.name, 0, 1), (), read.variables, user=unit.last("User") or "root", home=home,
        directory=unit.last("WorkingDirectory").lstrip("-~") or "/", secrets=read.secrets,
        release=release[1] if release else "", unread=tuple(read.unread), ours=unit.source.text.startswith(OURS),
    )  # fmt: skip
    processes: list[Process] = []
    for word in unit.settings.get("ExecStart", []):
        bare = word.text.lstrip("@-:+!")
        command = Word(bare, Span(word.span.source, word.span.end - len(bare), word.span.end))
        words = list(split_words(command, read.variables, unit.known))
        used = {found["name"] or found["bare"] for found in _VARIABLE.finditer(bare)}
        own = {name: value for name, value in read.variables.items() if name not in used or name.startswith("LP_")}
        processes += _started(replace(base, variables=own), words, read, library, account, unit) if words else ()
    if processes and all(isinstance(process, Other) and process.program for process in processes):
        ledger.note(Span(unit.source.name, 0, 1), unit.name, Fate.DROPPED, _ANOTHER)
        yield from (replace(process, account=account) for process in processes if isinstance(process, Other))
        return
    ledger.take(account)
    yield from processes


def _started(
    base: Process, words: list[Word], read: EnvironmentFile, library: Library, ledger: Ledger, unit: _Unit
) -> Iterator[Process]:
    span = Span(base.span.source, words[0].span.start, words[-1].span.end)
    program = words[0].text
    shell = posixpath.basename(program) in ("sh", "bash")
    base = replace(base, span=span)
    if starts_node(program, words[1:]):
        yield replace(base, words=tuple(words[1:]), program=program)
        return
    script = library.find(words[1].text if shell and len(words) > 1 else program, span.source)
    if script is not None:
        inside = read_shell(script.name, script.text, ledger, library, read.variables, base.unread).processes
    else:  # a shell with a text, or docker run
        text = " ".join("'" + word.text.replace("'", "'\\''") + "'" for word in words)
        inside = read_shell(span.source, text, ledger, library, read.variables, base.unread, lambda *_: span).processes
        if not inside and program.startswith("/") and not shell:
            yield _other(replace(base, words=tuple(words[1:]), program=program), unit)
    for process in inside:
        docker = process.runtime == "docker"
        own = process.variables if docker else {**base.variables, **process.variables}
        unread = process.unread if docker else tuple(dict.fromkeys((*base.unread, *process.unread)))
        yield replace(
            process, name=process.name or base.name, variables=own, user=process.user or base.user, unread=unread,
            home=process.home or base.home, directory=base.directory, secrets=base.secrets, caller_home=home_of(base),
        )  # fmt: skip


def _other(base: Process, unit: _Unit) -> Other:
    """The program of a unit that is no node, with the directories that it may write to."""
    paths = [item.text.lstrip("-+") for word in unit.values("ReadWritePaths") for item in split_words(word, {}, {})]
    free = base.ours and unit.last("NoNewPrivileges") != "true"  # with GPUs, a unit of fleetc may gain privileges
    mounts = tuple(Mount(path, path) for path in paths if path != base.directory)
    return replace(base, mounts=mounts, gpus="all" if free else ()).other(Ledger(), _ANOTHER)


def split_words(word: Word, variables: Mapping[str, Word], known: Mapping[str, str]) -> Iterator[Word]:
    """The words of a command line of systemd, with its quotes, escapes and variables; a variable without braces becomes
    words of its own.
    """
    for piece in cut(word.text, lambda text, _: _ESCAPE.sub(_character, text)):
        span = Span(word.span.source, word.span.start + piece.start, word.span.start + piece.end)
        alone = variables.get(piece.text[1:]) if piece.text[:1] == "$" else None
        if alone is not None and not alone.holes:
            yield from (Word(item, span, (), piece.text[1:], alone.said or alone.span) for item in alone.text.split())
            continue

        def value(found: re.Match[str], span: Span = span) -> Word:
            name = found["name"] or found["bare"]
            if name:
                return variables.get(name) or unknown(name, Word("", span))
            return Word(known[found[0]], span) if found[0] in known else Word(found[0], span, (found[0],))

        yield filled(piece.text, span, _VARIABLE, value)


def _character(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) == 3:
        return chr(int(code[1:], 16) if code[0] == "x" else int(code, 8))
    return _ESCAPES.get(code, code)
