"""Slots as Docker made them at their last start, compared with what it has now.

In: containers. Out: what differs, in words. Somebody who makes a slot again in another way changes no marker.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..places import Json
from ..steps import HOST
from .parts import GAME, READS_TURN, projects_of


def made_of(containers: list[Json]) -> Json:
    """What the containers of a slot are by, by service: Compose's digest of their configuration, image and ports."""
    return {one["service"]: {name: one[name] for name in ("config", "image", "id", "ports")} for one in containers}


def drift_of_slot(made: Json, containers: list[Json]) -> list[str]:
    """How the containers of a slot differ from those of its last start; nothing where nobody knows these."""
    return list(_differences(made, containers)) if made and containers else []


def _differences(made: Json, containers: list[Json]) -> Iterator[str]:
    there: dict[str, list[Json]] = {}
    for one in containers:
        there.setdefault(one["service"], []).append(one)
    project = containers[0]["project"]
    for service in sorted(made.keys() | there.keys()):
        name, own = "%s of %s" % (service, project), there.get(service, [])
        if not own:
            yield "%s is gone" % name
        elif service not in made:
            yield "%s is there, and no rollout made it" % name
        elif len(own) > 1:
            yield "%s is there %d times" % (name, len(own))
        else:
            words = list(_other_facts(made[service], own[0]))
            if words:
                yield "%s %s" % (name, ", and ".join(words))


def _other_facts(was: Json, now: Json) -> Iterator[str]:
    if was["ports"] != now["ports"]:
        yield "publishes %s instead of %s" % (_ports(now), _ports(was))
    if was["image"] != now["image"] or has_other_image(was, now):
        yield "runs with another image than that of its last rollout"
    if was["config"] != now["config"]:
        yield "was made with another configuration than that of its last rollout"


def _ports(facts: Json) -> str:
    return " and ".join(facts["ports"]) or "nothing"


def has_other_image(was: Json, now: Json) -> bool:
    """Whether the name of an image meant another one when a container was made again.

    The updater of the stack may replace the image of a container that is marked for it, unless that is pinned.
    """
    moves = now["updated"] and "@" not in now["image"]
    return bool(was["image"] == now["image"] and was["id"] != now["id"] and not moves)


def other_slots(stack: Json, containers: list[Json]) -> Iterator[Json]:
    """Projects with the services of a slot that no slot of the spec has, as findings. They may be wanted: none ends."""
    own = projects_of(stack)
    taken = {port: one["project"] for one in containers if one["project"] in own for port in one["ports"]}
    of_slots = {one["project"] for one in containers if one["service"] in (GAME, *READS_TURN)}
    for project in sorted(of_slots - set(own)):
        ports = sorted(port for one in containers if one["project"] == project for port in one["ports"])
        twice = ["%s as %s does" % (port, taken[port]) for port in ports if port in taken]
        message = "%s is a slot that the spec does not have" % project
        if twice:
            message += ", and publishes %s: which of them starts is chance" % " and ".join(twice)
        yield {"code": "slot-not-in-spec", "message": message, "node": HOST, "severity": "warning"}
