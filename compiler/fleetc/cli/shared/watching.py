"""`fleetc compile --watch`: checks a spec at every save and, if it is sound, compiles it and shows what that changes.

In: a spec. Out: the tree on disk, and after each save the problems, or the review against the tree before. On a
terminal each answer stands alone on the screen; elsewhere one follows the other.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fleetc.cli.shared.output import Failures, about_foreign, coloured, message, print_blocks, wrong_usage
from fleetc.cli.shared.working import (
    STDIN,
    compile_or_exit,
    load_settings,
    quietly,
    read_policies,
    system_day,
    target_of,
)
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.pipeline import Compiled
    from fleetc.settings import Settings

_PAUSE = 0.25
"""Seconds between two looks at the files; what is being written is left alone until two looks see the same."""
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"

Stamp = tuple[tuple[str, object], ...]
"""The state that shows a save: inode, size and time of files, names in directories."""


def watch(spec: Path, output: Path | None, overlay: list[Path] | None) -> None:
    """Compile at every save of the spec, its overlays, the files that it includes, rules or settings, until Ctrl-C."""
    from fleetc.disk.manifest import shown

    if spec == STDIN:
        wrong_usage("--watch looks at files, and - is none; name the spec")
    load_settings(spec, overlay=overlay, output=output)  # what is wrong from the start is no reason to wait
    message(f"watching {shown(str(spec))}; Ctrl-C ends it")
    last: Compiled | None = None
    try:
        while True:
            watched = list(_watched(spec, overlay, output))
            seen = _stamp(watched)
            last = _round(spec, overlay, output, last)
            sys.stdout.flush()
            gc.unfreeze()  # each round ends its own work: nothing of it is needed in the next
            gc.collect()
            _wait(watched, seen)
            if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
                sys.stdout.write(_CLEAR)
                sys.stdout.flush()  # else it would wipe what the next round writes to the other stream
    except KeyboardInterrupt:
        return


def _round(spec: Path, overlay: list[Path] | None, output: Path | None, last: Compiled | None) -> Compiled | None:
    """Check, review and compile once. Problems are printed, and the next save is waited for.

    `last` is the last sound compile, of this round or an earlier one.
    """
    message(f"{datetime.now().astimezone():%H:%M:%S}")
    with suppress(typer.Exit), Failures():
        settings = load_settings(spec, overlay=overlay, output=output)
        today = system_day()
        policies = read_policies(spec, today, Format.text, ("check", "change"))
        last, _ = compile_or_exit(spec, settings, Format.text, policies, today, like=last, keep=True)
        _review_and_write(spec, settings, last, today)
    return last


def _review_and_write(spec: Path, settings: Settings, compiled: Compiled, today: date) -> None:
    from fleetc.cli.shared.comparing import options, run
    from fleetc.disk import files
    from fleetc.emit.tree import MANIFEST

    tree, target = compiled.sound.tree, target_of(spec, settings)
    if (target / MANIFEST).is_file():
        compared = quietly(run, options(None, "", "text", None), spec, compiled, settings, today)
        sys.stdout.write(compared.text(coloured(settings, sys.stdout)))
        sys.stdout.flush()
    done = files.write_tree(tree, target)
    names = files.strangers(tree, target).foreign if done.foreign else ()
    print_blocks(about_foreign(names, target))
    message(f"{target}: {len(done.written)} files written, {len(done.removed)} removed, {done.unchanged} unchanged")


# ------------------------------------------------------------------------------------------------ what was saved


def _wait(watched: list[Path], seen: Stamp) -> None:
    """Wait until a file has changed and settled."""
    last = seen
    while True:
        time.sleep(_PAUSE)
        now = _stamp(watched)
        if now == last and now != seen:
            return
        last = now


def _watched(spec: Path, overlay: list[Path] | None, output: Path | None) -> Iterator[Path]:
    """What a check reads, as far as it can be read now, and the directories where more of it may come."""
    from pydantic import ValidationError

    from fleetc import settings
    from fleetc.disk import files
    from fleetc.policy.source import FOLDER

    base = files.find_spec(spec)
    yield base
    yield from map(Path, settings.CHECKOUT_FILES)
    yield settings.own_configuration()
    yield base.parent / FOLDER
    try:
        current = settings.load(base, overlay=overlay, output=output)
        yield from current.overlay
        source = files.read_source(base, str(base), current.max_spec_bytes)
        for part in files.read_parts(source, base):
            yield base.parent / part.part
            yield (base.parent / part.part).parent
        for pattern in files.included_by(source):
            yield (base.parent / pattern).parent
    except (files.FilesError, ValidationError):
        return


def _stamp(watched: list[Path]) -> Stamp:
    return tuple((str(path), _state(path)) for path in watched)


def _state(path: Path) -> object:
    """The current state; for a directory, the state of each readable file."""
    try:
        status = path.stat()
        if not path.is_dir():
            return status.st_ino, status.st_size, status.st_mtime_ns
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith((".toml", ".star")))
        return tuple((name, _state(path / name)) for name in names)
    except (OSError, ValueError):
        return None
