"""`fleetc deploy`: rolls out the compiled tree to its hosts, or exactly a sealed plan.

In: a spec, or a plan. Out: what was rolled out, and an exit code.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.options import (
    HERE,
    AssumeDeadOption,
    ClearOption,
    JournalOption,
    LimitOption,
    OutputOption,
    OverlayOption,
    RenamedOption,
    ResumeOption,
    RolloutFormatOption,
    ShardOption,
    SkipOption,
    SpecArgument,
    TakeOverOption,
    TodayOption,
    WithoutOption,
)
from fleetc.cli.shared.output import message, wrong_usage
from fleetc.cli.shared.planned import around, refusals, shard_of
from fleetc.cli.shared.rolling import About, need_check, opened_journal, skipped, tell
from fleetc.cli.shared.selecting import chosen
from fleetc.cli.shared.taking_over import keep_running, takeovers
from fleetc.cli.shared.working import compile_reviewed, load_settings, read_policies
from fleetc.messages.forms import Format, RolloutFormat
from fleetc.text.counting import counted

if TYPE_CHECKING:
    from fleetc.adopt import Takeover
    from fleetc.blueprint.blueprint import Blueprint
    from fleetc.emit.tree import Tree
    from fleetc.rollout.hosts.deploy import Outcome
    from fleetc.rollout.hosts.plans import Verified
    from fleetc.rollout.hosts.rolling import Stated
    from fleetc.settings import Settings


def deploy(
    spec: SpecArgument = HERE,
    output: OutputOption = None,
    overlay: OverlayOption = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; ask what hosts lack and would do.")] = False,
    limit: LimitOption = None,
    without: WithoutOption = None,
    shard: ShardOption = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="PLAN", help="Carry out exactly this plan, or nothing if anything changed."),
    ] = None,
    clear: ClearOption = None,
    renamed: RenamedOption = None,
    assume_dead: AssumeDeadOption = None,
    take_over: TakeOverOption = None,
    skip: SkipOption = None,
    resume: ResumeOption = False,
    keep_running: Annotated[
        bool, typer.Option("--keep-running", help="Take over processes that run without fleetc.", hidden=True)
    ] = False,
    journal: JournalOption = None,
    today: TodayOption = None,
    form: RolloutFormatOption = RolloutFormat.text,
) -> None:
    """Roll out the compiled tree to its hosts, batch by batch.

    The tree must be up to date with the spec. If nodes of a host are unhealthy, its whole batch rolls back.

    With --shard, several machines share the work. Together they never change all gateways at once, nor all
    orchestrators of a gateway. The canary hosts are in the first part; the other parts begin only where these have the
    release. A part follows the order of batches for its own hosts only, regions included.

    With --check, hosts say all that would keep the release from running there, each thing at its line of the spec.
    Nodes that they run already without fleetc are compared with the spec.
    """
    from fleetc.rollout.hosts.deploy import deploy_tree
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.hosts.rolling import Goal, Stated, hosts_of, resumed

    settings = load_settings(spec, overlay=overlay, output=output, journal=journal)
    need_check(form, check)
    _need_sense(limit or without, shard, plan, resume, check, keep_running)
    names = [tuple(given or ()) for given in (clear, renamed, assume_dead, take_over)]
    stated = Stated(names[0], names[1], names[2], names[3], skipped(skip or ()))
    part = shard_of(shard)
    if plan is not None:
        if without:
            wrong_usage("a plan has its hosts, so it takes no --without")
        deploy_planned(spec, settings, plan, tuple(limit or ()), check, stated, form)
        return
    _need_no_signature(spec, settings)
    day = None if resume else today  # a rollout that began soundly can end, though a silence ended in between
    compiled = compile_reviewed(spec, settings, read_policies(spec, today, Format.text), day)
    _, _, blueprint, tree = compiled.sound
    if part is not None and not hosts_of(blueprint, (), part):
        message(f"note: part {part} has no hosts, so there is nothing to do: take fewer parts")
        return
    with opened_journal(spec, settings, blueprint.fleet, check, form) as own:
        hosts, part = resumed(own, tree) if resume else (chosen(compiled, limit, without), part)
        if keep_running:
            _keep_running(tree, blueprint, hosts_of(blueprint, hosts, part), settings, check)
        with progress(sys.stderr, hosts=not check) as show:
            outcome = deploy_tree(tree, blueprint, settings, hosts, check, show, own, Goal(shard=part), stated)
        if check and not keep_running and form is RolloutFormat.text:
            _tell_strangers(tree, blueprint, outcome, settings)
    tell(outcome, About(spec, settings, blueprint, form))


def _keep_running(tree: Tree, blueprint: Blueprint, hosts: Sequence[str], settings: Settings, check: bool) -> None:
    """Show how fleetc takes over processes that run without it, and do so."""
    plans = takeovers(tree, blueprint, hosts, settings)
    _show(plans, keep=True)
    if not check:
        keep_running(tree, plans, settings)


def _tell_strangers(tree: Tree, blueprint: Blueprint, outcome: Outcome, settings: Settings) -> None:
    """Print what the first rollout does to nodes that run without fleetc, on hosts that answer and have no release."""
    from fleetc.disk.files import FilesError
    from fleetc.rollout.findings import NOT_REACHED

    hosts = [host.host for host in outcome.hosts if not host.before and host.result in ("new", "old")]
    silent = {host.host for host in outcome.hosts if host.reason.startswith(NOT_REACHED)}
    try:
        _show(takeovers(tree, blueprint, [host for host in hosts if host not in silent], settings))
    except FilesError as failure:
        message(f"note: which nodes run there without fleetc is unknown: {failure}")


def _show(plans: Sequence[Takeover], keep: bool = False) -> None:
    """Print how fleetc takes over processes that run without it."""
    from fleetc.adopt import as_text

    for plan in plans:
        typer.echo(as_text(plan, keep), nl=False)


def _need_sense(limit: object, shard: object, plan: object, resume: bool, check: bool, keep_running: bool) -> None:
    """Exit where options that were given contradict each other."""
    if keep_running and (plan or resume):
        wrong_usage("--keep-running belongs to a first rollout, so it takes neither --plan nor --resume")
    if resume and (limit or shard or check or plan):
        wrong_usage("--resume continues the interrupted rollout, so it takes no --limit, --shard, --check or --plan")
    if shard and (limit or plan):
        wrong_usage("--shard chooses the hosts, so it takes no --limit; a plan has its part from fleetc plan --shard")


def deploy_planned(
    spec: Path, settings: Settings, path: Path, limit: tuple[str, ...], check: bool, stated: Stated, form: RolloutFormat
) -> None:
    """Roll out exactly a plan, or refuse before any host is changed."""
    from fleetc.rollout.hosts import plans
    from fleetc.rollout.hosts.deploy import Outcome, deploy_tree
    from fleetc.rollout.hosts.gate import HostOutcome
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.hosts.rolling import Goal

    with refusals(path):
        verified = plans.verify(path, around(spec, settings), settings, limit, plans.clock())
        message(f"the plan is valid (seal {verified.seal}); asking the hosts whether they have changed")
        with progress(sys.stderr) as show:
            verdict = plans.verify_hosts(verified, settings, show)
        hosts = tuple(host.name for host in verified.inputs.hosts)
        about = About(spec, settings, verified.inputs.blueprint, form)
        if set(verdict.reached) == set(hosts):
            if form is RolloutFormat.text:
                typer.echo(f"nothing to do: {_at_end(hosts)}")
            else:
                tell(Outcome(tuple(HostOutcome(host, "unchanged") for host in hosts), (), check), about)
            if not check:
                _write_down(verified, about, verdict.unmarked)
            return
        if verdict.reached:
            message(_at_end(verdict.reached))
        inputs = verified.inputs
        limited = () if verified.plan.whole or inputs.shard else hosts
        with opened_journal(spec, settings, inputs.blueprint.fleet, check, form) as own, progress(sys.stderr) as show:
            goal = Goal(sealed=verified.mark, shard=inputs.shard)
            outcome = deploy_tree(inputs.tree, inputs.blueprint, settings, limited, check, show, own, goal, stated)
    tell(outcome, about)


def _at_end(hosts: tuple[str, ...]) -> str:
    return f"{counted(len(hosts), 'host')} already run{'s' if len(hosts) == 1 else ''} what the plan leads to"


def _write_down(verified: Verified, about: About, hosts: tuple[str, ...]) -> None:
    """Have hosts record that they got the plan, though there is nothing to do: it supersedes older plans."""
    from fleetc.rollout.hosts.deploy import record_plan
    from fleetc.rollout.hosts.progress import progress

    if not hosts:
        return
    inputs = verified.inputs
    with progress(sys.stderr) as show:
        outcome = record_plan(inputs.tree, inputs.blueprint, about.settings, hosts, show, verified.mark)
    if outcome.exit_code:
        tell(outcome, about)
    message(f"{counted(len(hosts), 'host')} recorded this as the newest plan")


def _need_no_signature(spec: Path, settings: Settings) -> None:
    """Refuse a rollout without a plan if plans must be signed.

    Refuse its dry run too: it logs in to the hosts of an unsigned spec, and reads secrets for them.
    """
    from fleetc.disk import files

    if settings.allowed_signers is None and settings.signer is None:
        return
    name = "signer" if settings.allowed_signers is None else "allowed_signers"
    message = f"{name} is set, so only a signed plan can be rolled out or tried with --check"
    advice = "make one with fleetc plan -o plan.json --sign KEY, then name it: fleetc deploy --plan plan.json"
    raise files.FilesError("plan-required", message, path=str(spec), advice=advice)
