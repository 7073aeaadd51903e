"""The example fleet keyless-gateways on three hosts: a signer with the wallet, and gateways without any key.

The nodes are stand-ins; sshd, systemd, Docker, Ansible and the command are real. An overlay has the addresses of the
farm, and leaves out one host. The keystore and its password are on the host of the signer alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.farm.farm import STANDIN_IMAGE, Farm
from tests.hosts.test_deploy import CANARY, Overlaid, chain_beside, lent, process_of
from tests.keystores import key_file
from tests.support import ROOT

pytestmark = pytest.mark.usefixtures("processes")

HOSTS = {"safe": "h1", "eu-1": "h2", "us-1": "h3"}
ACCOUNT = "0x" + "1" * 40
RPC = 8547

OVERLAY = """
remove = ["hosts.eu-2", "gateways.live-eu-2"]

[fleet]
image = "{image}"

[hosts.safe]
address = "{h1}"
ssh_port = {port}
ssh_user = "root"
become = false

[hosts.eu-1]
address = "{h2}"
ssh_port = {port}
runtime = "systemd"

[hosts.us-1]
address = "{h3}"
ssh_port = {port}

[remote_signers.signer]
http = "{h1}:8935"

[rollout]
canary = 0
batch = 3
stable = "1s"
deadline = "8s"
"""


class Keyless(Overlaid):
    """The example fleet, and a chain on which the signer has its deposit and its reserve."""

    skipped = ()

    def __init__(self, farm: Farm, directory: Path) -> None:
        self.farm, self.directory = farm, directory
        self.hosts = {name: farm.hosts[host] for name, host in HOSTS.items()}
        shutil.copy(ROOT / "inventories/keyless-gateways/fleet.toml", self.directory)
        addresses = {name: host.address for name, host in farm.hosts.items()}
        text = OVERLAY.format(image=STANDIN_IMAGE, port=farm.ssh_port, **addresses)
        (self.directory / "farm.toml").write_text(text, encoding="utf-8")
        (self.directory / "vault.yml").write_text("fleet_vault: {}\n", encoding="utf-8")

    def provide(self) -> None:
        """What `fleetc todo` lists: the key for the signer, headers for the gateways."""
        safe = self.hosts["safe"]
        safe.write(f"/var/lib/livepeer/keystore/UTC--{ACCOUNT}", key_file(ACCOUNT, b"hunter2"), 0o600)
        safe.write("/etc/livepeer/payer-password", b"hunter2", 0o600)
        safe.write("/etc/livepeer/webhook-headers", f"token:{CANARY}".encode(), 0o600)
        safe.write("/etc/livepeer/rpc-url", f"http://{self.farm.address}:{RPC}/{CANARY}".encode(), 0o600)
        for name in ("eu-1", "us-1"):
            self.hosts[name].write("/etc/livepeer/signer-headers", f"Authorization:{CANARY}".encode(), 0o600)
        for name in ("safe", "eu-1"):
            self.hosts[name].run("useradd", "--system", "--no-create-home", "livepeer")
        safe.run("chown", "-R", "livepeer", "/etc/livepeer/payer-password", "/var/lib/livepeer")


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyless]:
    """The fleet deployed once; the hosts are bare again afterwards."""
    with chain_beside(farm, RPC):
        yield from lent(Keyless(farm, tmp_path_factory.mktemp("keyless")))


def test_only_the_signer_has_a_key(fleet: Keyless) -> None:
    found = {one.name: (process_of(host, one), host) for _, one, host in fleet.services()}
    assert set(found) == {"signer", "live-eu-1", "live-us"}
    signer, safe = found.pop("signer")
    assert f"-ethAcctAddr={ACCOUNT}".encode() in signer.argv and b"LP_ETHPASSWORD" in signer.environ
    for gateway, host in found.values():
        assert f"-remoteSignerUrl=http://{safe.address}:8935".encode() in gateway.argv
        assert gateway.environ[b"LP_REMOTESIGNERHEADERS"] == f"Authorization:{CANARY}".encode()
        assert not [word for word in gateway.argv if word.startswith((b"-eth", b"-maxPrice"))]
        assert not [name for name in gateway.environ if name.startswith(b"LP_ETH")]
        keys = host.run("find", "/var/lib/livepeer", "/etc/livepeer", "/opt/fleetc", "-iname", "*keystore*")
        assert keys.stdout == ""


def test_what_was_rolled_out_is_as_reviewed_with_the_funds_of_the_signer(fleet: Keyless) -> None:
    done = fleet.fleetc("verify", str(fleet.directory), "--no-public")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 nodes" in done.stdout, done.stdout
