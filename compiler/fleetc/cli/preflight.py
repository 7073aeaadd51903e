"""`fleetc preflight`: asks hosts for all that would keep their release from running there.

In: a spec. Out: findings in the form of diagnostics, and an exit code.
"""

from __future__ import annotations

import sys

import typer

from fleetc.cli.shared.options import (
    HERE,
    ForksOption,
    FormatOption,
    LimitOption,
    OverlayOption,
    SkipOption,
    SpecArgument,
    WorkerOption,
)
from fleetc.cli.shared.output import PROBLEMS
from fleetc.cli.shared.rolling import failures, skipped, tell_findings
from fleetc.cli.shared.working import compile_or_exit, load_settings
from fleetc.messages.forms import Format
from fleetc.text.counting import counted


def preflight(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    limit: LimitOption = None,
    forks: ForksOption = None,
    worker: WorkerOption = None,
    skip: SkipOption = None,
    form: FormatOption = Format.text,
) -> None:
    """Ask hosts for all that would keep their release from running there, and change nothing.

    Every rollout asks the same of the hosts that it is going to change, before it changes the first one.
    """
    from fleetc.rollout.hosts.preflight import preflight as ask
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.hosts.rolling import Stated, hosts_of

    settings = load_settings(spec, overlay=overlay, forks=forks, worker=worker)
    compiled, _ = compile_or_exit(spec, settings, form)
    tree, blueprint = compiled.tree, compiled.blueprint
    assert tree is not None and blueprint is not None  # noqa: S101  # it compiled
    stated = Stated(skip=skipped(skip or ()))
    with failures(), progress(sys.stderr) as show:
        hosts = hosts_of(blueprint, tuple(limit or ()))
        findings = ask(tree, blueprint, settings, hosts, show, stated)
    if findings or form is not Format.text:
        if tell_findings(findings, spec, settings, blueprint, form):
            raise typer.Exit(PROBLEMS)
        return
    typer.echo(f"{counted(len(hosts), 'host')} asked: nothing keeps the release from running")
