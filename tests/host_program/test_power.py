"""Slots whose service is slow to put them to sleep: none is left asleep and called well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.host_program.program import Program, loaded

SLOT = {"name": "slot-00", "project": "vtuber-mira", "directories": []}
MADE = {"config": "1", "image": "game", "id": "1", "ports": []}


class Slot:
    """A slot that falls asleep right after Compose was asked, because the service had not answered until then."""

    def __init__(self, root: Path, wakes: bool) -> None:
        self.program: Program = loaded(root)
        self.root, self.wakes, self.runs = root, wakes, True
        self.told: list[str] = []
        self.marks: list[str] = []
        self.program |= {
            "containers_of": lambda *_: [
                {
                    "running": self.runs,
                    "state": "running" if self.runs else "exited",
                    "code": 143,
                    "service": "game",
                    **MADE,
                }
            ],
            "steering": lambda: "http://127.0.0.1:1",
            "tell": self.tell,
            "up": self.up,
            "mark": lambda _name, text, *_: self.marks.append(text),
            "marker_of": lambda _name: "old",
            "note": lambda *_, **__: None,
        }

    def tell(self, _where: str, _path: str, words: dict[str, Any]) -> int | None:
        self.told.append(words["action"])
        if words["action"] == "sleep":
            return None
        self.runs = self.wakes
        return 200

    def up(self, *_: Any) -> None:
        self.runs = False

    def bring(self) -> None:
        self.program["bring_slot"]({"checkout": str(self.root)}, SLOT, "a b c d e", lambda *_: None, False, True)


def test_slot_that_falls_asleep_too_late_is_woken_or_refused(tmp_path: Path) -> None:
    slot = Slot(tmp_path / "wakes", wakes=True)
    slot.bring()
    assert slot.told == ["sleep", "wake"] and slot.runs and slot.marks[-1] == "a b c d e"
    slot = Slot(tmp_path / "sleeps", wakes=False)
    with pytest.raises(slot.program["RefusedError"], match="vtuber-mira does not wake"):
        slot.bring()
    assert "a b c d e" not in slot.marks
