"""The example fleet live-runners on three hosts: deployed, reviewed, changed, verified and rolled back.

The nodes and the runners are stand-ins that answer HTTP; sshd, systemd, Docker, Ansible and the command are real. An
overlay has the addresses of the farm and a runner that registers itself, and removes what the farm lacks: GPUs. The
stack of avatars has files of its own, with the services that a rollout needs, in containers that only sleep. The
partner's runner is on the machine that rolls out.
The tests run in their order on one fleet.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.farm.farm import STANDIN_IMAGE, Farm, Host, Process
from tests.farm.system import run_checked
from tests.host_program.avatar_world import HOST_COMPOSE, SLOT_COMPOSE
from tests.hosts.test_deploy import CANARY, Overlaid, chain_beside, lent
from tests.keystores import key_file
from tests.standin import runner_words
from tests.standin.test_standin import until
from tests.support import ROOT

pytestmark = pytest.mark.usefixtures("processes")

HOSTS = {"safe": "h1", "gpu-2": "h2", "gpu-1": "h3"}
SELLERS = {"gpu-1": "apps-1", "gpu-2": "apps-2"}
"""The hosts of orchestrators, which a proxy stands in front of: here something that takes connections."""
CHECKOUT = "/opt/checkout"
IMAGES = (
    *("turn", "health:v1.3.6", "rotator", "updater", "registration", "signaling", "game", "runner:v1.3.6"),
    *("watchdog:v1.3.6", "recorder:v1.3.6"),
)
RUNNER_IMAGE = "localhost/runner-standin:1"
PROGRAM = "/opt/captions/bin/captions-runner"
PARTNER, RPC = 8765, 8546
ACCOUNTS = tuple(f"0x{digit * 40}" for digit in "123")
_REGISTERED = {"0x" + digit * 40: f"https://apps-{number}.example.net:443" for number, digit in ((1, "2"), (2, "3"))}
_ASK = "import sys, urllib.request as r; sys.stdout.write(r.urlopen(sys.argv[1], timeout=5).read().decode())"
SLOT_ENVIRONMENT = "set -a; . /opt/fleetc/current/avatar/slots/{slot}.env; set +a; cd /opt/checkout; "
"""What the stack's own programs give to Compose. Its COMPOSE_FILE names the public file and ours."""

PUBLIC_FILE = "COMPOSE_FILE=/opt/checkout/docker-compose.unreal.instance.yml "
AGAIN = "docker compose --env-file .env up --detach --no-deps {words}"
FORGED = """
labels='{{{{ range $k, $v := .Config.Labels }}}}--label {{{{ $k }}}}={{{{ $v }}}} {{{{ end }}}}'
like=$(docker inspect --format "$labels" {name})
docker rm --force {name}; docker run --detach --name {name} --network {project}_default $like {words}
"""
"""A container made by hand with the labels of the one before, Compose's own digest among them."""

TAMPERED = {
    # what is done to which slot: part of a Compose file over the others, or a command; then what verify says of it
    "published by the public file alone": ("slot-00", PUBLIC_FILE + AGAIN.format(words="unreal-game"),
        "unreal-game of vtuber-mira publishes 7777 and 9877 instead of 9877, and was made with another configuration"),
    "another port": ("slot-00", "unreal-signaling: {ports: !override ['8090:80']}",
        "unreal-signaling of vtuber-mira publishes 8090 instead of 8080, and was made with another configuration"),
    "another allowlist": ("slot-00", "vtuber-script-runner: {environment: [VTUBER_ALLOWED_ADDRESSES=]}",
        "vtuber-script-runner of vtuber-mira was made with another configuration"),
    "another image by the same name": ("slot-00", "docker tag rotator recorder:v1.3.6; "
        + AGAIN.format(words="--force-recreate recorder-control"),
        "recorder-control of vtuber-mira runs with another image than that of its last rollout"),
    "gone": ("slot-00", "docker rm --force vtuber-mira-vtuber-watchdog-1", "vtuber-watchdog of vtuber-mira is gone"),
    "another GPU": ("slot-01", "unreal-game: {environment: [NVIDIA_VISIBLE_DEVICES=0]}",
        "unreal-game of vtuber-noor was made with another configuration"),
    "a port by hand": ("slot-01", FORGED.format(name="vtuber-noor-unreal-signaling", project="vtuber-noor",
        words="--publish 8091:80 signaling"), "unreal-signaling of vtuber-noor publishes 8091 instead of 8081"),
    "the network of the host": ("slot-01", "vtuber-script-runner: {network_mode: host}",
        "vtuber-script-runner of vtuber-noor was made with another configuration"),
    "all files of the host": ("slot-01", "recorder-control: {volumes: ['/:/host']}",
        "recorder-control of vtuber-noor runs with another image than that of its last rollout, and was made with"),
    "twice": ("slot-01", AGAIN.format(words="--scale vtuber-watchdog=2 vtuber-watchdog"),
        "vtuber-watchdog of vtuber-noor is there 2 times"),
    "a service more": ("slot-01", "stranger: {image: rotator}",
        "stranger of vtuber-noor is there, and no rollout made it"),
    "an image by hand": ("slot-00", FORGED.format(name="vtuber-mira-vtuber-watchdog-1", project="vtuber-mira",
        words="rotator"), "vtuber-watchdog of vtuber-mira runs with another image than that of its last rollout"),
}  # fmt: skip
"""Twelve ways to make a slot again in another way. The last one is of a service that an earlier one takes away.

The image that has another name since is that of both recorders."""

_SILENT = """
import socket, sys
for port in sys.argv[2:]:
    try:
        socket.create_connection((sys.argv[1], int(port)), 2)
    except TimeoutError:
        print(port)
    except ConnectionRefusedError:
        pass
"""

REMOVED = """
listed='docker ps --all --quiet --filter label=com.docker.compose.project'
removed="$listed | xargs --no-run-if-empty docker rm --force"
timeout 40 sh -c "$removed" || {
  systemctl kill --signal=KILL docker.service; systemctl restart docker.service; timeout 40 sh -c "$removed"
}
docker network prune --force
systemctl disable --now fleetc-avatar-firewall.service
rm -rf /etc/systemd/system/fleetc-avatar-firewall.service /etc/sysctl.d/*fleetc* /etc/profile.d/*fleetc* /opt/checkout
nft delete table inet fleetc_avatar; systemctl daemon-reload
"""
"""Takes away what the stack leaves on its host. An engine that hangs while it removes containers is started again."""

OVERLAY = """
remove = ["runners.restyle.gpus", "runners.restyle.memory", "avatars.stage.images"]

[fleet]
image = "{node}"

[hosts.safe]
address = "{h1}"
ssh_port = {port}

[hosts.gpu-2]
address = "{h2}"
ssh_port = {port}

[hosts.gpu-1]
address = "{h3}"
ssh_port = {port}

[remote_signers.signer]
http = "{h1}:8935"
buys_runners = ["restyle", "captions", "subtitles", "upscale"]

[orchestrators.apps-2]
runners = ["captions", "subtitles"]

[runners.restyle]
image = "{runner}"
arguments = ["-port=8000"]
price = "{price} USD / 720p hour"
environment = {{ STANDIN_DIRECTORY = "/var/lib/livepeer/restyle" }}

[runners.captions]
arguments = ["-port=8000", "-model={model}"]
price = "{captions} USD / 720p minute"
environment = {{ STANDIN_DIRECTORY = "/var/lib/livepeer/captions" }}

[runners.subtitles]
app = "studio/subtitles"
host = "gpu-2"
program = "/opt/captions/bin/captions-runner"
arguments = [
  "-port=8001", "-orchestrator=http://127.0.0.1:8935", "-app=studio/subtitles", "-url=http://127.0.0.1:8001",
  "-price=0.05", "-unit=720p", "-capacity=2",
]
port = 8001
register_by = "runner"
price = "0.05 USD / 720p hour"
capacity = 2
environment = {{ STANDIN_DIRECTORY = "/var/lib/livepeer/subtitles" }}
secret_environment = {{ ORCH_SECRET = {{ host_file = "/etc/livepeer/orchestrator-secret" }} }}

[runners.upscale]
url = "http://{here}:8765"
health = "/health"

[avatars.stage]
project_dir = "{checkout}"

[rollout]
canary = 0
batch = 3
stable = "1s"
deadline = "8s"
"""


class Studio(Overlaid):
    """The example fleet, a chain on which everything is as it should be, and the partner's runner."""

    skipped = (
        *("--skip", "gpus-visible=the farm has no GPU"),
        *("--skip", "toolkit-missing=the farm has no GPU"),
    )

    def __init__(self, farm: Farm, directory: Path) -> None:
        self.farm, self.directory = farm, directory
        self.hosts = {name: farm.hosts[host] for name, host in HOSTS.items()}
        shutil.copy(ROOT / "inventories/live-runners/fleet.toml", directory)

    def clear(self) -> None:
        super().clear()
        for name in SELLERS:
            self.hosts[name].run("systemctl", "stop", "proxy.service")
            self.hosts[name].run("mv", "/etc/hosts.before", "/etc/hosts")
        done = self.hosts["gpu-1"].run("sh", "-c", REMOVED)
        assert done.returncode == 0, done.stderr

    def state(self, price: str = "0.10", model: str = "small", captions: str = "0.0012") -> None:
        text = OVERLAY.format(
            **{name: host.address for name, host in self.farm.hosts.items()},
            node=STANDIN_IMAGE, runner=RUNNER_IMAGE, here=self.farm.address, port=self.farm.ssh_port,
            price=price, model=model, captions=captions, checkout=CHECKOUT,
        )  # fmt: skip
        (self.directory / "farm.toml").write_text(text, encoding="utf-8")

    def roll_out(self, code: int = 0) -> str:
        """Compile what is stated, and roll it out: what the command says."""
        self.compile()
        done = self.deploy()
        assert done.returncode == code, done.stdout + done.stderr
        assert CANARY not in done.stdout + done.stderr
        return done.stdout + done.stderr

    def processes(self) -> dict[str, Process]:
        """The process of each node and of each runner that the fleet starts."""
        found: dict[str, Process] = {}
        for host in self.hosts.values():
            for one in host.processes("livepeer"):
                name = next(word for word in one.argv if word.startswith(b"-dataDir=")).rpartition(b"/")[2].decode()
                assert name not in found
                found[name] = one
            for one in host.processes(Path(PROGRAM).name) + host.processes("runner-standin"):
                name = one.environ[b"STANDIN_DIRECTORY"].rpartition(b"/")[2].decode()
                assert name not in found
                found[name] = one
        return found

    def restarted(self, before: dict[str, Process]) -> set[str]:
        """Those with another process than before."""
        after = self.processes()
        assert set(after) == set(before)
        return {name for name in after if after[name].pid != before[name].pid}

    def sells(self, orchestrator: str, host: str) -> dict[str, str]:
        """The prices in the file that an orchestrator reads, by runner."""
        words = [word for word in self.processes()[orchestrator].argv if word.startswith(b"-liveRunnerConfig=")]
        listed = json.loads(self.hosts[host].read(words[0].partition(b"=")[2].decode()))["runners"]
        return {one["label"]: str(one["price_info"]["price"]) for one in listed}

    def asked(self, host: str, url: str) -> str:
        """What somebody answers who is asked from a host."""
        done = self.hosts[host].run("python3", "-c", _ASK, url)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def offered(self, host: str) -> set[str]:
        """The apps that clients of the orchestrator on a host find."""
        (told,) = json.loads(self.asked(host, "http://127.0.0.1:8935/discovery"))
        return {one["app"] for one in told.get("runners", [])}

    def is_as_reviewed(self) -> None:
        """Ask verify. The stand-in for the service of the stack cannot say which containers run there."""
        done = self.fleetc("verify", str(self.directory), "--no-public", "--format", "json")
        found = json.loads(done.stdout)["diagnostics"]
        said = {one["code"] for one in found if one["primary"]["path"] == "avatars.stage"}
        others = [one["code"] for one in found if one["primary"]["path"] != "avatars.stage"]
        assert (said, others) == ({"slot-missing", "not-answered"}, []), done.stdout

    def provide(self) -> None:
        """What `fleetc todo` lists, on the hosts that need it."""
        vault = f"fleet_vault:\n  turn_user: avatar\n  turn_password: {CANARY}\n"
        (self.directory / "vault.yml").write_text(vault, encoding="utf-8")
        binary = self.directory / "runner-standin"
        run_checked(*runner_words(binary))
        for host in self.hosts.values():
            host.run("useradd", "--system", "--no-create-home", "livepeer")
            for account in ACCOUNTS:
                host.write(f"/var/lib/livepeer/keystore/UTC--{account}", key_file(account, b"hunter2"), 0o600)
            for name in ("payer-password", "earner-password"):
                host.write(f"/etc/livepeer/{name}", b"hunter2", 0o600)
            for name in ("webhook-headers", "signer-headers", "orchestrator-secret", "hf-token"):
                host.write(f"/etc/livepeer/{name}", f"key:{CANARY}".encode(), 0o600)
            host.write("/etc/livepeer/rpc-url", f"http://{self.farm.address}:{RPC}/{CANARY}".encode(), 0o600)
            for name in SELLERS.values():  # the rate of the spec
                host.write(f"/var/lib/livepeer/{name}/standin-ill", b"usd=2500")
            host.run("chown", "-R", "livepeer", "/etc/livepeer", "/var/lib/livepeer")
        names = "\n".join(f"{self.hosts[host].address} {name}.example.net" for host, name in SELLERS.items())
        for name in SELLERS:
            host = self.hosts[name]
            host.write("/root/proxy-standin", binary.read_bytes(), 0o755)
            host.run("sh", "-c", f"cp /etc/hosts /etc/hosts.before; echo '{names}' >> /etc/hosts")
            host.run("systemd-run", "--unit=proxy", "/root/proxy-standin", "-port=443")
        self.hosts["gpu-2"].write(PROGRAM, binary.read_bytes(), 0o755)
        self.hosts["gpu-1"].write("/root/runner/runner-standin", binary.read_bytes(), 0o755)
        make = "tar -C /root/runner -c . | docker import --change 'ENTRYPOINT [\"/runner-standin\"]' -"
        done = self.hosts["gpu-1"].run("sh", "-ec", f"{make} {RUNNER_IMAGE}")
        assert done.returncode == 0, done.stderr
        self._provide_avatars(self.hosts["gpu-1"])

    def _provide_avatars(self, host: Host) -> None:
        """The checkout of the stack, its images, which only sleep, and the program of the packet filter."""
        nft = str(shutil.which("nft"))
        linked = subprocess.run(["ldd", nft], capture_output=True, text=True, check=True).stdout
        files = [nft, *re.findall(r"/\S+", linked)]
        for path in files:
            if host.run("test", "-e", path).returncode:
                host.write(path, Path(path).read_bytes(), 0o755)
        health = '  orchestrator-health:\n    ports: ["9090:9090"]\n'
        of_host = HOST_COMPOSE.replace("  orchestrator-health:\n", health)
        for kind, text in (("", of_host), (".instance", SLOT_COMPOSE)):
            host.write(f"{CHECKOUT}/docker-compose.unreal{kind}.yml", text.encode())
        made = [f"docker create --name made {STANDIN_IMAGE} /x"]
        host.write("/root/www/meta", json.dumps({"env": {"AVATAR_SERVICE_IMAGE_TAG": "v1.3.6"}}).encode())
        made.append("docker cp /root/www made:/www")
        for image in IMAGES:
            words = ["httpd", "-f", "-p", "9090", "-h", "/www"] if image.startswith("health:") else ["sleep", "1000000"]
            entry = json.dumps(["/bin/busybox", *words])
            made.append(f"docker commit --change 'ENTRYPOINT {entry}' made {image}")
        done = host.run("sh", "-ec", "\n".join((*made, "docker rm made")))
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """The fleet deployed once; the hosts are bare again afterwards."""
    made, partners = Studio(farm, tmp_path_factory.mktemp("studio")), list[subprocess.Popen[bytes]]()
    made.state()

    def begin(studio: Studio) -> None:
        inside = ["nsenter", f"--net=/run/netns/{farm.namespace}"]
        partners.append(subprocess.Popen([*inside, str(studio.directory / "runner-standin"), f"-port={PARTNER}"]))
        studio.compile()

    try:
        with chain_beside(farm, RPC, _REGISTERED):
            yield from lent(made, begin)
    finally:
        for one in partners:
            one.kill()
            one.wait()


def test_each_runner_is_started_and_answers_its_orchestrator(fleet: Studio) -> None:
    found = fleet.processes()
    assert set(found) == {"signer", "live", "apps-1", "apps-2", "restyle", "captions", "subtitles"}
    assert found["restyle"].environ[b"HF_TOKEN"] == f"key:{CANARY}".encode()
    assert found["captions"].argv == [PROGRAM.encode(), b"-port=8000", b"-model=small"]
    assert fleet.sells("apps-1", "gpu-1") == {"restyle": "0.1", "upscale": "0.08"}
    assert fleet.sells("apps-2", "gpu-2") == {"captions": "0.072"}
    for name, host in (("apps-1", "gpu-1"), ("apps-2", "gpu-2")):
        listed = next(word for word in found[name].argv if word.startswith(b"-liveRunnerConfig=")).partition(b"=")[2]
        for one in json.loads(fleet.hosts[host].read(listed.decode()))["runners"]:
            fleet.asked(host, one["runner_url"] + one["health_url"])
    fleet.is_as_reviewed()


def test_runner_that_registers_itself_is_offered_while_it_runs(fleet: Studio) -> None:
    """It presents the secret of its orchestrator, and unregisters when it is stopped."""
    unit, both = "livepeer-subtitles.service", {"studio/captions", "studio/subtitles"}
    until(lambda: fleet.offered("gpu-2") == both)
    fleet.is_as_reviewed()
    try:
        assert fleet.hosts["gpu-2"].run("systemctl", "stop", unit).returncode == 0
        assert fleet.offered("gpu-2") == {"studio/captions"}
    finally:
        fleet.hosts["gpu-2"].run("systemctl", "start", unit)
    until(lambda: fleet.offered("gpu-2") == both)
    said = fleet.fleetc("diagnose", "gpu-2/subtitles", "--spec", str(fleet.directory))
    assert said.returncode == 0 and "stand-in runner: unregister" in said.stdout, said.stdout + said.stderr


def test_price_changes_at_the_node_that_runs_after_a_review_that_said_so(fleet: Studio) -> None:
    """The orchestrator is a unit, so it takes its list while it runs; a container would be started with the old one."""
    before = fleet.processes()
    fleet.state(captions="0.0013")
    review = fleet.fleetc("diff", str(fleet.directory)).stdout
    assert "no restart: sent to the running node apps-2" in review, review
    fleet.roll_out()
    assert fleet.restarted(before) == set()
    assert fleet.sells("apps-2", "gpu-2") == {"captions": "0.078"}
    assert "studio/captions" in fleet.offered("gpu-2")
    fleet.is_as_reviewed()
    assert fleet.fleetc("rollback", str(fleet.directory)).returncode == 0
    assert fleet.restarted(before) == set()
    assert fleet.sells("apps-2", "gpu-2") == {"captions": "0.072"}


def test_changes_restart_what_reads_them_after_a_review_that_said_so(fleet: Studio) -> None:
    """Another price is in the file of the orchestrator, another argument is the runner's own."""
    before = fleet.processes()
    fleet.state(price="0.11", model="large")
    review = fleet.fleetc("diff", str(fleet.directory)).stdout
    assert "asks 0.11 USD / 720p hour" in review
    assert "restart: captions restarts" in review and "2 processes restart" in review, review
    fleet.roll_out()
    assert fleet.restarted(before) == {"apps-1", "captions"}
    assert fleet.sells("apps-1", "gpu-1") == {"restyle": "0.11", "upscale": "0.08"}
    assert fleet.processes()["captions"].argv[-1] == b"-model=large"
    fleet.is_as_reviewed()


def test_avatars_run_beside_the_runners(fleet: Studio) -> None:
    listed = fleet.hosts["gpu-1"].run("docker", "ps", "--format", '{{ .Label "com.docker.compose.project" }}').stdout
    assert {"vtuber-host", "vtuber-mira", "vtuber-noor", "livepeer-restyle", "livepeer-apps-1"} == set(listed.split())
    assert fleet.hosts["gpu-1"].run("nft", "list", "table", "inet", "fleetc_avatar").returncode == 0


def tamper(fleet: Studio, way: str) -> str:
    """Make a slot again in one way; what verify shall say of it."""
    slot, done, words = TAMPERED[way]
    if ": {" in done:
        file = f"/root/{way.replace(' ', '-')}.yaml"
        fleet.hosts["gpu-1"].write(file, f"services:\n  {done}\n".encode())
        service = done.partition(":")[0]
        done = f"COMPOSE_FILE=$COMPOSE_FILE:{file} " + AGAIN.format(words=service)
    said = fleet.hosts["gpu-1"].run("sh", "-ec", SLOT_ENVIRONMENT.format(slot=slot) + done)
    assert said.returncode == 0, said.stderr
    return words


def verified(fleet: Studio) -> list[str]:
    """What verify says of slots that differ from their release."""
    done = fleet.fleetc("verify", str(fleet.directory), "--no-public", "--format", "json")
    assert done.stdout, done.stderr
    said = json.loads(done.stdout)["diagnostics"]
    return [one["message"] for one in said if one["code"] in ("changed-on-host", "slot-not-in-spec")]


def test_slots_that_were_made_again_in_another_way_are_found_and_put_right(fleet: Studio) -> None:
    """Two rollouts, so that no two ways are of one service. A slot made again in the same way is none."""
    fleet.state()
    fleet.roll_out()
    again = SLOT_ENVIRONMENT.format(slot="slot-01") + AGAIN.format(words="--force-recreate unreal-game")
    assert fleet.hosts["gpu-1"].run("sh", "-ec", again).returncode == 0
    assert verified(fleet) == []
    *together, last = TAMPERED
    for ways in (together, [last]):
        wanted = [tamper(fleet, way) for way in ways]
        found = verified(fleet)
        assert len(found) == len(wanted), found
        for words in wanted:
            assert any(words in message for message in found), (words, found)
        fleet.roll_out()
        assert verified(fleet) == []
    fleet.is_as_reviewed()


def test_slot_that_the_public_file_starts_alone_is_named_and_closed_to_strangers(fleet: Studio) -> None:
    """Docker publishes all its ports. The machine that rolls out calls them: it is not on the allowlist."""
    ports = {"VTUBER_GAME_TCP": 7782, "VTUBER_SIGNALING_PUBLIC": 8085, "VTUBER_RECORDER": 8894, "VTUBER_RUNNER": 9882}
    given = " ".join(f"{name}_PORT={port}" for name, port in ports.items())
    compose = f"cd {CHECKOUT}; VTUBER_AVATAR_SLUG=extra VTUBER_DOCKER_SUBNET=172.30.5.0/24 {given} docker compose "
    compose += "--project-name vtuber-extra --file docker-compose.unreal.instance.yml "
    host = fleet.hosts["gpu-1"]

    def silent() -> set[int]:
        words = [sys.executable, "-c", _SILENT, host.address, *map(str, ports.values())]
        return set(map(int, fleet.farm.controller(words).stdout.split()))

    try:
        done = host.run("sh", "-ec", compose + "up --detach")
        assert done.returncode == 0, done.stderr
        assert silent() == set(ports.values())
        assert host.run("nft", "delete", "table", "inet", "fleetc_avatar").returncode == 0
        assert silent() == set(), "it is the packet filter that closes them"
        host.run("systemctl", "restart", "fleetc-avatar-firewall.service")
        assert silent() == set(ports.values())
        assert verified(fleet) == ["gpu-1: vtuber-extra is a slot that the spec does not have"]
    finally:
        host.run("sh", "-ec", compose + "down")
        host.run("systemctl", "restart", "fleetc-avatar-firewall.service")
