"""`fleetc deploy`: rolls out the compiled tree to its hosts, or exactly a sealed plan.

In: a spec, or a plan. Out: what was rolled out, and an exit code.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.options import (
    HERE,
    USAGE,
    LimitOption,
    OutputOption,
    OverlayOption,
    SignerOption,
    SignersOption,
    SpecArgument,
)
from fleetc.cli.output import files_failure, message, plain
from fleetc.cli.planned import around, count, refusals
from fleetc.cli.working import compile_or_exit, load_settings, need_fresh, target_of, tell_settings
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.rollout.hosts.deploy import Outcome, Stated
    from fleetc.rollout.hosts.plans import Verified
    from fleetc.settings import Settings


def deploy(
    spec: SpecArgument = HERE,
    output: OutputOption = None,
    overlay: OverlayOption = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; show what Ansible would do.")] = False,
    limit: LimitOption = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="PLAN", help="Carry out exactly this plan, or nothing if anything changed."),
    ] = None,
    clear: Annotated[
        list[str] | None,
        typer.Option("--clear", metavar="HOST", help="Try this host in quarantine again; repeatable."),
    ] = None,
    renamed: Annotated[
        list[str] | None,
        typer.Option(
            "--renamed",
            metavar="HOST",
            help="This host, or its fleet, had another name in the last rollout; repeatable.",
        ),
    ] = None,
    allowed_signers: SignersOption = None,
    signer: SignerOption = None,
) -> None:
    """Roll out the compiled tree to its hosts, batch by batch.

    A host whose nodes are not well goes back to its release before, and so do the others of its batch.

    The tree must be up to date with the spec.
    """
    from fleetc.disk import files
    from fleetc.rollout.hosts.deploy import DeployError, Stated, deploy_tree
    from fleetc.rollout.hosts.progress import progress

    settings = load_settings(spec, overlay=overlay, output=output, allowed_signers=allowed_signers, signer=signer)
    if plan is None and (allowed_signers or signer):
        message("error: --allowed-signers and --signer say who must have signed a plan; name the plan with --plan")
        raise typer.Exit(USAGE)
    stated = Stated(tuple(clear or ()), tuple(renamed or ()))
    if plan is not None:
        deploy_planned(spec, settings, plan, tuple(limit or ()), check, stated)
        return
    _need_no_signature(spec, settings)
    compiled, _ = compile_or_exit(spec, settings, Format.text)
    assert compiled.tree is not None and compiled.blueprint is not None  # noqa: S101  # it compiled
    tell_settings(spec, settings)
    need_fresh(compiled.tree, target_of(spec, settings))
    try:
        with progress(sys.stderr) as show:
            hosts = tuple(limit or ())
            outcome = deploy_tree(compiled.tree, compiled.blueprint, settings, hosts, check, show, stated=stated)
    except files.FilesError as failure:
        files_failure(failure, Format.text)
    except DeployError as failure:
        message(f"error: {failure}")
        raise typer.Exit(failure.exit_code) from None
    _report(outcome)


def _report(outcome: Outcome) -> None:
    from fleetc.rollout.hosts import report

    for line in report.lines(outcome):
        typer.echo(line)
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)


def deploy_planned(
    spec: Path, settings: Settings, path: Path, limit: tuple[str, ...], check: bool, stated: Stated
) -> None:
    """Roll out exactly a plan, or refuse before any host is changed."""
    from fleetc.rollout.hosts import plans
    from fleetc.rollout.hosts.deploy import deploy_tree
    from fleetc.rollout.hosts.progress import progress

    with refusals(path):
        verified = plans.verify(path, around(spec, settings), settings, limit, plans.clock())
        message(f"the plan is valid (seal {verified.seal}); asking the hosts whether they have changed")
        with progress(sys.stderr) as show:
            verdict = plans.verify_hosts(verified, settings, show)
        hosts = tuple(host.name for host in verified.inputs.hosts)
        if set(verdict.reached) == set(hosts):
            typer.echo(plain(f"nothing to do: {count(hosts)} already at the end of the plan"))
            if not check:
                _write_down(verified, settings, verdict.unmarked)
            return
        if verdict.reached:
            message(f"{count(verdict.reached)} already at the end of the plan")
        inputs, limited = verified.inputs, () if verified.plan.whole else hosts
        with progress(sys.stderr) as show:
            mark = verified.mark
            outcome = deploy_tree(inputs.tree, inputs.blueprint, settings, limited, check, show, mark, stated)
    _report(outcome)


def _write_down(verified: Verified, settings: Settings, hosts: tuple[str, ...]) -> None:
    """Have hosts record that they got the plan, though there is nothing to do: it supersedes older plans."""
    from fleetc.rollout.hosts.deploy import record_plan
    from fleetc.rollout.hosts.progress import progress

    if not hosts:
        return
    inputs = verified.inputs
    with progress(sys.stderr) as show:
        outcome = record_plan(inputs.tree, inputs.blueprint, settings, hosts, show, verified.mark)
    if outcome.exit_code:
        _report(outcome)
    message(f"{count(hosts)} recorded this as the newest plan")


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
    files_failure(files.FilesError("plan-required", message, path=str(spec), advice=advice), Format.text)
