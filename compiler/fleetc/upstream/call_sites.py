"""Reads out of sources what a program prints when something is wrong: each call that logs, or ends it, with its shape.

In: Go and Python texts by path. Out: `Call`s, and the text of `call_sites.toml` with those of one release. In a shape
{} stands for a value. Tests and programs beside the main one are left out. Pure; `__main__.py` reads the files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from fleetc.upstream import Release, format_release
from fleetc.upstream.go_text import arguments, operands, split, string_literal, without_comments
from fleetc.upstream.messages import LETTERS, read


class Call(NamedTuple):
    """One call. `level` is a letter that `call_sites.toml` explains."""

    path: str
    line: int
    level: str
    shape: str


_GO = re.compile(
    r"\b(?P<log>glog|clog|slog|log)(?:\.V\([^()]*\))?\.(?:Public)?(?P<name>Info|Error|Warn|Fatal|Exit|Panic)"
    r"(?:ing)?(?P<form>f|fErr|ln|Context)?\("
    r"|(?<![\w.])(?P<end>panic|exit)\("
    r"|(?P<text>\bfmt\.Errorf|\berrors\.(?:Errorf|New|Wrapf?)|\bstatus\.Errorf?|\brespond\w*|\bhttp\.Error)\(|\bDesc:(?= *\")"
)
"""A call that logs, one that ends the process, and an error's text, which another call prints."""
_HELPER = re.compile(r"\bfunc exit\(")
_FORMATTED = re.compile(r"(?:fmt\.(?:Sprintf|Errorf)|errors\.(?:Errorf|New))\(")
_VERB = re.compile(r"%(%|[-+# 0]*(?:\d+|\*)?(?:\.\d*)?[a-zA-Z])")
_HOLES = re.compile(r"\{\}(?:\{\})+")
_BESIDE = re.compile(
    r"(?:^|/)(?:tests?|examples?|scripts|contracts|dev|tools|cmd/(?!livepeer/)\w+)/|(?:_test|stub|testutil)\.go$"
)
_ENDS = re.compile(r"\s*(?:(return|continue|break)\b|os\.Exit\()")
_PYTHON = {"error": "E", "exception": "E", "critical": "E", "warning": "W", "warn": "W"}


def calls(texts: Mapping[str, str]) -> list[Call]:
    """The calls of a source, by path and line."""
    found: list[Call] = []
    for path, text in sorted(texts.items()):
        if not _BESIDE.search(path):
            found += _of_python(path, text) if path.endswith(".py") else _of_go(path, without_comments(text))
    return found


def _of_go(path: str, text: str) -> Iterator[Call]:
    has_helper, lines = _HELPER.search(text) is not None, text.split("\n")
    for call in _GO.finditer(text):
        words, end = split(text, call.end())
        if not words or (call["end"] == "exit" and (not has_helper or text[: call.start()].endswith("func "))):
            continue
        number = text.count("\n", 0, call.start())
        level = _level(call)
        if level == "E" and call["form"] != "fErr" and (then := _ENDS.match(text, end)):
            level = "X" if not then[1] else "S" if _function(lines, number) == "func StartLivepeer" else "R"
        shape = _clean("panic: " * (level == "P") + _shape(call, words))
        if level != "T" or (not text[: call.start()].endswith("panic(") and re.search("[A-Za-z]{3}", shape)):
            yield Call(path, number + 1, level, shape)


def _level(call: re.Match[str]) -> str:
    name = call["name"] or call["end"] or "T"
    return "E" if call["form"] == "fErr" else "X" if name.lower() == "exit" else name[0].upper()


def _function(lines: Sequence[str], number: int) -> str:
    """The first two words of the function around a line, by the indentation of gofmt."""
    indent = _indent(lines[number])
    for line in reversed(lines[:number]):
        if line.strip() and _indent(line) < indent:
            indent = _indent(line)
            if re.search(r"\bfunc\b", line):
                return " ".join(re.split(r"[\s(]+", line.strip())[:2])
    return ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip("\t"))


def _shape(call: re.Match[str], words: list[str]) -> str:
    made, form = call["text"] or "", call["form"] or ""
    if call["log"] == "clog" or form == "Context" or made.startswith(("respond", "status.", "errors.Wrap", "http.")):
        words = words[1:] or ["_"]
    if form == "fErr":
        return _format(words[:-1] if len(words) > 1 else words) + " err={}"
    if form == "f" or call["end"] == "exit" or made.endswith("f"):
        return _format(words) + ": {}" * made.startswith("errors.Wrap")
    if call["log"] in ("slog", "clog"):
        return _text(words[0]) + "".join(_pairs(words[1:]))
    return (" " if form == "ln" else "").join(map(_text, words[:1] if made else words))


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


def _of_python(path: str, text: str) -> Iterator[Call]:
    for block in ast.walk(ast.parse(text)):
        for body in (getattr(block, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(body, list):
                yield from (
                    Call(path, *found)
                    for node, after in zip(body, [*body[1:], None], strict=False)
                    for found in _of_statement(node, after)
                )


def _of_statement(node: ast.stmt, after: ast.stmt | None) -> Iterator[tuple[int, str, str]]:
    """The line, level and shape of a statement that logs; what stands after it says how it goes on."""
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
        level = _PYTHON.get(call.func.attr)
        if level and isinstance(call.func.value, ast.Name) and call.func.value.id in ("logger", "logging", "log"):
            shape = "".join(_of_node(call.args[0]))
            if level == "E" and isinstance(after, ast.Return | ast.Raise | ast.Continue | ast.Break):
                level = "R"
            elif level == "E" and after is not None and ast.unparse(after).startswith(("os._exit(", "sys.exit(")):
                level = "X"
            yield node.lineno, level, _clean(re.sub(r"%[sdrf]", "{}", shape) if len(call.args) > 1 else shape)


def _of_node(node: ast.expr) -> Iterable[str]:
    if isinstance(node, ast.JoinedStr):
        return (part for value in node.values for part in _of_node(value))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (*_of_node(node.left), *_of_node(node.right))
    return (node.value,) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ("{}",)


def _clean(shape: str) -> str:
    """The first line of a shape that has text, because a log has one line for each."""
    first = next((line for line in shape.split("\n") if line.strip()), "")
    return _HOLES.sub("{}", first).strip()


def with_calls(table: str, release: Release, found: Iterable[Call]) -> str:
    """The table with the calls of one release in place of what it had of it."""
    releases, rows = read(table)
    for of_release in rows.values():
        of_release.pop(release, None)
    for call in found:
        rows.setdefault((call.path, call.level, call.shape), {}).setdefault(release, []).append(call.line)
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
    for letter, release in zip(LETTERS, order, strict=False):
        now = ",".join(map(str, lines.get(release, ())))
        found += f"{letter}{now}" if now != before else ""
        before = now
    return found
