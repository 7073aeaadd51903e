"""Emits the Ansible project that rolls the tree out: inventory, host variables, `site.yml`, and the static playbooks.

In: the plan, the digests of hosts and services, the shipped playbooks. Out: `ansible/**`. Ansible reads every string of
an inventory as a template: each one that stems from the spec is marked unsafe. Keys and names of hosts and groups
cannot be marked, and come from the alphabet of names; group names hold an underscore, which no host name does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from compiler.artifacts import json_line, json_string, without_hidden
from compiler.encoding import ansible_unsafe
from compiler.plan import HostPlan, Plan, Service
from compiler.templating import Templates
from compiler.tree import Artifact

FLEET_GROUP = "fleet_hosts"
"""The group of all hosts."""


def emit(
    plan: Plan,
    hosts: Mapping[str, str],
    services: Mapping[str, str],
    templates: Templates,
    playbooks: Mapping[str, bytes],
) -> Iterator[Artifact]:
    """The whole project; `hosts` and `services` are the digests of their files, by name.

    Hosts without services are part of it: a rollout stops what used to run there.
    """
    for path, content in playbooks.items():
        yield Artifact(f"ansible/{path}", content)
    view = {"canary": plan.canary, "batch": plan.batch}
    text = templates.render("ansible/site.yml.j2", view)
    yield Artifact("ansible/site.yml", text.encode(), origins=("rollout",))
    yield Artifact("ansible/inventory.json", _inventory(plan).encode(), origins=("hosts",))
    for host in plan.hosts:
        text = _host_file(host, hosts[host.name], services)
        tables = {f"hosts.{host.name}", *(f"{s.table}.{s.name}" for s in host.services)}
        path = f"ansible/host_vars/{host.name}.json"
        yield Artifact(path, text.encode(), origins=tuple(sorted(tables)))


def _host_file(host: HostPlan, digest: str, services: Mapping[str, str]) -> str:
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


def _inventory(plan: Plan) -> str:
    groups: dict[str, list[str]] = {FLEET_GROUP: []}
    for host in plan.hosts:
        groups[FLEET_GROUP].append(host.name)
        groups.setdefault(f"runtime_{host.runtime}", []).append(host.name)
        if host.region:
            groups.setdefault(f"region_{host.region.replace('-', '_')}", []).append(host.name)
    blocks = []
    for group in sorted(groups):
        hosts = ",\n".join(f"          {json_line(name)}: {{}}" for name in sorted(groups[group]))
        blocks.append(f'      {json_line(group)}: {{\n        "hosts": {{\n{hosts}\n        }}\n      }}')
    children = ",\n".join(blocks)
    return f'{{\n  "all": {{\n    "children": {{\n{children}\n    }}\n  }}\n}}\n'
