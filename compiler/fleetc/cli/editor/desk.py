"""What is open in an editor, what was found in it, and when it is checked again.

In: texts as they change. Out: snapshots, for the publisher. A check runs in its own thread after a pause in typing.
Findings in texts that have changed meanwhile are dropped.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from fleetc.assist import state
from fleetc.assist.page import Page
from fleetc.assist.state import Snapshot
from fleetc.cli.editor import projects
from fleetc.cli.editor.projects import Project
from fleetc.cli.shared.working import quietly
from fleetc.disk.manifest import FilesError
from fleetc.messages.locate import outside
from fleetc.messages.related import codes_by_field

T = TypeVar("T")

PAUSE = 0.15
"""Seconds without a change before a check begins, or as long as the last check took."""
_LONGEST = 2.0

_log = logging.getLogger(__name__)


@dataclass
class Work:
    """A project while files of it are open. `version` counts changes, and `checked` is the last that was checked."""

    project: Project
    snapshot: Snapshot = field(default_factory=Snapshot)
    version: int = 0
    checked: int = -1
    shown: frozenset[Path] = frozenset()
    seconds: float = 0.0
    timer: asyncio.TimerHandle | None = None
    running: asyncio.Task[None] | None = None

    @property
    def rests(self) -> bool:
        """Whether the snapshot is of the texts as they are."""
        return self.checked == self.version


class Desk:
    """Everything that is open. `publish` gets a project whenever it has been checked."""

    def __init__(self, publish: Callable[[Work], None], leave: Callable[[Path], None]) -> None:
        self.texts: dict[Path, str] = {}
        self.pages: dict[Path, Page] = {}
        self.works: dict[Project, Work] = {}
        self.folders: tuple[Path, ...] = ()
        self._projects: dict[Path, Project | None] = {}
        self._publish = publish
        self._leave = leave
        self._thread = ThreadPoolExecutor(1, "check")

    # --------------------------------------------------------------------------------------------- what is open

    def put(self, path: Path, text: str) -> None:
        """A file was opened, or its text changed."""
        text = text.replace("\r\n", "\n")
        self.texts[path] = text
        self.pages[path] = Page(text, self.pages.get(path))
        project = self._projects.get(path)
        if project is None or (path == project.overlay and not projects.may_be_ours(self.pages[path], True)):
            self.sort()
            project = self._projects.get(path)
        if project is not None:
            self.again(project.spec)

    def drop(self, path: Path) -> None:
        """A file was closed: what is on disk counts again."""
        self.texts.pop(path, None)
        self.pages.pop(path, None)
        self.sort()
        self.again()

    def sort(self) -> None:
        """Find the projects with an open file, and forget the others."""
        was = self._projects
        self._projects = {
            path: projects.project_of(path, self.texts, self.folders, was.get(path)) for path in self.texts
        }
        open_now = {project for project in self._projects.values() if project is not None}
        for gone in self.works.keys() - open_now:
            work = self.works.pop(gone)
            if work.timer:
                work.timer.cancel()
            for path in work.shown:
                self._leave(path)
        for project in open_now:
            self.works.setdefault(project, Work(project))

    def again(self, spec: Path | None = None) -> None:
        """Check a spec, and those with its overlays, once nothing changes for a moment; without a spec, everything."""
        for work in [work for work in self.works.values() if spec in (None, work.project.spec)]:
            work.version += 1
            if work.timer:
                work.timer.cancel()
            pause = min(max(PAUSE, work.seconds), _LONGEST)
            work.timer = asyncio.get_running_loop().call_later(pause, self._begin, work)

    def _begin(self, work: Work) -> None:
        if work.running is None:
            work.running = asyncio.get_running_loop().create_task(self._check(work))

    async def _check(self, work: Work) -> None:
        """Check until the texts rest; a result for texts that have changed is not shown."""
        loop = asyncio.get_running_loop()
        try:
            while not work.rests:
                version, texts, begun = work.version, dict(self.texts), loop.time()
                snapshot = await self.think(partial(_checked, work.project, texts, work.snapshot))
                work.seconds = loop.time() - begun
                if version == work.version:
                    work.snapshot, work.checked = snapshot, version
                    self._publish(work)
                    self._thread.submit(_prepare, [page for _, page in self.pages_of(work)])
                elif work.timer is not None and work.timer.when() > loop.time():
                    return  # typing restarts the timer
        except Exception as fault:  # a bug of fleetc: the editor continues without new diagnostics
            _log.error("the check failed: %s", type(fault).__name__, exc_info=fault)
        finally:
            work.running = None

    async def think(self, work: Callable[[], T]) -> T:
        """Run long work in the thread of checks, one after the other."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, _thought, work)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    # -------------------------------------------------------------------------------------------------- questions

    def work_of(self, path: Path) -> Work | None:
        """The project that answers about a file."""
        project = self._projects.get(path)
        return self.works.get(project) if project else None

    def page(self, work: Work, name: str) -> Page | None:
        """The text of a file by its name in messages: as it is in the editor, else as it was checked."""
        path = work.project.path_of(name)
        if path in self.pages:
            return self.pages[path]
        return next((Page(source.text) for source in work.snapshot.sources if source.name == name), None)

    def pages_of(self, work: Work) -> Iterator[tuple[Path, Page]]:
        """Every text of a project with its file, the base first."""
        names = [source.name for source in work.snapshot.sources] or [work.project.spec.name]
        for name in names:
            page = self.page(work, name)
            if page is not None:
                yield work.project.path_of(name), page


def _prepare(pages: Sequence[Page]) -> None:
    """Calculate what takes long once, and the first answers would wait for."""
    codes_by_field()
    for page in pages:
        for block in page.blocks:
            page.marks(block)


def _thought(work: Callable[[], T]) -> T:
    """Run long work without the garbage collector, so that typing never waits for it."""
    gc.collect()  # what answers left: all else that is large is excluded already
    result: T = quietly(work)
    return result


def _checked(project: Project, texts: projects.Open, before: Snapshot) -> Snapshot:
    try:
        read = projects.read(project, texts)
    except FilesError as problem:
        item = outside(problem.code, problem.message, problem.help, problem.path)
        return replace(before, sources=(), located=(item,), repairs=((),), sound=False, read=False, whole=False)
    return state.check(read.sources, read.policies, read.today, before)
