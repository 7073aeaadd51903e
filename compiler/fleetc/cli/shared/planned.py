"""What `fleetc plan` and `fleetc deploy --plan` share: what a plan is checked against, and why it is refused.

In: a spec, the settings, the file of a plan. Out: values for both commands, or a printed refusal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fleetc.cli.shared.output import plain, wrong_usage
from fleetc.cli.shared.working import read_sources, target_of
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.blueprint.shards import Shard
    from fleetc.rollout.hosts.plans import Around
    from fleetc.rollout.plan.data import SettingMade
    from fleetc.settings import Settings


def around(spec: Path, settings: Settings) -> Around:
    from fleetc.disk import files
    from fleetc.rollout.hosts.plans import Around

    sources = read_sources(spec, settings, Format.text)
    target = target_of(spec, settings)
    return Around(sources, *files.read_shipped(), target, made(settings))


def made(settings: Settings) -> tuple[SettingMade, ...]:
    """The settings that the checkout makes, as plans seal them."""
    from fleetc.rollout.plan.data import SettingMade

    return tuple(SettingMade(*setting) for setting in settings.from_checkout)


def shard_of(text: str | None) -> Shard | None:
    """The part of the fleet that was asked for; exits where it is none."""
    from fleetc.blueprint.shards import read_shard

    if text is None:
        return None
    try:
        return read_shard(text)
    except ValueError as problem:
        wrong_usage(f"--shard {plain(text)}: {problem}")


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Print why a plan is refused, and exit."""
    from fleetc.rollout.plan.data import PlanRefusedError
    from fleetc.text.encoders import visible

    try:
        yield
    except PlanRefusedError as failure:
        for refusal in failure.refusals:
            text = f"error[{refusal.code}]: {visible(refusal.message)}\n --> {visible(str(path))}\n"
            sys.stderr.write(f"{text} = help: {visible(refusal.help)}\n")
        raise typer.Exit(failure.exit_code) from None
