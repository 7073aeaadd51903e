"""Whether the containers of a stack are well.

In: what a release wants of the stack. Out: what is wrong, in words, and its containers.
"""

from __future__ import annotations

from ..asking import get
from ..places import STACK_FILES, Json, RefusedError
from .parts import (
    AWAKE,
    HEALTH_SERVICE,
    HOST_PROJECT,
    containers_of,
    host_sleeps,
    is_asleep,
    projects_of,
    settings_in,
    steering,
)


def watch_stack(stack: Json | None) -> tuple[str, dict[str, Json]]:
    """What is wrong with a stack, in words, and what Docker says of each of its containers, by name."""
    if not stack:
        return "", {}
    try:
        there = [one for one in containers_of() if one["project"] in projects_of(stack)]
    except RefusedError as failure:
        return str(failure), {}
    return ill_of_stack(stack, there) or ill_by_meta(stack), {one["name"]: one for one in there}


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


def ill_by_meta(stack: Json) -> str:
    """What the stack says of itself: the tag of its images, and the commit of its checkout.

    It says neither to addresses that its list does not have, and an old one has no such page: nothing is known then.
    """
    if HEALTH_SERVICE not in stack["services"]:
        return ""
    status, said = get(steering(), "/meta")
    if status == 0:
        return "%s does not answer" % HEALTH_SERVICE
    if status != 200 or not isinstance(said, dict):
        return ""
    name = stack["prefix"] + "_SERVICE_IMAGE_TAG"
    wanted = settings_in(STACK_FILES + "/host.env").get(name, "")
    tag, sha = _text(said, "env", name), _text(said, "git", "sha")
    if tag and wanted and tag != wanted:
        return "%s runs with images of %s instead of %s" % (HEALTH_SERVICE, tag[:40], wanted)
    commit = stack.get("commit") or ""
    if sha and commit and not commit.startswith(sha.lower()):
        return "%s says that the checkout is at %s instead of %s" % (HEALTH_SERVICE, sha[:12], commit[:12])
    return ""


def _text(said: Json, part: str, name: str) -> str:
    """A text of an answer; "" where it has none."""
    found = said.get(part)
    text = found.get(name) if isinstance(found, dict) else None
    return text if isinstance(text, str) else ""
