"""What manifests say of hosts: which one a pod or a volume is on, where that keeps its files, and what is open there.

In: nodes of YAML. Out: hosts, directories and ports, as far as a manifest has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fleetc.adopt.yaml_nodes import Node

HOST_LABEL = "kubernetes.io/hostname"


class Volume(NamedTuple):
    """Where a volume is: a directory and its host, "" for what no manifest says."""

    path: str = ""
    host: str = ""


def text(node: Node | None, *keys: str) -> str:
    """The text behind some keys; "" where there is none."""
    found = within(node, *keys)
    return found.text if found is not None and found.kind == "text" else ""


def within(node: Node | None, *keys: str) -> Node | None:
    """What is behind some keys."""
    for key in keys:
        node = node.get(key) if node is not None else None
    return node


def volume_of(root: Node) -> dict[str, Volume]:
    """A PersistentVolume by its name, and by the claim that it is for; {} for one that is no directory of a host."""
    spec = root.get("spec")
    path = text(spec, "hostPath", "path") or text(spec, "local", "path")
    if not path.startswith("/"):
        return {}
    volume = Volume(path, _named_host(within(spec, "nodeAffinity", "required", "nodeSelectorTerms")))
    names = [text(root, "metadata", "name"), f"claim {text(spec, 'claimRef', 'name')}"]
    return {name: volume for name in names if name not in ("", "claim ")}


def host_of(pod: Node | None) -> str:
    """The one host that a pod runs on; "" where the cluster chooses."""
    required = within(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    return (
        text(pod, "nodeName") or text(pod, "nodeSelector", HOST_LABEL)
        or _named_host(within(required, "nodeSelectorTerms"))
    )  # fmt: skip


def _named_host(terms: Node | None) -> str:
    """The host that the only term of an affinity names; "" where it names none, or several."""
    if terms is None or len(terms.items) != 1:
        return ""
    expressions = terms.items[0].get("matchExpressions")
    for one in expressions.items if expressions is not None else []:
        values = one.get("values")
        if text(one, "key") == HOST_LABEL and text(one, "operator") == "In" and values is not None:
            names = [value.text for value in values.texts()]
            return names[0] if len(names) == 1 else ""
    return ""


def open_ports(service: Node) -> Iterator[int]:
    """The ports of pods that a Service opens to others than pods."""
    listed = service.get("ports")
    outside = text(service, "type") in ("LoadBalancer", "NodePort") or service.get("externalIPs") is not None
    for item in listed.items if listed is not None and outside else []:
        port = text(item, "targetPort") or text(item, "port")
        yield int(port) if port.isdecimal() and len(port) < 6 else 0  # a name: it may be any port


def host_ports(container: Node) -> Iterator[int]:
    """The ports of a container that its host has too."""
    listed = container.get("ports")
    for item in listed.items if listed is not None else []:
        if (port := text(item, "containerPort")).isdecimal() and len(port) < 6 and text(item, "hostPort"):
            yield int(port)
