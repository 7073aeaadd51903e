"""What people provide before the first rollout, sorted by who can do it, each with a command that does or shows it.

In: a blueprint. Out: `Task` values, each once: pages list them, and `fleetc todo`. They come from needs of hosts,
secrets of rollouts and streams, and names of hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint
from fleetc.blueprint.listeners import CALLERS, CHOSEN, EVERYONE, HOST, PEERS, Listening
from fleetc.blueprint.rollout import Need
from fleetc.language.quantities.addresses import HostName, Listener
from fleetc.places.origin import Origin, given
from fleetc.text.encoders import readable_word
from fleetc.text.ip_addresses import ip_address, is_private

ROLLOUT = "Whoever rolls out"
STREAMS = "Whoever applies streams"
HOSTS = "Who runs the hosts"
KEYS = "Who keeps the keys"
NAMES = "Who manages names"
MONEY = "Who funds accounts"
PEOPLE = (HOSTS, KEYS, NAMES, MONEY, ROLLOUT, STREAMS)
"""In working order."""

NODE_USER = "the user that nodes run as"
VERIFIER = "file of the verifier"

NAMED = 6
"""How many nodes of a task are named where people read it."""


class Task(NamedTuple):
    """One thing to provide. `host` is "" without a host, `command` without one to type."""

    who: str
    host: str
    words: str
    subject: str
    command: str
    nodes: tuple[str, ...]
    origins: tuple[Origin, ...]


def tasks_of(blueprint: Blueprint) -> tuple[Task, ...]:
    """All tasks, by who does them and then by host."""
    found: dict[tuple[str, str, str, str], Task] = {}
    shared: dict[tuple[str, str, str, str], dict[str, None]] = {}
    for task in _all(blueprint):
        key = (task.who, task.host, task.words, task.subject)
        first = found.setdefault(key, task)
        if first is not task:
            shared.setdefault(key, dict.fromkeys(first.nodes)).update(dict.fromkeys(task.nodes))
    for key, nodes in shared.items():
        found[key] = found[key]._replace(nodes=tuple(nodes))
    turns = {who: turn for turn, who in enumerate(PEOPLE)}
    return tuple(sorted(found.values(), key=lambda task: (turns[task.who], task.host)))


def _all(blueprint: Blueprint) -> Iterator[Task]:
    for host in blueprint.hosts:
        if not host.services and host.avatar is None and not host.needs:
            continue
        table = given("hosts", host.name)
        user = f" -l {readable_word(host.ssh_user)}" if host.ssh_user else ""
        words = "a login over ssh, and Python 3.9 or newer there"
        command = f"ssh -p {host.ssh_port}{user} {readable_word(host.address)} python3 --version"
        yield Task(ROLLOUT, host.name, words, "", command, (), (table,))
        yield from _names(host)
        yield from _node_user(host)
        for need in host.needs:
            yield from _of_need(host, need)
        yield from _proxies(host)
        yield from _firewall(host)
        for owner, secrets in host.secrets():
            for secret in secrets:
                yield from _given(ROLLOUT, owner, secret.kind, secret.reference, secret.origin)
    yield from _of_streams(blueprint)


def _names(host: HostBlueprint) -> Iterator[Task]:
    """The name that others reach a host at has to lead there."""
    if not host.public or host.public == host.address or ip_address(host.public) is not None:
        return
    address = ip_address(host.address)
    known = address is not None and not is_private(address)  # behind a router, the record has its address
    there = f"a record that leads to {host.address}" if known else "a record that leads to the host"
    command = f"getent ahosts {readable_word(host.public)}"
    yield Task(NAMES, host.name, there, host.public, command, (), (given("hosts", host.name, "public"),))


def _node_user(host: HostBlueprint) -> Iterator[Task]:
    """The user that files have to belong to before a rollout, which would make it, reads them."""
    if host.runtime == "systemd" and host.node_user != "root" and any(map(_is_of_node_user, host.needs)):
        origins = (given("hosts", host.name, "node_user"), given("hosts", host.name))
        yield Task(HOSTS, host.name, NODE_USER, host.node_user, user_command(host), (), origins)


def _is_of_node_user(need: Need) -> bool:
    """Whether people provide a file that the user of nodes reads or writes."""
    kinds = ("keystore", "password-file", "file", "models-directory")
    return need.words != "" and need.kind in kinds and "user" not in dict(need.facts)


def _proxies(host: HostBlueprint) -> Iterator[Task]:
    """Others use TLS with an orchestrator by its service address, even if its own listener has none."""
    for service in host.services:
        found = {argument.flag: argument for argument in service.arguments}
        listener, address = found.get("httpAddr"), found.get("serviceAddr")
        if service.role != "orchestrator" or listener is None or address is None:
            continue
        if listener.value.startswith("http://") and not address.value.startswith("http://"):
            words = f"a proxy with a TLS certificate, which passes on to {listener.value} without TLS"
            command = f"curl --insecure https://{readable_word(address.value)}/healthz"
            origins = (listener.origin, address.origin, given(service.table, service.name, "http_tls"))
            yield Task(HOSTS, host.name, words, address.value, command, (service.name,), origins)


_FROM = {
    EVERYONE: "ports to open to everyone",
    CALLERS: "ports to open to the allowlist of the stack, which the host closes to others by itself",
    PEERS: "ports to open to {} alone",
    CHOSEN: "ports to open to those alone whom you choose",
    HOST: "ports to close to everyone",
}


def _firewall(host: HostBlueprint) -> Iterator[Task]:
    """What the firewall of a host, or of its provider, has to let in, and from where; nothing for its own loopback."""
    rows: dict[str, list[Listening]] = {}
    for one in host.listeners:
        if one.owner != ("hosts", host.name) and one.reach != HOST:
            rows.setdefault(_FROM[one.meant_for].format(", ".join(one.peers)), []).append(one)
    for words, found in sorted(rows.items()):
        ports = ", ".join(_ranges(found))
        tcp = next((one.port for one in found if one.protocol == "tcp"), None)
        command = f"nc -vz {readable_word(host.public or host.address)} {tcp}" if tcp is not None else ""
        names = tuple(dict.fromkeys(one.name for one in found))
        yield Task(HOSTS, host.name, words, ports, command, names, tuple(one.origin for one in found))


def _ranges(found: list[Listening]) -> Iterator[str]:
    """Ports in order, those that follow one another as a range."""
    runs: list[list[int]] = []
    for protocol in ("tcp", "udp"):
        runs.clear()
        for one in sorted((one for one in found if one.protocol == protocol), key=lambda one: one.port):
            if runs and one.port <= runs[-1][1] + 1:
                runs[-1][1] = max(runs[-1][1], one.last)
            else:
                runs.append([one.port, one.last])
        yield from (f"{first}/{protocol}" if first == last else f"{first}-{last}/{protocol}" for first, last in runs)


def _given(who: str, owner: str, kind: str, reference: str, origin: Origin) -> Iterator[Task]:
    """A secret in the environment of a command; `owner` is "" if no node or stream needs it alone."""
    owners = (owner,) if owner else ()
    if kind == "env":
        command = f"read -rs {reference} && export {reference}"
        yield Task(who, "", "a variable with a secret", reference, command, owners, (origin,))
    elif kind == "vault":
        words = "a key of fleet_vault in your Ansible Vault file"
        yield Task(who, "", words, reference, "", owners, (origin,))
    elif kind == "command":
        words = "a command that prints the secret, in secret_commands of your own fleetc configuration"
        yield Task(who, "", words, reference, "", owners, (origin,))


def _of_streams(blueprint: Blueprint) -> Iterator[Task]:
    """What applying the streams of the spec takes, and what their viewers need."""
    api = blueprint.stream_api
    if api is not None:
        command = f"fleetc streams --send-token-to {readable_word(api.base_url)}"
        words = "your permission that the token goes to the stream API"
        names = tuple(stream.name for stream in blueprint.streams)
        yield Task(STREAMS, "", words, api.base_url, command, names, (given("stream_api", "base_url"),))
        yield from _given(STREAMS, "", api.kind, api.reference, given("stream_api", "token"))
    for stream in blueprint.streams:
        for secret in stream.secrets:
            yield from _given(STREAMS, stream.name, secret.kind, secret.reference, secret.origin)
        if stream.request.content.get("playbackPolicy", {}).get("type") == "jwt":
            words, place = "a key of the stream API that signs the tokens of viewers", ("streams", stream.name)
            yield Task(KEYS, "", words, "", "", (stream.name,), (given(*place, "playbackPolicy", "type"),))


def _of_need(host: HostBlueprint, need: Need) -> Iterator[Task]:
    origins = (need.origin, given("hosts", host.name))
    if need.kind == "registration":
        yield Task(MONEY, "", need.words, need.subject, _own_commands(host, need), need.nodes, origins)
    elif need.kind == "wallet" and need.words:
        command = _own_commands(host, need) if dict(need.facts)["pays"] else ""
        yield Task(MONEY, "", need.words, need.subject, command, need.nodes, origins)
    elif need.words:
        who = KEYS if need.kind in _OF_KEYS else HOSTS
        yield Task(who, host.name, need.words, need.subject, command_of(host, need), need.nodes, origins)


def _own_commands(host: HostBlueprint, need: Need) -> str:
    """The command line of the node itself, once it runs: it funds, stakes and registers."""
    for service in host.services:
        if service.name in need.nodes:
            for port in host.ports_of(service):
                if port.purpose == "administration":
                    inside = f"docker exec -it {service.unit} " if host.runtime == "docker" else ""
                    listener = Listener(HostName(port.address), port.port)
                    local = listener.is_any or listener.is_loopback
                    at = "" if local else f"-host {readable_word(port.address)} "
                    return f"{inside}livepeer_cli {at}-http {port.port}"
    return ""


_OF_KEYS = ("keystore", "password-file", "file", "secret")


def user_command(host: HostBlueprint) -> str:
    """Creates the user of nodes as a rollout does, unless it exists."""
    user = readable_word(host.node_user)
    return f"getent passwd {user} || sudo useradd --system --no-create-home {user}"


def command_of(host: HostBlueprint, need: Need) -> str:
    """What provides a need, or shows that it is there; "" without a command."""
    make = _COMMANDS.get(need.kind)
    return make(host, need) if make is not None else ""


def owner_of(host: HostBlueprint, need: Need) -> str:
    """The owner of a file on a host: the user of nodes or of a container; "" for root."""
    user = dict(need.facts).get("user", "").partition(":")[0]
    return host.node_user if not user and host.runtime == "systemd" and _is_of_node_user(need) else user


def _owner(host: HostBlueprint, need: Need) -> str:
    user = owner_of(host, need)
    return f" -o {readable_word(user)}" if user else ""


def _program(_host: HostBlueprint, need: Need) -> str:
    """A node prints its release; a live runner has no such flag."""
    path = readable_word(need.subject)
    return f"{path} -version" if need.facts else f"sudo install -D -m 755 /dev/stdin {path}"


def _secret_file(host: HostBlueprint, need: Need) -> str:
    """A file that its reader alone can read: the user of nodes or of a container, or the program on the host.

    A secret is one line, which is typed unseen and stays out of the history of the shell.
    """
    write = f"sudo install -D{_owner(host, need)} -m 600 /dev/stdin {readable_word(need.subject)}"
    return write if need.words == VERIFIER else f'read -rs SECRET && printf %s "$SECRET" | {write}'


def _keystore(host: HostBlueprint, need: Need) -> str:
    """The directory, and the key file in it, which is named by its account and lies where the command is typed."""
    owner, directory = _owner(host, need), readable_word(need.subject)
    account = dict(need.facts)["account"].removeprefix("0x").lower()
    make = f"sudo install -d{owner} -m 700 {directory}"
    return f"{make} && sudo install{owner} -m 600 UTC--*--{readable_word(account)} {directory}"


def _rpc(_host: HostBlueprint, need: Need) -> str:
    """Asks for the number of the chain; you insert a secret address yourself."""
    ask = """curl -sSm 9 -H content-type:application/json -d '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'"""
    return f"{ask} {readable_word(need.subject)}" if need.subject else f'read -rs RPC && {ask} "$RPC"'


def _writable(host: HostBlueprint, need: Need) -> str:
    return f"sudo install -d{_owner(host, need)} {readable_word(need.subject)}"


_COMMANDS: Mapping[str, Callable[[HostBlueprint, Need], str]] = {
    "systemd": lambda _host, _need: "systemctl --version",
    "docker": lambda _host, _need: "docker info",
    "compose": lambda _host, _need: "docker compose version",
    "gpus": lambda _host, _need: "nvidia-smi --list-gpus",
    "toolkit": lambda _host, _need: "nvidia-ctk --version",
    "program": _program,
    "keystore": _keystore,
    "password-file": _secret_file,
    "file": _secret_file,
    "secret": _secret_file,
    "rpc": _rpc,
    "rule-file": lambda _host, need: f"promtool check rules {readable_word(need.subject)}",
    "models-directory": _writable,
    "live-runner-config": lambda _host, need: f"cat {readable_word(need.subject)}",
    "reach": lambda _host, need: f"curl --head {readable_word(need.subject)}",
    "stack": lambda _host, need: f"git -C {readable_word(need.subject)} describe --tags",
}
"""By the kind of a need: what provides it, or shows that it is there."""
