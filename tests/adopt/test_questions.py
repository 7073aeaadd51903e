"""Questions and reasons are values, whose text is made once."""

from __future__ import annotations

import re

import pytest

from fleetc.adopt import adopt
from fleetc.adopt.found.questions import Ask, Reason, Why, facts_of
from fleetc.toml.document import Source

FACT = re.compile(r"\{([a-z_]+)\}")


def test_texts_are_all_different() -> None:
    texts = [kind.value for kind in Ask]
    assert sorted(set(texts)) == sorted(texts)


@pytest.mark.parametrize("why", Why, ids=lambda why: why.name)
def test_a_reason_has_a_text_for_its_facts(why: Why) -> None:
    facts = {name: f"<{name}>" for name in FACT.findall(why.text)}
    text = str(Reason(why, facts_of(facts)))
    assert text and "{" not in text and all(fact in text for fact in facts.values())


def test_questions_of_an_adoption_stand_in_its_spec() -> None:
    adopted = adopt([Source("start.sh", "livepeer -gateway -network arbitrum-one-mainnet -ethUrl https://a.example\n")])
    lines = [line.removeprefix("# ") for line in adopted.text.split("\n")]
    assert adopted.questions
    for question in adopted.questions:
        assert question.line in lines
