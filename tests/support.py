"""What many tests share: compiling a spec text in memory, and running the command as a user does."""

from __future__ import annotations

import gc
import inspect
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, contextmanager, suppress
from functools import cache, wraps
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, AnyStr
from unittest.mock import patch

from fleetc.__main__ import main
from fleetc.disk import files
from fleetc.messages.locate import locate
from fleetc.messages.text import as_text
from fleetc.pipeline import Checked, Compiled, check_spec, compile_spec
from fleetc.toml.document import Source

ROOT = Path(__file__).parent.parent
INVENTORIES = ROOT / "inventories"
EXAMPLES = tuple(sorted(path.parent.name for path in INVENTORIES.glob("*/fleet.toml")))


def few(count: int) -> int:
    """How many of so many seeded cases are tried: all where laws are explored (make test-all), else an eighth."""
    return count if exploring() else count // 8


def exploring() -> bool:
    """Whether the profile of hypothesis is the one that tries everything."""
    from hypothesis import settings  # programs that tests start need not load it

    return settings().max_examples > 100


Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """In the place of `pytest.mark.parametrize`: many small cases as one test, which says in which of them it fails.

    A test of its own for each would take longer than what it looks at.
    """

    parts = (names,) if isinstance(names, str) else names
    values = [dict(zip(parts, (case,) if isinstance(names, str) else case, strict=True)) for case in cases]
    assert values

    def of_all(test: Test) -> Test:
        known = inspect.signature(test)

        @wraps(test)
        def run(**fixtures: object) -> None:
            for case in values:
                try:
                    test(**case, **fixtures)
                except BaseException as failure:
                    failure.add_note(f"in the case {case}"[:2000])
                    raise

        kept = [parameter for name, parameter in known.parameters.items() if name not in parts]
        vars(run)["__signature__"] = known.replace(parameters=kept)
        return run

    return of_all


shipped = files.read_shipped


def sources_of(*paths: Path) -> list[Source]:
    """Spec files as sources, named by their file names."""
    return [files.read_source(path, path.name) for path in paths]


def example_text(name: str) -> str:
    """The spec of an example fleet as text to edit; where it has classes or counters, the same spec written out."""
    written_out = ROOT / "tests" / "data" / "written_out" / f"{name}.toml"
    return (written_out if written_out.is_file() else INVENTORIES / name / "fleet.toml").read_text(encoding="utf-8")


def example_sources(name: str, *overlays: str) -> list[Source]:
    """The spec of an example fleet, and overlays beside it by file name."""
    return sources_of(*(INVENTORIES / name / file for file in ("fleet.toml", *overlays)))


@cache
def compiled_example(name: str, *overlays: str) -> Compiled:
    """An example fleet, compiled once for each process."""
    return compile_spec(example_sources(name, *overlays), *shipped())


def compile_text(text: str, name: str = "fleet.toml") -> Compiled:
    """Compile one spec text in memory."""
    return compile_spec([Source(name, text)], *shipped())


def files_of(text: str) -> dict[str, str]:
    """The files of one spec text by their paths, compiled in memory. Fails where it has errors."""
    compiled = compile_text(text)
    assert compiled.tree is not None, printed(compiled.checked, [Source("fleet.toml", text)])
    return {artifact.path: artifact.content.decode() for artifact in compiled.tree.artifacts}


def printed(checked: Checked, sources: list[Source]) -> str:
    """All diagnostics of a check as a terminal shows them, without colour."""
    return as_text(locate(checked.diagnostics, sources, checked.document))


def check_text(text: str) -> str:
    """What `fleetc check` prints for one spec text."""
    sources = [Source("fleet.toml", text)]
    return printed(check_spec(sources), sources)


def fleetc(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a process would, within this one: starting Python takes longer than most commands.

    The environment is the test's own, plus `environment`.
    """
    words = [str(argument) for argument in arguments]
    streams = {name: TextIOWrapper(BytesIO()) for name in ("stdin", "stdout", "stderr")}
    own = {name: getattr(sys, name) for name in (*streams, "argv")}
    code: object = 0
    try:
        with chdir(cwd or ROOT), patch.dict(os.environ, environment):
            vars(sys).update(streams, argv=["fleetc", *words])
            main()
    except SystemExit as end:
        code = end.code
    finally:
        vars(sys).update(own)
        gc.enable()  # the command switches it off for a life that ends soon
    return subprocess.CompletedProcess(
        words,
        code if isinstance(code, int) else int(code is not None),
        _said(streams["stdout"]),
        _said(streams["stderr"]),
    )


def _said(stream: TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def fleetc_process(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a fresh process, where that is what a test is about."""
    return subprocess.run(
        [sys.executable, "-I", "-m", "fleetc", *map(str, arguments)],
        cwd=cwd or ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@contextmanager
def killed_on_error(process: subprocess.Popen[AnyStr]) -> Iterator[subprocess.Popen[AnyStr]]:
    """A process that does not outlive its block when something goes wrong there, such as the end of a timeout.

    With a session of its own it is killed with all of its group. `with Popen(...)` would wait for it without a limit.
    """
    leads = os.getsid(process.pid) == process.pid
    try:
        yield process
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if leads else process.kill()
        process.wait()
        raise
