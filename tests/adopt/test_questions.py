"""Questions and reasons are values: their text is made once, and a question is read from it again."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleetc.adopt import adopt
from fleetc.adopt.found.questions import Ask, Question, Reason, Why, facts_of, read
from fleetc.toml.document import Source

FACT = re.compile(r"\{([a-z_]+)\}")
WORDS = st.from_regex(r"[A-Za-z0-9$/._-]{1,12}( [A-Za-z0-9$/._-]{1,12}){0,2}", fullmatch=True)
TABLES = st.sampled_from([("fleet",), ("wallets", "payer"), ("hosts", "gpu-1"), ("gateways", "gate")])
EXAMPLES = st.sampled_from(["", '"0x..."', '{ env = "RPC_URL" }', "[0, 1]", '"a: b  # c"', "3"])


@settings(max_examples=10)
@given(st.data())
@pytest.mark.parametrize("kind", Ask, ids=lambda kind: kind.name)
def test_a_question_is_read_from_its_text(kind: Ask, data: st.DataObject) -> None:
    table = data.draw(TABLES)
    facts = {name: data.draw(WORDS) for name in FACT.findall(kind.value)}
    question = Question(kind, (*table, "some_key", "inner"), facts_of(facts), data.draw(EXAMPLES))
    assert read(table, question.line) == question


@pytest.mark.parametrize("line", ["TODO", "TODO: buy milk", "TODO key = : nothing", "from start.sh", "TODO rpc: hm"])
def test_other_comments_are_no_questions(line: str) -> None:
    assert read(("fleet",), line) is None


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
        table = question.place[: 1 if question.place[0] == "fleet" else 2]
        assert read(table, question.line) == question
