"""The commands of ROLLOUT.md, run as they stand there, against a host behind a real sshd.

Whoever rolls out, the same program switches the host: afterwards its node has the price of the spec.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.chain import SoundChain
from tests.farm.sshd_host import needed
from tests.rollout.hosts.loopback import CANARIES, Loopback, texts_below
from tests.support import killed_on_error

pytestmark = [pytest.mark.outer, pytest.mark.usefixtures("processes")]

_prices = count(1300)
ANOTHER = """
[hosts.two]
address = "192.0.2.1"
public = "two.example.net"
runtime = "docker"

[orchestrators.orch-two]
host = "two"
mode = "video"
wallet = "payer"
price = "1200 wei / pixel"
"""
PRINTED = {"pull-key": {"__ansible_unsafe": CANARIES["command"]}}
BINARIES = Path(sys.executable).parent


class World(Loopback):
    """A host whose preflight finds nothing, and what people have beside fleetc: a repository, a node to run Ansible."""

    def __init__(self, directory: Path) -> None:
        self.chain = SoundChain({})
        super().__init__(directory)
        self.broker = socket.create_server(("127.0.0.1", 0))
        self.price = ""
        self.tree = directory / "fleet/rendered"
        self.secrets = directory / "secrets.yml"
        url = self.environment()["LOOPBACK_RPC_URL"]
        values = {"kafka_password": {"__ansible_unsafe": CANARIES["vault"]}}
        environment = {"LOOPBACK_RPC_URL": {"__ansible_unsafe": url}}
        mappings = {"fleet_vault": values, "fleet_environment": environment, "fleet_commands": PRINTED}
        self.secrets.write_text(json.dumps(mappings))
        self.secrets.chmod(0o600)
        ssh = directory / "programs/ssh"
        ssh.parent.mkdir()
        kept = f"PATH={BINARIES}:/usr/bin:/bin HOME={directory}/node-home LC_ALL=C.UTF-8 CANARY={CANARIES['unrelated']}"
        kept += " " + shlex.join(f"{name}={text}" for name, text in self.reaching.items())
        ssh.write_text(f'#!/bin/sh\n[ "$1" = node-1 ] || exec /usr/bin/ssh "$@"\nshift\nexec env -i {kept} "$@"\n')
        ssh.chmod(0o755)

    @property
    def reaching(self) -> dict[str, str]:
        """How Ansible without fleetc is told of the key of a person and the keys of hosts."""
        options = f"-o UserKnownHostsFile={self.directory}/known-hosts -o GlobalKnownHostsFile=/dev/null"
        return {"ANSIBLE_PRIVATE_KEY_FILE": str(self.directory / "key"), "ANSIBLE_SSH_EXTRA_ARGS": options}

    def new_price(self) -> str:
        """Compile the fleet with a price that the node does not have yet."""
        self.price = str(next(_prices))
        port = self.broker.getsockname()[1]
        queue = 'metadata_queue = { uri = { host_file = "/etc/livepeer/queue" }, exchange = "metadata" }\n'
        broker = {"queue.example.net:9092": f"127.0.0.1:{port}", queue: ""}
        self.write_fleet(**broker, **{"1500 wei": f"{self.price} wei"})
        return self.price

    def blocks(self, heading: str) -> list[str]:
        """The commands below a heading of the page, block by block."""
        section = (self.tree / "ROLLOUT.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
        return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)

    def shell(self, commands: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run commands as a person's shell does."""
        paths = f"{self.directory}/programs:{BINARIES}:/usr/bin:/bin"
        own = {**self.environment(), **self.reaching, "PATH": paths, "FLEETC_JOURNAL": str(self.directory / "journal")}
        return subprocess.run(
            ["bash", "-e", "-c", commands], cwd=cwd, env={**own, **environment}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=180,
        )  # fmt: skip

    def has_new_price(self) -> bool:
        """Whether the node runs with the price that was compiled last, and with its secrets."""
        process = Path(f"/proc/{self.one.node()}")
        words, variables = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
        secrets = [f"/{CANARIES['rpc']}", CANARIES["vault"], CANARIES["command"]]
        assert all(secret.encode() in variables for secret in secrets)
        return f"-maxPricePerUnit={self.price}\0".encode() in words

    def vault_text(self) -> str:
        """Ansible alone runs no command, so what it prints is there, too."""
        return f"{super().vault_text()}fleet_commands:\n  pull-key: !unsafe '{CANARIES['command']}'\n"

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "LOOPBACK_RPC_URL": f"{self.chain.url}/{CANARIES['rpc']}"}

    def close(self) -> None:
        self.broker.close()
        self.chain.close()
        super().close()


@pytest.fixture(scope="module")
def world(disk: Path) -> Iterator[World]:
    if missing := needed():
        pytest.skip(missing)
    made = World(disk)
    yield made
    made.close()


def said_by(done: subprocess.CompletedProcess[str]) -> str:
    """What a command said; never a secret."""
    said = done.stdout + done.stderr
    assert not any(value in said for value in CANARIES.values())
    return said


@pytest.mark.slow
def test_commands_of_fleetc(world: World) -> None:
    world.new_price()
    fleet, journal = world.directory / "fleet", str(world.directory / "own-journal")
    (block,) = world.blocks("With fleetc")
    lines = [line.partition("#")[0].strip() for line in block.splitlines()]
    assert len(lines) == 5 and all(line.startswith("fleetc ") for line in lines)
    for line in lines[:3]:
        done = world.shell(line, fleet, FLEETC_JOURNAL=journal)
        assert done.returncode == 0, line + said_by(done)
    assert world.has_new_price()
    before = world.price
    world.new_price()
    assert world.shell(lines[2], fleet, FLEETC_JOURNAL=journal).returncode == 0
    assert world.has_new_price()
    resumed = world.shell(lines[3], fleet, FLEETC_JOURNAL=journal)
    assert resumed.returncode == 1 and "no rollout of this fleet broke off" in said_by(resumed)
    back = world.shell(lines[4], fleet, FLEETC_JOURNAL=journal)
    assert back.returncode == 0, said_by(back)
    world.price = before
    assert world.has_new_price()


def test_fleet_of_one_host_has_no_parts(world: World) -> None:
    world.new_price()
    assert world.blocks("From several machines") == []
    done = world.shell("fleetc deploy --shard 2/2", world.directory / "fleet")
    assert done.returncode == 0 and "2/2 has no hosts, so there is nothing to do" in said_by(done)


def test_worker_of_fleetc(world: World) -> None:
    """Its machine has the secrets: fleetc is given none here, and sends none."""
    world.new_price()
    command = world.blocks("On execution nodes")[0]
    done = world.shell(command, world.directory / "fleet", FLEETC_VAULT_FILE=str(world.secrets), LOOPBACK_RPC_URL="")
    assert done.returncode == 0, said_by(done)
    assert "1 host: 1 deployed" in said_by(done)
    assert world.has_new_price()


@pytest.mark.slow
def test_killed_worker_leaves_its_host_old_or_new(world: World) -> None:
    world.new_price()
    own = {"FLEETC_VAULT_FILE": str(world.secrets), "FLEETC_WORKER": "ansible-runner worker", "LOOPBACK_RPC_URL": ""}
    with killed_on_error(world.start(**own)) as rollout:
        while "has the release" not in world.said():
            assert rollout.poll() is None, world.said()
            time.sleep(0.05)
        children = Path(f"/proc/{rollout.pid}/task/{rollout.pid}/children").read_text().split()
        named = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
        (worker,) = [int(child) for child, words in named.items() if b"ansible-runner\0worker" in words]
        os.kill(worker, signal.SIGKILL)
        assert rollout.wait(timeout=180) == 5, world.said()
    assert "UNKNOWN" in world.said() and "1 host: 1 unknown" in world.said()
    values = [value.encode() for value in CANARIES.values()]
    assert not [path for path, data in texts_below(world.temporary) if any(value in data for value in values)]
    with killed_on_error(world.start(**own)) as again:
        assert again.wait(timeout=180) == 0, world.said()
    assert world.has_new_price()


def test_transmit_worker_and_process_without_fleetc(world: World) -> None:
    world.new_price()
    command = world.blocks("On execution nodes")[1]
    sent = "\nmkdir -p ../streams && cp $job/sent $job/received ../streams\n"
    done = world.shell(command + sent, world.tree, SECRETS=str(world.secrets))
    assert done.returncode == 0, said_by(done)
    assert world.has_new_price()
    streams = dict(texts_below(world.directory / "fleet/streams"))
    assert len(streams) == 2
    secrets = [CANARIES[name].encode() for name in ("rpc", "vault", "host", "command", "password")]
    assert not [secret for content in streams.values() for secret in secrets if secret in content]
    (received,) = [content for path, content in streams.items() if path.name == "received"]
    assert CANARIES["unrelated"].encode() in received, "a worker sends its environment, as the page says"


def alone(world: World) -> list[str]:
    """The commands for Ansible alone, with the vault's password from a file instead of a terminal."""
    (block,) = world.blocks("With Ansible alone")
    vault = f"-e @{world.directory}/vault.yml --vault-password-file {world.directory}/vault-password"
    return block.replace("-e @vault.yml --ask-vault-pass", vault).splitlines()


def test_commands_of_ansible_alone(world: World) -> None:
    world.new_price()
    done = world.shell("\n".join(alone(world)[:-1]), world.tree)
    assert done.returncode == 0, said_by(done)
    assert world.has_new_price()


@pytest.mark.slow
def test_way_back_with_ansible_alone(world: World) -> None:
    before = world.new_price()
    enter, *_, site, rollback = alone(world)
    site, rollback = f"{enter}\n{site}", f"{enter}\n{rollback}"
    assert world.shell(site, world.tree).returncode == 0
    release = Path(world.host / "opt/fleetc/current/gate").readlink().parent.name.partition(".")[0]
    world.new_price()
    assert world.shell(site, world.tree).returncode == 0
    assert world.has_new_price()
    back = world.shell(rollback.replace("DIGEST", release), world.tree)
    assert back.returncode == 0, said_by(back)
    world.price = before
    assert world.has_new_price()


def test_job_as_awx_runs_it(world: World) -> None:
    """AWX has the project's inventory in its database, sorted by name, and hands it over as a script.

    Its job is a private data directory: project, inventory, and the credentials in env/.
    """
    world.new_price()
    job = world.directory / f"awx-{world.price}"
    done = world.shell(
        "set -e; mkdir -p $JOB/project $JOB/inventory $JOB/env; cp -r fleet.toml rendered $JOB/project\n"
        "cp rendered/ansible/ansible.cfg $JOB/project\n"
        "ansible-inventory -i rendered/ansible/inventory.json --list --export > $JOB/inventory.json\n",
        world.directory / "fleet", JOB=str(job),
    )  # fmt: skip
    assert done.returncode == 0, said_by(done)
    script = job / "inventory/hosts"
    script.write_text(f"#! /usr/bin/env python3\nprint('''{(job / 'inventory.json').read_text()}''')\n")
    script.chmod(0o700)
    url = world.environment()["LOOPBACK_RPC_URL"]
    envvars = {"LOOPBACK_RPC_URL": url, **world.reaching}
    del envvars["ANSIBLE_PRIVATE_KEY_FILE"]
    extra: dict[str, object] = {
        "fleet_vault": {"kafka_password": {"__ansible_unsafe": CANARIES["vault"]}},
        "fleet_commands": PRINTED,
        "fleet_host_clear": ["one"],
    }
    extra |= {"awx_job_id": 7, "fleet_host_skip": ["clock-skew"]}
    for name, value in (("envvars", envvars), ("extravars", extra)):
        (job / "env" / name).write_text(json.dumps(value))
    (job / "env/ssh_key").write_text((world.directory / "key").read_text())
    (job / "env/ssh_key").chmod(0o600)
    run = world.shell(
        "ansible-runner run $JOB --playbook rendered/ansible/site.yml --inventory $JOB/inventory --limit one --forks 5",
        job, JOB=str(job), LOOPBACK_RPC_URL="",
    )  # fmt: skip
    assert run.returncode == 0, said_by(run)
    assert world.has_new_price()


def test_host_that_pulls_switches_itself_and_refuses_what_is_for_another(world: World) -> None:
    """It knows its name from its first rollout, so the wrong name in a pull changes nothing."""
    price = world.new_price()
    spec = world.directory / "fleet/fleet.toml"
    world.write_text(spec.read_text() + ANOTHER)
    repository, git = world.directory / f"repository-{price}", "git -c user.name=a -c user.email=a@example.net"
    done = world.shell(
        f"cp -r fleet {repository}; cd {repository}; {git} init -q; {git} add -A; {git} commit -qm Prices\n"
        f"{git} rev-parse HEAD",
        world.directory,
    )
    assert done.returncode == 0, said_by(done)
    variables = {"REPOSITORY": str(repository), "REVISION": done.stdout.split()[-1], "TREE": "rendered"}
    variables["SECRETS"] = str(world.secrets)
    (command,) = world.blocks("A host pulls")
    named = re.search(r"--limit (\S+)", command)
    assert named is not None
    commands = {name: command.replace(f"--limit {named[1]}", f"--limit {name}") for name in ("one", "two")}
    own = world.one.inside("bash", "-e", "-c", commands["one"], env=variables, timeout=180)
    assert own.returncode == 0, said_by(own)
    assert world.has_new_price()
    node = world.one.node()
    other = world.one.inside("bash", "-e", "-c", commands["two"], env=variables, timeout=180)
    assert other.returncode != 0
    assert "this machine is the host one of the fleet loopback, and the release is for two" in said_by(other)
    assert world.one.node() == node
