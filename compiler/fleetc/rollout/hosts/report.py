"""What a rollout did, for people.

In: an `Outcome`. Out: lines, safe to print: one table with every host, then why and the last log lines of those that do
not run their release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.gate import HostOutcome
from fleetc.text.encoders import plain_output

_SHORT = 12
_HEAD = ("host", "from", "to", "restarted", "seconds", "result")
_WORDS = {
    "new": "deployed",
    "unchanged": "unchanged",
    "old": "not begun",
    "reverted": "reverted",
    "quarantined": "QUARANTINED",
    "unknown": "UNKNOWN",
}


def lines(outcome: Outcome) -> list[str]:
    """The report."""
    found = [*_steps(outcome), *_table(outcome)] if outcome.check else list(_table(outcome))
    for host in outcome.hosts:
        if host.reason and host.result not in ("new", "unchanged"):
            found.append(f"{host.host}: {host.reason}")
        if host.live and host.result == "new":
            found.append(f"{host.host}: live, no session dropped: {', '.join(host.live)}")
        found += [f"    {line}" for line in host.words if host.result != "new"]
    found += [f"    {line}" for line in outcome.last_words]
    found.append(_summary(outcome))
    return [plain_output(line) for line in found]


def _steps(outcome: Outcome) -> Iterator[str]:
    for step in outcome.steps:
        what = f"{step.do} {step.node or 'the release'}" if step.do != "live" else f"change {step.node} live"
        yield f"{step.host}: would {what}{': ' if step.reason else ''}{step.reason}"


def _table(outcome: Outcome) -> Iterator[str]:
    rows = [_HEAD, *(_row(host, outcome.check) for host in outcome.hosts)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _row(host: HostOutcome, check: bool) -> Sequence[str]:
    result = "would change" if check and host.result == "new" else _WORDS[host.result]
    seconds = f"{host.seconds:.0f}" if host.seconds else "-"
    restarted = ", ".join(host.restarted) or "-"
    return host.host, host.before[:_SHORT] or "-", host.after[:_SHORT] or "-", restarted, seconds, result


def _summary(outcome: Outcome) -> str:
    counts = Counter(host.result for host in outcome.hosts)
    parts = [f"{count} {_WORDS[result].lower()}" for result, count in counts.items()]
    total = f"{len(outcome.hosts)} host{'s' if len(outcome.hosts) != 1 else ''}"
    if outcome.check:
        return f"{total} checked, nothing was changed"
    return f"{total}: {', '.join(parts)}"
