"""A rollout as events: one JSON object a line, for programs.

In: lines of the journal, and at the end an `Outcome`. Out: text. `what` is the kind: begin, batch, host, seen, behind
and end as in the journal, and last outcome, with every host.
"""

from __future__ import annotations

import json
from typing import Any

from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.journal.lines import JournalEntry

FORMAT = 1


def entry_event(entry: JournalEntry) -> str:
    """An event of the journal, at the moment of its writing."""
    return _line({**entry.facts, "at": entry.at, "run": entry.run, "what": entry.what})


def outcome_event(outcome: Outcome) -> str:
    """How the rollout ended."""
    return _line(
        {
            "what": "outcome",
            "check": outcome.check,
            "exit_code": outcome.exit_code,
            "hosts": [host._asdict() for host in outcome.hosts],
            "findings": [finding._asdict() for finding in outcome.findings],
            "moves": [move._asdict() for move in outcome.moves],
            "steps": [step._asdict() for step in outcome.steps],
        }
    )


def _line(facts: dict[str, Any]) -> str:
    return json.dumps({"format": FORMAT, **facts}, ensure_ascii=True) + "\n"
