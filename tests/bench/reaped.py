"""Runs a command and says what it cost, with all that it started, also what outlived it.

In: a file for the answer, and the command. Out: JSON with seconds of processor and of wall time and the peak memory of
its largest process in bytes; the exit code is the command's. Ansible starts ssh connections that leave their parents:
here they become children of this process, which waits for them. A process of its own, so that nothing else counts.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def main(answer: str, *command: str) -> int:
    """Run the command to its end, and that of what it left."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    begun = time.monotonic()
    code = subprocess.run(command, check=False).returncode
    wall = time.monotonic() - begun
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"processor_s": used.ru_utime + used.ru_stime, "wall_s": wall, "peak_bytes": used.ru_maxrss * 1024}
    Path(answer).write_text(json.dumps(cost), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
