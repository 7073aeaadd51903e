"""A host with one slot, as the packet filter sees it: namespaces for the host, a container, and two callers outside.

In: the rules of a host. Out: `Network`, whose `reaches` makes a real connection. Needs root and nftables; used by the
tests of the firewall. Docker's part is played by the same rewriting rules in a table of their own.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

HOST = "192.0.2.11"
SLOT_GATEWAY, CONTAINER = "172.30.3.1", "172.30.3.2"
CALLERS = {"friend": "203.0.113.77", "stranger": "203.0.113.200"}

_numbers = itertools.count(1)

_REWRITING = """
table ip docker_like {
  chain prerouting {
    type nat hook prerouting priority dstnat;
    fib daddr type local tcp dport 8083 dnat to 172.30.3.2:80
    fib daddr type local tcp dport 9880 dnat to 172.30.3.2:9877
    fib daddr type local tcp dport 7780 dnat to 172.30.3.2:7777
  }
}
"""

_SERVER = """
import socket, sys, threading
def tcp(port):
    server = socket.create_server(("", port), backlog=20)
    while True:
        connection, _ = server.accept()
        connection.sendall(b"here")
        connection.close()
def udp(port):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("", port))
    while True:
        data, caller = server.recvfrom(100)
        server.sendto(b"here", caller)
for word in sys.argv[1:]:
    protocol, port = word.split("/")
    threading.Thread(target={"tcp": tcp, "udp": udp}[protocol], args=(int(port),)).start()
print("ready", flush=True)
"""

_CLIENT = """
import socket, sys
protocol, address, port = sys.argv[1:]
kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
with socket.socket(socket.AF_INET, kind) as client:
    client.settimeout(0.7)
    try:
        client.connect((address, int(port)))
        client.sendall(b"hello") if protocol == "udp" else None
        sys.exit(0 if client.recv(10) == b"here" else 1)
    except TimeoutError:
        sys.exit(2)
    except OSError:
        sys.exit(3)
"""


def run(*command: str | Path, stdin: str | None = None) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


class Network:
    """The namespaces `host`, `container`, `friend` and `stranger`, wired together."""

    def __init__(self) -> None:
        self.prefix = f"fleetc-nft-{os.getpid()}-{next(_numbers)}"
        self._undo = ExitStack()

    def name(self, part: str) -> str:
        """The namespace of a part."""
        return f"{self.prefix}-{part}"

    def inside(self, part: str, *command: str | Path, stdin: str | None = None) -> str:
        """Run a command in a namespace."""
        return run("ip", "netns", "exec", self.name(part), *command, stdin=stdin)

    def build(self) -> None:
        """Make the namespaces, links, addresses and the rewriting of Docker."""
        for part in ("host", "container", *CALLERS):
            run("ip", "netns", "add", self.name(part))
            self._undo.callback(run, "ip", "netns", "delete", self.name(part))
            self.inside(part, "ip", "link", "set", "lo", "up")
        for index, (part, address) in enumerate(CALLERS.items()):
            self._link(part, f"out{index}", f"{address}/32")
            self.inside("host", "ip", "address", "add", f"{HOST}/32", "dev", f"out{index}")
            self.inside("host", "ip", "route", "add", f"{address}/32", "dev", f"out{index}")
            for target in (f"{HOST}/32", "172.30.3.0/24"):
                via = () if target.startswith(HOST) else ("via", HOST)
                self.inside(part, "ip", "route", "add", target, *via, "dev", "eth0")
        self.inside("host", "ip", "link", "add", "br-slot3", "type", "bridge")
        self._link("container", "veth3", f"{CONTAINER}/24")
        self.inside("host", "ip", "link", "set", "veth3", "master", "br-slot3")
        self.inside("host", "ip", "address", "add", f"{SLOT_GATEWAY}/24", "dev", "br-slot3")
        self.inside("host", "ip", "link", "set", "br-slot3", "up")
        self.inside("container", "ip", "route", "add", "default", "via", SLOT_GATEWAY)
        self.inside("host", "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        self.inside("host", "nft", "-f", "-", stdin=_REWRITING)

    def _link(self, part: str, device: str, address: str) -> None:
        peer = ("type", "veth", "peer", "name", "eth0", "netns", self.name(part))
        self.inside("host", "ip", "link", "add", device, *peer)
        self.inside("host", "ip", "link", "set", device, "up")
        self.inside(part, "ip", "address", "add", address, "dev", "eth0")
        self.inside(part, "ip", "link", "set", "eth0", "up")

    def serve(self, part: str, *ports: str) -> None:
        """Listen on ports, such as tcp/80, in a namespace until the network is taken down."""
        command = ["ip", "netns", "exec", self.name(part), sys.executable, "-c", _SERVER, *ports]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._undo.callback(_end, server)
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"

    def reaches(self, part: str, port: str, address: str = HOST) -> bool:
        """Whether a real connection from a part to a port, such as tcp/8083, is answered; silence is no."""
        protocol, number = port.split("/")
        command = ["ip", "netns", "exec", self.name(part), sys.executable, "-c", _CLIENT, protocol, address, number]
        for _ in range(2):  # the first packet may be lost to neighbour discovery
            done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
            if done.returncode == 0:
                return True
            assert done.returncode == 2, (port, done.returncode, done.stderr)
        return False

    def reached(self, part: str, ports: Sequence[str], address: str = HOST) -> set[str]:
        """Which of the ports a part reaches, asked all at once: a port that is silent is waited for."""
        with ThreadPoolExecutor(len(ports)) as pool:
            answers = pool.map(lambda port: self.reaches(part, port, address), ports)
            return {port for port, answer in zip(ports, answers, strict=True) if answer}

    def close(self) -> None:
        """Take everything down."""
        self._undo.close()


def _end(server: subprocess.Popen[str]) -> None:
    server.kill()
    server.wait(10)
    if server.stdout is not None:
        server.stdout.close()


@contextmanager
def network(servers: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Network]:
    """The network with its servers; it is gone afterwards."""
    made = Network()
    try:
        made.build()
        for part, ports in servers:
            made.serve(part, *ports)
        time.sleep(0.1)
        yield made
    finally:
        made.close()
