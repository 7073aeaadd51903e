"""What most commands do first: read the settings and the spec, compile it, compare it with the tree on disk.

In: the arguments of a command. Out: values; or what is wrong is printed, and the process exits.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from fleetc.cli.shared.output import PROBLEMS, USAGE, Failures, about_foreign, message, plain, print_blocks, report
from fleetc.emit.tree import MANIFEST
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.emit.tree import Tree
    from fleetc.messages.locate import Located
    from fleetc.pipeline import Checked, Compiled
    from fleetc.policy.judging import Policies
    from fleetc.review.approvals import Rules
    from fleetc.settings import Settings
    from fleetc.toml.document import Source


RECOMPILE = "recompile: run fleetc compile and commit what it writes"
"""What to do about a tree that differs from what the spec compiles to, for example after a merge."""


def load_settings(spec: Path, **options: Any) -> Settings:
    """The tool's settings, overridden by the options of a command about `spec`; exits when they are wrong."""
    from pydantic import ValidationError

    from fleetc import settings
    from fleetc.disk import files

    try:
        return settings.load(files.find_spec(spec), **options)
    except ValidationError as failure:
        for fault in failure.errors(include_input=False, include_url=False):
            name = ".".join(map(str, fault["loc"]))
            message(f"error: setting {plain(name)}: {plain(fault['msg'].removeprefix('Value error, '))}")
        raise typer.Exit(USAGE) from None


STDIN = Path("-")
"""The name for standard input in place of a spec."""


def read_sources(spec: Path, settings: Settings, form: Format, stdin: bool = False) -> list[Source]:
    """The spec and its overlays; exits when one cannot be read. `stdin` says whether - is standard input."""
    from fleetc.disk import files
    from fleetc.settings import need_known_variables

    limit = settings.max_spec_bytes
    with Failures(form):
        parts: list[Source] = []
        if stdin and spec == STDIN:
            base = files.read_stream(sys.stdin.buffer, "stdin", limit)
        else:
            base_path = files.find_spec(spec)
            base = files.read_source(base_path, str(base_path), limit)
            parts = files.read_parts(base, base_path, limit)
        sources = [base, *parts, *(files.read_source(path, str(path), limit) for path in settings.overlay)]
        need_known_variables([source.text for source in sources])
        return sources


def read_policies(
    spec: Path, today: date | None, form: Format, functions: tuple[str, ...] = ("check",)
) -> Policies | None:
    """The rules in policy/ beside a spec, with the day they get; None where there are none.

    Prints the day, if a rule uses one of these functions. Exits when a rule cannot be read.
    """
    from fleetc.disk import files

    if spec == STDIN:
        return None
    from fleetc.policy.source import FOLDER, LIMIT_BYTES, MOST, SUFFIX

    base_path = files.find_spec(spec)
    with Failures(form):
        texts = files.read_policies(base_path, FOLDER, SUFFIX, MOST, LIMIT_BYTES)
    if not texts:
        return None
    from fleetc.policy.judging import Policies  # only here: few specs have any

    policies = Policies(tuple(texts), (today or system_day()).isoformat())
    if policies.tells_day(functions):
        message(f"note: rules in {base_path.parent / FOLDER} use {policies.today} as today")
    return policies


def system_day() -> date:
    """The day here, by the system's clock."""
    return datetime.now().astimezone().date()


def read_limits(path: Path) -> Rules:
    """The limits file of the branch that a change wants to get into. Raises `FilesError`."""
    from fleetc.disk import files
    from fleetc.review.approvals import RulesError, read_rules

    advice = "name the limits file, such as limits.toml"
    text = files.read_text(path, 1024 * 1024, "limits-unreadable", advice, USAGE)
    try:
        return read_rules(text)
    except RulesError as problem:
        message, advice = str(problem), 'write max_impact = "price=5%" and a table [owners] with price = ["name"]'
        raise files.FilesError("limits-invalid", message, path=str(path), advice=advice, exit_code=USAGE) from None


class Inputs(NamedTuple):
    """All texts that a compile reads, except the rules beside the spec."""

    sources: list[Source]
    templates: Mapping[str, str]
    playbooks: Mapping[str, bytes]


def read_inputs(spec: Path, settings: Settings, form: Format) -> Inputs:
    """The texts of a compile; exits when one cannot be read."""
    from fleetc.disk import files

    sources = read_sources(spec, settings, form)
    with Failures(form):
        return Inputs(sources, *files.read_shipped())


def compile_or_exit(
    spec: Path,
    settings: Settings,
    form: Format,
    policies: Policies | None = None,
    today: date | None = None,
    inputs: Inputs | None = None,
    later: bool = False,
    like: Compiled | None = None,
    keep: bool = False,
) -> tuple[Compiled, list[Located]]:
    """Compile, or print the problems and exit. As text, warnings are printed at once, else returned; with `later`, the
    caller prints them.

    `policies` and `today` are for commands that roll out. Others ask no rules beside the spec and have no day: what was
    sound then still is. `inputs` are the texts, where they were read already. `like` and `keep` are as for
    `compile_spec`.
    """
    from fleetc.messages.locate import locate
    from fleetc.pipeline import compile_spec

    inputs = inputs or read_inputs(spec, settings, form)
    sources = inputs.sources
    compiled: Compiled = quietly(compile_spec, sources, inputs.templates, inputs.playbooks, policies, today, like, keep)
    if compiled.tree is None or (form is Format.text and not later):
        report(compiled.checked, sources, settings, form, form is not Format.text, day_used(compiled.checked, today))
    tell_day(compiled.checked, today)
    if compiled.tree is None:
        raise typer.Exit(PROBLEMS)
    if form is Format.text:
        return compiled, []
    checked = compiled.checked
    return compiled, locate(checked.diagnostics, checked.texts, checked.document)


def day_used(checked: Checked, today: date | None) -> dict[str, str]:
    """The day, for the output of a command as JSON, if a silence or an `out` of the spec ends on some day."""
    tables = [table for table in (checked.document.raw if checked.document else {}).values() if isinstance(table, dict)]
    stated = [one for table in tables for one in table.values() if isinstance(one, dict)]
    dated = any("until" in part for one in stated for part in (one, one.get("out")) if isinstance(part, dict))
    return {"today": today.isoformat()} if dated and today is not None else {}


def tell_day(checked: Checked, today: date | None) -> None:
    """The same for people."""
    for day in day_used(checked, today).values():
        message(f"note: last days are judged as of {day}")


def quietly(work: Any, *arguments: Any) -> Any:
    """Run the pure core without the cyclic garbage collector, and exclude what it made from later collections.

    It makes no cycles and its result is needed to the end, so collecting would only cost time.
    """
    gc.disable()
    try:
        return work(*arguments)
    finally:
        gc.freeze()
        gc.enable()


def target_of(spec: Path, settings: Settings) -> Path:
    """The directory of the tree."""
    from fleetc.disk import files

    return settings.tree_of(files.find_spec(spec))


def tell_settings(spec: Path, settings: Settings) -> None:
    """Print what the checkout sets, and any tree at the default place that a setting leads away from."""
    from fleetc.disk import files

    for setting in settings.from_checkout:
        message(f"note: {setting}")
    usual = files.find_spec(spec).parent / "rendered"
    led_away = any(setting.name == "output" for setting in settings.from_checkout)
    if led_away and usual.absolute() != target_of(spec, settings).absolute() and (usual / MANIFEST).is_file():
        message(f"note: {usual} is also a tree, but was not checked")


def compile_reviewed(
    spec: Path, settings: Settings, policies: Policies | None = None, today: date | None = None
) -> Compiled:
    """Compile a spec whose tree is on disk as it was reviewed; exits where it is not.

    Prints what the checkout sets, and what is out of service: rollouts, `verify` and monitoring go on without it.
    """
    from fleetc.blueprint.out import out_of

    compiled, _ = compile_or_exit(spec, settings, Format.text, policies, today)
    tell_settings(spec, settings)
    for name, words in out_of(compiled.sound.blueprint).items():
        message(f"note: {name} is out of service {plain(words)}")
    _need_fresh(compiled.sound.tree, target_of(spec, settings))
    return compiled


def _need_fresh(tree: Tree, target: Path) -> None:
    """Exit unless a directory contains exactly this tree: what is rolled out must have been there for review."""
    from fleetc.disk import files
    from fleetc.emit.tree import is_rolled_out

    files.need_tree(target)
    stale = files.stale(tree, target)
    foreign = files.strangers(tree, target).foreign
    print_blocks(about_foreign(foreign, target))
    if not stale and any(map(is_rolled_out, foreign)):
        raise typer.Exit(PROBLEMS)
    if stale:
        for name in stale[:20]:
            typer.echo(plain(name))
        message(f"{len(stale)} files in {target} are not what the spec compiles to; {RECOMPILE}, then review it")
        raise typer.Exit(PROBLEMS)
