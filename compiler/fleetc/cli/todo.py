"""`fleetc todo`: what people still have to provide before a rollout.

In: a spec. Out: tasks by who can do them, each with a command to copy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fleetc.cli.shared.options import (
    HERE,
    LimitOption,
    OverlayOption,
    ReportOption,
    SpecArgument,
    WithoutOption,
)
from fleetc.cli.shared.output import plain
from fleetc.cli.shared.paging import put
from fleetc.cli.shared.selecting import chosen
from fleetc.cli.shared.working import compile_or_exit, load_settings
from fleetc.messages.forms import Format, ReportFormat

if TYPE_CHECKING:
    from fleetc.blueprint.tasks import Task
    from fleetc.toml.document import Source


def todo(
    spec: SpecArgument = HERE,
    overlay: OverlayOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    form: ReportOption = ReportFormat.text,
) -> None:
    """List what people provide before the first rollout, each with a command.

    It begins with what TODO comments of the spec ask. fleetc deploy --check asks the hosts what they still lack.
    """
    from fleetc.blueprint.tasks import tasks_of

    settings = load_settings(spec, overlay=overlay)
    answer_form = Format(form)
    compiled, _ = compile_or_exit(spec, settings, Format.text, later=True)
    document, _, blueprint, _ = compiled.sound
    from fleetc.rollout.hosts.rolling import hosts_of

    limited = chosen(compiled, limit, without)
    hosts = hosts_of(blueprint, limited)
    here = {owner for host in blueprint.hosts if host.name in hosts for owner, _ in host.secrets()}
    tasks = [
        task
        for task in tasks_of(blueprint)
        if task.host in hosts or (not task.host and (not limited or here & {*task.nodes}))
    ]
    questions = [] if limited else [task for source in document.sources for task in _questions(source)]
    tasks = [*questions, *tasks]
    if answer_form is Format.json:
        put(json.dumps({"format": 1, "tasks": [_as_value(task) for task in tasks]}, indent=2) + "\n")
    else:
        from fleetc.cli.shared.task_lines import task_lines

        lines = list(task_lines(tasks, blueprint)) or ["nothing left to do"]
        put("".join(f"{plain(line)}\n" for line in lines))


def _questions(source: Source) -> Iterator[Task]:
    """What the TODO comments of a source ask, each at its line."""
    from fleetc.blueprint.tasks import Task
    from fleetc.toml.comments import questions_of

    for line, question in questions_of(source.text):
        yield Task("Who writes the spec", "", f"{source.name}:{line}", question, "", (), ())


def _as_value(task: Task) -> dict[str, Any]:
    keys = ("who", "host", "words", "subject", "command")
    return {key: getattr(task, key) for key in keys} | {"nodes": list(task.nodes)}
