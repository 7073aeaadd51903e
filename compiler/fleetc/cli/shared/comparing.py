"""Compares a spec with what it would replace: the review, its report, the limits it breaks. For `diff` and `compile`.

In: options, a compiled spec. Out: a `Compared`; the text of its report, or a file with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from fleetc.cli.shared.working import system_day, target_of
from fleetc.messages.forms import Format, written

if TYPE_CHECKING:
    from fleetc.pipeline import Compiled
    from fleetc.places.diagnostic import Diagnostic
    from fleetc.review.data import Review, RuleNote
    from fleetc.review.limits import Breach, ImpactLimit
    from fleetc.review.sides import Side
    from fleetc.settings import Settings
    from fleetc.toml.document import Source

FINDINGS: frozenset[str] = frozenset({"sarif", "github", "junit"})
"""The forms of diagnostics that a review can have: each change is one."""

_NAMED = 10
"""How many changes that break one limit are named."""


class Options(NamedTuple):
    """What a user asks for; `form` is a form of `fleetc diff --format`."""

    against: str | None
    limits: tuple[ImpactLimit, ...]
    form: str
    output: Path | None


def options(against: str | None, max_impact: str, form: str, output: Path | None) -> Options:
    """Parse the options before any work is done. Raises typer.BadParameter."""
    from fleetc.review.limits import LimitError, parse_limits

    try:
        return Options(against, parse_limits(max_impact) if max_impact else (), form, output)
    except LimitError as problem:
        raise typer.BadParameter(str(problem), param_hint="--max-impact") from problem


class Compared(NamedTuple):
    """A review and the request for it. `standing` are the warnings that both sides have."""

    review: Review
    request: Options
    sources: Sequence[Source]
    pages: Mapping[str, str] = {}
    standing: tuple[Diagnostic, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether anything would change."""
        review = self.review
        return bool(review.changes or review.files or review.foreign or any(n.kind != "finding" for n in review.rules))

    def text(self, colour: bool) -> str:
        """The report for standard output; nothing if it was written to a file instead. Raises `FilesError`."""
        text = _report(self, colour)
        if self.request.output is None:
            return text
        _write(text, self.request.output)
        return ""

    @property
    def breaches(self) -> tuple[Breach, ...]:
        """The limits that the changes break."""
        from fleetc.review.limits import breaches

        return () if self.unchecked else tuple(breaches(self.review, self.request.limits))

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Why no limit can be checked, in a sentence; empty if all can be."""
        if self.request.limits and self.review.foreign:
            return ("every limit is broken, because the tree has files that the spec does not compile to",)
        if self.request.limits and self.review.files_only:
            return ("the limits cannot be checked, because only files are compared; see the notes of the review",)
        return ()

    @property
    def broken(self) -> tuple[str, ...]:
        """Lines for what is not of the spec, for each broken limit and for the changes that break it."""
        from fleetc.review.reports import wording

        reasons = tuple(f"error: {reason}" for reason in (wording.alarm(self.review), *self.unchecked) if reason)
        return reasons or tuple(line for breach in self.breaches for line in _lines(breach))


def run(
    request: Options,
    spec: Path,
    compiled: Compiled,
    settings: Settings,
    today: date | None = None,
    instead_of: Compiled | None = None,
) -> Compared:
    """Compare, with `request.against` or with another compile of the spec. Raises `FilesError`, see `baseline.py`."""
    from fleetc.cli.shared.baseline import baseline, comparable
    from fleetc.disk import files
    from fleetc.review.compare import compare
    from fleetc.review.sides import of_compiled

    recorded = target_of(spec, settings)
    if instead_of is not None:
        old = of_compiled("the spec as it is", instead_of)
    else:
        old = baseline(request.against, spec, settings, like=compiled)
    new = replace(of_compiled(str(spec), compiled), notes=tuple(map(str, settings.from_checkout)))
    review = compare(old, comparable(old, new), lambda: known_hosts(spec, settings, compiled))
    review = replace(review, rules=_rules(old, new, compiled, today))
    mine = request.against is None or (
        Path(request.against).exists() and recorded.exists() and recorded.samefile(request.against)
    )

    def before() -> Side | None:
        try:
            return old if mine else baseline(None, spec, settings)
        except files.FilesError:
            return None

    foreign, notes = ((), []) if instead_of else _beside(compiled, recorded, mine, before)
    review = replace(review, foreign=tuple(sorted({*review.foreign, *foreign})), notes=(*review.notes, *notes))
    pages = {code: page for side in (old, new) if side.policies for code, page in side.policies.pages.items()}
    return Compared(review, request, compiled.sound.document.sources, pages, _standing(old, compiled, today))


def known_hosts(spec: Path, settings: Settings, compiled: Compiled) -> frozenset[str] | None:
    """The hosts that the journal of the fleet on this machine knows; None where there is none that can be read."""
    from fleetc.disk.files import FilesError, find_spec
    from fleetc.rollout.hosts.journal import to_read
    from fleetc.settings import journals

    try:
        history = to_read(journals(settings, find_spec(spec)), compiled.sound.blueprint.fleet).history
    except FilesError:
        return None
    return frozenset(history.hosts) if history.runs else None


def _standing(old: Side, compiled: Compiled, today: date | None) -> tuple[Diagnostic, ...]:
    """The warnings about a spec that it would also have had before: the same words at the same key."""
    from fleetc.pipeline import judge

    warnings = compiled.checked.diagnostics
    if not warnings or old.fleet is None or old.document is None:
        return ()
    codes = {warning.code for warning in warnings}
    before = {_words(warning) for warning in judge(old.document, old.fleet, today, codes=codes)}
    return tuple(warning for warning in warnings if _words(warning) in before)


def _words(warning: Diagnostic) -> tuple[object, ...]:
    return warning.code, warning.severity, warning.message, warning.primary.place


def _rules(old: Side, new: Side, compiled: Compiled, today: date | None) -> tuple[RuleNote, ...]:
    """The review of rules beside the spec; empty if no side has any."""
    if not any(side.policies is not None and side.policies.sources for side in (old, new)):
        return ()
    from fleetc.review.policies import rule_notes

    day = new.policies.today if new.policies is not None else (today or system_day()).isoformat()
    return rule_notes(old, new, compiled.checked.diagnostics, day)


def _beside(
    compiled: Compiled,
    recorded: Path,
    mine: bool,
    before: Callable[[], Side | None],
) -> tuple[tuple[str, ...], list[str]]:
    """Files in the tree's directory that no comparison of specs shows: paths that a rollout would use, notes.

    `before` reads the spec that the directory was compiled from; `mine` says that the review is against it. The next
    compile removes what only that spec compiles to. A directory that claims to be of this spec must match its compile.
    """
    from fleetc.disk import files
    from fleetc.disk.manifest import shown
    from fleetc.emit.tree import SPEC_FOLDER, is_rolled_out
    from fleetc.pipeline import compile_spec

    tree = compiled.sound.tree
    strangers = files.strangers(tree, recorded, reads=lambda path: not mine and _counts(path))
    copies = [path for path in tree.as_mapping() if path.startswith(SPEC_FOLDER)]
    stale = not set(copies).isdisjoint(strangers.changed) or not all((recorded / path).exists() for path in copies)
    others = strangers.foreign
    if others and (mine or stale) and (old := before()) is not None and old.document is not None:
        last = compile_spec(old.document.sources, *files.read_shipped()).tree
        others = files.strangers(tree, recorded, besides=[a.path for a in last.artifacts] if last else ()).foreign
    foreign = [path for path in others if is_rolled_out(path)]
    idle = [path for path in others if not is_rolled_out(path)]
    notes = [f"{shown(path)} in {recorded} is not part of the tree, and nothing uses it" for path in idle]
    if stale:
        foreign += [
            path for path in strangers.changed if path.removeprefix("ansible/") in files.read_shipped().playbooks
        ]
        notes.insert(0, f"the tree in {recorded} was not compiled from this spec; run fleetc compile")
    else:
        foreign += strangers.changed
    return tuple(sorted(foreign)), notes


def _counts(path: str) -> bool:
    """Whether the content of a file of the tree decides what a rollout does, or which spec the tree is of."""
    from fleetc.emit.tree import SPEC_FOLDER, is_rolled_out

    return is_rolled_out(path) or path.startswith(SPEC_FOLDER)


def _report(compared: Compared, colour: bool) -> str:
    from fleetc.disk import files
    from fleetc.review.reports import findings, html, json, markdown, terminal  # only here: a run needs one of them

    review, form = compared.review, compared.request.form
    if form in FINDINGS:
        items = findings.located(review, compared.breaches, compared.unchecked, compared.sources[0].name)
        return written(Format(form), items, compared.sources, pages=compared.pages)
    if form == "markdown":
        return markdown.as_markdown(review)
    if form == "html":
        return html.as_html(review, files.read_shipped().templates)
    return json.as_json(review, compared.breaches) if form == "json" else terminal.as_text(review, colour)


def _write(text: str, file: Path) -> None:
    from fleetc.disk.manifest import failure

    try:
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as problem:
        raise failure(problem, str(file), "write") from problem


def _lines(breach: Breach) -> Iterator[str]:
    yield f"error: the limit {breach}"
    for change in breach.changes[:_NAMED]:
        where = " ".join(filter(None, (change.targets[0].host, change.targets[0].node)))
        more = f" and {len(change.targets) - 1} more" if len(change.targets) > 1 else ""
        cause = change.causes[0] if change.causes else None
        at = f" ({cause.file}:{cause.line}:{cause.column})" if cause is not None and cause.line else ""
        yield f"  {change.kind} {change.what} on {where or 'the whole fleet'}{more}{at}"
    for note in breach.rules[:_NAMED]:
        at = f" ({note.place.file}:{note.place.line}:{note.place.column})" if note.place and note.place.line else ""
        yield f"  {note.text}{at}"
    if len(breach.rules) > _NAMED:
        yield f"  and {len(breach.rules) - _NAMED} more"
    if len(breach.changes) > _NAMED:
        yield f"  and {len(breach.changes) - _NAMED} more changes"
