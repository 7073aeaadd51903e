"""Runs bare ansible-playbook once for each batch, as somebody does who looks at a batch before the next one.

In: the command for the whole fleet, in the directory of its Ansible project. Out: the exit code of the last run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def main(*command: str) -> int:
    """Run all batches of rollout.json, up to the first one that fails."""
    for batch in json.loads(Path("rollout.json").read_text("utf-8"))["fleet_batches"]:
        code = subprocess.run([*command, "--limit", ",".join(batch)], check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
