"""What the tests of the reports share: reviews of every size, and a plain reader of HTML."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from html.parser import HTMLParser

from fleetc.review.data import IMPACTS, Box, Cause, Change, Edge, Effect, FileChange, Line, NodeRef, Review
from tests.review.samples import EMPTY, NASTY, huge, mixed, nasty, price_on

TEXTS = tuple(text for text in NASTY if text.strip())
VOID = frozenset({"meta", "link", "input", "img", "br", "hr", "wbr"})


def everyday() -> Iterator[Review]:
    """One review of each kind."""
    yield EMPTY
    yield mixed()
    yield price_on(500)
    yield huge(300)
    yield from map(nasty, NASTY)


def wild(seed: int) -> Review:
    """A review of any size, of texts that want to do harm, reproducible by its seed."""
    dice = random.Random(seed)

    def text() -> str:
        if dice.random() < 0.3:
            return dice.choice(("gpu-1", "-pricePerUnit", "1200 wei / pixel", "orchestrators.eu.price"))
        return dice.choice(NASTY)[: dice.choice((5, 80, 200_000))]

    def some(most: int) -> range:
        return range(dice.choice((0, 1, 2, most)))

    def line() -> Line:
        old, new = dice.choice(((text(), text()), (None, text()), (text(), None)))
        return Line(text(), 0 if old is None else 3, 0 if new is None else 4, old, new, None)

    def change() -> Change:
        return Change(
            kind=text(),
            what=text(),
            old=dice.choice((None, text())),
            new=dice.choice((None, text())),
            targets=tuple(NodeRef(text(), text()) for _ in some(60)),
            causes=tuple(
                Cause(dice.choice(("new", "old")), "given", text(), 1, 1, text(), text(), text()) for _ in some(12)
            ),
            effects=tuple(
                Effect(dice.choice(IMPACTS), text(), Decimal(1), tuple(text() for _ in some(9))) for _ in some(20)
            ),
            lines=tuple(line() for _ in some(30)),
        )

    changes = sorted((change() for _ in some(250)), key=_gravity)
    return Review(
        fleet=text(),
        baseline=text(),
        tool=text(),
        changes=tuple(changes),
        files=tuple(FileChange(text(), "changed", tuple(line() for _ in some(40))) for _ in some(150)),
        restarts=tuple((NodeRef(text(), text()), dice.choice((None, 7))) for _ in some(300)),
        picture=tuple(Box(text(), text(), (text(),), (text(),)) for _ in some(90)),
        edges=tuple(Edge(text(), text(), text()) for _ in some(90)),
        notes=tuple(text() for _ in some(40)),
    )


def _gravity(change: Change) -> int:
    return min((IMPACTS.index(effect.impact) for effect in change.effects), default=len(IMPACTS))


class Reader(HTMLParser):
    """Reads HTML: `shape` has each element with the names of its attributes, `texts` each text with what is around."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.shape: list[tuple[str, tuple[str, ...]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.open: list[str] = []
        self.whole: dict[str, list[str]] = {}
        self.other: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shape.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
            self.whole.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self.open), data))
        if self.open and self.whole.get(self.open[-1]):
            self.whole[self.open[-1]][-1] += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)

    def text(self, tag: str) -> list[str]:
        """The text of each element of one kind that holds text alone."""
        return self.whole.get(tag, [])
