"""What comments with TODO leave open: values that are marked behind them, and lines that ask."""

from __future__ import annotations

import pytest

from fleetc.cli.first.spec import Answers, Kind, Network, first_spec
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


def test_only_comments_that_begin_with_todo_count() -> None:
    sound = offchain(free_gateway(), free_orchestrator(), name='"x"  # TODO: a better one')
    assert codes(sound) == [CODE]
    for name in ('"x"  # see TODO.md', '"x"  # TODOS', '"x"\n# see TODO.md'):
        assert codes(offchain(free_gateway(), free_orchestrator(), name=name)) == []
    assert CODE not in codes(offchain(free_gateway(), free_orchestrator(), name='"x # TODO"'))


ASKED = offchain(free_gateway(), free_orchestrator(), name='"x"').replace(
    "[fleet]", '# TODO name: is it this one?\n# TODO network = "...": the source says ${NETWORK}\n[fleet]'
)
"""A spec with questions above a table, as adopting writes them."""


def test_lines_that_ask_are_shown_until_they_are_gone() -> None:
    shown = printed(ASKED, CODE)
    assert shown.startswith("warning[todo-left]: 2 TODO lines are left\n")
    assert "# TODO name: is it this one?" in shown and '# TODO network = "..."' in shown
    assert codes(ASKED.replace("# TODO name: is it this one?\n", "")) == [CODE]
    assert codes(ASKED.replace("# TODO", "#")) == []
    below = ASKED.replace("# TODO name: is it this one?\n", "").replace("# TODO network", "# network")
    assert codes(below.replace('name = "x"', '# TODO name = "y"  # a better one\nname = "x"')) == [CODE]


def test_line_that_asks_shows_no_secret() -> None:
    address = "https://arb-mainnet.g.alchemy.com/v2/Jq3kX9vT0aLmN4pRs7uWyZ2bCdEfGhIj"
    shown = printed(ASKED.replace("${NETWORK}", address), CODE)
    assert "2 TODO lines are left" in shown and "Jq3kX9vT0aLmN4pRs7" not in shown


@pytest.mark.parametrize("at", ["", 'at = "fleet"\n'])
def test_lines_that_ask_may_be_silenced(at: str) -> None:
    assert codes(f'{ASKED}\n[silences.later]\ncode = "todo-left"\n{at}reason = "we ask the operator next week"\n') == []


def test_it_may_be_silenced() -> None:
    silence = '[silences.later]\ncode = "todo-left"\nreason = "the name is decided next week"\n'
    assert codes(offchain(free_gateway(), free_orchestrator(), silence, name='"x"  # TODO: a better one')) == []


def test_line_at_the_end_of_a_table_is_silenced_there() -> None:
    silence = '[silences.later]\ncode = "todo-left"\nat = "{}"\nreason = "they count them next week"\n'
    sound = offchain(free_gateway(), free_orchestrator(), name='"x"')
    first, _, rest = sound.partition("\n[hosts")
    lines = "# TODO region: is it this one?\n# TODO network: and this?\n"
    asked = f"{first.rstrip()}\n{lines}\n[hosts{rest}"
    assert codes(asked + silence.format("fleet")) == []
    assert CODE in codes(asked + silence.format("gateways"))
