"""Whether the containers of a stack are well."""

from __future__ import annotations

from ..places import Json, RefusedError
from .parts import AWAKE, HOST_PROJECT, containers_of, host_sleeps, is_asleep, projects_of


def watch_stack(stack: Json | None) -> tuple[str, dict[str, Json]]:
    """What is wrong with a stack, in words, and what Docker says of each of its containers, by name."""
    if not stack:
        return "", {}
    try:
        there = [one for one in containers_of() if one["project"] in projects_of(stack)]
    except RefusedError as failure:
        return str(failure), {}
    return ill_of_stack(stack, there), {one["name"]: one for one in there}


def ill_of_stack(stack: Json, containers: list[Json]) -> str:
    """What is wrong with a stack that has these containers; "" where those of projects that do not sleep run.

    One that ended by itself without a fault is well.
    """
    there = {project: [one for one in containers if one["project"] == project] for project in projects_of(stack)}
    wanted = [name for name in stack["services"] if name in AWAKE or not host_sleeps()]
    states = {one["service"]: one for one in there[HOST_PROJECT]}
    for service in wanted:
        if service not in states:
            return "%s has no container" % service
    for project, found in there.items():
        if not found:
            return "%s has no containers" % project
        if project != HOST_PROJECT and is_asleep(found):
            continue
        for one in found:
            ended = one["state"] == "exited" and one["code"] == 0
            if one["state"] != "running" and not ended and (project != HOST_PROJECT or one["service"] in wanted):
                return "%s of %s is %s" % (one["service"], project, one["state"])
    return ""
