"""Values that are marked TODO in a comment behind them."""

from __future__ import annotations

import pytest

from fleetc.cli.first_spec import Answers, Kind, Network, first_spec
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source
from tests.rules.support import free_gateway, free_orchestrator, offchain, printed

CODE = "todo-left"


def codes(text: str) -> list[str]:
    return [found.code for found in check_spec([Source("fleet.toml", text)]).diagnostics]


@pytest.mark.parametrize("kind", Kind)
def test_first_spec_on_a_chain_is_only_right_with_own_values(kind: Kind) -> None:
    """Its accounts belong to nobody: without TODO, which only people can say, all is well."""
    text = first_spec(Answers(kind=kind, network=Network.onchain))
    assert codes(text) == [CODE]
    assert codes(text.replace("# TODO", "#")) == []


def test_message_leads_to_each_value() -> None:
    text = first_spec(Answers(network=Network.onchain))
    shown = printed(text, CODE)
    assert shown.startswith("warning[todo-left]: 3 values are still marked TODO\n")
    assert shown.count("0x1111111111111111111111111111111111111111") == 1 and "RTX 4090" in shown
    assert "= help: write your own, and remove the comment" in shown


def test_a_todo_on_its_own_line_or_in_a_text_is_none() -> None:
    sound = offchain(free_gateway(), free_orchestrator(), name='"x"  # TODO: a better one')
    assert codes(sound) == [CODE]
    for name in ('"x"\n# TODO: a better one', '"x"  # see TODO.md', '"x"  # TODOS'):
        assert codes(offchain(free_gateway(), free_orchestrator(), name=name)) == []
    assert CODE not in codes(offchain(free_gateway(), free_orchestrator(), name='"x # TODO"'))


def test_it_may_be_silenced() -> None:
    silence = '[silences.later]\ncode = "todo-left"\nreason = "the name is decided next week"\n'
    assert codes(offchain(free_gateway(), free_orchestrator(), silence, name='"x"  # TODO: a better one')) == []
