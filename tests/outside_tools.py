"""Programs that the tests use where they are installed, and skip aloud where they are not.

They are looked for in the folder that FLEETC_TEST_TOOLS names (programs in its bin/, packages of node in its
node_modules/), beside this Python, and on the PATH. `.ci/run` makes such a folder.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

TOOLS = Path(os.environ.get("FLEETC_TEST_TOOLS") or "/nonexistent")


def program(name: str) -> str:
    """Path of a program; the test is skipped without it."""
    places = (str(TOOLS / "bin"), str(Path(sys.executable).parent), os.environ.get("PATH", ""))
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        pytest.skip(f"{name} is not installed (FLEETC_TEST_TOOLS may name a folder that has it in bin/)")
    return found


def node_package(name: str) -> Path:
    """Directory of a package of node; the test is skipped without it."""
    found = TOOLS / "node_modules" / name
    if not found.is_dir():
        pytest.skip(f"the node package {name} is not in node_modules/ of a folder that FLEETC_TEST_TOOLS names")
    return found
