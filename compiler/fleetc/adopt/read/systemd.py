"""Reads systemd units and their drop-ins: the node that `ExecStart` starts.

In: units by name, with the environment files among the sources. Out: a `Process` for each unit that starts a node.
Specifiers that only a running systemd knows are holes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fleetc.adopt.found.words import OURS, Fate, Ledger, Mount, Other, Process, Unread, Word, unknown
from fleetc.adopt.node.flags import holes_in, starts_node
from fleetc.adopt.node.host_paths import home_of
from fleetc.adopt.node.reading import missing
from fleetc.adopt.read.bounds import counts, of_unit
from fleetc.adopt.read.env_files import environment
from fleetc.adopt.read.library import Library
from fleetc.adopt.read.shell import read_shell
from fleetc.adopt.read.showing import harmless
from fleetc.adopt.read.unit_instances import (
    family_of,
    instance_of,
    instances_said,
    is_drop_in,
    is_link,
    specifiers,
    unit_of,
)
from fleetc.adopt.read.unit_orders import orders, orders_of
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import Source

_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9]*)[ \t]*=[ \t]*")
_SECTION = re.compile(r"[ \t]*\[([A-Za-z ]+)\][ \t]*")
_TOKEN = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?:\\.|[^\s\"'\\])+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)|\$\$")
_SPECIFIER = re.compile(r"%[a-zA-Z]|%%")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_RELEASE = re.compile(r"Livepeer .* release (v[0-9]+\.[0-9]+\.[0-9]+)")
_NONE: Mapping[str, str] = {}
_DESCRIPTIVE = frozenset({"Unit", "Install"})
HOMELESS = "a drop-in of a unit that is none of the sources"
ANOTHER_PROGRAM = "no node: this unit starts another program"
"""What the account says of such a source."""


@dataclass
class _Unit:
    """The settings of a unit with its drop-ins, in their order."""

    name: str
    source: str
    ours: bool = False
    specifiers: Mapping[str, str] = field(default_factory=dict)
    settings: dict[str, list[Word]] = field(default_factory=dict)

    def last(self, key: str) -> str:
        """The value that counts, of a setting that has one."""
        return self.filled(self.settings[key][-1].text) if self.settings.get(key) else ""

    def filled(self, text: str) -> str:
        """A text with the specifiers that follow from the name of an instance."""
        return _SPECIFIER.sub(lambda found: self.specifiers.get(found[0], found[0]), text)


def is_unit(text: str) -> bool:
    """Whether a text is a unit or a part of one; a script that writes one is none."""
    starts = re.search(r"(?m)^[ \t]*ExecStart[ \t]*=", text)
    return (starts is not None and "<<" not in text[: starts.start()]) or bool(
        re.match(r"(?s)\A(?:[ \t]*(?:[#;][^\n]*)?\n)*[ \t]*\[(?:Unit|Service|Install)\]", text)
    )


def read_units(
    sources: Sequence[Source], library: Library, ledger: Ledger, scripts: Sequence[Source] = (),
    instances: Collection[str] = (),
) -> Iterator[Process]:  # fmt: skip
    """The processes of some units. A drop-in belongs to the unit whose folder `NAME.service.d` holds it; `scripts` may
    say which instances of a template run, and `instances` are those that people name.
    """
    plain = [source for source in sources if family_of(source.name) is None]
    families: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        family = family_of(source.name)
        if family is not None:
            families.setdefault(family, []).append(source)
    units: dict[str, _Unit] = {}
    for source in sorted(plain, key=lambda one: (is_drop_in(one.name), one.name)):
        key = unit_of(source.name)
        if is_drop_in(source.name) and key not in units:
            _homeless(source, ledger)
            continue
        unit = units.setdefault(
            key, _Unit(posixpath.basename(key).removesuffix(".service"), source.name, source.text.startswith(OURS))
        )
        _read(source, unit, ledger)
    for unit in units.values():
        yield from _processes(unit, library, ledger)
    named = Source("", "\n".join(f"systemctl start {name}" for name in instances))
    said = instances_said((*sources, *scripts, named))
    for (_, prefix), found in sorted(families.items()):
        yield from _family(prefix, found, said.get(prefix, frozenset()), library, ledger)


def _homeless(source: Source, ledger: Ledger) -> None:
    ledger.note(Span(source.name, 0, 1), source.name, Fate.DROPPED, HOMELESS)


def _family(
    prefix: str, sources: Sequence[Source], said: Collection[str], library: Library, ledger: Ledger
) -> Iterator[Process]:
    """The processes of the instances of a template, each with the drop-ins of the template and its own.

    A unit of an instance replaces the template, and its drop-in one of the same name.
    """
    files = {instance_of(one.name): one for one in sorted(sources, key=lambda one: not is_link(one.name))
             if one.text and not is_drop_in(one.name)}  # fmt: skip
    template = files.pop("", None)
    names = sorted({*said, *(instance_of(one.name) for one in sources)} - {""})
    for link in (one for one in sources if is_link(one.name)):
        ledger.note(Span(link.name, 0, 1), link.name, Fate.UNDERSTOOD, "an instance that is started")
    if not names and template is not None:
        span = Span(template.name, 0, 1)
        ledger.note(span, template.name, Fate.DROPPED, "no source says which instances run", "adopt-instances-unknown")
        ledger.warn(
            "adopt-instances-unknown", span, f"this is a template of units, and no source says which {prefix}@NAME run",
            f"systemctl list-units '{prefix}@*' on the host shows them: adopt again with --instance {prefix}@NAME for "
            f"each, or with the script that says systemctl enable {prefix}@NAME, or with multi-user.target.wants",
        )  # fmt: skip
    for at, instance in enumerate(names):
        base = files.get(instance, template)
        if base is None:
            for source in sources:
                if is_drop_in(source.name) and instance_of(source.name) == instance:
                    _homeless(source, ledger)
            continue
        above = {posixpath.basename(one.name): one for wanted in ("", instance) for one in sources
                 if is_drop_in(one.name) and instance_of(one.name) == wanted}  # fmt: skip
        known = specifiers(prefix, instance)
        unit = _Unit(f"{prefix}-{instance}", base.name, base.text.startswith(OURS), known)
        account = ledger if at == 0 else Ledger()  # what all instances share is accounted for once
        for source in (base, *(above[name] for name in sorted(above))):
            _read(source, unit, account)
        yield from _processes(unit, library, account)
        if account is not ledger:
            ledger.findings += [one for one in account.findings if one not in ledger.findings]
            ledger.secrets += account.secrets
            ledger.entries += [one for one in account.entries if one not in ledger.entries]


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Logical lines with where they begin; a line that ends in a backslash goes on, past comments, in the next one."""
    start, place = 0, 0
    gathered: list[str] = []
    for raw in text.split("\n"):
        begun, place = place, place + len(raw) + 1
        line = raw.rstrip("\r")
        comment = line.lstrip()[:1] in ("#", ";")
        if gathered:
            if comment:
                gathered.append(" " * (len(raw) + 1))
                continue
        elif comment or not line.strip():
            yield line, begun
            continue
        else:
            start = begun
        if line.endswith("\\"):
            gathered.append(line[:-1] + " " * (len(raw) - len(line) + 2))
            continue
        yield "".join(gathered) + line, start
        gathered = []
    if gathered:
        yield "".join(gathered), start


def _read(source: Source, unit: _Unit, ledger: Ledger) -> None:
    section = ""
    for line, start in _lines(source.text):
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        header = _SECTION.fullmatch(line)
        if header is not None:
            section = header[1]
            continue
        key = _KEY.match(line)
        if key is None:
            span = Span(source.name, start, start + max(1, len(line)))
            ledger.note(span, "a line", Fate.DROPPED, "systemd reads no setting here")
            continue
        value = line[key.end() :].rstrip()
        begun = start + key.end()
        word = Word(value, Span(source.name, begun, begun + max(1, len(value))))
        if section in _DESCRIPTIVE and key[1] != "Description" and not said_of(key[1]):
            ledger.note(word.span, key[1], Fate.DROPPED, "fleetc writes the unit itself")
            continue
        if not value and orders(key[1]):
            continue  # systemd only ever adds to these
        if not value:
            unit.settings[key[1]] = []  # an empty value takes away what came before
            continue
        unit.settings.setdefault(key[1], []).append(word)


_TAKEN = frozenset(
    {"ExecStart", "Environment", "EnvironmentFile", "User", "WorkingDirectory", "LoadCredential", "Description"}
)


def said_of(key: str) -> bool:
    """Whether it is said what becomes of a setting of a unit in the new one."""
    return counts(key) or orders(key)


def _processes(unit: _Unit, library: Library, ledger: Ledger) -> Iterator[Process]:
    for key, words in sorted(unit.settings.items()):
        for word in words:
            fate = Fate.UNDERSTOOD if key in _TAKEN else Fate.DROPPED
            why = "how the node starts" if key in _TAKEN else "fleetc writes the unit itself"
            why += "; what differs is said" if said_of(key) else ""
            ledger.note(word.span, key, fate, why)
    variables: dict[str, Word] = {}
    secrets: dict[str, tuple[str, str]] = {}
    for word in unit.settings.get("Environment", []):
        for item in split_words(word, {}, unit.specifiers):
            name, equals, _ = item.text.partition("=")
            if equals:
                variables[name] = item.part(len(name) + 1)
    home = variables.pop("HOME").text if "HOME" in variables else ""
    unread: list[Unread] = []
    doubted = set[str]()
    for word in unit.settings.get("EnvironmentFile", []):
        path = replace(word, text=unit.filled(word.text))
        unread += _environment_file(path, library, variables, doubted, secrets, ledger)
    release = _RELEASE.fullmatch(unit.last("Description"))
    base = Process(
        unit.name, Span(unit.source, 0, 1), (), variables,
        user=unit.last("User") or "root", directory=unit.last("WorkingDirectory").lstrip("-~") or "/",
        home=home, secrets=secrets,
        release=release[1] if release else "",
        bounds=of_unit((key, word.text) for key, words in unit.settings.items() for word in words),
        unread=tuple(unread),
        orders=orders_of((key, unit.filled(word.text)) for key, words in unit.settings.items() for word in words),
    )  # fmt: skip
    filling = variables | {name: unknown(name, variables[name]) for name in doubted if not _has_flags(variables[name])}
    for word in unit.settings.get("ExecStart", []):
        words = split_words(Word(word.text.lstrip("@-:+!"), _behind(word)), filling, unit.specifiers)
        filled = {found[1] or found[2] for found in _VARIABLE.finditer(word.text)}
        own = {name: value for name, value in variables.items() if name not in filled or name.startswith("LP_")}
        if words:
            yield from _started(replace(base, variables=own), words, filling, library, ledger, unit)


def _has_flags(word: Word) -> bool:
    """Whether a value of a variable is words of a command."""
    return re.search(r"(?:^|\s)-", word.text) is not None


def _behind(word: Word) -> Span:
    cut = len(word.text) - len(word.text.lstrip("@-:+!"))
    return Span(word.span.source, word.span.start + cut, word.span.end)


def _started(
    base: Process,
    words: list[Word],
    variables: dict[str, Word],
    library: Library,
    ledger: Ledger,
    unit: _Unit,
) -> Iterator[Process]:
    span = Span(base.span.source, words[0].span.start, words[-1].span.end)
    program = words[0].text
    name = posixpath.basename(program)
    if starts_node(program, words[1:]):
        yield replace(base, span=span, words=tuple(words[1:]), program=program)
        return
    script = library.find(words[1].text if name in ("sh", "bash") and len(words) > 1 else program, span.source)
    if script is not None:
        found = read_shell(script.name, script.text, ledger, library, variables, base.unread).processes
    else:  # a shell with a text, or docker run
        text = " ".join(_quoted(word.text) for word in words)
        found = read_shell(span.source, text, ledger, library, variables, base.unread, lambda *_: span).processes
        if not found and program.startswith("/") and name not in ("sh", "bash"):
            yield _other(replace(base, span=span, words=tuple(words[1:]), program=program), unit)
    for one in found:
        own = one.variables if one.runtime == "docker" else {**base.variables, **one.variables}
        yield replace(
            one, name=one.name or base.name, variables=own, user=one.user or base.user, home=one.home or base.home,
            directory=base.directory, secrets=base.secrets, caller_home=home_of(base),
            bounds=one.bounds if one.runtime == "docker" else base.bounds,
            unread=one.unread if one.runtime == "docker" else tuple(dict.fromkeys((*base.unread, *one.unread))),
            orders=base.orders,
        )  # fmt: skip


def _other(base: Process, unit: _Unit) -> Other:
    """The program of a unit that is no node, with the directories that it may write to."""
    paths = [
        item.text.lstrip("-+") for word in unit.settings.get("ReadWritePaths", []) for item in split_words(word, {})
    ]
    free = unit.ours and unit.last("NoNewPrivileges") != "true"  # with GPUs, a unit of fleetc may gain privileges
    values = {key: getattr(base, key) for key in Process.__dataclass_fields__}
    values["mounts"] = tuple(Mount(path, path) for path in paths if path != base.directory)
    return Other(**values, why=ANOTHER_PROGRAM, gpus="all" if free else ())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


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
    if source is None and (source := library.renamed(path, word.span.source)) is not None:
        name = f"{leaks.shown(source.name)} is taken for it, by its name"
        ledger.note(word.span, "EnvironmentFile", Fate.UNDERSTOOD, name)
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


def split_words(word: Word, variables: dict[str, Word], known: Mapping[str, str] = _NONE) -> list[Word]:
    """The words of a command line of systemd, with its quotes, escapes and variables."""
    found: list[Word] = []
    pieces: list[str] = []
    begun = end = -1

    def close() -> None:
        if begun < 0:
            return
        raw = "".join(pieces)
        span = Span(word.span.source, word.span.start + begun, word.span.start + end)
        found.extend(_filled(raw, span, variables, known))

    for token in _TOKEN.finditer(word.text):
        if token.start() != end:
            close()
            pieces, begun = [], token.start()
        text = token[0]
        quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        pieces.append(_unescaped(text[1:-1] if quoted else text))
        end = token.end()
    close()
    return found


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] == "x" and len(code) == 3:
            return chr(int(code[1:], 16))
        if len(code) == 3 and code.isdigit():
            return chr(int(code, 8))
        return _ESCAPES.get(code, code)

    return _ESCAPE.sub(one, text) if "\\" in text else text


def _filled(raw: str, span: Span, variables: dict[str, Word], known: Mapping[str, str]) -> list[Word]:
    holes: list[str] = []
    alone = re.fullmatch(r"\$([A-Za-z_][A-Za-z0-9_]*)", raw)
    if alone is not None and alone[1] in variables:
        said = variables[alone[1]]
        return [Word(item, span, (), alone[1], said.said or said.span) for item in said.text.split()]

    def variable(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        name = found[1] or found[2]
        if name in variables:
            holes.extend(variables[name].holes)
            return variables[name].text
        holes.append("${" + name + "}")
        return "${" + name + "}"

    def specifier(found: re.Match[str]) -> str:
        if found[0] == "%%" or found[0] in known:
            return known.get(found[0], "%")
        holes.append(found[0])
        return found[0]

    text = _SPECIFIER.sub(specifier, _VARIABLE.sub(variable, raw))
    holes += [hole for hole in holes_in(text) if hole not in holes]
    lone = re.fullmatch(r"(?:-[^=$]*=)?\$\{([A-Za-z_][A-Za-z0-9_]*)\}", raw)
    value = variables.get(lone[1]) if lone is not None else None
    if lone is None or value is None:
        named = {found[1] or found[2] for found in _VARIABLE.finditer(raw)} & variables.keys()
        hidden = [variables[name] for name in named if not harmless(variables[name])]
        place = (hidden[0].said or hidden[0].span) if len(hidden) == 1 else None
        return [Word(text, span, tuple(holes), said=place)]
    return [Word(text, span, tuple(holes), lone[1], value.said or value.span)]
