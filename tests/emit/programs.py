"""Finds and runs the real programs that read artifacts. Used by the tests of formats and playbooks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def program(name: str) -> str:
    """Path of a program, beside this Python or on the PATH; the test is skipped without it."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*command: str | Path, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with a bare environment; the status is the caller's to check."""
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '/usr/bin:/bin')}"
    environment = {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    environment["ANSIBLE_PYTHON_INTERPRETER"] = sys.executable
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
