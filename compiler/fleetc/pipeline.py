"""The whole spine on one screen: text becomes a document, a fleet, a blueprint, a tree.

In: sources and the texts of the templates and playbooks. Out: `Compiled`: the tree, or none when there are errors,
and every diagnostic in a total order. Pure; `cli/` reads the files before and writes the tree after.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from fleetc import rules
from fleetc.language.fleet import Fleet
from fleetc.language.spec import read_fleet, read_spec
from fleetc.places.diagnostic import Diagnostic, Label, error, has_errors
from fleetc.toml import comments
from fleetc.toml.document import Document, Source

if TYPE_CHECKING:
    from fleetc.blueprint.blueprint import Blueprint  # `check` makes neither
    from fleetc.emit.formats import Drafts
    from fleetc.emit.tree import Tree
    from fleetc.lower import Lowered
    from fleetc.policy.judging import Policies


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` leaves: the document and the fleet as far as they came, and all diagnostics."""

    document: Document | None
    fleet: Fleet | None
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[Source, ...] = ()
    policies: Policies | None = None

    @property
    def typed(self) -> Fleet | None:
        """The fleet, also where rules found errors; None if the text is no fleet. It is then read again."""
        return self.fleet or (read_fleet(self.document)[0] if self.document is not None else None)

    @property
    def texts(self) -> tuple[Source, ...]:
        """All texts that diagnostics are about: the sources, and the rules beside them."""
        return (*self.sources, *(self.policies.sources if self.policies else ()))


class Kept(NamedTuple):
    """What a compile keeps for those of similar specs in the same process: what hosts were lowered from, and drafts."""

    lowered: Lowered
    drafts: Drafts


class Sound(NamedTuple):
    """What there is of a spec without errors."""

    document: Document
    fleet: Fleet
    blueprint: Blueprint
    tree: Tree


@dataclass(frozen=True, slots=True)
class Compiled:
    """What `compile_spec` leaves: the blueprint and the tree when there was no error."""

    checked: Checked
    blueprint: Blueprint | None
    tree: Tree | None
    kept: Kept | None = None

    @property
    def sound(self) -> Sound:
        """All of it, where there was no error."""
        document, fleet = self.checked.document, self.checked.fleet
        assert document and fleet and self.blueprint and self.tree  # noqa: S101  # there was none
        return Sound(document, fleet, self.blueprint, self.tree)


def check_spec(
    sources: Sequence[Source],
    policies: Policies | None = None,
    today: date | None = None,
    like: Checked | None = None,
) -> Checked:
    """Text, language and rules, those beside the spec too. Each stage sees what the one before found sound.

    `today` is the day by which silences end. Without one they all hold: the tree does not depend on the day. `like` is
    what a similar spec left: tables that say the same are not typed again.
    """
    fleet = None
    document, diagnostics = read_spec(sources)
    if document is not None:
        known = (like.document, like.fleet) if like is not None and like.document and like.fleet else None
        fleet, problems = read_fleet(document, known)
        diagnostics += problems
        if fleet is not None and not document.lost:  # rules judge the fleet as a whole
            diagnostics += judge(document, fleet, today, policies)
    sound = None if has_errors(diagnostics) else fleet
    return Checked(document, sound, tuple(diagnostics), tuple(sources), policies)


def judge(
    document: Document,
    fleet: Fleet,
    today: date | None = None,
    policies: Policies | None = None,
    codes: Collection[str] | None = None,
) -> list[Diagnostic]:
    """What is to be said of a spec that can be read: what rules find, also those beside it, and its comments.

    With `codes`, all that has one of these codes is there, and other things may be missing.
    """
    judged = _judged(policies, fleet, document)
    more = [*comments.check(document), *comments.todos(document), *judged]
    return rules.check(fleet, more, policies.codes if policies else None, today, codes)


def _judged(policies: Policies | None, fleet: Fleet, document: Document) -> Sequence[Diagnostic]:
    """What the rules beside a spec find."""
    if policies is None:
        return ()
    from fleetc.policy.judging import Judged  # only here: few specs have any

    return policies.check(Judged(fleet, document))


def compile_spec(
    sources: Sequence[Source],
    templates: Mapping[str, str],
    playbooks: Mapping[str, bytes],
    policies: Policies | None = None,
    today: date | None = None,
    like: Compiled | None = None,
    keep: bool = False,
) -> Compiled:
    """The spine: text, language, rules, lowering, formats. `policies` and `today` are as for `check_spec`.

    `like` is a compile of a similar spec that was told to `keep` what others can use: a host for which nothing that
    was read has changed is neither lowered nor rendered again. The result is the same.
    """
    checked = check_spec(sources, policies, today, like.checked if like is not None else None)
    if checked.fleet is None:
        return Compiled(checked, None, None)
    from fleetc import lower  # only here: `check` needs neither
    from fleetc.emit import formats

    before = like.kept if like is not None else None
    if keep or before is not None:
        lowered = lower.lower_like(checked.fleet, before.lowered if before is not None else None)
        drafts = formats.Drafts(
            lowered.blueprint, templates, playbooks, sources, before.drafts if before is not None else None
        )
        kept, blueprint = Kept(lowered, drafts), lowered.blueprint
    else:
        kept, blueprint = None, lower.lower(checked.fleet)
        drafts = formats.Drafts(blueprint, templates, playbooks, sources)
    try:
        tree = drafts.tree()
    except formats.UnfitError as problem:
        message = f"something on host {problem.host} cannot be written exactly: {problem}"
        unfit = error("value-unfit", message, Label(problem.path), help="shorten it, or write it in plain characters")
        return Compiled(replace(checked, fleet=None, diagnostics=(*checked.diagnostics, unfit)), None, None)
    return Compiled(checked, blueprint, tree, kept)
