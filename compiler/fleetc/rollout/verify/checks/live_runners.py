"""Whether the live runners that fleetc starts are well, asked where their orchestrator asks them.

In: a host and its answers. Out: findings. A runner is no node: it has no other checks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fleetc.blueprint.blueprint import RUNNERS, HostBlueprint
from fleetc.rollout.verify.data import Finding, HostAnswer, Inquiry


def unwell(host: HostBlueprint, answer: HostAnswer, alive: Collection[str]) -> Iterator[Finding]:
    """The runners that run and do not answer as their orchestrator wants it."""
    for service in host.services:
        if service.table != RUNNERS or service.name not in alive or service.health.answers is None:
            continue
        where, path, wanted = service.health.answers
        reply = answer.replies.get(Inquiry(service.name, where, path).id)
        if reply is not None and reply.status == wanted:
            continue
        deed = f"answers {reply.status}" if reply is not None and reply.status else "does not answer"
        message = f"{service.name}: it {deed} at {path} instead of {wanted}, so its orchestrator hides it"
        yield Finding("drift", "live-runner-unwell", host.name, service.name, message, (service.table, service.name))
