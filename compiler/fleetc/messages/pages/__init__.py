"""What `fleetc explain` says about messages that come from no rule.

In: the tables beside this. Out: `PAGES`: for each code a sentence, why it matters, and what to do instead.
`messages/explain.py` gives them the form that the pages of rules have.
"""

from __future__ import annotations

from fleetc.messages.pages.hosts import HOST_PAGES
from fleetc.messages.pages.logs import LOG_PAGES
from fleetc.messages.pages.page import Page
from fleetc.messages.pages.reviews import REVIEW_PAGES
from fleetc.messages.pages.rollouts import ROLLOUT_PAGES
from fleetc.messages.pages.running import RUNNING_PAGES
from fleetc.messages.pages.specs import SPEC_PAGES
from fleetc.messages.pages.streams import STREAM_PAGES

__all__ = ["PAGES", "Page"]

PAGES: dict[str, Page] = (
    SPEC_PAGES | REVIEW_PAGES | ROLLOUT_PAGES | HOST_PAGES | RUNNING_PAGES | STREAM_PAGES | LOG_PAGES
)
"""The pages by code."""
