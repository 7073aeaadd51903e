"""The answers of hosts at the beginning of a rollout: what runs, and what is to do.

In: a run of Ansible. Out: a `Begun` for each host. Answers of hosts are data: values of wrong types are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fleetc.planner.data import UNHELPED, HostState, unhelped
from fleetc.rollout.findings import NOT_REACHED, HostFinding, clock_finding
from fleetc.rollout.hosts.events import RunResult
from fleetc.rollout.hosts.gate import BEGIN, HostOutcome, Result, as_list, as_mapping, as_number, as_text, outcomes
from fleetc.rollout.hosts.observe import MEANINGLESS, said

CLAIMED, QUARANTINED = "host-claimed", "host-quarantined"
_FORMAT = 1
_DIGEST = re.compile("[0-9a-f]{64}")
_NODE = re.compile("[a-z0-9-]{1,100}")


class RolloutStep(NamedTuple):
    """One step that a host takes, or would take: `do` and `node` are those of a plan's `Action`."""

    host: str
    do: str
    node: str
    reason: str
    digest: str = ""


class Begun(NamedTuple):
    """What one host said. `runs` and `wants` are nodes, each with what only one process of the fleet may do at a time.

    `answered` is whether it can take part; if another rollout has claimed it, `claimed_by` is that one's owner.
    `known_as` is the host that it was before, `carry` the programs that are to be copied there. `settled` is whether no
    switch is left to end there. `state` is a plan's knowledge of a host, None if invalid.
    """

    host: str
    answered: bool
    needed: bool
    outcome: HostOutcome
    steps: tuple[RolloutStep, ...]
    release: str
    runs: Mapping[str, tuple[str, ...]]
    wants: Mapping[str, tuple[str, ...]]
    claimed_by: Mapping[str, Any] | None
    findings: tuple[HostFinding, ...] = ()
    known_as: str = ""
    settled: bool = True
    carry: tuple[str, ...] = ()
    state: HostState | None = None
    absent: bool = False
    """Whether it can be left behind: ssh does not get there, or it is in quarantine."""

    @property
    def kept(self) -> Mapping[str, tuple[str, ...]]:
        """What it runs and goes on with by itself; nothing where a switch is open, because that may be taken back."""
        return self.runs if self.settled else {}

    @property
    def undone(self) -> tuple[str, ...]:
        """What its steps undo on nodes that keep their files: what differed, in words."""
        has = {process.node: process.digest for process in self.state.processes} if self.state else {}
        return tuple(
            f"{step.node}: {step.reason}"
            for step in self.steps
            if step.do not in UNHELPED and step.digest and has.get(step.node) == step.digest
        )

    def against(self, release: str, nodes: Sequence[str] = ()) -> tuple[str, ...]:
        """Why the host does not run a release as reviewed, in words; () where it does. `nodes` are all by default."""
        if not self.answered:
            return (self.outcome.reason or "it does not answer",)
        if self.state is None:
            return ("its answer about its nodes is invalid",)
        found = [] if self.release == release else ["it has another release"]
        found += [] if self.settled else ["a switch of its release has not ended well"]
        for process in self.state.processes:
            if process.node in nodes or not nodes:
                found += [f"{process.node}: {words}" for words in process.against]
        return tuple(found)

    @property
    def judged(self) -> HostOutcome:
        """An unchanged host, with what no rollout helps."""
        left = [step for step in self.steps if step.do in UNHELPED]
        if self.outcome.result != "unchanged" or not left:
            return self.outcome
        result: Result = "unwell" if any(step.do == "ill" for step in left) else "unknown"
        return self.outcome._replace(result=result, reason="; ".join(unhelped(*step[1:4]) for step in left))


def begun_of(hosts: Sequence[str], run: RunResult, task: str = BEGIN) -> dict[str, Begun]:
    """What hosts said, by host."""
    return {outcome.host: _begun(outcome, run, task) for outcome in outcomes(hosts, run)}


def _begun(outcome: HostOutcome, run: RunResult, task: str) -> Begun:
    answer = as_mapping(run.answers.get(outcome.host, {}).get(task))
    answered = answer.get("format") == _FORMAT and answer.get("ok") is True
    state = as_mapping(answer.get("state"))
    claimed = answer.get("code") == CLAIMED
    return Begun(
        outcome.host,
        answered,
        answer.get("needed") is not False,
        outcome,
        tuple(step for step in steps_in(outcome.host, answer) if step.do != "keep"),
        release if _DIGEST.fullmatch(release := as_text(state.get("release"))) else "",
        _nodes(state.get("processes")),
        _nodes(answer.get("wants")),
        as_mapping(answer.get("owner")) if claimed else None,
        findings_in(outcome.host, answer),
        as_text(state.get("host")),
        not state.get("switch") and not state.get("quarantine"),
        tuple(as_text(program) for program in as_list(answer.get("carry"))),
        _state(outcome.host, state),
        outcome.reason.startswith(NOT_REACHED) or answer.get("code") == QUARANTINED,
    )


def _state(host: str, answer: Mapping[str, Any]) -> HostState | None:
    try:
        return said(host, answer)
    except MEANINGLESS:
        return None


def findings_in(host: str, answer: Mapping[str, Any]) -> tuple[HostFinding, ...]:
    """What a host finds that it lacks, and a clock that differs."""
    listed = map(as_mapping, as_list(answer.get("findings")))
    clocks = {key: as_number(answer.get(key)) for key in ("clock", "received")}
    keys = ("code", "message", "node", "severity", "need", "subject")
    lacks = (HostFinding(host, *(as_text(lack.get(key)) for key in keys)) for lack in listed)
    return (*(finding for finding in lacks if finding.code and finding.message), *clock_finding(host, clocks))


def steps_in(host: str, answer: Mapping[str, Any]) -> tuple[RolloutStep, ...]:
    """The steps that a host takes, or would take, those included that change nothing."""
    keys = ("do", "node", "reason", "digest")
    listed = map(as_mapping, as_list(answer.get("steps")))
    return tuple(RolloutStep(host, *(as_text(step.get(key)) for key in keys)) for step in listed if step)


def _nodes(listed: object) -> dict[str, tuple[str, ...]]:
    """Nodes by name; the units of an avatar stack are none, because they never move by themselves."""
    nodes = {}
    for entry in map(as_mapping, as_list(listed)):
        node = as_text(entry.get("node"))
        if _NODE.fullmatch(node):
            nodes[node] = tuple(as_text(text) for text in as_list(entry.get("exclusive")))
    return nodes
