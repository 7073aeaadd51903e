"""What answers are made of: places in a text, names and their uses, and that no half-written text breaks an answer."""

from __future__ import annotations

import random
from datetime import date
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc import fixes
from fleetc.assist import completion, hints, hover, names, state
from fleetc.assist.names import CannotRenameError, Target
from fleetc.assist.page import Page
from fleetc.assist.state import Snapshot
from fleetc.language import example
from fleetc.language.sharing import CLASSES, tables
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Path as KeyPath
from fleetc.review.other_values import leaves
from fleetc.toml.document import Document, Source, value_at
from tests.support import EXAMPLES, example_sources, example_text

EXAMPLE = Source("fleet.toml", example.text())


PIECES = ("", '"', "[", "[[", "]", "{", "}", "=", ".", ",", "\n", "#", '"""', "'", "[a.", "🜂")


@cache
def snapshot(name: str) -> Snapshot:
    sources = [EXAMPLE] if name == "language" else example_sources(name)
    return state.check(sources, None, date(2026, 1, 1), Snapshot())


@pytest.mark.parametrize("name", ["language", *EXAMPLES])
def test_places_are_those_of_diagnostics(name: str) -> None:
    """A sound text is read by the editor's reader and by the compiler's: every value stands in the same place."""
    document = snapshot(name).document
    assert document is not None
    (source,) = document.sources
    page = Page(source.text)
    paths = {path[:length] for path in leaves(document.written) for length in range(1, len(path) + 1)}
    compared = 0
    for path in paths:
        whole, key = document.span(path), document.span(path, on_key=True)
        value, found = page.value(path), page.find(path)
        assert whole is not None and key is not None and found is not None, path
        if source.text[whole.start] != "[" or whole.start > key.start:
            assert found[1:3] == (key.start, key.end), path
        if value is not None:
            assert value[1:3] == (whole.start, whole.end), path
            compared += 1
    assert compared > len(paths) / 2


@pytest.mark.parametrize("name", ["language", *EXAMPLES])
def test_every_key_and_every_value_can_be_asked_about(name: str) -> None:
    known = snapshot(name)
    page = Page(known.sources[0].text)
    heads = {start for block in page.blocks for _, start, _ in block.parts}
    others = {block.body + at for _, block, mark in page.leaves() for at in (mark.key_start, mark.start)}
    shown = [hover.hover(page, at, known) for at in sorted(heads | others)]
    assert sum(one is None for one in shown) < len(shown) / 10
    for at in sorted(heads | others):
        names.target_at(page, at, known.document)


def test_a_page_made_of_another_is_a_page_made_anew() -> None:
    """What is kept from one key press to the next never shows an old place."""
    chance = random.Random(3)
    text = EXAMPLE.text
    page = Page(text)
    for _ in range(200):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(("", "x", '"', "[", "]\n", "= 1\n", "{")) + text[at + chance.randrange(3) :]
        page = Page(text, page)
        fresh = Page(text)
        assert page.blocks == fresh.blocks
        assert dict(page.marks(page.block_at(at))) == dict(fresh.marks(fresh.block_at(at)))


@given(st.data())
def test_no_text_breaks_an_answer(data: st.DataObject) -> None:
    known = snapshot("language")
    text = EXAMPLE.text
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        put = data.draw(st.sampled_from(PIECES))
        text = text[:at] + put + text[at + data.draw(st.integers(0, 30)) :]
    page = Page(text)
    at = data.draw(st.integers(0, len(text)))
    hover.hover(page, at, known)
    names.target_at(page, at, known.document)
    names.gpu_at(page, at, known.document)
    for one in completion.complete(page, at, known):
        assert 0 <= one.start <= at <= one.end <= len(text)
    for hint in hints.hints(page, 0, len(text), known.document):
        assert 0 <= hint.offset <= len(text)
    parts = list(hints.amounts(page, 0, len(text)))
    assert parts == sorted(parts)
    hints.outline(page)


# ------------------------------------------------------------------------------------------------------------ names


def _targets(document: Document) -> list[Target]:
    found = [Target(table, name) for table in tables() for name in document.written.get(table, {}) if "{" not in name]
    return found + [Target(CLASSES, name) for name in document.written.get(CLASSES, {})]


@pytest.mark.parametrize("name", ["language", "two-regions", "ai-split", "streams"])
def test_whatever_is_renamed_the_spec_says_the_same(name: str) -> None:
    """Every name of a fleet gets another one: as many problems as before, and the old name is nowhere a name."""
    known = snapshot(name)
    assert known.document is not None
    refused = []
    for target in _targets(known.document):
        pages = {"fleet.toml": Page(known.sources[0].text)}
        try:
            (pieces,) = names.rename([known.sources], pages, target, f"{target.name}-x", known.document).values()
        except CannotRenameError as problem:
            refused.append((target, str(problem)))
            continue
        text = pages["fleet.toml"].text
        for start, end, put in sorted(pieces, reverse=True):
            text = text[:start] + put + text[end:]
        after = check_spec([Source("fleet.toml", text)])
        assert sorted(one.code for one in after.diagnostics) == sorted(one.diagnostic.code for one in known.located)
        assert after.document is not None
        assert value_at(after.document.written, (target.table, target.name)) is None
    assert [one for one in refused if one[0].table != "programs" and " on = " not in f" {one[1]}"] == []


@pytest.mark.parametrize("name", ["language", "two-regions", "ai-split", "keyless-gateways"])
def test_every_field_that_takes_a_name_is_known(name: str) -> None:
    """A text that `check` calls an unknown reference once it is another word is a place that a rename must know."""
    known = snapshot(name)
    assert known.document is not None
    document = known.document
    page = Page(known.sources[0].text)
    missed: list[KeyPath] = []
    tried = 0
    every = {name for table in tables() for name in document.written.get(table, {})}
    for path, block, mark in page.leaves():
        start, end = block.body + mark.start, block.body + mark.end
        if page.text[start + 1 : end - 1] not in every or page.text[start] not in "\"'":
            continue
        text = page.text[:start] + '"nobody-has-it"' + page.text[end:]
        codes = {one.code for one in check_spec([Source("fleet.toml", text)]).diagnostics}
        tried += 1
        if "unknown-reference" in codes and not names.named_at(path, key=False):
            missed.append(path)
    assert missed == []
    assert tried > 3


def test_a_name_that_would_do_harm_is_refused() -> None:
    known = snapshot("two-regions")
    assert known.document is not None
    pages = {"fleet.toml": Page(known.sources[0].text)}
    for to, reason in {
        "eu-edge-1": "hosts already has eu-edge-1",
        "Not A Name": "a name has lower-case letters",
        "a.b": "a name has lower-case letters",
        "eu-live": 'the name "eu-live" is used twice',
    }.items():
        with pytest.raises(CannotRenameError, match=reason):
            names.rename([known.sources], pages, Target("hosts", "eu-ai"), to, known.document)


def test_an_overlay_that_removes_something_follows_its_name() -> None:
    base, over = example_sources("two-regions", "staging.toml")
    known = state.check([base, over], None, date(2026, 1, 1), Snapshot())
    assert known.document is not None
    pages = {source.name: Page(source.text) for source in (base, over)}
    alone = check_spec([base]).document
    assert alone is not None
    found = names.rename([[base], [base, over]], pages, Target("hosts", "us-ai"), "ohio", alone)
    assert [put for _, _, put in found["staging.toml"]] == ['"hosts.ohio"']


def test_a_key_press_costs_the_table_that_it_changes() -> None:
    """The other tables are not read again, however many there are."""
    page = Page(EXAMPLE.text)
    for block in page.blocks:
        page.marks(block)
    known = len(page._read)
    at = EXAMPLE.text.index("max_price")
    after = Page(EXAMPLE.text[:at] + "x" + EXAMPLE.text[at:], page)
    for block in after.blocks:
        after.marks(block)
    assert len(after._read) == known + 1


def test_a_header_in_a_string_or_in_a_comment_is_none() -> None:
    text = '# [a]\nx = """\n[b]\n"""\ny = \'\'\'\n[c]\n\'\'\' # """\n[d] # [e]\n[[f]]\n[[f]]\nz = 1\n'
    page = Page(text)
    assert [block.path for block in page.blocks] == [(), ("d",), ("f", 0), ("f", 1)]
    spot = page.find(("f", 1, "z"))
    assert spot is not None and text[spot.start : spot.end] == "z"
    assert [block.path for block in Page("[a]\n[b]\nx = [\n  [1],\n]\n[c\n[d]\n").blocks] == [
        (),
        ("a",),
        ("b",),
        ("d",),
    ]


def test_half_typed_table_hides_nothing_that_is_wrong_elsewhere() -> None:
    text = example_text("two-regions").replace('price = "', 'prise = "')
    typed, after = '\n[gateways.new]\nhost = "eu-edge-1"\nmode = "offchain"\n', text.index("[hosts.")
    snapshot, unreadable = Snapshot(), 0
    for length in range(len(typed) + 1):
        now = text[:after] + typed[:length] + text[after:]
        snapshot = state.check([Source("fleet.toml", now)], None, date(2026, 11, 28), snapshot)
        wrong = [item.primary for item in snapshot.located if item.diagnostic.code == "unknown-key"]
        expected = [number for number, line in enumerate(now.split("\n"), 1) if line.startswith("prise = ")]
        assert [place.line for place in wrong if place.text.startswith("prise")] == expected, typed[:length]
        unreadable += not snapshot.read
    assert unreadable > 20


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('remove = ["hosts.us-ai", "wallets.payer"]\n', '"wallets.payer"'),
        ('[gateways.eu-live]\nmax_price = "1 wei / pixel"\n', '"1 wei / pixel"'),
    ],
)
def test_what_an_overlay_breaks_elsewhere_stands_at_its_cause(text: str, place: str) -> None:
    (base,) = example_sources("two-regions")
    over = Source("staging.toml", text)
    shown = state.check([base, over], None, date(2026, 1, 1), Snapshot())
    moved = [state.caused(item, over.name, Page(text)).primary for item in shown.located]
    lines = ["", *text.split("\n")]
    assert place in [lines[one.line][one.column - 1 : one.end_column - 1] for one in moved]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("[gateways.new]\n|", ["host", "mode"]),
        ("[hosts.new]\n|", ["address", "runtime"]),
        ("[hosts.new]\ngpus = [{ | }]", ["model", "uuid", "memory", "encode_sessions"]),
        ('[hosts.new]\ngpus = [{ memory = "24 |" }]', ["24 TiB", "24 GiB", "24 MiB"]),
        ('[orchestrators.new]\nprice = "1200 |"', ["1200 wei / pixel", "1200 wei / megapixel"]),
        ("[orchestrators.new]\nprice = |", ["1200 wei / pixel"]),
        ('[runners.new]\nprice = "3 |"', ["3 USD / hour", "3 USD / minute", "3 USD / 720p hour"]),
        ("[orchestrators.new]\ngateway_prices = { | }", ["eu-live", "eu-images", "us-live"]),
        ('[orchestrators.new]\ngateway_prices = { eu-live = "1 wei / pixel", | }', ["eu-images", "us-live"]),
        ("[wallets.new]\npassword = |", ["{ env }", "{ host_file }", "{ vault }", "{ command }"]),
        ("[wallets.new]\npassword = { | }", ["env", "host_file", "vault", "command"]),
        ('[silences.new]\ncode = "|"', ["capacity-unknown", "alerts-reach-nobody"]),
        ('[silences.new]\nat = "|"', ["hosts.eu-gpu-1.gpus.0", "hosts.eu-gpu-2.gpus.0"]),
        ("[gateways.|", []),
    ],
)
def test_completion_offers_what_is_wanted_first(typed: str, first: list[str]) -> None:
    (base,) = example_sources("two-regions")
    text = base.text.replace(", encode_sessions = 8", "")
    known = state.check([Source("fleet.toml", text)], None, date(2026, 1, 1), Snapshot())
    before, _, behind = typed.partition("|")
    page = Page(f"{text}\n{before}{behind}")
    labels = [one.label for one in completion.complete(page, len(text) + 1 + len(before), known)]
    assert labels[: len(first) or 1] == first


def test_completion_of_an_overlay_names_what_it_may_remove_or_change() -> None:
    known = snapshot("two-regions")
    text = 'remove = [""]\n[hosts.us-ai]\n[hosts.'
    removed = [one.label for one in completion.complete(Page(text), 11, known)]
    assert "wallets.payer" in removed and "gateways.us-live" in removed
    changed = [one.label for one in completion.complete(Page(text), len(text), known)]
    assert "us-edge" in changed and "us-ai" not in changed


def test_what_a_help_line_asks_about_is_suggested_and_never_made_by_itself() -> None:
    (base,) = example_sources("two-regions")
    text = base.text.replace('host = "us-ai"', 'host = "us-aj"').replace("block_polling_", "block_poling_")
    known = state.check([Source("fleet.toml", text)], None, date(2026, 1, 1), Snapshot())
    assert known.repairs and not any(item.diagnostic.fix for item in known.located)
    assert fixes.repair([Source("fleet.toml", text)], None, date(2026, 1, 1)).sources[0].text == text
