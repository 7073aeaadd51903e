"""Edits of one field each: the classes that people gave them, and the line that they were made in."""

from __future__ import annotations

import pytest

from fleetc.review.data import Review
from tests.review.labelled import EDITS, Edited
from tests.review.support import classes, example, review


def reviewed(edit: Edited) -> tuple[Review, range, range]:
    text = example(edit.fleet)
    edited, old_lines, new_lines = edit.apply(text)
    return review(text, edited), old_lines, new_lines


def test_the_set_is_large_and_has_every_class_often() -> None:
    assert len(EDITS) >= 200
    assert len({edit.name for edit in EDITS}) == len(EDITS)
    counts = {name: sum(name in edit.classes for edit in EDITS) for edit in EDITS for name in edit.classes}
    assert min(counts.values()) >= 10, counts
    assert len(counts) == 10


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_edit_has_the_classes_of_its_label_and_every_change_names_its_line(edit: Edited) -> None:
    found, old_lines, new_lines = reviewed(edit)
    assert classes(found) == edit.classes
    for change in found.changes:
        lines = [(spot.side, spot.line) for spot in change.causes]
        assert any(line in (new_lines if side == "new" else old_lines) for side, line in lines), (change.what, lines)
