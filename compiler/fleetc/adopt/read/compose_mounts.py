"""Reads what Compose files say of volumes, files, ports and other services of a container.

In: parts of a file, and what fills in variables. Out: mounts, published ports and names. A volume with a name is that
of its project, unless the file says what Docker calls it, or which folder it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from fleetc.adopt.found.words import Mount, Published, Word
from fleetc.adopt.read.docker_run import is_published, mount, published
from fleetc.adopt.read.yaml_nodes import Node
from fleetc.text import leaks
from fleetc.text.encoders import visible

_LONGEST_NAME = 60

Text = Callable[[Node | None], str]
"""Gives the text of a node with variables filled in; "" for nodes that are none."""


def described_volumes(described: Node | None, text: Text) -> dict[str, Mount]:
    """The volumes that a file describes: what Docker calls each, or the folder of the host that it is."""
    found: dict[str, Mount] = {}
    for name, node in described.fields().items() if described is not None else ():
        options, external = node.get("driver_opts"), node.get("external")
        called = text(external.get("name")) if external is not None and external.kind == "map" else ""
        called = called or text(node.get("name"))
        device = text(options.get("device")) if options is not None else ""
        bound = options is not None and "bind" in text(options.get("o")).split(",")
        outside = external is not None and text(external) != "false"
        if bound and device[:1] in ("/", ".", "~", "$"):
            found[name] = Mount("", device.rstrip("/") or "/")
        elif text(node.get("driver")) in ("", "local"):
            found[name] = Mount("", "", name=called or name, of_project=not called and not outside)
        else:
            found[name] = Mount("", "")
    return found


def mounts_of(node: Node | None, described: Mapping[str, Mount], text: Text) -> Iterator[Mount]:
    """The mounts of a service, in the short and in the long form."""
    for item in node.items if node is not None and node.kind == "list" else []:
        if item.kind == "text":
            short = mount(text(item))
            if short is not None:
                yield _of_volume(short, described)
            continue
        target, origin, kind = item.get("target"), item.get("source"), item.get("type")
        if target is None:
            continue
        inside, outside = text(target).rstrip("/") or "/", text(origin).rstrip("/")
        if kind is not None and kind.text == "volume" and outside:
            yield _of_volume(Mount(inside, "", name=outside), described)
        else:
            yield Mount(inside, outside if kind is None or kind.text == "bind" else "")


def _of_volume(one: Mount, described: Mapping[str, Mount]) -> Mount:
    """A mount of a service, with what the file says of its volume."""
    if one.outside or not one.name:
        return one
    return replace(described.get(one.name, replace(one, of_project=True)), inside=one.inside)


def files_of(fields: Mapping[str, Node], root: Node, text: Text) -> Iterator[Mount]:
    """The secrets and configs of a service, which are files of the container."""
    for kind, folder in (("secrets", "/run/secrets/"), ("configs", "/")):
        node, defined = fields.get(kind), root.get(kind)
        known = defined.fields() if defined is not None else {}
        for item in node.items if node is not None and node.kind == "list" else []:
            name = text(item if item.kind == "text" else item.get("source"))
            inside = text(item.get("target")) or name
            said = known.get(name)
            if not name or said is None:
                continue
            variable = text(said.get("environment"))
            where = f"the variable {variable} of who starts Compose" if variable else f"{name} of {kind} in Docker"
            yield Mount(inside if inside.startswith("/") else f"{folder}{inside}", text(said.get("file")), where)


def names_of(node: Node | None, text: Text) -> tuple[str, ...]:
    """The names that a list, or the keys of a map, has, as people may see them."""
    found = () if node is None else node.fields() or map(text, node.texts())
    return tuple(leaks.shown(visible(one))[:_LONGEST_NAME] for one in found)


def profiles_of(node: Node | None, said: Word | None, text: Text) -> tuple[str, ...]:
    """The profiles without which Compose does not start a service: none where the `.env` has `said` one of them."""
    needed = names_of(node, text)
    active = {one.strip() for one in said.text.split(",")} if said is not None and not said.holes else set()
    return () if active & {"*", *needed} else needed


def ports_of(node: Node | None, text: Text) -> Iterator[Published]:
    """The ports that a service publishes, in the short and in the long form."""
    for item in node.items if node is not None and node.kind == "list" else []:
        if item.kind == "text":
            if is_published(text(item)):
                yield published(text(item))
            continue
        inside, outside, address = text(item.get("target")), text(item.get("published")), text(item.get("host_ip"))
        if inside.isdigit() and outside.isdigit():
            yield Published("" if address == "0.0.0.0" else address, int(outside), int(inside))  # noqa: S104  # a source says it
