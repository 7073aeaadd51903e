"""Checks a sealed plan against the current state: everything that has changed since it was made.

In: a `SealedPlan` and what is the case now. Out: a `Refusal` for each difference, none when the plan may be carried
out. Each function checks one aspect, and returns the differences and what to do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import NamedTuple

from fleetc.planner.data import UNKNOWN, HostState, ProcessState
from fleetc.planner.stacks import reads_elsewhere
from fleetc.planner.states import is_reached
from fleetc.rollout.plan.data import NO_PLAN, NewestPlan, Refusal, SealedPlan, SettingMade, SourceDigest, Tool
from fleetc.rollout.plan.make import is_inventory, is_playbook
from fleetc.text.counting import first_of
from fleetc.text.encoders import visible

_NAMED = 10  # things named in one message
_NEW_PLAN = "make a new plan and have it approved"


def of_times(plan: SealedPlan, now: str, ahead: str, latest: str) -> list[Refusal]:
    """The plan's age. Times are UTC as in the plan; `ahead` is the latest valid time of its making, `latest` of its
    expiry; "" if its own times are no dates.

    Two machines' clocks meet here: a wrong clock can refuse a good plan or pass an old one. Changed hosts are found by
    asking them.
    """
    if not latest:
        message = "the plan has no valid UTC times of its making and expiry"
        return [Refusal("plan-unreadable", message, _NEW_PLAN)]
    if plan.created > ahead:
        message = f"the plan was made at {plan.created}, but this machine's clock says {now}: its age is unknown"
        return [Refusal("plan-clock-behind", message, "correct the clocks of both machines, then try again")]
    if plan.expires > latest:
        message = f"the plan was made at {plan.created} and says it expires at {plan.expires}: {latest} is the latest"
        return [Refusal("plan-expires-too-late", message, _NEW_PLAN)]
    if now >= plan.expires:
        return [Refusal("plan-expired", f"the plan expired at {plan.expires}; it is now {now}", _NEW_PLAN)]
    return []


def of_tool(plan: SealedPlan, tool: Tool) -> list[Refusal]:
    """The fleetc that made the plan against this one."""
    advice = "use the fleetc that made the plan, or make a new plan with this one"
    if (plan.tool.name, plan.tool.version) != (tool.name, tool.version):
        maker, this = f"{plan.tool.name} {plan.tool.version}", f"{tool.name} {tool.version}"
        return [Refusal("plan-other-tool", f"the plan was made by {maker}, but this is {this}", advice)]
    if plan.tool.shipped != tool.shipped:
        message = f"{tool.name} {tool.version} here has other templates or playbooks than the plan's"
        return [Refusal("plan-other-tool", message, advice)]
    return []


def of_spec(plan: SealedPlan, spec: Sequence[SourceDigest]) -> list[Refusal]:
    """The spec and its overlays, by place: the plan's first against the first one here."""
    advice = f"check out the spec of the plan with the same overlays, or {_NEW_PLAN}"
    if [source.name for source in plan.spec] != [source.name for source in spec]:
        then_names, here = (" and ".join(source.name for source in sources) for sources in (plan.spec, spec))
        return [Refusal("plan-spec-stale", f"the plan was made from {then_names}, but this is {here}", advice)]
    changed = [now.name for then, now in zip(plan.spec, spec, strict=True) if then != now]
    if changed:
        return [Refusal("plan-spec-stale", f"{first_of(changed, _NAMED)} changed since the plan was made", advice)]
    return []


def of_settings(plan: SealedPlan, settings: Sequence[SettingMade]) -> list[Refusal]:
    """The checkout's settings of the tool, such as the directory of the tree."""
    if plan.settings == tuple(settings):
        return []
    message = f"the checkout set {_set(plan.settings)} when the plan was made, but here it sets {_set(settings)}"
    advice = f"check out the files of the plan and give the same options, or {_NEW_PLAN}"
    return [Refusal("plan-settings-stale", message, advice)]


def _set(settings: Sequence[SettingMade]) -> str:
    return first_of([str(setting) for setting in settings], _NAMED) or "nothing"


def of_hosts(plan: SealedPlan, fleet: Collection[str], limit: Collection[str]) -> list[Refusal]:
    """The hosts of the plan against those of the fleet and the requested ones (by default the plan's own)."""
    planned = {host for batch in plan.batches for host in batch}
    if limit and set(limit) != planned:
        own, other = (first_of(sorted(hosts), _NAMED) for hosts in (planned, set(limit)))
        message = f"the plan is for {own}, but you asked for {other}"
        advice = "leave out --limit, or make a plan with the same --limit"
    elif not planned <= set(fleet):
        message = f"the plan has hosts that the fleet does not have: {first_of(sorted(planned - set(fleet)), _NAMED)}"
        advice = _NEW_PLAN
    else:
        return []
    return [Refusal("plan-for-other-hosts", message, advice)]


def of_baseline_hosts(plan: SealedPlan, hosts: Sequence[str]) -> list[Refusal]:
    """The hosts of the baseline against those of the rollout."""
    if [state.host for state in plan.baseline.hosts] == list(hosts):
        return []
    return [_wrong("hosts")]


def of_contents(plan: SealedPlan, remade: SealedPlan) -> list[Refusal]:
    """The plan against this fleetc's own from the same spec, hosts and times."""
    files = {"artifacts", "playbooks", "inventory"}
    different = [field.name for field in fields(plan) if getattr(plan, field.name) != getattr(remade, field.name)]
    if files & set(different):
        message = "this fleetc compiles the spec to different files than the plan's fleetc, though both are "
        advice = "use exactly the build that made the plan, or make a new plan with this one"
        return [Refusal("plan-other-tool", f"{message}{plan.tool.version}", advice)]
    return [_wrong(first_of(different, _NAMED))] if different else []


def _wrong(what: str) -> Refusal:
    message = f"what the plan says about its {what} does not match its spec and its baseline"
    return Refusal("plan-contents-wrong", message, f"the plan was changed and sealed again: {_NEW_PLAN}")


def of_tree(stale: Sequence[str]) -> list[Refusal]:
    """The tree on disk. `stale` are lines such as "changed hosts/a/b/launch.flags"."""
    kinds = {
        "plan-playbook-edited": ("the playbooks of the tree are", is_playbook),
        "plan-inventory-edited": ("the inventory of the tree is", is_inventory),
        "plan-tree-edited": ("the tree is", lambda path: not path.startswith("ansible/")),
    }
    refusals = []
    for code, (what, belongs) in kinds.items():
        lines = [line for line in stale if belongs(line.partition(" ")[2])]
        if lines:
            advice = f"restore the tree from version control, or compile, review, {_NEW_PLAN}"
            refusals.append(Refusal(code, f"{what} not what the plan was made from: {first_of(lines, _NAMED)}", advice))
    return refusals


def of_foreign(paths: Sequence[str]) -> list[Refusal]:
    """Files in the tree's directory that a rollout would use but that are not part of the tree."""
    if not paths:
        return []
    named = visible(first_of(paths, _NAMED))
    message = f"the tree has files that the plan was made without: {named}; Ansible runs or reads everything in "
    message += "ansible/, and copies everything in hosts/ to the hosts"
    return [Refusal("plan-tree-foreign", message, "find out who put them there, and remove them")]


class BaselineVerdict(NamedTuple):
    """`reached` are hosts already at the end of the plan; `unknown` those without data in the plan."""

    refusals: tuple[Refusal, ...]
    reached: tuple[str, ...]
    unknown: tuple[str, ...]


def of_newest(plan: SealedPlan, seal: str, newest: Mapping[str, NewestPlan | None]) -> list[Refusal]:
    """The plan against the newest of each host: an older plan is superseded.

    The same plan may be carried out again. The order of two plans of the same second is unknown.
    """
    refusals = []
    for host, given in newest.items():
        if given is not None and given.seal != seal and given.created >= plan.created:
            what = "a rollout without a plan began" if given.seal == NO_PLAN else "it got a plan that was made"
            more = "" if given.seal == NO_PLAN else f" (seal {_short(given.seal)})"
            message = (
                f"{host} has been rolled out to since: {what} at {given.created}{more}; this plan is of {plan.created}"
            )
            refusals.append(Refusal("plan-superseded", message, _NEW_PLAN))
    return refusals


def of_baseline(
    plan: SealedPlan, wanted: Mapping[str, HostState], observed: Mapping[str, HostState], away: Collection[str] = ()
) -> BaselineVerdict:
    """What the hosts run now against what they ran when the plan was made, but for those out of service and `away`.

    A host that already runs what the plan leads to has not moved away: the plan was carried out there. It is not at the
    end while the plan has secrets read elsewhere.
    """
    refusals, reached = [], []
    for then in plan.baseline.hosts:
        now = observed[then.host]
        if then.host in away:
            reached.append(then.host)
        elif now.known == UNKNOWN:
            message = f"fleetc cannot tell what {then.host} runs: {now.note}"
            advice = f"make the host reachable and try again, or make a plan with --without {then.host}"
            refusals.append(Refusal("plan-host-unreachable", message, advice))
        elif then.known == UNKNOWN:
            continue
        elif is_reached(now, wanted[then.host]):
            # A host does not report places of secrets: only a rollout finds out whether their values differ.
            reached += [] if _reads_elsewhere(then, wanted[then.host]) else [then.host]
        elif moves := differences(then, now):
            message = f"{then.host} is not in the state that the plan starts from: {'; '.join(moves[:_NAMED])}"
            advice = f"find out who changed the host or whether a rollout broke off; then {_NEW_PLAN}"
            refusals.append(Refusal("plan-baseline-moved", message, advice))
    unknown = tuple(state.host for state in plan.baseline.hosts if state.known == UNKNOWN)
    return BaselineVerdict(tuple(refusals), tuple(reached), unknown)


def differences(then: HostState, now: HostState) -> list[str]:
    """What differs between two states of a host, in words."""
    moves = []
    if then.release != now.release:
        moves.append(f"its current release was {_short(then.release)} and is now {_short(now.release)}")
    before, after = _by_name(then), _by_name(now)
    for name in sorted({*before, *after}):
        if name not in after:
            moves.append(f"{name} is gone")
        elif name not in before:
            moves.append(f"{name} is new")
        elif before[name].digest != after[name].digest:
            was, is_now = before[name].digest, after[name].digest
            moves.append(f"{name} was started from {_short(was)}, now from {_short(is_now)}")
        elif before[name].turn != after[name].turn:
            was, is_now = before[name].turn, after[name].turn
            moves.append(f"{name} was started with TURN settings {_short(was)}, now with {_short(is_now)}")
        found, had = (_by_hand(side.get(name)) for side in (after, before))
        if name in after and found != had:
            moves.append(f"{name}: {', '.join(found) or 'what had been changed by hand is as it should be'}")
    for name, process in after.items():
        ran = before[name].running if name in before else None
        if ran is not None and ran != process.running:
            moves.append(f"{process.node} {'runs now, but did not' if process.running else 'no longer runs'}")
    return moves


def _by_hand(process: ProcessState | None) -> tuple[str, ...]:
    """What was changed by hand; whether a process is well or answers may be otherwise a moment later."""
    return () if process is None else process.drift + process.unlinked + process.was_set


def _by_name(state: HostState) -> dict[str, ProcessState]:
    return {f"{process.node} ({process.project or process.runtime})": process for process in state.processes}


def _reads_elsewhere(then: HostState, wanted: HostState) -> bool:
    before, after = _by_name(then), _by_name(wanted)
    return any(reads_elsewhere(before[name], after[name]) for name in before.keys() & after.keys())


def _short(digest: str) -> str:
    return digest[:12] or "nothing"
