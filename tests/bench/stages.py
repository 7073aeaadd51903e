"""Says where the time of a compile goes: by stage, by rule, and by function.

In: a spec and a fresh output directory, in a process of its own. Out: text. Called by `__main__.py`. The stages are
timed in a run without a profiler, which would slow small functions down most; the functions in a second one with it.
"""

from __future__ import annotations

import cProfile
import gc
import io
import pstats
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fleetc import lower, pipeline, rules
from fleetc.disk import files
from fleetc.emit import formats
from fleetc.language.spec import read_fleet
from fleetc.toml.document import read_document

_LIMIT = 1024**3
_FUNCTIONS = 30


class _Laps:
    """Collects the processor time of named parts."""

    def __init__(self) -> None:
        self.rows: list[str] = ["| Stage | Processor time | Peak memory so far |", "|---|---|---|"]

    @contextmanager
    def lap(self, name: str) -> Iterator[None]:
        """Time what is inside."""
        before = time.process_time()
        yield
        spent = time.process_time() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        self.rows.append(f"| {name} | {spent:.3f} s | {peak:.0f} MB |")


def stage_table(spec: Path, out: Path) -> str:
    """A Markdown table of the stages of one compile, and of the rules that take longest."""
    laps = _Laps()
    read = files.read_source(spec, spec.name, _LIMIT)
    templates, playbooks = files.read_templates(), files.read_playbooks()
    gc.disable()  # as the command does
    with laps.lap("source (tomllib and checks)"):
        document, _ = read_document([read])
    assert document is not None
    with laps.lap("model (pydantic and references)"):
        fleet, _ = read_fleet(document)
    assert fleet is not None
    with laps.lap("rules"):
        rules.check(fleet)
    with laps.lap("lowering"):
        plan = lower.lower(fleet)
    with laps.lap("formats (rendering and digests)"):
        tree = formats.emit(plan, templates, playbooks, [read])
    with laps.lap("writing"):
        files.write_tree(tree, out)
    with laps.lap("comparing, nothing to write"):
        files.write_tree(tree, out)
    slowest = []
    for rule in rules.asked(fleet):
        before = time.process_time()
        list(rule.check(fleet))
        slowest.append((time.process_time() - before, rule.code))
    slowest.sort(reverse=True)
    return "\n".join([*laps.rows, "", *(f"rule {code}: {spent:.3f} s" for spent, code in slowest[:8])])


def function_table(spec: Path) -> str:
    """The functions of the pure core that take most time of their own, under the profiler."""
    read = files.read_source(spec, spec.name, _LIMIT)
    templates, playbooks = files.read_templates(), files.read_playbooks()
    profile = cProfile.Profile()
    gc.disable()
    profile.runcall(pipeline.compile_spec, [read], templates, playbooks)
    text = io.StringIO()
    pstats.Stats(profile, stream=text).strip_dirs().sort_stats("tottime").print_stats(_FUNCTIONS)
    return text.getvalue()
