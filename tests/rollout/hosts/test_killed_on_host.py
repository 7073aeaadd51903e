"""Rollouts of a real host that are killed: the next one goes on, the host runs one release, and no Ansible is left.

fleetc ends by SIGKILL around a line of its journal; Ansible, and the program on the host, while they switch the host.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetc.rollout.hosts.journal import to_read
from tests.rollout.hosts.loopback import CANARIES, Loopback, loopback
from tests.rollout.hosts.test_controller_secrets import leftovers, places_outside_memory, processes_of
from tests.support import killed_on_error

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

__all__ = ["loopback"]

KILLED = """
import os, signal, sys
from fleetc.__main__ import main
from fleetc.rollout.hosts.journal import Journal

line, moment = sys.argv.pop(1).split()
write = Journal.write

def writing(journal, what, **facts):
    if (what, "before") == (line, moment):
        os.kill(os.getpid(), signal.SIGKILL)
    write(journal, what, **facts)
    if (what, "after") == (line, moment):
        os.kill(os.getpid(), signal.SIGKILL)

Journal.write = writing
main()
"""


class Killed:
    """The host, and releases of it, which are told apart by a price."""

    def __init__(self, world: Loopback) -> None:
        self.world, self.price = world, 1500
        self.roll_out()

    def release(self) -> None:
        """Compile another release."""
        self.price += 1
        self.world.change(f'"{self.price - 1} wei', f'"{self.price} wei')

    def roll_out(self, *options: str, code: int = 0) -> None:
        """A rollout to its end; afterwards no run left anything, and the host has the release whole."""
        with killed_on_error(self.world.start(options=options)) as rollout:
            assert rollout.wait(timeout=120) == code, self.world.said()
        assert leftovers(self.world) == []
        assert self.runs() == self.price
        run = to_read(self.journal.parent, "loopback").history.runs[-1]
        assert run.exit_code == code

    @property
    def journal(self) -> Path:
        return self.world.home / ".local/state/fleetc/loopback.jsonl"

    def runs(self) -> int:
        """The price of the one release that the host has: process, files, link and records agree."""
        host = self.world.host
        pid = self.world.hosts["one"].node()
        texts = [Path(f"/proc/{pid}/cmdline").read_text()]
        link = (host / "opt/fleetc/current/gate").readlink()
        directory = host / "opt/fleetc/current" / link
        texts += [(directory / name).read_text() for name in ("launch.flags", "compose.yaml")]
        assert json.loads((host / "var-lib/fleetc/state.json").read_text())["release"] == link.parts[2]
        assert CANARIES["rpc"] in (directory / "secrets/secrets.env").read_text()
        (price,) = {int(found) for text in texts for found in re.findall(r"-maxPricePerUnit=(\d+)", text)}
        return price

    def is_quiet(self) -> None:
        """Five seconds after a kill, nothing of Ansible runs any more, and no value of a secret lies about."""
        end = time.monotonic() + 5
        while processes_of(leftovers(self.world)) and time.monotonic() < end:
            time.sleep(0.1)
        assert [line for line in processes_of(leftovers(self.world)) if "ansible-playbook" in line] == []
        assert list(places_outside_memory(self.world)) == []


@pytest.fixture(scope="module")
def killed(loopback: Loopback) -> Iterator[Killed]:
    yield Killed(loopback)


USUAL = ("after batch", "before host")
LINES = [f"{moment} {line}" for line in ("begin", "batch", "host", "end") for moment in ("before", "after")]


@pytest.mark.parametrize(
    "where", [pytest.param(line, marks=() if line in USUAL else pytest.mark.slow) for line in LINES]
)
def test_fleetc_that_is_killed_around_a_line(killed: Killed, where: str) -> None:
    moment, line = where.split()
    before = killed.runs()
    killed.release()
    with killed_on_error(killed.world.start(program=("-c", KILLED, f"{line} {moment}"))) as rollout:
        assert rollout.wait(timeout=120) == -signal.SIGKILL, killed.world.said()
    killed.is_quiet()
    assert killed.runs() == (killed.price if line in ("host", "end") else before)
    broken = to_read(killed.journal.parent, "loopback").history.broken_off
    assert (broken is None) == (where in ("before begin", "after end"))
    killed.roll_out(*(["--resume"] if broken else []))


@pytest.mark.parametrize("who", ["ansible-playbook", pytest.param("fleetc_host.pyz", marks=pytest.mark.slow)])
def test_other_processes_that_are_killed_in_the_switch(killed: Killed, who: str) -> None:
    """Ansible, or the program on the host, once the switch has begun."""
    before = killed.runs()
    killed.release()
    switch = killed.world.host / "var-lib/fleetc/switch.json"
    with killed_on_error(killed.world.start()) as rollout:
        while not switch.exists() or json.loads(switch.read_text()).get("phase") not in ("switching", "watching"):
            assert rollout.poll() is None, killed.world.said()
            time.sleep(0.01)
        if who == "ansible-playbook":
            subprocess.run(["pkill", "-KILL", "-f", "--", f"{who}.*{killed.world.directory}"], check=True)
        else:
            (program,) = killed.world.hosts["one"].processes(f"{who} carry-out")
            os.kill(program, signal.SIGKILL)
        assert rollout.wait(timeout=120) in (4, 5), killed.world.said()
    killed.is_quiet()
    assert "Traceback" not in killed.world.said()
    if who != "ansible-playbook":
        assert killed.runs() == before
    killed.roll_out()
