"""Reads shell commands and scripts, and finds the node processes that they start. A script is read, never run.

In: text. Out: `Process`es, files that heredocs would write, and the account of all other commands. Variables with known
values are filled in; the branch of an `if` is followed where the script itself decides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fleetc.adopt.docker_run import docker_process, names_node
from fleetc.adopt.flags import TYPES, holes_in, starts_node
from fleetc.adopt.shell_words import Part, ShellError, Token, quoted_parts, tokens
from fleetc.adopt.words import Fate, Ledger, Process, Word
from fleetc.places.diagnostic import Span
from fleetc.text import leaks

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)")
_WRAPPERS = frozenset({"sudo", "nohup", "exec", "env", "time", "nice", "ionice", "setsid", "command", "stdbuf", "chrt"})
_TAKES = {"sudo": "ugCphRT", "nice": "n", "ionice": "cnp", "env": "uC", "stdbuf": "ioe", "chrt": ""}
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_OPENS = {"if": "if", "for": "loop", "while": "loop", "until": "loop", "case": "case", "select": "loop"}
_DEEPEST = 40
_MANY_WORDS = 20_000
_LONGEST = 200_000
"""Characters of a word: variables in variables grow without an end."""


@dataclass
class _Level:
    """One open `if`, loop, case or function: `mode` is run, maybe or skip; `kept` the mode around it."""

    kind: str
    kept: str
    mode: str
    condition: bool = False
    decided: bool = False


@dataclass
class ShellText:
    """What a text holds: processes, and files that it writes, by path, with where their text begins."""

    processes: list[Process] = field(default_factory=list)
    files: dict[str, tuple[str, int]] = field(default_factory=dict)


def read_shell(source: str, text: str, ledger: Ledger, variables: dict[str, Word] | None = None) -> ShellText:
    """Read a script or a command."""
    reader = _Reader(source, ledger, dict(variables or {}))
    try:
        reader.read(text, 0, 0)
    except ShellError as problem:
        span = Span(source, problem.start, problem.start + 1)
        ledger.refuse(
            "adopt-source-unreadable", span, f"this is no shell text: {problem.message}",
            "close the quote, or give the command without what is around it",
        )  # fmt: skip
    return reader.found


class _Reader:
    def __init__(self, source: str, ledger: Ledger, variables: dict[str, Word]) -> None:
        self.source, self.ledger = source, ledger
        self.variables: dict[str, Word] = variables
        self.arrays: dict[str, list[Word]] = {}
        self.exported: dict[str, Word] = {}
        self.found = ShellText()
        self.levels: list[_Level] = []
        self.truth: bool | None = True
        self.joined = ""
        self.cut = False
        self.depth = 0

    @property
    def mode(self) -> str:
        return self.levels[-1].mode if self.levels else "run"

    # ------------------------------------------------------------------------------------------- commands

    def read(self, text: str, base: int, depth: int) -> None:
        """Read all commands of a text that begins at `base` of the source."""
        if depth > _DEEPEST:
            return
        line: list[Token] = []
        stream = tokens(text)
        last_end, cut = 0, False
        for token in stream:
            token.start += base
            token.end += base
            token.body_start += base
            if token.kind == "comment":
                if line and "\n" in text[last_end - base : token.start - base]:
                    cut = True  # the line before ended with a backslash
                continue
            if token.kind == "array":
                self._array(token, stream, base)
            elif token.kind == "op" and token.text in (";", "&", "&&", "||", "|", "\n", ";;", "(", ")"):
                self._command(line, depth)
                if line:
                    self.cut, cut = cut, False
                line = []
                self._operator(token)
            else:
                line.append(token)
                if len(line) > _MANY_WORDS:
                    raise ShellError(f"a command has more than {_MANY_WORDS} words", line[0].start - base)
            last_end = token.end
        self._command(line, depth)

    def _operator(self, token: Token) -> None:
        self.joined = token.text if token.text in ("&&", "||") else ""

    def _array(self, opening: Token, stream: Iterator[Token], base: int) -> None:
        """NAME=( words ): up to the bracket that closes it."""
        name = opening.text.partition("=")[0]
        append = name.endswith("+")
        words: list[Word] = []
        for token in stream:
            token.start += base
            token.end += base
            if token.kind == "op" and token.text == ")":
                break
            if token.kind == "word" and len(words) < _MANY_WORDS:
                words += self._expand(token)
        name = name.removesuffix("+")
        if self.mode == "run" or append:
            self.arrays[name] = (self.arrays.get(name, []) if append else []) + words

    def _command(self, line: list[Token], depth: int) -> None:
        if not line:
            return
        head = line[0].text if line[0].kind == "word" else ""
        if head in _OPENS and len(self.levels) < _DEEPEST:
            self._open(_OPENS[head], line, depth)
        elif head in ("then", "do"):
            self._condition_over()
            self._command(line[1:], depth)
        elif head in ("else", "elif"):
            self._other_branch(head)
            self._command(line[1:], depth)
        elif head in ("fi", "done", "esac") or (head == "}" and self.levels and self.levels[-1].kind == "function"):
            if self.levels:
                self.levels.pop()
            self.truth = True
        elif head == "function" or (len(line) > 1 and line[1].text == "{") or line[-1].text == "{":
            if len(self.levels) < _DEEPEST:
                self.levels.append(_Level("function", self.mode, "maybe" if self.mode == "run" else self.mode))
        elif head == "{":
            self.levels.append(_Level("function", self.mode, self.mode))
            self._command(line[1:], depth)
        else:
            self._simple(line, depth)

    def _open(self, kind: str, line: list[Token], depth: int) -> None:
        self.levels.append(_Level(kind, self.mode, self.mode, condition=True))
        if kind == "if":
            self._command(line[1:], depth)
        elif kind == "loop" and line[0].text == "for" and len(line) > 1:
            self.variables.pop(line[1].text, None)
            if len(line) > 3 and line[2].text == "in" and self.mode == "run":
                words = [word for token in line[3:] if token.kind == "word" for word in self._expand(token)]
                if len(words) == 1:
                    self.variables[line[1].text] = words[0]
        elif kind == "case":
            self.levels[-1].mode = "skip" if self.mode == "skip" else "maybe"

    def _condition_over(self) -> None:
        if not self.levels or not self.levels[-1].condition:
            return
        level = self.levels[-1]
        level.condition = False
        if level.kept != "run" or level.kind == "loop":
            level.mode = "skip" if level.kept == "skip" else "maybe"
        elif self.truth is None:
            level.mode = "maybe"
        else:
            level.mode, level.decided = ("run" if self.truth else "skip"), self.truth
        self.truth = True

    def _other_branch(self, word: str) -> None:
        if not self.levels:
            return
        level = self.levels[-1]
        if level.kept != "run":
            return
        if level.decided:
            level.mode = "skip"
        elif level.mode == "skip":
            level.mode = "run"
        level.condition = word == "elif"

    # -------------------------------------------------------------------------------------- one command

    def _simple(self, line: list[Token], depth: int) -> None:
        if (self.joined == "&&" and self.truth is False) or (self.joined == "||" and self.truth is not False):
            if self.joined == "||":
                return
            self._passed_over(line, "its condition does not hold")
            return
        maybe = self.mode == "maybe" or (self.joined == "&&" and self.truth is None)
        self._heredocs(line)
        words_of = [token for token in self._without_redirections(line) if token.kind == "word"]
        own: dict[str, Word] = {}
        place = 0
        while place < len(words_of) and (found := _ASSIGNMENT.match(words_of[place].text)):
            own[found[1]] = self._assigned(words_of[place], found)
            if found[2] == "+=":
                own[found[1]] = _joined(self.variables.get(found[1]), own[found[1]])
            place += 1
        rest = words_of[place:]
        if not rest:
            for name, word in own.items():
                self._assign(name, word, maybe)
            if own:
                self.truth = True
            return
        words = [word for token in rest for word in self._expand(token)]
        if not words:
            return
        if words[0].text in ("[", "[[", "test"):
            self.truth = self._test(rest)
            return
        if words[0].text in ("export", "declare", "local", "readonly", "typeset"):
            self._export(rest[1:], maybe)
            return
        if self.mode == "skip":
            self._passed_over(line, "the script does not take this branch")
            return
        self._start(words, own, depth)
        self.truth = True

    def _start(self, words: list[Word], own: dict[str, Word], depth: int) -> None:
        """A command: a node, a container of one, a shell with a text, or something else."""
        own = dict(own)
        place = 0
        while place < len(words) and (name := _base(words[place].text)) in _WRAPPERS:
            place += 1
            while place < len(words) and (words[place].text.startswith("-") or _ASSIGNMENT.match(words[place].text)):
                option = words[place].text
                if found := _ASSIGNMENT.match(option):
                    own[found[1]] = words[place].part(found.end())
                elif len(option) == 2 and option[1] in _TAKES.get(name, ""):
                    place += 1
                place += 1
        words = words[place:]
        if not words:
            return
        span = Span(self.source, words[0].span.start, words[-1].span.end)
        base = _base(words[0].text)
        variables = {**self.exported, **own}
        if base not in ("docker", "podman") and base not in _SHELLS and starts_node(words[0].text, words[1:]):
            self._node(Process("", span, tuple(words[1:]), variables, program=words[0].text))
        elif base in ("docker", "podman") and len(words) > 2 and words[1].text in ("run", "create", "container"):
            process = docker_process(words[2:], span, variables, self.ledger)
            if process is not None:
                self._node(process)
            else:
                self._other(words, "no node: the image is not one of the node")
        elif base in _SHELLS and any(word.text == "-c" for word in words[1:4]):
            at = next(i for i, word in enumerate(words) if word.text == "-c")
            if at + 1 < len(words):
                self._inside(words[at + 1], depth)
        elif words[0].text.startswith("-") and _is_flag(words[0].text):
            self._loose(words, span)
        else:
            self._other(words, "no node: fleetc starts and prepares nodes itself")

    def _inside(self, word: Word, depth: int) -> None:
        """The text of `sh -c`, read as a script of its own; its places are those of the whole text."""
        begun = len(self.found.processes)
        inner = _Reader(self.source, self.ledger, dict(self.variables))
        inner.exported = dict(self.exported)
        inner.read(word.text, 0, depth + 1)
        self.found.processes += [process.at(word.span) for process in inner.found.processes]
        if len(self.found.processes) == begun:
            self._other([word], "no node: fleetc starts and prepares nodes itself")

    def _node(self, process: Process) -> None:
        self.found.processes.append(process)

    def _loose(self, words: list[Word], span: Span) -> None:
        """Words that begin with a flag: the rest of a command that a comment cut, or flags without a program."""
        before = self.found.processes[-1] if self.found.processes else None
        if before is None:
            self._node(Process("", span, tuple(words)))
        elif not before.program and before.runtime == "systemd":
            self.found.processes[-1] = replace(before, words=(*before.words, *words))
        elif self.cut:
            self.ledger.mistake(
                "adopt-command-cut", words[0].span, words[0].text.split("=")[0],
                "a comment between the lines ends the command: a shell passes none of the flags behind it to the node",
                "they are adopted as they were meant; to run the command as it is, remove the comment lines in it",
            )  # fmt: skip
            self.found.processes[-1] = replace(before, words=(*before.words, *words))
        else:
            for word in words:
                self.ledger.note(
                    word.span, leaks.shown(word.text), Fate.MISTAKE,
                    "outside the command: the line before it ends without a backslash", "adopt-command-cut",
                )  # fmt: skip
            self.ledger.warn(
                "adopt-command-cut", span, "these flags are outside the command: the node never gets them",
                "if they belong to it, end the line before them with a backslash and remove blank and comment lines",
            )  # fmt: skip

    # ----------------------------------------------------------------------------------------- the account

    def _other(self, words: list[Word], why: str) -> None:
        span = Span(self.source, words[0].span.start, words[-1].span.end)
        self.ledger.note(span, leaks.shown(words[0].text[:60]), Fate.DROPPED, why)

    def _passed_over(self, line: list[Token], why: str) -> None:
        span = Span(self.source, line[0].start, line[-1].end)
        self.ledger.note(span, leaks.shown(line[0].text[:60]), Fate.DROPPED, why)
        if any(_base(token.text) in ("livepeer", "docker", "podman") for token in line):
            self.ledger.remark(
                "adopt-branch-not-followed", Span(self.source, line[0].start, line[0].end),
                f"this command is not read, because {why}", "to adopt it too, give it in a file of its own",
            )  # fmt: skip

    # ------------------------------------------------------------------------------- variables and words

    def _assigned(self, token: Token, found: re.Match[str]) -> Word:
        """The value of NAME=value: everything behind the sign, in one piece."""
        parts = list(token.parts)
        skip = found.end()
        first = parts[0]
        parts[0] = Part(first.kind, first.text[skip:], first.quoted, first.name)
        text, holes, _ = self._text(parts)
        return Word(text, Span(self.source, token.start, token.end), holes)

    def _assign(self, name: str, word: Word, maybe: bool) -> None:
        span, before = word.span, self.variables.get(name)
        if leaks.names_secret(name) or leaks.find(word.text, name):
            self.ledger.secrets.append(span)
        if self.mode == "skip":
            self.ledger.note(span, name, Fate.DROPPED, "the script does not take this branch")
            self.variables.setdefault(name, Word("", span))
            return
        if maybe and not (before is not None and before.text and word.text.startswith(before.text)):
            self.ledger.note(span, name, Fate.DROPPED, "a branch that only a running script decides")
            self.ledger.remark(
                "adopt-branch-not-followed", span, f"only a running script knows whether {name} gets this value",
                f"it is not used; set {name} at the top of the script if it should be",
            )  # fmt: skip
            self.variables.setdefault(name, Word("", span))
            return
        self.variables[name] = word
        if name in self.exported or name.startswith("LP_"):
            self.exported[name] = word
        self.ledger.note(span, name, Fate.UNDERSTOOD, "a variable, filled in where it is used")

    def _export(self, tokens_: list[Token], maybe: bool) -> None:
        for token in tokens_:
            found = _ASSIGNMENT.match(token.text)
            if found:
                self._assign(found[1], self._assigned(token, found), maybe)
            name = found[1] if found else token.text
            if name in self.variables:
                self.exported[name] = self.variables[name]

    def _heredocs(self, line: list[Token]) -> None:
        """`cat > path <<EOF`: the text is a file that other sources may name."""
        body = next((token for token in line if token.kind == "op" and token.text in ("<<", "<<-")), None)
        if body is None or self.mode == "skip":
            return
        for at, token in enumerate(line[:-1]):
            writes = token.kind == "op" and token.text in (">", ">>")
            if (writes or token.text == "tee") and line[at + 1].kind == "word":
                words = self._expand(line[at + 1])
                text, start = body.body, body.body_start
                if not body.literal:
                    parts, _ = quoted_parts(text.replace('"', "\x00"), 0, len(text))
                    text = self._text(parts)[0].replace("\x00", '"')
                if words:
                    self.found.files[words[0].text] = (text, start)

    @staticmethod
    def _without_redirections(line: list[Token]) -> list[Token]:
        kept: list[Token] = []
        skip = False
        for token in line:
            if token.kind == "op":
                skip = token.text[-1:] in "<>" and not token.text.startswith("<<")
            elif skip:
                skip = False
            else:
                kept.append(token)
        return kept

    def _text(self, parts: list[Part]) -> tuple[str, tuple[str, ...], bool]:
        """Parts in one piece: the text, its holes, and whether a default stands for an unset variable."""
        pieces: list[str] = []
        holes: list[str] = []
        soft = False
        for part in parts:
            if part.kind == "text":
                pieces.append(part.text)
            elif part.kind == "hole":
                pieces.append(part.text)
                holes.append(part.text)
            else:
                text, inner, default = self._value(part)
                pieces.append(text)
                holes += inner
                soft = soft or default
        text = "".join(pieces)
        if len(text) > _LONGEST:
            raise ShellError(f"a word has more than {_LONGEST} characters", 0)
        for hole in holes_in(text):
            if hole not in holes:
                holes.append(hole)
        return text, tuple(holes), soft

    def _value(self, part: Part) -> tuple[str, tuple[str, ...], bool]:
        known = self.variables.get(part.name)
        if known is None and part.name in self.arrays:
            words = self.arrays[part.name]
            return " ".join(w.text for w in words), tuple(h for w in words for h in w.holes), False
        operator = re.match(r":?[-=?+]", part.text)
        if operator is not None and operator[0].endswith("+"):
            return ("", (), True) if known is None or not known.text else self._inner(part.text[operator.end() :])
        if (
            operator is not None
            and operator[0][-1] in "-="
            and (known is None or (":" in operator[0] and not known.text))
        ):
            text, holes, _ = self._inner(part.text[operator.end() :])
            return text, holes, known is None
        if known is not None and not part.text:
            return known.text, known.holes, False
        if known is not None and operator is not None:
            return known.text, known.holes, False
        hole = "${" + part.name + "}"
        return hole, (hole,), True

    def _inner(self, text: str) -> tuple[str, tuple[str, ...], bool]:
        self.depth += 1
        try:
            if self.depth > _DEEPEST:
                raise ShellError("variables are nested too deeply", 0)
            return self._default(text)
        finally:
            self.depth -= 1

    def _default(self, text: str) -> tuple[str, tuple[str, ...], bool]:
        parts, _ = quoted_parts(text.replace('"', ""), 0, len(text))
        return self._text(parts)

    def _expand(self, token: Token) -> list[Word]:
        """The words that a token becomes: unquoted variables fall into words at spaces."""
        span = Span(self.source, token.start, token.end)
        if all(part.kind == "text" for part in token.parts):
            text = "".join(part.text for part in token.parts)
            return [Word(text, span, holes_in(text) if "{" in text or "<" in text else ())]
        if len(token.parts) == 1 and token.parts[0].kind == "variable" and token.parts[0].name in self.arrays:
            return self.arrays[token.parts[0].name]
        fields: list[Word] = []
        text, fresh = "", True
        holes: list[str] = []
        for part in token.parts:
            piece, inner, _ = self._text([part])
            splits = part.kind == "variable" and not part.quoted
            if not splits:
                text, fresh = text + piece, False
                holes += inner
                continue
            cut = re.split(r"[ \t\n]+", piece)
            for index, field_text in enumerate(cut):
                if index and not fresh:
                    fields.append(Word(text, span, tuple(h for h in holes if h in text)))
                    text, fresh = "", True
                if field_text:
                    text, fresh = text + field_text, False
            holes += inner
        if not fresh:
            fields.append(Word(text, span, tuple(dict.fromkeys(h for h in holes if h in text))))
        return fields

    def _test(self, rest: list[Token]) -> bool | None:
        """Whether a test holds; None where only a running script knows."""
        args: list[str] = []
        for token in rest[1:]:
            text, holes, soft = self._text(token.parts)
            if holes or soft:
                return None
            args.append(text)
        args = [arg for arg in args if arg not in ("]", "]]")]
        wanted = True
        if args[:1] == ["!"]:
            wanted, args = False, args[1:]
        if len(args) == 2 and args[0] in ("-n", "-z"):
            return (bool(args[1]) == (args[0] == "-n")) == wanted
        if len(args) == 3 and args[1] in ("=", "==", "!=", "-eq", "-ne"):
            return ((args[0] == args[2]) == (args[1] in ("=", "==", "-eq"))) == wanted
        return None


def _joined(before: Word | None, word: Word) -> Word:
    return word if before is None else Word(before.text + word.text, word.span, before.holes + word.holes)


def _base(text: str) -> str:
    return re.split(r"[/\\]", text)[-1]


def _is_flag(text: str) -> bool:
    return text.lstrip("-").partition("=")[0] in TYPES


__all__ = ["ShellText", "names_node", "read_shell"]
