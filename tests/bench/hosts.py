"""The fleet of hosts that rollouts are measured with: each a real sshd in its own mount namespace, on this machine.

In: a directory and a number of hosts. Out: `Hosts`: the spec of a fleet on them, and commands with their environment.
What hosts do is not measured: sshd, the program of fleetc on them and their nodes are no children of what is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.bench.measure import ROOT
from tests.farm_image import compile_standin
from tests.keystores import key_file
from tests.sshd_host import PROGRAMS, SshdHost, free_ports, needed, write_keys

_ACCOUNT = "0x" + "1" * 40
_PASSWORD = b"hunter2"
_HEAD = """spec = 1

[fleet]
name = "bench"
network = "arbitrum-one-mainnet"
rpc = {{ env = "BENCH_RPC_URL" }}
node_release = "v0.9.1"

[wallets.payer]
address = "{account}"
keystore = "/var/lib/livepeer/keystore"
password = {{ host_file = "/etc/livepeer/password" }}
reward_by = "none"
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"

[rollout]
{rollout}
deadline = "60s"
"""
LACKS = "rpc-answers"
"""What the preflight finds that these hosts have not; a rollout goes on in spite of it."""

SKIP = ("--skip", f"{LACKS}=there is no chain here")
_QUICK = 'stable = "1s"'
_HOST = """
[hosts.{name}]
address = "127.0.0.1"
public = "{name}.example.net"
runtime = "docker"
ssh_port = {port}
"""
_NODE = """
[gateways.{name}]
host = "{host}"
mode = "video"
wallet = "payer"
cli = "127.0.0.1:{cli}"
http = "127.0.0.1:{http}"
rtmp = "127.0.0.1:{rtmp}"
http_ingest = true
discovery = "registry"
max_price = "1500 wei / pixel"
max_sessions = 200
renditions = ["P240p30fps16x9", "P360p30fps16x9", "P720p30fps16x9"]
environment = {{ GOMEMLIMIT = "6GiB", RELEASE = "{mark}" }}
"""


class Hosts:
    """Hosts on this machine, of at most `nodes` nodes each. `close` ends them."""

    def __init__(self, directory: Path, count: int, nodes: int) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        ports = iter(free_ports(count * (1 + 3 * nodes)))
        self._hosts = [SshdHost(directory / f"h{number:02}", next(ports)) for number in range(count)]
        self._ports = {(host, node): [next(ports) for _ in range(3)] for host in range(count) for node in range(nodes)}
        (directory / "home").mkdir()
        write_keys(directory, self._hosts)
        node = compile_standin(directory)
        for host in self._hosts:
            self._provide(host)
            host.start(node, directory / "host-key", directory / "key.pub")

    def close(self) -> None:
        """End all hosts."""
        for host in self._hosts:
            host.close()

    def spec_text(self, count: int, nodes: int, mark: str, rollout: str = _QUICK) -> str:
        """The spec of a fleet on the first hosts, so many nodes on each; each `mark` is another release of all."""
        ports = {
            host.files.name: (host.port, [self._ports[number, node] for node in range(nodes)])
            for number, host in enumerate(self._hosts[:count])
        }
        return spec_text(ports, mark, rollout)

    def environment(self) -> dict[str, str]:
        """What the shell of an operator has, for fleetc."""
        return {
            **environment(self.directory),
            "FLEETC_SSH_KEY": str(self.directory / "key"),
            "FLEETC_SSH_KNOWN_HOSTS": str(self.directory / "known-hosts"),
        }

    def bare_environment(self) -> dict[str, str]:
        """What the shell of an operator has, for site.yml without fleetc. Connections end by themselves."""
        ssh = f"-o UserKnownHostsFile={self.directory}/known-hosts -o GlobalKnownHostsFile=/dev/null -o BatchMode=yes"
        return {
            **environment(self.directory),
            "PYTHONDONTWRITEBYTECODE": "1",  # fleetc refuses a tree with files that it did not write
            "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=15s",
            "ANSIBLE_SSH_COMMON_ARGS": ssh,
            "ANSIBLE_PRIVATE_KEY_FILE": str(self.directory / "key"),
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.directory / "cp"),
        }

    def plain_environment(self) -> dict[str, str]:
        """The same for a project whose author left the options of ssh as Ansible has them."""
        return {**self.bare_environment(), "ANSIBLE_SSH_ARGS": "-C -o ControlMaster=auto -o ControlPersist=15s"}

    def _provide(self, host: SshdHost) -> None:
        """What people put on hosts before a first rollout."""
        (host.files / "etc/livepeer").mkdir()
        (host.files / "etc/livepeer/password").write_bytes(_PASSWORD)
        keystore = host.files / "var-lib/livepeer/keystore"
        keystore.mkdir(parents=True)
        (keystore / f"UTC--2026-01-01T00-00-00.000000000Z--{_ACCOUNT[2:]}").write_bytes(key_file(_ACCOUNT, _PASSWORD))


def environment(directory: Path) -> dict[str, str]:
    """What the shell of an operator has, whoever rolls out and to which hosts."""
    return {
        "PATH": PROGRAMS,
        "HOME": str(directory / "home"),
        "XDG_STATE_HOME": str(directory / "home/state"),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "BENCH_RPC_URL": "https://rpc.example.net/key",
    }


def spec_text(ports: Mapping[str, tuple[int, list[list[int]]]], mark: str, rollout: str = _QUICK) -> str:
    """The spec of a fleet; `ports` has the port of ssh of each host, and those of its nodes: cli, http and rtmp."""
    text = [_HEAD.format(account=_ACCOUNT, rollout=rollout)]
    for host, (port, nodes) in ports.items():
        text.append(_HOST.format(name=host, port=port))
        for number, (cli, http, rtmp) in enumerate(nodes):
            name = f"gate-{number}-{host}"
            text.append(_NODE.format(name=name, host=host, cli=cli, http=http, rtmp=rtmp, mark=mark))
    return "".join(text)


def compiled(spec: str, directory: Path) -> Path:
    """Write a spec into a new directory and compile it there; its tree."""
    directory.mkdir()
    (directory / "fleet.toml").write_text(spec, encoding="utf-8")
    words = [sys.executable, "-m", "fleetc", "compile", str(directory)]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return directory / "rendered"


def lacking() -> str:
    """What keeps this machine from measuring rollouts; empty where nothing does."""
    return needed() or ("" if shutil.which("ansible-playbook", path=PROGRAMS) else "no ansible-playbook")
