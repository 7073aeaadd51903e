"""What a rollout did, for people; and what all forms of a report share.

In: an `Outcome`. Out: safe lines: a table of all hosts, then reasons and last log lines of those without their release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from fleetc.planner.data import UNHELPED, unhelped
from fleetc.rollout.findings import NOT_REACHED
from fleetc.rollout.hosts.begun import RolloutStep
from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.gate import HostOutcome
from fleetc.rollout.moves import Move
from fleetc.text.counting import first_of
from fleetc.text.encoders import plain_output

_SHORT = 12
HEAD = ("host", "from", "to", "restarted", "seconds", "result")
"""What the cells of a host are."""

_FINE = ("new", "unchanged", "retired", "dead", "out")
RESULTS = {
    "unchanged": "unchanged",
    "old": "not begun",
    "reverted": "reverted",
    "quarantined": "QUARANTINED",
    "unknown": "UNKNOWN",
    "unwell": "NOT WELL",
    "retired": "retired",
    "orphan": "ORPHAN",
    "dead": "assumed dead",
    "out": "out of service",
    "behind": "BEHIND",
}
"""What became of a host, in a word."""
DID = {
    "deploy": ("deployed", "would change"),
    "rollback": ("rolled back", "would go back"),
    "restart": ("restarted", "would restart"),
}
"""What hosts did that changed, and would do in a dry run."""


def lines(outcome: Outcome, again: str = "fleetc deploy") -> list[str]:
    """The report; `again` is the command of this rollout."""
    report = [*_steps(outcome), *_table(outcome)] if outcome.check else list(_table(outcome))
    report += [move_line(move) for move in outcome.moves]
    for host in outcome.hosts:
        if host.reason and (host.result == "out" or not is_fine(host)) and not outcome.check:
            report.append(f"{host.host}: {host.reason}")
        report += [f"{host.host}: undone: {words}" for words in host.undone]
        if host.live and host.result == "new":
            report.append(f"{host.host}: live, no session dropped: {', '.join(host.live)}")
        report += [f"    {line}" for line in host.words if host.result != "new"]
    report += [f"    {line}" for line in outcome.last_words]
    report.append(summary(outcome))
    if not outcome.check and any(host.result == "dead" or not is_fine(host) for host in outcome.hosts):
        report += ["", "now", *(f"  {line}" for line in _now(outcome))]
        report += ["next", *(f"  {line}" for line in dict.fromkeys(_next(outcome, again)))]
    return [plain_output(line) for line in report]


_NOW = {
    "new": "the release of this rollout runs",
    "unchanged": "the release of this rollout runs",
    "old": "not changed by this rollout",
    "reverted": "what ran before runs again",
    "quarantined": "in quarantine: nodes may be down, and no rollout touches it",
    "unwell": "the release of this rollout is there, and something is not well",
    "unknown": "nobody knows which release runs",
    "retired": "nothing runs any more",
    "orphan": "not in the spec any more, and its nodes may still run",
    "dead": "left out, because you stated that it is dead",
    "out": "out of service by the spec, and not reached",
    "behind": "left behind with whatever it has, as rollout.may_miss allows",
}
"""What hosts run, by their result."""


def _now(outcome: Outcome) -> Iterator[str]:
    """What hosts run now, those with the same words together."""
    same: dict[str, list[str]] = {}
    for host in outcome.hosts:
        words = _NOW[host.result]
        if host.result == "unknown" and host.until:
            words = f"in a switch: it goes back by itself by {host.until[11:]}"
        same.setdefault(words, []).append(host.host)
    for words, hosts in same.items():
        yield f"{first_of(hosts, _LISTED)}: {words}"


def _next(outcome: Outcome, again: str) -> Iterator[str]:
    """What to do, command by command."""
    of = {result: [host for host in outcome.hosts if host.result == result] for result in _NOW}
    for host in (*of["reverted"], *of["unwell"], *of["quarantined"]):
        for node in [node for node in host.restarted if node in host.reason][:_DIAGNOSED]:
            yield f"see what {node} logged: fleetc diagnose {host.host}/{node} --since 1h"
    for host in of["quarantined"]:
        yield f"find out why {host.host} could not go back, mend that there, then: {again} --clear {host.host}"
    claims = sorted({found for host in of["old"] for found in _CLAIM.findall(host.reason)})
    for claim in claims:
        yield f"once the other rollout has ended: {again}"
        yield f"if it is dead: {again} {claim}"
    for clear in sorted({found for host in of["old"] for found in _CLEAR.findall(host.reason)}):
        yield f"once you have looked at that host: {again} {clear}"
    away = [host.host for host in of["old"] if host.reason.startswith(NOT_REACHED)]
    if away:
        spec = f"[hosts.{away[0]}] out = {{ until, reason }}, or [rollout] may_miss"
        yield f"if {first_of(away, _LISTED)} stays away, let the spec go on without it: {spec}"
    for host in of["orphan"]:
        yield f"if {host.host} is gone for good: {again} --assume-dead {host.host}"
    if of["unwell"] and outcome.kind == "deploy":
        yield "to take the changed hosts back: fleetc rollback"
    if outcome.interrupted or of["unknown"]:
        yield f"to go on, at any time, also before hosts go back: {again}"
    elif not claims and (of["reverted"] or of["old"] or of["unwell"]):
        yield f"mend what is named above, then: {again}"
    if of["behind"]:
        yield f"once {first_of([host.host for host in of['behind']], _LISTED)} can take part again: {again}"
    if of["dead"]:
        yield f"once {first_of([host.host for host in of['dead']], _LISTED)} works again: {_DEAD.sub('', again)}"


_DEAD = re.compile(r" --assume-dead[ =]\S+")
_CLEAR = re.compile(r"--clear [\w.-]+")
_CLAIM = re.compile(r"--take-over \w+")
_DIAGNOSED, _LISTED = 3, 20


def is_fine(host: HostOutcome) -> bool:
    """Whether a host runs what it shall, or nothing if it left the spec; in a dry run, whether it could."""
    return host.result in _FINE


def word_of(host: HostOutcome, outcome: Outcome) -> str:
    """What became of a host in a rollout, in a word."""
    return DID[outcome.kind][outcome.check] if host.result == "new" else RESULTS[host.result]


def cells_of(host: HostOutcome, outcome: Outcome) -> Sequence[str]:
    """The cells of a host, as HEAD names them."""
    seconds = f"{host.seconds:.0f}" if host.seconds else "-"
    restarted = ", ".join(host.restarted) or "-"
    before, after = host.before[:_SHORT] or "-", host.after[:_SHORT] or "-"
    return host.host, before, after, restarted, seconds, word_of(host, outcome)


def move_line(move: Move) -> str:
    """A move, in words."""
    return f"{move.node} moves from {move.source} to {move.target}"


def summary(outcome: Outcome) -> str:
    """How many hosts ended how."""
    counts = Counter(word_of(host, outcome).lower() for host in outcome.hosts)
    parts = [f"{count} {word}" for word, count in counts.items()]
    total = f"{len(outcome.hosts)} host{'s' if len(outcome.hosts) != 1 else ''}"
    if outcome.check:
        return f"{total} checked, nothing was changed"
    return f"{total}: {', '.join(parts)}"


def _steps(outcome: Outcome) -> Iterator[str]:
    for step in outcome.steps:
        if step.do in UNHELPED:
            yield f"{step.host}: {unhelped(step.do, step.node, step.reason)}"
            continue
        yield f"{step.host}: would {_what(step, outcome.kind)}{': ' if step.reason else ''}{step.reason}"


def _what(step: RolloutStep, kind: str) -> str:
    """A step, in words."""
    if step.do == "live":
        return f"change {step.node} live"
    if not step.node:
        return "go back to a release that it keeps" if kind == "rollback" else "get the release"
    return f"{step.do} {step.node}"


def _reason(host: HostOutcome) -> str:
    """Why a host would not change; "" where nothing hinders it."""
    if host.result == "behind":
        return f"left behind: {host.reason}"
    return "" if is_fine(host) and host.result != "out" else host.reason


def _table(outcome: Outcome) -> Iterator[str]:
    """A row for each host. In a dry run nothing restarts or takes time, and the reason is the result."""
    rows = [HEAD, *(cells_of(host, outcome) for host in outcome.hosts)]
    if outcome.check:
        reasons = ("", *map(_reason, outcome.hosts))
        rows = [(*row[:3], reason or row[-1]) for row, reason in zip(rows, reasons, strict=True)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
