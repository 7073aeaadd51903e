"""Questions are known by their kinds, whatever their words say."""

from __future__ import annotations

import pytest

from fleetc.adopt import asking_words
from fleetc.adopt.adoption import adopt
from fleetc.adopt.questions import Kind, Question, questions_in
from fleetc.adopt.said import Said
from fleetc.cli.prompts import sentence
from fleetc.toml.document import Source

CHAIN = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethAcctAddr 0x{} -ethPassword /etc/pw"
GATEWAY = f"-gateway {CHAIN.format('1' * 40)} -orchAddr o.example.net:8935 -maxPricePerUnit 9"
CONTAINER = (
    f"services: {{gw: {{image: 'livepeer/go-livepeer:v0.9.1', command: {GATEWAY} -cliAddr 0.0.0.0:7935, "
    "volumes: ['./gw:/root/.lpData']}}"
)
RUNNER = '[{"pipeline": "llm", "model_id": "m", "url": "http://127.0.0.1:9", "token": "not-to-be-told"}]'


def asked(*sources: tuple[str, str], **hosts: str) -> dict[str, Question]:
    """What the spec of some sources asks, by key; `hosts` are those of sources by their stem."""
    of = {name: hosts[name.partition(".")[0]] for name, _ in sources if name.partition(".")[0] in hosts}
    text = adopt([Source(name, text) for name, text in sources], Said(hosts=of)).text
    return {one.key: one for one in questions_in(text)}


@pytest.mark.parametrize(
    ("sources", "kinds"),
    [
        ((("gw.sh", f"livepeer {GATEWAY}"),), {
            "address": Kind.ADDRESS, "node_release": Kind.VALUE, "deposit": Kind.FUNDS, "reserve": Kind.FUNDS,
            "minimum_balance": Kind.BALANCE,
        }),
        ((("compose.yaml", CONTAINER),), {
            "folder": Kind.FOLDER, "deposit": Kind.FUNDS, "reserve": Kind.FUNDS, "minimum_balance": Kind.BALANCE,
        }),
        ((("w.sh", "livepeer -aiWorker -orchAddr o:8935 -orchSecret /s -nvidia 0 -aiModels m.json"),
          ("m.json", RUNNER)), {"models": Kind.CREDENTIAL}),
        ((("o.sh", "livepeer -orchestrator -network offchain -serviceAddr 192.0.2.7:8935 -cliAddr 0.0.0.0:7935"),
          ("t.sh", "livepeer -transcoder -orchAddr 192.0.2.7:8935 -orchSecret /s -nvidia 0")),
         {"host": Kind.HOSTS, "cli": Kind.LISTENER}),
    ],
)  # fmt: skip
def test_questions_of_sources_have_kinds(sources: tuple[tuple[str, str], ...], kinds: dict[str, Kind]) -> None:
    found = asked(*sources)
    assert {key: found[key].kind for key in kinds} == kinds


def test_command_that_shows_funds_is_told_once_for_containers_too() -> None:
    reserve = asked(("compose.yaml", CONTAINER))["reserve"]
    assert "docker inspect" in sentence(reserve)
    assert sentence(reserve, hint=False) == "the same command shows it, as FundsRemaining"


@pytest.mark.parametrize(
    ("name", "words"), [("_SHOWS", " tells it"), ("_TURN", "; where "), ("CREDENTIAL", "whoever ")]
)
def test_other_words_are_the_same_kinds(monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    command = "curl -s http://127.0.0.1:5935/senderInfo on its host"
    monkeypatch.setattr(asking_words, name, words)
    assert asked(("gw.sh", f"livepeer {GATEWAY}"))["deposit"].kind is Kind.FUNDS
    assert asking_words.command_of(asked(("gw.sh", f"livepeer {GATEWAY}"))["deposit"].words) == command
    worker = "livepeer -aiWorker -orchAddr o:8935 -orchSecret /s -nvidia 0 -aiModels m.json"
    assert asked(("w.sh", worker), ("m.json", RUNNER))["models"].kind is Kind.CREDENTIAL
    assert asking_words.why_several(asking_words.several("two of them", "so", "--host")) == "two of them"


def test_metrics_and_alerts_have_kinds() -> None:
    found = asked(("a.sh", f"livepeer {GATEWAY} -monitor"), ("b.sh", f"livepeer {GATEWAY} -monitor"), a="a", b="b")
    assert found["host"].kind is Kind.METRICS and found["host"].table == "monitoring"
    (alerts,) = questions_in('[monitoring]\nhost = "a"\n# TODO alertmanagers = ["..."]  # where alerts go\n')
    assert alerts.kind is Kind.ALERTS
