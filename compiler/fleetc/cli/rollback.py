"""`fleetc rollback`: takes hosts back to releases that they keep.

In: a spec, for the addresses and batches of its hosts. Out: what was rolled back, and an exit code.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared.options import (
    HERE,
    AssumeDeadOption,
    ClearOption,
    JournalOption,
    LimitOption,
    OverlayOption,
    RolloutFormatOption,
    SpecArgument,
    TakeOverOption,
    WithoutOption,
)
from fleetc.cli.shared.output import message, plain, wrong_usage
from fleetc.cli.shared.rolling import About, need_check, opened_journal, tell
from fleetc.cli.shared.selecting import chosen
from fleetc.cli.shared.working import compile_or_exit, load_settings
from fleetc.messages.forms import Format, RolloutFormat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fleetc.emit.tree import Tree


def rollback(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="DIGEST",
            help="Start of the digest of a release, or of the manifest of an earlier rollout: at least 8 characters.",
        ),
    ] = "",
    listed: Annotated[
        bool, typer.Option("--list", help="Show the releases that hosts had, and what going back would mean.")
    ] = False,
    limit: LimitOption = None,
    without: WithoutOption = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; show what would be done.")] = False,
    clear: ClearOption = None,
    assume_dead: AssumeDeadOption = None,
    take_over: TakeOverOption = None,
    journal: JournalOption = None,
    form: RolloutFormatOption = RolloutFormat.text,
) -> None:
    """Take hosts back to releases that they keep, through the same batches as a rollout.

    Without --to, the hosts that the last rollout changed go back to what they ran before it. --list shows where hosts
    can go back to.

    The spec is not changed: revert it too, or the next rollout brings the release back.
    """
    from fleetc.cli.shared.ways_back import listing, telling
    from fleetc.rollout.hosts.deploy import deploy_tree
    from fleetc.rollout.hosts.kept import releases_before
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.hosts.rolling import Goal, Stated, hosts_of

    need_check(form, check)
    if listed and (to or check or form is not RolloutFormat.text):
        wrong_usage("--list changes nothing and shows text, so it takes no --to, --check or --format")
    settings = load_settings(spec, overlay=overlay, journal=journal)
    compiled, _ = compile_or_exit(spec, settings, Format.text)
    _, _, blueprint, tree = compiled.sound
    names = hosts_of(blueprint, chosen(compiled, limit, without))
    stated = Stated(tuple(clear or ()), (), tuple(assume_dead or ()), tuple(take_over or ()))
    with opened_journal(spec, settings, blueprint.fleet, check or listed, form) as own:
        if listed:
            for line in listing(own, names, spec, settings):
                typer.echo(plain(line))
            return
        back_to = releases_before(own.history, names, to)
        for line in telling(own, back_to, spec, settings):
            typer.echo(plain(line), err=form is not RolloutFormat.text)
        goal = Goal("rollback", back_to)
        with progress(sys.stderr, hosts=not check) as show:
            outcome = deploy_tree(tree, blueprint, settings, tuple(back_to), check, show, own, goal, stated)
    if outcome.exit_code == 0 and not check:
        _tell_of_spec(tree, back_to)
    tell(outcome, About(spec, settings, blueprint, form))


def _tell_of_spec(tree: Tree, back_to: Mapping[str, str]) -> None:
    """Print where the spec still differs: the next rollout would undo this one."""
    from fleetc.planner.states import release_in

    other = [host for host, release in back_to.items() if release_in(tree, host) != release]
    if other:
        what = f"the spec still has another release for {', '.join(other)}"
        message(f"note: {what}: revert it and compile, or the next deploy brings that release back")
