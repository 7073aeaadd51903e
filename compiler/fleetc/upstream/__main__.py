"""Brings this package up to a release of the node: `python -m fleetc.upstream SOURCE --before OLDER --release v0.9.2`.

In: the node's source, as a directory or as the files that register flags; with --before also that of the release
before. Out: on stdout every difference of the flags, entries that the source lacks, and new ones that need a decision.
With --write the rows of flags, and the release in both tables of releases; with --beside what the node and the programs
named there print, in `call_sites.toml`. Exit codes: 0 no difference, 1 differences, 2 wrong usage. A tool for those who
maintain this package, and the one door of `upstream/`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fleetc.upstream import NEWEST_RELEASE, Release, format_release, node_source, parse_release
from fleetc.upstream.call_sites import calls, with_calls
from fleetc.upstream.refresh import compare, registrations, report, rewritten, with_release

TABLE = Path(__file__).with_name("node_flags.toml")
_FLAGS = "cmd/livepeer/"
"""Where the source registers flags."""
_BESIDE = "lpms, ai-worker or ai-runner at the commit of that release; writes what they and the node print"


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m fleetc.upstream", description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+", type=Path, help="the node's source, or its Go files that register flags")
    parser.add_argument("--before", type=Path, help="the source of the release before, to see what is new")
    parser.add_argument("--release", required=True, type=_release, help="release that the source is of")
    parser.add_argument("--write", action="store_true", help="write new and changed rows into the tables")
    parser.add_argument("--beside", nargs=2, action="append", default=[], metavar=("NAME", "FOLDER"), help=_BESIDE)
    parser.add_argument("--table", type=Path, default=TABLE, help="the table, by default this package's own")
    options = parser.parse_args(words)
    if options.write and options.release < NEWEST_RELEASE:
        parser.error(f"the table is that of {format_release(NEWEST_RELEASE)}; an older source can only be compared")
    try:
        table = options.table.read_text(encoding="utf-8")
        whole = _texts(options.sources[0]) if len(options.sources) == 1 and options.sources[0].is_dir() else {}
        before = _texts(options.before) if options.before is not None else {}
        texts = [text for path, text in whole.items() if path.startswith(_FLAGS)]
        beside = {f"{name}/{path}": text for name, top in options.beside for path, text in _texts(Path(top)).items()}
        found = registrations(texts if whole else (path.read_text(encoding="utf-8") for path in options.sources))
    except (OSError, UnicodeDecodeError) as failure:
        parser.error(f"a file cannot be read: {failure}")
    if not found:
        parser.error("these files register no flags")
    differences = compare(found, table, options.release)
    missing = list(node_source.gone(whole)) if whole else []
    fresh = list(node_source.new(whole, before)) if whole and before else []
    sys.stdout.write(report(differences, options.release) + node_source.report(missing, fresh))
    if beside:
        sites = options.table.with_name("call_sites.toml")
        printed = calls({**whole, **beside})
        _write(sites, with_calls(sites.read_text(encoding="utf-8"), options.release, printed))
    if options.write:
        _write(options.table, rewritten(table, found, options.release))
        releases = options.table.with_name("releases.toml")
        if releases.exists():
            _write(releases, with_release(releases.read_text(encoding="utf-8"), options.release))
    return 1 if differences or missing or fresh else 0


def _texts(folder: Path) -> dict[str, str]:
    """The Go, C and Python texts of a source by path, without tests."""
    found = [path for kind in ("*.go", "*.c", "*.py") for path in folder.rglob(kind)]
    paths = sorted(path for path in found if path.is_file() and not path.name.endswith("_test.go"))
    if not paths:
        raise FileNotFoundError(f"{folder} has no Go files")
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _release(text: str) -> Release:
    try:
        return parse_release(text)
    except ValueError as failure:
        raise argparse.ArgumentTypeError(f"{failure}; write it like v0.9.2") from None


if __name__ == "__main__":
    sys.exit(main())
