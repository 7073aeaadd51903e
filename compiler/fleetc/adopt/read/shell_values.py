"""The values of variables while a script is read: words with what is known filled in, and tests that are decided.

In: words of `shell_words.py`. Out: `Word`s. What only a running shell knows is a hole of the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from fleetc.adopt.found.process import Process
from fleetc.adopt.found.words import Word, unknown
from fleetc.adopt.node.flags import holes_in
from fleetc.adopt.node.secrets import harmless
from fleetc.adopt.read.shell_folder import folder_of, in_containers
from fleetc.adopt.read.shell_sums import ranged, sum_of
from fleetc.adopt.read.shell_words import Part, ShellError, Token, quoted_parts
from fleetc.places.diagnostic import Span

_DEEPEST = 40
_SPACE = re.compile(r"\s+")
_ALL = ("@", "*")
_LONGEST = 200_000
"""Characters of a word: variables in variables grow without an end."""


_JOINS = re.compile(
    r"""\$\(\s*(?:local\s+)?IFS=["']?(?P<sign>[,;:])["']?\s*(?:;|&&)\s*"""
    r"""(?:echo|printf\s+["']?%s["']?)\s+"\$\{(?P<name>[A-Za-z_]\w*)\[\*\]\}"\s*\)"""
)
"""How scripts write the items of an array with a sign between them."""


class Values:
    """Variables and arrays of a script, as far as it has been read."""

    def __init__(self, source: str, variables: dict[str, Word]) -> None:
        self.source = source
        self.variables = variables
        self.arrays: dict[str, list[Word]] = {}
        self.depth = 0
        self.beside: set[str] = set()
        """Names of variables and arrays with paths that begin in the folder of the script, written as `./`."""
        self.unread = False
        """Whether the script has read a file that is none of the sources: it may have set any variable."""
        """What the script itself gives variables that such a file may set otherwise, by their holes."""
        self.knows_folder = False
        """Whether `./` means the folder of the script: not in other texts, and not behind a `cd` to somewhere else."""

    def text(self, parts: list[Part]) -> tuple[str, tuple[str, ...], bool]:
        """Parts in one piece: the text, its holes, and whether a default stands for an unset variable."""
        pieces: list[str] = []
        holes: list[str] = []
        soft = False
        for part in parts:
            if part.kind == "text":
                pieces.append(part.text)
            elif part.kind == "hole":
                known = self._folder(part) or self._joined_array(part.text)
                pieces.append(known or part.text)
                holes += [] if known else [part.text]
            elif part.kind == "sum":
                number = sum_of(part.text, self._number)
                pieces.append(f"$(({re.sub(_SPACE, '', part.text)}))" if number is None else str(number))
                holes += [pieces[-1]] if number is None else []
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

    def _folder(self, part: Part) -> str | None:
        """The folder of the script, or one from there, if a command in `$( )` only asks for that."""
        if not self.knows_folder:
            return None
        return folder_of(part.text, {name: self.variables[name].text for name in self.beside & self.variables.keys()})

    def _joined_array(self, command: str) -> str | None:
        """The items of an array with a sign between them, if a command in `$( )` only writes that."""
        found = _JOINS.fullmatch(command)
        items = self.arrays.get(found["name"], []) if found is not None and found["name"] not in self.beside else []
        if found is None or not items or any(word.holes for word in items):
            return None
        return found["sign"].join(word.text for word in items)

    def from_folder(self, token: Token) -> bool:
        """Whether a word has a path that begins in the folder of the script."""
        return any(
            part.name in self.beside if part.kind == "variable" else part.kind == "hole" and self._folder(part)
            for part in token.parts
        )

    def note_folder(self, name: str, token: Token) -> None:
        """Remember that a variable or an array takes a word, if that begins in the folder of the script."""
        if self.from_folder(token):
            self.beside.add(name)

    def leave_folder(self) -> None:
        """The script goes somewhere else: `./` is not its folder any more, and only a running one knows which is."""
        self.variables.update(self._hidden())
        for name in self.beside:
            self.arrays.pop(name, None)
        self.beside, self.knows_folder = set(), False

    def read_unknown(self) -> None:
        """The script reads a file that is no source: no variable is known behind it, but those that have flags."""
        self.unread = True
        for name, word in self.variables.items():
            if not name.isdigit() and not re.search(r"(?:^|\s)-", word.text):
                self.variables[name] = unknown(name, word)

    def _hidden(self) -> dict[str, Word]:
        """The variables with paths from the folder of the script as ones without a value."""
        found = {name: self.variables[name] for name in self.beside if name in self.variables}
        return {name: unknown(name, word) for name, word in found.items()}

    def command(self, rest: list[Token]) -> list[Word]:
        """The words of a command. What a container has at a path of its own is none of the folder of the script."""
        apart = in_containers(rest)
        return [
            word
            for token, own in zip(rest, apart, strict=True)
            for word in (self._without_folder(token) if own and self.from_folder(token) else self.expand(token))
        ]

    def _without_folder(self, token: Token) -> list[Word]:
        with self._folder_unknown():
            return self.expand(token)

    @contextmanager
    def _folder_unknown(self) -> Iterator[None]:
        variables, known = self.variables, self.knows_folder
        self.variables, self.knows_folder = {**variables, **self._hidden()}, False
        try:
            yield
        finally:
            self.variables, self.knows_folder = variables, known

    def _number(self, name: str) -> int | None:
        known = self.variables.get(name)
        return int(known.text) if known is not None and re.fullmatch("[1-9][0-9]{0,17}|0", known.text) else None

    def _item(self, part: Part) -> Word | None:
        """One item of an array; an array without an index is its first one."""
        name = part.index.lstrip("$")
        number = int(name or 0) if name.isdigit() or not name else self._number(name)
        items = self.arrays[part.name]
        return items[number] if number is not None and number < len(items) else None

    def _value(self, part: Part) -> tuple[str, tuple[str, ...], bool]:
        known = self.variables.get(part.name)
        if part.name in self.arrays and (known is None or part.index):
            one = None if part.index in _ALL else self._item(part)
            if one is None and part.index not in _ALL:
                hole = "${" + part.name + "[" + part.index + "]}"
                return hole, (hole,), True
            words = self.arrays[part.name] if one is None else [one]
            return " ".join(w.text for w in words), tuple(h for w in words for h in w.holes), False
        operator = re.match(r":?[-=?+]", part.text)
        if known is None and self.unread and operator is not None and not part.name.isdigit():
            hole = "${" + part.name + "}"
            return hole, (hole,), True
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
        hole = f"${part.name}" if part.name.isdigit() else "${" + part.name + "}"
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
        plain = text.replace('"', "")
        parts, _ = quoted_parts(plain, 0, len(plain))
        return self.text(parts)

    def expand(self, token: Token) -> list[Word]:
        """The words that a token becomes: unquoted variables fall into words at spaces."""
        span = Span(self.source, token.start, token.end)
        if all(part.kind == "text" for part in token.parts):
            text = "".join(part.text for part in token.parts)
            return [Word(text, span, holes_in(text) if "{" in text or "<" in text else ())]
        first = token.parts[0]
        if len(token.parts) == 1 and first.kind == "variable" and first.name in self.arrays and first.index in _ALL:
            return self.arrays[first.name]
        lone = token.parts[0] if len(token.parts) == 1 and token.parts[0].kind == "variable" else None
        if lone is None and len(token.parts) == 2 and token.parts[1].kind == "variable":
            lone = token.parts[1] if token.parts[0].text.endswith("=") else None
        known = self.variables.get(lone.name) if lone is not None else None
        said = (known.said or known.span) if known is not None else self._secret_place(token.parts)
        fields: list[Word] = []
        text, fresh = "", True
        holes: list[str] = []
        for part in token.parts:
            piece, inner, _ = self.text([part])
            splits = part.kind == "variable" and not part.quoted
            if not splits:
                text, fresh = text + piece, False
                holes += inner
                continue
            cut = _fields(piece, inner)
            for index, field_text in enumerate(cut):
                if index and not fresh:
                    fields.append(Word(text, span, tuple(h for h in holes if h in text), said=said))
                    text, fresh = "", True
                if field_text:
                    text, fresh = text + field_text, False
            holes += inner
        if not fresh:
            value = known.text if known is not None else ""
            whole = lone is not None and not fields and text.endswith(value) and not value.startswith("-")
            composed = known is not None and known.said is not None and not known.alone
            variable = lone.name if lone is not None and whole and not composed else ""
            behind = len(token.parts[0].text) if variable and len(token.parts) == 2 else 0
            found = tuple(dict.fromkeys(h for h in holes if h in text))
            fields.append(Word(text, span, found, variable, said, behind))
        return fields

    def looped(self, tokens: list[Token]) -> list[Word] | None:
        """The words that a `for` goes through; None where only a running script knows them all."""
        found: list[Word] = []
        for token in tokens:
            if token.kind != "word":
                continue
            for word in self.expand(token):
                plain = all(part.kind in ("text", "hole") and not part.quoted for part in token.parts)
                texts = ranged(word.text) if plain else None
                if texts is None and (word.holes or any(sign in word.text for sign in "*?")):
                    return None
                found += [word] if texts is None else [Word(text, word.span) for text in texts]
        return found

    def heredoc(self, token: Token) -> Word:
        """The text of a heredoc, with what is known filled in."""
        text, holes = token.body, tuple[str, ...]()
        if not token.literal:
            parts, _ = quoted_parts(text.replace('"', "\x00"), 0, len(text))
            with self._folder_unknown():  # a file that is written has its own
                text, holes, _ = self.text(parts)
        span = Span(self.source, token.body_start, token.body_start + max(1, len(token.body)))
        return Word(text.replace("\x00", '"'), span, holes)

    def written(self, line: list[Token]) -> Iterator[tuple[str, Word]]:
        """`cat > path <<EOF`: the path of a file that a command writes, and its text."""
        body = next((token for token in line if token.kind == "op" and token.text in ("<<", "<<-")), None)
        for at, token in enumerate(line[:-1] if body is not None else []):
            writes = token.kind == "op" and token.text in (">", ">>")
            if body is None or not (writes or token.text == "tee") or line[at + 1].kind != "word":
                continue
            words = self.expand(line[at + 1])
            if words:
                yield words[0].text, self.heredoc(body)

    def test(self, rest: list[Token]) -> bool | None:
        """Whether a test holds; None where only a running script knows."""
        args: list[str] = []
        for token in rest[1:]:
            text, holes, soft = self.text(token.parts)
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

    def assigned(self, token: Token, found: re.Match[str]) -> Word:
        """The value of NAME=value: everything behind the sign, in one piece."""
        parts = list(token.parts)
        skip = found.end()
        first = parts[0]
        parts[0] = Part(first.kind, first.text[skip:], first.quoted, first.name)
        text, holes, _ = self.text(parts)
        self.note_folder(found[1], token)
        given = [part for part in parts if part.kind != "text" or part.text]
        known = self.variables.get(given[0].name) if len(given) == 1 and given[0].kind == "variable" else None
        alias = given[0].name if known is not None and known.text == text else ""
        said = (known.said or known.span) if known is not None else self._secret_place(parts)
        return Word(text, Span(self.source, token.start, token.end), holes, alias, said)

    def _secret_place(self, parts: Sequence[Part]) -> Span | None:
        """Where the value of the one variable stands that may be a secret; None for none, or several."""
        names = [part.name for part in parts if part.kind == "variable" and not harmless(part.name)]
        found = [self.variables[name] for name in names if name in self.variables]
        return (found[0].said or found[0].span) if len(found) == 1 else None


def joined(before: Word | None, word: Word) -> Word:
    """A value with another one behind it, as += says."""
    return word if before is None else Word(before.text + word.text, word.span, before.holes + word.holes)


_LONG = 8
"""Characters of a value that no other variable has by chance."""


def traced(process: Process, variables: Mapping[str, Word]) -> Process:
    """A process of a text that a script filled in, whose words say which variable they are the value of, and where."""
    names = {word.text: name for name, word in variables.items() if len(word.text) >= _LONG and not word.holes}

    def with_place(word: Word) -> Word:
        text = word.text.partition("=")[2] if word.text.startswith("-") else word.text
        name = names.get(text, "") if not word.variable else ""
        known = variables.get(name)
        return replace(word, variable=name, said=known.said or known.span) if known is not None else word

    return replace(process, words=tuple(map(with_place, process.words)))


def _fields(text: str, holes: Sequence[str]) -> list[str]:
    """The fields of an unquoted value; spaces in the name of a hole are none of its value."""
    if not any(" " in hole and hole in text for hole in holes):
        return re.split(r"[ \t\n]+", text)
    whole = "|".join(re.escape(hole) for hole in sorted(holes, key=len, reverse=True))
    fields = [""]
    for piece in re.split(rf"({whole}|[ \t\n]+)", text):
        if piece.isspace():
            fields.append("")
        else:
            fields[-1] += piece
    return fields
