"""Reads systemd units with their drop-ins, and the instances of templates: the node that `ExecStart` starts.

In: units by name, with the environment files among the sources. Out: a `Process` for each unit that starts a node.
Specifiers that only a running systemd knows are holes. An instance is known by the name of a file or of a link.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Mount, Other, Process, Unread
from fleetc.adopt.found.words import OURS, Word, unknown
from fleetc.adopt.node.flags import starts_node
from fleetc.adopt.node.host_paths import home_of
from fleetc.adopt.node.reading import missing
from fleetc.adopt.read.command_words import cut, filled, started_inside
from fleetc.adopt.read.env_files import environment
from fleetc.adopt.read.shell import read_shell
from fleetc.adopt.read.showing import harmless
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import Source

_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9]*)[ \t]*=[ \t]*")
_SECTION = re.compile(r"[ \t]*\[([A-Za-z ]+)\][ \t]*")
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|\$(?P<bare>[A-Za-z_][A-Za-z0-9_]*)|\$\$|%[a-zA-Z%]")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_RELEASE = re.compile(r"Livepeer .* release (v[0-9]+\.[0-9]+\.[0-9]+)")
_UNIT = re.compile(r"([A-Za-z0-9:_.\\-]+)@([A-Za-z0-9:_.\\-]*)\.service")
_TAKEN = frozenset({"ExecStart", "Environment", "EnvironmentFile", "User", "WorkingDirectory", "Description"})
_LISTS = frozenset({"ExecStart", "Environment", "EnvironmentFile", "ReadWritePaths"})
"""Settings of which all count that follow an empty one; of others the last one does."""
_LEFT = "fleetc writes its own unit"


class _Part(NamedTuple):
    """A source of a unit: the folder of units that it is in, the name of the unit, and whether it is a drop-in or a
    link by which the unit starts.
    """

    folder: str
    unit: str
    kind: str
    source: Source


@dataclass
class _Unit:
    """The settings of a unit with its drop-ins, in their order."""

    name: str
    source: Source
    specifiers: Mapping[str, str]
    settings: dict[str, list[Word]] = field(default_factory=dict)

    def last(self, key: str) -> str:
        """The value that counts, of a setting that has one."""
        return self.filled(self.settings[key][-1]).text if self.settings.get(key) else ""

    def filled(self, word: Word) -> Word:
        """A word with the specifiers that follow from the name of an instance."""
        return replace(word, text=re.sub("%.", lambda found: self.specifiers.get(found[0], found[0]), word.text))


def is_unit(source: Source) -> bool:
    """Whether a source is a unit or a part of one; a script that writes one is none."""
    text = source.text
    starts = re.search(r"(?m)^[ \t]*ExecStart[ \t]*=", text)
    return (
        _part(source).kind == "link"
        or (starts is not None and "<<" not in text[: starts.start()])
        or bool(re.match(r"(?s)\A(?:[ \t]*(?:[#;][^\n]*)?\n)*[ \t]*\[(?:Unit|Service|Install)\]", text))
    )


def _part(source: Source) -> _Part:
    folder, base = posixpath.split(source.name)
    above, parent = posixpath.split(folder)
    if parent.endswith(".service.d"):
        return _Part(above, parent.removesuffix(".d"), "drop-in", source)
    if parent.endswith((".wants", ".requires")) and base.endswith(".service"):
        return _Part(above, base, "link", source)
    return _Part(folder, base, "unit", source)


def read_units(sources: Sequence[Source], library: Library, ledger: Ledger) -> Iterator[Process]:
    """The processes of some units, each with the drop-ins in the folder `NAME.service.d` and those of its template; of
    two with one file name, that of an instance counts.
    """
    units: dict[tuple[str, str], list[_Part]] = {}
    for part in map(_part, sources):
        units.setdefault((part.folder, part.unit), []).append(part)
    files = {name: part.source for name, parts in units.items() for part in parts if part.kind == "unit"}
    instances = {name: found for name in units if (found := _UNIT.fullmatch(name[1])) is not None}
    started = {(name[0], found[1]) for name, found in instances.items() if found[2]}
    for (folder, unit), parts in sorted(units.items()):
        instance = instances.get((folder, unit))
        if instance is not None and not instance[2]:
            if (folder, unit) in files and (folder, instance[1]) not in started:
                _warn_of_template(files[folder, unit], instance[1], ledger)
            continue
        template = units.get((folder, f"{instance[1]}@.service"), []) if instance is not None else []
        base = files.get((folder, unit)) or next((part.source for part in template if part.kind == "unit"), None)
        above = {posixpath.basename(part.source.name): part.source
                 for part in (*template, *parts) if part.kind == "drop-in"}  # fmt: skip
        fate = Fate.UNDERSTOOD if base is not None else Fate.DROPPED
        for part in parts:
            if part.kind == "link" or base is None:
                why = "it starts with its host" if base is not None else "its unit is none of the sources"
                ledger.note(Span(part.source.name, 0, 1), part.source.name, fate, why)
        if base is not None:
            known = _specifiers(instance[1], instance[2]) if instance is not None else {}
            called = f"{instance[1]}-{instance[2]}" if instance is not None else unit.removesuffix(".service")
            yield from _started_by(
                _Unit(called, base, known), [base, *(above[n] for n in sorted(above))], library, ledger
            )


def _warn_of_template(source: Source, prefix: str, ledger: Ledger) -> None:
    span = Span(source.name, 0, 1)
    ledger.note(span, source.name, Fate.DROPPED, "no source says which instances run", "adopt-instances-unknown")
    ledger.warn(
        "adopt-instances-unknown", span, f"this is a template of units, and no source says which {prefix}@NAME run",
        f"name a copy of it as {prefix}@NAME.service for each that systemctl list-units '{prefix}@*' shows on the "
        "host, or name multi-user.target.wants too, or ask the host with --from",
    )  # fmt: skip


def _specifiers(prefix: str, instance: str) -> Mapping[str, str]:
    """What the specifiers of an instance stand for that follow from its name."""
    unit = f"{prefix}@{instance}"
    plain = _ESCAPE.sub(_character, instance.replace("-", "/"))
    return {"%i": instance, "%I": plain, "%n": f"{unit}.service", "%N": unit, "%p": prefix}


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Logical lines with where they begin; a line that ends in a backslash goes on, past comments, in the next one."""
    start, place = 0, 0
    gathered: list[str] = []
    for raw in text.split("\n"):
        begun, place = place, place + len(raw) + 1
        line = raw.rstrip("\r")
        if line.lstrip()[:1] in ("#", ";") or (not gathered and not line.strip()):
            gathered += [" " * (len(raw) + 1)] if gathered else []
            continue
        start = start if gathered else begun
        gathered.append(line.removesuffix("\\") + " " * (len(raw) - len(line) + 2 * line.endswith("\\")))
        if not line.endswith("\\"):
            yield "".join(gathered), start
            gathered = []
    if gathered:
        yield "".join(gathered), start


def _read(source: Source, unit: _Unit, library: Library, ledger: Ledger) -> None:
    section = ""
    for line, start in _lines(source.text):
        header, key = _SECTION.fullmatch(line), _KEY.match(line)
        if header is not None or key is None:
            section = header[1] if header is not None else section
            if header is None:
                span = Span(source.name, start, start + max(1, len(line)))
                ledger.note(span, "a line", Fate.DROPPED, "systemd reads no setting here")
            continue
        value = line[key.end() :].rstrip()
        begun = start + key.end()
        word = Word(value, Span(source.name, begun, begun + max(1, len(value))))
        if section in ("Unit", "Install") and key[1] != "Description":
            ledger.note(word.span, key[1], Fate.DROPPED, _LEFT)
            continue
        known = unit.settings.setdefault(key[1], [])
        if not value or key[1] not in _LISTS:  # an empty value takes away what came before
            for before in known:
                ledger.note(before.span, key[1], Fate.REPLACED, library.place(word.span))
            known.clear()
        known += [word] if value else []


def _started_by(unit: _Unit, sources: Sequence[Source], library: Library, ledger: Ledger) -> Iterator[Process]:
    account = Ledger()
    for source in sources:
        _read(source, unit, library, account)
    for key, words in sorted(unit.settings.items()):
        for word in words:
            taken = key in _TAKEN
            account.note(
                word.span, key, Fate.UNDERSTOOD if taken else Fate.DROPPED, "how it starts" if taken else _LEFT
            )
    variables: dict[str, Word] = {}
    secrets: dict[str, tuple[str, str]] = {}
    for word in unit.settings.get("Environment", []):
        for item in split_words(word, {}, unit.specifiers):
            name, equals, _ = item.text.partition("=")
            if name in variables and equals:
                account.note(variables[name].span, name, Fate.REPLACED, library.place(item.span))
            variables |= {name: item.part(len(name) + 1)} if equals else {}
    home = variables.pop("HOME").text if "HOME" in variables else ""
    unread: list[Unread] = []
    doubted = set[str]()
    for word in unit.settings.get("EnvironmentFile", []):
        unread += _environment_file(unit.filled(word), library, variables, doubted, secrets, account)
    ours, release = unit.source.text.startswith(OURS), _RELEASE.fullmatch(unit.last("Description"))
    base = Process(
        unit.name, Span(unit.source.name, 0, 1), (), variables, user=unit.last("User") or "root", home=home,
        directory=unit.last("WorkingDirectory").lstrip("-~") or "/", secrets=secrets,
        release=release[1] if release else "", unread=tuple(unread), ours=ours,
    )  # fmt: skip
    filling = variables | {name: unknown(name, variables[name]) for name in doubted if not _has_flags(variables[name])}
    processes: list[Process] = []
    for word in unit.settings.get("ExecStart", []):
        bare = word.text.lstrip("@-:+!")
        behind = Span(word.span.source, word.span.end - len(bare), word.span.end)
        words = list(split_words(Word(bare, behind), filling, unit.specifiers))
        used = {found["name"] or found["bare"] for found in _VARIABLE.finditer(word.text)}
        own = {name: value for name, value in variables.items() if name not in used or name.startswith("LP_")}
        if words:
            processes += _started(replace(base, variables=own), words, filling, library, account, unit)
    if processes and all(isinstance(process, Other) and process.program for process in processes):
        why = "no node: this unit starts another program"
        ledger.note(Span(unit.source.name, 0, 1), unit.name, Fate.DROPPED, why)
        yield from (replace(process, account=account, why=why) for process in processes if isinstance(process, Other))
        return
    ledger.take(account)
    yield from processes


def _has_flags(word: Word) -> bool:
    """Whether a value of a variable is words of a command."""
    return re.search(r"(?:^|\s)-", word.text) is not None


def _started(
    base: Process, words: list[Word], variables: dict[str, Word], library: Library, ledger: Ledger, unit: _Unit
) -> Iterator[Process]:
    span = Span(base.span.source, words[0].span.start, words[-1].span.end)
    program = words[0].text
    shell = posixpath.basename(program) in ("sh", "bash")
    if starts_node(program, words[1:]):
        yield replace(base, span=span, words=tuple(words[1:]), program=program)
        return
    script = library.find(words[1].text if shell and len(words) > 1 else program, span.source)
    if script is not None:
        inside = read_shell(
            script.name, script.text, ledger, dict(variables), library, starts_beside=not base.directory,
            unread=base.unread,
        ).processes  # fmt: skip
    else:  # a shell with a text, or docker run
        text = " ".join("'" + word.text.replace("'", "'\\''") + "'" for word in words)
        inside = started_inside(text, span, variables, library, ledger, base.unread)
        if not inside and program.startswith("/") and not shell:
            yield _other(replace(base, span=span, words=tuple(words[1:]), program=program), unit)
    for process in inside:
        docker = process.runtime == "docker"
        own = process.variables if docker else {**base.variables, **process.variables}
        yield replace(
            process, name=process.name or base.name, variables=own,
            user=process.user or base.user, home=process.home or base.home, directory=base.directory,
            secrets=base.secrets, caller_home=home_of(base),
            unread=process.unread if docker else tuple(dict.fromkeys((*base.unread, *process.unread))),
        )  # fmt: skip


def _other(base: Process, unit: _Unit) -> Other:
    """The program of a unit that is no node, with the directories that it may write to."""
    written = [
        item.text.lstrip("-+") for word in unit.settings.get("ReadWritePaths", []) for item in split_words(word, {}, {})
    ]
    free = base.ours and unit.last("NoNewPrivileges") != "true"  # with GPUs, a unit of fleetc may gain privileges
    values = {key: getattr(base, key) for key in Process.__dataclass_fields__}
    values["mounts"] = tuple(Mount(path, path) for path in written if path != base.directory)
    return Other(**values, gpus="all" if free else ())


def _environment_file(
    word: Word, library: Library, variables: dict[str, Word], doubted: set[str], secrets: dict[str, tuple[str, str]],
    ledger: Ledger,
) -> tuple[Unread, ...]:  # fmt: skip
    """Take the variables of a file, which replace those before it. One that is none of the sources comes back: then all
    of these are `doubted`, because it comes after them.
    """
    optional = word.text.startswith("-")
    path = word.text.lstrip("-")
    source = library.find(path, word.span.source)
    if source is None:
        if secrets and "secret" in path:
            return ()
        unread = missing(Word(path, word.span), "the environment file", ledger, optional)
        doubted.update(variables)
        lost = (name for name in list(variables) if not optional or name.startswith("LP_"))
        variables |= {name: unknown(name, variables[name]) for name in lost}
        return (unread,)
    read = environment(source.name, source.text)
    for span in read.odd:
        ledger.note(span, "a line", Fate.DROPPED, "it sets no variable")
    for name, value in read.variables.items():
        before = variables.get(name)
        if before is not None and before.text != value.text:
            if leaks.names_secret(name) or not harmless(before):
                ledger.secrets.append(before.span)
            ledger.mistake(
                "adopt-setting-overridden", before.span, leaks.shown(name),
                f"systemd does not use this value of {leaks.shown(name)}: an environment file comes after it",
                f"the one that counts is in {leaks.shown(source.name)}; change it there, or remove this one",
            )  # fmt: skip
    variables |= read.variables
    doubted.difference_update(read.variables)
    secrets |= read.secrets
    return ()


def split_words(word: Word, variables: Mapping[str, Word], known: Mapping[str, str]) -> Iterator[Word]:
    """The words of a command line of systemd, with its quotes, escapes and variables; a variable without braces becomes
    words of its own.
    """
    for piece in cut(word.text, lambda text, _: _ESCAPE.sub(_character, text) if "\\" in text else text):
        span = Span(word.span.source, word.span.start + piece.start, word.span.start + piece.end)
        alone = variables.get(piece.text[1:]) if piece.text[:1] == "$" else None
        if alone is not None:
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
