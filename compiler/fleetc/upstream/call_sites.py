"""Reads out of sources what a program prints when something is wrong: each call that logs, or ends it, with its shape.

In: Go, C and Python texts by path. Out: `Call`s, and the text of `call_sites.toml` with those of one release. {} stands
for a value. Tests and programs beside the main one are left out. Pure; `__main__.py` reads the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from string import ascii_letters

from fleetc.upstream import Release, format_release
from fleetc.upstream.go_text import arguments, operands, split, string_literal, without_comments
from fleetc.upstream.messages import read

Call = tuple[str, int, str, str]  # path, line, level as a letter that `call_sites.toml` explains, and shape

_GO = re.compile(  # a call that logs, one that ends the process, and an error's text, which another call prints
    r"\b(?P<log>glog|clog|slog|log)(?:\.V\([^()]*\))?\.(?:Public)?(?P<name>Info|Error|Warn|Fatal|Exit|Panic)"
    r"(?:ing)?(?P<form>f|fErr|ln|Context)?\("
    r"|(?<![\w.])(?P<end>panic|exit)\("
    r"|(?P<text>\bfmt\.Errorf|\berrors\.(?:Errorf|New|Wrapf?)|\bstatus\.Errorf?|\brespond\w*|\bhttp\.Error)\("
    r"|\b(?:Desc|Message):(?= *(?:\"|fmt\.S))|\bLPMS_(?P<c>ERR|WARN|INFO)\w*\("
)
_HELPER = re.compile(r"\bfunc exit\(")
_FORMATTED = re.compile(r"(?:fmt\.(?:Sprintf|Errorf)|errors\.(?:Errorf|New))\(")
_VERB = re.compile(r"%(%|[-+# 0]*(?:\d+|\*)?(?:\.\d*)?[a-zA-Z])")
_PYTHON = re.compile(r"\blog(?:ging|ger)?\.(error|exception|critical|warn)(?:ing)?\(")
_PYTHON_TEXT = re.compile(r"[rfRF]*(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)')")
_HOLES = re.compile(r"\{\}(?:\{\})+")
_BESIDE = re.compile(
    r"(?:^|/)(?:tests?|examples?|scripts|contracts|dev|tools|cmd/(?!livepeer/)\w+)/|(?:_test|stub|testutil|\.pb|\.gen)\.go$"
)
_ENDS = re.compile(r"\s*(?:(return|continue|break|raise)\b|(?:os\.(?:Exit|_exit)|sys\.exit)\()")
_FAR = 2000


def calls(texts: Mapping[str, str]) -> list[Call]:
    """The calls of a source, by path and line."""
    paths = [path for path in sorted(texts) if not _BESIDE.search(path)]
    return [call for path in paths for call in (_python if path.endswith(".py") else _go)(path, texts[path])]


def _python(path: str, text: str) -> Iterator[Call]:
    for call in _PYTHON.finditer(text):
        words, end = split(text, call.end())
        shape = "".join(found[1] or found[2] or "" for found in _PYTHON_TEXT.finditer(words[0] if words else ""))
        shape = re.sub(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}" + r"|%[sdrf]" * (len(words) > 1), "{}", shape)
        level = "W" if call[1] == "warn" else _end(text, call.start(), end)
        yield path, text.count("\n", 0, call.start()) + 1, level, _clean(shape.replace("\\n", "\n")) or "{}"


def _go(path: str, text: str) -> Iterator[Call]:
    text = without_comments(text)
    has_helper, lines = _HELPER.search(text) is not None, text.split("\n")
    for call in _GO.finditer(text):
        words, end = split(text, call.end())
        if not words or (call["end"] == "exit" and (not has_helper or text[: call.start()].endswith("func "))):
            continue
        number, name = text.count("\n", 0, call.start()), call["name"] or call["end"] or call["c"] or "T"
        level = "E" if call["form"] == "fErr" else "X" if name.lower() == "exit" else name[0].upper()
        if level == "E" and call["form"] != "fErr":
            level = "R" if call["c"] else _end(text, call.start(), end)
            level = "S" if level == "R" and _function(lines, number) == "func StartLivepeer" else level
        shape = _clean("panic: " * (level == "P") + _shape(call, words))
        if level != "T" or (not text[: call.start()].endswith("panic(") and re.search("[A-Za-z]{3}", shape)):
            yield path, number + 1, level, shape


def _end(text: str, start: int, end: int) -> str:
    """The level of an error by what ends the block of lines behind its call."""
    above = text[text.rfind("\n", 0, start) + 1 : start]
    margin = above[: len(above) - len(above.lstrip())]
    for line in text[end : end + _FAR].split("\n")[1:]:
        if line.strip() and not line.startswith(margin):
            break
        if then := _ENDS.match(line) if line[len(margin) : len(margin) + 1].strip() else None:
            return "R" if then[1] else "X"
    return "E"


def _function(lines: Sequence[str], number: int) -> str:
    """The beginning of the function around a line, by the indentation of gofmt."""
    indent = len(lines[number])
    for line in reversed(lines[: number + 1]):
        own = len(line) - len(line.lstrip("\t"))
        if line.strip() and own < indent:
            indent = own
            if "func" in line:
                return line.split("(")[0]
    return ""


def _shape(call: re.Match[str], words: list[str]) -> str:
    made, form = call["text"] or "", call["form"] or ""
    if call["c"]:
        return _text(words[-1]) + " :{}" * (call["c"] == "ERR")
    if call["log"] == "clog" or form == "Context" or made.startswith(("respond", "status.", "errors.Wrap", "http.")):
        words = words[1:] or ["_"]
    if form == "fErr":
        return _format(words[:-1] if len(words) > 1 else words) + " err={}"
    if form == "f" or call["end"] == "exit" or made.endswith("f"):
        return _format(words) + ": {}" * made.startswith("errors.Wrap")
    if call["log"] in ("slog", "clog"):
        return _text(words[0]) + "".join(_pairs(words[1:]))
    return (" " if form == "ln" else "").join(map(_text, words if call["log"] else words[:1]))


def _pairs(words: list[str]) -> Iterator[str]:
    """What stands behind a message with keys and values: key={} for each constant key."""
    while words:
        made = re.match(r"slog\.\w+\(", words[0])
        key = string_literal((arguments(words[0], made.end()) or [""])[0] if made else words[0])
        yield f" {key}={{}}" if key is not None else " {}"
        words = words[1:] if made or words[0].endswith("...") else words[2:]


def _format(words: list[str]) -> str:
    """The shape of a format, with {} for each verb, and for the values that it has no verb for."""
    text, verbs = _VERB.subn(lambda verb: "%" if verb[1] == "%" else "{}", _text(words[0]))
    return text + "{}" * (len(words) - 1 > verbs)


def _text(expression: str) -> str:
    """The text of an expression; {} for whatever is not constant in it."""
    parts = operands(expression)
    if len(parts) > 1:
        return "".join(map(_text, parts))
    literal = string_literal(expression)
    made = _FORMATTED.match(expression)
    words = arguments(expression, made.end()) if made else []
    return literal if literal is not None else _format(words) if words else "{}"


def _clean(shape: str) -> str:
    """The first line of a shape that has text, because a log has one line for each."""
    first = next((line for line in shape.split("\n") if line.strip()), "")
    return _HOLES.sub("{}", first).strip()


def with_calls(table: str, release: Release, found: Iterable[Call]) -> str:
    """The table with the calls of one release in place of what it had of it."""
    releases, rows = read(table)
    for of_release in rows.values():
        of_release.pop(release, None)
    for path, line, level, shape in found:
        rows.setdefault((path, level, shape), {}).setdefault(release, []).append(line)
    order = sorted({*releases, release})
    names = ", ".join(f'"{format_release(one)}"' for one in order)
    parts = [table[: table.index("\nreleases = ")], f"\nreleases = [{names}]\n\n[sources]\n"]
    for path, of_path in groupby(sorted(rows.items()), key=lambda row: row[0][0]):
        lines = [f"{level} {_spans(order, of)} {shape}\n" for (_, level, shape), of in of_path if of]
        parts += [f"\"{path}\" = '''\n", *lines, "'''\n"] if lines else []
    return "".join(parts)


def _spans(order: Sequence[Release], lines: Mapping[Release, Sequence[int]]) -> str:
    """The lines by release: the letter of each release in which they are others than before, and they."""
    found, before = "", ""
    for letter, release in zip(ascii_letters, order, strict=False):
        now = ",".join(map(str, lines.get(release, ())))
        found += f"{letter}{now}" if now != before else ""
        before = now
    return found
