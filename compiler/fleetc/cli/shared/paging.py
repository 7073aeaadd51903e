"""Shows long answers on a terminal page by page, as git does.

In: the text of an answer. Out: the same text on stdout, or in a pager if stdout is a terminal and the text is longer
than its screen. The environment of the user names the pager: FLEETC_PAGER, else PAGER, else less; an empty value means
none. No file decides, because a proposed change could write it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import sys

from fleetc.cli.shared.width import fitted

VARIABLE = "FLEETC_PAGER"
"""Names the pager of fleetc alone; `--no-pager` empties it."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LESS = {"LESS": "FRX", "LESSCHARSET": "utf-8"}
"""How less works unless the user said it: it ends with short texts, shows colours, leaves the text on the screen."""


def tell(text: str) -> None:
    """Show an answer for people: on a terminal its lines fit the width."""
    put(fitted(text, sys.stdout))


def put(text: str) -> None:
    """Show an answer as it is."""
    command = _pager() if sys.stdout.isatty() and _is_long(text) else []
    if not command or not _paged(text, command):
        sys.stdout.write(text)


def _is_long(text: str) -> bool:
    """Whether the text needs more lines than the screen has beside a prompt."""
    columns, lines = shutil.get_terminal_size()
    needed = sum(max(1, -(-len(_COLOUR.sub("", line)) // columns)) for line in text.splitlines())
    return needed >= lines


def _pager() -> list[str]:
    """The command of the pager as words, which no shell gets to see; none where there shall be none."""
    if os.environ.get("TERM") in (None, "", "dumb"):
        return []
    chosen = [os.environ[name] for name in (VARIABLE, "PAGER") if name in os.environ]
    if not chosen:
        return [less] if (less := shutil.which("less")) else []
    try:
        return shlex.split(chosen[0])
    except ValueError as problem:
        _complain(chosen[0], str(problem).lower())
        return []


def _paged(text: str, command: list[str]) -> bool:
    """Run the pager until the user leaves it, early or not; False if it cannot be started."""
    import subprocess

    sys.stdout.flush()
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**_LESS, **os.environ})
    except OSError as problem:
        _complain(command[0], os.strerror(problem.errno or 0))
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pager, as long as it runs
    try:
        process.communicate(text.encode("utf-8", "backslashreplace"))  # takes a pipe that the pager closed as the end
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _complain(pager: str, reason: str) -> None:
    from fleetc.cli.shared.output import message

    message(f"note: the pager {pager} cannot be started: {reason}; {VARIABLE}, or else PAGER, names it")
