"""Reads the units and scripts that a script writes with heredocs, as if they were sources of their own.

In: a script that has been read. Out: processes with their places in it. Other texts go into the library.
"""

from __future__ import annotations

from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process
from fleetc.adopt.read.shell import read_shell
from fleetc.adopt.read.shell_found import ShellText
from fleetc.adopt.read.shell_input import node_commands, warn_unread
from fleetc.adopt.read.shell_places import mover
from fleetc.adopt.read.systemd import is_unit, read_units
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source


def read_written(source: str, script: str, shell: ShellText, library: Library, ledger: Ledger) -> list[Process]:
    """The processes that files start which a script writes, without those that the script runs itself."""
    found = _read(source, script, shell, library, ledger)
    return found


def _read(source: str, script: str, shell: ShellText, library: Library, ledger: Ledger) -> list[Process]:
    written = {path: Source(f"{path} in {source}", word.text) for path, word in shell.files.items()}
    library.written |= written
    units = [unit for path, word in shell.files.items() if is_unit(unit := Source(path, word.text))]
    account = Ledger()
    found = list(read_units(units, library, account))
    named = {unit.name for unit in units} | shell.run
    named |= {path for path, text in written.items() for one in found if one.span.source == text.name}
    for path, word in shell.files.items():
        if path in named:
            continue
        if word.text.startswith("#!") or path.endswith(".sh"):
            found += read_shell(written[path].name, word.text, account, {}, library).processes
        elif any(node_commands(word.text)):
            warn_unread(Span(source, word.span.start, word.span.start + 1), ledger)

    def move(span: Span) -> Span:
        return next((moved for one in moves if (moved := one(span)) != span), span)

    moves = [
        mover(word, name, {source: script}) for path, word in shell.files.items() for name in (path, written[path].name)
    ]
    ledger.take(account, move)
    return [one.moved(move) for one in found]
