"""A compile that uses what one of a similar spec kept gives the same result as a fresh one, and lowers few hosts."""

from __future__ import annotations

import re
import tomllib

import pytest
import tomli_w

from fleetc.language.fleet import Fleet
from fleetc.lower import lower, lower_like
from fleetc.lower.noting import Likeness, Noting
from fleetc.pipeline import Compiled, compile_spec
from fleetc.toml.document import Source
from tests.mutating import mutations, spread
from tests.support import EXAMPLES, example_sources, example_text, few, shipped

EDITS = 500


def compiled(text: str, like: Compiled | None = None) -> Compiled:
    return compile_spec([Source("fleet.toml", text)], *shipped(), like=like, keep=True)


def reused(before: Compiled, after: Compiled) -> int:
    """How many hosts were not lowered again."""
    assert before.blueprint is not None and after.blueprint is not None
    known = {host.name: host for host in before.blueprint.hosts}
    return sum(known.get(host.name) is host for host in after.blueprint.hosts)


@pytest.mark.parametrize("name", EXAMPLES)
def test_edited_spec_compiles_to_the_same_as_from_nothing(name: str) -> None:
    """Seeded edits of one field, each on a spec where the last one is undone or stays."""
    base = raw = tomllib.loads(example_text(name))
    last = compiled(tomli_w.dumps(raw))
    for turn, edit in enumerate(spread(mutations(raw, raw), few(EDITS) // len(EXAMPLES) + 1, "like")):
        raw = edit.apply(raw if turn % 3 == 1 else base)
        text = tomli_w.dumps(raw)
        fresh, found = compile_spec([Source("fleet.toml", text)], *shipped()), compiled(text, last)
        assert found.tree == fresh.tree, edit
        assert found.blueprint == fresh.blueprint, edit
        assert found.checked.fleet == fresh.checked.fleet
        assert found.checked.diagnostics == fresh.checked.diagnostics
        if found.tree is None:
            raw = base
        else:
            last = found


@pytest.mark.parametrize("name", EXAMPLES)
def test_unchanged_hosts_are_not_lowered_again(name: str) -> None:
    sources = example_sources(name)
    first = compile_spec(sources, *shipped(), keep=True)
    again = compile_spec(sources, *shipped(), like=first)
    assert again.blueprint is not None
    assert reused(first, again) == len(again.blueprint.hosts)
    assert again.tree == first.tree


def test_price_of_two_gateways_lowers_their_hosts_alone() -> None:
    text = example_text("two-regions")
    first = compiled(text)
    after = compiled(re.sub(r'max_price = "[0-9]+ wei', 'max_price = "1301 wei', text, count=1), first)
    assert after.blueprint is not None and after.tree != first.tree
    assert len(after.blueprint.hosts) - reused(first, after) == 2


def test_numbers_spelt_in_another_way_are_no_known_value() -> None:
    """0.5 equals 0.50, and files have what is written."""
    text = example_text("two-regions")
    spelt = re.sub(r"\b([0-9]+\.?[0-9]*) (wei|USD|ETH) /", _longer, text)
    assert spelt != text
    assert compiled(spelt, compiled(text)).tree == compiled(spelt).tree


def _longer(number: re.Match[str]) -> str:
    return f"{number[1]}{'00' if '.' in number[1] else '.00'} {number[2]} /"


def test_templates_that_changed_render_every_file_again() -> None:
    sources, (templates, playbooks) = example_sources("demo"), shipped()
    first = compile_spec(sources, templates, playbooks, keep=True)
    other = {name: f"# new\n{text}" if name.startswith("compose/") else text for name, text in templates.items()}
    assert compile_spec(sources, other, playbooks, like=first).tree == compile_spec(sources, other, playbooks).tree
    assert compile_spec(sources, other, playbooks).tree != first.tree


def test_everything_read_is_noted_also_behind_an_answer() -> None:
    """Whoever is told an answer depends on what it came from, also when it was found for somebody else."""
    fleet = _fleet("two-regions")
    noting = Noting(fleet)
    node = fleet.nodes[0]

    def ask(of: Fleet, asked: object) -> str:
        return of.hosts[node.settings.host].address

    for _ in range(2):
        noting.answer(ask, node)
        assert ("hosts", node.settings.host) in noting.taken()
    assert node.settings.host in noting.hosts and "nowhere" not in noting.hosts
    assert {("hosts", node.settings.host), ("hosts", "nowhere")} <= noting.taken()
    assert list(noting.wallets) and ("wallets", None) in noting.taken()
    assert noting.nodes and ("nodes", None) in noting.taken()
    with pytest.raises(AttributeError):
        _ = noting.answers


def test_order_and_type_count_as_well_as_equality() -> None:
    one, other = _fleet("demo"), _fleet("demo")
    notes = lower_like(one).notes
    assert all(Likeness(one, one).holds(read) for read in notes.values())
    assert not any(Likeness(one, other).holds(read) for read in notes.values())  # equal, but not known to be the same


def _fleet(name: str) -> Fleet:
    fleet = compile_spec(example_sources(name), *shipped()).checked.fleet
    assert fleet is not None
    assert lower_like(fleet).blueprint == lower(fleet)
    return fleet
