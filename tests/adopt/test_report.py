"""The report of an adoption says only what was compared, and no value is compiled as another one unseen."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.said import Said
from fleetc.adopt.report.report import reported
from fleetc.messages.forms import AdoptionFormat
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source

WORKER = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -dataDir /srv/lp -nvidia 0"
ON_GPU = Said(hosts={"start.sh": "gpu"}, addresses={"gpu": "192.0.2.1"})


def reports(command: str) -> dict[AdoptionFormat, str]:
    """The report of a command in each form, on a host whose address is known."""
    found = adopt([Source("start.sh", command)], ON_GPU)
    return {form: reported(found, form, located(found)) for form in AdoptionFormat}


def test_settings_that_wait_for_an_answer_are_named_and_not_compared() -> None:
    for command, waits in ((WORKER, False), (WORKER.replace("-orchSecret /etc/lp/secret", ""), True)):
        report = reports(command)
        for form in (AdoptionFormat.text, AdoptionFormat.markdown):
            assert ("Not compared: transcoder -orchSecret" in report[form]) is waits
        waiting = [one["flag"] for one in json.loads(report[AdoptionFormat.json])["waiting"]]
        assert waiting == (["orchSecret"] if waits else [])
        assert ("settings:\n  nothing\n" in report[AdoptionFormat.text]) is True
    whole, part = (adopt([Source("start.sh", text)], ON_GPU) for text in (
        WORKER, WORKER.replace("-orchSecret /etc/lp/secret", "")))  # fmt: skip
    assert whole.complete and not part.complete
    assert whole.compared == part.compared + 1


def test_nothing_is_counted_where_nothing_was_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fleetc.adopt.tables.refusals._MOST_NODES", 0)  # more nodes than are judged without answers
    report = reports(WORKER.replace("-orchAddr orch.example.net:8935", ""))
    for form in (AdoptionFormat.text, AdoptionFormat.markdown):
        assert "no node was compared" in report[form]
        assert "0 settings" not in report[form]
    assert json.loads(report[AdoptionFormat.json])["compared"] is None


@pytest.mark.parametrize("value", ["auto", "0", "-3", "ten"])
def test_value_that_no_spec_has_is_not_compiled_as_the_default(value: str) -> None:
    found = adopt([Source("start.sh", f"{WORKER} -maxSessions {value}")], Said(addresses={"gpu": "192.0.2.1"}))
    assert "# TODO max_sessions" in found.text
    assert "max_sessions = " in found.text.split("[transcoders.")[1]
    assert not found.complete
    assert ("transcoder", "maxSessions") in found.waiting
    places = [one.primary.place for one in check_spec([Source("fleet.toml", found.text)]).diagnostics]
    assert any(isinstance(place, tuple) and place[-1] == "max_sessions" for place in places)


def test_listeners_are_shown_as_people_write_them() -> None:
    compose = (
        "services:\n  orch:\n    image: livepeer/go-livepeer:v0.9.1\n"
        "    command: -orchestrator -transcoder -network offchain -serviceAddr orch.example.net:8935\n"
    )
    (change,) = (one for one in adopt([Source("compose.yaml", compose)]).differences if one.flag == "httpAddr")
    assert (change.today, change.compiled) == ("0.0.0.0:8935", "127.0.0.1:8935")


def test_nodes_that_a_rule_refuses_together_are_compared_all_the_same() -> None:
    other = WORKER.replace("/srv/lp", "/srv/other")
    found = adopt(
        [Source("start.sh", f"{WORKER} -v 7\n{other}\n")],
        ON_GPU,
    )
    assert not found.complete  # both use one port
    assert found.compared == 30 and found.differences == ()


CHAIN = (
    "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -dataDir /srv/lp -ethPassword /srv/lp/pw "
    "-ethAcctAddr 0x1111111111111111111111111111111111111111"
)
SELLER = f"livepeer -orchestrator -aiWorker {CHAIN} -serviceAddr orch.example.net:8935 -nvidia 0"
PAYER = "0x2222222222222222222222222222222222222222"


def fates(found: Adopted, word: str) -> list[str]:
    """What became of the words that begin so."""
    return [str(entry.fate) for entry in found.entries if entry.shown.startswith(word)]


@pytest.mark.parametrize(
    ("command", "flag", "key"),
    [
        (SELLER.replace("0x1111111111111111111111111111111111111111", "0x52908400098527886E0F7030069857D2E4169Ee7"),
         "ethAcctAddr", "address"),
        (SELLER.replace("0x1111111111111111111111111111111111111111", "$ACCOUNT"), "ethAcctAddr", "address"),
        (f"{SELLER} -pricePerUnit 1,5", "pricePerUnit", "price"),
        (f"{SELLER} -pricePerUnit 900 -pixelsPerUnit $PIXELS", "pixelsPerUnit", "price"),
        (f"livepeer -gateway {CHAIN} -orchAddr o.example.net:1 -maxPricePerUnit 900 -pixelsPerUnit $PIXELS",
         "maxPricePerUnit", "max_price"),
        (f"livepeer -gateway {CHAIN} -orchAddr o.example.net:1 -maxPricePerUnit 900 -pixelsPerUnit $PIXELS",
         "pixelsPerUnit", "max_price"),
    ],
)  # fmt: skip
def test_setting_that_the_spec_asks_for_is_not_understood(command: str, flag: str, key: str) -> None:
    found = adopt([Source("start.sh", command)])
    assert f"# TODO {key} = " in found.text
    assert fates(found, f"-{flag}") == ["dropped"]


def test_token_of_a_runner_is_lost_and_said_to_be_everywhere() -> None:
    listed = '[{"pipeline": "llm", "model_id": "m/l", "warm": true, "url": "http://127.0.0.1:9000", "token": "s3cr3t"}]'
    sources = [Source("start.sh", f"{SELLER} -aiModels models.json"), Source("models.json", listed)]
    found = adopt(sources)
    assert fates(found, "token of m/l") == ["dropped"]
    (asked,) = (line for line in found.text.splitlines() if line.startswith("# TODO models: the runner"))
    assert "the runner of m/l gets no token any more, as a spec has none: let it answer this host without one" in asked
    (whole,) = (entry.words for entry in found.entries if entry.shown == "the file")
    assert whole.endswith("but for the lines of it that this account names")
    (lost,) = (one for one in found.differences if one.flag == "aiModels token")
    assert (lost.today, lost.compiled) == ("m/l: set", "(unset)") and "credential" in lost.reason
    assert "s3cr3t" not in found.text + "".join(reported(found, form, located(found)) for form in AdoptionFormat)
    plain = adopt([sources[0], Source("models.json", listed.replace(', "token": "s3cr3t"', ""))])
    assert "TODO models: the runner" not in plain.text
    assert {entry.words for entry in plain.entries if entry.shown == "the file"} == {
        "what it says is in the spec, as the node reads it"
    }


def test_price_for_one_gateway_is_no_price_for_all() -> None:
    entry = {"pipeline": "text-to-image", "model_id": "m/i", "price_per_unit": 5, "gateway": PAYER}
    for listed in ([entry], [entry, {**entry, "price_per_unit": 9, "gateway": ""}]):
        text = json.dumps(listed)
        found = adopt([Source("o.sh", f"{SELLER} -pricePerUnit 70 -aiModels m.json"), Source("m.json", text)])
        spec = tomllib.loads(found.text)
        (use,) = spec["orchestrators"]["o"]["models"]
        assert use["gateway_prices"] == {PAYER: "5 wei / pixel"}
        assert spec["models"]["i"].get("price") == (None if len(listed) == 1 else "9 wei / pixel")


@pytest.mark.parametrize("price", ['"price_per_unit": -5', '"price_per_unit": 5, "currency": "A_B"'])
def test_price_that_no_spec_has_is_asked_for(price: str) -> None:
    listed = f'[{{"pipeline": "text-to-image", "model_id": "m/i", {price}}}]'
    found = adopt([Source("o.sh", f"{SELLER} -pricePerUnit 70 -aiModels m.json"), Source("m.json", listed)])
    assert "# TODO models: the price of m/i" in found.text
    assert fates(found, "price_per_unit of m/i") == ["a mistake today"]
    named = f'{{"gateways": [{{"ethaddress": "{PAYER}", "priceperunit": -1, "pixelsperunit": 1}}]}}'
    found = adopt([Source("o.sh", f"{SELLER} -pricePerUnit 70 -pricePerGateway g.json"), Source("g.json", named)])
    assert f"# TODO gateway_prices: the price for {PAYER}" in found.text
    assert fates(found, "the price for") == ["a mistake today"]


_MONEY = re.compile("# TODO (price|max_price|deposit|reserve) =")


def test_no_question_offers_an_amount_that_no_source_says() -> None:
    """Who removes "# TODO " without a thought must be refused, and not sell or buy at a guess."""
    seller = f"livepeer -orchestrator -transcoder {CHAIN} -serviceAddr orch.example.net:8935"
    buyer = f"livepeer -gateway {CHAIN} -orchAddr o.example.net:1 -maxPricePerUnit $CAP"
    for command in (seller, f"{seller} -pricePerUnit $PRICE", buyer):
        found = adopt([Source("start.sh", command)])
        pasted = check_spec([Source("fleet.toml", re.sub(r"(?m)^# TODO ([a-z_]+ = )", r"\1", found.text))])
        assert pasted.fleet is None
        asked = [
            line for line in found.text.split("\n") if re.search(r"# TODO (price|max_price|deposit|reserve) =", line)
        ]
        assert asked and not any(re.search(r'= "[^"]*[0-9]', line) for line in asked), asked


@pytest.mark.parametrize(
    ("command", "key"),
    [(f"{SELLER} -pricePerUnit 7 -aiModels /etc/lp/x.json", "models"),
     (f"{SELLER} -pricePerUnit 7 -pricePerGateway /etc/lp/x.json", "gateway_prices"),
     (f"livepeer -gateway {CHAIN} -orchAddr o.example.net:1 -maxPricePerCapability /etc/lp/x.json", "max_model_prices"),
     (f"livepeer -gateway {CHAIN} -orchAddr o.example.net:1 -transcodingOptions x.json", "ladder")],
)  # fmt: skip
def test_question_names_the_file_that_answers_it(command: str, key: str) -> None:
    (line,) = [one for one in adopt([Source("o.sh", command)]).text.split("\n") if one.startswith(f"# TODO {key} = ")]
    assert line.endswith("x.json has it: copy it from the host and name it too")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("127.0.0.1:6935", "127.0.0.1:6935, the default of its role, which the spec leaves out"),
        ("127.0.0.1:7000", "cli"),
    ],
)  # fmt: skip
def test_listener_that_the_spec_leaves_out_is_not_said_to_be_in_it(address: str, told: str) -> None:
    found = adopt([Source("start.sh", f"{WORKER} -cliAddr {address}")])
    assert [one.words for one in found.entries if one.shown.startswith("-cliAddr")] == [told]
    assert ("\ncli = " in found.text) is (told == "cli")


def test_lone_number_is_no_listener_that_others_reach() -> None:
    """The node takes it for a host: it stops, and is not open to all."""
    found = adopt([Source("start.sh", f"{WORKER} -cliAddr 6935")])
    assert fates(found, "-cliAddr") == ["a mistake today"]
    assert {one.code for one in found.diagnostics} == {"adopt-value-invalid"}


def test_open_administration_listener_is_asked_for_and_not_understood() -> None:
    assert fates(adopt([Source("start.sh", f"{WORKER} -cliAddr 0.0.0.0:6935")]), "-cliAddr") == ["a mistake today"]


def test_worker_without_models_is_asked_for_them() -> None:
    found = adopt([Source("start.sh", "livepeer -aiWorker -orchAddr o.example.net:1 -orchSecret /s -nvidia 0")])
    assert '# TODO models = [{ use = "..." }]  # a worker does not start without a list of them' in found.text
    assert [flag for _, flag in found.waiting][:1] == ["aiModels"]


def test_account_says_what_was_done_with_files_that_start_nothing() -> None:
    """The file of a secret is no command, and what Prometheus scrapes was searched for addresses of nodes."""
    compose = (
        "services:\n  orch:\n    image: livepeer/go-livepeer:v0.9.1\n    volumes: [./s/pw:/run/pw:ro]\n"
        f"    command: -orchestrator -network arbitrum-one-mainnet -ethAcctAddr 0x{'1' * 40} -ethPassword /run/pw\n"
    )
    scrapes = "scrape_configs:\n  - static_configs:\n      - targets: ['orch:7935']\n"
    worker = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret lp-secret\n"
    texts = {
        "compose.yaml": compose.replace("/run/pw\n", "/run/pw -cliAddr 0.0.0.0:7935\n"),
        "s/pw": "correct horse\n", "prometheus.yml": scrapes, "work.sh": worker, "lp-secret": "battery\n",
    }  # fmt: skip
    found = adopt([Source(name, text) for name, text in texts.items()])
    account = {entry.span.source: f"{entry.shown}: {entry.words}" for entry in found.entries}
    unread = "; the spec says where it is, and its value is not read"
    assert account["s/pw"] == f"the file of a secret: orch has it as -ethPassword{unread}"
    assert account["lp-secret"] == f"the file of a secret: work has it as -orchSecret{unread}"
    assert account["prometheus.yml"].startswith("the file: no node reads it; it names addresses of nodes")
