"""Measures the next compile of a process that has compiled already: `python -m tests.bench.kept SPEC TREE OLD NEW`.

In: a spec, the directory of its tree, and a text of one line of it with what replaces that. Out: the seconds of
processor and of wall time of the compile after that edit, with reading and writing, and the peak memory of the process
in bytes. The spec stays as it is, the tree has the edit.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from fleetc.disk import files
from fleetc.pipeline import compile_spec
from fleetc.toml.document import Source

_LIMIT = 1024**3


def main(spec: Path, tree: Path, old: str, new: str) -> None:
    """Compile, edit, compile again, and print what the second time cost."""
    read = files.read_source(spec, spec.name, _LIMIT)
    before, _, after = read.text.rpartition(old)
    edited = Source(spec.name, f"{before}{new}{after}")
    shipped = files.read_shipped()
    gc.disable()  # as the command does
    first = compile_spec([read], *shipped, keep=True)
    assert first.tree is not None
    files.write_tree(first.tree, tree)
    start, wall = time.process_time(), time.perf_counter()
    files.read_source(spec, spec.name, _LIMIT)
    second = compile_spec([edited], *shipped, like=first, keep=True)
    assert second.tree is not None and second.tree != first.tree
    files.write_tree(second.tree, tree)
    print(time.process_time() - start, time.perf_counter() - wall, getrusage(RUSAGE_SELF).ru_maxrss * 1024)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:5])
