"""The stand-in for the node that deploy tests run: how it is built, with which flags, and set while it runs."""

from __future__ import annotations

import shutil
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from tests.node.parsing import FlagRow, node_flags, variable_of

SOURCES = tuple(sorted(Path(__file__).parent.glob("*.c")))
HEADER = "flags.h"
LIBRARIES = ("-lssl", "-lcrypto", "-lm")
_TYPES = {"string": "s", "bool": "b", "int": "i", "int64": "i", "float": "f", "float64": "f", "duration": "d"}


def header(flags: Mapping[str, FlagRow] | None = None) -> str:
    """The C header that the stand-in includes: every flag of the node with its variable and its type."""
    table = flags or node_flags()
    rows = [f'    {{"{name}", "{variable_of(name)}", \'{_TYPES[row.type]}\'}},' for name, row in sorted(table.items())]
    return "\n".join([f"#define FLAG_COUNT {len(rows)}", "static const struct flag FLAGS[] = {", *rows, "};", ""])


def can_build() -> bool:
    """Whether gcc is here, and the libraries that the stand-in speaks TLS with (Debian's libssl-dev)."""
    return shutil.which("gcc") is not None and Path("/usr/include/openssl/ssl.h").exists()


def gcc_words(directory: Path, binary: Path, version: str = "0.9.1-standin") -> list[str]:
    """Write the header into a directory, and return the command that builds the stand-in as a static program.

    `version` is the release that it says it is.
    """
    (directory / HEADER).write_text(header(), encoding="utf-8")
    options = ["-static", "-O1", "-Wall", "-Werror", "-pthread", f"-I{directory}", f'-DSTANDIN_VERSION="{version}"']
    return ["gcc", *options, "-o", str(binary), *map(str, SOURCES), *LIBRARIES]


def runner_words(binary: Path) -> list[str]:
    """The command that builds the stand-in for a live runner as a static program."""
    source = Path(__file__).parent / "runner" / "runner.c"
    return ["gcc", "-static", "-O1", "-Wall", "-Werror", "-o", str(binary), str(source)]


def set_on_node(url: str, values: Mapping[str, str]) -> None:
    """Set something on a node while it runs, as livepeer_cli does. Raises OSError when the node refuses."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    request = urllib.request.Request(url, urllib.parse.urlencode(values).encode(), headers)
    with urllib.request.urlopen(request, timeout=10):
        pass
