"""The commands of `make demo-live`, in the order in which a person types them: `python -m tests.demo_live DIRECTORY`.

In: a new or empty directory, where the fleet stays for people to look at; with --keep, the hosts wait for what a person
types in another terminal. Out: each command and what it says; exit code 0, 1 when a command ended otherwise than it
should or something could not be started, 2 when the machine lacks what the demo needs, 130 when it was interrupted.
Whatever happens, all that it started has ended when it ends.
"""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlencode

from tests.demo_live.stage import FROM_OUTSIDE, Stage, standing, write_log
from tests.farm.sshd_host import PROGRAMS, needed
from tests.farm.system import FarmError
from tests.standin import set_on_node

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RAISE = "sed -i 's/\"1200 wei/\"1400 wei/' fleet.toml"
TO_TRY = f"""
For example, a price goes up and comes back:

  {RAISE}
  fleetc compile
  fleetc plan --observe            # what it means, against the release that the host runs
  git commit --quiet --all --message 'A higher price'
  fleetc deploy
  fleetc rollback --list           # where the hosts can go back to, and what that means
  fleetc rollback
  fleetc verify --no-public        # names the rollback
  git revert --no-edit HEAD        # the spec goes back too"""
PAYS_LESS = {"maxPricePerUnit": "1000", "pixelsPerUnit": "1"}
LOG = [
    (310, "Ibroadcast.go:965] manifestID=5c1a9e0b seqNo=3 Processing segment dur=2.0 bytes=410044"),
    (240, "Wselection_algorithm.go:86] Orchestrator 0x" + "2" * 40 + " is above max price 1000.000, price=1224.000"),
    (240, "Ebroadcast.go:1136] manifestID=5c1a9e0b seqNo=4 No sessions available for segment"),
    (238, "Wselection_algorithm.go:86] Orchestrator 0x" + "2" * 40 + " is above max price 1000.000, price=1224.000"),
    (180, "Ilb.go:189] manifestID=5c1a9e0b LB: Transcode loop timed out for key=5c1a9e0b_0"),
]
"""What the gateway would have written since its price was changed: seconds ago, and its lines, the severity first."""


class UnexpectedError(Exception):
    """A command ended otherwise than it should; the message says which."""


class Shell:
    """Runs commands in the directory of the fleet, and shows them as a person types them."""

    def __init__(self, directory: Path, stage: Stage) -> None:
        self.directory, self.stage = directory, stage

    def run(self, line: str, code: int) -> None:
        """Run a command, which should end with this exit code."""
        print(f"\n{_bold('$ ' + line)}", flush=True)
        environment, words = self.stage.environment, shlex.split(line)
        with subprocess.Popen(words, cwd=self.directory, env=environment, stdin=subprocess.DEVNULL) as process:
            try:
                ended = process.wait()
            except KeyboardInterrupt:
                _end(process)
                raise
        if ended != code:
            raise UnexpectedError(f"this ended with exit code {ended} instead of {code}: {line}")
        if code:
            print(f"(exit code {code})")


def main(words: list[str]) -> int:
    """Show it all."""
    keep, names = "--keep" in words, [word for word in words if word != "--keep"]
    if len(names) != 1:
        return _fail("name the directory where the fleet stays: python -m tests.demo_live DIRECTORY [--keep]", 2)
    directory = Path(names[0]).resolve()
    if directory.exists() and any(directory.iterdir()):
        return _fail(f"{directory} is not empty: remove it, or name another directory", 2)
    if missing := needed() or ("" if shutil.which("git", path=PROGRAMS) else "not installed: git"):
        return _fail(
            f"cannot start hosts here: {missing}\nmake demo-live needs root, sshd, unshare, gcc, libssl-dev and git.", 2
        )
    directory.mkdir(parents=True, exist_ok=True)
    for number in SIGNALS:
        signal.signal(number, _interrupted)
    try:
        with tempfile.TemporaryDirectory(prefix="fleetc-demo-live-") as work:
            _say("Starting on this machine: two hosts with sshd, a chain and a stream API. The nodes are stand-ins.")
            with standing(directory, Path(work)) as stage:
                shell = Shell(directory, stage)
                _roll_out(shell)
                if keep:
                    _wait(shell, Path(work) / "environment")
                else:
                    _show(shell)
    except KeyboardInterrupt:
        return _fail("interrupted; all that was started has ended", 130)
    except (UnexpectedError, FarmError, OSError, subprocess.CalledProcessError) as failure:
        return _fail(f"{failure}\nAll that was started has ended.", 1)
    page = "" if keep else ", and the page fleet.html"
    print(f"\nAll that was started has ended. The fleet is in {names[0]}: its spec, its tree{page}")
    return 0


def _roll_out(shell: Shell) -> None:
    _say("The fleet is compiled, committed and rolled out. Its public names are invented, so nobody asks them here.")
    shell.run("fleetc compile", 0)
    for line in ("git init --quiet", "git add .", "git commit --quiet --message 'The first release'"):
        shell.run(line, 0)
    shell.run("fleetc deploy", 0)
    _say("What runs is what was reviewed.")
    shell.run("fleetc verify --no-public", 0)


def _wait(shell: Shell, file: Path) -> None:
    """Keep all of it, and say how another terminal uses it, until an interrupt."""
    file.write_text(_exports(shell.stage.environment), encoding="utf-8")
    directory = shlex.quote(str(shell.directory))
    _say(f"All of it stays until you press Ctrl-C here. In another terminal:\n\n  cd {directory}\n  . {file}\n{TO_TRY}")
    with suppress(KeyboardInterrupt):
        signal.pause()


def _exports(environment: Mapping[str, str]) -> str:
    """The variables of the demo, for the shell of a person who keeps the own home and terminal."""
    own = ("HOME", "TMPDIR", "LC_ALL", "PATH", *FROM_OUTSIDE)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.items() if name not in own]
    lines.append(f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH")
    return "".join(f"{line}\n" for line in lines)


def _show(shell: Shell) -> None:
    _say("A price goes up. The plan compares it with the commit whose tree has the release that the host runs.")
    shell.run(RAISE, 0)
    shell.run("fleetc compile", 0)
    shell.run("git commit --quiet --all --message 'A higher price'", 0)
    shell.run("fleetc plan --observe", 0)
    shell.run("fleetc deploy", 0)
    _say("It was too high: back to what ran before. The spec is reverted too.")
    shell.run("fleetc rollback", 0)
    shell.run("fleetc verify --no-public", 1)
    shell.run("git revert --no-edit HEAD", 0)
    shell.run("fleetc verify --no-public", 0)
    address = f"{shell.stage.administration}/setBroadcastConfig"
    _say(f"Somebody has the gateway pay less while it runs: POST {address} {urlencode(PAYS_LESS)}")
    set_on_node(address, PAYS_LESS)
    shell.run("fleetc verify --no-public", 1)
    shell.run("fleetc verify --no-public --format html -o fleet.html", 1)
    _say("The spec has a stream, the stream API has none. FLEETC_STREAM_APIS says that the token may go there.")
    shell.run("fleetc streams", 1)
    shell.run("fleetc streams --apply", 0)
    shell.run("fleetc streams", 0)
    _say("The gateway fails streams, and its log says why. (A stand-in writes no such log: the demo put it there.)")
    write_log(shell.stage.hosts["edge"], LOG)
    shell.run("fleetc diagnose edge/gate", 1)


def _say(text: str) -> None:
    print(f"\n{text}", flush=True)


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text


def _fail(text: str, code: int) -> int:
    print(f"\ndemo-live: {text}", file=sys.stderr)
    return code


def _interrupted(*_: object) -> NoReturn:
    """The first signal ends the demo; what ends it then is not disturbed by another."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a command that Ctrl-C reached too, and end one that it did not reach."""
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
