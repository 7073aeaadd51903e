"""What `fleetc deploy` does to nodes that hosts run already, without fleetc.

In: a compiled fleet and its hosts. Out: lines on standard output; with `keep`, hosts know which processes go on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fleetc.cli.shared.asked_hosts import senseless

if TYPE_CHECKING:
    from fleetc.adopt import Takeover
    from fleetc.blueprint.blueprint import Blueprint
    from fleetc.emit.tree import Tree
    from fleetc.settings import Settings


def takeovers(tree: Tree, blueprint: Blueprint, hosts: Sequence[str], settings: Settings) -> list[Takeover]:
    """What the first rollout does to each process that hosts run. Raises FilesError if a host does not answer."""
    from fleetc.adopt import SenselessAnswerError, take_over
    from fleetc.rollout.hosts.finding import find
    from fleetc.rollout.hosts.progress import progress

    if not hosts:
        return []
    with progress(sys.stderr) as show:
        answers = find(tree, hosts, settings, show)
    try:
        return [take_over(host, answers[host], blueprint) for host in hosts]
    except SenselessAnswerError as problem:
        raise senseless(str(problem)) from problem


def keep_running(tree: Tree, plans: Sequence[Takeover], settings: Settings) -> None:
    """Have hosts know which processes the next rollout keeps. Raises FilesError where one refuses that."""
    from fleetc.rollout.hosts.finding import take
    from fleetc.rollout.hosts.progress import progress

    with progress(sys.stderr) as show:
        for plan in plans:
            if plan.going_on:
                take(tree, plan.host, plan.going_on, settings, show)
