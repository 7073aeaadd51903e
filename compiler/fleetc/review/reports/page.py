"""What all pages for a browser share: the frame with its policy, the filter, and the numbers that hosts have in it.

In: the shipped files of `templates/html/`, and the body of a page. Out: HTML. Style and script are constant files. The
page's policy admits only these two, by digest, so its texts cannot load anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

from fleetc.emit.templates import Encoded, Templates
from fleetc.review.reports import wording
from fleetc.text.counting import counted

NAME = 300
"""The most characters of a name that a page shows."""

SENTENCE = 1_000


def framed(texts: Mapping[str, str], title: str, body: str, tool: str, many: bool) -> str:
    """A whole page. `texts` are the shipped templates, by path; of `many` parts a browser lays out those in sight."""
    style, script = texts["html/page.css"], texts["html/page.js"]
    view = {
        "policy": f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        "style": Encoded(style),
        "script": Encoded(script),
        "title": title,
        "many": many,
        "tool": wording.clip(tool, NAME),
        "body": Encoded(body),
    }
    return Templates(texts).render("html/page.html.j2", view)


class HostList:
    """The hosts that a page can be filtered by, each with its number."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(set(names))
        self._numbers = {host: number for number, host in enumerate(self._names)}

    def __contains__(self, host: str) -> bool:
        return host in self._numbers

    def ranges(self, hosts: Iterable[str]) -> str:
        """Hosts as numbers, neighbours as one range: "0-3 7"; empty for the whole fleet."""
        runs: list[list[int]] = []
        for number in sorted(self._numbers[host] for host in set(hosts)):
            if runs and runs[-1][1] == number - 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        return " ".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)

    def form(self, templates: Templates, example: str) -> Encoded:
        """The filter of a page; `example` says what to look for as text."""
        view = {"hosts": [wording.clip(host, NAME) for host in self._names], "example": example}
        return Encoded(templates.render("html/filter.html.j2", view))


_ADDRESS = re.compile(r"(?<![0-9A-Za-z])(0x[0-9a-fA-F]{4})([0-9a-fA-F]{32,})([0-9a-fA-F]{4})(?![0-9A-Za-z])")


def shortened(templates: Templates, text: str) -> str:
    """A text whose addresses and hashes show their ends; who clicks one or moves to it by keyboard sees all of it."""
    parts = _ADDRESS.split(text)
    if len(parts) == 1:
        return text
    view = {
        "parts": [
            {"plain": parts[place], "start": start, "rest": rest, "end": end}
            for place in range(0, len(parts), 4)
            for start, rest, end in (parts[place + 1 : place + 4] or ("", "", ""),)
        ]
    }
    return Encoded(templates.render("html/address.html.j2", view))


def first(texts: Sequence[str], limit: int, thing: str) -> list[str]:
    """The first texts, and how many more there are."""
    more = len(texts) - limit
    return [*texts[:limit], *([f"and {counted(more, thing)}"] if more > 0 else [])]


def _digest(text: str) -> str:
    """A text as the source of a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
