"""A rollout as a JUnit report, which CI services show as tests: one case a host.

In: an `Outcome`. Out: XML text. A host that does not run its release is a failed case.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.messages.junit import suite_of
from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.hosts.gate import HostOutcome
from fleetc.rollout.reports.terminal import is_fine, word_of
from fleetc.text.encoders import html


def as_junit(outcome: Outcome) -> str:
    """One suite."""
    cases = (line for host in outcome.hosts for line in _case(host, outcome))
    failed = sum(not is_fine(host) for host in outcome.hosts)
    return suite_of("rollout", cases, len(outcome.hosts), failed, sum(host.seconds for host in outcome.hosts))


def _lacks(host: HostOutcome, outcome: Outcome) -> Iterator[str]:
    for finding in outcome.findings:
        if finding.host == host.host:
            yield f"{finding.severity}[{finding.code}]: {finding.message}"


def _case(host: HostOutcome, outcome: Outcome) -> Iterator[str]:
    # The HTML encoder writes XML entities, and makes visible what XML cannot hold.
    yield f'<testcase classname="rollout" name="{html(host.host)}" time="{host.seconds:.0f}">'
    word, text = word_of(host, outcome), "\n".join(map(html, (host.reason, *_lacks(host, outcome), *host.words)))
    if is_fine(host):
        yield f"<system-out>{html(word)}</system-out>"
    else:
        yield f'<failure type="{html(host.result)}" message="{html(word)}">{text}</failure>'
    yield "</testcase>"
