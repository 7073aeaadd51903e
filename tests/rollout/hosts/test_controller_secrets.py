"""Where the values of secrets lie while a rollout runs, after it was killed, and after the next one started."""

from __future__ import annotations

import itertools
import os
import random
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.rollout.hosts.loopback import CANARIES, Loopback, loopback, spellings, texts_below
from tests.support import killed_on_error

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

__all__ = ["loopback"]

SPELLINGS = spellings()
SEED = 20240611


def canaries_in(data: bytes) -> list[str]:
    return [name for name, forms in SPELLINGS.items() if any(form in data for form in forms)]


def leftovers(world: Loopback) -> list[Path]:
    """Directories of rollouts, wherever those of this machine may make some."""
    return [path for place in (world.temporary, world.memory) for path in place.glob("fleetc-*")]


def places_outside_memory(world: Loopback) -> Iterator[str]:
    """Every file with a value in it, but for those that the rollout is there to write and its directory in memory."""
    allowed = {world.host / "etc/livepeer/queue"}
    for place in (world.temporary, world.home, world.host):
        for path, data in texts_below(place):
            found = canaries_in(data)
            if found and path not in allowed and not is_secret_file(path):
                yield f"{path.relative_to(place)}: {found}"


def is_secret_file(path: Path) -> bool:
    """Whether a file is, or is about to be, the secrets of a release, for root alone in a directory for root alone."""
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (path, path.parent)]
    return path.parent.name == "secrets" and "releases" in path.parts and modes == [0o600, 0o700]


def processes_with_values(world: Loopback, rollout: int) -> Iterator[str]:
    """Every process but the rollout itself and this test that has a value in its environment or arguments.

    The command of a secret reference is the user's own program, so it has the user's environment, as by hand.
    """
    for directory in Path("/proc").glob("[0-9]*"):
        if int(directory.name) in (rollout, os.getpid()):
            continue
        with suppress(OSError):
            arguments, environment = settled(directory, rollout)
            if (directory / "exe").readlink().name == "livepeer":  # the node itself
                continue
            who = arguments.replace(b"\0", b" ")[:80]
            command_of_a_secret = str(world.directory / "keeper").encode() in arguments
            for name, data in (("environ", b"" if command_of_a_secret else environment), ("cmdline", arguments)):
                found = canaries_in(data)
                if found:
                    yield f"{name} of {who!r}: {found}"


def settled(directory: Path, rollout: int) -> tuple[bytes, bytes]:
    """The arguments and the environment of one process, both of the same program.

    Between fork and exec a child is a copy of the rollout, and what was read then is no finding: it is read again
    until the child runs its own program, or for ten seconds.
    """
    try:
        own = Path(f"/proc/{rollout}/cmdline").read_bytes()  # empty when it is dead, as with threads of the kernel
    except OSError:
        own = b""
    for _ in range(200):
        before = (directory / "cmdline").read_bytes()
        environment = (directory / "environ").read_bytes()
        arguments = (directory / "cmdline").read_bytes()
        if before == arguments and (arguments != own or own == b""):
            break
        time.sleep(0.05)
    return arguments, environment


def open_to_others(place: Path) -> Iterator[str]:
    """What lies in the directories of rollouts in memory and somebody else may read."""
    for top in place.glob("fleetc-private-*"):
        # os.walk passes over a directory that vanishes meanwhile, which rglob does not.
        inside = (Path(folder, name) for folder, *names in os.walk(top) for name in itertools.chain(*names))
        for path in (top, *inside):
            try:
                mode = path.lstat().st_mode
            except FileNotFoundError:
                continue
            if not stat.S_ISLNK(mode) and mode & 0o077:
                yield f"{stat.filemode(mode)} {path}"


def look(world: Loopback, rollout: int) -> None:
    """Search everything once."""
    assert list(places_outside_memory(world)) == []
    assert list(processes_with_values(world, rollout)) == []
    assert list(open_to_others(world.memory)) == []


def processes_of(places: list[Path]) -> list[str]:
    """Processes that were started for the rollouts that had these directories."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = (directory / "environ").read_bytes()
            if any(b"ANSIBLE_HOME=%s/" % str(place).encode() in environment for place in places):
                found.append(f"{directory.name}: {(directory / 'cmdline').read_bytes()!r}")
    return found


def follow(world: Loopback, lines: int, seconds: float, left: list[Path]) -> subprocess.Popen[bytes]:
    """A rollout, watched until `seconds` after it told that many changes.

    Before it makes a directory of its own, nothing is there any more of the dead rollouts that `left` some.
    """
    world.forget()
    end = None
    with killed_on_error(world.start()) as rollout:
        while rollout.poll() is None and (end is None or time.monotonic() < end):
            if set(leftovers(world)) - set(left):  # its own is there, so from now on no other is
                assert not set(leftovers(world)) & set(left), "a directory of a dead rollout is still there"
                assert processes_of(left) == []
                left = []
            look(world, rollout.pid)
            if end is None and world.said().count("one: ") >= lines:
                end = time.monotonic() + seconds
            time.sleep(0.05)
    return rollout


def kill(world: Loopback, count: int, seed: int) -> list[Path]:
    """Kill that many rollouts, each at another moment; return the directories that are left."""
    moments = random.Random(seed)
    left: list[Path] = []
    for _ in range(count):
        rollout = follow(world, moments.randint(0, 1), moments.uniform(0, 1), left)
        assert rollout.poll() is None, world.said()
        rollout.kill()
        rollout.wait()
        look(world, rollout.pid)
        for _ in range(600):
            if not any("ansible-playbook" in line for line in processes_of(leftovers(world))):
                break
            time.sleep(0.05)
        else:
            raise AssertionError("Ansible went on without fleetc")
        left += [path for path in leftovers(world) if path not in left]
    assert left
    return left


def finished(world: Loopback) -> None:
    """What holds after a rollout that was not killed."""
    assert not any(value in world.said() for value in CANARIES.values())
    assert leftovers(world) == []
    (written,) = world.host.glob("opt/fleetc/releases/*/gate/secrets/secrets.env")
    assert set(written.read_text().splitlines()) >= {
        f'LP_ETHURL="https://rpc.example.net/{CANARIES["rpc"]}"',
        f'PULL_KEY="{CANARIES["command"]}"',
        f'LP_KAFKAPASSWORD="{CANARIES["vault"]}"',
        f'LP_METADATAQUEUEURI="amqps://queue.example.net/{CANARIES["host"]}"',
    }
    found = written.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (0o600, 0, 0)


@pytest.mark.parametrize("count", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_no_value_outlives_a_killed_rollout(count: int, loopback: Loopback) -> None:
    left = kill(loopback, count, SEED + count)
    with killed_on_error(follow(loopback, 1, 0, left)) as rollout:  # the secrets are in their place
        rollout.send_signal(signal.SIGTERM)
        assert rollout.wait(timeout=120) in (0, 5), loopback.said()  # 0 where the batch had ended when it heard of it
    finished(loopback)


def test_without_memory_a_warning_says_where_values_lie(loopback: Loopback) -> None:
    disk = loopback.directory / "no-memory"
    disk.mkdir(mode=0o700)
    hidden = ["unshare", "--mount", "sh", "-c", f'mount --bind {disk} /dev/shm && exec "$@"', "sh"]
    found: list[int] = []
    with killed_on_error(loopback.start(*hidden, XDG_RUNTIME_DIR=str(disk))) as rollout:
        while rollout.poll() is None and "warning: " not in loopback.said():
            time.sleep(0.05)
        while rollout.poll() is None and not found:
            with suppress(FileNotFoundError):
                for values in loopback.temporary.glob("fleetc-private-*/*/values.json"):
                    found = [stat.S_IMODE(path.stat().st_mode) for path in (values, values.parent)]
        assert found == [0o600, 0o700]
        rollout.send_signal(signal.SIGTERM)
        assert rollout.wait(timeout=120) in (0, 1, 5), loopback.said()
    assert "warning: XDG_RUNTIME_DIR and /dev/shm are not private directories in memory" in loopback.said()
    assert leftovers(loopback) == [] and list(disk.iterdir()) == []
