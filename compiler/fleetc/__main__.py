"""The entry point: `fleetc` and `python -m fleetc`.

In: the process arguments. Out: an exit code. Answers `--version` and `-V` before anything heavy is imported, and turns
whatever escapes the commands into one sentence: a traceback is never shown unless FLEETC_DEBUG asks for it.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import Any, TextIO


class UnwrittenError(Exception):
    """Standard output did not take an answer."""

    def __init__(self, problem: OSError) -> None:
        super().__init__(problem)
        self.problem = problem


class UnreadError(Exception):
    """Nobody reads standard output any more."""


class _Output(io.FileIO):
    """Standard output, whose failures nobody takes for those of another file."""

    def write(self, data: Any) -> int:
        """Write as a file does. Raises UnwrittenError, and UnreadError where nobody reads on."""
        try:
            return super().write(data)
        except BrokenPipeError:
            raise UnreadError from None  # click would take the other one for a problem, and end with 1
        except OSError as problem:
            raise UnwrittenError(problem) from problem


PIPE_CLOSED = 141
"""The exit code where nobody reads on, as of a program that SIGPIPE ends: 1 would say that problems were found."""


def main() -> None:
    """Run fleetc and exit: 0 fine, 1 problems found, 2 wrong usage, 3 the tool itself failed."""
    _open_streams()
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()
    except (BrokenPipeError, UnreadError):
        _drop(sys.stdout)
        sys.exit(PIPE_CLOSED)
    except KeyboardInterrupt:
        _tell("fleetc: interrupted\n")
        sys.exit(130)
    except Exception as failure:
        if isinstance(failure, UnwrittenError):
            _drop(sys.stdout)
        if os.environ.get("FLEETC_DEBUG"):
            raise
        _tell(_of_failure(failure))
        sys.exit(3)


def _open_streams() -> None:
    """Everything is UTF-8. If the shell closed standard output it takes nothing; closed standard error takes all."""
    if sys.stdout is None or sys.stdout is sys.__stdout__:
        raw = _Output(os.open(os.devnull, os.O_RDONLY) if sys.stdout is None else 1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), line_buffering=raw.isatty())
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _run() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        from fleetc.version import __version__

        sys.stdout.write(f"fleetc {__version__}\n")
        return
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else it looks through every package there is
    gc.disable()  # what is imported stays to the end; commands switch it on once the core has done its work
    from fleetc.cli.app import app

    app(prog_name="fleetc")


def _of_failure(failure: Exception) -> str:
    """What to say about what escaped the commands."""
    if isinstance(failure, UnwrittenError):
        from fleetc.disk.manifest import failure as message

        unwritten = message(failure.problem, "standard output", "write")
        return f"error[{unwritten.code}]: {unwritten.message}\n = help: {unwritten.help}\n"
    name = type(failure).__name__
    return f"fleetc: internal error ({name}); set FLEETC_DEBUG=1 to see where, and report it with the spec\n"


def _tell(text: str) -> None:
    """Write on standard error, if it can be written."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
