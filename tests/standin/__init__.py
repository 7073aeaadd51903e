"""The stand-in for the node that deploy tests run, and the table of flags that it is built with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.node.parsing import FlagRow, node_flags, variable_of

SOURCE = Path(__file__).with_name("livepeer.c")
HEADER = "flags.h"
_TYPES = {"string": "s", "bool": "b", "int": "i", "int64": "i", "float": "f", "float64": "f", "duration": "d"}


def header(flags: Mapping[str, FlagRow] | None = None) -> str:
    """The C header that the stand-in includes: every flag of the node with its variable and its type."""
    table = flags or node_flags()
    rows = [f'    {{"{name}", "{variable_of(name)}", \'{_TYPES[row.type]}\'}},' for name, row in sorted(table.items())]
    return "\n".join([f"#define FLAG_COUNT {len(rows)}", "static const struct flag FLAGS[] = {", *rows, "};", ""])


def gcc_words(directory: Path, binary: Path) -> list[str]:
    """Write the header into a directory, and return the command that builds the stand-in as a static program."""
    (directory / HEADER).write_text(header(), encoding="utf-8")
    return ["gcc", "-static", "-O1", "-Wall", "-Werror", f"-I{directory}", "-o", str(binary), str(SOURCE)]
