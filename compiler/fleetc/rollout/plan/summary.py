"""A sealed plan for people: the steps by host, their order, and the expiry.

In: a `SealedPlan` and its seal. Out: lines, safe to print. Called by `cli/plan.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fleetc.planner.data import OBSERVED, RECORDED, UNHELPED, UNKNOWN, unhelped
from fleetc.review.data import Effect
from fleetc.rollout.plan.data import Action, Comparison, HostActions, SealedPlan
from fleetc.text.counting import counted, first_of
from fleetc.text.encoders import plain_output

_HOSTS_IN_FULL = 40
_NAMED = 12
_SHORT = 12
_COUNTED = ("start", "restart", "live", "ensure", "retire", "halt", "ill", "unknown", "keep")

NOT_KNOWN = "what this changes for prices, sessions and ports is not known"

_TOTAL = {"ensure": "to make sure of", "live": "to change live", "ill": "not well", "unknown": "unknown"}
"""Words for counts of some actions; others use their own word."""


def lines(plan: SealedPlan, seal: str, signed: str) -> list[str]:
    """The summary. `signed` names the signer of the plan in words, or none."""
    hosts = sum(len(batch) for batch in plan.batches)
    part = f", part {plan.shard} of it" if plan.shard else "" if plan.whole else " of it"
    fleet = f"fleet {plan.fleet}, {counted(hosts, 'host')}{part}"
    summary = [
        f"plan of {fleet}, on {plan.network}",
        f"made     {plan.created} by {plan.tool.name} {plan.tool.version}, expires {plan.expires}",
        f"spec     {', '.join(f'{source.name} ({source.sha256[:_SHORT]})' for source in plan.spec)}",
        *_settings(plan),
        f"releases {', '.join(f'{r.program} {r.release}' for r in plan.releases) or 'none: nothing runs'}",
        f"from     {_baseline(plan)}",
    ]
    summary += [f"effects  {_compared(comparison, len(plan.baseline.hosts))}" for comparison in plan.compared]
    summary += _batches(plan)
    summary += [f"the fleet: {text}" for text in map(effect_line, plan.effects)]
    summary.append(f"processes: {_totals(plan)}")
    if plan.left:
        left = first_of(plan.left, _NAMED)
        summary.append(f"not part of the plan: {left}: no longer in the fleet; deploy retires hosts its journal knows")
    if plan.secrets:
        names = sorted({f"{secret.kind} {secret.reference}" for secret in plan.secrets})
        summary.append(f"secrets read at the rollout: {first_of(names, _NAMED)}")
        summary.append("processes with changed secrets restart too, which no plan can foresee")
    summary.append(f"seal {seal}, {signed}")
    return [plain_output(line) for line in summary]


def _settings(plan: SealedPlan) -> Iterator[str]:
    """What the checkout sets, where it does."""
    if plan.settings:
        yield f"settings {', '.join(map(str, plan.settings))}"


def _baseline(plan: SealedPlan) -> str:
    known = Counter(state.known for state in plan.baseline.hosts)
    words = []
    if known[OBSERVED]:
        words.append(f"what {counted(known[OBSERVED], 'host')} said")
    if known[RECORDED]:
        words.append(f"what the tree {plan.baseline.manifest[:_SHORT]} says about {counted(known[RECORDED], 'host')}")
    if known[UNKNOWN]:
        notes: dict[str, list[str]] = {}
        for state in plan.baseline.hosts:
            if state.known == UNKNOWN:
                notes.setdefault(state.note, []).append(state.host)
        words += [f"unknown for {first_of(hosts, _NAMED)}: {note}" for note, hosts in notes.items()]
    return "; ".join(words)


def _compared(comparison: Comparison, hosts: int) -> str:
    """What the effects on some hosts come from, or why they are not known."""
    where = "" if len(comparison.hosts) == hosts else f" on {first_of(comparison.hosts, _NAMED)}"
    if not comparison.name:
        return f"{NOT_KNOWN}{where}, because {comparison.note}"
    return f"compared with {comparison.name}{where}{f' ({comparison.note})' if comparison.note else ''}"


def _batches(plan: SealedPlan) -> Iterator[str]:
    steps = {step.host: step for step in plan.steps}
    unknown = {host for comparison in plan.compared if not comparison.name for host in comparison.hosts}
    count = 0
    for number, batch in enumerate(plan.batches, start=1):
        yield f"batch {number} of {len(plan.batches)}: {counted(len(batch), 'host')}"
        quiet = [host for host in batch if _is_quiet(steps[host])]
        for host in (host for host in batch if host not in quiet):
            count += 1
            if count <= _HOSTS_IN_FULL:
                yield from _host(steps[host], host in unknown)
        if quiet:
            yield f"  nothing changes on {first_of(quiet, _NAMED)}"
    if count > _HOSTS_IN_FULL:
        yield f"something changes on {counted(count - _HOSTS_IN_FULL, 'more host')}: the plan file lists all of them"


def _is_quiet(step: HostActions) -> bool:
    return not step.effects and all(action.do == "keep" for action in step.actions)


def _host(step: HostActions, unknown: bool) -> Iterator[str]:
    yield f"  {step.host}"
    if unknown:
        yield f"    {NOT_KNOWN}: see effects above"
    yield from (f"    {effect_line(effect)}" for effect in step.effects)
    for action in step.actions:
        if action.do != "keep":
            yield f"    {_action(action)}"
            yield from (f"      {effect_line(effect)}" for effect in action.effects)
    kept = [action.node for action in step.actions if action.do == "keep" and action.node]
    if kept:
        yield f"    keep {first_of(kept, _NAMED)}"


def _action(action: Action) -> str:
    digest = action.digest[:_SHORT]
    if not action.node:
        return f"copy release {digest}" if action.do == "copy" else f"make sure of release {digest}"
    if action.do == "ensure":
        why = f": {action.reason}" if action.reason else ""
        return f"make sure that {action.node} runs from {digest}{why}; whether it restarts is unknown"
    if action.do == "live":
        return f"live {action.node}, no session drops: {action.reason}"
    if action.do in UNHELPED:
        return unhelped(action.do, action.node, action.reason)
    target = f" from {digest}" if digest else ""
    return f"{action.do} {action.node}{target}: {action.reason}"


def effect_line(effect: Effect) -> str:
    """An effect, in words."""
    who = f" (concerns {first_of(effect.who, _NAMED)})" if effect.who else ""
    return f"{effect.impact}: {effect.text}{who}"


def _totals(plan: SealedPlan) -> str:
    counts = Counter(action.do for step in plan.steps for action in step.actions if action.node)
    words = [f"{counts[do]} {_TOTAL.get(do, f'to {do}')}" for do in _COUNTED if counts[do]]
    return ", ".join(words) or "none"
