"""A check leaves nothing behind in a process that lives on: what it makes has no cycles, and goes with its last name.

The command freezes what a check made, so that no collection looks at it again. A cycle in it would stay for ever.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from fleetc.pipeline import check_spec, compile_spec
from fleetc.toml.document import Source
from tests.support import INVENTORIES, shipped


@pytest.mark.parametrize("spec", sorted(INVENTORIES.glob("*/fleet.toml")), ids=lambda path: path.parent.name)
def test_what_a_check_makes_has_no_cycles(spec: Path) -> None:
    text = spec.read_text(encoding="utf-8")
    broken = [text.replace("wei", "wie"), text.replace("host = ", "hots = "), text.replace(" = ", " = 1 # ")]
    broken += [text[: len(text) // 2] + "[half", text.replace('"', "'", 9)]
    for known, wrong in ((text, False), *((one, True) for one in broken)):
        sources = [Source("fleet.toml", known)]
        for work in (check_spec, compile_sources) if not wrong else (check_spec,):
            work(sources)  # what is read once and kept
            gc.collect()
            gc.freeze()
            gc.disable()
            try:
                work(sources)
                assert gc.collect() == 0, "it made objects that refer to each other in a circle"
            finally:
                gc.unfreeze()
                gc.enable()


def compile_sources(sources: list[Source]) -> object:
    return compile_spec(sources, *shipped())
