"""Splits everything in a blueprint except nodes: avatar stacks, streams, and monitoring.

In: these parts of a blueprint. Out: `Item`s. Called by `of_blueprint.py`. A stack belongs to its host. Its processes
are avatar/host, avatar/turn and avatar/slot-NN; the key of an item names its process.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from fleetc.blueprint.blueprint import (
    FIREWALL_ALLOWLIST,
    AvatarSlot,
    BlueprintFile,
    StackBlueprint,
    StackImage,
    StreamApiBlueprint,
    StreamBlueprint,
)
from fleetc.blueprint.listeners import EVERYONE
from fleetc.blueprint.monitoring import Container, MonitoringBlueprint, ScrapeTarget
from fleetc.places.diagnostic import Path
from fleetc.places.origin import Chosen, Origin, derived, given
from fleetc.review.items.item import Item, ItemPlace, Key, entries_of, leaf_text, nearest, plain

SEAT = "seat"
"""The suffix of the item key that says which avatar a slot has, and on which GPU."""

ASLEEP = "asleep"
"""The suffix of the item key that says that a slot sleeps."""

HOST_UNIT, TURN_UNIT = "host", "turn"
"""What an item of a stack can belong to besides slots: the services of the host, and the TURN server."""

LEFT_OUT: dict[str, str] = {
    "StackBlueprint.name": "it names the stack",
    "StackBlueprint.cluster": "the items of the slots say it",
    "StackBlueprint.checkout_files": "variables of the slots name them",
    "StackBlueprint.startable": "variables say what the stack may start, and ports what stands beside it",
    "Startable.ports": "the slots that the stack may start have them all",
    "Startable.networks": "the same for each stack",
    "StackBlueprint.release": "the image tag and the variables that differ by release say it",
    "AvatarSlot.number": "it is the key of the items of the slot",
    "AvatarSlot.network": "a variable of the slot says it",
    "StreamBlueprint.name": "it is the key of the items of the stream",
    "RequestSecret.form": "what the value has to look like; the place decides",
    "Alert.group": "a heading of the file",
    "Panel.group": "a heading of the dashboard",
    "HostProject.agent": "the programs of the host say it",
    "Container.user": "the same for each program, like the three below",
    "Container.data": "the same for each program",
    "Container.configured": "the same for each program",
    "Container.sees_host": "the same for each program",
    "Container.ready": "where the program listens says it",
    "Programs.prometheus": "where Prometheus listens says it",
    "Programs.alertmanager": "where Alertmanager listens says it",
}
"""Fields that have no items, and why."""


# --- avatars --------------------------------------------------------------------------------------


def avatar(place: ItemPlace, stack: StackBlueprint | None) -> Iterator[Item]:
    """The items of a stack. Lists of callers come once, followed by the variables that repeat them."""
    if stack is None:
        return
    key, path = (*place.key, "avatar"), ("avatars", stack.name)
    head = Item(key, place.host, "", "avatar", f"stack {stack.name}", "", given(*path), presence=True)
    yield head._replace(value=f"{len(stack.slots)} slots, images {stack.image_tag}")
    for listed in stack.allowlists:
        origin = derived("who may call", *(p for entry in listed.entries for p in entry.origin.paths))
        item = Item((*key, HOST_UNIT, "allow", listed.file), place.host, "", "allow", listed.file, "", origin)
        yield item._replace(value=", ".join(listed.texts), follows=listed.file != FIREWALL_ALLOWLIST)
    for origin, rows in groupby(stack.startable.beside, key=itemgetter(2)):
        ports, purposes, _ = zip(*rows, strict=True)
        what = f"{', '.join(purpose.removeprefix('a ').removeprefix('the ') for purpose in purposes)} (tcp)"
        value = f"{', '.join(f'0.0.0.0:{port}' for port in ports)} for {EVERYONE}; call it"
        yield Item((*key, HOST_UNIT, "port", what), place.host, "", "port", what, value, origin)
    plain_fields = (
        ("checkout", stack.checkout, "project_dir"),
        ("services", ", ".join(stack.services), "turn"),
        ("steered", "yes" if stack.steered else "no", "edge"),
        ("game arguments", stack.game_arguments, "game_args"),
        ("prefix", stack.prefix, "brand"),
        ("image tag", stack.image_tag, "image_tag"),
        ("release of the checkout", stack.ref, "avatar_release"),
        ("relay", plain(stack.relay or ()), "turn"),
    )
    for name, value, field in plain_fields:
        yield from _plain_item((*key, HOST_UNIT, name), place.host, "avatar", name, value, given(*path, field))
    shared = tuple(image for image in stack.images if image.service in stack.services)
    yield from _images((*key, HOST_UNIT), place.host, shared)
    for unit, variables, secrets in (
        (HOST_UNIT, stack.host_variables, stack.host_secrets),
        (TURN_UNIT, stack.turn_variables, stack.turn_secrets),
    ):
        yield from _variables((*key, unit), place.host, variables)
        for secret in secrets:
            text = f"{secret.kind} {secret.reference}"
            yield Item((*key, unit, "secret", secret.name), place.host, "", "secret", secret.name, text, secret.origin)
    for slot in stack.slots:
        yield from _slot((*key, slot.name), place.host, slot)
        of_slot = tuple(image for image in stack.images if image not in shared)
        yield from _images((*key, slot.name), place.host, of_slot, f"{slot.name} ")


def _images(key: Key, host: str, images: tuple[StackImage, ...], head: str = "") -> Iterator[Item]:
    """The images without a release tag, of the host or of a slot."""
    for image in images:
        what = f"image of {image.service}"
        value = image.image or "latest"
        yield from _plain_item((*key, what), host, "slot" if head else "avatar", head + what, value, image.origin)


def _slot(key: Key, host: str, slot: AvatarSlot) -> Iterator[Item]:
    text = f"{slot.avatar} on {'every GPU' if slot.gpu == 'all' else f'GPU {slot.gpu}'}"
    head = Item(key, host, "", "slot", slot.name, text, slot.origin)
    yield head._replace(presence=True, follows=True)
    named = (variable.origin for variable in slot.variables if variable.name == "VTUBER_AVATAR_ID")
    paths = (*slot.origin.paths, *(path for origin in named for path in origin.paths))
    yield head._replace(key=(*key, SEAT), origin=derived("which slot has the avatar", *dict.fromkeys(paths)))
    arguments = (("project", slot.project), ("arguments", slot.arguments))
    ports = ", ".join(f"{service} {port}" for service, port in slot.ports)
    for name, value in (*arguments, ("ports", ports), ("directories", ", ".join(slot.directories))):
        yield from _plain_item((*key, name), host, "slot", f"{slot.name} {name}", value, slot.origin)
    if slot.asleep is not None:
        yield Item((*key, ASLEEP), host, "", "slot", f"{slot.name} asleep", "true", slot.asleep)
    yield from _variables(key, host, slot.variables, f"{slot.name} ")


def _variables(key: Key, host: str, variables: Any, head: str = "") -> Iterator[Item]:
    """Variables follow from other changes of the same edit: many of them repeat one setting."""
    kind = "slot" if head else "variable"
    for variable in variables:
        what, origin = f"{head}{variable.name}", variable.origin
        yield Item((*key, "variable", variable.name), host, "", kind, what, variable.value, origin, follows=True)


def _plain_item(key: Key, host: str, kind: str, what: str, value: str, origin: Origin) -> Iterator[Item]:
    if value:
        yield Item(key, host, "", kind, what, value, origin, follows=True)


# --- streams --------------------------------------------------------------------------------------


def streams(declared: tuple[StreamBlueprint, ...]) -> Iterator[Item]:
    """The items of streams: the request that creates one by its fields, and what follows from it."""
    for stream in declared:
        key: Key = ("fleet", "stream", stream.name)
        head = Item(key, "", "", "stream", stream.name, "", given("streams", stream.name), presence=True)
        yield head._replace(value=f"on {stream.gateway}" if stream.gateway else "on no gateway")
        plain_head = head._replace(presence=False)
        if stream.gateway:  # before what follows from it, such as the answer of a webhook
            origin = given("streams", stream.name, "gateway")
            named = plain_head._replace(key=(*key, "gateway"), what=f"{stream.name}: gateway", origin=origin)
            yield named._replace(value=stream.gateway)
        yield from _content(plain_head, stream.request)
        if stream.answer is not None:
            yield from _content(plain_head._replace(follows=True), stream.answer)
        for secret in stream.secrets:
            where = ".".join(map(str, secret.place))
            named = plain_head._replace(key=(*key, "secret", where), what=f"{stream.name}: secret at {where}")
            yield named._replace(value=f"{secret.kind} {secret.reference}", origin=secret.origin)
        if stream.suspended:
            what, origin = f"{stream.name}: suspended", given("streams", stream.name, "suspended")
            yield plain_head._replace(key=(*key, "suspended"), what=what, value="true", origin=origin)


def stream_api(api: StreamApiBlueprint | None) -> Iterator[Item]:
    """Where the streams are, and which secret is sent there."""
    if api is None:
        return
    for what, value in (("base_url", api.base_url), ("token", f"{api.kind} {api.reference}")):
        key: Key = ("fleet", "stream_api", what)
        yield Item(key, "", "", "stream_api", f"stream API: {what}", value, given("stream_api", what))


def _content(head: Item, file: BlueprintFile) -> Iterator[Item]:
    """The values of a request; an entry of a list in it, such as a rendition, comes and goes as a whole."""
    for name, entry in entries_of(file.content).items():
        if name:
            key, near = (*head.key, file.name, name), nearest(file, entry.place)
            origin = derived("the request of the stream", *near.paths, *head.origin.paths)
            named = head._replace(key=key, what=f"{head.what}: {name}", origin=origin)
            yield named._replace(value=leaf_text(entry.values), presence=True)
        for leaf, value in entry.values.items():
            what = f"{head.what}: {f'{name} ' if name else ''}{leaf}"
            near = nearest(file, (*entry.place, leaf))
            origin = derived("the request of the stream", *near.paths, *head.origin.paths)
            key = (*head.key, file.name, name, leaf)
            yield head._replace(key=key, what=what, value=leaf_text(value), origin=origin)


# --- monitoring -----------------------------------------------------------------------------------


def monitoring(blueprint: MonitoringBlueprint | None) -> Iterator[Item]:
    """The items of monitoring; nearly all of them follow from the monitored nodes and hosts."""
    if blueprint is None:
        return
    head = Item(("fleet", "monitoring"), "", "", "monitoring", "", "", given("monitoring"), follows=True)
    yield from _one(head, "home", blueprint.home, given("monitoring", "host"))
    chosen: tuple[tuple[str, Chosen[Any] | None], ...] = (
        ("interval", blueprint.interval),
        ("receiver", blueprint.receiver),
        ("token_file", blueprint.token_file),
        ("runbook", blueprint.runbook),
        *((f"alertmanagers {place}", value) for place, value in enumerate(blueprint.alertmanagers)),
        *((f"rule_files {place}", value) for place, value in enumerate(blueprint.rule_files)),
    )
    for name, setting in chosen:
        if setting is not None:
            yield from _one(head, name, str(setting.value), setting.origin)
    for target in blueprint.targets:
        yield from _one(head, f"target {target.job} {target.probe or target.address}", *_of_target(target))
    for agent in blueprint.agents:
        for target in agent.targets:
            what = f"agent {agent.host} {target.job} {target.probe or target.address}"
            yield from _one(head, what, *_of_target(target))
    for alert in blueprint.alerts:
        text = f"{alert.expr} for {alert.wait}, {alert.severity}"
        texts = ("".join(map(str, alert.summary)), "".join(map(str, alert.description)), _labels(alert.labels))
        threshold = leaf_text(alert.threshold) if alert.threshold is not None else ""
        value = "; ".join(filter(None, (text, *texts, threshold)))
        name = " ".join((alert.name, *(label.value for label in alert.labels)))
        yield from _one(head, f"alert {name}", value, _of(alert.origins))
    for panel in blueprint.panels:
        queries = "; ".join(f"{query.expr} as {query.legend}" for query in panel.queries)
        side = "below" if panel.below else "above"
        bound = "" if panel.threshold is None else f"{side} {leaf_text(panel.threshold)}"
        text = "; ".join(filter(None, (queries, panel.unit, panel.description, bound, "by day" * panel.daily)))
        yield from _one(head, f"panel {panel.title}", text, _of(panel.origins))
    for project in blueprint.programs.hosts if blueprint.programs is not None else ():
        for container in project.containers:
            yield from _one(head, f"program {project.host} {container.name}", *_of_container(container))
    for notified in blueprint.programs.notified if blueprint.programs is not None else ():
        yield from _one(head, f"notified by {notified.kind}", notified.file.value, notified.file.origin)
    for unwatched in blueprint.unwatched:
        yield from _one(head, f"unwatched {unwatched.what}", unwatched.why, unwatched.origin)


def _one(head: Item, what: str, value: str, origin: Origin) -> Iterator[Item]:
    if value:
        yield head._replace(key=(*head.key, what), what=what, value=value, origin=origin)


def _of_target(target: ScrapeTarget) -> tuple[str, Origin]:
    paths: dict[Path, None] = dict.fromkeys(target.origin.paths)
    for label in target.labels:
        paths |= dict.fromkeys(label.origin.paths)
    address = target.address if target.probe else ""
    return ", ".join(filter(None, (address, _labels(target.labels)))) or "read", derived("what is watched", *paths)


def _of_container(container: Container) -> tuple[str, Origin]:
    """What a program of a monitoring project runs with, and all that it comes from."""
    chosen = (*container.arguments, *(value for _, value in container.variables), *container.files)
    variables = (f"{name}={value.value}" for name, value in container.variables)
    words = (container.image, *(argument.value for argument in container.arguments), *variables)
    paths = dict.fromkeys(path for part in chosen for path in part.origin.paths)
    return " ".join((*words, *(file.value for file in container.files))), derived("what it runs with", *paths)


def _labels(labels: Any) -> str:
    return ", ".join(f"{label.name}={label.value}" for label in labels)


def _of(origins: tuple[Origin, ...]) -> Origin:
    return derived("what is watched", *dict.fromkeys(path for origin in origins for path in origin.paths))
