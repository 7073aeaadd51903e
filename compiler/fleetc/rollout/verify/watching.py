"""What changed between two looks at a fleet, as text for a terminal or a log.

In: two reports. Out: lines, of which everything that others said is encoded. Nothing changed: no lines.
"""

from __future__ import annotations

import re

from fleetc.messages.text import block
from fleetc.rollout.verify.report import Report, Told, summary

_NUMBER = re.compile("[0-9.,]+")


def changes(before: Report, after: Report, colour: bool = False) -> list[str]:
    """A line with the time and how all is now, each new finding as a block, and a line for each that is gone."""
    old, new = ({_key(one): one for one in report.found} for report in (before, after))
    come = [one for key, one in new.items() if key not in old]
    gone = [one for key, one in old.items() if key not in new]
    if not come and not gone:
        return []
    lines = [f"{after.time}: {summary(after)}"]
    for one in come:
        lines += block(one.located, colour)
    return lines + [f"gone: {block(one.located)[0]}" for one in gone]


def _key(one: Told) -> tuple[str, str, str, str]:
    """What makes a finding another one. A warning whose numbers move, as those of a deposit do, is no news."""
    said = one.located.diagnostic
    return one.host, one.node, said.code, _NUMBER.sub("0", said.message) if one.kind == "warning" else said.message
