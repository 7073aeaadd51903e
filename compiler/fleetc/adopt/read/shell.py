"""Reads scripts of plain commands, and finds the nodes that they start. A script is read, never run.

In: text. Out: `ShellText`. Branches, loops and functions are not followed: a variable that they set has no known value
behind them, and one message names each that may matter to a node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from posixpath import basename, join, normpath

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process, Unread, Word, unknown
from fleetc.adopt.node.flags import TYPES, starts_node
from fleetc.adopt.node.secrets import file_name
from fleetc.adopt.node.settings import missing
from fleetc.adopt.read import shell_words as grammar
from fleetc.adopt.read.docker_run import docker_process
from fleetc.adopt.read.shell_words import Places, ShellError, Values
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t\r]|\\\r?\n)++)|(?P<comment>#[^\n]*)"
    r"|(?P<operator>&&|\|\||\|&|;;&?|;&|<<<|<<-?|&>>?|[0-9]?(?:[<>]&(?:[0-9]+-?|-)?|>>|>\||<>|[<>])|[;&|()\n])"
)
_FIRST = re.compile(
    r"(?P<function>(?:(?:function[ \t]++)?([A-Za-z_][\w.:-]*+)[ \t]*+\(\s*+\)|function[ \t]++(\S++))(?:\s|#.*)*+[{(])"
    r"|(?P<keyword>(?:if|case|for|while|until|select|then|do|else|elif|fi|done|esac|[{}!])(?=[ \t\r\n;&|()<>]))|"
    + _TOKEN.pattern
)
"""The same where a command begins."""
_OPENS = dict.fromkeys(("for", "while", "until", "select"), ("done", "a loop")) | {
    "if": ("fi", "a branch"), "case": ("esac", "a branch"), "{": ("}", ""), "(": (")", ""),
}  # fmt: skip
_DELIMITER = re.compile(r"[ \t]*(['\"\\]?)([^\s;&|<>()'\"\\]+)['\"]?")
_BETWEEN_ITEMS = re.compile(r"(?:\s|\\\r?\n|#[^\n]*|[;&|<>(])++")
_TEST = re.compile(r"\[\[?$|test$|\(\(")
_EXPORTS = frozenset({"export", "declare", "readonly", "typeset", "local"})
_SETS = frozenset({"read", "mapfile", "readarray", "getopts", "let", "unset"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "su", "runuser"})
_RUNS = frozenset({"ssh", "tmux", "screen", "xargs", "eval"})
_TALKS = frozenset({"echo", "printf", "cat", "grep", "pgrep", "pkill", "killall", "ps", "sed", "awk", "which"})
"""Programs whose words start nothing."""
_DEEPEST = 20
_NONE: Mapping[str, Word] = {}
_OF_TEXT = ("source", "place", "around", "doubt", "pipe", "heredoc", "cut")
_OF_SHELL = ("variables", "arrays", "exported", "directory")
Doubt = tuple[str, Span]
"""What is not followed, and where it begins."""


@dataclass
class ShellText:
    """Processes, and the files that the text writes."""

    processes: list[Process] = field(default_factory=list)
    written: list[Source] = field(default_factory=list)


def read_shell(
    source: str, text: str, ledger: Ledger, library: Library, variables: Mapping[str, Word] = _NONE,
    unread: tuple[Unread, ...] = (), place: Places | None = None,
) -> ShellText:  # fmt: skip
    """Read a script or a command. `library` has the files that it may name, `unread` may have set any variable before
    it starts. `place` says where its characters stand, if it is a part of `source`.
    """
    reader = _Reader(
        place or partial(Span, source), dict(variables), doubtful=bool(unread), source=source, ledger=ledger,
        library=library, unread=unread, given=variables, exported=set(variables),
    )  # fmt: skip
    try:
        reader.read(text)
    except ShellError as problem:
        message, start, cut = problem.args
        span = reader.place(start, start + 1)
        if cut:
            ledger.not_followed(span, f"the script from here on, because {message}")
        else:
            advice = "close the quote, or give the command without what is around it"
            ledger.refuse("adopt-source-unreadable", span, f"this is no shell text: {message}", advice)
    return reader.found


@dataclass
class _Command:
    """A simple command of a text: where it stands, its words, what it assigns, and the files that it writes."""

    start: int = 0
    stop: int = 0
    head: str = ""
    words: list[Word] = field(default_factory=list)
    assigned: list[tuple[re.Match[str], list[Word]]] = field(default_factory=list)
    outputs: list[Word] = field(default_factory=list)
    target: str = ""


@dataclass(kw_only=True)
class _Reader(Values):
    """`doubt` is what the text is read in that is not followed, and `doubts` that of the variables which it sets."""

    source: str
    ledger: Ledger
    library: Library
    unread: tuple[Unread, ...]
    given: Mapping[str, Word]
    exported: set[str]
    exports: bool = False
    found: ShellText = field(default_factory=ShellText)
    directory: str = ""
    functions: set[str] = field(default_factory=set)
    """Functions, and the variables that they set."""
    doubt: Doubt | None = None
    doubts: dict[str, Doubt] = field(default_factory=dict)
    around: tuple[str, ...] = ()
    command: _Command = field(default_factory=_Command)
    pipe: str = ""
    heredoc: str | None = None
    cut: bool = False

    def read(self, text: str) -> None:
        """Read all commands of a text."""
        self.take(len(text))
        text, self.pipe, self.heredoc = f"{text}\n", "", None
        levels: list[tuple[str, Doubt | None, Doubt | None, str, dict[str, Word]]] = []
        maybe: Doubt | None = None
        place = begun = behind = 0
        comment = joins = False
        while place < len(text):
            command = self.command
            free = not command.head and not command.assigned
            match = None if grammar.PLACEHOLDER.match(text, place) else (_FIRST if free else _TOKEN).match(text, place)
            kind, word = (match.lastgroup, match[0]) if match else ("", "")
            if kind == "blank":
                place += len(word)
            elif kind == "comment":
                comment = comment or (not free and "\n" in text[command.stop : place])  # the line before went on
                place += len(word)
            elif kind == "function" or (free and word in _OPENS):
                span = self.place(place, place + len(word))
                closes, what = _OPENS.get(word) or (_OPENS[word[-1]][0], "a function")
                levels.append((closes, self.doubt, maybe, self.directory, self.variables))
                self.take(len(self.variables) if closes == ")" else 0)
                self.variables = dict(self.variables) if closes == ")" else self.variables
                self.functions |= {*filter(None, match.groups()[1:3])} if match and kind == "function" else set()
                self.doubt, maybe = self.doubt or maybe or ((what, span) if what else None), None
                if self.doubt:
                    why = "not followed: only a running shell decides it"
                    self.ledger.note(self.doubt[1], self.doubt[0], Fate.DROPPED, why)
                command.head = word if word in ("for", "select", "case") else ""
                place += len(word)
            elif word in ("<<", "<<-") and (delimiter := _DELIMITER.match(text, place + len(word))):
                place = delimiter.end()
                first = behind or (grammar.LINE.match(text, place) or delimiter).end() + 1
                tabs = "\t*" if word == "<<-" else ""
                last = re.compile(f"^{tabs}{re.escape(delimiter[2])}\r?$", re.MULTILINE).search(text, first)
                stop, behind = (last.start(), last.end() + 1) if last else (len(text), len(text))
                body = re.sub("(?m)^\t+", "", text[first:stop]) if tabs else text[first:stop]
                self.pipe += text[first:stop]
                self.heredoc = body if delimiter[1] else self.heredoc_text(body)
            elif kind == "operator" and ("<" in word or ">" in word):
                command.target = word if word.endswith(("<", ">", "<&", ">&", ">|")) else ""
                place += len(word)
            elif not match:
                command.start = place if free else command.start
                place = command.stop = self._word(text, place, command)
            else:
                self.at = command.start
                self.take(len(self.pipe))
                self.pipe += text[begun:place]
                doubt, self.doubt, self.command = self.doubt, self.doubt or maybe, _Command()
                self._run(text, command)
                self.doubt, (self.cut, comment) = doubt, (self.cut, comment) if free else (comment, False)
                joins = word in ("&&", "||", "|", "|&", "!") or (joins and free and word == "\n")
                if word == "||" or (word == "&&" and _TEST.match(command.head)):
                    maybe = maybe or ("a branch", self.place(place, place + len(word)))
                maybe = maybe if joins else None
                if word not in ("|", "|&") and not (joins and word == "\n"):
                    self.pipe, self.heredoc = "", None
                place += len(word)
                if levels and word == levels[-1][0]:
                    _, self.doubt, maybe, directory, variables = levels.pop()
                    if word == ")":
                        self.directory, self.variables = directory, variables
                if word == "\n" and behind:
                    place, behind = behind, 0
                begun = place

    def _word(self, text: str, place: int, command: _Command) -> int:
        """Take one word of a command; where it ends."""
        sign = grammar.ASSIGNMENT.match(text, place)
        if sign and command.head in ("", *_EXPORTS):
            words, stop = ([], sign.end()) if sign[4] else self.words(text, sign.end(), whole=True)
            while sign[4] and not text.startswith(")", stop):
                if stop >= len(text):
                    raise ShellError("an array is never closed", place, False)
                between = _BETWEEN_ITEMS.match(text, stop)
                more, stop = ([], between.end()) if between else self.words(text, stop)
                words = words + more
            command.assigned.append((sign, words))
            return stop + len(sign[4])
        words, stop = self.words(text, place)
        if command.target:
            command.outputs += words if command.target in (">", ">>", ">|") else []
            command.target = ""
        else:
            command.words += words
            command.head = command.head or text[place:stop]
        return stop

    def _inside(self, text: str, script: str, start: int, stop: int) -> tuple[str, Places]:
        """A text that a shell makes of a piece of a script, with its places: its own, or all of that piece."""
        place, at = self.place, script.find(text, start, stop)
        return text, (lambda begin, end: place(at + begin, at + end)) if at >= 0 else lambda *_: place(start, stop)

    def _unknown(self, name: str, span: Span) -> None:
        """A variable gets a value that only a running shell knows."""
        self.variables[name] = unknown(name, Word("", span))
        self.arrays.pop(name, None)
        if self.doubt:
            self.doubts[name] = self.doubt
            self.functions |= {name} if self.doubt[0] == "a function" else set()

    def _forget(self, unread: Unread) -> None:
        """Something that is no source may set any variable."""
        self.unread += (unread,)
        self.doubtful, self.arrays = True, {}
        self.variables = {name: unknown(name, word) for name, word in self.variables.items()}

    def _assign(self, sign: re.Match[str], words: list[Word]) -> None:
        name, span = sign[1], self.place(*sign.span())
        if self.doubt or sign[2] or name in self.functions:
            self._unknown(name, span)
            return
        self.ledger.note(span, name, Fate.UNDERSTOOD, "a variable, filled in where it is used")
        self.exported |= {name} if self.exports else set()
        before, items = self.variables.pop(name, None), self.arrays.pop(name, [])
        if sign[4]:
            self.take(len(items))
            self.arrays[name] = [*(items or filter(None, [before]) if sign[3] == "+=" else []), *words]
            return
        text, holes = (before.text, before.holes) if before and sign[3] == "+=" else ("", ())
        word = replace(words[0], text=text + words[0].text, holes=holes + words[0].holes)
        self.variables[name] = word

    def _source(self, word: Word) -> None:
        """`. FILE`: as if its text stood there, if it is among the sources."""
        source = self.library.find(word.text, self.source)
        if source is None:
            self._forget(missing(word, "the file that this script reads", self.ledger, bool(self.doubt)))
        elif self.doubt:
            self._forget(Unread(word.span, file_name(word.text), optional=True))
        elif source.name in (self.source, *self.around):
            self.ledger.not_followed(word.span, "a script that reads itself")
        else:
            self.ledger.note(word.span, file_name(word.text), Fate.UNDERSTOOD, "a script that this one reads")
            self._within(source.text, partial(Span, source.name), source.name)

    def _within(self, text: str, place: Places, source: str, own: dict[str, Word] | None = None) -> None:
        """Read a text that this one reads, or that another shell runs with variables of its `own`."""
        outer = {name: getattr(self, name) for name in (*_OF_TEXT, *(_OF_SHELL if own is not None else ()))}
        self.source, self.place, self.around = source, place, (*self.around, self.source)
        if len(self.around) > _DEEPEST:
            raise ShellError("its texts are nested too deeply", self.at, True)
        if own is not None:
            self.exported, self.arrays = self.exported | own.keys(), {}
            self.variables = {name: word for name, word in (self.variables | own).items() if name in self.exported}
        self.read(text)
        for name, value in outer.items():
            setattr(self, name, value)

    def _run(self, text: str, command: _Command) -> None:
        if command.head in ("", *_EXPORTS):
            for sign, words in command.assigned if command.head != "local" else ():
                self._assign(sign, words)
            rest = command.words[1:]
            if command.head == "export" or any(re.match("-[a-zA-Z]*x", word.text) for word in rest):
                self.exported |= {*(sign[1] for sign, _ in command.assigned), *(word.text for word in rest)}
            for word in (word for word in rest if word.holes):  # export $(cat FILE)
                self._forget(Unread(word.span, "what a command prints"))
        elif command.head in ("for", "select") and command.words:
            self._unknown(command.words[0].text, command.words[0].span)
        elif command.words and not _TEST.match(command.head):
            self._start(text, command, {sign[1]: words[0] for sign, words in command.assigned if words})

    def _start(self, text: str, command: _Command, own: dict[str, Word]) -> None:
        at, user = grammar.behind_wrappers(command.words, own)
        words, span = command.words[at:], self.place(command.start, command.stop)
        first, base = words[0].text, basename(words[0].text)
        begun = len(self.found.processes)
        inner = grammar.inner_text(words) if base in _SHELLS else 0
        run = 1 + (len(words) > 1 and words[1].text == "container")
        if base in (".", "source") and len(words) > 1:
            self._source(words[1])
        elif base in ("cd", "pushd", "popd"):
            self.directory = "" if self.doubt else grammar.directory_after(words, self.directory)
        elif first == "set":
            self.exports = any(re.match("-[a-z]*a|allexport", word.text) for word in words[1:])
        elif first in _SETS:
            for word in words[1:]:
                self._unknown(word.text, word.span)
        elif base in ("docker", "podman") and len(words) > run and words[run].text in ("run", "create"):
            account = Ledger() if self.doubt else self.ledger
            process = docker_process(words[run + 1 :], span, self._environment(own), account, self.library)
            if process is None:
                self._other(words, base, span)
            else:
                self._node(process, words)
        elif inner:
            user = grammar.user_of(words) if base in ("su", "runuser") else user
            self._within(*self._inside(words[inner].text, text, command.start, command.stop), self.source, own)
        elif first not in self.functions and starts_node(first, words[1:]):
            below = "/" in first and not words[0].holes and self.directory.startswith("/")
            path = normpath(join(self.directory, first)) if below else first
            given = self._environment(own)
            self._node(Process("", span, tuple(words[1:]), given, program=path, unread=self.unread), words)
        elif command.head[0] == "-" and first.lstrip("-").partition("=")[0] in TYPES:
            self._loose(words, span)
        elif base in ("cat", "tee") and self.heredoc and (command.outputs or base == "tee"):
            self._write([*command.outputs, *(words[1:] if base == "tee" else [])], self.heredoc)
        else:
            self._other(words, base, span)
        for at, one in enumerate(self.found.processes[begun:], begun):
            self.found.processes[at] = replace(one, user=one.user or user) if one.runtime == "systemd" else one

    def _environment(self, own: dict[str, Word]) -> dict[str, Word]:
        """What a process gets from the script, beside what that was given itself."""
        self.take(len(self.exported))
        exported = {name: self.variables[name] for name in sorted(self.exported & self.variables.keys())}
        return {name: word for name, word in exported.items() if self.given.get(name) is not word} | own

    def _node(self, process: Process, words: Sequence[Word]) -> None:
        """A process that a command starts."""
        names = [re.sub(r"^\W*|\W.*", "", hole) for word in words for hole in word.holes]
        for what, span in [self.doubt] if self.doubt else [self.doubts[name] for name in names if name in self.doubts]:
            self.ledger.not_followed(span, what)
        if not self.doubt:
            self.found.processes.append(replace(process, directory=self.directory))

    def _loose(self, words: list[Word], span: Span) -> None:
        """Flags without a program: all of a text, or the rest of a command that a comment cut."""
        started = self.found.processes
        fragment = not started or (not started[-1].program and started[-1].runtime == "systemd")
        started += [] if started else [Process("", span, ())]
        if fragment or self.cut:
            started[-1] = replace(started[-1], words=(*started[-1].words, *words))
        if not fragment:
            adopted = "they are adopted as they were meant: remove the comment lines in the command"
            self.ledger.mistake(
                "adopt-command-cut", span, words[0].text.partition("=")[0],
                "these flags are outside the command: the node never gets them",
                adopted if self.cut else "if they belong to it, end the line before them with a backslash",
            )  # fmt: skip

    def _write(self, paths: Sequence[Word], heredoc: str) -> None:
        """A file whose text stands in the script: it is a source of its own."""
        if self.doubt and grammar.NODE.search(heredoc):
            self.ledger.not_followed(self.doubt[1], self.doubt[0])
        for path in paths if not self.doubt else ():
            if not path.text.startswith(("-", "/dev/null")):
                self.ledger.note(path.span, file_name(path.text), Fate.UNDERSTOOD, "a file that the script writes")
                source = Source(f"{self.source}/{path.text.lstrip('/')}", heredoc)
                self.found.written.append(source)
                self.library.add(source)

    def _other(self, words: Sequence[Word], base: str, span: Span) -> None:
        """A command that starts no node, as far as fleetc can see."""
        loose = base in _RUNS or (base in _SHELLS and self.heredoc is not None)
        if (loose and grammar.NODE.search(self.pipe)) or (base not in _TALKS and any(grammar.node_commands(self.pipe))):
            self.ledger.not_followed(span, "what this command runs")
        elif not self.doubt:
            self.ledger.note(span, "a command", Fate.DROPPED, "no node: fleetc starts and prepares nodes itself")
