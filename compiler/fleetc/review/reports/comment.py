"""The comment of a review on a pull request: a hidden marker, what waits for whom, and the review.

In: the review as Markdown (`markdown.py`), verdicts about limits, a link to the whole review, the size that a forge
takes. Out: Markdown. Its first line is the marker, by which a later run finds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleetc.review.approvals import Approval
from fleetc.text.encoders import markdown_code, markdown_text

_FENCE = "```"
_OPENED, _CLOSED = "<details>", "</details>"
_SPARE = 400
"""Room for the sentence about what was left out, and for the ends of open parts."""


def marker(key: str) -> str:
    """The first line of the comment; `key` tells the reviews of several fleets apart."""
    return f"<!-- fleetc review {key} -->"


def as_comment(
    key: str, review: str, verdicts: Sequence[Approval], unchecked: Sequence[str], commit: str, link: str, room: int
) -> str:
    """The text of the comment, of at most `room` characters. `unchecked` says why no limit can be checked."""
    head = [marker(key), *_limits(verdicts, unchecked, commit)]
    lines = [_inert(line) for line in review.splitlines()]
    left = room - sum(len(line) + 1 for line in head) - _SPARE - len(link)
    kept = _fitting(lines, left)
    if kept < len(lines):
        head.append(
            f"**{len(lines) - kept:,} of {len(lines):,} lines are left out here. All of it: {link or 'the log'}**"
        )
        head.append("")
        lines = [*lines[:kept], *_ends(lines[:kept])]
    return "\n".join([*head, *lines]) + "\n"


def _inert(line: str) -> str:
    """GitLab takes a line that begins with a slash for a command, and carries it out."""
    return f"\\{line}" if line.startswith("/") else line


def _limits(verdicts: Sequence[Approval], unchecked: Sequence[str], commit: str) -> Iterator[str]:
    for reason in unchecked:
        yield f"**No approval can be given:** {markdown_text(reason)}."
    for verdict in verdicts:
        limit, amount = markdown_code(str(verdict.broken.limit)), markdown_text(verdict.broken.reached)
        yield f"- The limit {limit} is broken{amount}: {_state(verdict)}"
    waiting = [verdict.broken.limit.impact for verdict in verdicts if verdict.owners and not verdict.approved_by]
    if waiting:
        yield from ("", "An owner approves exactly this commit with a comment of one line:", "")
        yield from (_FENCE, f"fleetc approve {' '.join(waiting)} {commit}", _FENCE)
    if verdicts or unchecked:
        yield ""


def _state(verdict: Approval) -> str:
    if verdict.approved_by:
        return f"approved by {markdown_code(verdict.approved_by)}."
    if not verdict.owners:
        return "the limits file names nobody who may approve it."
    return f"**waits for** {' or '.join(map(markdown_code, verdict.owners))}."


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many of the first lines fit into so many characters."""
    used = 0
    for number, line in enumerate(lines):
        used += len(line) + 1
        if used > room:
            return number
    return len(lines)


def _ends(lines: Sequence[str]) -> list[str]:
    """What closes the parts that are open at the end of these lines."""
    fences = sum(line.startswith(_FENCE) for line in lines)
    folds = sum(line.count(_OPENED) - line.count(_CLOSED) for line in lines)
    return [_FENCE] * (fences % 2) + [_CLOSED] * max(0, folds)
