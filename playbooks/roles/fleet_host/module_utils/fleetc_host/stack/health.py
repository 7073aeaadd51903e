"""Whether the containers of a stack are well.

In: what a release wants of the stack. Out: what is wrong, in words, and its containers.
"""

from __future__ import annotations

from ..asking import get
from ..places import STACK_FILES, Json, RefusedError
from ..steps import HOST, STACK, TURN
from .parts import (
    AWAKE,
    HEALTH_SERVICE,
    HOST_PROJECT,
    TURN_SERVICE,
    containers_of,
    host_sleeps,
    is_asleep,
    projects_of,
    settings_in,
    steering,
)


def watch_stack(stack: Json | None, seconds: float = 5) -> tuple[str, dict[str, Json]]:
    """What is wrong with a stack, in words, and what Docker says of each of its containers, by name.

    Its service may take so many seconds to answer.
    """
    if not stack:
        return "", {}
    try:
        there = [one for one in containers_of() if one["project"] in projects_of(stack)]
    except RefusedError as failure:
        return str(failure), {}
    verdicts = judged_stack(stack, there, seconds).values()
    problems = [words for verdict in verdicts for kind in ("ill", "unanswered") for words in verdict.get(kind, ())]
    return (problems or [""])[0], {one["name"]: one for one in there}


def judged_stack(stack: Json, containers: list[Json], seconds: float = 5) -> dict[str, Json]:
    """What keeps each unit of a stack with these containers from its work, in the form of the verdict on a node.

    What was put to sleep is well, and so is a container that ended by itself without a fault.
    """
    there = {one["service"]: one for one in containers if one["project"] == HOST_PROJECT}
    ill: dict[str, list[str]] = {}
    for name in stack["services"]:
        if name in AWAKE or not host_sleeps():
            words = ill_of(there[name]) if name in there else ["%s has no container" % name]
            ill.setdefault(TURN if name == TURN_SERVICE else HOST, []).extend(words)
    for slot in stack["slots"]:
        own = [one for one in containers if one["project"] == slot["project"]]
        words = [] if slot.get("asleep") or is_asleep(own) else [words for one in own for words in ill_of(one)]
        ill["%s/%s" % (STACK, slot["name"])] = words if own else ["%s has no containers" % slot["project"]]
    found: dict[str, Json] = {unit: {"ill": words} for unit, words in ill.items()}
    if HEALTH_SERVICE in stack["services"] and not ill[HOST]:
        found[HOST] = judged_by_meta(stack, seconds)
    return found


def ill_of(container: Json) -> list[str]:
    """What is wrong with a container, in words; nothing where it runs."""
    ended = container["state"] == "exited" and container["code"] == 0
    well = ended or container["state"] == "running"
    return [] if well else ["%s of %s is %s" % (container["service"], container["project"], container["state"])]


def judged_by_meta(stack: Json, seconds: float = 5) -> Json:
    """What the stack says of itself, as a verdict: the tag of its images, and the commit of its checkout.

    It says neither to addresses that its list does not have, and an old one has no such page: nothing is known then.
    """
    status, said = get(steering(), "/meta", seconds)
    if status == 0:
        return {"unanswered": ["%s does not answer" % HEALTH_SERVICE]}
    if status != 200:
        return {}
    if not isinstance(said, dict):
        return {"unanswered": ["%s answers no JSON object to /meta" % HEALTH_SERVICE]}
    name = stack["prefix"] + "_SERVICE_IMAGE_TAG"
    wanted = settings_in(STACK_FILES + "/host.env").get(name, "")
    tag, sha = _text(said, "env", name), _text(said, "git", "sha")
    if tag and wanted and tag != wanted:
        return {"ill": ["%s runs with images of %s instead of %s" % (HEALTH_SERVICE, tag[:40], wanted)]}
    commit = stack.get("commit") or ""
    if sha and commit and not commit.startswith(sha.lower()):
        words = "%s says that the checkout is at %s instead of %s"
        return {"ill": [words % (HEALTH_SERVICE, sha[:12], commit[:12])]}
    return {}


def _text(said: Json, part: str, name: str) -> str:
    """A text of an answer; "" where it has none."""
    found = said.get(part)
    text = found.get(name) if isinstance(found, dict) else None
    return text if isinstance(text, str) else ""
