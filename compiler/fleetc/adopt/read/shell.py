"""Reads shell commands and scripts, and finds the node processes that they start. A script is read, never run.

In: text. Out: `Process`es, files that heredocs would write, and the account of all other commands. Variables with known
values are filled in; the branch of an `if` is followed where the script itself decides it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process, Unread
from fleetc.adopt.found.words import Word
from fleetc.adopt.node.flags import starts_node
from fleetc.adopt.node.secrets import file_name
from fleetc.adopt.node.settings import missing
from fleetc.adopt.read.docker_run import docker_process
from fleetc.adopt.read.env_files import environment
from fleetc.adopt.read.shell_account import note_other, note_passed_over
from fleetc.adopt.read.shell_branches import Level
from fleetc.adopt.read.shell_cut import loose
from fleetc.adopt.read.shell_found import Function, ShellText, function_body, function_name, is_script
from fleetc.adopt.read.shell_input import SHELLS, Inputs, note_unread, passed_on, script_of, written_script
from fleetc.adopt.read.shell_places import mover
from fleetc.adopt.read.shell_redirections import note_redirections, without_redirections
from fleetc.adopt.read.shell_state import MANY_WORDS, State
from fleetc.adopt.read.shell_sums import MOST_WORDS
from fleetc.adopt.read.shell_users import run_by, user_of
from fleetc.adopt.read.shell_values import joined, traced
from fleetc.adopt.read.shell_words import ENDS, LOOPS, ShellError, Token, body_of, tokens
from fleetc.adopt.read.shell_wrappers import AS_USER, ASSIGNMENT, base_of, behind_wrappers, directory_after, is_flag
from fleetc.places.diagnostic import Span

_OPENS = {"if": "if", "for": "loop", "while": "loop", "until": "loop", "case": "case", "select": "loop"}
_PARAMETERS = "123456789"
_NO_NODE = "no node: fleetc starts and prepares nodes itself"
_DEEPEST = 40
_MOST_REPEATED = 20_000
"""Words that loops of a text may repeat together."""


def read_shell(
    source: str, text: str, ledger: Ledger, variables: dict[str, Word] | None = None, library: Library | None = None,
    starts_beside: bool = False, unread: tuple[Unread, ...] = (), parts: Sequence[range] = (),
) -> ShellText:  # fmt: skip
    """Read a script or a command; `library` has the files with variables that it may name. `starts_beside`: nothing
    says that it starts anywhere but in its own folder. `unread` may have set any variable before it starts. `parts` are
    those of a page, whose commands may be for several machines.
    """
    reader = _Reader(source, ledger, dict(variables or {}), library)
    reader.values.knows_folder, reader.values.unread, reader.unread = starts_beside, bool(unread), unread
    try:
        reader.read(text, 0)
    except ShellError as problem:
        span = Span(source, problem.start, problem.start + 1)
        ledger.secrets.append(span)  # it may be any text
        ledger.refuse(
            "adopt-source-unreadable", span, f"this is no shell text: {problem.message}",
            "close the quote, or give the command without what is around it",
        )  # fmt: skip
    return reader.found


class _Reader(State):
    # ------------------------------------------------------------------------------------------- commands

    def read(self, text: str, depth: int) -> None:
        """Read all commands of a text."""
        if depth <= _DEEPEST:
            self.texts[self.source] = text
            self._commands(tokens(text), text, depth)
            for name in [name for name in self.functions if name not in self.called]:
                self.levels.append(Level("function", self.mode, "maybe"))
                self._call(name, [], depth)
                self.levels.pop()
            self.inputs.warn(self.source, self.ledger)

    def _commands(self, stream: Iterator[Token], text: str, depth: int) -> None:
        line: list[Token] = []
        last_end, cut = 0, False
        while (token := next(stream, None)) is not None:
            if name := function_name(line, token):
                inner, stream = function_body(token, stream)
                self.functions |= {name: Function(inner, text, self.source)} if inner is not None else {}
                line = []
                continue
            if token.kind == "comment":
                if line and "\n" in text[last_end : token.start]:
                    cut = True  # the line before ended with a backslash
                continue
            if token.kind == "array":
                self.array(token, stream)
            elif token.kind == "op" and token.text in ENDS:
                self._command(line, depth)
                if line:
                    self.cut, cut = cut, False
                    self.inputs.end(token.text)
                line = []
                self._operator(token)
                if self.loop is not None:
                    self._repeat(stream, text, depth)
            else:
                line.append(token)
                if token.body_start:
                    self.inputs.seen[token.body_start] = token
                if len(line) > MANY_WORDS:
                    raise ShellError(f"a command has more than {MANY_WORDS} words", line[0].start)
            last_end = token.end
        self._command(line, depth)

    def _call(self, name: str, words: list[Word], depth: int) -> None:
        """A call of a function of the script: what is in it, with the words of the call."""
        self.called.add(name)
        inner, text, source = self.functions[name]
        self.repeated += len(inner)
        if depth >= _DEEPEST or self.repeated > _MOST_REPEATED:
            return
        outer = {number: self.values.variables.pop(number, None) for number in _PARAMETERS}
        self.values.variables.update(zip(_PARAMETERS, words, strict=False))
        with self.reading(source):
            self._commands(iter(inner), text, depth + 1)
        for number, word in outer.items():
            self.values.variables.pop(number, None)
            if word is not None:
                self.values.variables[number] = word
        self.found.drop_repeats()

    def _operator(self, token: Token) -> None:
        self.joined = token.text if token.text in ("&&", "||") else ""
        self.piped = self.started if token.text in ("|", "|&") else None
        if token.text == "(":
            self.outer.append(self.directory)
        elif token.text == ")" and self.outer:
            self.directory = self.outer.pop()
        elif token.text == ";;":
            self.found.branch_over()

    def _repeat(self, stream: Iterator[Token], text: str, depth: int) -> None:
        """A `for` whose words are all known: what is in it, once for each word, as the script would do it."""
        assert self.loop is not None  # noqa: S101  # whoever calls this has looked
        (name, words), self.loop = self.loop, None
        inner = list(body_of(stream, LOOPS, "done"))
        self.repeated += len(inner) * len(words)
        if self.repeated > _MOST_REPEATED:
            self.levels.append(Level("loop", self.mode, "maybe"))
            self.values.variables.pop(name, None)
            self._commands(iter(inner), text, depth + 1)
            self.levels.pop()
            return
        for word in words:
            self.values.variables[name] = word
            self._commands(iter(inner), text, depth + 1)

    def _command(self, line: list[Token], depth: int) -> None:
        if not line:
            return
        head = line[0].text if line[0].kind == "word" else ""
        if head in _OPENS and len(self.levels) < _DEEPEST:
            self._open(_OPENS[head], line, depth)
        elif head in ("then", "do"):
            self.condition_over()
            self._command(line[1:], depth)
        elif head in ("else", "elif"):
            self.other_branch(head)
            self._command(line[1:], depth)
        elif head in ("fi", "done", "esac") or (head == "}" and self.levels and self.levels[-1].kind == "function"):
            if self.levels:
                self.levels.pop()
            self.truth = True
        elif head == "function" or (len(line) > 1 and line[1].text == "{") or line[-1].text == "{":
            if len(self.levels) < _DEEPEST:
                self.levels.append(Level("function", self.mode, "maybe" if self.mode == "run" else self.mode))
        elif head == "{":
            self.levels.append(Level("function", self.mode, self.mode))
            self._command(line[1:], depth)
        else:
            self._simple(line, depth)

    def _open(self, kind: str, line: list[Token], depth: int) -> None:
        if line[0].text == "for" and len(line) > 3 and line[2].text == "in" and depth < _DEEPEST:
            words = self.values.looped(line[3:])
            if words is not None and len(words) <= MOST_WORDS:
                self.loop = (line[1].text, words)
                return
        self.levels.append(Level(kind, self.mode, self.mode, condition=True))
        if kind == "if":
            self._command(line[1:], depth)
        elif line[0].text == "for" and len(line) > 1:
            self.values.variables.pop(line[1].text, None)
        elif kind == "case":
            self.levels[-1].mode = "skip" if self.mode == "skip" else "maybe"

    # -------------------------------------------------------------------------------------- one command

    def _simple(self, line: list[Token], depth: int) -> None:
        if self.piped is None:
            self.started = len(self.found.processes)
        if (self.joined == "&&" and self.truth is False) or (self.joined == "||" and self.truth is not False):
            if self.joined == "||":
                return
            self._passed_over(line, "its condition does not hold")
            return
        maybe = self.mode == "maybe" or (self.joined == "&&" and self.truth is None)
        self.inputs.begin(line, self.values)
        for path, text in self.values.written(line) if self.mode != "skip" else ():
            self.found.files[path] = text
            self.inputs.taken.add(text.span)
        words_of = [token for token in without_redirections(line) if token.kind == "word"]
        own: dict[str, Word] = {}
        place = 0
        while place < len(words_of) and (found := ASSIGNMENT.match(words_of[place].text)):
            own[found[1]] = self.values.assigned(words_of[place], found)
            if found[2] == "+=":
                own[found[1]] = joined(self.values.variables.get(found[1]), own[found[1]])
            place += 1
        rest = words_of[place:]
        if not rest:
            for name, word in own.items():
                self.assign(name, word, maybe)
            if own:
                self.truth = True
            return
        words = self.values.command(rest)
        if not words:
            return
        if words[0].text in ("[", "[[", "test"):
            self.truth = self.values.test(rest)
            return
        if words[0].text in ("export", "declare", "local", "readonly", "typeset"):
            self.export(rest[1:], maybe)
            return
        if self.mode == "skip":
            self._passed_over(line, "the script does not take this branch")
            return
        before = len(self.found.processes)
        self._start(words, own, depth)
        note_redirections(line, self.found.processes[before:], self.source, self.ledger)
        self.truth = True

    def _passed_over(self, line: list[Token], why: str) -> None:
        self.called.add(line[0].text)
        note_passed_over(line, why, self.source, self.ledger, bool(self.repeated))

    def _start(self, words: list[Word], own: dict[str, Word], depth: int) -> None:
        """A command: a node, a container of one, a shell with a text, or something else."""
        own, before, user = dict(own), len(self.found.processes), user_of(words)
        behind = behind_wrappers(words, own)
        words = words[behind:]
        if not words:  # sudo -i
            self._given(depth)
            self.found.processes[before:] = run_by(user, self.found.processes[before:])
            return
        span = Span(self.source, words[0].span.start, words[-1].span.end)
        if words[0].text in self.functions:
            self._call(words[0].text, words[1:], depth)
            return
        base = base_of(words[0].text)
        if base in ("source", ".") and len(words) > 1:
            self._source(words[1], depth)
            return
        if base in ("cd", "pushd", "popd"):
            sure = self.mode == "run" and not (self.joined == "&&" and self.truth is None)
            self.directory = directory_after(words, self.directory, self.values.knows_folder) if sure else ""
            if [word.text for word in words[1:] if not word.text.startswith("-")] != ["."]:
                self.values.leave_folder()
        if base == "set":
            self.exports = any(word.text in ("-a", "allexport") for word in words) or self.exports
        variables = {**self.exported, **own}
        if base not in ("docker", "podman") and base not in SHELLS and starts_node(words[0].text, words[1:]):
            path = words[0].text
            if "/" in path and not words[0].holes and self.directory.startswith("/"):
                path = posixpath.normpath(posixpath.join(self.directory, path))
            fresh = Process("", span, tuple(words[1:]), variables, program=path, directory=self.directory)
            self.found.processes.append(replace(fresh, unread=self.unread))
        elif base in ("docker", "podman") and len(words) > 2 and words[1].text in ("run", "create", "container"):
            process = docker_process(words[2:], span, variables, self.ledger, self.library)
            if process is not None:
                self.found.processes.append(replace(process, directory=self.directory))
            else:
                note_other(words, "no node: it starts by another program", self.ledger)
        elif base in SHELLS | AS_USER and any(word.text == "-c" for word in words[1:6]):
            at = next(i for i, word in enumerate(words) if word.text == "-c")
            if at + 1 < len(words):
                self._inside(words[at + 1], depth, self.inputs.own)
        elif self._runs_written(words, depth):
            pass
        elif base in AS_USER or (base in SHELLS and script_of(words) is None):
            if not self._given(depth):
                note_other(words, "no node: it only opens a shell", self.ledger)
        elif words[0].text.startswith("-") and is_flag(words[0].text):
            loose(words, span, self.found.processes, self.cut, self.ledger)
        else:
            self.inputs.left = passed_on(words, self.inputs.own)
            note_unread(words, self.ledger)
            note_other(words, _NO_NODE, self.ledger)
        self.found.processes[before:] = run_by(user, self.found.processes[before:])

    def _source(self, word: Word, depth: int) -> None:
        """`. FILE`: its variables, and the functions and commands of a script, if it is among the sources."""
        found = self.library.find(word.text, self.source) if self.library is not None else None
        if found is None:
            self.unread += (missing(word, "the file that this script reads", self.ledger),)
            self.values.read_unknown()
            self.exported = {name: self.values.variables.get(name, one) for name, one in self.exported.items()}
        elif is_script(found.text) and depth < _DEEPEST:
            self.ledger.note(word.span, file_name(word.text), Fate.UNDERSTOOD, "a script that this one reads")
            self.texts[found.name] = found.text
            with self.reading(found.name):
                self._commands(tokens(found.text), found.text, depth + 1)
            self.called |= {name for name, one in self.functions.items() if one.source == found.name}
        else:
            known = environment(found.name, found.text).variables
            self.values.variables |= known
            self.exported |= {name: at for name, at in known.items() if self.exports or name.startswith("LP_")}
            self.ledger.note(word.span, file_name(word.text), Fate.UNDERSTOOD, "a file with variables")

    def _given(self, depth: int) -> bool:
        """A shell that takes its commands from its input; whether there are some."""
        given = self.inputs.take()
        if given is not None:
            self._inside(given, depth)
        return given is not None

    def _runs_written(self, words: list[Word], depth: int) -> bool:
        """Whether a command is a script that was written before; then what is in it is read."""
        path = written_script(words, self.found.files)
        if path is not None:
            self.found.run.add(path)
            self._inside(self.found.files[path], depth)
        return path is not None

    def _inside(self, word: Word, depth: int, given: Word | None = None) -> None:
        """The text of `sh -c`, read as a script of its own; each word of it has its place in this one.

        `given` is its input.
        """
        begun = len(self.found.processes)
        inside = f"{self.source}\0"  # words of this script are among its variables, and stay where they are
        move = mover(word, inside, self.texts)
        account = Ledger()
        inner = _Reader(inside, account, dict(self.values.variables), self.library)
        if True:
            inner.exported, inner.directory = dict(self.exported), self.directory
            inner.values.arrays = dict(self.values.arrays)
            inner.values.beside = set(self.values.beside)
            inner.values.unread, inner.unread = self.values.unread, self.unread
        inner.texts, inner.inputs = dict(self.texts), Inputs(given, self.inputs.taken)
        inner.read(word.text, depth + 1)
        inner.found.processes = [traced(one, self.values.variables) for one in inner.found.processes]
        self.ledger.take(account, move)
        self.found.take(inner.found, move)
        if len(self.found.processes) == begun:
            if not inner.inputs.seen and not inner.found.files:
                note_unread([word], self.ledger)
            note_other([word], _NO_NODE, self.ledger)
