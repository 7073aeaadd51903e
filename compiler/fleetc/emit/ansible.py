"""Emits the Ansible project that rolls the tree out: inventory, host variables, `site.yml`, and the static playbooks.

In: the blueprint, the digests of hosts and services, the shipped playbooks. Out: `ansible/**`. Ansible reads every
string of an inventory as a template: each one that stems from the spec is marked unsafe. Keys and names of hosts and
groups cannot be marked, and come from the alphabet of names; group names hold an underscore, which no host name does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import lru_cache

from fleetc.blueprint.blueprint import (
    AVATAR_DIRECTORY,
    HOST_COMPOSE,
    AvatarSlot,
    Blueprint,
    HostBlueprint,
    Service,
    StackBlueprint,
)
from fleetc.emit.artifacts import Releases, json_line, json_string, without_hidden
from fleetc.emit.templates import Templates
from fleetc.emit.tracing import TracedLine, trace_template, traced
from fleetc.emit.tree import Artifact
from fleetc.places.origin import Origin, derived, given
from fleetc.text.encoders import ansible_unsafe

_SITE = "ansible/site.yml.j2"

FLEET_GROUP = "fleet_hosts"
"""The group of all hosts."""


def emit(
    blueprint: Blueprint,
    hosts: Mapping[str, str],
    services: Mapping[str, str],
    files: Mapping[str, str],
    templates: Templates,
    playbooks: Mapping[str, bytes],
) -> Iterator[Artifact]:
    """The whole project; `hosts` and `services` are the digests of their files, by name, `files` of each by path.

    Hosts without services are part of it: a rollout stops what used to run there.
    """
    for path, content in playbooks.items():
        yield Artifact(f"ansible/{path}", content)
    text = templates.render(_SITE, _site_view(blueprint))
    yield Artifact("ansible/site.yml", text.encode(), origins=("rollout",))
    yield Artifact("ansible/inventory.json", _inventory(blueprint).encode(), origins=("hosts",))
    for host in blueprint.hosts:
        text = _host_file(host, hosts[host.name], services, files)
        tables = {f"hosts.{host.name}", *(f"{s.table}.{s.name}" for s in host.services)}
        tables.update({f"avatars.{host.avatar.name}"} if host.avatar is not None else ())
        path = f"ansible/host_vars/{host.name}.json"
        yield Artifact(path, text.encode(), origins=tuple(sorted(tables)))


def _site_view(blueprint: Blueprint) -> dict[str, object]:
    return {"canary": blueprint.canary, "batch": blueprint.batch}


def _host_file(host: HostBlueprint, digest: str, services: Mapping[str, str], files: Mapping[str, str]) -> str:
    """The variables of one host: Ansible's own from typed fields, all others with the prefix of their role.

    One variable stands on each line, and one service.
    """
    items = ",\n".join(f"    {json_line(_service(service, services[service.name]))}" for service in host.services)
    variables = {
        "ansible_host": _unsafe(host.address),
        "ansible_port": str(host.ssh_port),
        "ansible_user": _unsafe(host.ssh_user),
        "ansible_become": "true" if host.become else "false",
        "fleet_files_digest": json_string(digest),
        "fleet_files_owner": _unsafe(host.node_user if host.runtime == "systemd" else "root"),
        "fleet_services_runtime": json_string(host.runtime),
        "fleet_services_list": f"[\n{items}\n  ]" if items else "[]",
    }
    if host.avatar is not None:
        variables |= _avatar(host.name, host.avatar, files)
    return without_hidden("{\n" + ",\n".join(f'  "{name}": {value}' for name, value in variables.items()) + "\n}\n")


@lru_cache(maxsize=4096)
def _unsafe(value: str) -> str:
    """Text that Ansible never evaluates, as JSON; most hosts have the same users."""
    return json_line(ansible_unsafe(value))


def _service(service: Service, digest: str) -> dict[str, object]:
    secrets = [
        {
            "variable": ansible_unsafe(secret.name),
            "kind": secret.kind,
            "reference": ansible_unsafe(secret.reference),
        }
        for secret in sorted(service.secrets)
    ]
    return {
        "name": ansible_unsafe(service.name),
        "unit": ansible_unsafe(service.unit),
        "digest": digest,
        "data_dir": ansible_unsafe(service.data_dir),
        "secrets": secrets,
    }


def _avatar(host: str, avatar: StackBlueprint, files: Mapping[str, str]) -> dict[str, str]:
    """The variables of a stack: what lies where, and a digest for everything that can change by itself."""

    def digest(name: str) -> str:
        return files[f"hosts/{host}/{AVATAR_DIRECTORY}/{name}"]

    own_compose = files.get(f"hosts/{host}/{AVATAR_DIRECTORY}/{HOST_COMPOSE}", "")
    host_digest = digest("host.env")
    if own_compose:
        host_digest = hashlib.sha256(f"{host_digest} {own_compose}".encode()).hexdigest()
    slots = ",\n".join(
        "    "
        + json_line(
            {
                "name": slot.name,
                "project": ansible_unsafe(slot.project),
                "environment": digest(f"slots/{slot.name}.env"),
                "arguments": digest(f"slots/{slot.name}.compose.yaml"),
                "directories": [ansible_unsafe(directory) for directory in slot.directories],
            }
        )
        for slot in avatar.slots
    )
    secrets = [
        {
            "file": name,
            "variable": ansible_unsafe(secret.name),
            "kind": secret.kind,
            "reference": ansible_unsafe(secret.reference),
        }
        for name, of_file in (("host", avatar.host_secrets), ("turn", avatar.turn_secrets))
        for secret in sorted(of_file)
    ]
    return {
        "fleet_avatar_checkout": _unsafe(avatar.checkout),
        "fleet_avatar_prefix": json_string(avatar.prefix),
        "fleet_avatar_steered": "true" if avatar.steered else "false",
        "fleet_avatar_checkout_files": json_line([ansible_unsafe(file) for file in avatar.checkout_files]),
        "fleet_avatar_host_compose": json_string(HOST_COMPOSE if own_compose else ""),
        "fleet_avatar_services": json_line(list(avatar.services)),
        "fleet_avatar_digests": json_line(
            {"host": host_digest, "turn": digest("turn.env"), "firewall": digest("nftables.conf")}
        ),
        "fleet_avatar_reserved_ports": json_string(f"{avatar.relay[0]}-{avatar.relay[1]}" if avatar.relay else ""),
        "fleet_avatar_secrets": json_line(secrets),
        "fleet_avatar_slots": f"[\n{slots}\n  ]",
    }


def _inventory(blueprint: Blueprint) -> str:
    """The hosts of each group in the order of the blueprint, which Ansible keeps."""
    groups: dict[str, list[str]] = {FLEET_GROUP: []}
    for host in blueprint.in_order:
        groups[FLEET_GROUP].append(host.name)
        groups.setdefault(f"runtime_{host.runtime}", []).append(host.name)
        if host.region:
            groups.setdefault(f"region_{host.region.replace('-', '_')}", []).append(host.name)
    blocks = []
    for group in sorted(groups):
        hosts = ",\n".join(f"          {json_line(name)}: {{}}" for name in groups[group])
        blocks.append(f'      {json_line(group)}: {{\n        "hosts": {{\n{hosts}\n        }}\n      }}')
    children = ",\n".join(blocks)
    return f'{{\n  "all": {{\n    "children": {{\n{children}\n    }}\n  }}\n}}\n'


# --- where it comes from ----------------------------------------------------------------------------

_HOST_KEYS = {
    "ansible_host": "address",
    "ansible_port": "ssh_port",
    "ansible_user": "ssh_user",
    "ansible_become": "become",
}


def trace_site(blueprint: Blueprint, templates: Templates) -> list[TracedLine]:
    """The lines of `site.yml`, each with the setting of the rollout that it stems from."""
    marks = {"canary": given("rollout", "canary"), "batch": given("rollout", "batch")}
    return trace_template(templates, _SITE, _site_view(blueprint), marks)


def trace_inventory(blueprint: Blueprint) -> list[TracedLine]:
    """The lines of the inventory: hosts by name, groups by what puts hosts into them."""
    hosts = {host.name: given("hosts", host.name) for host in blueprint.hosts}
    lines = []
    grouped_by: list[Origin] = []
    for line in _inventory(blueprint).splitlines():
        name = line.strip().partition(":")[0].strip('"')
        kind, _, _ = name.partition("_")
        if kind in ("runtime", "region") and name not in hosts:
            grouped_by = [derived(f"hosts are grouped by their {kind}", ("hosts",))]
        elif name == FLEET_GROUP:
            grouped_by = [derived("the group of all hosts, those first that others use", ("hosts",))]
        member = hosts.get(name)
        why = [] if member is None else [member, *_grouping(member, grouped_by)]
        lines.append(traced(line, why or grouped_by or [derived("the hosts of the fleet", ("hosts",))]))
    return lines


def _grouping(host: Origin, grouped_by: list[Origin]) -> Iterator[Origin]:
    for origin in grouped_by:
        kind = origin.reason.rpartition(" ")[2]
        if kind in ("runtime", "region"):
            yield given(*host.paths[0], kind)


def trace_host(host: HostBlueprint, releases: Releases, inputs: Mapping[str, tuple[Origin, ...]]) -> list[TracedLine]:
    """The lines of the variables of a host.

    `releases` has the digests of its files; `inputs` the origins of all files of each of its services and, under the
    name of their directory, of its stack.
    """
    lines = []
    key = ""
    entries: Iterator[Service | AvatarSlot] = iter(())
    text = _host_file(host, releases.hosts[host.name], releases.services, releases.files)
    for line in text.splitlines():
        if line.startswith('  "'):
            key = line.split('"')[1]
            avatar_slots = host.avatar.slots if host.avatar is not None else ()
            entries = iter(avatar_slots) if key == "fleet_avatar_slots" else iter(host.services)
        entry = next(entries) if line.startswith("    {") else None
        lines.append(traced(line, _behind(host, key, entry, inputs)))
    return lines


def _behind(
    host: HostBlueprint, key: str, entry: Service | AvatarSlot | None, inputs: Mapping[str, tuple[Origin, ...]]
) -> list[Origin]:
    """The origins of one variable of a host, or of one entry of a list."""
    if isinstance(entry, AvatarSlot):
        return [entry.origin, *inputs[AVATAR_DIRECTORY]]
    if entry is not None:
        return [given(entry.table, entry.name), *inputs[entry.name]]
    if key == "fleet_files_digest":
        return [origin for found in inputs.values() for origin in found] or [given("hosts", host.name)]
    if key.startswith("fleet_avatar_") and host.avatar is not None:
        return [given("avatars", host.avatar.name), *(secret.origin for secret in host.avatar.secrets)]
    if key in ("fleet_files_owner", "fleet_services_runtime"):
        owner = [given("hosts", host.name, "node_user")] if key == "fleet_files_owner" else []
        return [given("hosts", host.name, "runtime"), *owner]
    return [given("hosts", host.name, *([_HOST_KEYS[key]] if key in _HOST_KEYS else []))]
