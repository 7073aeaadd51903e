"""What people provide before the first rollout, sorted by who can do it, each with a command that does or shows it.

In: a blueprint. Out: `Task` values, each once: FLEET.md lists them, and `fleetc todo`. They come from what hosts need,
from the secrets of a rollout, and from the names that others reach hosts at.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint
from fleetc.blueprint.rollout import Need
from fleetc.places.origin import Origin, given
from fleetc.text.encoders import readable_word

ROLLOUT = "Whoever rolls out"
HOSTS = "Who runs the hosts"
KEYS = "Who keeps the keys"
NAMES = "Who manages names"
MONEY = "Who funds accounts"
PEOPLE = (HOSTS, KEYS, NAMES, MONEY, ROLLOUT)
"""In the order in which their work can be done."""

NAMED = 6
"""How many nodes of a task are named where people read it."""


class Task(NamedTuple):
    """One thing to provide. `host` is "" where it is not about a host, `command` where nobody has to type anything.

    `asked` is whether the program on the host looks for it, so that `fleetc todo --observe` knows if it is done;
    `variable` is the variable of whoever rolls out that has to be set, "" if it is about something else.
    """

    who: str
    host: str
    words: str
    subject: str
    command: str
    nodes: tuple[str, ...]
    origins: tuple[Origin, ...]
    asked: bool = False
    variable: str = ""


def tasks_of(blueprint: Blueprint) -> tuple[Task, ...]:
    """All tasks, by who does them and then by host."""
    found: dict[tuple[str, str, str, str], Task] = {}
    for task in _all(blueprint):
        known = found.setdefault((task.who, task.host, task.words, task.subject), task)
        nodes = tuple(dict.fromkeys((*known.nodes, *task.nodes)))
        found[task.who, task.host, task.words, task.subject] = known._replace(nodes=nodes)
    return tuple(sorted(found.values(), key=lambda task: (PEOPLE.index(task.who), task.host)))


def _all(blueprint: Blueprint) -> Iterator[Task]:
    for host in blueprint.hosts:
        if not host.services and host.avatar is None:
            continue
        table = given("hosts", host.name)
        user = f" -l {readable_word(host.ssh_user)}" if host.ssh_user else ""
        words = "a login over ssh, and Python 3.9 or newer there"
        command = f"ssh -p {host.ssh_port}{user} {readable_word(host.address)} python3 --version"
        yield Task(ROLLOUT, host.name, words, "", command, (), (table,), asked=True)
        yield from _names(host)
        for need in host.needs:
            yield from _of_need(host, need)
        yield from _secrets(host)


def _names(host: HostBlueprint) -> Iterator[Task]:
    """The name that others reach a host at has to lead there."""
    if not host.public or _is_ip(host.public) or host.public == host.address:
        return
    there = f"a record that leads to {host.address}" if _is_ip(host.address) else "a record that leads to the host"
    command = f"getent ahosts {readable_word(host.public)}"
    yield Task(NAMES, host.name, there, host.public, command, (), (given("hosts", host.name, "public"),))


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _secrets(host: HostBlueprint) -> Iterator[Task]:
    """What a rollout reads where it starts."""
    for owner, secrets in host.secrets():
        for secret in secrets:
            if secret.kind == "env":
                name, origins = secret.reference, (secret.origin,)
                command = f"read -rs {name} && export {name}"
                yield Task(ROLLOUT, "", "a variable with a secret", name, command, (owner,), origins, variable=name)
            elif secret.kind == "vault":
                words = "a key of fleet_vault in your Ansible Vault file"
                yield Task(ROLLOUT, "", words, secret.reference, "", (owner,), (secret.origin,))
            elif secret.kind == "command":
                words = "a command that prints the secret, in secret_commands of your own fleetc configuration"
                yield Task(ROLLOUT, "", words, secret.reference, "", (owner,), (secret.origin,))


def _of_need(host: HostBlueprint, need: Need) -> Iterator[Task]:
    origins = (need.origin, given("hosts", host.name))
    if need.kind == "registration":
        words = "enough stake for the active set, and its service address registered"
        yield Task(MONEY, "", words, need.subject, _own_commands(host, need), need.nodes, origins)
    elif need.kind == "wallet" and need.words:
        command = _own_commands(host, need) if dict(need.facts)["pays"] else ""
        yield Task(MONEY, "", need.words, need.subject, command, need.nodes, origins)
    elif need.words:
        who = KEYS if need.kind in _OF_KEYS else HOSTS
        make = _COMMANDS.get(need.kind)
        command = make(host, need) if make is not None else ""
        yield Task(who, host.name, need.words, need.subject, command, need.nodes, origins, asked=True)


def _own_commands(host: HostBlueprint, need: Need) -> str:
    """The command line of the node itself, once it runs: it funds, stakes and registers."""
    for service in host.services:
        if service.name in need.nodes:
            for port in service.ports:
                if port.purpose == "administration":
                    inside = f"docker exec -it {service.unit} " if host.runtime == "docker" else ""
                    return f"{inside}livepeer_cli -http {port.port}"
    return ""


_OF_KEYS = ("keystore", "password-file", "file", "secret")


def _secret_file(_host: HostBlueprint, need: Need) -> str:
    return f"sudo install -m 600 /dev/stdin {readable_word(need.subject)}"


def _writable(host: HostBlueprint, need: Need) -> str:
    return f"sudo install -d -o {readable_word(host.node_user)} {readable_word(need.subject)}"


_COMMANDS: Mapping[str, Callable[[HostBlueprint, Need], str]] = {
    "systemd": lambda _host, _need: "systemctl --version",
    "docker": lambda _host, _need: "docker info",
    "compose": lambda _host, _need: "docker compose version",
    "gpus": lambda _host, _need: "nvidia-smi --list-gpus",
    "toolkit": lambda _host, _need: "nvidia-ctk --version",
    "program": lambda _host, need: f"{readable_word(need.subject)} -version",
    "keystore": lambda _host, need: f"sudo install -d -m 700 {readable_word(need.subject)}",
    "password-file": _secret_file,
    "file": _secret_file,
    "secret": _secret_file,
    "models-directory": _writable,
    "live-runner-config": lambda _host, need: f"cat {readable_word(need.subject)}",
    "reach": lambda _host, need: f"curl --head {readable_word(need.subject)}",
    "stack": lambda _host, need: f"git -C {readable_word(need.subject)} describe --tags",
}
"""By the kind of a need: what provides it, or shows that it is there."""
