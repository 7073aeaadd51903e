"""The options that commands share.

In: nothing. Out: annotated types for typer.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.output import Failures, wrong_usage
from fleetc.messages.forms import Format, ReportFormat, RolloutFormat

HERE = Path()


def upwards(spec: Path | None) -> Path | None:
    """The named spec, else the working directory, or the nearest above it with a fleet.toml.

    Exits if that directory has its own settings: they only apply to commands that run there.
    """
    from fleetc.disk.files import spec_above

    if spec != HERE or (above := spec_above(Path.cwd())) in (None, HERE):
        return spec
    from fleetc.settings import checkout_settings  # only here: Tab needs none

    with Failures():
        own_settings = checkout_settings(Path.cwd() / above)
    if own_settings:
        wrong_usage(
            f"the spec is in {above}, whose {own_settings[0].file} has settings: run fleetc there, or name the spec"
        )
    return above


SpecArgument = Annotated[
    Path,
    typer.Argument(
        metavar="SPEC",
        help="Spec file, or a directory with a fleet.toml. Default: the working directory, or the nearest above it in "
        "the same git checkout.",
        show_default=False,
        callback=upwards,
    ),
]


OverlayOption = Annotated[
    list[Path] | None,
    typer.Option("--overlay", metavar="FILE", help="Overlay file to apply to the spec; repeatable."),
]

_TREE = "Directory of the tree; by default rendered/ beside the spec."
OutputOption = Annotated[Path | None, typer.Option("--output", "-o", metavar="DIR", help=_TREE)]
TreeOption = Annotated[Path | None, typer.Option("--output", metavar="DIR", help=_TREE)]
"""The same for commands that write something else: -o is the file for that."""

FormatOption = Annotated[Format, typer.Option("--format", help="Output format of diagnostics.")]
ReportOption = Annotated[ReportFormat, typer.Option("--format", help="Output format.")]
RolloutFormatOption = Annotated[
    RolloutFormat,
    typer.Option("--format", help="Form of the report; json is events, one a line; sarif and github need --check."),
]


def _hosts(name: str, help: str, hidden: bool = False) -> Any:
    """An option that takes names of hosts."""
    return typer.Option(name, metavar="HOST", help=help, hidden=hidden, autocompletion=completing.hosts)


_CHOSEN = 'Only this host, or "eu-*", region=, class= or node=; --without leaves such hosts out. Repeatable.'
LimitOption = Annotated[list[str] | None, _hosts("--limit", _CHOSEN)]
WithoutOption = Annotated[list[str] | None, _hosts("--without", "All but these hosts; repeatable.", hidden=True)]
ClearOption = Annotated[
    list[str] | None, _hosts("--clear", "Try this host in quarantine again; repeatable.", hidden=True)
]
RenamedOption = Annotated[
    list[str] | None,
    _hosts("--renamed", "This host, or its fleet, had another name in the last rollout; repeatable.", hidden=True),
]
AssumeDeadOption = Annotated[
    list[str] | None,
    _hosts("--assume-dead", "State that this host is gone for good and runs nothing; repeatable.", hidden=True),
]
TakeOverOption = Annotated[
    list[str] | None,
    typer.Option(
        "--take-over", metavar="ID", help="State that the rollout with this id is dead; repeatable.", hidden=True
    ),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Go on with the rollout that broke off: the same tree, the same hosts.")
]
SkipOption = Annotated[
    list[str] | None,
    typer.Option(
        "--skip",
        metavar="CODE=REASON",
        help="Go on in spite of this finding of a host; repeatable.",
        autocompletion=completing.codes_of_hosts,
    ),
]
ShardOption = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="K/N",
        help="Only the K-th of N parts of the fleet; other machines roll out the others at the same time.",
    ),
]
JournalOption = Annotated[
    Path | None,
    typer.Option("--journal", metavar="DIR", help="Directory with the journals of rollouts.", show_default=False),
]


def _day(text: str) -> date:
    """A day as people write it on a command line."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no day: write it like 2027-01-31") from None


def _or_now(given: date | None) -> date:
    """The day that was given, else that of this machine's clock: nothing below `cli/` reads it."""
    return given or datetime.now().astimezone().date()


TodayOption = Annotated[
    date | None,
    typer.Option(
        "--today",
        metavar="DATE",
        help="Today for silences and rules in policy/, such as 2027-01-31; by default the day of this machine.",
        show_default=False,
        parser=_day,
        callback=_or_now,
    ),
]
