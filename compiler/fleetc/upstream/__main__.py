"""Brings `node_flags.toml` up to a release: `python -m fleetc.upstream FLAGS.go STARTER.go MAIN.go --release v0.9.2`.

In: files of the node's source. Out: the differences on stdout; with --write the table's rows too. Exit codes: 0 nothing
differs, 1 something does, 2 wrong usage. A tool for those who maintain this package, and the one door of `upstream/`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fleetc.upstream import NEWEST_RELEASE, Release, format_release, parse_release
from fleetc.upstream.refresh import compare, registrations, report, rewritten

TABLE = Path(__file__).with_name("node_flags.toml")


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m fleetc.upstream", description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+", type=Path, help="Go files that register flags and set their defaults")
    parser.add_argument("--release", required=True, type=_release, help="release that the files are of")
    parser.add_argument("--write", action="store_true", help="write new and changed rows into the table")
    parser.add_argument("--table", type=Path, default=TABLE, help="the table, by default this package's own")
    options = parser.parse_args(words)
    if options.write and options.release < NEWEST_RELEASE:
        parser.error(f"the table is that of {format_release(NEWEST_RELEASE)}; an older source can only be compared")
    try:
        table = options.table.read_text(encoding="utf-8")
        found = registrations(path.read_text(encoding="utf-8") for path in options.sources)
    except (OSError, UnicodeDecodeError) as failure:
        parser.error(f"a file cannot be read: {failure}")
    if not found:
        parser.error("these files register no flags")
    differences = compare(found, table, options.release)
    sys.stdout.write(report(differences, options.release))
    if options.write:
        options.table.write_text(rewritten(table, found, options.release), encoding="utf-8", newline="\n")
    return 1 if differences else 0


def _release(text: str) -> Release:
    try:
        return parse_release(text)
    except ValueError as failure:
        raise argparse.ArgumentTypeError(f"{failure}; write it like v0.9.2") from None


if __name__ == "__main__":
    sys.exit(main())
