"""The pages of `fleetc explain`: one for each diagnostic code.

In: the docstrings of the rules, the tables in `pages/`, and the signatures of log lines. Out: `pages()`. Called by
`cli/` and `reference.py`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import cache

from fleetc.messages.pages import PAGES, Page
from fleetc.rules import rules
from fleetc.upstream.signatures import signatures

_WIDTH = 118


@cache
def pages() -> Mapping[str, str]:
    """The text of each page, sorted by code.

    A page is a sentence, then the parts "Why:", "Fix:" (if `fleetc check --fix` repairs it), "Example:" (rules only)
    and "Instead:".
    """
    texts = {code: _text(page) for code, page in PAGES.items()}
    texts |= {
        code: _text(Page(signature.what, signature.why, signature.handling)) for code, signature in signatures().items()
    }
    texts |= {rule.code: rule.page.strip() + "\n" for rule in rules()}
    return dict(sorted(texts.items()))


def _text(page: Page) -> str:
    why = textwrap.fill(f"Why: {page.why}", _WIDTH)
    instead = textwrap.indent(textwrap.fill(page.instead, _WIDTH - 4), "    ")
    if page.fix:
        why += "\n\n" + textwrap.fill(f"Fix: `fleetc check --fix` fixes it {page.fix}", _WIDTH)
    return f"{page.what}\n\n{why}\n\nInstead:\n\n{instead}\n"
