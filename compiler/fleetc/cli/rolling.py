"""What `fleetc deploy` and `fleetc rollback` share: the journal, what goes wrong before hosts are touched, the report.

In: a spec, the settings, an outcome. Out: an open journal; text on stdout; an exit code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fleetc.cli.output import files_failure, message, plain
from fleetc.messages.forms import Format, RolloutFormat

if TYPE_CHECKING:
    from fleetc.rollout.hosts.deploy import Outcome
    from fleetc.rollout.hosts.journal import Journal
    from fleetc.settings import Settings


@contextmanager
def failures() -> Iterator[None]:
    """Print why a rollout cannot begin, and exit."""
    from fleetc.disk.files import FilesError
    from fleetc.rollout.hosts.secrets import DeployError

    try:
        yield
    except FilesError as failure:
        files_failure(failure, Format.text)
    except DeployError as failure:
        message(f"error: {failure}")
        raise typer.Exit(failure.exit_code) from None


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
        if journal.dropped:
            message(f"note: the last line of {plain(str(journal.path))} was torn, and is dropped")
        if journal.history.broken_off:
            run = journal.history.broken_off
            message(f"note: the {run.kind} of {plain(run.who)} at {plain(run.begun)} broke off; hosts say what it left")
        if form is RolloutFormat.json:
            from fleetc.rollout.reports.events import entry_event

            journal.heard = lambda entry: typer.echo(entry_event(entry), nl=False)
        yield journal


def tell(outcome: Outcome, form: RolloutFormat) -> None:
    """Print what became of each host, and exit unless all run what they shall."""
    from fleetc.rollout.reports import written

    typer.echo(written(form, outcome), nl=False)
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)
