"""The report of an avatar stack: its GPUs, its slots. Its host judges its containers and its images.

In: a host of the blueprint and answers. Out: findings and facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleetc.blueprint.blueprint import AVATAR_DIRECTORY, AvatarSlot, HostBlueprint, StackBlueprint
from fleetc.language.fleet import Fleet
from fleetc.rollout.verify import replies
from fleetc.rollout.verify.data import AVATARS, STACK, Fact, Finding, Inquiry, Kind, Reply, UnknownError

_FULL_PERCENT = 85
"""The memory use from which a GPU should serve nothing else, by the stack's guide."""


def findings(fleet: Fleet, host: HostBlueprint, answers: Mapping[str, Reply]) -> Iterator[Finding]:
    """What is wrong with the stack of a host."""
    if host.avatar is None:
        return
    for check in (_gpus, _image, _slots):
        try:
            yield from check(fleet, host, host.avatar, answers)
        except UnknownError as problem:
            yield _found(host, host.avatar, "unknown", "not-answered", str(problem))


def facts(host: HostBlueprint, answers: Mapping[str, Reply]) -> Iterator[Fact]:
    """The state of each slot, and who may steer the cluster."""
    if host.avatar is None:
        return
    for slot in host.avatar.slots:
        try:
            path = f"/power/projects/{slot.project}"
            state = replies.mapping(_reply(answers, path), path).get("state")
            yield Fact(host.name, _slot(slot), "state", replies.shown(state))
        except UnknownError:
            yield Fact(host.name, _slot(slot), "state", "unknown")
    yield from _report(host, answers)
    cluster = answers.get(Inquiry(AVATARS, STACK, "/cluster").id)
    if cluster is not None and cluster.status:
        yield Fact(host.name, AVATARS, "cluster control", f"answers {cluster.status} to its own host")


def _report(host: HostBlueprint, answers: Mapping[str, Reply]) -> Iterator[Fact]:
    """Its own health report, which counts a slot that sleeps as down: so it is only shown."""
    try:
        summary = replies.mapping(_reply(answers, "/health"), "/health").get("summary")
    except UnknownError:
        return
    if isinstance(summary, dict) and "services_up" in summary:
        counts = (replies.shown(summary.get(key)) for key in ("services_up", "total_services"))
        yield Fact(host.name, AVATARS, "services up", " of ".join(counts))


def _gpus(fleet: Fleet, host: HostBlueprint, stack: StackBlueprint, answers: Mapping[str, Reply]) -> Iterator[Finding]:
    answer = replies.mapping(_reply(answers, "/meta/gpu"), "/meta/gpu")
    if str(answer.get("ok")).lower() == "false":
        raise UnknownError(f"/meta/gpu says: {replies.shown(answer.get('error'))}")
    gpus = answer.get("gpus")
    if not isinstance(gpus, list):
        raise UnknownError("/meta/gpu names no GPUs")
    wanted = len(fleet.hosts[host.name].gpus)
    if len(gpus) < wanted:
        message = f"it sees {len(gpus)} of the {wanted} GPUs of the spec"
        yield _found(host, stack, "drift", "gpus-missing", message)._replace(place=("hosts", host.name, "gpus"))
    stats = replies.mapping(_reply(answers, "/meta/gpu/stats"), "/meta/gpu/stats").get("gpus")
    for number, gpu in enumerate(stats if isinstance(stats, list) else ()):
        percent = _memory(gpu)
        if percent is not None and percent > _FULL_PERCENT:
            message = f"GPU {number} has {percent} percent of its memory in use: give it to this stack alone"
            yield _found(host, stack, "warning", "gpu-memory-full", message)


def _image(
    _fleet: Fleet, host: HostBlueprint, stack: StackBlueprint, answers: Mapping[str, Reply]
) -> Iterator[Finding]:
    """The encrypted image of the game, as the stack verified it last; nothing where it has not verified any yet."""
    reply = _reply(answers, "/meta")
    last = None if reply.status == 404 else replies.mapping(reply, "/meta").get("verify_last")
    if last is None:
        return
    well = str(last.get("ok")).lower() if isinstance(last, dict) else ""
    if well == "false":
        when = replies.shown(last.get("ran_at"))
        message = f"the last verification of its encrypted image failed ({when})"
        yield _found(host, stack, "drift", "image-not-verified", message)
    elif well != "true":
        raise UnknownError("/meta does not say whether the last verification of the encrypted image succeeded")


def _memory(gpu: object) -> int | None:
    """The share of the memory of a GPU that is in use, in percent."""
    if not isinstance(gpu, dict):
        return None
    memory = gpu.get("memory")
    nested = memory if isinstance(memory, dict) else {}
    used = replies.number(nested.get("used_mib", gpu.get("memory_used_mib")))
    total = replies.number(nested.get("total_mib", gpu.get("memory_total_mib")))
    return None if used is None or not total else int(100 * used / total)


def _slots(fleet: Fleet, host: HostBlueprint, stack: StackBlueprint, answers: Mapping[str, Reply]) -> Iterator[Finding]:
    """Each slot for itself; of those whose state nobody knows, the first is named."""
    unknown: UnknownError | None = None
    for slot in stack.slots:
        path = f"/power/projects/{slot.project}"
        try:
            reply = _reply(answers, path)
            if reply.status == 404:
                message = f"its {slot.name} ({slot.project}) is not there"
                yield _found(host, stack, "drift", "slot-missing", message)._replace(node=_slot(slot))
                continue
            state = replies.mapping(reply, path).get("state")
            if state is None:
                raise UnknownError(f"it does not say to {path} whether the slot sleeps")
        except UnknownError as problem:
            unknown = unknown or problem
            continue
        if slot.asleep is not None and state == "awake":
            message = f"its {slot.name} ({slot.project}) is awake and unwatched, although the spec has asleep = true"
            yield _found(host, stack, "warning", "slot-awake", message)._replace(
                node=_slot(slot), place=slot.asleep.paths[0]
            )
    if unknown is not None:
        raise unknown


def _slot(slot: AvatarSlot) -> str:
    """What a slot is called on its host."""
    return f"{AVATAR_DIRECTORY}/{slot.name}"


def _reply(answers: Mapping[str, Reply], path: str) -> Reply:
    reply = answers.get(Inquiry(AVATARS, STACK, path).id)
    if reply is None or not reply.status:
        raise UnknownError(f"its service for {path} does not answer: {reply.reason if reply else 'nobody asked it'}")
    if reply.status in (401, 403):
        raise UnknownError(f"it answers {path} only to addresses on its list, and its own host is not among them")
    return reply


def _found(host: HostBlueprint, stack: StackBlueprint, kind: Kind, code: str, message: str) -> Finding:
    place = ("avatars", stack.name)
    return Finding(kind, code, host.name, AVATARS, f"avatar stack {stack.name}: {message}", place)
