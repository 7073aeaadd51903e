"""Emits the Ansible project that rolls the tree out: inventory, host variables, batches, and the static playbooks.

In: the blueprint, the digests of hosts and services, the shipped playbooks. Out: `ansible/**`. Ansible reads every
string of an inventory as a template, so strings from the spec are marked unsafe. Keys and names of hosts and groups
cannot be marked: they only use the alphabet of names. Group names have an underscore, host names never do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from fleetc.blueprint.blueprint import (
    AVATAR_DIRECTORY,
    HOST_COMPOSE,
    RUNNERS,
    Blueprint,
    HostBlueprint,
    SecretVariable,
    Service,
    StackBlueprint,
)
from fleetc.blueprint.out import out_on, running_on
from fleetc.blueprint.rollout import Health, LiveValue, Need, RolloutTimes
from fleetc.emit.artifacts import Member, json_line, json_members, json_string, without_hidden
from fleetc.emit.draft import Draft, Lines, Verbatim, origins_of
from fleetc.emit.release import Release, at_rest, release_of
from fleetc.emit.traced import Line, Origins, together
from fleetc.places.origin import derived, given
from fleetc.text.encoders import ansible_unsafe
from fleetc.upstream.live_settings import LIVE_SETTINGS

FLEET_GROUP = "fleet_hosts"
"""The group of all hosts."""
MONITORING_GROUP = "fleet_monitoring"
"""The group of the hosts with a monitoring project, if there are any."""


def emit(blueprint: Blueprint, playbooks: Mapping[str, bytes]) -> Iterator[Draft]:
    """The project, except the variables of each host."""
    for path, content in playbooks.items():
        yield Draft(f"ansible/{path}", Verbatim(content.decode(), template=f"playbooks/{path}"))
    yield Draft("ansible/rollout.json", Lines(partial(_rollout, blueprint)), tables=("hosts", "rollout"))
    yield Draft("ansible/inventory.json", Lines(partial(_inventory, blueprint)), tables=("hosts",))


class Shared(NamedTuple):
    """What the variables of a host have from the fleet: its name, the times of a rollout, and how it takes changes."""

    fleet: str
    times: RolloutTimes
    live: str


def shared_by_hosts(blueprint: Blueprint) -> Shared:
    """What the variables of all hosts share."""
    return Shared(blueprint.fleet, blueprint.times, blueprint.live)


def variables(shared: Shared, host: HostBlueprint, files: Sequence[Draft]) -> Draft:
    """The variables of a host, also of one without services: a rollout stops what used to run there.

    `files` are those in `hosts/<host>/`.
    """
    tables = (f"hosts.{host.name}", *(f"{s.table}.{s.name}" for s in host.services))
    tables += (f"avatars.{host.avatar.name}",) if host.avatar is not None else ()
    make = partial(_host_lines, shared, host, files)
    body = Lines(partial(make, lambda _: ()), explain=partial(make, origins_of))
    return Draft(f"ansible/host_vars/{host.name}.json", body, tables=tables)


def _rollout(blueprint: Blueprint) -> list[Line]:
    """The batches, each on its own line."""
    why = derived("batches follow from the settings of the rollout and from who uses whom", ("rollout",), ("hosts",))
    batches = [(json_line(batch), (why, *(given("hosts", name) for name in batch))) for batch in blueprint.batches]
    return json_members([("fleet_batches", batches, (why,))], (why,))


Behind = Callable[[Iterable[Draft]], Origins]
"""Finds the origins of the files behind a digest; a compile does not need them."""


def _host_lines(shared: Shared, host: HostBlueprint, files: Sequence[Draft], behind: Behind) -> list[Line]:
    """The variables of one host: Ansible's own come from typed fields, all others have the prefix of their role.

    Each variable has its own line, and each service two.
    """
    release = release_of(files)
    table, runtime = given("hosts", host.name), given("hosts", host.name, "runtime")
    owner = _unsafe(host.node_user if host.runtime == "systemd" else "root")
    times, fleet = shared.times, given("fleet", "name")
    of_times = tuple(given("rollout", field) for field in seconds_of(times))
    directories: dict[str, list[Draft]] = {}
    for file in files:
        directories.setdefault(file.path.split("/", 3)[2], []).append(file)
    inputs = {name: behind(found) for name, found in directories.items()}
    services, running, out = [], running_on(host), out_on(host)
    for service in running.services:
        rest = at_rest(directories[service.name], service.live)
        name, values = _service(host, service, release.directories[service.name], rest)
        # The name has a line of its own, so that changes of two neighbours merge.
        text = f'{{"name": {name},\n     {values[1:]}'
        services.append((text, (given(service.table, service.name), *inputs[service.name])))
    variables: list[Member] = [
        ("ansible_host", _unsafe(host.address), (given("hosts", host.name, "address"),)),
        ("ansible_port", str(host.ssh_port), (given("hosts", host.name, "ssh_port"),)),
        ("ansible_user", _unsafe(host.ssh_user), (given("hosts", host.name, "ssh_user"),)),
        ("ansible_become", "true" if host.become else "false", (given("hosts", host.name, "become"),)),
        ("fleet_host_fleet", _unsafe(shared.fleet), (fleet,)),
        ("fleet_host_owner", owner, (runtime, given("hosts", host.name, "node_user"))),
        ("fleet_host_runtime", json_string(host.runtime), (runtime,)),
        ("fleet_host_seconds", _seconds(times), of_times),
        ("fleet_host_keep", str(times.keep), (given("rollout", "keep"),)),
        ("fleet_host_live", json_string(shared.live), (given("rollout", "live"),)),
        ("fleet_host_services", services, (table,)),
        ("fleet_host_needs", [(_need(need), (need.origin,)) for need in running.needs], (table,)),
    ]
    if out:
        parts = {name: f'"digest": "{release.directories[name]}", "why": {_unsafe(why)}' for name, why in out.items()}
        gone = [(f'{{"name": {_unsafe(name)}, {part}}}', inputs[name]) for name, part in parts.items()]
        variables.append(("fleet_host_out", gone, (table,)))
    if running.avatar is not None:
        variables += _stack(running.avatar, release, inputs[AVATAR_DIRECTORY])
    return json_members(variables, (table,))


@lru_cache(maxsize=4096)
def _unsafe(value: str) -> str:
    """Text that Ansible never evaluates, as JSON; cached, because most hosts have the same users."""
    members = [f"{json_string(key)}: {json_string(text)}" for key, text in ansible_unsafe(value).items()]
    return without_hidden(f"{{{', '.join(members)}}}")


def _service(host: HostBlueprint, service: Service, digest: str, rest: str) -> tuple[str, str]:
    """A node for the program on the host: its name and the rest, as JSON.

    `arguments` is the digest of its command line, each word ended by a NUL.

    Reviews leave out what comes last, from `health` on, because it follows from other files.
    """
    words = "".join([f"{argument.text}\0" for argument in service.arguments])
    found: dict[str, object] = {
        "digest": digest,
        # An image or a script puts its own words before those of a runner.
        "arguments": "" if service.table == RUNNERS else hashlib.sha256(words.encode()).hexdigest(),
        "data_dir": ansible_unsafe(service.data_dir),
        "secrets": [_secret(secret) for secret in sorted(service.secrets)],
    }
    if service.program is None:
        found["image"] = ansible_unsafe(service.image)
    else:
        program = service.program._asdict()
        found["program"] = {name: ansible_unsafe(text) for name, text in program.items() if text and name != "origin"}
    if service.exclusive:
        found["exclusive"] = [ansible_unsafe(text) for text in service.exclusive]
    live = [_live(value) for value in service.live if value.known_back]
    silent = [_live(value) for value in service.live if not value.known_back]
    found |= {"health": _health(service.health), "rest": rest, "live": live, "silent": silent}
    return _unsafe(service.name), json_line(found)


def _need(need: Need) -> str:
    """What the preflight of the program on the host checks, as JSON."""
    nodes = ", ".join(map(_unsafe, need.nodes))
    head = f'{{"need": {json_string(need.kind)}, "subject": {_unsafe(need.subject)}, "nodes": [{nodes}]'
    return f"{head}{_facts(need.facts)}}}"


@lru_cache(maxsize=4096)
def _facts(facts: tuple[tuple[str, str], ...]) -> str:
    """The facts of a need as members of its JSON object; cached, because all hosts ask the same chain."""
    return "".join([f", {json_string(name)}: {_unsafe(text)}" for name, text in facts])


def _health(health: Health) -> dict[str, object]:
    """The checks of the node; unused ones are left out."""
    found: dict[str, object] = {"ports": list(health.ports)}
    texts = {"healthz": health.healthz, "status": health.status, "version": health.version}
    found |= {name: ansible_unsafe(text) for name, text in texts.items() if text}
    if health.answers is not None:
        where, path, status = health.answers
        found["answers"] = {"where": ansible_unsafe(where), "path": ansible_unsafe(path), "status": status}
    return found | ({"drains": True} if health.drains else {})


def seconds_of(times: RolloutTimes) -> dict[str, int]:
    """How long a host waits, as its program reads it."""
    return {"stable": times.stable, "deadline": times.deadline, "confirm": times.confirm, "drain": times.drain}


@lru_cache(maxsize=16)
def _seconds(times: RolloutTimes) -> str:
    """The same as JSON; cached, because it is the same for all hosts of a fleet."""
    return json_line(seconds_of(times))


def _live(value: LiveValue) -> object:
    """A setting that the node takes while it runs, such as "maxSessions=8". Only the names of models are free text."""
    text = f"{value.name}={value.value}"
    return ansible_unsafe(text) if value.file else text


def _setters() -> dict[str, object]:
    """How a running node gets a setting and reports it, by flag."""
    of_values = {
        flag: {"set": row.path, "parameter": row.parameter, "fixed": row.fixed, "read": list(row.read)}
        for flag, row in sorted(LIVE_SETTINGS.items())
        if row.read
    }
    of_files = {
        flag: {"set": row.path, "document": row.document} for flag, row in LIVE_SETTINGS.items() if row.document
    }
    return dict(sorted({**of_values, **of_files}.items()))


def _secret(secret: SecretVariable) -> dict[str, object]:
    return {
        "variable": ansible_unsafe(secret.name),
        "kind": secret.kind,
        "reference": ansible_unsafe(secret.reference),
        **({"as_file": True} if secret.as_file else {}),
    }


def _stack(avatar: StackBlueprint, release: Release, behind: Origins) -> list[Member]:
    """The variables of a stack: where its files are, and a digest for every part that can change independently.

    `behind` are the origins of the stack's files.
    """

    def digest(name: str) -> str:
        return release.files[f"{AVATAR_DIRECTORY}/{name}"]

    own_compose = release.files.get(f"{AVATAR_DIRECTORY}/{HOST_COMPOSE}", "")
    host_digest = digest("host.env")
    if own_compose:
        host_digest = hashlib.sha256(f"{host_digest} {own_compose}".encode()).hexdigest()
    slots = []
    for slot in avatar.slots:
        values = {
            "name": slot.name,
            "project": ansible_unsafe(slot.project),
            "environment": digest(f"slots/{slot.name}.env"),
            "arguments": digest(f"slots/{slot.name}.compose.yaml"),
            "directories": [ansible_unsafe(directory) for directory in slot.directories],
            **({"asleep": True} if slot.asleep else {}),
        }
        slots.append((json_line(values), (slot.origin, *behind)))
    secrets = [
        {"file": name, **_secret(secret)}
        for name, of_file in (("host", avatar.host_secrets), ("turn", avatar.turn_secrets))
        for secret in sorted(of_file)
    ]
    digests = {"host": host_digest, "turn": digest("turn.env"), "firewall": digest("nftables.conf")}
    digests["stack"] = release.directories[AVATAR_DIRECTORY]
    parts: dict[str, str | list[Line]] = {
        "checkout": _unsafe(avatar.checkout),
        "ref": _unsafe(avatar.ref),
        "prefix": json_line(avatar.prefix),
        "steered": "true" if avatar.steered else "false",
        "checkout_files": json_line([ansible_unsafe(file) for file in avatar.checkout_files]),
        "host_compose": json_string(HOST_COMPOSE if own_compose else ""),
        "services": json_line(list(avatar.services)),
        "digests": json_line(digests),
        "reserved_ports": json_string(f"{avatar.relay[0]}-{avatar.relay[1]}" if avatar.relay else ""),
        "secrets": json_line(secrets),
        "slots": slots,
    }
    origins = together((given("avatars", avatar.name),), (secret.origin for secret in avatar.secrets))
    return [(f"fleet_host_stack_{name}", value, origins) for name, value in parts.items()]


def _inventory(blueprint: Blueprint) -> Iterator[Line]:
    """The hosts of each group in the order of the blueprint; Ansible keeps this order."""
    hosts = derived("the hosts of the fleet", ("hosts",))
    groups: dict[str, list[str]] = {FLEET_GROUP: []}
    kinds: dict[str, str] = {}
    for host in blueprint.in_order:
        groups[FLEET_GROUP].append(host.name)
        for kind, value in (("runtime", host.runtime), ("region", host.region.replace("-", "_"))):
            if value:
                groups.setdefault(f"{kind}_{value}", []).append(host.name)
                kinds[f"{kind}_{value}"] = kind
    watched = blueprint.monitoring.programs if blueprint.monitoring is not None else None
    if watched is not None and watched.hosts:
        groups[MONITORING_GROUP] = [project.host for project in watched.hosts]
    setters = derived("how nodes take settings while they run, the same in every fleet", ("hosts",))
    yield "{", (hosts,)
    yield '  "all": {', (hosts,)
    yield f'    "vars": {json_line({"fleet_host_setters": _setters()})},', (setters,)
    yield '    "children": {', (hosts,)
    for number, group in enumerate(sorted(groups), 1):
        kind = kinds.get(group, "")
        if group == MONITORING_GROUP:
            why = (derived("the hosts with a monitoring project", ("monitoring", "project")),)
        elif kind:
            why = (derived(f"hosts are grouped by their {kind}", ("hosts",)),)
        else:
            why = (derived("the group of all hosts, those first that others use", ("hosts",)),)
        yield f"      {json_line(group)}: {{", why
        yield '        "hosts": {', why
        for place, name in enumerate(groups[group], 1):
            comma = "," if place < len(groups[group]) else ""
            origins = (given("hosts", name), *((given("hosts", name, kind),) if kind else ()))
            yield f"          {json_line(name)}: {{}}{comma}", origins
        yield "        }", why
        yield f"      }}{',' if number < len(groups) else ''}", why
    for text in ("    }", "  }", "}"):
        yield text, (hosts,)
