"""Splits everything in a blueprint except nodes: avatar stacks, streams, and monitoring.

In: these parts of a blueprint. Out: `Item`s. Called by `of_blueprint.py`. A stack belongs to its host. Its processes
are avatar/host, avatar/turn and avatar/slot-NN; the key of an item names its process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from fleetc.review.items.item import Item, ItemPlace, Key, leaf_text, parts_of

SEAT = "seat"
"""The suffix of the item key that says which avatar a slot has, and on which GPU."""

ASLEEP = "asleep"
"""The suffix of the item key that says that a slot sleeps."""

HOST_UNIT, TURN_UNIT = "host", "turn"
"""What an item of a stack can belong to besides slots: the services of the host, and the TURN server."""


# --- avatars --------------------------------------------------------------------------------------


def avatar(place: ItemPlace, stack: StackBlueprint) -> Iterator[Item]:
    """The items of a stack. Lists of callers come once, followed by the variables that repeat them."""
    key, path = (*place.key, "avatar"), ("avatars", stack.name)
    head = Item(key, place.host, "", "avatar", f"stack {stack.name}", "", given(*path), presence=True)
    yield head._replace(value=f"{len(stack.slots)} slots, images {stack.image_tag}")
    host, turn = (place._replace(key=(*key, unit)) for unit in (HOST_UNIT, TURN_UNIT))
    for listed in stack.allowlists:
        origin = derived("who may call", *(p for entry in listed.entries for p in entry.origin.paths))
        follows = listed.file != FIREWALL_ALLOWLIST
        yield host.item("allow", listed.file, ", ".join(listed.texts), origin, follows=follows)
    for origin, rows in groupby(stack.startable.beside, key=itemgetter(2)):
        ports, purposes, _ = zip(*rows, strict=True)
        what = f"{', '.join(purpose.removeprefix('a ').removeprefix('the ') for purpose in purposes)} (tcp)"
        value = f"{', '.join(f'0.0.0.0:{port}' for port in ports)} for {EVERYONE}; call it"
        yield host.item("port", what, value, origin)
    plain_fields = (
        ("checkout", stack.checkout, "project_dir"),
        ("services", ", ".join(stack.services), "turn"),
        ("steered", "yes" if stack.steered else "no", "edge"),
        ("game arguments", stack.game_arguments, "game_args"),
        ("prefix", stack.prefix, "brand"),
        ("image tag", stack.image_tag, "image_tag"),
        ("release of the checkout", stack.ref, "avatar_release"),
        ("relay", ", ".join(map(str, stack.relay or ())), "turn"),
    )
    for name, value, field in plain_fields:
        yield from _plain_item(host, "avatar", name, value, given(*path, field))
    shared = tuple(image for image in stack.images if image.service in stack.services)
    yield from _images(host, "avatar", shared)
    for unit, variables, secrets in (
        (host, stack.host_variables, stack.host_secrets),
        (turn, stack.turn_variables, stack.turn_secrets),
    ):
        for variable in variables:  # they follow from other changes of the same edit: many of them repeat one setting
            yield unit.item("variable", variable.name, variable.value, variable.origin, follows=True)
        for secret in secrets:
            yield unit.item("secret", secret.name, f"{secret.kind} {secret.reference}", secret.origin)
    for slot in stack.slots:
        of_slot = place._replace(key=(*key, slot.name))
        yield from _slot(of_slot, slot)
        yield from _images(of_slot, "slot", (image for image in stack.images if image not in shared), f"{slot.name} ")


def _images(place: ItemPlace, kind: str, images: Iterable[StackImage], head: str = "") -> Iterator[Item]:
    """The images without a release tag, of the host or of a slot."""
    for image in images:
        yield from _plain_item(place, kind, f"image of {image.service}", image.image or "latest", image.origin, head)


def _slot(place: ItemPlace, slot: AvatarSlot) -> Iterator[Item]:
    text = f"{slot.avatar} on {'every GPU' if slot.gpu == 'all' else f'GPU {slot.gpu}'}"
    head = Item(place.key, place.host, "", "slot", slot.name, text, slot.origin)
    yield head._replace(presence=True, follows=True)
    named = (variable.origin for variable in slot.variables if variable.name == "VTUBER_AVATAR_ID")
    paths = (*slot.origin.paths, *(path for origin in named for path in origin.paths))
    yield head._replace(key=(*place.key, SEAT), origin=derived("which slot has the avatar", *dict.fromkeys(paths)))
    arguments = (("project", slot.project), ("arguments", slot.arguments))
    ports = ", ".join(f"{service} {port}" for service, port in slot.ports)
    for name, value in (*arguments, ("ports", ports), ("directories", ", ".join(slot.directories))):
        yield from _plain_item(place, "slot", name, value, slot.origin, f"{slot.name} ")
    if slot.asleep is not None:
        yield Item((*place.key, ASLEEP), place.host, "", "slot", f"{slot.name} asleep", "true", slot.asleep)
    for variable in slot.variables:
        item = place.item("variable", variable.name, variable.value, variable.origin, follows=True)
        yield item._replace(kind="slot", what=f"{slot.name} {variable.name}")


def _plain_item(place: ItemPlace, kind: str, name: str, value: str, origin: Origin, head: str = "") -> Iterator[Item]:
    if value:
        yield Item((*place.key, name), place.host, "", kind, head + name, value, origin, follows=True)


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


def stream_api(api: StreamApiBlueprint) -> Iterator[Item]:
    """Where the streams are, and which secret is sent there."""
    for what, value in (("base_url", api.base_url), ("token", f"{api.kind} {api.reference}")):
        key: Key = ("fleet", "stream_api", what)
        yield Item(key, "", "", "stream_api", f"stream API: {what}", value, given("stream_api", what))


def _content(head: Item, file: BlueprintFile) -> Iterator[Item]:
    """The values of a request."""
    for item in parts_of(file, head._replace(key=(*head.key, file.name))):
        paths = (*item.origin.paths, *head.origin.paths)
        yield item._replace(origin=derived("the request of the stream", *paths))


# --- monitoring -----------------------------------------------------------------------------------


def monitoring(blueprint: MonitoringBlueprint) -> Iterator[Item]:
    """The items of monitoring; nearly all of them follow from the monitored nodes and hosts."""
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
