"""Lines that differ: pairs that rebuild the new text from the old, in time that grows with the texts alone."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from fleetc.review import lines
from fleetc.review.lines import differing

TEXT = st.lists(st.sampled_from(["a", "b", "c", "", "same", "é", "\x0b"]), max_size=30).map("\n".join)


def check(old: str, new: str) -> None:
    pairs = differing(old, new)
    left, right = old.split("\n"), new.split("\n")
    assert bool(pairs) == (old != new)
    for pair in pairs:
        assert pair.old is None or left[pair.old_line - 1] == pair.old
        assert pair.new is None or right[pair.new_line - 1] == pair.new
        assert pair.old != pair.new
    gone, come = {p.old_line for p in pairs if p.old is not None}, {p.new_line for p in pairs if p.new is not None}
    assert [x for n, x in enumerate(left, 1) if n not in gone] == [x for n, x in enumerate(right, 1) if n not in come]


@given(TEXT, TEXT)
def test_lines_that_are_not_named_are_the_same_on_both_sides(old: str, new: str) -> None:
    check(old, new)


def test_file_that_comes_or_goes_has_all_its_lines() -> None:
    assert [(p.old, p.new) for p in differing(None, "a\nb")] == [(None, "a"), (None, "b")]
    assert [(p.old, p.new) for p in differing("a", None)] == [("a", None)]
    assert len(differing(None, "")) == 1


def test_long_texts_are_compared_in_time() -> None:
    many = [f"| node-{n} | {n % 7} |" for n in range(60_000)]
    edited = [line.replace("| 3 |", "| 4 |") for line in many]
    began = time.process_time()
    assert len(differing("\n".join(many), "\n".join(edited))) == sum(a != b for a, b in zip(many, edited, strict=True))
    shifted = differing("\n".join(many), "\n".join([*edited[:30_000], "new", *edited[30_000:]]))
    assert time.process_time() - began < 5
    assert len(shifted) > lines._LIMIT
