"""`fleetc plan`: plans a whole rollout in advance, seals it, and verifies it later.

In: a spec. Out: the plan as text, and as a file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.comparing import known_hosts
from fleetc.cli.shared.options import (
    HERE,
    LimitOption,
    OverlayOption,
    ShardOption,
    SpecArgument,
    TodayOption,
    TreeOption,
    WithoutOption,
)
from fleetc.cli.shared.output import message, wrong_usage
from fleetc.cli.shared.planned import around, made, refusals, shard_of
from fleetc.cli.shared.rolling import tell_ways
from fleetc.cli.shared.selecting import chosen
from fleetc.cli.shared.working import STDIN, compile_reviewed, load_settings, read_policies
from fleetc.messages.forms import Format
from fleetc.planner.data import RECORDED

if TYPE_CHECKING:
    from fleetc.blueprint.shards import Shard
    from fleetc.pipeline import Compiled
    from fleetc.review.sides import Side
    from fleetc.rollout.hosts.plans import Verified
    from fleetc.rollout.plan.data import Baseline
    from fleetc.rollout.plan.make import Inputs, Meaning
    from fleetc.settings import Settings

    Choose = Callable[[Compiled], tuple[str, ...]]

_SHORTEST = timedelta(seconds=1)


def plan(
    spec: SpecArgument = HERE,
    write: Annotated[
        Path | None, typer.Option("-o", "--write", metavar="FILE", help="File to write the plan to.")
    ] = None,
    output: TreeOption = None,
    overlay: OverlayOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    shard: ShardOption = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="WHAT",
            help="What was rolled out last and hosts are assumed to run: a tree or a revision.",
        ),
    ] = None,
    observe: Annotated[
        bool, typer.Option("--observe", help="Ask the hosts what they run; changes nothing there.")
    ] = False,
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires", metavar="DURATION", help="How long the plan is valid, such as 90m or 2h; by default 24h."
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", metavar="KEY", help="SSH key to sign the plan with, in a .sig file beside it."),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option("--verify", metavar="PLAN", help="Make no plan; refuse this one if anything has changed since."),
    ] = None,
    today: TodayOption = None,
) -> None:
    """Plan a rollout in advance and seal it, or verify a plan.

    A plan lists the changes of each host, the state they start from, and its expiry.
    """

    lifetime = _lifetime("24h" if expires is None else expires)
    settings = load_settings(spec, overlay=overlay, output=output)
    if verify is not None:
        if any(option is not None for option in (write, sign, against, expires, shard, without)):
            wrong_usage("--verify makes no plan; remove -o, --sign, --against, --expires, --shard and --without")
        _verify(spec, settings, verify, tuple(limit or ()), observe)
        return
    if write == STDIN:
        wrong_usage("-o names a file, and - is none: write -o plan.json")
    if sign is not None and write is None:
        wrong_usage("the signature is written beside the plan's file; name that file with -o")
    if shard and (limit or without):
        wrong_usage("--shard chooses the hosts, so it takes no --limit")
    choose = partial(chosen, limit=limit, without=without)
    _make(spec, settings, choose, shard_of(shard), against, observe, lifetime, write, sign, today)


def _make(
    spec: Path,
    settings: Settings,
    choose: Choose,
    shard: Shard | None,
    against: str | None,
    observe: bool,
    lifetime: timedelta,
    write: Path | None,
    key: Path | None,
    today: date | None,
) -> None:
    from fleetc.rollout.findings import NOT_REACHED
    from fleetc.rollout.hosts import plans
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.plan import document, summary

    inputs, compiled = _inputs(spec, settings, choose, shard, today)
    if not inputs.hosts:
        message(f"note: part {shard} has no hosts, so there is nothing to plan: take fewer parts")
        return
    with refusals(Path(against or spec)):
        before = _before(spec, settings, against)
        for note in before.notes if before else ():
            message(f"note: {note}")
        baseline, left = plans.recorded_baseline(inputs, before.tree() if before else None, against or "")
        baseline = _given_since(baseline, inputs, spec, settings)
        if observe:
            with progress(sys.stderr) as show:
                baseline = plans.observed_baseline(inputs, baseline, settings, show)
        meaning = _meaning(baseline, before, spec, settings, compiled)
    new_plan = plans.make_plan(inputs, baseline, left, plans.clock(), lifetime, meaning)
    content = document.encode(new_plan)
    with refusals(write or spec):
        removed = write is not None and plans.store(content, write, key)
    signed = "not signed" if key is None else f"signed with {key}"
    for line in summary.lines(new_plan, document.seal_of(content), signed):
        typer.echo(line)
    tell_ways([state.host for state in baseline.hosts if state.note.startswith(NOT_REACHED)], inputs.blueprint)
    if removed:
        message(f"the signature of the earlier plan in {write} was removed with it")
    message(f"{write} written" if write else "nothing written; use -o plan.json to keep the plan")


def _given_since(baseline: Baseline, inputs: Inputs, spec: Path, settings: Settings) -> Baseline:
    """A recorded baseline, with the hosts at their goal that the journal says were brought there since.

    Without a journal that can be read, nothing is known of that.
    """
    from fleetc.cli.shared.ways_back import given_last
    from fleetc.disk.files import FilesError, find_spec
    from fleetc.rollout.hosts.journal import to_read
    from fleetc.rollout.plan.make import wanted_states
    from fleetc.settings import journals

    if all(state.known != RECORDED for state in baseline.hosts):
        return baseline
    try:
        history = to_read(journals(settings, find_spec(spec)), inputs.blueprint.fleet).history
    except FilesError:
        return baseline
    goals = {
        host: goal for host, goal in wanted_states(inputs).items() if given_last(history, host).release == goal.release
    }
    return replace(baseline, hosts=tuple(goals.get(s.host, s) if s.known == RECORDED else s for s in baseline.hosts))


def _verify(spec: Path, settings: Settings, path: Path, limit: tuple[str, ...], observe: bool) -> None:
    from fleetc.rollout.hosts import plans
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.plan import summary

    with refusals(path):
        verified = plans.verify(path, around(spec, settings), settings, limit, plans.clock())
        if observe:
            with progress(sys.stderr) as show:
                plans.verify_hosts(verified, settings, show)
    for line in summary.lines(verified.plan, verified.seal, _signed(verified, settings)):
        typer.echo(line)
    message("the plan is valid: nothing has changed" if observe else "the plan is valid; the hosts were not asked")


def _signed(verified: Verified, settings: Settings) -> str:
    if verified.signer is None:
        return "signature not checked: allowed_signers is not set"
    return f"signed by {verified.signer}"


def _before(spec: Path, settings: Settings, against: str | None) -> Side | None:
    """What was rolled out last; None if not given. Raises FilesError."""
    from fleetc.cli.shared.baseline import baseline

    return baseline(against, spec, settings, rolled_out=True) if against is not None else None


def _meaning(baseline: Baseline, before: Side | None, spec: Path, settings: Settings, compiled: Compiled) -> Meaning:
    """What the plan means for each host and node, compared with the trees that have what they run."""
    from fleetc.cli.shared.known_trees import KnownTrees
    from fleetc.review.sides import of_compiled
    from fleetc.rollout.plan.meaning import meaning_of

    trees = KnownTrees(spec, settings, [state.host for state in baseline.hosts], before)
    new = of_compiled(str(spec), compiled)
    return meaning_of(baseline.hosts, trees, new, trees.why, lambda: known_hosts(spec, settings, compiled))


def _inputs(
    spec: Path, settings: Settings, choose: Choose, shard: Shard | None, today: date | None
) -> tuple[Inputs, Compiled]:
    """The inputs of the plan, if the tree on disk is what the spec compiles to."""
    from fleetc.disk import files
    from fleetc.rollout.plan.make import Inputs

    compiled = compile_reviewed(spec, settings, read_policies(spec, today, Format.text), today)
    document, _, blueprint, tree = compiled.sound
    limited = frozenset(choose(compiled))
    return Inputs(document.sources, *files.read_shipped(), blueprint, tree, limited, shard, made(settings)), compiled


def _lifetime(text: str) -> timedelta:
    from fleetc.language.quantities import QuantityError, parse_duration
    from fleetc.rollout.hosts.plans import LONGEST

    try:
        lifetime = timedelta(microseconds=parse_duration(text).microseconds)
    except QuantityError as problem:
        wrong_usage(f"--expires: {problem.message}; {problem.help}")
    if not _SHORTEST <= lifetime <= LONGEST:
        wrong_usage(f"--expires: a plan is valid for at least a second and at most {LONGEST.days} days")
    return lifetime
