"""What a rollout did, in the forms that people and programs read.

In: an `Outcome`. Out: text. Every host of the rollout is in every form.
"""

from __future__ import annotations

from fleetc.messages.forms import RolloutFormat
from fleetc.rollout.hosts.deploy import Outcome


def written(form: RolloutFormat, outcome: Outcome, again: str = "fleetc deploy") -> str:
    """The report in a form; `again` is the command of this rollout. JSON is the last event that a rollout prints."""
    if form is RolloutFormat.json:
        from fleetc.rollout.reports.events import outcome_event

        return outcome_event(outcome)
    if form is RolloutFormat.junit:
        from fleetc.rollout.reports.junit import as_junit

        return as_junit(outcome)
    if form is RolloutFormat.markdown:
        from fleetc.rollout.reports.markdown import as_markdown

        return as_markdown(outcome)
    from fleetc.rollout.reports.terminal import lines

    return "".join(f"{line}\n" for line in lines(outcome, again))
