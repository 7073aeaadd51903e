"""The independent model of the node against recorded facts about the node's own parser and start-up rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.node import StartupError, broken_rules, meaning, notes, read, understand
from tests.node import values as go
from tests.node.documents import ai_models
from tests.node.parsing import FlagRow, node_flags
from tests.node.prices import Price, amount

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "data/node_parser_vectors.json").read_text())
DEFAULTS: dict[str, bool | int | float | str] = {
    "string": "DEF",
    "bool": False,
    "int": 0,
    "float64": 0.0,
    "duration": 0,
}
SMALL = {"s": "string", "t": "string", "b": "bool", "n": "int", "d": "duration", "f": "float64"}
HOME = {"HOME": "/root"}
CHAIN = ("-network=arbitrum-one-mainnet", "-ethUrl=https://rpc.example.net")


def small_flags(types: Mapping[str, str]) -> dict[str, FlagRow]:
    rows = {name: FlagRow(kind, DEFAULTS[kind], ("any",)) for name, kind in types.items()}
    return rows | {"config": FlagRow("string", "", ("any",))}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["id"])
def test_parser_agrees_with_what_the_real_parser_did(vector: dict[str, Any]) -> None:
    given_input, expect = vector["input"], vector["expect"]
    if "args" in given_input:
        words, files = given_input["args"], {}
    else:
        text = given_input.get("text")
        if text is None:
            middle = given_input["repeat"]["text"] * given_input["repeat"]["times"]
            text = given_input["prefix"] + middle + given_input["suffix"]
        words, files = ["-config=x.conf"], {"x.conf": text}
    flags = small_flags(given_input.get("flags", SMALL))
    if expect.get("error"):
        with pytest.raises(StartupError):
            read(words, {}, files, flags)
        return
    settings = read(words, {}, files, flags)
    for name, value in expect.items():
        if name == "rest":
            assert list(settings.rest) == value
        elif name == "d":
            assert settings.number(name) == go.duration(value)
        elif name == "f":
            assert str(settings.values[name]).lower() == str(value).lower()
        else:
            assert settings.values[name] == value


def test_last_source_never_wins_over_an_earlier_one() -> None:
    files = {"n.conf": "maxSessions 3\nv 3\nmonitor\n"}
    env = {"LP_MAXSESSIONS": "2", "LP_V": "2", "LP_CONFIG": "n.conf", "LP_MONITOR": ""}
    settings = read(["-v=1"], env, files)
    assert (settings.text("v"), settings.text("maxSessions"), settings.on("monitor")) == ("1", "2", True)


def test_config_key_may_be_the_name_of_the_variable() -> None:
    assert read(["-config=c"], {}, {"c": "LP_NETWORK x\nnetwork y\n"}).text("network") == "y"


def test_environment_wins_over_the_command_line_for_the_data_directory() -> None:
    assert read(["-dataDir=/a"], {"LP_DATADIR": "/b"}).text("dataDir") == "/b"
    assert read(["-dataDir=/a", "-config=c"], {}, {"c": "datadir /b"}).text("dataDir") == "/b"


@pytest.mark.parametrize(
    ("words", "env", "files", "rule"),
    [
        (["-aiHttpAddr=x"], {}, {}, "P1"),
        (["-Network=x"], {}, {}, "P1"),
        (["-reward=no"], {}, {}, "P2"),
        (["-ethPassword"], {}, {}, "P2"),
        ([], {"LP_MAXATTEMPTS": "three"}, {}, "P3"),
        (["-config=none"], {}, {}, "P4"),
        (["-config=c"], {}, {"c": "network=x"}, "P5"),
        (["-config=c"], {}, {"c": "extraNodes 1e3"}, "P5"),
        (["-version"], {}, {}, "exit-0"),
    ],
)
def test_unreadable_settings_stop_the_node(
    words: list[str], env: dict[str, str], files: dict[str, str], rule: str
) -> None:
    with pytest.raises(StartupError) as found:
        read(words, env, files)
    assert found.value.rule == rule


def test_words_behind_a_positional_word_are_lost_in_silence() -> None:
    lost = meaning(["-gateway", "-monitor", "false", "-network=x"], HOME)
    assert lost.notes == ("P6", "R88")
    assert (lost.values["monitor"], lost.values["network"]) == (True, "offchain")


ORCHESTRATOR = ("-orchestrator", "-transcoder", "-serviceAddr=o.example.net:8935")
PAYING = (*CHAIN, "-gateway")
SELLING = (*CHAIN, *ORCHESTRATOR)
AI = ("-orchestrator", "-aiWorker", "-serviceAddr=o.example.net:8935")


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ((*ORCHESTRATOR, "-maxSessions=auto"), "R01"),
        (("-gateway", "-maxSessions=auto"), "R02"),
        (("-gateway", "-maxSessions=0"), "R02"),
        ((*ORCHESTRATOR, "-nvidia=0", "-netint=0"), "R03"),
        ((*ORCHESTRATOR, "-nodes=,"), "R06"),
        ((), "R11"),
        (("-gateway", "-authWebhookUrl=ftp://x"), "R14"),
        ((*PAYING, "-selectRandFreq=0.5"), "R20"),
        (("-network=mainnet", "-gateway"), "R23"),
        ((*PAYING, "-blockPollingInterval=0"), "R25"),
        ((*PAYING, "-pixelsPerUnit=1.5"), "R40"),
        (SELLING, "R41"),
        ((*SELLING, "-pricePerUnit=-1"), "R42"),
        ((*SELLING, "-pricePerUnit=1e10"), "R44"),
        ((*PAYING, "-maxPricePerUnit=1 USD"), "R43"),
        ((*PAYING, "-maxPricePerUnit=1EUR"), "R44"),
        ((*SELLING, "-pricePerUnit=1", '-pricePerGateway={"gateways":[{"ethaddress":"0x1"}]}'), "R45"),
        ((*PAYING, '-maxPricePerCapability={"capabilities_prices":[{"pipeline":"x","price_per_unit":1}]}'), "R48"),
        ((*SELLING, "-pricePerUnit=1", "-ticketEV=1.5"), "R49"),
        ((*SELLING, "-pricePerUnit=1", "-maxFaceValue=1e18"), "R50"),
        ((*PAYING, "-maxTicketEV=-1"), "R51"),
        ((*PAYING, "-depositMultiplier=0"), "R52"),
        ((*AI, "-aiModels=/missing.json"), "R60"),
        ((*AI, "-aiModels=painting:x:true"), "R61"),
        ((*AI, "-aiModels=llm:x:true,llm:y:true"), "R66"),
        ((*AI, "-aiModels=llm:x:true,llm:x:false"), "R69"),
        ((*AI, "-aiModels=Llm:x:true"), "R70"),
        ((*CHAIN, *AI, "-aiModels=llm:x:true"), "R72"),
        (("-gateway", "-transcodingOptions=invalid", "-localVerify=true"), "R80"),
        (("-gateway", "-remoteSignerUrl=abc:def"), "R81"),
        (("-gateway", "-orchWebhookUrl=http\\://host/"), "R82"),
        (("-gateway", "-verifierUrl=http\\://host/"), "R83"),
        (("-gateway", "-verifierUrl=http://host/"), "R83"),
        ((*PAYING, "-liveAICapReportInterval=0"), "R87"),
        (("-orchestrator", "-transcoder", "-serviceAddr=none"), "R91"),
        (("-orchestrator", "-serviceAddr=o.example.net:8935"), "R92"),
        ((*ORCHESTRATOR, "-httpAddr=tcp://0.0.0.0:8935"), "R93"),
        (("-transcoder", "-orchAddr=o:8935"), "R95"),
        (("-aiWorker", "-orchSecret=s", "-aiModels=llm:x:true"), "R95"),
    ],
)
def test_start_up_rule_is_seen(words: tuple[str, ...], rule: str) -> None:
    with pytest.raises(StartupError) as found:
        meaning(words, HOME)
    assert found.value.rules == (rule,)


@pytest.mark.parametrize(
    ("entry", "rules"),
    [
        ({"price_per_unit": 1, "pixels_per_unit": 0.5}, ("R71",)),
        ({"price_per_unit": -1}, ("R73",)),
        ({"price_per_unit": "0.5e-2USD"}, ("R60",)),
        ({"price_per_unit": None}, ("R60",)),
        ({"price_per_unit": 1, "warm": "true"}, ("R60",)),
        ({"price_per_unit": 1, "capacity": 2.0}, ("R60",)),
        ({"price_per_unit": 1, "currency": "EUR"}, ("R44",)),
        ({"price_per_unit": 0}, ()),
        ({"Price_Per_Unit": 1e12, "unknown": []}, ()),
    ],
)
def test_rules_on_a_file_of_models(entry: dict[str, object], rules: tuple[str, ...]) -> None:
    files = {"/m.json": json.dumps([{"pipeline": "llm", "model_id": "m", **entry}])}
    assert broken_rules(read([*CHAIN, *AI, "-aiModels=/m.json"], HOME, files)) == rules


def test_prices_are_not_looked_at_off_chain() -> None:
    assert broken_rules(read(["-gateway", "-maxPricePerUnit=cheap", "-pixelsPerUnit=0"], HOME)) == ()


def test_a_price_list_that_cannot_be_read_is_only_logged() -> None:
    assert "R47" in notes(read([*PAYING, "-maxPricePerCapability=/missing.json"], HOME))


@pytest.mark.parametrize(
    ("words", "http", "cli"),
    [
        (("-gateway",), ("", "127.0.0.1", "9935"), ("", "127.0.0.1", "5935")),
        (("-gateway", "-httpAddr=:8935"), ("", "127.0.0.1", "8935"), ("", "127.0.0.1", "5935")),
        (ORCHESTRATOR, ("https", "*", "8935"), ("", "127.0.0.1", "7935")),
        ((*ORCHESTRATOR, "-httpAddr=:9"), ("https", "*", "9"), ("", "127.0.0.1", "7935")),
        ((*ORCHESTRATOR, "-httpAddr=http://0.0.0.0:9"), ("http", "*", "9"), ("", "127.0.0.1", "7935")),
        (("-transcoder", "-orchSecret=s", "-orchAddr=o"), None, ("", "127.0.0.1", "6935")),
    ],
)
def test_listeners_are_completed_by_role(words: tuple[str, ...], http: object, cli: object) -> None:
    values = meaning(words, HOME).values
    assert (values["httpAddr"], values["cliAddr"]) == (http, cli)


def test_orchestrator_without_any_port_listens_at_random() -> None:
    words = ["-orchestrator", "-transcoder", "-serviceAddr=o.example.net"]
    assert understand(read(words, HOME)).values["httpAddr"] == ("https", "*", "random")


def test_port_of_an_orchestrator_address_depends_on_its_scheme() -> None:
    values = meaning(["-gateway", "-orchAddr=a, b:1 ,https://c"], HOME).values
    assert values["orchAddr"] == ("https://a:8935", "https://b:1", "https://c:443")


def test_worker_uses_the_first_orchestrator_only() -> None:
    values = meaning(["-transcoder", "-orchSecret=s", "-orchAddr=a,b"], HOME).values
    assert values["orchAddr"] == ("https://a:8935",)


def test_stronger_role_wins_in_silence() -> None:
    found = meaning(["-gateway", *ORCHESTRATOR], HOME)
    assert (found.role, found.notes) == ("orchestrator", ("role",))


def test_ingest_closes_itself_on_a_public_listener() -> None:
    assert meaning(["-gateway", "-orchAddr=o"], HOME).values["httpIngest"] is True
    assert meaning(["-gateway", "-orchAddr=o", "-httpAddr=0.0.0.0:1"], HOME).values["httpIngest"] is False


def test_secret_is_the_text_of_a_file_when_there_is_one() -> None:
    values = meaning(["-gateway", "-ethPassword=/p"], HOME, {"/p": "word\n"}).values
    assert values["ethPassword"] == "word"
    assert meaning(["-gateway", "-ethPassword=/p"], HOME, {"/p": ""}).values["ethPassword"] == "/p"


def test_price_is_compared_for_one_pixel() -> None:
    one = meaning([*SELLING, "-pricePerUnit=0.41USD", "-pixelsPerUnit=1e12"], HOME).values["pricePerUnit"]
    other = meaning([*SELLING, "-pricePerUnit=41usd", "-pixelsPerUnit=100000000000000"], HOME).values["pricePerUnit"]
    assert one == other == Price(Fraction(41, 10**14), "USD")


def test_inline_models_mean_the_same_as_a_file() -> None:
    files = {"/m": '[{"pipeline": "llm", "model_id": "m", "warm": true}]'}
    inline = meaning([*AI, "-aiModels=llm:m:true"], HOME).values
    assert inline == meaning([*AI, "-aiModels=/m"], HOME, files).values


def test_last_of_equal_json_keys_wins_in_any_case() -> None:
    assert ai_models('[{"pipeline":"llm","MODEL_ID":"a","model_id":"b"}]')[0].model_id == "b"


def test_price_pattern_takes_an_exponent_for_a_currency() -> None:
    assert amount("1e10") == Price(Fraction(1), "E10")
    assert amount("0.01ETH") == Price(Fraction(10**16), "wei")


def test_every_default_in_the_table_is_readable() -> None:
    for name, row in node_flags().items():
        if row.type == "duration":
            assert go.duration(str(row.default)) >= 0, name
        else:
            assert row.read(str(row.default)) == row.default, name
