"""fleetc compiles one TOML spec of a video and AI node fleet into everything its hosts need.

Other programs can use the ten names here, from `interface.py`; nothing else in the package is stable. Read
compiler/README.md first: it has the map of this package and its invariants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fleetc.interface import (
        Checked,
        Compiled,
        Diagnostic,
        Located,
        Review,
        as_text,
        check,
        compile,
        diff,
        located,
    )

__all__ = [
    "Checked",
    "Compiled",
    "Diagnostic",
    "Located",
    "Review",
    "as_text",
    "check",
    "compile",
    "diff",
    "located",
]


def __getattr__(name: str) -> Any:
    # Imported when it is asked for: the command line starts here too, and must not wait for all of the package.
    if name not in __all__:
        raise AttributeError(f"fleetc has no {name}; its interface is {', '.join(__all__)}")
    from fleetc import interface

    return getattr(interface, name)
