"""`fleetc verify`: whether what runs is what was reviewed.

In: a spec. Out: findings at lines of the spec, and an exit code: 1 on drift, 4 where something could not be asked.
"""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.options import (
    HERE,
    USAGE,
    ForksOption,
    LimitOption,
    OutputOption,
    OverlayOption,
    SpecArgument,
    WorkerOption,
)
from fleetc.cli.output import message, report
from fleetc.cli.planned import count
from fleetc.cli.rolling import failures
from fleetc.cli.working import compile_or_exit, load_settings, need_fresh, read_sources, target_of, tell_settings
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.blueprint.blueprint import Blueprint
    from fleetc.language.fleet import Fleet
    from fleetc.pipeline import Compiled
    from fleetc.rollout.verify.data import Found
    from fleetc.rollout.verify.judge import Verdict
    from fleetc.settings import Settings

_SHORTEST = 5


class VerifyFormat(StrEnum):
    """How findings are printed; prometheus is a file for the textfile collector."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"
    prometheus = "prometheus"
    html = "html"


def verify(
    spec: SpecArgument = HERE,
    output: OutputOption = None,
    overlay: OverlayOption = None,
    limit: LimitOption = None,
    forks: ForksOption = None,
    worker: WorkerOption = None,
    form: Annotated[VerifyFormat, typer.Option("--format", help="Output format.")] = VerifyFormat.text,
    write: Annotated[
        Path | None, typer.Option("-o", "--write", metavar="FILE", help="File to write the report to.")
    ] = None,
    public: Annotated[bool, typer.Option("--public/--no-public", help="Ask public addresses from here too.")] = True,
    watch: Annotated[
        int | None,
        typer.Option("--watch", metavar="SECONDS", help="Look again after so many seconds, until interrupted."),
    ] = None,
) -> None:
    """Compare what runs with what was reviewed, and change nothing.

    Hosts say which files, processes and settings they have; nodes, asked on their hosts, say what they run with;
    public addresses are asked from here, as a buyer would. What cannot be asked is never reported as fine.

    Exit codes: 0 all is as reviewed, 1 drift, 4 something could not be asked.
    """
    if watch is not None and watch < _SHORTEST:
        message(f"error: --watch takes at least {_SHORTEST} seconds")
        raise typer.Exit(USAGE)
    settings = load_settings(spec, overlay=overlay, output=output, forks=forks, worker=worker)
    compiled, _ = compile_or_exit(spec, settings, Format.text)
    assert compiled.tree is not None and compiled.blueprint is not None  # noqa: S101  # it compiled
    tell_settings(spec, settings)
    need_fresh(compiled.tree, target_of(spec, settings))
    while True:
        code = _once(spec, settings, compiled, tuple(limit or ()), public, form, write)
        if watch is None:
            raise typer.Exit(code)
        sys.stdout.flush()
        time.sleep(watch)


def _once(
    spec: Path,
    settings: Settings,
    compiled: Compiled,
    limit: tuple[str, ...],
    public: bool,
    form: VerifyFormat,
    write: Path | None,
) -> int:
    """One look; its exit code."""
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.hosts.rolling import hosts_of
    from fleetc.rollout.hosts.verify import ask_hosts
    from fleetc.rollout.verify.judge import judge

    tree, blueprint, fleet = compiled.tree, compiled.blueprint, compiled.checked.fleet
    assert tree is not None and blueprint is not None and fleet is not None  # noqa: S101  # it compiled
    with failures(), progress(sys.stderr) as show:
        hosts = hosts_of(blueprint, limit)
        answers = ask_hosts(tree, fleet, blueprint, settings, hosts, show)
    verdict = judge(fleet, blueprint, answers, _of_public(fleet, blueprint, hosts) if public else ())
    _tell(spec, settings, compiled, hosts, verdict, form, write)
    return verdict.exit_code


def _of_public(fleet: Fleet, blueprint: Blueprint, hosts: tuple[str, ...]) -> tuple[Found, ...]:
    """What is wrong with public addresses."""
    from fleetc.online.public import ask_public
    from fleetc.rollout.verify.public import findings, places_of

    places = places_of(fleet, blueprint, hosts)
    return tuple(findings(places, ask_public([place.url for place in places])))


def _tell(
    spec: Path,
    settings: Settings,
    compiled: Compiled,
    hosts: tuple[str, ...],
    verdict: Verdict,
    form: VerifyFormat,
    write: Path | None,
) -> None:
    from fleetc.pipeline import Checked
    from fleetc.rollout.verify.diagnostics import diagnostics_of
    from fleetc.rollout.verify.textfile import textfile

    blueprint = compiled.blueprint
    assert blueprint is not None  # noqa: S101  # it compiled
    if form is VerifyFormat.prometheus:
        text = textfile(blueprint, hosts, verdict, int(time.time()))
        typer.echo(text, nl=False)
        return
    sources = read_sources(spec, settings, Format.text)
    checked = Checked(compiled.checked.document, None, diagnostics_of(verdict.found))
    report(checked, sources, settings, Format(form), always=form is not VerifyFormat.text)
    if form is VerifyFormat.text:
        for line in _summary(hosts, compiled, verdict):
            typer.echo(line)


def _summary(hosts: tuple[str, ...], compiled: Compiled, verdict: Verdict) -> list[str]:
    """What was found, in a few words; nothing is called as reviewed while something is unknown."""
    assert compiled.blueprint is not None  # noqa: S101  # it compiled
    nodes = sum(len(host.services) for host in compiled.blueprint.hosts if host.name in hosts)
    kinds = {kind: len({one for one in verdict.found if one.kind == kind}) for kind in ("drift", "unknown", "warning")}
    looked = f"{count(hosts)} with {nodes} node{'' if nodes == 1 else 's'} asked"
    if not kinds["drift"] and not kinds["unknown"]:
        more = f"; {kinds['warning']} warnings" if kinds["warning"] else ""
        return [f"{looked}: all of it is as reviewed{more}"]
    told = {"drift": "differ from what was reviewed", "unknown": "could not be asked", "warning": "warnings"}
    return [f"{looked}: " + ", ".join(f"{kinds[kind]} {words}" for kind, words in told.items() if kinds[kind])]
