"""`fleetc verify`: compares the running fleet with the reviewed one.

In: a spec. Out: findings at lines of the spec, and an exit code: 1 on drift, 4 if a part could not be checked.
"""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, NoReturn

import typer

from fleetc.cli.shared.options import HERE, LimitOption, OverlayOption, SpecArgument, TreeOption, WithoutOption
from fleetc.cli.shared.output import coloured, message, wrong_usage
from fleetc.cli.shared.selecting import chosen
from fleetc.cli.shared.working import compile_reviewed, load_settings
from fleetc.messages.forms import Format, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fleetc.blueprint.blueprint import Blueprint
    from fleetc.language.fleet import Fleet
    from fleetc.pipeline import Compiled
    from fleetc.rollout.hosts.events import Event
    from fleetc.rollout.verify.data import Back, Finding
    from fleetc.rollout.verify.judge import Verdict
    from fleetc.rollout.verify.report import Report
    from fleetc.settings import Settings

_SHORTEST = 5
_TIME = "%Y-%m-%dT%H:%M:%SZ"


class VerifyFormat(StrEnum):
    """How findings are printed; prometheus is a file for the textfile collector, html a page for a browser."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"
    prometheus = "prometheus"
    html = "html"


class _Request(NamedTuple):
    """What a user asks for; `public`: also check public addresses."""

    spec: Path
    settings: Settings
    compiled: Compiled
    limit: tuple[str, ...]
    public: bool
    form: VerifyFormat
    write: Path | None


class _Look(NamedTuple):
    """What one look at the fleet showed; `hosts` were asked, at `seconds` of Unix time."""

    hosts: tuple[str, ...]
    verdict: Verdict
    report: Report
    seconds: int


def verify(
    spec: SpecArgument = HERE,
    write: Annotated[
        Path | None, typer.Option("-o", "--write", metavar="FILE", help="File to write the report to.")
    ] = None,
    output: TreeOption = None,
    overlay: OverlayOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    form: Annotated[VerifyFormat, typer.Option("--format", help="Output format.")] = VerifyFormat.text,
    public: Annotated[bool, typer.Option("--public/--no-public", help="Ask public addresses from here too.")] = True,
    watch: Annotated[
        int | None,
        typer.Option("--watch", metavar="SECONDS", help="Repeat every N seconds; print changes."),
    ] = None,
) -> None:
    """Compare what runs with what was reviewed, and change nothing.

    Hosts report files, processes and settings; nodes, asked on their hosts, report their values. fleetc checks public
    addresses from here, like a buyer. What cannot be asked is never reported as fine.

    Exit codes: 0 as reviewed, 1 drift, 4 a part could not be checked.
    """
    _refuse_wrong_usage(form, write, watch)
    _need_file(write)
    settings = load_settings(spec, overlay=overlay, output=output)
    compiled = compile_reviewed(spec, settings)
    request = _Request(spec, settings, compiled, chosen(compiled, limit, without), public, form, write)
    if watch is not None:
        _watch(request, watch)
    look = _look(request)
    _write(request, look)
    _tell(request, look)
    raise typer.Exit(look.verdict.exit_code)


def _refuse_wrong_usage(form: VerifyFormat, write: Path | None, watch: int | None) -> None:
    """Exit where the options cannot be meant together."""
    problem = ""
    if watch is not None and watch < _SHORTEST:
        problem = f"--watch takes at least {_SHORTEST} seconds"
    elif watch is not None and write is None and form is not VerifyFormat.text:
        problem = f"with --watch, the {form} report is written again after each look; name its file with -o"
    elif write is None and form is VerifyFormat.html and sys.stdout.isatty():
        problem = "the page is for a browser; name its file with -o"
    if problem:
        wrong_usage(problem)


def _need_file(write: Path | None) -> None:
    """Refuse a file that the report could not be written to, before asking any host. Raises FilesError."""
    from fleetc.disk.whole import need_regular

    if write is not None:
        need_regular(write, "report-not-a-file", "name a file to write; without -o, the report is printed")


def _watch(request: _Request, seconds: int) -> NoReturn:
    """Repeat the check; print the first report whole, then only changes. Ends by an interrupt."""
    before: _Look | None = None
    try:
        while True:
            look = _look(request, shows=before is None)
            _write(request, look)
            if before is None:
                _tell(request, look)
            else:
                _tell_changes(request, before, look)
            sys.stdout.flush()
            before = look
            time.sleep(seconds)
    except KeyboardInterrupt:
        if before is None:
            raise
        raise typer.Exit(before.verdict.exit_code) from None


def _look(request: _Request, shows: bool = True) -> _Look:
    """One look at the fleet; what Ansible does meanwhile is shown on stderr if it `shows`."""
    from fleetc.blueprint.out import running
    from fleetc.rollout.hosts.progress import progress
    from fleetc.rollout.hosts.rolling import hosts_of
    from fleetc.rollout.hosts.verify import ask_hosts
    from fleetc.rollout.verify.judge import judge
    from fleetc.rollout.verify.report import report_of

    compiled = request.compiled
    _, fleet, whole, tree = compiled.sound
    blueprint = running(whole)
    shown = progress(sys.stderr) if shows else nullcontext(_ignore)
    with shown as show:
        hosts = hosts_of(blueprint, request.limit)
        answers = ask_hosts(tree, fleet, blueprint, request.settings, hosts, show)
    public = _of_public(fleet, blueprint, hosts) if request.public else ()
    verdict = judge(fleet, blueprint, answers, public, _rolled_back(request))
    now = int(time.time())
    when = time.strftime(_TIME, time.gmtime(now))
    return _Look(hosts, verdict, report_of(compiled, hosts, verdict, when), now)


def _rolled_back(request: _Request) -> Mapping[str, Back]:
    """The hosts whose last rollout, by this machine's journal, was rolled back."""
    from fleetc.disk import files
    from fleetc.rollout.hosts.journal import to_read
    from fleetc.rollout.hosts.kept import rolled_back
    from fleetc.settings import journals

    try:
        directory = journals(request.settings, files.find_spec(request.spec))
        return rolled_back(to_read(directory, request.compiled.sound.blueprint.fleet).history)
    except files.FilesError as failure:
        message(f"note: no rollback is known: {failure.message}")
        return {}


def _ignore(_event: Event) -> None:
    """Ignores an event of Ansible."""


def _of_public(fleet: Fleet, blueprint: Blueprint, hosts: tuple[str, ...]) -> tuple[Finding, ...]:
    """What is wrong with public addresses."""
    from fleetc.online.public import ask_public
    from fleetc.rollout.verify.public import findings, places_of

    places = places_of(fleet, blueprint, hosts)
    return tuple(findings(places, ask_public([place.url for place in places])))


def _tell(request: _Request, look: _Look) -> None:
    """Print a whole look; only its summary where the report goes to a file."""
    from fleetc.rollout.verify.report import seen_lines, summary

    if request.form is not VerifyFormat.text and request.write is None:
        sys.stdout.write(_text(request, look))
        return
    if look.report.findings and request.write is None:
        sys.stderr.write(_text(request, look, coloured(request.settings, sys.stderr)))
        sys.stderr.flush()
    typer.echo("\n".join([*(seen_lines(look.report) if request.write is None else ()), summary(look.report)]))


def _write(request: _Request, look: _Look) -> None:
    """Write the whole look to the file that was asked for, if any."""
    from fleetc.disk.whole import write_whole
    from fleetc.rollout.verify.report import seen_lines, summary

    if request.write is None:
        return
    text = _text(request, look)
    if request.form is VerifyFormat.text:
        text += "".join(f"{line}\n" for line in ("", *seen_lines(look.report), summary(look.report)))
    write_whole(request.write, text.encode("utf-8", "backslashreplace"))


def _text(request: _Request, look: _Look, colour: bool = False) -> str:
    """A whole look in the form that was asked for."""
    compiled, report = request.compiled, look.report
    if request.form is VerifyFormat.prometheus:
        from fleetc.blueprint.out import running
        from fleetc.rollout.verify.textfile import textfile

        return textfile(running(compiled.sound.blueprint), look.hosts, look.verdict, look.seconds)
    if request.form is VerifyFormat.html:
        from fleetc.disk import files
        from fleetc.rollout.verify.html import as_html

        return as_html(report, files.read_shipped().templates)
    from fleetc.rollout.verify.report import as_data

    checked, more = compiled.checked, {"verify": as_data(report)}
    return written(Format(request.form), report.located, checked.sources, checked.document, colour, more)


def _tell_changes(request: _Request, before: _Look, look: _Look) -> None:
    """Print what was found since the look before and what is gone, with the time; nothing where all is as it was."""
    from fleetc.rollout.verify.watching import changes

    for line in changes(before.report, look.report, coloured(request.settings, sys.stdout)):
        sys.stdout.write(line + "\n")
