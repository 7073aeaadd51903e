"""`fleetc policy`: tries the rules beside a spec on their examples, lists the ready ones, copies them.

In: what to do, and names of rules. Out: what was tried, the list, or files beside the spec.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleetc.cli.shared import completing
from fleetc.cli.shared.options import HERE, TodayOption, upwards
from fleetc.cli.shared.output import PROBLEMS, message, plain, wrong_usage
from fleetc.cli.shared.working import read_policies, system_day
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.policy.source import Policy

Action = StrEnum("Action", ["test", "list", "add"])


def policy(
    action: Annotated[
        Action,
        typer.Argument(
            metavar="ACTION", help="test tries examples, list shows the ready rules, add copies some of them."
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Rules, without policy/.", autocompletion=completing.ready_rules),
    ] = None,
    spec: Annotated[
        Path, typer.Option("--spec", metavar="SPEC", help="The spec with the rules, or its directory.")
    ] = HERE,
    today: TodayOption = None,
) -> None:
    """Your own rules, in policy/ beside the spec: try them on their examples, or copy ready ones.

    Examples are specs in policy/examples/NAME/: ok*.toml, bad*.toml, and base.toml for rules about changes.
    """

    place = upwards(spec) or spec
    if action is Action.list:
        _list(place)
    elif action is Action.add:
        _add(place, names or [])
    else:
        _test(place, names or [], today)


def _list(spec: Path) -> None:
    from fleetc.cli.shared.ready_rules import names_of, ready_texts
    from fleetc.policy.source import page_of

    texts = ready_texts()
    here = {rule.name for rule in _rules(spec, None)}
    for name in names_of(texts):
        mark = "here" if name in here else ""
        typer.echo(f"{name:<18} {mark:<5} {page_of(texts[f'{name}.star']).splitlines()[0]}")
    others = sorted(here - set(names_of(texts)))
    if others:
        message(f"also here: {', '.join(others)}")
    message("fleetc policy add NAME copies one; fleetc explain policy/NAME has its purpose")


def _rules(spec: Path, today: date | None) -> tuple[Policy, ...]:
    policies = read_policies(spec, today, Format.text, ())
    return policies.rules if policies is not None else ()


def _add(spec: Path, names: list[str]) -> None:
    from fleetc.cli.shared.ready_rules import names_of, ready_texts
    from fleetc.disk import files
    from fleetc.policy.source import FOLDER
    from fleetc.text.suggestions import did_you_mean

    texts = ready_texts()
    known = names_of(texts)
    if not names:
        wrong_usage("name the rules to copy; fleetc policy list shows them")
    for name in names:
        if name not in known:
            wrong_usage(f'there is no ready rule "{plain(name)}"; {did_you_mean(name, known)}')
    directory = files.find_spec(spec).parent / FOLDER
    wanted = [
        path for path in texts for name in names if path == f"{name}.star" or path.startswith(f"examples/{name}/")
    ]
    files.write_new({directory / path: texts[path] for path in wanted})
    for name in dict.fromkeys(names):
        message(f"{directory / name}.star written; its first lines list what to change")


def _test(spec: Path, names: list[str], today: date | None) -> None:
    from fleetc.disk import files
    from fleetc.policy.examples import EXAMPLES, trials
    from fleetc.policy.source import FOLDER, LIMIT_BYTES
    from fleetc.text.suggestions import did_you_mean

    policies = read_policies(spec, today, Format.text, ())
    if policies is None:
        wrong_usage(f"there are no rules in {files.find_spec(spec).parent / FOLDER}; fleetc policy list has ready ones")
    rules = {rule.name: rule for rule in policies.rules}
    for name in names:
        if name not in rules:
            wrong_usage(f'there is no rule "{plain(name)}"; {did_you_mean(name, list(rules))}')
    folder = files.find_spec(spec).parent / FOLDER / EXAMPLES
    texts = files.read_policy_examples(folder, LIMIT_BYTES)
    chosen = {path: text for path, text in texts.items() if not names or path.partition("/")[0] in names}
    tried = list(trials(rules, chosen, (today or system_day()).isoformat()))
    for trial in tried:
        typer.echo(plain(f"{'FAILED' if trial.wrong else 'ok':<7} {trial.rule}/{trial.example}"))
        for wrong in trial.wrong:
            typer.echo(plain(f"        {wrong}"))
    for name in sorted(set(names or rules) - {trial.rule for trial in tried}):
        message(f"note: {name} has no examples; write {folder / name / 'ok.toml'} and bad.toml")
    failed = sum(bool(trial.wrong) for trial in tried)
    message(f"{len(tried)} examples tried, {failed} failed")
    if failed:
        raise typer.Exit(PROBLEMS)
