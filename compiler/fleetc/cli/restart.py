"""`fleetc restart`: restarts nodes where they run. No file comes to a host, and each keeps its release.

In: names of nodes, and a spec for the addresses and batches of their hosts. Out: what restarted, and an exit code.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fnmatch import filter as matching
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, ClearOption, OverlayOption, RolloutFormatOption, TakeOverOption, upwards
from fleetc.cli.shared.output import plain, wrong_usage
from fleetc.cli.shared.rolling import About, need_check, opened_journal, tell
from fleetc.cli.shared.working import compile_or_exit, load_settings
from fleetc.messages.forms import Format, RolloutFormat

if TYPE_CHECKING:
    from fleetc.blueprint.blueprint import Blueprint


def restart(
    nodes: Annotated[
        list[str],
        typer.Argument(
            metavar="NODE",
            help='Nodes of the spec; "orch-*" names all that begin so.',
            show_default=False,
            autocompletion=completing.writers,
        ),
    ],
    spec: Annotated[
        Path, typer.Option("--spec", metavar="SPEC", help="Spec of the nodes.", show_default=False, callback=upwards)
    ] = HERE,
    overlay: OverlayOption = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; show what would restart.")] = False,
    clear: ClearOption = None,
    take_over: TakeOverOption = None,
    form: RolloutFormatOption = RolloutFormat.text,
) -> None:
    """Restart nodes, batch by batch as in a rollout. They keep their releases, and other nodes run on.

    Orchestrators first finish their sessions, for as long as rollout.drain of their release allows.
    """
    from fleetc.rollout.hosts.deploy import deploy_tree
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.hosts.rolling import Goal, Stated

    need_check(form, check)
    settings = load_settings(spec, overlay=overlay)
    compiled, _ = compile_or_exit(spec, settings, Format.text)
    _, _, blueprint, tree = compiled.sound
    chosen = _by_host(blueprint, nodes)
    stated = Stated(clear=tuple(clear or ()), dead_runs=tuple(take_over or ()))
    with opened_journal(spec, settings, blueprint.fleet, check, form) as own:
        goal = Goal("restart", restart=chosen)
        with progress(sys.stderr, hosts=not check) as show:
            outcome = deploy_tree(tree, blueprint, settings, tuple(chosen), check, show, own, goal, stated)
    tell(outcome, About(spec, settings, blueprint, form))


def _by_host(blueprint: Blueprint, words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The nodes that words name, by host; exits where a word names none that runs."""
    from fleetc.blueprint.out import out_on, running_on
    from fleetc.text.suggestions import did_you_mean

    running = {service.name: host.name for host in blueprint.in_order for service in running_on(host).services}
    out = {name: why for host in blueprint.hosts for name, why in out_on(host).items()}
    named: set[str] = set()
    for word in words:
        if not matching(running, word):
            for name in matching(out, word):
                wrong_usage(f"{name} is out of service {plain(out[name])}; remove out there, and deploy it")
            wrong_usage(f'there is no node "{plain(word)}"; {did_you_mean(word, running)}')
        named.update(matching(running, word))
    chosen: dict[str, tuple[str, ...]] = {}
    for name, host in running.items():
        if name in named:
            chosen[host] = (*chosen.get(host, ()), name)
    return chosen
