"""Edits of key paths in TOML text: every layout, every byte elsewhere kept, and exactly the meant paths changed."""

from __future__ import annotations

import copy
import tomllib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fleetc.fixes import apply
from fleetc.places.diagnostic import Fix, Path, Value, fix_insert, fix_remove, fix_rename, fix_set
from fleetc.toml.document import Source, read_document
from tests.toml.toml_texts import EVERY_FORM, scalars


def edited(text: str, *fixes: Fix) -> str:
    """The text after the fixes; all of them must be made."""
    source = Source("fleet.toml", text)
    document, _ = read_document([source])
    assert document is not None, text
    applied = apply([source], document, fixes)
    assert {change.fix for change in applied.changes} == set(fixes)
    return applied.sources[0].text


def untouched(text: str, *fixes: Fix) -> None:
    """Fail when the fixes change anything."""
    source = Source("fleet.toml", text)
    document, _ = read_document([source])
    assert document is not None, text
    assert apply([source], document, fixes).sources[0].text == text


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ('a = "x"  # why\n', ("a",), "y", 'a = "y"  # why\n'),
        ("a = 'x'", ("a",), "y", "a = 'y'"),
        ("a = 'x'", ("a",), "it's", 'a = "it\'s"'),
        ('a = """x\n"""\nb = 1\n', ("a",), "y", 'a = "y"\nb = 1\n'),
        ('a = "8"\n', ("a",), 8, "a = 8\n"),
        ('[t]\na.b = { c = ["x", "y"] } # z\n', ("t", "a", "b", "c", 1), "z", '[t]\na.b = { c = ["x", "z"] } # z\n'),
        ('a = "true"', ("a",), True, "a = true"),
        ('a = "x"', ("a",), ("x",), 'a = ["x"]'),
        ("[[t]]\na = 1\n[[t]]\na = 1 # second\n", ("t", 1, "a"), 2, "[[t]]\na = 1\n[[t]]\na = 2 # second\n"),
        ("a = 1\n", ("a",), 'back\\slash "quote"\t', 'a = "back\\\\slash \\"quote\\"\\t"\n'),
    ],
)
def test_value_is_replaced_and_nothing_else(before: str, path: Path, value: Value, after: str) -> None:
    assert edited(before, fix_set(path, value)) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("[t]\na = 1\n\n# about u\n[u]\n", ("t", "k"), "[t]\na = 1\nk = 5\n\n# about u\n[u]\n"),
        ("[t]\na = 1 # why\n", ("t", "k"), "[t]\na = 1 # why\nk = 5\n"),
        ("[t]\na=1", ("t", "k"), "[t]\na=1\nk=5"),
        ("[t]  # head\n[u]\n", ("t", "k"), "[t]  # head\nk = 5\n[u]\n"),
        ("[t]\n  long = 1\n  x    = 2\n", ("t", "key"), "[t]\n  long = 1\n  x    = 2\n  key  = 5\n"),
        ("[t]\na = [\n  1,\n] # end\nb.c = 2\n", ("t", "k"), "[t]\na = [\n  1,\n] # end\nb.c = 2\nk = 5\n"),
        ("t = { a = 1 } # why\n", ("t", "k"), "t = { a = 1, k = 5 } # why\n"),
        ("t = {}\n", ("t", "k"), "t = { k = 5 }\n"),
        ("t = [{ a = 1 }, { a = { b = 2 } }]\n", ("t", 1, "k"), "t = [{ a = 1 }, { a = { b = 2 }, k = 5 }]\n"),
        ("[[t]]\na = 1\n[[t]]\na = 2\n[u]\n", ("t", 0, "k"), "[[t]]\na = 1\nk = 5\n[[t]]\na = 2\n[u]\n"),
        ("t.u.a = 1\nt.u.b = 2\nx = 3\n", ("t", "u", "k"), "t.u.a = 1\nt.u.b = 2\nt.u.k = 5\nx = 3\n"),
        ("[t]\nu . a = 1\n", ("t", "u", "k"), "[t]\nu . a = 1\nu . k = 5\n"),
        ("t = { u.a = 1 }\n", ("t", "u", "k"), "t = { u.a = 1, u.k = 5 }\n"),
        ("[t.u]\na = 1\n[t]\nb = 1\n", ("t", "k"), "[t.u]\na = 1\n[t]\nb = 1\nk = 5\n"),
        ("# first\n\n[t]\n", ("k",), "# first\n\nk = 5\n\n[t]\n"),
        ("a = 1\n[t]\n", ("k",), "a = 1\nk = 5\n[t]\n"),
        ("# only", ("k",), "# only\nk = 5\n"),
        ("", ("k",), "k = 5\n"),
        ("[t]\na = 1\n", ("t", "k k"), '[t]\na = 1\n"k k" = 5\n'),
    ],
)
def test_key_goes_behind_the_last_of_its_table_in_its_style(before: str, path: Path, after: str) -> None:
    assert edited(before, fix_insert(path, 5)) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a-b = 1 # a-b\n", ("a-b",), "new = 1 # a-b\n"),
        ("[t.x]\na = 1\n[t.x.y]\n[t]\nz = 1\n", ("t", "x"), "[t.new]\na = 1\n[t.new.y]\n[t]\nz = 1\n"),
        ('t = { "x" = 1 }', ("t", "x"), "t = { new = 1 }"),
        ("x.a = 1\nx.b = 2\n", ("x",), "new.a = 1\nnew.b = 2\n"),
        ("[[x]]\n[[x]]\n", ("x",), "[[new]]\n[[new]]\n"),
    ],
)
def test_key_is_renamed_wherever_it_stands(before: str, path: Path, after: str) -> None:
    assert edited(before, fix_rename(path, "new")) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a = 1 # why\nb = 2\n", ("a",), "b = 2\n"),
        ("[t]\na = [\n 1\n]\n", ("t", "a"), "[t]\n"),
        ("t = { a = 1, b = 2 }", ("t", "a"), "t = { b = 2 }"),
        ("t = { a = 1, b = 2 }", ("t", "b"), "t = { a = 1 }"),
        ("t = { a = 1 }", ("t", "a"), "t = {}"),
        ("a = [1, 2, 3]", ("a", 1), "a = [1, 3]"),
        ("a = [1, 2, 3]", ("a", 2), "a = [1, 2]"),
        ("a = [\n  1, # one\n  2, # two\n]\n", ("a", 0), "a = [\n  2, # two\n]\n"),
        ("[[s]]\na = 1\n\n[[s]]\na = 2\n\n# about t\n[t]\n", ("s", 0), "[[s]]\na = 2\n\n# about t\n[t]\n"),
        ("[[s]]\na = 1\n\n[[s]]\na = 2 # x\n\n# about t\n[t]\n", ("s", 1), "[[s]]\na = 1\n\n# about t\n[t]\n"),
        ("x = 1\n\n[[s]]\na = 1\n[s.deep]\nb = 1\n", ("s", 0), "x = 1\n"),
        ("s = [{ a = 1 }]\n", ("s", 0), "s = []\n"),
    ],
)
def test_what_is_taken_away_leaves_no_gap(before: str, path: Path, after: str) -> None:
    expected = after
    assert edited(before, fix_remove(path)) == expected


def test_many_edits_meet_in_one_text() -> None:
    text = "[t]\na-b = '1' # one\n[[s]]\nx = 1\n[[s]]\nx = 2\n[[s]]\nx = 3\n"
    fixes = [fix_set(("t", "a-b"), 1), fix_rename(("t", "a-b"), "a_b"), fix_insert(("t", "c"), True)]
    after = edited(text, *fixes, fix_remove(("s", 0)), fix_remove(("s", 2)), fix_insert(("t", "d"), False))
    assert after == "[t]\na_b = 1 # one\nc = true\nd = false\n[[s]]\nx = 2\n"


def test_fix_that_contradicts_the_text_is_left_out_and_the_others_are_made() -> None:
    text = "a = 1\nb = '2'\n[t]\nc = 1\n"
    source = Source("fleet.toml", text)
    document, _ = read_document([source])
    assert document is not None
    wrong = [
        fix_insert(("a",), 2),
        fix_rename(("b",), "a"),
        fix_set(("t",), 1),
        fix_remove(("z",)),
        fix_set(("a", "x"), 1),
    ]
    applied = apply([source], document, [*wrong, fix_set(("b",), 2)])
    assert applied.sources[0].text == "a = 1\nb = 2\n[t]\nc = 1\n"


def test_a_fix_is_made_whole_or_not_at_all() -> None:
    untouched("a = 1\n", Fix((*fix_set(("a",), 2).edits, *fix_set(("b",), 2).edits)))


def test_edit_goes_where_the_path_is_set() -> None:
    sources = [
        Source("base.toml", "# base\n[t]\na = '1'\nb = '2'\n[u]\nold = 1\n"),
        Source("over.toml", "[t]\nb = '3' # over\n[u]\nold = 2\n"),
    ]
    document, _ = read_document(sources)
    assert document is not None
    fixes = [fix_set(("t", "a"), 1), fix_set(("t", "b"), 3), fix_rename(("u", "old"), "new"), fix_insert(("k",), 1)]
    base, over = (source.text for source in apply(sources, document, fixes).sources)
    assert base == "# base\nk = 1\n\n[t]\na = 1\nb = '2'\n[u]\nnew = 1\n"
    assert over == "[t]\nb = 3 # over\n[u]\nnew = 2\n"


def test_list_of_an_overlay_is_not_emptied_when_the_one_below_would_come_back() -> None:
    sources = [Source("base.toml", "[[s]]\na = 1\n"), Source("over.toml", "[[s]]\na = 2\n")]
    document, _ = read_document(sources)
    assert document is not None
    assert list(apply(sources, document, [fix_remove(("s", 0))]).sources) == sources


# ------------------------------------------------------------------------------------------------------------- laws


def meant(raw: dict[str, Any], fix: Fix) -> dict[str, Any] | None:
    """What a fix of one edit makes of plain values; None when it has no place. Written without the compiler."""
    (edit,) = fix.edits
    after = copy.deepcopy(raw)
    table: Any = after
    for part in edit.path[:-1]:
        table = table[part]
    key: Any = edit.path[-1]
    if edit.action == "set":
        table[key] = edit.value
    elif edit.action == "insert":
        if not isinstance(table, dict) or key in table:
            return None
        table[key] = edit.value
    elif edit.action == "rename":
        if not isinstance(key, str) or edit.value in table:
            return None
        table[edit.value] = table.pop(key)
    else:
        del table[key]
    return after


def without_what_is_empty(raw: dict[str, Any], path: Path) -> dict[str, Any]:
    """The list or table at the path's parent may be gone with its last item: not every form can write an empty one."""
    after = copy.deepcopy(raw)
    table: Any = after
    for part in path[:-2]:
        table = table[part]
    if len(path) > 1 and table[path[-2]] in ([], {}):
        del table[path[-2]]
    return after


def read(text: str) -> dict[str, Any]:
    return tomllib.loads(text, parse_float=Decimal)


def check_law(text: str, path: Path, fix: Fix) -> bool:
    """One edit: what is read differs as it should or nothing changed; the rest of the text is as it was."""
    source = Source("fleet.toml", text)
    document, _ = read_document([source])
    assert document is not None, text
    applied = apply([source], document, [fix])
    after = applied.sources[0].text
    if not applied.changes:
        assert after == text
        return False
    wanted = meant(read(text), fix)
    assert wanted is not None
    assert read(after) in (wanted, without_what_is_empty(wanted, path))
    comments = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    if fix.edits[0].action != "remove":
        assert [line for line in after.splitlines() if line.lstrip().startswith("#")] == comments
    span = document.span(path)
    if fix.edits[0].action == "set":
        assert span is not None
        assert after.startswith(text[: span.start]) and after.endswith(text[span.end :])
        assert not apply([Source("fleet.toml", after)], _document(after), [fix]).changes
    if fix.edits[0].action == "insert":
        at = next((i for i, (x, y) in enumerate(zip(text, after, strict=False)) if x != y), len(text))
        assert after.endswith(text[at:]), "an insertion only adds"
    return True


def _document(text: str) -> Any:
    document, _ = read_document([Source("fleet.toml", text)])
    return document


def fixes_at(path: Path, value: Any) -> list[Fix]:
    found = [fix_set(path, "new 'text' \""), fix_remove(path)]
    if isinstance(path[-1], str):
        found.append(fix_rename(path, "renamed-key"))
    if isinstance(value, dict):
        found.append(fix_insert((*path, "inserted"), 7))
    return found


def test_law_holds_at_every_path_of_a_text_with_every_form() -> None:
    made = [
        check_law(EVERY_FORM, path, fix) for path, value in scalars(read(EVERY_FORM)) for fix in fixes_at(path, value)
    ]
    assert sum(made) > 0.8 * len(made), f"{sum(made)} of {len(made)} edits found their place"


KEYS = st.sampled_from(["a", "b", "c", '"q k"', "'l'", "d-e"])
SCALARS = st.sampled_from(["1", "true", '"x # y"', "'z'", '"""m\nn"""', "0.5", "[]", "{}", '"]"', "'}'"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda items: "[ # open\n" + "".join(f"  {item}, # item\n" for item in items) + "]"
        ),
        st.dictionaries(KEYS, SCALARS.filter(lambda v: "\n" not in v), min_size=1, max_size=3).map(
            lambda items: "{ " + ", ".join(f"{key} = {value}" for key, value in items.items()) + " }"
        ),
    ),
    max_leaves=4,
)
EQUALS = st.sampled_from(["=", " = ", "   = ", "\t=\t"])
ENDS = st.sampled_from(["\n", " # note\n", "\n\n", "\n# below\n", "  \n"])
PAIRS = st.builds(
    lambda keys, equals, value, end, indent: f"{indent}{'.'.join(keys)}{equals}{value}{end}",
    st.lists(KEYS, min_size=1, max_size=2),
    EQUALS,
    VALUES,
    ENDS,
    st.sampled_from(["", "  "]),
)
HEADERS = st.builds(
    lambda keys, many, end: f"[[{'.'.join(keys)}]]{end}" if many else f"[{'.'.join(keys)}]{end}",
    st.lists(st.sampled_from(["t", "u", "v", "a"]), min_size=1, max_size=2),
    st.booleans(),
    ENDS,
)
TEXTS = st.lists(st.one_of(PAIRS, PAIRS, HEADERS), max_size=8).map("".join)


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(TEXTS, st.data())
def test_law_an_edit_changes_its_path_and_nothing_else(text: str, data: st.DataObject) -> None:
    try:
        raw = read(text)
    except tomllib.TOMLDecodeError:
        assume(False)
    assume(raw)
    path, value = data.draw(st.sampled_from(list(scalars(raw))))
    check_law(text, path, data.draw(st.sampled_from(fixes_at(path, value))))
