"""What a host has written down of its switches, and waiting for it.

In: a host of the farm. Out: its record, its switch, or the end of a wait. Called by the tests of this folder.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from tests.farm.farm import Host

STATE = "/var/lib/fleetc"


def state_of(host: Host) -> dict[str, Any]:
    """The record of what a host runs."""
    found: dict[str, Any] = json.loads(host.read(f"{STATE}/state.json"))
    return found


def switch_of(host: Host) -> dict[str, Any]:
    """The switch that a host has written down, or nothing."""
    try:
        found: dict[str, Any] = json.loads(host.read(f"{STATE}/switch.json"))
    except (FileNotFoundError, ValueError):
        return {}
    return found


def journal_of(host: Host) -> list[dict[str, Any]]:
    """The lines of a host's own journal."""
    return [json.loads(line) for line in host.read(f"{STATE}/journal.jsonl").splitlines()]


def wait(until: Callable[[], bool], seconds: float, what: str) -> None:
    """Ask every tenth of a second; the test fails with `what` when the seconds are over."""
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def in_phase(host: Host, *phases: str, seconds: float = 180) -> None:
    """Wait for a phase of the switch; "" is none that is open."""
    wait(lambda: switch_of(host).get("phase", "") in phases, seconds, f"{host.name} is not {phases}")
