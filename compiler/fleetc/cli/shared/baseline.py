"""Finds what to compare a spec with: a directory that fleetc wrote, another spec, or a git revision.

In: the argument of `--against`, the spec and its overlays. Out: a `Side`. A door like `disk/files.py`, which it reads
trees and specs with; revisions come through `disk/git.py`. Called by `cli/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fleetc import lower
from fleetc.disk import files, git
from fleetc.disk.checkout import NoRepositoryError, need_plain_directories
from fleetc.disk.git import Revision
from fleetc.disk.manifest import FilesError, manifest_artifact, parse_manifest, shown
from fleetc.disk.reading import decode_source
from fleetc.emit import formats
from fleetc.emit.source_copy import copies
from fleetc.emit.tree import MANIFEST, SPEC_FOLDER, Artifact, tree_of
from fleetc.language.spec import read_fleet, read_spec
from fleetc.messages.locate import locate
from fleetc.pipeline import Checked, Compiled, compile_spec
from fleetc.places.diagnostic import has_errors
from fleetc.policy.examples import EXAMPLES
from fleetc.policy.judging import Policies
from fleetc.policy.source import FOLDER, LIMIT_BYTES, MOST, SUFFIX
from fleetc.review.sides import Side, of_compiled, of_recorded
from fleetc.settings import CHECKOUT_FILES, Settings, settings_then
from fleetc.toml.document import Source


def baseline(
    against: str | None,
    spec: Path,
    settings: Settings,
    rolled_out: bool = False,
    like: Compiled | None = None,
) -> Side:
    """What to compare with: an existing tree or spec, or else a revision; by default the tree of the spec.

    A revision is compiled with the overlays that the files of the checkout named then, as they were then: naming others
    is a change too. With `rolled_out`, the tree that was committed with that spec is used: another fleetc compiles the
    same spec to digests that no host was given. If a revision fails today's checks, as much as possible of it is used,
    with a note. Another spec is used as is. `like` is as for `compile_spec`. Raises `FilesError`: baseline-unknown,
    baseline-ambiguous, baseline-unsound if a spec does not compile, and those of trees, specs and git.
    """
    base, limit_bytes = files.find_spec(spec), settings.max_spec_bytes
    if against is None:
        recorded = settings.tree_of(base)
        return of_recorded(str(recorded), files.read_tree(recorded))
    path = Path(against)
    kind = kind_of(path) if against else ""  # pathlib reads an empty name as the current directory
    if kind in ("tree", "spec"):
        _need_no_revision(against, kind, base)
    if kind == "tree":
        return of_recorded(against, files.read_tree(path))
    if kind == "spec":
        other = files.find_spec(path)
        texts = files.read_policies(other, FOLDER, SUFFIX, MOST, LIMIT_BYTES)
        base_of_it = files.read_source(other, str(other), limit_bytes)
        sources = [base_of_it, *files.read_parts(base_of_it, other, limit_bytes)]
        compiled = _compiled(against, sources, like)
        examples = files.read_policy_examples(other.parent / FOLDER / EXAMPLES, LIMIT_BYTES) if texts else {}
        return replace(compiled, policies=Policies(tuple(texts), examples=examples))
    revision = _revision(against, kind, base, (*settings.overlay, settings.tree_of(base)))
    then, notes = _settings_at(revision, settings)
    recorded = then.tree_of(base)
    need_plain_directories(revision.checkout, (*then.overlay, recorded))
    sources, missing = _sources_at(revision, base, then.overlay, limit_bytes, strict=rolled_out)
    notes += missing
    if rolled_out:
        side = tree_at(revision, recorded)
        if side is not None and _copies(side) == dict(
            zip(copies(sources), (source.text for source in sources), strict=True)
        ):
            return _noted(side, notes)
    try:
        side = _compiled(against, sources, like)
    except FilesError as unsound:
        partial = unchecked(against, sources, unsound) or _without_spec(revision, recorded, unsound)
        if partial is None and rolled_out:
            raise
        side = partial or _of_sources(against, sources, unsound)
    return replace(_noted(side, notes), policies=_policies_at(revision, base))


def comparable(old: Side, new: Side) -> Side:
    """The part of the new side that can be compared: only its sources if the old side has nothing else."""
    if not all(path.startswith(SPEC_FOLDER) for path in old.files):
        return new
    texts = {path: content for path, content in new.files.items() if path.startswith(SPEC_FOLDER)}
    return replace(new, files=texts)


# --- revisions ------------------------------------------------------------------------------------


def _need_no_revision(against: str, kind: str, base: Path) -> None:
    """Raise `FilesError` baseline-ambiguous if an existing path may also name a revision: a review must not use the
    wrong one."""
    if against.startswith(("/", ".")):
        return
    advice = f"write {shown(f'./{against}')} for the path, or the commit id for the revision"
    try:
        if git.find_revision(against, base) is None:
            return
        message = f"{shown(against)} is both a {kind} here and a git revision"
    except NoRepositoryError:
        return
    except FilesError as unknown:
        message = f"{shown(against)} is a {kind} here, and may also be a git revision: {unknown.message}"
        advice = f"write {shown(f'./{against}')} for the path; for the revision, {unknown.help}"
    raise FilesError("baseline-ambiguous", message, path=against, advice=advice)


def _revision(against: str, kind: str, base: Path, beside: Sequence[Path]) -> Revision:
    """The revision of this name. Raises `FilesError` baseline-unknown."""
    revision = None
    if git.looks_like_revision(against):
        try:
            revision = git.find_revision(against, base, beside)
        except NoRepositoryError:
            if kind == "":
                raise
    if revision is None:
        message = f"{shown(against) or 'an empty name'} is not a tree, a spec or a git revision"
        if kind == "other":
            message = f"the directory {shown(against)} has no {MANIFEST} and no {files.SPEC_NAME}, and git has "
            message += "no revision of this name"
        advice = "name a directory that fleetc wrote, a .toml file or its directory, or a branch, tag or commit"
        raise FilesError("baseline-unknown", message, path=against, advice=advice)
    return revision


def _settings_at(revision: Revision, settings: Settings) -> tuple[Settings, list[str]]:
    """The settings as the checkout had them then, and a note for each that is different now."""

    def read(file: str) -> bytes | None:
        try:
            return git.read_at(revision, Path(file))
        except FilesError:  # there was a directory, or a link to the outside
            return None

    if not git.belongs(revision, Path.cwd() / CHECKOUT_FILES[0]):
        return settings, []
    then = settings.with_checkout(settings_then(read))
    now = {(setting.name, setting.value) for setting in settings.from_checkout}
    named = {setting.name for setting in then.from_checkout}
    notes = [f"at {revision.name} {s}" for s in then.from_checkout if (s.name, s.value) not in now]
    notes += [f"at {revision.name} no file sets {s.name}" for s in settings.from_checkout if s.name not in named]
    return then, notes


def _sources_at(
    revision: Revision, base: Path, overlays: Sequence[Path], limit_bytes: int, strict: bool
) -> tuple[list[Source], list[str]]:
    """The spec and its overlays as they were, and a note for each overlay that was not there. Raises `FilesError`.

    A missing spec may be a copy to try a change, so unless `strict`, it is compared with the spec of the usual name.
    """
    sources, notes = [], []
    usual = base.with_name(files.SPEC_NAME)
    if not strict and git.read_at(revision, base, limit_bytes) is None:
        if git.read_at(revision, usual, limit_bytes) is None:
            raise git.missing_at(revision, base)
        notes.append(f"{revision.name} has no {base}, so {usual} there is compared with")
        base = usual
    for place in (base, *overlays):
        if place is not base and not git.belongs(revision, place):
            raise git.missing_at(revision, place)
        content = git.read_at(revision, place, limit_bytes)
        if content is None and place is base:
            raise git.missing_at(revision, place)
        if content is None:
            notes.append(f"{revision.name} has no {place}, so that overlay is not applied there")
            continue
        # As git spells it from here. The slash keeps the revision out of the file's own name, which trees hold.
        name = f"{revision.name}:{place}" if place.is_absolute() else f"{revision.name}:./{place}"
        sources.append(decode_source(content, name))
        if place is base and files.included_by(sources[0]):
            sources += files.parts_then(
                sources[0], git.files_below(revision, base.parent), name.removesuffix(base.name)
            )
    return sources, notes


def _policies_at(revision: Revision, base: Path) -> Policies:
    """The rules beside the spec as they were, with their examples."""
    folder = base.parent / FOLDER
    need_plain_directories(revision.checkout, (folder,))
    rules, examples = [], {}
    for name, content in sorted(git.files_below(revision, folder).items()):
        place = folder / name
        text = _text(f"{revision.name}:{place}" if place.is_absolute() else f"{revision.name}:./{place}", content)
        if text is not None and "/" not in name and name.endswith(SUFFIX):
            rules.append(text)
        elif text is not None and name.startswith(f"{EXAMPLES}/") and name.count("/") == 2:
            examples[name.removeprefix(f"{EXAMPLES}/")] = text
    return Policies(tuple(rules), examples=examples)


def _text(name: str, content: bytes) -> Source | None:
    """A text of the folder of rules; what is too large or no text was no rule then either."""
    try:
        return decode_source(content, name) if len(content) <= LIMIT_BYTES else None
    except FilesError:
        return None


def tree_at(revision: Revision, recorded: Path, name: str = "") -> Side | None:
    """The tree that was committed at a revision, by a `name` for people; None if there is no complete one."""
    contents = git.files_below(revision, recorded)
    if MANIFEST not in contents:
        return None
    name = name or f"{revision.name}:{recorded}"
    try:
        entries = parse_manifest(contents[MANIFEST], name)
    except FilesError:
        return None
    manifest = manifest_artifact(contents.pop(MANIFEST))
    kept = {path: entry for path, entry in entries.items() if path in contents}
    artifacts = (Artifact(path, contents[path], entry.mode, entry.origins) for path, entry in kept.items())
    return of_recorded(name, tree_of([manifest, *artifacts]))


def _copies(side: Side) -> dict[str, str]:
    """The sources that a recorded tree names, by path."""
    texts = ((path, content) for path, content in side.files.items() if path.startswith(SPEC_FOLDER))
    return {path: content.decode(errors="replace") for path, content in texts}


# --- what fails today's checks ---------------------------------------------------------------------


def unchecked(name: str, sources: Sequence[Source], unsound: FilesError) -> Side | None:
    """A spec compiled despite its errors, as an older fleetc may have done; None if that fails."""
    document, diagnostics = read_spec(sources)
    fleet, more = read_fleet(document) if document is not None and not has_errors(diagnostics) else (None, [])
    if fleet is None or has_errors(more):
        return None
    try:
        plan = lower.lower(fleet)
        tree = formats.emit(plan, *files.read_shipped(), sources)
    except Exception:  # lowering may fail in any way on what rules refuse
        return None
    side = of_compiled(name, Compiled(Checked(document, fleet, ()), plan, tree))
    return _noted(side, [f"{name} is compared as if it had no errors: {unsound.message}"])


def _without_spec(revision: Revision, recorded: Path, unsound: FilesError) -> Side | None:
    """The files of the tree that was committed at a revision; None if there is none."""
    side = tree_at(revision, recorded)
    if side is None:
        return None
    note = f"only files are compared, with those of the tree committed at {revision.name}: {unsound.message}"
    return _noted(replace(side, document=None, fleet=None, notes=()), [note])


def _of_sources(name: str, sources: Sequence[Source], unsound: FilesError) -> Side:
    """The sources alone, see `comparable`."""
    texts = {path: source.text.encode() for path, source in zip(copies(sources), sources, strict=True)}
    note = f"only the texts of the spec are compared; what they mean is unknown: {unsound.message}"
    return Side(name, texts, {}, None, None, notes=(note,))


def _noted(side: Side, notes: Sequence[str]) -> Side:
    return replace(side, notes=(*side.notes, *notes))


# --- paths and specs ------------------------------------------------------------------------------


def kind_of(path: Path) -> str:
    """What an existing path is: tree or spec, or "other"; "" if there is nothing."""
    try:
        if path.is_dir():
            tree, spec = (path / MANIFEST).exists(), files.find_spec(path).exists()
            return "tree" if tree else "spec" if spec else "other"
        return "spec" if path.exists() else ""
    except (OSError, ValueError):
        return ""


def _compiled(name: str, sources: Sequence[Source], like: Compiled | None) -> Side:
    compiled = compile_spec(sources, *files.read_shipped(), like=like)
    if compiled.tree is None:
        checked = compiled.checked
        first = locate([d for d in checked.diagnostics if has_errors([d])], sources, checked.document)[0]
        at = f"{shown(first.primary.file)}:{first.primary.line}" if first.primary.line else shown(name)
        message = f"the spec to compare with does not compile: {at}: {first.diagnostic.message}"
        advice = "compare with a state that compiled, or with a recorded tree"
        raise FilesError("baseline-unsound", message, path=name, advice=advice)
    return of_compiled(name, compiled)
