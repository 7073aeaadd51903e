"""`fleetc rollback`: takes hosts back to releases that they keep.

In: a spec, which says how its hosts are reached and in which batches. Out: what was rolled back, and an exit code.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from fleetc.cli.options import (
    HERE,
    AssumeDeadOption,
    ClearOption,
    ForksOption,
    JournalOption,
    LimitOption,
    OverlayOption,
    RolloutFormatOption,
    SpecArgument,
    TakeOverOption,
    WorkerOption,
)
from fleetc.cli.output import message
from fleetc.cli.rolling import About, failures, opened_journal, tell
from fleetc.cli.working import compile_or_exit, load_settings
from fleetc.messages.forms import Format, RolloutFormat


def rollback(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="DIGEST", help="Start of the digest of a manifest that was rolled out, or of a release."
        ),
    ] = "",
    limit: LimitOption = None,
    forks: ForksOption = None,
    worker: WorkerOption = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; show what would be done.")] = False,
    clear: ClearOption = None,
    assume_dead: AssumeDeadOption = None,
    take_over: TakeOverOption = None,
    journal: JournalOption = None,
    form: RolloutFormatOption = RolloutFormat.text,
) -> None:
    """Take hosts back to releases that they keep, through the same batches as a rollout.

    Without --to, the hosts that the last rollout changed go back to what they ran before it.

    The spec is not changed: revert it too, or the next rollout brings the release back.
    """
    from fleetc.rollout.hosts.deploy import deploy_tree
    from fleetc.rollout.hosts.kept import releases_before
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.hosts.rolling import Goal, Stated

    settings = load_settings(spec, overlay=overlay, journal=journal, forks=forks, worker=worker)
    compiled, _ = compile_or_exit(spec, settings, Format.text)
    assert compiled.tree is not None and compiled.blueprint is not None  # noqa: S101  # it compiled
    tree, blueprint = compiled.tree, compiled.blueprint
    stated = Stated(tuple(clear or ()), (), tuple(assume_dead or ()), tuple(take_over or ()))
    with failures(), opened_journal(spec, settings, blueprint.fleet, check, form) as own:
        back_to = releases_before(own.history, blueprint, to, tuple(limit or ()))
        goal = Goal("rollback", back_to)
        with progress(sys.stderr) as show:
            outcome = deploy_tree(tree, blueprint, settings, tuple(back_to), check, show, own, goal, stated)
    if outcome.exit_code == 0 and not check:
        message("note: if the spec still says otherwise, revert it too, or the next rollout brings that back")
    tell(outcome, About(spec, settings, blueprint, form))
