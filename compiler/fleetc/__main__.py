"""The entry point: `fleetc` and `python -m fleetc`.

In: the process arguments. Out: an exit code. Answers `--version` and `-V` before anything heavy is imported, and turns
whatever escapes the commands into one sentence: a traceback is never shown unless FLEETC_DEBUG asks for it.
"""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run fleetc and exit: 0 fine, 1 problems found, 2 wrong usage, 3 the tool itself failed."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from fleetc.version import __version__

        sys.stdout.write(f"fleetc {__version__}\n")
        return
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else it looks through every package there is
    gc.disable()  # what is imported stays to the end; commands switch it on once the core has done its work
    try:
        from fleetc.cli.app import app

        app(prog_name="fleetc")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("fleetc: interrupted\n")
        sys.exit(130)
    except Exception as failure:
        if os.environ.get("FLEETC_DEBUG"):
            raise
        name = type(failure).__name__
        sys.stderr.write(
            f"fleetc: internal error ({name}); set FLEETC_DEBUG=1 to see where, and report it with the spec\n"
        )
        sys.exit(3)


if __name__ == "__main__":
    main()
