"""The program that runs on hosts, loaded into the test's own process with its files below another directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fleetc.disk.reading import read_playbooks
from fleetc.emit.host_program import HOST_PROGRAM

TEXT = read_playbooks()[HOST_PROGRAM].decode()


def loaded(root: Path) -> dict[str, Any]:
    """The names of the program; every path that it uses lies below `root`."""
    space: dict[str, Any] = {"__name__": "fleetc_host"}
    exec(compile(TEXT, HOST_PROGRAM, "exec"), space)
    for name, value in space.items():
        if name.isupper() and isinstance(value, str) and value.startswith("/"):
            space[name] = f"{root}{value}"
    return space
