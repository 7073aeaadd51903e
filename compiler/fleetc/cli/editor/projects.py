"""Which spec a file in an editor belongs to, and its texts: those in the editor, and those on disk of the others.

In: the path of a file and the texts that are open. Out: `Project`, and `Texts` that a check can read. It reads what
`fleetc check` reads in the directory of the spec, and possible overlays there for names. Nothing else: a checkout may
be hostile.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from fleetc import settings
from fleetc.assist.page import Page
from fleetc.cli.shared.working import system_day
from fleetc.disk import files
from fleetc.disk.manifest import FilesError
from fleetc.disk.reading import decode_source
from fleetc.language.fleet import Fleet
from fleetc.language.sharing import CLASSES, DEFAULTS
from fleetc.policy.judging import Policies
from fleetc.policy.source import FOLDER, LIMIT_BYTES, MOST, SUFFIX
from fleetc.settings import CHECKOUT_FILES, Settings
from fleetc.toml.document import REMOVE, Source
from fleetc.toml.including import matches

_MOST_BESIDE = 100

Open = Mapping[Path, str]
"""The texts in the editor, by the paths of their files."""


class Project(NamedTuple):
    """A spec, and the edited overlay unless the settings apply it anyway."""

    spec: Path
    overlay: Path | None = None

    @property
    def directory(self) -> Path:
        """Where `fleetc check` would run."""
        return self.spec.parent

    def path_of(self, name: str) -> Path:
        """The file that messages call by a name."""
        return self.directory / name if name else self.spec


class Texts(NamedTuple):
    """What a check reads: the sources, the rules beside them, the day."""

    sources: list[Source]
    policies: Policies | None
    today: date


def project_of(path: Path, texts: Open, folders: Sequence[Path] = (), was: Project | None = None) -> Project | None:
    """The spec that a file is, that includes it, or that it is an overlay of; None for any other file.

    A spec is sought in the directories above, up to a folder that the editor has opened, or to the top of the checkout.
    A file that `was` ours remains so while half-typed.
    """
    if path.suffix != ".toml" or path.name in CHECKOUT_FILES:
        return None
    page = Page(texts.get(path, ""))
    number = page.value(("spec",))
    if path.name == files.SPEC_NAME or (number and page.text[number.start : number.end].isdigit()):
        return Project(path)
    if was == Project(path) and may_be_ours(page, True):
        return was
    spec = _spec_above(path.parent, folders)
    if spec is None:
        return None
    project = Project(spec)
    part = path.relative_to(spec.parent).as_posix()
    try:
        included = files.included_by(_read(spec, spec.name, texts, _loaded(project).max_spec_bytes))
        overlays = [project.path_of(str(overlay)) for overlay in _loaded(project).overlay]
    except FilesError:
        return project
    if path in overlays or any(matches(pattern, part) for pattern in included):
        return project
    beside = Project(spec, path)
    return beside if path.parent == spec.parent and may_be_ours(page, was == beside) else None


def _spec_above(directory: Path, folders: Sequence[Path]) -> Path | None:
    for here in (directory, *directory.parents):
        if not any(here.is_relative_to(folder) for folder in folders):
            break
        if (here / files.SPEC_NAME).is_file():
            return here / files.SPEC_NAME
    above = files.spec_above(directory)
    if above is None:
        return None
    return Path(os.path.abspath(directory / above / files.SPEC_NAME))  # noqa: PTH100  # resolve() would follow links


def may_be_ours(page: Page, was: bool) -> bool:
    """Whether a text has tables of a spec and no others, or is empty: what else lies beside a spec is no overlay.

    Of one that `was` ours, one such table is enough, and also half a line.
    """
    named = {str(block.path[0]) for block in page.blocks if block.path}
    named |= {str(path[0]) for path in page.marks(page.blocks[0])}
    ours = named & {*Fleet.model_fields, REMOVE, DEFAULTS, CLASSES}
    return (was or named == ours) if ours else not named and (was or not page.text.strip())


def read(project: Project, texts: Open) -> Texts:
    """The texts of a project; for open files, those of the editor. Raises `FilesError`."""
    loaded = _loaded(project)
    limit = loaded.max_spec_bytes
    base = _read(project.spec, project.spec.name, texts, limit)
    read_parts = files.read_parts(base, project.spec, limit)
    parts = {part.part: replace(part, name=_name(part.name, project)) for part in read_parts}
    for path in [path for path in texts.keys() - {project.spec} if path.is_relative_to(project.directory)]:
        part = path.relative_to(project.directory).as_posix()
        new = part not in parts and any(matches(pattern, part) for pattern in files.included_by(base))
        if new or (part in parts and not parts[part].problem):  # what cannot be included is not read from an editor
            parts[part] = replace(_read(path, part, texts, limit), part=part)
    overlays = [*loaded.overlay, *([Path(project.overlay.name)] if project.overlay else [])]
    over = [_read(project.path_of(str(name)), str(name), texts, limit) for name in overlays]
    rules = files.read_policies(project.spec, FOLDER, SUFFIX, MOST, LIMIT_BYTES)
    today = system_day()
    named = tuple(replace(rule, name=_name(rule.name, project)) for rule in rules)
    return Texts(
        [base, *(parts[part] for part in sorted(parts)), *over],
        Policies(named, today.isoformat()) if named else None,
        today,
    )


def closed_overlays(project: Project, texts: Open) -> list[list[Source]]:
    """The sources of a spec with each overlay beside it that no editor has open. Links are not followed."""
    specs = []
    for path in sorted(project.directory.glob("*.toml"))[:_MOST_BESIDE]:
        if path in texts or path.is_symlink():
            continue
        try:
            text = _read(path, path.name, {}, _loaded(project).max_spec_bytes).text
            beside = project_of(path, {**texts, path: text})
            if beside is not None and beside.overlay == path:
                specs.append(read(beside, texts).sources)
        except FilesError:
            continue
    return specs


def _loaded(project: Project) -> Settings:
    """The settings of a check in the directory of a spec. Raises `FilesError`."""
    try:
        return settings.load(project.spec, here=project.directory)
    except ValidationError as failure:
        fault = failure.errors(include_input=False, include_url=False)[0]
        name = ".".join(map(str, fault["loc"]))
        message = f"setting {name}: {fault['msg'].removeprefix('Value error, ')}"
        raise FilesError("settings-unreadable", message, path=CHECKOUT_FILES[0], advice="correct the setting") from None


def _read(path: Path, name: str, texts: Open, limit: int) -> Source:
    if path in texts:
        return decode_source(texts[path].encode("utf-8", "surrogatepass"), name)
    return files.read_source(path, name, limit)


def _name(name: str, project: Project) -> str:
    return name.removeprefix(f"{project.directory}{os.sep}")
