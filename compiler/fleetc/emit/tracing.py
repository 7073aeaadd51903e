"""Renders a template again, slowly, and keeps for each line which values of the view made it.

In: a template, its view, and the origins of the view in the same shape (`Marks`). Out: `TracedLine` values whose texts
are those of the ordinary rendering. Asked for by `fleetc why` and never in a compile: formats keep views and origins
apart, so that a compile pays nothing for them.

Templates hold text, `for` and `if` only (`templates.py` refuses the rest), so the interpreter here is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import BlueprintFile
from fleetc.emit.artifacts import json_document, json_places
from fleetc.emit.templates import TemplateError, Templates
from fleetc.places.origin import Origin


class TracedLine(NamedTuple):
    """A line of an artifact without its end.

    `origins` are those of the values that stand on it; `presence` those that decide whether it is there at all; both
    without repetition. `template` and `template_line` say where its constant text stands; "" and 0 for lines that code
    writes.
    """

    text: str
    origins: tuple[Origin, ...]
    presence: tuple[Origin, ...] = ()
    template: str = ""
    template_line: int = 0


class Together(tuple[Origin, ...]):
    """Origins that stand for a whole value of the view, however deep it is."""

    __slots__ = ()


class ByLine(tuple[tuple[Origin, ...], ...]):
    """Origins of a text of many lines, line by line."""

    __slots__ = ()


Marks = Origin | Together | ByLine | Mapping[str, "Marks"] | Sequence["Marks"]
"""The origins of a view: an origin or several for a value, or a mapping or sequence of the value's own shape."""


def together(*origins: Iterable[Origin]) -> Together:
    """All origins of several iterables, each once, in the order of their first mention."""
    return Together(dict.fromkeys(origin for some in origins for origin in some))


def flat(marks: Marks | None) -> Iterator[Origin]:
    """Every origin in marks of any shape."""
    if marks is None:
        return
    if isinstance(marks, Origin):
        yield marks
    elif isinstance(marks, Mapping):
        for part in marks.values():
            yield from flat(part)
    else:
        for part in marks:
            yield from flat(part)


def traced(text: str, origins: Iterable[Origin], presence: Iterable[Origin] = ()) -> TracedLine:
    """A line that code writes."""
    return TracedLine(text, together(origins), together(presence))


def file_lines(file: BlueprintFile) -> list[TracedLine]:
    """The lines of a planned file as JSON, each with the origins of what stands on it."""
    lines = json_document(file.content).splitlines()
    return [traced(line, file.origins_at(at)) for line, at in zip(lines, json_places(file.content), strict=True)]


class _Known(NamedTuple):
    """A value of the view and its origins; None for what the template itself says."""

    value: Any
    marks: Marks | None


class _Piece(NamedTuple):
    text: str
    marks: Marks | None
    control: tuple[Origin, ...]
    line: int


@dataclass(frozen=True, slots=True)
class _Loop:
    """What templates may ask of `loop`."""

    first: bool
    last: bool


def trace_template(
    templates: Templates, name: str, view: Mapping[str, object], marks: Mapping[str, Marks]
) -> list[TracedLine]:
    """The lines of a rendered template. Raises TemplateError for marks that do not have the shape of the view."""
    missing = sorted(view.keys() ^ marks.keys())
    if missing:
        raise TemplateError(f"template {name}: view and marks differ in {', '.join(missing)}")
    scope = {key: _Known(view[key], marks[key]) for key in view}
    tree = templates.parsed(name)
    return _lines(name, _Tracer(templates, name).body(tree.body, scope, ()))


class _Tracer:
    def __init__(self, templates: Templates, name: str) -> None:
        self._finalize = templates.finalizer(name)
        self._name = name

    def body(self, nodes: Iterable[Any], scope: Mapping[str, _Known], control: tuple[Origin, ...]) -> Iterator[_Piece]:
        for node in nodes:
            kind = type(node).__name__
            if kind == "Output":
                yield from self._output(node, scope, control)
            elif kind == "For":
                yield from self._loop(node, scope, control)
            else:
                yield from self._branch(node, scope, control)

    def _output(self, node: Any, scope: Mapping[str, _Known], control: tuple[Origin, ...]) -> Iterator[_Piece]:
        for part in node.nodes:
            if type(part).__name__ == "TemplateData":
                yield _Piece(part.data, None, control, part.lineno)
            else:
                found = self._value(part, scope)
                yield _Piece(str(self._finalize(found.value)), found.marks, control, part.lineno)

    def _loop(self, node: Any, scope: Mapping[str, _Known], control: tuple[Origin, ...]) -> Iterator[_Piece]:
        items = self._value(node.iter, scope)
        count = len(items.value)
        for index, value in enumerate(items.value):
            item = _Known(value, self._below(items.marks, index))
            inner = {**scope, "loop": _Known(_Loop(index == 0, index == count - 1), None)}
            if type(node.target).__name__ == "Tuple":
                for place, target in enumerate(node.target.items):
                    inner[target.name] = _Known(value[place], self._below(item.marks, place))
            else:
                inner[node.target.name] = item
            yield from self.body(node.body, inner, together(control, flat(item.marks)))

    def _branch(self, node: Any, scope: Mapping[str, _Known], control: tuple[Origin, ...]) -> Iterator[_Piece]:
        decided = list(control)
        for test, body in [(node.test, node.body), *((other.test, other.body) for other in node.elif_)]:
            found = self._value(test, scope)
            decided += flat(found.marks)
            if found.value:
                yield from self.body(body, scope, together(decided))
                return
        yield from self.body(node.else_, scope, together(decided))

    def _value(self, node: Any, scope: Mapping[str, _Known]) -> _Known:
        kind = type(node).__name__
        if kind == "Name":
            if node.name not in scope:
                raise TemplateError(f"template {self._name}: {node.name} is undefined")
            return scope[node.name]
        if kind == "Const":
            return _Known(node.value, None)
        if kind == "Getattr":
            whole = self._value(node.node, scope)
            if isinstance(whole.value, Mapping):
                return _Known(whole.value[node.attr], self._below(whole.marks, node.attr))
            place = type(whole.value)._fields.index(node.attr) if hasattr(whole.value, "_fields") else node.attr
            return _Known(getattr(whole.value, node.attr), self._below(whole.marks, place))
        if kind == "Getitem":
            whole, key = self._value(node.node, scope), self._value(node.arg, scope).value
            return _Known(whole.value[key], self._below(whole.marks, key))
        if kind == "Not":
            inner = self._value(node.node, scope)
            return _Known(not inner.value, inner.marks)
        return self._joined(node, scope)

    def _joined(self, node: Any, scope: Mapping[str, _Known]) -> _Known:
        """What two values decide together: and, or, and comparisons."""
        if type(node).__name__ == "Test":
            inner = self._value(node.node, scope)
            return _Known(inner.value is None, inner.marks)
        if type(node).__name__ in ("And", "Or"):
            left, right = self._value(node.left, scope), self._value(node.right, scope)
            value = left.value and right.value if type(node).__name__ == "And" else left.value or right.value
            return _Known(value, together(flat(left.marks), flat(right.marks)))
        left = self._value(node.expr, scope)
        (operand,) = node.ops
        right = self._value(operand.expr, scope)
        value = (left.value == right.value) is (operand.op == "eq")
        return _Known(value, together(flat(left.marks), flat(right.marks)))

    def _below(self, marks: Marks | None, key: int | str) -> Marks | None:
        """The marks of a part of a value; those of the whole where they are not told apart."""
        if marks is None or isinstance(marks, Origin | Together | ByLine):
            return marks
        try:
            return marks[key]  # type: ignore[index]  # the shape is that of the view, which is known here only
        except (KeyError, IndexError, TypeError):
            raise TemplateError(f"template {self._name}: the marks have no part {key!r}") from None


def _lines(name: str, pieces: Iterable[_Piece]) -> list[TracedLine]:
    lines: list[TracedLine] = []
    text: list[str] = []
    found: list[Origin] = []
    presence: list[Origin] = []
    first = 0
    for piece in pieces:
        parts = piece.text.split("\n")
        for index, part in enumerate(parts):
            if index:
                lines.append(TracedLine("".join(text), together(found), together(presence), name, first))
                text, found, presence, first = [], [], [], 0
                if index == len(parts) - 1 and not part:
                    break  # the next line begins with the next piece
            first = first or piece.line + (index if piece.marks is None else 0)
            text.append(part)
            presence += piece.control
            if isinstance(piece.marks, ByLine):
                found += piece.marks[index] if index < len(piece.marks) else ()
            elif part:
                found += flat(piece.marks)
    if "".join(text):
        lines.append(TracedLine("".join(text), together(found), together(presence), name, first))
    return lines
