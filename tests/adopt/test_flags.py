"""The flag reader of adopting against recorded facts about the node's own parser, and against the model of the node."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.adopt.found.process import Word
from fleetc.adopt.node.flags import duration, effective, integer, parse_config, parse_words
from fleetc.places.diagnostic import Span
from tests.node import StartupError, read
from tests.node import values as go

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent.parent / "data/node_parser_vectors.json").read_text())
SMALL = {"s": "string", "t": "string", "b": "bool", "n": "int", "d": "duration", "f": "float64"}
DEFAULTS = {"s": "DEF", "t": "DEF", "b": False, "n": 0, "d": 0, "f": 0}


def words(texts: Sequence[str]) -> list[Word]:
    """Words without a place of their own."""
    return [Word(text, Span("x", 0, 1)) for text in texts]


@pytest.mark.parametrize("vector", [one for one in VECTORS if "repeat" not in one["input"]], ids=lambda v: v["id"])
def test_reader_agrees_with_what_the_real_parser_did(vector: dict[str, Any]) -> None:
    given_input, expect = vector["input"], vector["expect"]
    types = given_input.get("flags", SMALL)
    if "args" in given_input:
        parsed = parse_words(words(given_input["args"]), types)
    else:
        parsed = parse_config("x.conf", given_input["text"], types)
    assert bool(parsed.wrong) is bool(expect.get("error"))
    if expect.get("error"):
        return
    texts = {setting.flag: setting.text for setting in parsed.given}
    for name, value in expect.items():
        if name == "rest":
            stopper = parsed.stopped_by
            ignored = [word.text for word in parsed.ignored]
            assert (ignored[1:] if stopper is not None and stopper.text == "--" else ignored) == value
        elif name in texts and types[name] == "bool":
            assert go.boolean(texts[name]) == value
        elif name in texts and types[name] == "int":
            assert integer(texts[name]) == value
        elif name in texts and types[name] == "duration":
            assert duration(texts[name]) == go.duration(str(value))
        elif name in texts and types[name].startswith("float"):
            assert float(texts[name]) == float(value) or texts[name] == value
        else:
            assert texts.get(name, DEFAULTS.get(name)) == value


TEXTS = st.sampled_from(
    ["-gateway", "--gateway", "-gateway=false", "-reward", "false", "-v", "6", "-v=7", "-dataDir", "/a", "-datadir=/b",
     "--", "-", "-network", "offchain", "-maxAttempts=010", "-maxAttempts", "-unknown", "-discoveryTimeout=1m30s",
     "-discoveryTimeout", "500", "", "-httpAddr=:1", "-=x", "---v"]
)  # fmt: skip
LINES = st.sampled_from(
    ["gateway", "gateway true", "v 6", "v 6 # loud", "# v 7", "", "  monitor  ", "dataDir /c", "datadir /d", "LP_V 9",
     "maxAttempts 0x10", "region a#b", "httpIngest false"]
)  # fmt: skip
VARIABLES = st.dictionaries(
    st.sampled_from(["LP_V", "LP_DATADIR", "LP_GATEWAY", "LP_MAXATTEMPTS", "LP_REGION"]),
    st.sampled_from(["", "1", "true", "/e", "5"]),
)


def _model(args: Sequence[str], env: Mapping[str, str], config: str) -> Any:
    return read([*args], {"LP_CONFIG": "x.conf", **env}, {"x.conf": config})


@given(st.lists(TEXTS, max_size=8), VARIABLES, st.lists(LINES, max_size=4))
def test_settings_in_force_are_those_of_the_model(args: list[str], env: dict[str, str], lines: list[str]) -> None:
    config = "\n".join(lines)
    try:
        wanted = _model(args, env, config)
    except StartupError:
        wanted = None
    parsed, file = parse_words(words(args)), parse_config("x.conf", config)
    variables = {name: Word(text, Span("e", 0, 1)) for name, text in env.items()}
    found, _ = effective(parsed, variables, file)
    if wanted is None:
        bad_env = any(name in ("LP_GATEWAY", "LP_MAXATTEMPTS") for name in env)
        assert parsed.wrong or file.wrong or bad_env or not parsed.given
        return
    assert not parsed.wrong
    assert set(found) - {"config"} == set(wanted.given) - {"config"}
    for flag, setting in found.items():
        known = wanted.values[flag]
        if isinstance(known, bool):
            assert go.boolean(setting.text) == known
        elif isinstance(known, str):
            assert setting.text == known
    assert tuple(word.text for word in parsed.ignored)[-len(wanted.rest) :] == wanted.rest or not wanted.rest
