"""What `fleetc deploy` and `fleetc rollback` share: the journal, and the report.

In: a spec, the settings, an outcome. Out: an open journal; text on stdout; an exit code.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from fleetc.cli.shared.output import message, plain, report, wrong_usage
from fleetc.cli.shared.working import read_sources
from fleetc.messages.forms import Format, RolloutFormat

if TYPE_CHECKING:
    from fleetc.blueprint.blueprint import Blueprint
    from fleetc.rollout.findings import HostFinding
    from fleetc.rollout.hosts.deploy import Outcome
    from fleetc.rollout.hosts.journal import Journal
    from fleetc.settings import Settings

_OF_FINDINGS = {RolloutFormat.sarif: Format.sarif, RolloutFormat.github: Format.github}
"""Forms of what hosts lack."""


@contextmanager
def opened_journal(spec: Path, settings: Settings, fleet: str, check: bool, form: RolloutFormat) -> Iterator[Journal]:
    """The journal of the fleet: for this rollout alone, or only to read for a dry run. Raises FilesError.

    As JSON, each of its lines is printed as an event.
    """
    from fleetc.disk import files
    from fleetc.rollout.hosts.journal import opened, to_read
    from fleetc.rollout.hosts.owner import this_run
    from fleetc.settings import journals

    directory = journals(settings, files.find_spec(spec))
    if check:
        yield to_read(directory, fleet)
        return
    with opened(directory, fleet, this_run()["id"]) as journal:
        journal.commit = _commit_of(files.find_spec(spec))
        if journal.dropped:
            message(f"note: the last line of {plain(str(journal.path))} was torn, and is dropped")
        if journal.history.broken_off:
            run = journal.history.broken_off
            message(
                f"note: the {run.kind} of {plain(run.who)} at {plain(run.begun)} broke off; hosts report what it left"
            )
        for host, since in journal.history.behind.items():
            message(f"note: {plain(host)} is behind since {since}, when a rollout went on without it")
        if form is RolloutFormat.json:
            from fleetc.rollout.reports.events import entry_event

            journal.heard = lambda entry: typer.echo(entry_event(entry), nl=False)
        yield journal


def _commit_of(spec: Path) -> str:
    """The commit that the checkout of a spec is at; "" where there is none."""
    from fleetc.disk.checkout import checkout_of
    from fleetc.disk.manifest import FilesError

    try:
        return checkout_of(spec).commit("HEAD")
    except FilesError:
        return ""


class About(NamedTuple):
    """What a rollout is about: its spec, the settings and the blueprint; and the form of its report."""

    spec: Path
    settings: Settings
    blueprint: Blueprint
    form: RolloutFormat


def tell(outcome: Outcome, about: About) -> None:
    """Print what became of each host, and what it lacks at its lines of the spec; exit unless all is well."""
    from fleetc.rollout.findings import NOT_REACHED, UNREACHABLE, HostFinding
    from fleetc.rollout.reports import written

    silent = [host for host in outcome.hosts if host.reason.startswith(NOT_REACHED)]
    form = _OF_FINDINGS.get(about.form, Format.text)
    findings = outcome.findings
    if form is not Format.text:
        findings += tuple(HostFinding(host.host, UNREACHABLE, host.reason) for host in silent)
    if findings or form is not Format.text:
        tell_findings(findings, about.spec, about.settings, about.blueprint, form)
    if form is Format.text:
        tell_ways([host.host for host in silent], about.blueprint)
        again = shlex.join(["fleetc", *(word for word in sys.argv[1:] if word != "--resume")])
        typer.echo(written(about.form, outcome, again), nl=False)
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)


def tell_ways(names: Sequence[str], blueprint: Blueprint) -> None:
    """Print how to find out why hosts could not be reached, for the first one."""
    from fleetc.rollout.findings import reaching_help

    first = next((host for host in blueprint.hosts if host.name in names), None)
    if first is not None:
        message(f"note: {first.name}: {plain(reaching_help(first))}")


def need_check(form: RolloutFormat, check: bool) -> None:
    """Exit where a form of findings is for something that has none."""
    if form in _OF_FINDINGS and not check:
        wrong_usage(f"--format {form} has what hosts lack, so it is for --check")


def tell_findings(
    findings: Sequence[HostFinding], spec: Path, settings: Settings, blueprint: Blueprint, form: Format
) -> None:
    """Print findings as diagnostics of the spec."""
    from fleetc.language.spec import read_spec
    from fleetc.pipeline import Checked
    from fleetc.rollout.findings import diagnostics_of

    sources = read_sources(spec, settings, form)
    diagnostics = tuple(diagnostics_of(findings, blueprint))
    report(Checked(read_spec(sources)[0], None, diagnostics), sources, settings, form, always=True)


def skipped(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Codes of findings that a person skips, each with the reason; exits where one has no reason, or is no code."""
    from fleetc.messages.pages.hosts import HOST_PAGES
    from fleetc.rollout.findings import UNREACHABLE
    from fleetc.text.suggestions import did_you_mean

    reasons = []
    for text in given:
        code, _, reason = text.partition("=")
        if not reason.strip():
            wrong_usage(f"--skip takes a code and a reason: --skip {plain(code)}='why this is fine here'")
        if code == UNREACHABLE:
            wrong_usage("a host that cannot be reached gets no release: write --without HOST, or may_miss in [rollout]")
        if code not in HOST_PAGES:
            wrong_usage(f'no finding of a host has the code "{plain(code)}"; {did_you_mean(code, HOST_PAGES)}')
        reasons.append((code, reason.strip()))
    return tuple(reasons)
