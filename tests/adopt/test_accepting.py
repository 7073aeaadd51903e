"""What `fleetc check` warns of in an adopted spec: asked at the terminal, and silent once somebody says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fleetc.adopt.accepting import Warned, accepted, changed, is_setting, left, rated
from fleetc.adopt.answering import WrongAnswerError
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source
from tests.adopt.test_asking import spec, typed
from tests.support import fleetc

SCRIPT = """\
livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl http://10.0.0.5:8547 \\
  -ethPassword /etc/livepeer/pw -ethAcctAddr 0x1111111111111111111111111111111111111111 -dataDir /srv/orch \\
  -serviceAddr orch.example.net:8935 -pricePerUnit 0.0000000000004USD
livepeer -gateway -network arbitrum-one-mainnet -ethUrl http://10.0.0.5:8547 -ethPassword /etc/livepeer/pw \\
  -ethAcctAddr 0x2222222222222222222222222222222222222222 -dataDir /srv/gate -cliAddr 127.0.0.1:5935 \\
  -httpAddr 127.0.0.1:9935 -orchAddr orch.example.net:8935 -maxPricePerUnit 1500
"""
BEFORE = ("v0.9.1", "", "0.5 ETH", "0.3 ETH")
"""Answers to the questions."""


@pytest.fixture
def script(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "start.sh").write_text(SCRIPT)
    return ("box@192.0.2.1=start.sh", "--home", "/root")


@pytest.mark.usefixtures("processes")
def test_warnings_are_asked_at_the_end_and_a_reason_makes_check_silent(tmp_path: Path, script: tuple[str, ...]) -> None:
    keys = (*BEFORE, "4", "0.0004 ETH", "?", "yes", "the node there is ours")
    seen = typed(tmp_path, *keys, arguments=script)
    assert seen.code == 0, seen.text
    assert "rates.USD: what is one USD worth? check compares prices with it; nodes ask a feed\n" in seen.text
    assert '  "4" is not an amount of ether; write it like' in seen.text
    asks = (
        "fleet.rpc: check warns [rpc-not-https]: the RPC address is http:// at a private address: all in that network"
    )
    assert seen.text.count(asks) == 1
    assert (
        "\n  keep it if the node there is yours and the network is too; else write an https:// address\n" in seen.text
    )
    assert "\n  write why it is right, in a few words: reviewers read them\n" in seen.text
    found = spec(tmp_path)
    assert found["rates"] == {"USD": "0.0004 ETH"}
    assert found["silences"] == {
        "rpc-not-https": {"code": "rpc-not-https", "at": "fleet.rpc", "reason": "the node there is ours"}
    }
    assert "\ncheck: clean\n" in seen.text
    assert fleetc("check", cwd=tmp_path).stderr == "no problems\n"
    again = fleetc("adopt", *script, "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert spec(tmp_path) == found and "no source has it" not in (tmp_path / "fleet.toml").read_text()


@pytest.mark.usefixtures("processes")
def test_enter_leaves_a_warning_to_check_and_an_earlier_spec_is_asked_again(
    tmp_path: Path, script: tuple[str, ...]
) -> None:
    seen = typed(tmp_path, *BEFORE, "", "", arguments=script)
    assert seen.code == 0, seen.text
    assert "\ncheck: 2 warnings (rate-missing, rpc-not-https): fleetc check fleet.toml\n" in seen.text
    assert not {"rates", "silences"} & spec(tmp_path).keys()
    again = typed(tmp_path, "0.0004 ETH", "\x03", arguments=(*script, "--answers", "fleet.toml"))
    assert "stopped: your answers are kept, and the rest stays TODO" in again.text
    assert spec(tmp_path)["rates"] == {"USD": "0.0004 ETH"} and "silences" not in spec(tmp_path)


TWO = """\
spec = 1
fleet = { name = "two", network = "offchain", node_release = "v0.9.1" }
[hosts]
a = { address = "192.0.2.1", runtime = "docker" }
[models]
m = { pipeline = "text-to-image", id = "stabilityai/sd-turbo" }
[orchestrators.o]
host = "a"
mode = "ai"
service = "a.example.net:8935"
price = "1 wei / pixel"
secret = { env = "SECRET" }
models = [{ use = "m" }]
[ai_workers]
w = { host = "a", orchestrator = "o", gpus = [0], runner_image = "x/y:latest", models = [{ use = "m" }] }

[ai_workers.v]
host = "a"
orchestrator = "o"
gpus = [1]
runner_image = "x/y:latest"
models = [{ use = "m" }]
cli = "127.0.0.1:4936"
[silences.image-not-pinned]
code = "price-ignored-offchain"
reason = "ours"
"""


def test_reason_stands_at_each_place_and_takes_no_name_of_another_silence() -> None:
    (one,) = [one for one in left(check_spec([Source("fleet.toml", TWO)])) if one.code == "image-not-pinned"]
    assert [*one.messages] == [("ai_workers", "v"), ("ai_workers", "w")]
    after = check_spec([Source("fleet.toml", accepted(TWO, one, 'we "follow" \\ latest'))])
    assert after.fleet is not None and "image-not-pinned" not in {found.code for found in after.diagnostics}
    silences = after.fleet.silences
    assert [*silences] == ["image-not-pinned", "image-not-pinned-2", "image-not-pinned-3"]
    assert {(one.at, one.reason) for one in list(silences.values())[1:]} == {
        ("ai_workers.v", 'we "follow" \\ latest'), ("ai_workers.w", 'we "follow" \\ latest'),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("y", "in a few words"),
        ("", "1 to 2000 characters"),
        ("it is \u202e fine", "cannot be seen"),
        ("key sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefghijkl", "seems to be a secret"),
    ],
)
def test_no_reason_that_says_nothing_or_too_much(reason: str, words: str) -> None:
    with pytest.raises(WrongAnswerError, match=words):
        accepted(TWO, Warned("image-not-pinned", {("ai_workers", "v"): "", ("ai_workers", "w"): ""}, ""), reason)


def test_silence_that_silences_nothing_is_not_written() -> None:
    with pytest.raises(WrongAnswerError, match="does not end this warning"):
        accepted(TWO, Warned("image-not-pinned", {("ai_workers", "v"): ""}, ""), "only one of both")


def test_rate_of_another_currency_joins_those_that_stand() -> None:
    text = rated(rated(TWO, "USD", "0.0004 ETH"), "EUR", '"0.0005 ETH"')
    assert text.count("[rates]") == 1
    found = check_spec([Source("fleet.toml", text)]).fleet
    assert found is not None and {*found.rates} == {"USD", "EUR"}


@pytest.mark.usefixtures("processes")
def test_setting_that_the_advice_names_can_be_typed_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('[{"pipeline": "llm", "model_id": "a/b", "price_per_unit": 5}]')
    (tmp_path / "start.sh").write_text(
        "livepeer -orchestrator -aiWorker -nvidia 0 -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc "
        "-ethPassword /etc/lp/pw -ethAcctAddr 0x1111111111111111111111111111111111111111 -dataDir /srv/orch "
        "-serviceAddr o.example.net:8935 -pricePerUnit 5 -aiModels m.json -aiModelsDir /models\n"
    )
    keys = ("v0.9.1", "lp", "", "secrets = env X", "secret = what", "secret = env ORCH_SECRET")
    seen = typed(tmp_path, *keys, arguments=("box@192.0.2.1=start.sh", "m.json"))
    assert seen.code == 0, seen.text
    advice = 'secret = { host_file = "/etc/livepeer/orchestrator-secret" }'
    assert f"  {advice}, or why it is right as it is; Enter leaves the warning: " in seen.text
    assert f"write {advice}" not in seen.text
    assert 'there is no key "secrets" here' in seen.text or "no secrets" in seen.text, seen.text
    assert spec(tmp_path)["orchestrators"]["orchestrator"]["secret"] == {"env": "ORCH_SECRET"}
    assert "silences" not in spec(tmp_path) and "\ncheck: clean\n" in seen.text
    assert "set where you deploy, because no source has the value: ORCH_SECRET\n" in seen.text


@pytest.mark.usefixtures("processes")
def test_setting_that_the_sources_have_otherwise_is_kept_and_compared_as_an_answer(tmp_path: Path) -> None:
    prices = (
        SCRIPT.replace("0.0000000000004USD", "900")
        .replace("1500", "910")
        .replace("http://10.0.0.5:8547", "https://arb1.arbitrum.io/rpc")
    )
    (tmp_path / "start.sh").write_text(prices)
    sources = ("box@192.0.2.1=start.sh", "--home", "/root")
    seen = typed(tmp_path, *BEFORE, "max_price = 950 wei / pixel", arguments=sources)
    assert seen.code == 0, seen.text
    advice = re.search(r"\n  raise max_price to (\"[^\"]+\") or more.*\n  max_price = (\"[^\"]+\"), or why", seen.text)
    assert advice is not None and advice[1] == advice[2], seen.text
    assert spec(tmp_path)["gateways"]["gateway"]["max_price"] == "950 wei / pixel"
    assert "-maxPricePerUnit: 910 wei / pixel -> 950 wei / pixel: as you answered\n" in seen.text
    assert "no longer" not in seen.text and "\ncheck: clean\n" in seen.text
    compared = fleetc("adopt", *sources, "--compare", "fleet.toml", cwd=tmp_path)
    assert "check asked for it (gateway-price-admits-nobody)" in compared.stdout and compared.returncode == 0


def test_setting_is_no_reason_and_a_table_replaces_none() -> None:
    one = Warned("image-not-pinned", {("ai_workers", "v"): ""}, "", setting='runner_image = "x/y:1"')
    with pytest.raises(WrongAnswerError, match="here why it is right"):
        accepted(TWO, one, "runner_image = x/y:1")
    assert is_setting(one, 'runner_image = "x/y:1"') and not is_setting(one, "it moves on purpose")
    after, place = changed(TWO, one, 'runner_image = "x/y:1"')
    assert 'runner_image = "x/y:1"' in after and place == ("ai_workers", "v", "runner_image")
    held = TWO.replace('cli = "127.0.0.1:4936"\n', 'cli = "127.0.0.1:4936"\nenvironment = { A = "b" }\n')
    with pytest.raises(WrongAnswerError, match=r"add one of its entries as environment\.NAME = VALUE"):
        changed(held, one, 'environment = { C = "d" }')
    assert '"d"' in changed(held, one, "environment.C = d")[0]
