"""Judges an Ansible run: did it succeed on every host it was meant for, and on no other?

In: the hosts of the run and what the runner reported. Out: a verdict with its reasons. Pure. Needed because
Ansible's own status is no evidence: a play that matches no host, an ignored failure and a rescued one all end
"successful" with code 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

Stats = Mapping[str, Mapping[str, int]]
Verdict = Literal["proceed", "halt", "halt_unknown"]

_BAD = {
    "dark": "could not be reached",
    "failures": "failed",
    "ignored": "had a failure that was ignored",
    "rescued": "had a failure that was rescued",
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """`verdict` is halt_unknown when hosts may still be changing; `reasons` are sentences, sorted by host."""

    verdict: Verdict
    reasons: tuple[str, ...]


def judge(hosts: Collection[str], status: str, rc: int | None, stats: Stats | None) -> Judgement:
    """Judge one run over `hosts`."""
    if status in ("timeout", "canceled"):
        return Judgement("halt_unknown", (f"the run ended with {status}: hosts may still be changing",))
    if stats is None:
        return Judgement("halt", ("Ansible stopped before it reached a host",))
    reasons = [
        f"{host} {words}"
        for kind, words in _BAD.items()
        for host, count in sorted(stats.get(kind, {}).items())
        if count
    ]
    processed, done = stats.get("processed", {}), stats.get("ok", {})
    named = {host for kind in _BAD for host, count in stats.get(kind, {}).items() if count}
    reasons += [f"{host} was not reached" for host in sorted(hosts) if not processed.get(host)]
    reasons += [
        f"{host} did nothing"
        for host in sorted(hosts)
        if processed.get(host) and not done.get(host) and host not in named
    ]
    reasons += [f"{host} was touched but is not part of this run" for host in sorted(processed) if host not in hosts]
    if not reasons and (status != "successful" or rc != 0):
        reasons.append(f"Ansible ended as {status} with exit code {rc}")
    return Judgement("halt" if reasons else "proceed", tuple(reasons))
