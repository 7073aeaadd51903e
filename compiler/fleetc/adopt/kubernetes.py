"""Reads Kubernetes manifests, and Helm charts once they are rendered: the containers that run a node.

In: the text of a file with one or several documents. Out: a `Process` for each such container. Values that a Secret
holds are references; those of a ConfigMap among the sources are filled in.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from fleetc.adopt.docker_run import names_node
from fleetc.adopt.flags import holes_in, starts_node
from fleetc.adopt.library import Library
from fleetc.adopt.shell import read_shell
from fleetc.adopt.words import Fate, Ledger, Mount, Process, Published, Word
from fleetc.adopt.yaml_nodes import Node, YamlError, documents
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.toml.document import Source

_PODS = {
    "Pod": (), "Deployment": ("template",), "StatefulSet": ("template",), "DaemonSet": ("template",),
    "ReplicaSet": ("template",), "Job": ("template",), "CronJob": ("jobTemplate", "spec", "template"),
}  # fmt: skip
_MANIFEST = re.compile(r"(?m)^apiVersion:[ \t]*\S")
_EXPANSION = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")


def is_manifest(text: str) -> bool:
    """Whether a text is a manifest."""
    return _MANIFEST.search(text) is not None and re.search(r"(?m)^kind:", text) is not None


@dataclass
class _Cluster:
    """What the manifests hold beside workloads: the data of config maps, by name and key."""

    maps: dict[str, dict[str, tuple[Source, Node]]] = field(default_factory=dict)


def read_manifests(sources: list[Source], library: Library, ledger: Ledger) -> Iterator[Process]:
    """The node processes of all manifests together."""
    found: list[tuple[Source, Node]] = []
    for source in sources:
        try:
            found += [(source, root) for root in documents(source.text) if root.kind == "map"]
        except YamlError as problem:
            ledger.refuse(
                "adopt-source-unreadable", Span(source.name, problem.place, problem.place + 1),
                f"this is not YAML that can be read: {leaks.shown(problem.message)}",
                "repair the file; a Helm chart has to be rendered first: helm template",
            )  # fmt: skip
    cluster = _Cluster()
    for source, root in found:
        if _text(root.get("kind")) == "ConfigMap":
            _config_map(cluster, source, root, library)
    for source, root in found:
        yield from _workload(cluster, source, root, ledger)


def _text(node: Node | None) -> str:
    return node.text if node is not None and node.kind == "text" else ""


def _name(root: Node) -> str:
    metadata = root.get("metadata")
    return _text(metadata.get("name")) if metadata is not None else ""


def _config_map(cluster: _Cluster, source: Source, root: Node, library: Library) -> None:
    data = root.get("data")
    values = data.fields() if data is not None else {}
    cluster.maps[_name(root)] = {key: (source, value) for key, value in values.items() if value.kind == "text"}
    for key, value in values.items():
        if value.kind == "text" and "\n" in value.text:
            library.written.setdefault(key, Source(f"{key} in {source.name}", value.text))


def _workload(cluster: _Cluster, source: Source, root: Node, ledger: Ledger) -> Iterator[Process]:
    kind, name = _text(root.get("kind")), _name(root)
    if kind == "List":
        items = root.get("items")
        for item in items.items if items is not None else []:
            yield from _workload(cluster, source, item, ledger)
        return
    span = (root.key("kind") or root).span(source.name)
    if kind not in _PODS:
        why = "filled in where a node names it" if kind == "ConfigMap" else "no part of a node"
        ledger.note(span, f"{kind} {name}"[:80], Fate.UNDERSTOOD if kind == "ConfigMap" else Fate.DROPPED, why)
        return
    node: Node | None = root.get("spec")
    for key in _PODS[kind]:
        node = node.get(key) if node is not None else None
    pod = (node.get("spec") if node is not None else None) if _PODS[kind] else node
    containers = pod.get("containers") if pod is not None else None
    for container in containers.items if containers is not None else []:
        process = _container(cluster, source, pod, container, name, ledger)
        if process is not None:
            yield process
        else:
            ledger.note(container.span(source.name), f"a container of {name}"[:80], Fate.DROPPED, "no node")
    replicas = _text(root.fields()["spec"].get("replicas")) if "spec" in root.fields() else ""
    if replicas not in ("", "1"):
        ledger.warn(
            "adopt-cannot-say", span, f"{name} runs {leaks.shown(replicas)} times, and a node of a spec runs once",
            "adopt it once, and give the others a table and a host each, or a class with a counter",
        )  # fmt: skip


def _container(
    cluster: _Cluster, source: Source, pod: Node | None, container: Node, name: str, ledger: Ledger
) -> Process | None:
    image = container.get("image")
    variables = _variables(cluster, source, container)
    words = [
        _filled(source, item, variables)
        for key in ("command", "args")
        for item in (container.fields()[key].texts() if key in container.fields() else [])
    ]
    program = words[0].text if words else ""
    node = (image is not None and names_node(image.text)) or starts_node(program, words[1:])
    if not node or pod is None:
        return None
    for key in container.fields():
        known = key in ("image", "command", "args", "env", "envFrom", "ports", "volumeMounts", "name", "resources")
        ledger.note((container.key(key) or container).span(source.name), key,
                    Fate.UNDERSTOOD if known else Fate.DROPPED,
                    "how the node starts" if known else "fleetc decides how containers of nodes run")  # fmt: skip
    selector = pod.get("nodeSelector")
    base = Process(
        name=name, span=(container.key("image") or container).span(source.name), words=tuple(words),
        variables=variables, runtime="docker", user="root", home="/root",
        host=_text(selector.get("kubernetes.io/hostname")) if selector is not None else "",
        image=Word(image.text, image.span(source.name), holes_in(image.text)) if image is not None else None,
        network="host" if _text(pod.get("hostNetwork")) == "true" else "bridge",
        mounts=tuple(_mounts(pod, container)), published=tuple(_ports(container)), peers=(name,),
    )  # fmt: skip
    shell = next((i for i, word in enumerate(words[:3]) if word.text == "-c"), 0)
    if shell and posixpath.basename(program) in ("sh", "bash", "ash", "dash") and shell + 1 < len(words):
        inner = read_shell(source.name, words[shell + 1].text, Ledger(), dict(variables)).processes
        return replace(base, words=inner[0].at(words[shell + 1].span).words) if inner else None
    if program and not program.startswith("-"):
        return replace(base, words=tuple(words[1:]))
    return base


def _filled(source: Source, node: Node, variables: Mapping[str, Word]) -> Word:
    """A word with $(NAME) filled in, as the kubelet does."""
    holes: list[str] = []

    def one(found: re.Match[str]) -> str:
        known = variables.get(found[1])
        if known is None:
            return found[0]
        holes.extend(known.holes)
        return known.text

    text = _EXPANSION.sub(one, node.text) if "$(" in node.text else node.text
    return Word(text, node.span(source.name), tuple(dict.fromkeys((*holes, *holes_in(text)))))


def _variables(cluster: _Cluster, source: Source, container: Node) -> dict[str, Word]:
    found: dict[str, Word] = {}
    groups = container.get("envFrom")
    for item in groups.items if groups is not None else []:
        reference = item.get("configMapRef")
        for key, (origin, data) in cluster.maps.get(_text(reference.get("name")) if reference else "", {}).items():
            found[key] = Word(data.text, data.span(origin.name), holes_in(data.text))
    listed = container.get("env")
    for item in listed.items if listed is not None else []:
        name, value = _text(item.get("name")), item.fields().get("value")
        if not name:
            continue
        if value is not None and value.kind == "text":
            found[name] = _filled(source, value, found)
        else:
            found[name] = _from(cluster, source, item, name)
    return found


def _from(cluster: _Cluster, source: Source, item: Node, name: str) -> Word:
    """A variable whose value comes from elsewhere: a config map among the sources, or a hole with its name."""
    origin = item.get("valueFrom")
    reference = origin.get("configMapKeyRef") if origin is not None else None
    if reference is not None:
        known = cluster.maps.get(_text(reference.get("name")), {}).get(_text(reference.get("key")))
        if known is not None:
            return Word(known[1].text, known[1].span(known[0].name), holes_in(known[1].text))
    hole = "${" + name.removeprefix("LP_") + "}"
    return Word(hole, item.span(source.name), (hole,))


def _mounts(pod: Node, container: Node) -> Iterator[Mount]:
    volumes = pod.get("volumes")
    paths: dict[str, str] = {}
    for volume in volumes.items if volumes is not None else []:
        host = volume.get("hostPath")
        paths[_text(volume.get("name"))] = _text(host.get("path")) if host is not None else ""
    mounts = container.get("volumeMounts")
    for item in mounts.items if mounts is not None else []:
        inside = _text(item.get("mountPath")).rstrip("/")
        outside = paths.get(_text(item.get("name")), "").rstrip("/")
        below = _text(item.get("subPath"))
        if inside:
            yield Mount(inside, f"{outside}/{below}" if outside and below else outside)


def _ports(container: Node) -> Iterator[Published]:
    ports = container.get("ports")
    for item in ports.items if ports is not None else []:
        inside, outside = _text(item.get("containerPort")), _text(item.get("hostPort"))
        if inside.isdigit() and outside.isdigit():
            yield Published(_text(item.get("hostIP")), int(outside), int(inside))
