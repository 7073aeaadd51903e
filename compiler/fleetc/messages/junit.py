"""Diagnostics as a JUnit report, which GitLab, Jenkins and others show as tests.

In: located diagnostics and the names of the spec files. Out: XML text. An error is a failed test. A warning is a passed
test with "warning" in its name: it fails no check, and services show only the output of failed tests. Called by
`forms.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from fleetc.messages.locate import NAMES, Located
from fleetc.messages.text import block, count
from fleetc.places.diagnostic import Severity
from fleetc.text.encoders import html
from fleetc.toml.document import Source


def as_junit(located: Sequence[Located], sources: Sequence[Source]) -> str:
    """One suite; each diagnostic is a case, and a spec without any is one case that passed."""
    spec = sources[0].name if sources else "fleetc"
    seen: Counter[tuple[str, str]] = Counter()
    cases: list[str] = []
    for item in located:
        suite, name = item.primary.file or spec, _name(item)
        seen[suite, name] += 1
        # Of cases with one name GitLab keeps the first.
        again = f" ({seen[suite, name]})" if seen[suite, name] > 1 else ""
        cases += _case(item, suite, name + again)
    if not located:
        cases = [f'<testcase classname="{html(spec)}" name="{count(located)}" time="0"/>']
    failed = sum(1 for item in located if item.diagnostic.severity is Severity.ERROR)
    return suite_of(spec, cases, max(1, len(located)), failed)


def suite_of(name: str, cases: Iterable[str], number: int, failed: int, seconds: float = 0) -> str:
    """A report of one suite, with the lines of its cases."""
    counts = f'tests="{number}" failures="{failed}" errors="0" skipped="0" time="{seconds:.0f}"'
    head = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="fleetc" {counts}>']
    suite = [f'<testsuite name="{html(name)}" {counts}>', *cases, "</testsuite>"]
    return "\n".join([*head, *suite, "</testsuites>"]) + "\n"


def _name(item: Located) -> str:
    """A name that stays while lines move, so that services know the case again."""
    diagnostic = item.diagnostic
    return f"{NAMES[diagnostic.severity]}[{diagnostic.code}] {diagnostic.message}"


def _case(item: Located, suite: str, name: str) -> list[str]:
    # The HTML encoder writes XML entities, and makes visible what XML cannot hold.
    diagnostic = item.diagnostic
    place = f' file="{html(item.primary.file)}"' if item.primary.file else ""
    place += f' line="{item.primary.line}"' if item.primary.line else ""
    text = "\n".join(map(html, block(item)))
    output = f"<system-out>{text}</system-out>"
    if diagnostic.severity is Severity.ERROR:
        output = f'<failure type="{html(diagnostic.code)}" message="{html(diagnostic.message)}">{text}</failure>'
    return [f'<testcase classname="{html(suite)}" name="{html(name)}"{place} time="0">', output, "</testcase>"]
