"""Reads Kubernetes manifests, and Helm charts once they are rendered: the containers that run a node.

In: the text of a file with one or several documents. Out: a `Process` for each such container. Values that a Secret
holds are references; those of a ConfigMap among the sources are filled in.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from fleetc.adopt.bounds import Bounds, of_fields
from fleetc.adopt.docker_run import names_node
from fleetc.adopt.flags import holes_in, starts_node
from fleetc.adopt.kubernetes_places import (
    HOST_LABEL,
    Volume,
    host_of,
    host_ports,
    open_ports,
    text,
    volume_of,
    within,
)
from fleetc.adopt.library import Library
from fleetc.adopt.shell import read_shell
from fleetc.adopt.words import Fate, Ledger, Mount, Process, Unread, Word
from fleetc.adopt.yaml_nodes import Node, YamlError, documents
from fleetc.places.diagnostic import Span
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.toml.document import Source

_PODS = {
    "Pod": (), "Deployment": ("template",), "StatefulSet": ("template",), "DaemonSet": ("template",),
    "ReplicaSet": ("template",), "Job": ("template",), "CronJob": ("jobTemplate", "spec", "template"),
}  # fmt: skip
_MANIFEST = re.compile(r"(?m)^apiVersion:[ \t]*\S")
_REFERENCES = {"LP_ETHURL": "RPC_URL", "LP_ORCHSECRET": "ORCH_SECRET", "LP_ETHPASSWORD": "ETH_PASSWORD"}
"""What the references to secrets of variables are called; others have the name of the variable."""
_OF_POD = "<what the cluster says of a pod>"
_EXPANSION = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")


def is_manifest(text: str) -> bool:
    """Whether a text is a manifest."""
    return _MANIFEST.search(text) is not None and re.search(r"(?m)^kind:", text) is not None


@dataclass
class _Cluster:
    """What the manifests hold beside workloads: the data of config maps, by name and key, and services."""

    maps: dict[str, dict[str, tuple[Source, Node]]] = field(default_factory=dict)
    services: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Services: name, namespace, and the labels of the pods that they lead to."""
    outside: list[tuple[dict[str, str], int]] = field(default_factory=list)
    """Ports of pods that services open beyond the cluster, with the labels of those pods."""
    volumes: dict[str, Volume] = field(default_factory=dict)
    """Volumes whose directory on a host is known, by name, and by the claim that one is for."""
    claimed: dict[str, str] = field(default_factory=dict)
    """The volume that a claim names."""
    secrets: dict[tuple[str, str], str] = field(default_factory=dict)
    """Keys of Secrets that containers get as variables, and what each is called: one value has one reference."""

    def volume(self, claim: str) -> Volume:
        """Where the volume of a claim is, as far as the manifests say it."""
        return self.volumes.get(self.claimed.get(claim) or f"claim {claim}", Volume())

    def reference(self, secret: Node, called: str) -> str:
        """What the key of a Secret is called: like the variable that is met first, and like no other key."""
        key = (_text(secret.get("name")), _text(secret.get("key")))
        name, number = called, 2
        while key not in self.secrets and name in self.secrets.values():
            name, number = f"{called}_{number}", number + 1
        return self.secrets.setdefault(key, name)


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
        kind, spec = _text(root.get("kind")), root.get("spec")
        if kind == "ConfigMap":
            _config_map(cluster, source, root, library)
        elif kind == "Secret":
            _secret(source, root, ledger)
        elif kind == "Service":
            metadata = root.get("metadata")
            namespace = _text(metadata.get("namespace")) if metadata is not None else ""
            chosen = spec.get("selector") if spec is not None else None
            cluster.services.append((_name(root), namespace or "default", _texts(chosen)))
            if spec is not None:
                cluster.outside += [(_texts(chosen), port) for port in open_ports(spec)]
        elif kind == "PersistentVolume":
            cluster.volumes |= volume_of(root)
        elif kind == "PersistentVolumeClaim":
            cluster.claimed[_name(root)] = text(spec, "volumeName")
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


def _texts(node: Node | None) -> dict[str, str]:
    return {key: _text(value) for key, value in node.fields().items()} if node is not None else {}


def _secret(source: Source, root: Node, ledger: Ledger) -> None:
    """What a Secret holds is read by nobody here: it is told to be moved, and its lines are never shown."""
    values = [value for key in ("data", "stringData") if (data := root.get(key)) for _, value in data.pairs]
    if not values:
        return
    ledger.secrets += [value.span(source.name) for value in values]
    ledger.warn(
        "adopt-secret-inline", values[0].span(source.name),
        f"the Secret {leaks.shown(_name(root))} stands in this file in clear; base64 hides nothing",
        "the spec has references instead: put each value where its reference says, keep the manifest where nobody "
        "reads it, and then change the secrets",
    )  # fmt: skip


_WHY = {
    "ConfigMap": (Fate.UNDERSTOOD, "filled in where a node names it"),
    "Service": (Fate.UNDERSTOOD, "names under which pods reach each other"),
    "Secret": (Fate.UNDERSTOOD, "a reference where a node names it"),
    "PersistentVolume": (Fate.UNDERSTOOD, "where files are"),
    "PersistentVolumeClaim": (Fate.UNDERSTOOD, "where files are"),
}


def _peers(cluster: _Cluster, root: Node, pod: Node | None, name: str) -> tuple[str, ...]:
    """The names under which other pods reach a workload: those of the services that lead to its pods."""
    labels = _texts(pod.get("labels")) if pod is not None else {}
    found = [name]
    for service, space, chosen in cluster.services:
        if chosen and chosen.items() <= labels.items():
            found += [service, f"{service}.{space}", f"{service}.{space}.svc", f"{service}.{space}.svc.cluster.local"]
    return tuple(dict.fromkeys(found))


def _workload(cluster: _Cluster, source: Source, root: Node, ledger: Ledger) -> Iterator[Process]:
    kind, name = _text(root.get("kind")), _name(root)
    if kind == "List":
        items = root.get("items")
        for item in items.items if items is not None else []:
            yield from _workload(cluster, source, item, ledger)
        return
    span = (root.key("kind") or root).span(source.name)
    if kind not in _PODS:
        fate, why = _WHY.get(kind, (Fate.DROPPED, "no part of a node"))
        ledger.note(span, f"{kind} {name}"[:80], fate, why)
        return
    template: Node | None = root
    for key in ("spec", *_PODS[kind]) if _PODS[kind] else ():
        template = template.get(key) if template is not None else None
    pod = template.get("spec") if template is not None else None
    spec = root.get("spec")
    claims = _claims(spec.get("volumeClaimTemplates")) if spec is not None else {}
    peers = _peers(cluster, root, template.get("metadata") if template is not None else None, name)
    labels = _texts(within(template, "metadata", "labels"))
    opened = [port for chosen, port in cluster.outside if chosen.items() <= labels.items()]
    host = host_of(pod) or _host_of_volumes(cluster, pod)
    placed, several = _placed(kind, spec, pod, host)
    if pod is not None:
        _account_of_pod(pod, source, ledger)
    containers = pod.get("containers") if pod is not None else None
    for container in containers.items if containers is not None else []:
        process = _container(cluster, source, pod, container, name, ledger, claims, opened)
        if process is not None:
            workload = f"{kind.lower()}/{name}"
            process = replace(process, peers=peers, placed=placed, several=several, workload=workload, host=host)
            ledger.note(span, f"{kind} {name}"[:80], Fate.UNDERSTOOD, placed or "a node on the host that it names")
            if several:
                ledger.warn(
                    "adopt-cannot-say", span, f"{leaks.shown(name)} is several nodes, and the spec has one: {placed}",
                    "give each of the others a table and a host, or write both with a counter, such as "
                    '[hosts."gpu-{1..2}"]',
                )  # fmt: skip
            yield process
        else:
            ledger.note(container.span(source.name), f"a container of {name}"[:80], Fate.DROPPED, "no node")


def _placed(kind: str, spec: Node | None, pod: Node | None, host: str) -> tuple[str, bool]:
    """How the cluster chooses the hosts of a workload, in words, and whether it runs more than once."""
    labels = _texts(pod.get("nodeSelector")) if pod is not None else {}
    labels.pop(HOST_LABEL, "")
    among = leaks.shown(visible(",".join(f"{key}={value}" for key, value in labels.items())))[:80]
    which = f" with {among}" if among else ""
    if kind == "DaemonSet":
        shows = f"kubectl get nodes{f' -l {among}' if among else ''} lists them"
        return ("", False) if host else (f"a DaemonSet runs it on every host{which}; {shows}", True)
    replicas = _text(spec.get("replicas")) if spec is not None else ""
    several = replicas not in ("", "1")
    count = f"it runs {leaks.shown(replicas)[:20]} times" if several else "it runs once"
    if host:
        return (f"{count} on {leaks.shown(host)[:60]}", True) if several else ("", False)
    many = "hosts" if several else "a host"
    return f"{count}, on {many}{which} that the cluster chooses; kubectl get pods -o wide shows where", several


_OF_PODS = {
    "nodeSelector": (Fate.UNDERSTOOD, "which hosts it runs on"), "volumes": (Fate.UNDERSTOOD, "where files are"),
    "containers": (Fate.UNDERSTOOD, "what it runs"),
}  # fmt: skip


def _account_of_pod(pod: Node, source: Source, ledger: Ledger) -> None:
    """What became of the keys of a pod."""
    for key, _ in pod.pairs:
        fate, why = _OF_PODS.get(
            key.text, (Fate.DROPPED, "a matter of the cluster; in a spec each node names its host")
        )
        ledger.note(key.span(source.name), leaks.shown(visible(key.text))[:60], fate, why)


def _container(
    cluster: _Cluster, source: Source, pod: Node | None, container: Node, name: str, ledger: Ledger,
    claims: Mapping[str, str], opened: Collection[int],
) -> Process | None:  # fmt: skip
    image = container.get("image")
    unread: list[Unread] = []
    variables = _variables(cluster, source, container, unread, ledger)
    command = [item for key in ("command", "args") if (found := container.get(key)) for item in found.texts()]
    words = [_filled(source, item, variables) for item in command]
    program = words[0].text if words else ""
    node = (image is not None and names_node(image.text)) or starts_node(program, words[1:])
    if not node or pod is None:
        return None
    for key in container.fields():
        known = key in ("image", "command", "args", "env", "envFrom", "ports", "volumeMounts", "name", "resources")
        ledger.note((container.key(key) or container).span(source.name), key,
                    Fate.UNDERSTOOD if known else Fate.DROPPED,
                    "how the node starts" if known
                    else "fleetc decides how containers of nodes run"
                    + ("; what differs is said" if key == "securityContext" else ""))  # fmt: skip
    security = {**_texts(pod.get("securityContext")), **_texts(container.get("securityContext"))}
    user = security.get("runAsUser", "")
    filled = {name for item in command for name in _EXPANSION.findall(item.text)}
    base = Process(
        name=name, span=(container.key("image") or container).span(source.name), words=tuple(words),
        variables=_own(variables, filled, ledger), runtime="docker", user=user or "root",
        home="/root" if user in ("", "0") else "", bounds=_bounds(pod, container), unread=tuple(unread),
        image=Word(image.text, image.span(source.name), holes_in(image.text)) if image is not None else None,
        # a pod has an address of its own, where its listeners are open to the cluster as the command says
        network="host", mounts=tuple(_mounts(cluster, pod, container, claims)), given=(given := _gpus(container)),
        sees=_CHOSEN if given else "",
        of_pod=_text(pod.get("hostNetwork")) != "true", open_in_pod=(*host_ports(container), *opened),
    )  # fmt: skip
    shell = next((i for i, word in enumerate(words[:3]) if word.text == "-c"), 0)
    if shell and posixpath.basename(program) in ("sh", "bash", "ash", "dash") and shell + 1 < len(words):
        inner = read_shell(source.name, words[shell + 1].text, Ledger(), dict(variables)).processes
        first = inner[0].at(words[shell + 1].span) if inner else None
        return replace(base, words=first.words, commands=first.commands) if first is not None else None
    if program and not program.startswith("-"):
        return replace(base, words=tuple(words[1:]))
    return base


def _bounds(pod: Node, container: Node) -> Bounds:
    """What the cluster bounds of a container, or lets it do; its user and its GPUs have places of their own."""
    resources = container.get("resources")
    limits = resources.get("limits") if resources is not None else None
    found = of_fields(limits.fields().items(), (), "limits.") if limits is not None else ()
    security = [one for one in (pod.get("securityContext"), container.get("securityContext")) if one is not None]
    for one in security:
        found += of_fields(one.fields().items(), ())
    return tuple(dict(one for one in found if one[0] not in _SAID_ELSEWHERE).items())


_SAID_ELSEWHERE = ("limits.nvidia.com/gpu", "runAsUser", "runAsNonRoot")


_CHOSEN = "the cluster chooses its GPUs; nvidia-smi -L in the pod and on the host shows which"


def _gpus(container: Node) -> int:
    """How many GPUs of its host the cluster gives a container; at least one where the number is not known."""
    resources = container.get("resources")
    for key in ("limits", "requests"):
        listed = resources.get(key) if resources is not None else None
        count = _texts(listed).get("nvidia.com/gpu", "")
        if count not in ("", "0"):
            return min(int(count[:3]), 64) if count.isascii() and count.isdecimal() else 1
    return 0


def _own(variables: Mapping[str, Word], filled: Collection[str], ledger: Ledger) -> dict[str, Word]:
    """The variables of the node itself: not those that only fill in its command, and what is true of a pod alone."""
    own: dict[str, Word] = {}
    for name, word in variables.items():
        of_pod = word.holes == (_OF_POD,)
        if name.startswith("LP_") or not (of_pod or name in filled):
            own[name] = word
        elif of_pod:
            ledger.note(word.span, name, Fate.DROPPED, "the cluster says it of a pod, and a host has none")
        else:
            ledger.note(word.span, name, Fate.UNDERSTOOD, "filled in where the command names it")
    return own


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


def _missing(kind: str, name: str, span: Span, optional: bool, ledger: Ledger) -> Unread:
    """Say that nobody knows which variables something of a cluster sets."""
    called = f"{kind} {leaks.shown(visible(name))}"
    ledger.note(span, called, Fate.DROPPED, "no source says which variables it sets", "adopt-file-missing")
    ledger.warn(
        "adopt-file-missing", span, f"no source says which variables {called} sets",
        "name its manifest too" if kind == "ConfigMap" else "write each variable that the node reads under env, with "
        "its secretKeyRef",
    )  # fmt: skip
    return Unread(span, called, optional)


def _variables(
    cluster: _Cluster, source: Source, container: Node, unread: list[Unread], ledger: Ledger
) -> dict[str, Word]:
    """The variables of a container; `unread` takes what gives it all of its keys as variables, and is no source."""
    found: dict[str, Word] = {}
    groups = container.get("envFrom")
    for item in groups.items if groups is not None else []:
        for kind, reference in (("ConfigMap", item.get("configMapRef")), ("Secret", item.get("secretRef"))):
            name = _text(reference.get("name")) if reference is not None else ""
            for key, (origin, data) in cluster.maps.get(name if kind == "ConfigMap" else "", {}).items():
                found[key] = Word(data.text, data.span(origin.name), holes_in(data.text))
            if reference is not None and (kind == "Secret" or name not in cluster.maps):
                optional = _text(reference.get("optional")) == "true"
                unread.append(_missing(kind, name, reference.span(source.name), optional, ledger))
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
    if origin is not None and (origin.get("fieldRef") or origin.get("resourceFieldRef")):
        return Word(_OF_POD, item.span(source.name), (_OF_POD,))
    called = _REFERENCES.get(name, name.removeprefix("LP_"))
    secret = origin.get("secretKeyRef") if origin is not None else None
    if secret is not None:
        called = cluster.reference(secret, called)
    hole = "${" + called + "}"
    return Word(hole, item.span(source.name), (hole,))


def _claims(templates: Node | None) -> dict[str, str]:
    """The volumes that a StatefulSet claims for each pod, in words."""
    items = templates.items if templates is not None else []
    return {_name(one): f"the volume claim {_name(one)} of a pod; kubectl get pv says where" for one in items}


def _host_of_volumes(cluster: _Cluster, pod: Node | None) -> str:
    """The host that has the volumes of a pod; "" where no source says one, or there are several."""
    listed = within(pod, "volumes")
    names = (text(one, "persistentVolumeClaim", "claimName") for one in (listed.items if listed is not None else []))
    hosts = {cluster.volume(name).host for name in names if name} - {""}
    return min(hosts) if len(hosts) == 1 else ""


def _mounts(cluster: _Cluster, pod: Node, container: Node, claims: Mapping[str, str]) -> Iterator[Mount]:
    volumes = pod.get("volumes")
    paths: dict[str, str] = {}
    words = dict(claims)
    secrets: dict[str, str] = {}
    for volume in volumes.items if volumes is not None else []:
        called = _text(volume.get("name"))
        host = volume.get("hostPath")
        claim = text(volume, "persistentVolumeClaim", "claimName")
        paths[called] = _text(host.get("path")) if host is not None else cluster.volume(claim).path if claim else ""
        for kind, key, what in _VOLUMES:
            inner = volume.get(kind)
            if inner is not None:
                words[called] = what.format(_text(inner.get(key)))
                secrets[called] = _text(inner.get(key)) if kind == "secret" and inner.get("items") is None else ""
    mounts = container.get("volumeMounts")
    for item in mounts.items if mounts is not None else []:
        inside, called = _text(item.get("mountPath")).rstrip("/"), _text(item.get("name"))
        outside = paths.get(called, "").rstrip("/")
        below = _text(item.get("subPath"))
        if inside:
            where = f"{outside}/{below}" if outside and below else outside
            said = words.get(called, "a volume that no source describes")
            yield Mount(inside, where, said, secret="" if below else secrets.get(called, ""))


_VOLUMES = (
    ("secret", "secretName", "the Secret {}"), ("configMap", "name", "the ConfigMap {}"),
    ("persistentVolumeClaim", "claimName", "the volume claim {}; kubectl get pv says where"),
    ("emptyDir", "medium", "an empty directory, which goes with the pod"),
)  # fmt: skip
