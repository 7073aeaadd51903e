"""What changed between two looks at a fleet, as text for a terminal or a log.

In: two reports. Out: lines, with texts of others encoded. Nothing changed: no lines.
"""

from __future__ import annotations

import re

from fleetc.messages.text import block
from fleetc.rollout.verify.report import FindingRow, Report, summary

_NUMBER = re.compile("[0-9.,]+")


def changes(before: Report, after: Report, colour: bool = False) -> list[str]:
    """A line with the time and how all is now, each new finding as a block, and a line for each that is gone."""
    old, new = ({_key(finding): finding for finding in report.findings} for report in (before, after))
    come = [finding for key, finding in new.items() if key not in old]
    gone = [finding for key, finding in old.items() if key not in new]
    if not come and not gone:
        return []
    lines = [f"{after.time}: {summary(after)}"]
    for finding in come:
        lines += block(finding.located, colour)
    return lines + [f"gone: {block(finding.located)[0]}" for finding in gone]


def _key(finding: FindingRow) -> tuple[str, str, str, str]:
    """What makes a finding another one. A warning with moving numbers, such as of a deposit, is no news."""
    diagnostic = finding.located.diagnostic
    message = diagnostic.message
    message = _NUMBER.sub("0", message) if finding.kind == "warning" else message
    return finding.host, finding.node, diagnostic.code, message
