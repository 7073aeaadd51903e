"""One rollout: what its runs of Ansible share, and how it claims its hosts.

In: a tree, a goal, what people state, how hosts are reached. Out: runs over some of the hosts, and the answers of each.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from fleetc.blueprint.blueprint import Blueprint, HostBlueprint
from fleetc.blueprint.out import running_on
from fleetc.blueprint.shards import Shard, canary_hosts, read_shard, shards_of
from fleetc.emit.release import NOTHING
from fleetc.emit.tree import MANIFEST, Tree
from fleetc.planner.states import release_in
from fleetc.rollout.findings import NOT_REACHED
from fleetc.rollout.hosts.begun import Begun, begun_of
from fleetc.rollout.hosts.events import Event, RunResult
from fleetc.rollout.hosts.gate import CHECKED_HERE, OBSERVE, TASKS
from fleetc.rollout.hosts.journal import Journal
from fleetc.rollout.hosts.owner import this_run
from fleetc.rollout.hosts.runner import Project, RunOptions, reaching, run_playbook
from fleetc.rollout.hosts.secrets import DeployError, SecretValues, absolute, vault_password
from fleetc.rollout.journal.history import Given, Login
from fleetc.rollout.moves import Nodes
from fleetc.rollout.plan.data import NewestPlan
from fleetc.settings import Settings
from fleetc.text.encoders import visible

BEGIN_PLAYBOOK = "begin.yml"
OBSERVE_PLAYBOOK = "observe.yml"
END_PLAYBOOK = "end.yml"

_WAIT_SECONDS = 30.0
"""How long the rollout that claimed the first host waits for another one to give way."""
_ASK_SECONDS = 3.0

Watch = Callable[[Event], None]


class Stated(NamedTuple):
    """Statements of a person: quarantined hosts to try again, renamed hosts, dead hosts, dead rollouts by id, and
    preflight findings to skip, by code with a reason."""

    clear: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    dead_runs: tuple[str, ...] = ()
    skip: tuple[tuple[str, str], ...] = ()


NOTHING_STATED = Stated()


Kind = Literal["deploy", "rollback", "restart"]


class Goal(NamedTuple):
    """The target of a rollout: the tree, or with `back_to` kept releases by host. With `shard`, only the hosts of that
    part of the fleet. With `restart`, nodes by host that start again, with the releases that are there."""

    kind: Kind = "deploy"
    back_to: Mapping[str, str] = {}
    sealed: NewestPlan | None = None
    shard: Shard | None = None
    restart: Mapping[str, tuple[str, ...]] = {}


@dataclass(slots=True)
class Rollout:
    """Everything that the runs of one rollout share."""

    tree: Tree
    project: Project
    blueprint: Blueprint
    options: RunOptions
    values: SecretValues
    on_event: Watch
    goal: Goal
    journal: Journal
    dead: set[str]
    left: Mapping[str, Given] = field(default_factory=dict)
    elsewhere: Mapping[str, Nodes] = field(default_factory=dict)
    """What hosts run that a limit leaves out, as far as they were asked and answered."""
    behind: tuple[str, ...] = ()
    """The hosts that it leaves behind."""
    interrupted: threading.Event = field(default_factory=threading.Event)
    """Set once a person or the system ends this rollout: no other batch begins."""

    def run(
        self,
        playbook: str,
        hosts: Sequence[str],
        tags: tuple[str, ...] = (),
        skip_tags: tuple[str, ...] = (),
        **variables: Any,
    ) -> RunResult:
        """One run of the tagged tasks over some hosts."""
        own: dict[str, Any] = {"fleet_batches": [list(hosts)], "fleet_host_dead": sorted(self.dead)}
        own |= {"fleet_host_back_to": dict(self.goal.back_to), "fleet_host_restart": dict(self.goal.restart)}
        given = {**self.options.variables, **own, **variables}
        left_out = (*CHECKED_HERE, *skip_tags)
        options = replace(self.options, limit=tuple(hosts), tags=tags, skip_tags=left_out, variables=given)
        result = run_playbook(self.project, playbook, options, self.values, self.on_event, TASKS)
        if result.status == "canceled":
            self.interrupted.set()
        return result

    def tell(self, what: str) -> None:
        """Tell people what happens now."""
        self.on_event(Event("note", "", "", what))

    def ask(self, hosts: Sequence[str]) -> tuple[dict[str, Begun], RunResult]:
        """The work that each host reports; hosts with work are claimed from then on."""
        run = self.run(BEGIN_PLAYBOOK, hosts)
        return {host: self._wanting(answer) for host, answer in begun_of(hosts, run).items()}, run

    def _wanting(self, begun: Begun) -> Begun:
        """What a host said, with what it will run by the tree. Only the host knows its kept releases."""
        if begun.host in self.goal.back_to or begun.host in self.goal.restart or not begun.answered:
            return begun
        own = (host for host in self.blueprint.hosts if host.name == begun.host)  # none of one that left
        return begun._replace(wants={one.name: one.exclusive for host in own for one in running_on(host).services})

    def ask_others(self, begun: Mapping[str, Begun]) -> None:
        """If a node moves to a host in the limit, ask all other hosts what they run."""
        others = [host.name for host in self.blueprint.in_order if host.name not in begun]
        if others and arrives(begun):
            answers = begun_of(others, self.run(OBSERVE_PLAYBOOK, others), OBSERVE)
            self.elsewhere = {host: answer.runs for host, answer in answers.items() if answer.answered}

    def missing_canary(self, hosts: Sequence[str]) -> str:
        """Why a part of the fleet without the canary may not begin yet; "" where it may."""
        shard = self.goal.shard
        others = [name for name in canary_hosts(self.blueprint) if name not in hosts]
        if shard is None or not others:
            return ""
        answers = begun_of(others, self.run(OBSERVE_PLAYBOOK, others), OBSERVE)
        for name, answer in answers.items():
            words = answer.against(release_in(self.tree, name))
            if words:
                return f"the canary {name} is not as reviewed ({words[0]}): roll out the shard 1/{shard.parts} first"
        return ""

    def away(self, begun: Begun) -> str:
        """Why the rollout goes on without a host: it is out of service, and ssh does not get to it; "" if it must not.

        It must not where another host is to run what the journal last knew there.
        """
        out = next((host.out for host in self.blueprint.hosts if host.name == begun.host), None)
        if out is None or begun.answered or not begun.outcome.reason.startswith(NOT_REACHED):
            return ""
        known = self.journal.history.hosts.get(begun.host)
        nodes = known.nodes if known is not None else {}
        had = {what for node, does in nodes.items() for what in (node, *does)}
        run = (service for host in self.blueprint.hosts for service in running_on(host).services)
        if not had.isdisjoint(what for service in run for what in (service.name, *service.exclusive)):
            return ""
        again = f"; {', '.join(sorted(nodes))} may start there when it boots" if nodes else ""
        return f"out of service {out.value}; {begun.outcome.reason}{again}"

    def given(self, host: str, begun: Begun) -> Given:
        """The new release of a host, for the journal."""
        if host in self.left:
            return self.left[host]._replace(release=NOTHING.host, nodes={})
        return Given(
            place_of(next(own for own in self.blueprint.hosts if own.name == host)),
            begun.release if host in self.goal.restart else self.goal.back_to.get(host) or release_in(self.tree, host),
            dict(begun.wants),
        )


def resumed(journal: Journal, tree: Tree) -> tuple[tuple[str, ...], Shard | None]:
    """The hosts of the rollout that broke off, () for all, or its shard.

    Raises DeployError where it cannot be gone on with.
    """
    run = journal.history.broken_off
    if run is None:
        raise DeployError("no rollout of this fleet broke off; run fleetc deploy without --resume", 1)
    if run.kind != "deploy":
        raise DeployError(f"what broke off was a {run.kind}; run fleetc {run.kind} again", 1)
    if run.manifest != tree.as_mapping()[MANIFEST].sha256:
        message = "the rollout that broke off was of another tree: check that one out and run this again"
        raise DeployError(f"{message}, or run fleetc deploy without --resume, or fleetc rollback", 1)
    return run.hosts, read_shard(run.shard) if run.shard else None


def claimed(rollout: Rollout, hosts: Sequence[str]) -> tuple[dict[str, Begun], RunResult]:
    """The answers of hosts once all are claimed; after a while, with refusals.

    If two rollouts claimed different hosts, the one with the first host continues; the other gives way.
    """
    begun, run = rollout.ask(hosts)
    end = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < end and not rollout.interrupted.is_set():
        refused = [host for host in hosts if begun[host].claimed_by is not None]
        mine = [host for host in hosts if begun[host].answered and begun[host].needed]
        if not refused or not mine or list(hosts).index(mine[0]) > list(hosts).index(refused[0]):
            break
        rollout.tell(
            f"waits for another rollout that has claimed {', '.join(refused)}: {end - time.monotonic():.0f} s left"
        )
        rollout.interrupted.wait(_ASK_SECONDS)
        again, run = rollout.ask(refused)
        begun |= again
    quiet = [host for host in hosts if begun[host].answered and not begun[host].needed]
    if quiet and arrives(begun):  # no claim keeps another rollout from bringing the same node to one of these
        again, run = rollout.ask(quiet)
        begun |= again
    return begun, run


def arrives(begun: Mapping[str, Begun]) -> bool:
    """Whether a host gains a node that may run only once, or has one in a switch that is not confirmed."""
    return any(answer.kept.get(node) != does for answer in begun.values() for node, does in answer.wants.items())


def options_of(
    settings: Settings, check: bool, sealed: NewestPlan | None, stated: Stated = NOTHING_STATED
) -> RunOptions:
    """How to reach the hosts, by the settings. Raises DeployError where the vault's password cannot be had."""
    password_file, password = settings.vault_password_file, None
    if not settings.worker:
        password_file, password = vault_password(absolute(password_file))
    variables: dict[str, Any] = {
        "fleet_host_run": this_run(),
        "fleet_host_clear": list(stated.clear),
        "fleet_host_renamed": list(stated.renamed),
        "fleet_host_skip": [code for code, _ in stated.skip],
    }
    if sealed:
        variables |= {"fleet_host_plan_created": sealed.created, "fleet_host_plan_seal": sealed.seal}
    return replace(
        reaching(settings),
        check=check,
        vault_file=settings.vault_file if settings.worker else absolute(settings.vault_file),
        vault_password_file=password_file,
        vault_password=password,
        variables=variables,
    )


def place_of(host: HostBlueprint) -> Login:
    return Login(host.address, host.ssh_port, host.ssh_user, host.become)


def hosts_of(blueprint: Blueprint, limit: tuple[str, ...], shard: Shard | None = None) -> tuple[str, ...]:
    """The hosts of a rollout in its order; those in `limit`, if there are any, or of a part. Raises DeployError."""
    if shard is not None:
        return shards_of(blueprint, shard.parts)[shard.number - 1]
    known = tuple(host.name for host in blueprint.in_order)
    need_known(limit, known)
    return tuple(name for name in known if name in limit) if limit else known


def need_known(names: Sequence[str], known: Sequence[str]) -> None:
    """Refuse unknown names of hosts. Raises DeployError."""
    for name in names:
        if name not in known:
            from fleetc.text.suggestions import did_you_mean

            raise DeployError(f'there is no host "{visible(name)}"; {did_you_mean(name, known)}', 2)
