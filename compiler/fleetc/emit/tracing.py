"""Renders a template so that each line keeps the values of the view that made it.

In: the syntax tree of a template, and a view of `Traced` leaves. Out: `TracedLine` values. Called by `templates.py` for
`fleetc why`. Jinja itself runs the template: `recording` makes it report prints and their conditions to a `Recorder`.
So this is independent of templates and formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fleetc.emit.traced import Origins, Traced, TracedLine, origins_in, together

if TYPE_CHECKING:
    from jinja2 import nodes


class Body(Protocol):
    """The content of a file, in two readings: its text, and its lines with their origins."""

    def text(self) -> str:
        """The text; each line has its line end."""

    def lines(self) -> list[TracedLine]:
        """The lines of that text."""


class _Piece(NamedTuple):
    text: str
    origins: Origins
    deciding: tuple[Origins, ...]
    line: int
    constant: bool


class Recorder:
    """Collects what one rendering prints."""

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._deciding: list[tuple[Origins, ...]] = [()]

    def functions(self, encode: Callable[[object], object]) -> dict[str, Callable[..., object]]:
        """What a template changed by `recording` expects in its view; `encode` writes a value in its grammar."""
        return {
            "_text": self._text,
            "_value": partial(self._value, encode),
            "_each": _each,
            "_enter": self._enter,
            "_leave": self._leave,
        }

    def _text(self, text: str, line: int) -> None:
        self._pieces.append(_Piece(text, (), self._deciding[-1], line, True))

    def _value(self, encode: Callable[[object], object], value: object, line: int) -> None:
        deciding = self._deciding[-1]
        inner = value.value if isinstance(value, Traced) else value
        if hasattr(inner, "lines"):  # a Body; asking for the protocol takes most of the time
            for each in inner.lines():
                origins = (*each.origins, *each.presence)
                self._pieces.append(_Piece(f"{each.text}\n", origins, deciding, line, False))
        else:
            origins = value.origins if isinstance(value, Traced) else ()
            self._pieces.append(_Piece(str(encode(inner)), origins, deciding, line, False))

    def _enter(self, *deciding: object) -> None:
        self._deciding.append((*self._deciding[-1], tuple(origins_in(deciding))))

    def _leave(self) -> None:
        self._deciding.pop()

    def lines(self, template: str) -> list[TracedLine]:
        """The lines that were printed."""
        lines: list[TracedLine] = []
        text: list[str] = []
        origins: list[Origins] = []
        deciding: dict[int, Origins] = {}
        first = 0

        def end() -> TracedLine:
            return TracedLine("".join(text), together(*origins), tuple(deciding.values()), template, first)

        for piece in self._pieces:
            parts = piece.text.split("\n")
            for index, part in enumerate(parts):
                if index:
                    lines.append(end())
                    text, origins, deciding, first = [], [], {}, 0
                    if index == len(parts) - 1 and not part:
                        break  # the next line begins with the next piece
                first = first or piece.line + (index if piece.constant else 0)
                text.append(part)
                deciding.update((id(group), group) for group in piece.deciding)
                if part:
                    origins.append(piece.origins)
        if "".join(text):
            lines.append(end())
        return lines


def _each(items: Iterable[object]) -> list[object]:
    """What a loop iterates over; the parts of a row inherit the origins of the row."""
    return [
        tuple(Traced(part, *item.origins) for part in item)
        if isinstance(item, Traced) and isinstance(item.value, tuple)
        else item
        for item in items
    ]


def recording(tree: nodes.Template) -> nodes.Template:
    """Change a template: instead of printing, it calls the functions of a `Recorder`."""
    tree.body = list(_recording(tree.body))
    return tree


def _recording(body: list[nodes.Node]) -> Iterator[nodes.Node]:
    from jinja2 import nodes

    for node in body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                line = nodes.Const(part.lineno)
                if isinstance(part, nodes.TemplateData):
                    yield _call("_text", nodes.Const(part.data), line)
                else:
                    yield _call("_value", part, line)
        elif isinstance(node, nodes.For):
            node.iter = nodes.Call(nodes.Name("_each", "load"), [node.iter], [], None, None)
            node.body = _guarded(_names(node.target), node.body)
            yield node
        elif isinstance(node, nodes.If):
            read = []
            for branch in (node, *node.elif_):
                read += _names(branch.test)
                branch.body = _guarded(read, branch.body)
            node.else_ = _guarded(read, node.else_)
            yield node


def _guarded(read: list[nodes.Expr], body: list[nodes.Node]) -> list[nodes.Node]:
    """A body that is rendered because of the values that were read."""
    return [_call("_enter", *read), *_recording(body), _call("_leave")]


def _call(function: str, *arguments: nodes.Expr) -> nodes.Node:
    from jinja2 import nodes

    return nodes.ExprStmt(nodes.Call(nodes.Name(function, "load"), list(arguments), [], None, None))


def _names(expression: nodes.Node) -> list[nodes.Expr]:
    """The values of the view that an expression reads, or that a loop sets."""
    from jinja2 import nodes

    if isinstance(expression, nodes.Name):
        return [nodes.Name(expression.name, "load")]
    if isinstance(expression, nodes.Getattr | nodes.Getitem):
        return [expression]
    return [found for child in expression.iter_child_nodes() for found in _names(child)]
