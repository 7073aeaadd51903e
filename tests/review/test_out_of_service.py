"""A host or a node out of service, and back: one change, its effect in one sentence, and nothing else restarts."""

from __future__ import annotations

import pytest

from fleetc.review.data import Review
from tests.review.support import example, review

OUT = 'out = { until = 2027-01-31, reason = "new power supply" }\n'


def changed(fleet: str, table: str, tell: str = "") -> tuple[Review, Review]:
    """The reviews of an example fleet of which a table goes out of service, and comes back."""
    old = example(fleet).replace('[monitoring]\nhost = "stage-2"', '[monitoring]\nhost = "stage-1"')
    old = old.replace('prometheus = "203.0.113.12:9091"', 'prometheus = "203.0.113.11:9091"')
    new = old.replace(f"[{table}]\n", f"[{table}]\n{OUT}")
    assert new != old
    return review(old, new), review(new, old)


@pytest.mark.parametrize(
    ("fleet", "table", "stops", "sentence"),
    [
        ("dual-onchain", "hosts.gpu", ["orch"], "orch stops: at most 14 live sessions drop"),
        ("dual-onchain", "orchestrators.orch", ["orch"], "orch stops: at most 14 live sessions drop"),
        (
            "avatar-stage",
            "hosts.stage-2",
            ["avatar/host", *(f"avatar/slot-0{number}" for number in range(4)), "avatar/turn", "gate"],
            "avatar/turn, gate stop: at most 4 live sessions drop",
        ),
    ],
)
def test_one_change_with_one_sentence(fleet: str, table: str, stops: list[str], sentence: str) -> None:
    out, back = changed(fleet, table)
    (change,) = out.changes
    assert (change.what, change.new) == ("out of service", "until 2027-01-31: new power supply")
    (effect,) = change.effects
    assert effect.impact == "restart" and sentence in effect.text
    assert effect.text.endswith("; data stays, and all that name what stops go on without it")
    assert [target.node for target, _ in out.restarts] == [target.node for target in out.stops] == stops
    (change,) = back.changes
    assert change.new is None and back.restarts == ()
    assert [effect.text for effect in change.effects if effect.text.endswith(" again")]
    assert {effect.impact for effect in change.effects} <= {"capacity", "cold-start"}


def test_another_day_changes_nothing_that_runs() -> None:
    old = example("dual-onchain").replace("[hosts.gpu]\n", f"[hosts.gpu]\n{OUT}")
    found = review(old, old.replace("2027-01-31", "2027-02-28"))
    (change,) = found.changes
    assert change.effects[0].text == "until when and why it does not run" and found.restarts == ()
