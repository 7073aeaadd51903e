"""A cheap host: a real sshd on 127.0.0.1, in a mount namespace of its own, with a stand-in for docker.

In: a directory, a port, the keys of who may log in. Out: `SshdHost`. Its /etc, /opt, /var/lib, /root, /run and
temporary files are not this machine's; its processes and its network are, so its nodes need ports of their own. It has
no systemd. Needs root, sshd, unshare and gcc. For hosts with everything see `tests/farm/farm.py`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.farm.system import FarmError
from tests.standin import can_build
from tests.support import ROOT

PROGRAMS = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for, on both sides."""

_DOCKER = ROOT / "tests/standin/docker.py"
_NO_SYSTEMD = "#!/bin/sh\necho 'this host has no systemd' >&2\nexit 1\n"

_PLACES = {"opt": "/opt", "var-lib": "/var/lib", "root": "/root"}
"""Directories of the host, which hide this machine's; its /etc is laid over this one's, and its /run is new."""

_ENTER = """set -e
mount --make-rprivate /
mount -t overlay overlay -o lowerdir=/etc,upperdir=etc,workdir=work /etc
{binds}
mount -t tmpfs tmpfs /run
mkdir /run/sshd
exec {sshd} -D -e -f {config}
"""


def needed() -> str:
    """What keeps this machine from having such hosts; empty where nothing does."""
    if os.geteuid() != 0:
        return "not root: the host's directories are mounts"
    programs = ("sshd", "ssh", "ssh-keygen", "unshare", "nsenter")
    missing = [name for name in programs if shutil.which(name, path=PROGRAMS) is None]
    missing += [] if can_build() else ["what the stand-in node is built with"]
    return f"not installed: {', '.join(missing)}" if missing else ""


def _python_below(name: str, path: str) -> str:
    """What keeps the Python of the tests in sight of a host whose directory `name` hides it below `path`."""
    base = Path(sys.base_prefix)
    if not base.is_relative_to(path):
        return ""
    inner = shlex.quote(str(name / base.relative_to(path)))
    return f"mkdir -p {inner}; mount --bind {shlex.quote(str(base))} {inner}\n"


class SshdHost:
    """One host; `files` is the directory that has its etc, opt, var-lib and root. `start` it, and `close` it."""

    def __init__(self, directory: Path, port: int) -> None:
        self.files, self.port = directory, port
        for name in (*_PLACES, "etc", "work", "tmp", "bin"):
            (directory / name).mkdir(parents=True)
        self._sshd: subprocess.Popen[bytes] | None = None
        self._node = Path()

    def processes(self, words: str) -> list[int]:
        """The processes of this host whose command line has these words: other hosts have the same programs."""
        assert self._sshd is not None, "it runs"
        own, found = Path(f"/proc/{self._sshd.pid}/ns/mnt").readlink(), []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):  # one that has ended meanwhile
                here = entry.name.isdecimal() and (entry / "ns/mnt").readlink() == own
                if here and words.encode() in (entry / "cmdline").read_bytes().replace(b"\0", b" "):
                    found.append(int(entry.name))
        return found

    def start(self, node: Path, host_key: Path, public_key: Path) -> None:
        """Start sshd; containers are processes of the program `node`, and the owner of `public_key` may log in.

        Raises FarmError with the words of sshd, or of what makes its directories.
        """
        programs, self._node = self.files / "bin", node
        shutil.copy(_DOCKER, programs / "docker")
        for name in ("systemctl", "systemd-run"):
            (programs / name).write_text(_NO_SYSTEMD)
        for program in programs.iterdir():
            program.chmod(0o755)
        shutil.copy(public_key, self.files / "authorized-keys")
        config = self.files / "sshd-config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {host_key}\nPidFile none\nMaxStartups 100\n"
            f"AuthorizedKeysFile {self.files}/authorized-keys\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            f"Subsystem sftp internal-sftp\n"
            f"SetEnv PATH={programs}:/usr/sbin:/usr/bin:/sbin:/bin TMPDIR={self.files}/tmp STANDIN_NODE={node}\n"
        )
        binds = "\n".join(f"{_python_below(name, path)}mount --rbind {name} {path}" for name, path in _PLACES.items())
        script = _ENTER.format(binds=binds, sshd=shutil.which("sshd", path=PROGRAMS), config=config)
        command = ["unshare", "--mount", "sh", "-c", script]
        with (self.files / "sshd.log").open("wb") as log:
            self._sshd = subprocess.Popen(
                command, cwd=self.files, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,  # Ctrl-C ends who started the host, which then ends the host and its nodes
            )  # fmt: skip
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise FarmError(f"sshd does not start: {(self.files / 'sshd.log').read_text()}")

    def inside(self, *command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command with the directories of the host, and with its docker."""
        assert self._sshd is not None, "a host that was started"
        environment = {
            **{"PATH": f"{self.files}/bin:{PROGRAMS}", "HOME": "/root", "TMPDIR": f"{self.files}/tmp"},
            **{"STANDIN_NODE": str(self._node), **options.pop("env", {})},
        }
        return subprocess.run(
            ["nsenter", f"--mount=/proc/{self._sshd.pid}/ns/mnt", "--", *command],
            env=environment, capture_output=True, text=True, check=False, **options,
        )  # fmt: skip

    def node(self) -> int:
        """The process of its first container; 0 without one."""
        for state in sorted((self.files / "var-lib/containers").glob("*.json")):
            with suppress(OSError, ValueError, KeyError):
                pid = int(json.loads(state.read_text())["pid"])
                return pid if Path(f"/proc/{pid}/exe").exists() else 0
        return 0

    def close(self) -> None:
        """End all that runs on the host, and sshd, with which its mounts go."""
        if self._sshd is not None:
            self._end_processes(self._sshd.pid)
            self._sshd.terminate()
            self._sshd.wait(timeout=20)

    def forget(self) -> None:
        """Make it a host that nothing was rolled out to; what runs there ends."""
        assert self._sshd is not None, "a host that was started"
        self._end_processes(self._sshd.pid)
        shutil.rmtree(self.files / "var-lib/containers", ignore_errors=True)
        assert self.inside("rm", "-rf", "/etc/fleetc", "/opt/fleetc", "/var/lib/fleetc").returncode == 0

    def _end_processes(self, sshd: int) -> None:
        """End all that runs on the host but sshd: sessions, what a module began there, and nodes."""
        own, ended = Path(f"/proc/{sshd}/ns/mnt").readlink(), 1
        while ended:
            ended = 0
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):  # one that ended meanwhile
                    if int(process.name) != sshd and (process / "ns/mnt").readlink() == own:
                        os.kill(int(process.name), signal.SIGKILL)
                        ended += 1
            time.sleep(0.01)


def write_keys(directory: Path, hosts: Iterable[SshdHost]) -> None:
    """Make the key `key` of a person, the key `host-key` of all hosts, and the file `known-hosts` that has it."""
    for name in ("host-key", "key"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)]
        subprocess.run(words, env={**os.environ, "PATH": PROGRAMS}, check=True, stdin=subprocess.DEVNULL)
    key = " ".join((directory / "host-key.pub").read_text().split()[:2])
    (directory / "known-hosts").write_text("".join(f"[127.0.0.1]:{host.port} {key}\n" for host in hosts))


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody has."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports
