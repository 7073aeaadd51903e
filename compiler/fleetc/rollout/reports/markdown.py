"""A rollout as Markdown, for summaries of CI jobs and comments.

In: an `Outcome`. Out: text. Texts of hosts are escaped, and their log lines are code.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.rollout.hosts.deploy import Outcome
from fleetc.rollout.reports.terminal import HEAD, cells_of, is_fine, move_line, summary
from fleetc.text.encoders import markdown_cell, markdown_code, markdown_text


def as_markdown(outcome: Outcome) -> str:
    """One table with every host, then why, and the last log lines of nodes that were not well."""
    return "\n".join(_lines(outcome)) + "\n"


def _lines(outcome: Outcome) -> Iterator[str]:
    yield f"**{markdown_text(summary(outcome))}**"
    yield ""
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{'---|' * len(HEAD)}"
    for host in outcome.hosts:
        yield f"| {' | '.join(markdown_cell(cell) for cell in cells_of(host, outcome))} |"
    for move in outcome.moves:
        yield f"\n{markdown_text(move_line(move))}"
    for host in outcome.hosts:
        if is_fine(host) or not host.reason:
            continue
        yield f"\n- {markdown_text(f'{host.host}: {host.reason}')}"
        for line in host.words:
            yield f"  - {markdown_code(line)}"
