"""The file with the ids of streams: what is written is read back, in one spelling, and nothing else is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.stream_api.data import Binding
from fleetc.stream_api.ids import Ids, IdsError, Known, ids_text, read_ids, usable_id, with_bindings

IDS = st.from_regex(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,20}", fullmatch=True)
NAMES = st.text(min_size=1)
BINDINGS = st.builds(Binding, NAMES, st.sampled_from(["env", "vault"]), NAMES, IDS | st.just(""))
TARGETS = st.lists(BINDINGS, max_size=3, unique_by=(lambda row: row[:3], lambda row: row.id or row[:3]))
KNOWN = st.builds(Known, st.none() | IDS, TARGETS.map(sorted).map(tuple), st.just(""))
NAMED = st.lists(st.tuples(NAMES, KNOWN), max_size=3, unique_by=(lambda row: row[0], lambda row: row[1].id or row[0]))
FILES = st.dictionaries(st.text(), NAMED.map(dict), max_size=3)


TARGET = {"profile": "p", "kind": "env", "reference": "S", "id": "t"}


@given(FILES)
def test_what_is_written_is_read_back(ids: Ids) -> None:
    text = ids_text(ids)
    assert read_ids(text) == ids
    assert ids_text(read_ids(text)) == text, "and there is one spelling"


@given(FILES, st.data())
def test_torn_file_is_never_read(ids: Ids, data: st.DataObject) -> None:
    text = ids_text(ids)
    torn = text[: data.draw(st.integers(0, len(text.rstrip()) - 1))]
    with pytest.raises(IdsError):
        read_ids(torn)


@pytest.mark.parametrize(
    ("stream", "place"),
    [
        ({"id": 1}, "streams.u.main.id"),
        ({"id": "a/b"}, "streams.u.main.id"),
        ({"id": ".."}, "streams.u.main.id"),
        ({}, "streams.u.main.id"),
        ({"id": "a", "targets": [{"profile": "p", "kind": "file", "reference": "R", "id": "t"}]}, "targets.0.kind"),
        ({"id": "a", "targets": [{"profile": "p", "kind": "env", "reference": "R"}]}, "targets.0.id"),
        ({"id": "a", "targets": [{**TARGET, "reference": "R"}, TARGET]}, "streams.u.main.targets"),
    ],
)
def test_fault_has_a_place(stream: object, place: str) -> None:
    with pytest.raises(IdsError) as found:
        read_ids(json.dumps({"version": 1, "streams": {"u": {"main": stream}}}))
    assert place in found.value.place


@pytest.mark.parametrize("text", ["", ".", "..", ".a", "a/b", "a b", "a?b", "ü", "a" * 129, "a\n"])
def test_text_that_is_no_id(text: str) -> None:
    assert not usable_id(text)


def test_found_id_replaces_one_that_was_lost() -> None:
    lost, other = Binding("720p", "env", "A", ""), Binding("720p", "env", "B", "t-2")
    found = lost._replace(id="t-1")
    assert with_bindings((lost, other), [found]) == (found, other)
