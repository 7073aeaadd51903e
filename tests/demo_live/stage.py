"""What the demo runs against, all on this machine: two hosts, a chain, and a stream API.

In: the directory of the fleet, and one for all else. Out: `Stage`, while the context lasts. Hosts are those of
`tests/farm/sshd_host.py`: a real sshd, whose containers are processes of the stand-in node. What has to be on hosts
before a first rollout is there. Chain and stream API are stand-ins, served by threads of this process.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from tests.chain import SoundChain
from tests.farm.image import compile_standin
from tests.farm.sshd_host import PROGRAMS, SshdHost, free_ports, write_keys
from tests.keystores import key_file
from tests.standin.stream_api import serve

SPEC = Path(__file__).with_name("fleet.toml")
_PORT = re.compile(r"\b2\d{4}\b")
"""Ports of the spec, in place of which the demo writes free ones."""

_WALLETS = {"edge": "0x" + "1" * 40, "worker": "0x" + "2" * 40}
"""By host, whose keys it has."""

_HOSTS_FILE = "127.0.0.1 localhost edge.example.net worker.example.net\n"
_PASSWORD = b"password of the demo"
_TOKEN = "token-of-the-demo"  # of the stand-in, which this process is
FROM_OUTSIDE = ("TERM", "COLUMNS", "NO_COLOR", "FLEETC_COLOR")
"""Variables that the demo has from whoever runs it."""

_WHO = {"NAME": "Demo", "EMAIL": "demo@example.net"}


class Stage(NamedTuple):
    """What was started: the hosts by name, the address of the gateway's administration, and a person's variables."""

    hosts: dict[str, SshdHost]
    administration: str
    environment: dict[str, str]


@contextmanager
def standing(fleet: Path, work: Path) -> Iterator[Stage]:
    """Start all of it, write the spec into `fleet`, and end all of it, whatever happens in between.

    Raises FarmError and subprocess.CalledProcessError with the words of what failed.
    """
    with ExitStack() as ending:
        text, ports = _spec_with_free_ports()
        stream_api, base_url = serve(_TOKEN, None, 1.0, ports["23004"])
        threading.Thread(target=stream_api.serve_forever, args=(0.05,), daemon=True).start()
        ending.callback(stream_api.server_close)
        ending.callback(stream_api.shutdown)
        registered = {_WALLETS["worker"]: f"https://worker.example.net:{ports['28935']}"}
        chain = SoundChain(registered)
        ending.callback(chain.close)
        (fleet / SPEC.name).write_text(text, encoding="utf-8")
        node = compile_standin(work)
        hosts = {"edge": SshdHost(work / "edge", ports["22001"]), "worker": SshdHost(work / "worker", ports["22002"])}
        write_keys(work, hosts.values())
        for name, host in hosts.items():
            _provide(host, _WALLETS[name])
            ending.callback(host.close)
            host.start(node, work / "host-key", work / "key.pub")
        environment = {
            **_environment(work),
            "RPC_URL": f"{chain.url}/key",
            "STREAM_TOKEN": _TOKEN,
            "FLEETC_STREAM_APIS": base_url,
        }
        yield Stage(hosts, f"http://127.0.0.1:{ports['27935']}", environment)


def write_log(host: SshdHost, lines: Sequence[tuple[int, str]]) -> None:
    """Give the container of a host this log: how many seconds ago, and what the node wrote after the time."""
    (container,) = (host.files / "var-lib/containers").glob("*.json")
    now, text = datetime.now(UTC), []
    for ago, line in lines:
        at = now - timedelta(seconds=ago)
        text.append(f"{at:%Y-%m-%dT%H:%M:%S.%f}000Z {line[0]}{at:%m%d %H:%M:%S.%f}       1 {line[1:]}\n")
    container.with_suffix(".log").write_text("".join(text), encoding="utf-8")


def _spec_with_free_ports() -> tuple[str, dict[str, int]]:
    """The spec, and the port in place of each of its own."""
    text = SPEC.read_text(encoding="utf-8")
    own = sorted({*_PORT.findall(text)})
    ports = dict(zip(own, free_ports(len(own)), strict=True))
    return _PORT.sub(lambda port: str(ports[port[0]]), text), ports


def _provide(host: SshdHost, account: str) -> None:
    """What people put on a host before its first rollout."""
    keystore = host.files / "var-lib/livepeer/keystore"
    keystore.mkdir(parents=True)
    (keystore / f"UTC--2026-01-01T00-00-00.000000000Z--{account[2:]}").write_bytes(key_file(account, _PASSWORD))
    (host.files / "etc/livepeer").mkdir()
    (host.files / "etc/livepeer/password").write_bytes(_PASSWORD)
    (host.files / "etc/hosts").write_text(_HOSTS_FILE)


def _environment(work: Path) -> dict[str, str]:
    """What the shell of an operator has, with a home of its own: that of whoever runs the demo is left alone."""
    for name in ("home", "tmp"):
        (work / name).mkdir()
    return {
        **{name: os.environ[name] for name in FROM_OUTSIDE if name in os.environ},
        "PATH": PROGRAMS,
        "HOME": str(work / "home"),
        "TMPDIR": str(work / "tmp"),
        "LC_ALL": "C.UTF-8",
        **{f"GIT_{role}_{what}": text for role in ("AUTHOR", "COMMITTER") for what, text in _WHO.items()},
        "FLEETC_JOURNAL": str(work / "journal"),
        "FLEETC_SSH_KEY": str(work / "key"),
        "FLEETC_SSH_KNOWN_HOSTS": str(work / "known-hosts"),
    }
