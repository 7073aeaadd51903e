"""Origins of single values inside planned files.

In: rungs of ladders with their places in the spec. Out: origins by place in the
file. Called by the files of this package that plan JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from compiler.diagnostics import Path
from compiler.model.renditions import Rung, node_entry
from compiler.origin import Origin, default, given


def rung_places(
    rungs: Sequence[Rung], below: Path = (), entry: Callable[[Rung], dict[str, Any]] = node_entry
) -> dict[Path, Origin]:
    """The origin of each value of a list of rungs that stands at `below` in a file, written by `entry`."""
    return {(*below, index, key): _rung_origin(rung, key) for index, rung in enumerate(rungs) for key in entry(rung)}


def _rung_origin(rung: Rung, key: str) -> Origin:
    if isinstance(rung.path[-1], str):  # the path of a whole stream: nobody wrote this rung
        return default("the default ladder of the stream API", rung.path)
    if key == "fps" and rung.fps is None:
        return default("the frame rate of the source", rung.path)
    return given(*rung.at(key))
