"""Commands that reach hosts: deploy.

In: arguments. Out: text, hosts that changed, exit codes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.commands.plans import deploy_planned
from fleetc.commands.shared import (
    HERE,
    PROBLEMS,
    USAGE,
    LimitOption,
    OutputOption,
    OverlayOption,
    SignerOption,
    SignersOption,
    SpecArgument,
    compile_or_exit,
    files_failure,
    load_settings,
    message,
    need_fresh,
    target_of,
    tell_settings,
)
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.settings import Settings


def deploy(
    spec: SpecArgument = HERE,
    output: OutputOption = None,
    overlay: OverlayOption = None,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; show what Ansible would do.")] = False,
    limit: LimitOption = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Carry out exactly this plan, or nothing when anything moved.")
    ] = None,
    allowed_signers: SignersOption = None,
    signer: SignerOption = None,
) -> None:
    """Roll the compiled tree out to its hosts. The tree must be up to date with the spec."""
    from fleetc.disk import files
    from fleetc.rollout.hosts.deploy import DeployError, deploy_tree
    from fleetc.rollout.hosts.progress import progress

    settings = load_settings(spec, overlay=overlay, output=output, allowed_signers=allowed_signers, signer=signer)
    if plan is None and (allowed_signers or signer):
        message("error: --allowed-signers and --signer say who must have signed a plan; name that with --plan")
        raise typer.Exit(USAGE)
    if plan is not None:
        deploy_planned(spec, settings, plan, tuple(limit or ()), check)
        return
    _need_no_signature(spec, settings)
    compiled, _ = compile_or_exit(spec, settings, Format.text)
    assert compiled.tree is not None and compiled.plan is not None  # noqa: S101  # it compiled
    tell_settings(spec, settings)
    need_fresh(compiled.tree, target_of(spec, settings))
    try:
        with progress(sys.stderr) as show:
            outcome = deploy_tree(compiled.tree, compiled.plan, settings, tuple(limit or ()), check, show)
    except files.FilesError as failure:
        files_failure(failure, Format.text)
    except DeployError as failure:
        message(f"error: {failure}")
        raise typer.Exit(failure.exit_code) from None
    for line in outcome.lines():
        typer.echo(line)
    if not outcome.succeeded:
        raise typer.Exit(PROBLEMS)


def _need_no_signature(spec: Path, settings: Settings) -> None:
    """Refuse a rollout without a plan where plans have to be signed.

    Its dry run too: it logs in to the hosts that a spec names which nobody signed, and reads secrets for them.
    """
    from fleetc.disk import files

    if settings.allowed_signers is None and settings.signer is None:
        return
    name = "signer" if settings.allowed_signers is None else "allowed_signers"
    message = f"{name} is set, so only a plan that was signed is rolled out, or tried with --check"
    advice = "make one with fleetc plan -o plan.json --sign KEY, then name it: fleetc deploy --plan plan.json"
    files_failure(files.FilesError("plan-required", message, path=str(spec), advice=advice), Format.text)
