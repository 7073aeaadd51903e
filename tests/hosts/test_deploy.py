"""`fleetc deploy` on real hosts: what runs is what was compiled, and only what changed is restarted.

The node is a stand-in binary; sshd, systemd, Docker, Ansible and the command are real.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint, Service
from fleetc.pipeline import compile_spec
from tests.farm.farm import Farm, Host, Process
from tests.farm.system import run_checked
from tests.hosts.switches import in_phase
from tests.keystores import key_file
from tests.standin import gcc_words
from tests.support import ROOT, fleetc, shipped, sources_of
from tests.support_values import nasty_values

pytestmark = pytest.mark.usefixtures("processes")

SECRET = "s3cret \"quoted\" $HOME `id` \\ 'x' %h #é"
CANARY = "CANARY-7f3a-9c1e"

CAP_DAC_OVERRIDE, CAP_NET_BIND_SERVICE = 1, 10  # capabilities(7)

ACCOUNTS = ("0x1111111111111111111111111111111111111111", "0x2222222222222222222222222222222222222222")
LACKING = {
    "kafka-answers": "the farm has no broker",
    "queue-answers": "the farm has no queue",
    "rpc-answers": "the farm has no chain",
    "service-address-leads-here": "the farm has no names",
}
SKIPPED = tuple(word for code, why in LACKING.items() for word in ("--skip", f"{code}={why}"))

SPEC = """
spec = 1

[fleet]
name = "farm"
network = "arbitrum-one-mainnet"
rpc = {{ env = "FARM_RPC_URL" }}
node_release = "v0.9.1"
image = "{image}"

[hosts.one]
address = "{h1}"
public = "one.example.net"
runtime = "systemd"
ssh_port = {port}

[hosts.two]
address = "{h2}"
public = "two.example.net"
runtime = "systemd"
ssh_port = {port}

[hosts.three]
address = "{h3}"
public = "three.example.net"
runtime = "docker"
ssh_port = {port}

[wallets.payer]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = {{ host_file = "/etc/livepeer/password" }}
reward_by = "none"
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"

[wallets.earner]
address = "0x2222222222222222222222222222222222222222"
keystore = "/var/lib/livepeer/keystore"
password = {{ host_file = "/etc/livepeer/password" }}
reward_by = "orch-a"
minimum_balance = "0.05 ETH"

[orchestrators.orch-a]
host = "one"
mode = "video"
wallet = "earner"
price = "{price} wei / pixel"
{orch_a}

[orchestrators.orch-b]
host = "two"
mode = "video"
wallet = "earner"
price = "1200 wei / pixel"

[orchestrators.orch-b.environment]
{nasty}

[gateways.gate]
host = "two"
mode = "video"
wallet = "payer"
http = "0.0.0.0:9935"
http_ingest = true
orchestrators = ["orch-a", "orch-b"]
max_price = "1500 wei / pixel"

[gateways.gate.kafka]
broker = "queue.example.net:9092"
topic = {nasty_word}
user = "it's 100% $HOME"
password = {{ vault = "kafka_password" }}

[gateways.edge]
host = "three"
mode = "video"
wallet = "payer"
http = "0.0.0.0:8935"
http_ingest = true
orchestrators = ["orch-a"]
max_price = "1500 wei / pixel"
max_model_prices = {{ text-to-image = "5000000 wei / pixel" }}
metadata_queue = {{ uri = {{ host_file = "/etc/livepeer/queue" }}, exchange = {nasty_word} }}

[gateways.edge.environment]
{nasty}

[rollout]
canary = 1
batch = 2
stable = "1s"
deadline = "12s"
confirm = "20s"
live = "never"
"""


def toml_text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def spec_nasty_values() -> list[str]:
    """The nasty values that a spec may hold: no hidden characters, which are refused long before."""
    from fleetc.text.encoders import HIDDEN

    return [v for v in nasty_values() if v and not HIDDEN.search(v) and len(v) < 2000]


class Rollout:
    """A spec, its compiled tree and the command, against one farm."""

    skipped: tuple[str, ...] = SKIPPED

    def __init__(self, farm: Farm, directory: Path) -> None:
        self.farm, self.directory = farm, directory
        self.hosts = {"one": farm.hosts["h1"], "two": farm.hosts["h2"], "three": farm.hosts["h3"]}
        self.write(price=1200)

    def write(self, price: int, orch_a: str = "") -> None:
        nasty = "\n".join(f"NASTY_{i} = {toml_text(v)}" for i, v in enumerate(spec_nasty_values()))
        text = SPEC.format(
            image=self.farm.images[0], price=price, orch_a=orch_a, port=self.farm.ssh_port, nasty=nasty,
            nasty_word=toml_text("a b \"c\" $d `e` \\ %n {{ f }} #g é"),
            **{name: host.address for name, host in self.farm.hosts.items()},
        )  # fmt: skip
        (self.directory / "fleet.toml").write_text(text, encoding="utf-8")

    def fleetc(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run([sys.executable, "-m", "fleetc", *arguments], **environment)

    def provide(self) -> None:
        """Put on the hosts what their owner provides, and write the vault."""
        vault = f"fleet_vault:\n  kafka_password: {toml_text(SECRET)}\n"
        (self.directory / "vault.yml").write_text(vault, encoding="utf-8")
        for host in self.farm.hosts.values():
            host.run("mkdir", "-p", "/etc/livepeer", "/var/lib/livepeer/keystore")
            for account in ACCOUNTS:
                host.write(f"/var/lib/livepeer/keystore/UTC--{account}", key_file(account, b"hunter2"), 0o600)
            host.write("/etc/livepeer/password", b"hunter2", 0o600)
            host.run("useradd", "--system", "--no-create-home", "livepeer")
            host.run("chown", "-R", "livepeer", "/etc/livepeer/password", "/var/lib/livepeer")
            host.write("/etc/livepeer/queue", b"amqps://queue.example.net/" + CANARY.encode() + b"\n", 0o600)

    def clear(self) -> None:
        """Stop what runs, and remove all that rollouts and the owner left on the hosts."""
        for _, service, host in self.services():
            if host.docker:
                host.run("docker", "rm", "--force", service.unit)
            else:
                host.run("systemctl", "disable", "--now", f"{service.unit}.service")
                host.run("rm", "-f", f"/etc/systemd/system/{service.unit}.service")
        for host in self.farm.hosts.values():
            host.run("systemctl", "disable", "fleetc-host.service")
            host.run("rm", "-rf", "/opt/fleetc", "/etc/fleetc", "/var/lib/fleetc", "/var/lib/livepeer", "/etc/livepeer")
            host.run("rm", "-f", "/etc/systemd/system/fleetc-host.service")
            host.run("systemctl", "daemon-reload")

    @property
    def journal(self) -> Path:
        """The directory of the journal: beside the spec, because it must not be part of a checkout."""
        return self.directory.with_name(f"{self.directory.name}-journal")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of whoever rolls out."""
        return {
            **os.environ,
            "FLEETC_SSH_KEY": str(self.farm.ssh_private_key),
            "FLEETC_SSH_KNOWN_HOSTS": str(self.farm.known_hosts),
            "FLEETC_VAULT_FILE": str(self.directory / "vault.yml"),
            "FLEETC_JOURNAL": str(self.journal),
            "FARM_RPC_URL": f"https://rpc.example.net/{CANARY}",
        }

    def run(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        done = self.farm.controller(command, env={**self.environment, **environment}, cwd=ROOT, timeout=600)
        return subprocess.CompletedProcess(done.args, done.returncode, _text(done.stdout), _text(done.stderr))

    def compile(self) -> None:
        environment: dict[str, Any] = self.environment
        done = fleetc("compile", self.directory, **environment)
        assert done.returncode == 0, done.stderr

    def deploy(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.fleetc("deploy", str(self.directory), *self.skipped, *options, **environment)

    def begin(self, *options: str, **environment: str) -> subprocess.Popen[str]:
        """A rollout that goes on while the test does something to it."""
        inside = ["nsenter", f"--net=/run/netns/{self.farm.namespace}", "--"]
        return subprocess.Popen(
            [*inside, sys.executable, "-m", "fleetc", "deploy", str(self.directory), *self.skipped, *options],
            cwd=ROOT, env={**self.environment, "FLEETC_CONNECT_TIMEOUT": "4", **environment}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    @property
    def plan(self) -> Blueprint:
        plan = compile_spec(sources_of(self.directory / "fleet.toml"), *shipped()).blueprint
        assert plan is not None
        return plan

    def services(self) -> Iterator[tuple[HostBlueprint, Service, Host]]:
        for host in self.plan.hosts:
            for service in host.services:
                yield host, service, self.hosts[host.name]

    def service(self, name: str) -> Service:
        return next(service for _, service, _ in self.services() if service.name == name)

    def pids(self, without: str = "") -> dict[str, int]:
        """The process of each node, but of one that need not run."""
        return {one.name: process_of(host, one).pid for _, one, host in self.services() if one.name != without}


class Overlaid(Rollout):
    """An example fleet with an overlay that puts it onto the farm."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "FLEETC_OVERLAY": str(self.directory / "farm.toml")}

    @property
    def plan(self) -> Blueprint:
        sources = sources_of(self.directory / "fleet.toml", self.directory / "farm.toml")
        plan = compile_spec(sources, *shipped()).blueprint
        assert plan is not None
        return plan


def _text(output: str | bytes) -> str:
    return output if isinstance(output, str) else output.decode()


def process_of(host: Host, service: Service) -> Process:
    """The process of a service, told apart by its data directory. There must be exactly one."""
    mark = f"-dataDir={service.data_dir}".encode()
    found = [p for p in host.processes("livepeer") if mark in p.argv]
    assert len(found) == 1, f"{service.name}: {len(found)} processes"
    return found[0]


R = TypeVar("R", bound=Rollout)


def lent(made: R, release: Callable[[R], object] = Rollout.compile) -> Iterator[R]:
    """A fleet that is deployed once, with what its owner provides on the hosts; they are bare again afterwards."""
    try:
        made.provide()
        release(made)
        done = made.deploy()
        assert done.returncode == 0, done.stdout + done.stderr
        assert CANARY not in done.stdout + done.stderr
        yield made
    finally:
        made.clear()


@contextmanager
def chain_beside(farm: Farm, port: int, registered: Mapping[str, str] = {}) -> Iterator[None]:
    """A chain on the machine that rolls out, on which everything is as it should be."""
    script = "import signal, sys; from tests.chain import SoundChain; "
    script += f"SoundChain({dict(registered)}, (sys.argv[1], int(sys.argv[2]))); signal.pause()"
    inside = ["nsenter", f"--net=/run/netns/{farm.namespace}"]
    chain = subprocess.Popen([*inside, sys.executable, "-c", script, farm.address, str(port)], cwd=ROOT)
    try:
        yield
    finally:
        chain.kill()
        chain.wait()


@pytest.fixture(scope="module")
def rollout(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rollout]:
    """The fleet deployed once."""
    yield from lent(Rollout(farm, tmp_path_factory.mktemp("fleet")))


def test_arguments_read_back_from_the_hosts_equal_what_was_compiled(rollout: Rollout) -> None:
    for _, service, host in rollout.services():
        program = service.program.path if service.program else "/usr/local/bin/livepeer"
        expected = [program, *(a.text for a in service.arguments)]
        assert process_of(host, service).argv == [word.encode() for word in expected], service.name


def test_environment_read_back_from_the_hosts_equals_what_was_compiled(rollout: Rollout) -> None:
    for _, service, host in rollout.services():
        environ = process_of(host, service).environ
        for variable in service.variables:
            assert environ.get(variable.name.encode()) == variable.value.encode(), f"{service.name}: {variable.name}"


def test_node_without_gpus_has_two_capabilities_at_most_and_gains_none(rollout: Rollout) -> None:
    for _, service, host in rollout.services():
        status = _text(host.run("cat", f"/proc/{process_of(host, service).pid}/status").stdout)
        kept = int(re.search(r"CapBnd:\s*([0-9a-f]+)", status)[1], 16)  # type: ignore[index]
        assert service.hardened
        assert kept == 1 << CAP_DAC_OVERRIDE | 1 << CAP_NET_BIND_SERVICE, service.name
        assert "NoNewPrivs:\t1" in status, service.name


def test_nasty_values_took_part(rollout: Rollout) -> None:
    (edge,) = [s for _, s, _ in rollout.services() if s.name == "edge"]
    values = {v.value for v in edge.variables}
    assert len(values & set(spec_nasty_values())) == len(set(spec_nasty_values())) > 20


def test_secrets_of_all_three_kinds_arrive(rollout: Rollout) -> None:
    found = {service.name: process_of(host, service).environ for _, service, host in rollout.services()}
    for name in found:
        assert found[name][b"LP_ETHURL"] == f"https://rpc.example.net/{CANARY}".encode()
        assert found[name][b"LP_ETHPASSWORD"] == b"/etc/livepeer/password"
    assert found["gate"][b"LP_KAFKAPASSWORD"] == SECRET.encode()
    assert found["edge"][b"LP_METADATAQUEUEURI"] == b"amqps://queue.example.net/" + CANARY.encode()


def test_secret_files_are_for_root_alone_and_no_unit_holds_a_secret(rollout: Rollout) -> None:
    for _, service, host in rollout.services():
        mode = host.run("stat", "-c", "%a %U", service.secret_file).stdout
        assert _text(mode).strip() == "600 root"
        words = b" ".join(process_of(host, service).argv)
        assert CANARY.encode() not in words
        found = host.run("grep", "-rl", CANARY, "/opt/fleetc", "/etc/systemd/system", "/var/lib/fleetc")
        assert {Path(line).name for line in _text(found.stdout).split()} <= {"secrets.env"}


def test_nothing_of_the_run_stays_behind(rollout: Rollout) -> None:
    """Directories of rollouts that go on now, of other tests or people, are locked."""
    for place in (Path(tempfile.gettempdir()), Path("/dev/shm")):
        for path in place.glob("fleetc-private-*"):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                assert not path.exists(), path
            os.close(descriptor)


def test_second_deploy_changes_nothing(rollout: Rollout) -> None:
    before = rollout.pids()
    done = rollout.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 hosts: 3 unchanged" in done.stdout
    assert rollout.pids() == before


@pytest.mark.parametrize(("place", "runtime"), [("one/orch-a", "systemd"), ("three/edge", "docker")])
def test_log_of_a_node_is_read_on_its_host(place: str, runtime: str, rollout: Rollout) -> None:
    before = rollout.pids()
    done = rollout.fleetc("diagnose", place, "--spec", str(rollout.directory), "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["read"]["lines"] > 0 and report["read"]["first"].endswith("UTC")
    assert any("stand-in" in shape["shape"] for shape in report["unknown"]), runtime
    assert CANARY not in done.stdout + done.stderr
    short = rollout.fleetc("diagnose", place, "--spec", str(rollout.directory), "--size", "100 B", "--format", "json")
    assert json.loads(short.stdout)["read"]["bytes"] <= 100
    assert "only its end was read" in short.stderr
    assert rollout.pids() == before


def test_stale_tree_is_not_deployed(rollout: Rollout) -> None:
    before = rollout.pids()
    rollout.write(price=1300)
    done = rollout.deploy()
    rollout.write(price=1200)
    assert done.returncode == 1
    assert "hosts/one/orch-a/launch.flags" in done.stdout
    assert rollout.pids() == before


def test_limit_reaches_only_the_named_host(rollout: Rollout) -> None:
    done = rollout.deploy("--limit", "one")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 host: 1 unchanged" in done.stdout
    wrong = rollout.deploy("--limit", "on")
    assert wrong.returncode == 2
    assert 'did you mean "one"?' in wrong.stderr


def test_host_that_does_not_answer_is_left_behind_and_comes_later(rollout: Rollout) -> None:
    spec, three = rollout.directory / "fleet.toml", rollout.hosts["three"]
    rollout.write(price=1305)
    spec.write_text(spec.read_text(encoding="utf-8").replace("batch = 2\n", "batch = 2\nmay_miss = 1\n"))
    rollout.compile()
    three.cut_network()
    try:
        done = rollout.deploy(FLEETC_CONNECT_TIMEOUT="4")
    finally:
        three.restore_network()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "3 hosts: 1 deployed, 1 behind, 1 unchanged" in done.stdout
    assert "three: could not be reached: " in done.stdout
    assert b"-pricePerUnit=1305" in process_of(rollout.hosts["one"], rollout.service("orch-a")).argv
    again = rollout.deploy()
    assert "note: three is behind since 20" in again.stderr and again.returncode == 0, again.stdout + again.stderr


def test_missing_secret_stops_before_any_host(rollout: Rollout) -> None:
    done = rollout.deploy(FARM_RPC_URL="")
    assert done.returncode == 1
    assert "FARM_RPC_URL" in done.stderr


def test_interrupted_rollout_says_that_hosts_are_unknown_and_the_next_one_completes_it(rollout: Rollout) -> None:
    """It is interrupted while the first orchestrator starts slowly; only that one gets another process."""
    before = rollout.pids()
    rollout.write(price=1310, orch_a='environment = { STANDIN_ILL = "slow=3" }')
    rollout.compile()
    begun = rollout.begin()
    in_phase(rollout.hosts["one"], "switching", "watching")
    begun.send_signal(signal.SIGINT)
    said = begun.communicate(timeout=120)[0]
    assert begun.returncode == 5, said
    assert "UNKNOWN" in said and "interrupted" in said
    assert re.search(r"\nnow\n  one: in a switch: it goes back by itself by [0-9:]{8}Z\n", said), said
    assert re.search(r"\nnext\n  to go on, .*: fleetc deploy", said), said
    left = subprocess.run(
        ["pgrep", "-f", str(rollout.farm.ssh_private_key)], check=False, capture_output=True, text=True
    )
    assert left.stdout == "", "Ansible's own processes outlived the run"
    again = rollout.deploy()
    assert again.returncode == 0, again.stdout + again.stderr
    assert b"-pricePerUnit=1310" in process_of(rollout.hosts["one"], rollout.service("orch-a")).argv
    after = rollout.pids()
    assert [name for name in before if before[name] != after[name]] == ["orch-a"]


@pytest.mark.slow
def test_flag_that_the_node_does_not_know_fails_the_rollout_with_its_words(rollout: Rollout) -> None:
    """Flags of a release that fleetc does not know are taken as written; the stand-in has the flags of v0.9.1.

    It says that it is v9.0.0, because a program of another release is never started.
    """
    tomorrow = rollout.directory / "tomorrow"
    run_checked(*gcc_words(rollout.directory, tomorrow, "9.0.0-standin"))
    rollout.hosts["one"].write("/opt/tomorrow/livepeer", tomorrow.read_bytes(), 0o755)
    rollout.write(price=1310, orch_a='node_release = "v9.0.0"\nextra_flags = { flagOfTomorrow = "1" }')
    spec = rollout.directory / "fleet.toml"
    text = spec.read_text(encoding="utf-8").replace("[hosts.one]\n", '[hosts.one]\nbinary = "/opt/tomorrow/livepeer"\n')
    spec.write_text(text, encoding="utf-8")
    rollout.compile()
    try:
        done = rollout.deploy("--limit", "one")
    finally:
        rollout.write(price=1310)
        rollout.compile()
        again = rollout.deploy("--limit", "one")
    assert done.returncode == 4
    assert "flag provided but not defined: -flagOfTomorrow" in done.stdout
    assert "orch-a" in done.stdout and "one" in done.stdout
    assert again.returncode == 0, again.stdout + again.stderr
