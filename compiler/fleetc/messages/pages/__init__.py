"""Pages of `fleetc explain` for messages that no rule makes.

In: the tables beside this. Out: `PAGES`: for each code a sentence, why it matters, and what to do instead; `TOPICS`
groups them. `messages/explain.py` gives them the form that the pages of rules have.
"""

from __future__ import annotations

from typing import NamedTuple

from fleetc.messages.pages.adopting import ADOPTING_PAGES
from fleetc.messages.pages.hosts import HOST_PAGES
from fleetc.messages.pages.logs import LOG_PAGES
from fleetc.messages.pages.page import Page
from fleetc.messages.pages.policies import POLICY_PAGES
from fleetc.messages.pages.reviews import REVIEW_PAGES
from fleetc.messages.pages.rollouts import ROLLOUT_PAGES
from fleetc.messages.pages.running import RUNNING_PAGES
from fleetc.messages.pages.sharing import SHARING_PAGES
from fleetc.messages.pages.specs import SPEC_PAGES
from fleetc.messages.pages.streams import STREAM_PAGES

__all__ = ["PAGES", "TOPICS", "Page", "Topic"]


class Topic(NamedTuple):
    """Pages about one thing. `sentence` is for the list of topics."""

    sentence: str
    pages: dict[str, Page]


TOPICS: dict[str, Topic] = {
    "adopting": Topic("Sources of adopt, and mistakes that nodes make today.", ADOPTING_PAGES),
    "files": Topic("Reading specs, settings and logs, and writing trees and reports.", SPEC_PAGES),
    "classes": Topic("Defaults, classes, counter tables and included files.", SHARING_PAGES),
    "reviews": Topic("Comparing with a tree or a revision, sealed plans, and answers of services.", REVIEW_PAGES),
    "policy": Topic("Your own rules, in policy/ beside the spec.", POLICY_PAGES),
    "rollouts": Topic("The journal, and what hosts refuse during a rollout.", ROLLOUT_PAGES),
    "hosts": Topic("What a preflight finds on hosts before anything changes.", HOST_PAGES),
    "running": Topic("Findings of verify: drift, and nodes that do not work.", RUNNING_PAGES),
    "streams": Topic("The stream API, and the file with the ids of streams.", STREAM_PAGES),
    "logs": Topic("What diagnose finds in the logs of nodes.", LOG_PAGES),
}
"""The pages by topic. A topic may have the name of a folder of rules."""

PAGES: dict[str, Page] = {code: page for topic in TOPICS.values() for code, page in topic.pages.items()}
"""The pages by code."""
