"""A host with slots, as the packet filter sees it: namespaces for the host, a container, and two callers outside.

In: the rules of a host. Out: `Network`, whose `reaches` makes a real connection. Needs root and nftables; used by the
tests of the firewall. A stand-in for Docker publishes what the public Compose files do for slots 0 to 19 and for single
stacks: rewriting rules in a table of their own, or, as Docker's own proxy, programs that listen on the host.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

HOST, HOST_6 = "192.0.2.11", "2001:db8::11"
CONTAINER, UNLISTED_CONTAINER = "172.30.3.2", "172.30.7.2"
CALLERS = {"friend": "203.0.113.77", "stranger": "203.0.113.200"}

PUBLISHED = {"signaling": 8080, "runner": 9877, "recorder": 8889, "game": 7777}
"""Port of slot 0 by service, as the public Compose file of slots has it."""

SINGLE_STACKS = (8884, 8885, 8888, 9095)
"""What the public files of single stacks publish besides."""

_numbers = itertools.count(1)

REWRITING = """
table ip docker_like
flush table ip docker_like
table ip docker_like {
  chain prerouting {
    type nat hook prerouting priority dstnat;
    fib daddr type local tcp dport 8080-8099 dnat to 172.30.3.2:80
    fib daddr type local tcp dport 9877-9896 dnat to 172.30.3.2:9877
    fib daddr type local tcp dport 7777-7796 dnat to 172.30.3.2:7777
    fib daddr type local tcp dport 8889-8908 dnat to 172.30.3.2:80
    fib daddr type local tcp dport { 8884, 8885, 8888, 9095 } dnat to 172.30.3.2:80
  }
}
"""

_SERVER = """
import socket, sys, threading
def tcp(port):
    server = socket.create_server(("::", port), family=socket.AF_INET6, backlog=100, dualstack_ipv6=True)
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
from concurrent.futures import ThreadPoolExecutor
address, *ports = sys.argv[1:]
def state(port):
    protocol, number = port.split("/")
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind) as client:
        client.settimeout(0.7)
        try:
            client.connect((address, int(number)))
            client.sendall(b"hello") if protocol == "udp" else None
            return "reached" if client.recv(10) == b"here" else "ended"
        except TimeoutError:
            return "silent"
        except OSError as problem:
            return str(problem)
with ThreadPoolExecutor(len(ports)) as pool:
    for port, found in zip(ports, pool.map(state, ports)):
        print(port, found)
"""


def run(*command: str | Path, stdin: str | None = None) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


class Network:
    """The namespaces `host`, `container`, `unlisted` (of a slot that no spec has), `friend`, `stranger`, wired."""

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
        for part in ("host", "container", "unlisted", *CALLERS):
            run("ip", "netns", "add", self.name(part))
            self._undo.callback(run, "ip", "netns", "delete", self.name(part))
            self.inside(part, "ip", "link", "set", "lo", "up")
        for index, (part, address) in enumerate(CALLERS.items()):
            self._link(part, f"out{index}", f"{address}/32")
            self.inside("host", "ip", "address", "add", f"{HOST}/32", "dev", f"out{index}")
            self.inside("host", "ip", "route", "add", f"{address}/32", "dev", f"out{index}")
            for target in (f"{HOST}/32", "172.30.0.0/16"):
                via = () if target.startswith(HOST) else ("via", HOST)
                self.inside(part, "ip", "route", "add", target, *via, "dev", "eth0")
            own = f"2001:db8:{index}::1"
            self.inside("host", "ip", "address", "add", f"2001:db8:{index}::2/64", "dev", f"out{index}", "nodad")
            self.inside(part, "ip", "address", "add", f"{own}/64", "dev", "eth0", "nodad")
            self.inside(part, "ip", "route", "add", f"{HOST_6}/128", "via", f"2001:db8:{index}::2")
        self.inside("host", "ip", "address", "add", f"{HOST_6}/128", "dev", "lo", "nodad")
        for part, address in (("container", CONTAINER), ("unlisted", UNLISTED_CONTAINER)):
            slot = address.split(".")[2]
            gateway, bridge = f"172.30.{slot}.1", f"br-slot{slot}"
            self.inside("host", "ip", "link", "add", bridge, "type", "bridge")
            self._link(part, f"veth{slot}", f"{address}/24")
            self.inside("host", "ip", "link", "set", f"veth{slot}", "master", bridge)
            self.inside("host", "ip", "address", "add", f"{gateway}/24", "dev", bridge)
            self.inside("host", "ip", "link", "set", bridge, "up")
            self.inside(part, "ip", "route", "add", "default", "via", gateway)
        self.inside("host", "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        self.inside("host", "nft", "-f", "-", stdin=REWRITING)

    def _link(self, part: str, device: str, address: str) -> None:
        peer = ("type", "veth", "peer", "name", "eth0", "netns", self.name(part))
        self.inside("host", "ip", "link", "add", device, *peer)
        self.inside("host", "ip", "link", "set", device, "up")
        self.inside(part, "ip", "address", "add", address, "dev", "eth0")
        self.inside(part, "ip", "link", "set", "eth0", "up")

    def serve(self, part: str, *ports: str) -> subprocess.Popen[str]:
        """Listen on ports, such as tcp/80, in a namespace until the network is taken down."""
        command = ["ip", "netns", "exec", self.name(part), sys.executable, "-c", _SERVER, *ports]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._undo.callback(end, server)
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        return server

    def reaches(self, part: str, port: str, address: str = HOST) -> bool:
        """Whether a real connection from a part to a port, such as tcp/8083, is answered; silence is no."""
        return self.reached(part, (port,), address) == {port}

    def reached(self, part: str, ports: Sequence[str], address: str = HOST) -> set[str]:
        """Which of the ports a part reaches, asked all at once: a port that is silent is waited for."""
        states: dict[str, str] = {}
        for _ in range(2):  # the first packet may be lost to neighbour discovery
            silent = [port for port in ports if states.get(port, "silent") == "silent"]
            said = self.inside(part, sys.executable, "-c", _CLIENT, address, *silent) if silent else ""
            states |= dict(line.split(" ", 1) for line in said.splitlines())
        assert set(states.values()) <= {"reached", "silent"}, states
        return {port for port, state in states.items() if state == "reached"}

    def close(self) -> None:
        """Take everything down."""
        self._undo.close()


def end(server: subprocess.Popen[str]) -> None:
    """End a server."""
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
