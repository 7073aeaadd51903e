"""What the tables of nodes get from the settings of their processes, what is asked, and why settings differ."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.ledger import Fate
from fleetc.adopt.found.library import Said
from fleetc.adopt.found.questions import Ask, Reason, Why
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source

IMAGE = "livepeer/go-livepeer:v0.9.1"
ACCOUNT, OTHER = f"0x{'1' * 40}", f"0x{'2' * 40}"
CHAIN = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /etc/lp/pw -ethAcctAddr "
BUYER = f"livepeer -gateway {CHAIN}{ACCOUNT} -dataDir /d/g -orchAddr o.example.net:8935"
SELLER = f"livepeer -orchestrator -transcoder {CHAIN}{ACCOUNT} -dataDir /d/o -serviceAddr orch.example.net:8935"
WORKER = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret /etc/lp/s -dataDir /d/w -nvidia 0"
OFFCHAIN = "livepeer -gateway -network offchain -orchAddr o.example.net:8935 -dataDir /d/g"


def adopted(text: str, name: str = "start.sh", **files: str) -> Adopted:
    """A source, and files beside it by name, with __ for a dot."""
    more = [Source(file.replace("__", "."), content) for file, content in files.items()]
    return adopt([Source(name, f"{text}\n"), *more], Said(hosts={name: "box"}, addresses={"box": "192.0.2.1"}))


def table(found: Adopted, kind: str, name: str = "") -> dict[str, Any]:
    """A table of the spec; the only one of its kind where no name is given."""
    members: dict[str, dict[str, Any]] = tomllib.loads(found.text)[kind]
    return members[name] if name else next(iter(members.values()))


def asked(found: Adopted) -> dict[str, Ask]:
    """The kinds of questions by their keys."""
    return {question.key: question.kind for question in found.questions}


def reason(found: Adopted, flag: str) -> Why | None:
    """Why a setting differs; None where it does not, or for no reason."""
    found_reason = next((one.reason for one in found.differences if one.flag == flag), None)
    return found_reason.why if isinstance(found_reason, Reason) else None


def codes(found: Adopted) -> set[str]:
    """The codes of all messages."""
    return {one.code for one in found.diagnostics}


def fates(found: Adopted, word: str) -> set[Fate]:
    """What became of the words that begin so."""
    return {entry.fate for entry in found.entries if entry.shown.startswith(word)}


# ---------------------------------------------------------------------------------------------------- plain settings


@pytest.mark.parametrize(
    ("command", "kind", "key", "value"),
    [
        (f"{WORKER} -maxSessions 012", "transcoders", "max_sessions", 12),
        (f"{WORKER} -maxSessions 10", "transcoders", "max_sessions", None),  # the node's own default
        (f"{OFFCHAIN} -localVerify=false", "gateways", "local_verify", False),  # its default depends on the network
        (f"{OFFCHAIN} -verifierPath /srv/v", "gateways", "verifier_path", "/srv/v"),
        (f"{OFFCHAIN} -transcodingOptions P360p30fps16x9,P720p30fps16x9", "gateways", "renditions",
         ["P360p30fps16x9", "P720p30fps16x9"]),
        (f"{OFFCHAIN} -authWebhookUrl http://auth.example.net:80", "gateways", "auth_webhook",
         "http://auth.example.net:80"),
        (f"{OFFCHAIN} -authWebhookUrl http://auth.example.net/a/b", "gateways", "auth_webhook",
         {"env": "GATEWAY_AUTH_WEBHOOK"}),  # a path may be a key
        (f"{OFFCHAIN} -authWebhookUrl $HOOK", "gateways", "auth_webhook", {"env": "HOOK"}),
        (f"{WORKER} -cliAddr 127.0.0.1:6935", "transcoders", "cli", None),
        (f"{WORKER} -cliAddr 127.0.0.1:7000", "transcoders", "cli", "127.0.0.1:7000"),
        (f"{WORKER} -dataDir /var/lib/livepeer/transcoder", "transcoders", "data_dir", None),
        (WORKER, "transcoders", "data_dir", "/d/w"),
        (BUYER, "gateways", "max_price", "any"),
        (f"{BUYER} -maxPricePerUnit 900 -pixelsPerUnit 3", "gateways", "max_price", "900 wei / 3 pixels"),
        (f"{BUYER} -maxPricePerUnit 0.5USD -pixelsPerUnit 1000000", "gateways", "max_price", "0.5 USD / megapixel"),
        (BUYER, "gateways", "orchestrators", ["o.example.net:8935"]),
        (f"{BUYER},p.example.net,https://q.example.net/", "gateways", "orchestrators",
         ["o.example.net:8935", "p.example.net:8935", "https://q.example.net:443"]),
        (f"{WORKER} -orchAddr 10.1.1.1", "transcoders", "orchestrator", "10.1.1.1:8935"),
        (f"{BUYER} -orchWebhookUrl https://l.example.net", "gateways", "discovery", {"webhook": "https://l.example.net"}),
        (BUYER.partition(" -orchAddr")[0], "gateways", "discovery", "registry"),
        (f"{SELLER} -pricePerUnit 7 -ticketEV 5", "orchestrators", "ticket_ev", "5 wei"),
        (f"{SELLER} -pricePerUnit 7 -aiServiceRegistry", "orchestrators", "ai_registry", True),
        (f"{SELLER} -pricePerUnit 7 -redeemerAddr 10.0.0.9", "orchestrators", "redeemer", "10.0.0.9:8935"),
    ],
)  # fmt: skip
def test_a_setting_becomes_its_field(command: str, kind: str, key: str, value: object) -> None:
    found = adopted(command)
    assert table(found, kind).get(key) == value
    assert [one for one in found.differences if one.reason is None] == [] and found.compared


@pytest.mark.parametrize(
    ("command", "flag", "key", "kind"),
    [
        (f"{WORKER} -maxSessions auto", "maxSessions", "max_sessions", Ask.NOT_IN_SPEC),
        (f"{WORKER} -maxSessions $MANY", "maxSessions", "max_sessions", Ask.NO_VALUE),
        (f"{OFFCHAIN} -verifierUrl http://u:word@v.example.net", "verifierUrl", "verifier_url", Ask.NOT_REPEATED),
        (f"{WORKER} -cliAddr 6935", "cliAddr", "cli", Ask.LISTENER),  # the node takes a lone number for a host
        (f"{OFFCHAIN} -httpAddr 1.2.3.4.5:x", "httpAddr", "http", Ask.LISTENER),
        (f"{OFFCHAIN} -remoteSignerUrl ftp:/x", "remoteSignerUrl", "remote_signer.url", Ask.NOT_IN_SPEC),
        ("livepeer -gateway -dataDir /d", "orchAddr", "orchestrators", Ask.ORCHESTRATORS),
        ("livepeer -transcoder -nvidia 0 -orchSecret /s", "orchAddr", "orchestrator", Ask.ORCHESTRATOR),
        ("livepeer -transcoder -nvidia 0 -orchAddr a:1", "orchSecret", "secret", Ask.SECRET_OF_ORCHESTRATOR),
        (SELLER, "pricePerUnit", "price", Ask.PRICE),
        (f"{SELLER} -pricePerUnit 1,5", "pricePerUnit", "price", Ask.PRICE_REFUSED),
        (f"{SELLER} -pricePerUnit 900 -pixelsPerUnit $PIXELS", "pricePerUnit", "price", Ask.PIXELS),
        (f"{BUYER} -maxPricePerUnit $CAP", "maxPricePerUnit", "max_price", Ask.NO_VALUE),
        (f"{SELLER} -pricePerUnit 7 -pricePerGateway /x.json", "pricePerGateway", "gateway_prices", Ask.NO_FILE),
        (f"{BUYER} -maxPricePerCapability /x.json", "maxPricePerCapability", "max_model_prices", Ask.NO_FILE),
        (f"{BUYER} -transcodingOptions x.json", "transcodingOptions", "ladder", Ask.NO_FILE),
        (f"{SELLER} -pricePerUnit 7".replace("orch.example.net", "0.0.0.0"), "serviceAddr", "service", Ask.NO_SERVICE),
        (f"{SELLER} -pricePerUnit 7".replace(" -serviceAddr orch.example.net:8935", ""), "serviceAddr", "service",
         Ask.SERVICE),
        (f"{SELLER} -pricePerUnit 7".replace(ACCOUNT, "$ACCOUNT"), "ethAcctAddr", "address", Ask.NO_VALUE),
        (f"{SELLER} -pricePerUnit 7".replace(f"-ethAcctAddr {ACCOUNT}", ""), "ethAcctAddr", "address", Ask.ACCOUNT),
        (f"{SELLER} -pricePerUnit 7".replace(" -ethPassword /etc/lp/pw", ""), "ethPassword", "password", Ask.NO_SOURCE),
        (f"{SELLER} -pricePerUnit 7".replace("/etc/lp/pw", '"$DIR/pw"'), "ethPassword", "password", Ask.SECRET_FILE),
        (f"{SELLER} -pricePerUnit 7 -ethKeystorePath $KEYS/k", "ethKeystorePath", "keystore", Ask.PATH),
        (f"{SELLER} -pricePerUnit 7".replace("/d/o", "$DATA"), "dataDir", "data_dir", Ask.PATH),
        (f'{OFFCHAIN} -authWebhookUrl "http://a.example.net?key=$KEY"', "authWebhookUrl", "auth_webhook",
         Ask.PART_OF_SECRET),
    ],
)  # fmt: skip
def test_what_no_source_says_or_no_spec_takes_is_asked(command: str, flag: str, key: str, kind: Ask) -> None:
    found = adopted(command)
    assert asked(found).get(key) is kind and "u:word" not in found.text
    assert Fate.UNDERSTOOD not in fates(found, f"-{flag}")
    (node,) = found.nodes
    why = node.reasons[flag]
    assert isinstance(why, Reason) and why.asked


def test_what_follows_from_an_open_question_is_no_other_one() -> None:
    answers = ("fleet.node_release=v0.9.1", "hosts.box.address=192.0.2.1", "hosts.box.node_user=lp")
    said = Said(hosts={"start.sh": "box"}, answers=answers)
    for command, keys in (
        (WORKER.replace("/etc/lp/s", "'/etc/lp/s t'"), ["secret"]),  # not the orchestrator that it would present it to
        (f"{SELLER} -pricePerUnit 1 -nvidia 0 -maxSessions auto", ["max_sessions"]),
    ):
        assert [question.key for question in adopt([Source("start.sh", command)], said).questions] == keys


@pytest.mark.parametrize("command", [SELLER, f"{SELLER} -pricePerUnit $P", f"{BUYER} -maxPricePerUnit $CAP", BUYER])
def test_no_question_offers_an_amount_that_no_source_says(command: str) -> None:
    """Who removes "# TODO " without a thought must be refused, and not sell or buy at a guess."""
    examples = [one.example for one in adopted(command).questions if one.key in ("price", "max_price", "deposit")]
    assert examples and not any(character.isdigit() for character in "".join(examples))


@pytest.mark.parametrize(
    ("command", "flag", "fate", "why"),
    [
        (f"{BUYER} -pricePerUnit 5", "pricePerUnit", Fate.MISTAKE, Why.NOT_READ),
        (f"{OFFCHAIN} -maxPricePerUnit 5", "maxPricePerUnit", Fate.DROPPED, Why.OFFCHAIN),
        (f"{OFFCHAIN} -ethUrl https://a.example.net", "ethUrl", Fate.DROPPED, Why.OFFCHAIN),
        (f"{WORKER} -network arbitrum-one-mainnet", "network", Fate.DROPPED, Why.ON_NO_NETWORK),
        (f"{BUYER} -remoteSignerUrl http://10.0.0.9:8935", "ethAcctAddr", Fate.DROPPED, Why.BEHIND_SIGNER),
        (f"{BUYER} -remoteSignerUrl http://10.0.0.9:8935 -maxPricePerUnit 5", "maxPricePerUnit", Fate.DROPPED,
         Why.SIGNER_COMPARES),
        (f"{BUYER} -aiServiceRegistry", "aiServiceRegistry", Fate.DROPPED, Why.LIST_SAYS),
        (f"{BUYER} -orchWebhookUrl https://l.example.net", "orchAddr", Fate.MISTAKE, Why.WEBHOOK_SAYS),
        (f"{BUYER} -transcodingOptions P1", "transcodingOptions", Fate.MISTAKE, Why.NO_RENDITIONS),
        (f"{BUYER} -maxPricePerCapability '{{'", "maxPricePerCapability", Fate.MISTAKE, Why.IGNORED),
        (f"{SELLER} -pricePerUnit 7 -pricePerGateway '{{'", "pricePerGateway", Fate.MISTAKE, Why.IGNORED),
        (WORKER.replace("/d/w", "$DATA"), "dataDir", Fate.DROPPED, Why.NEW_DATA_DIR),
    ],
)  # fmt: skip
def test_what_the_spec_does_without_has_a_reason(command: str, flag: str, fate: Fate, why: Why) -> None:
    found = adopted(command)
    assert fate in fates(found, f"-{flag}")
    told = found.nodes[0].reasons[flag]
    assert isinstance(told, Reason) and told.why is why
    assert all(one.reason for one in found.differences)


def test_files_of_the_node_become_their_tables() -> None:
    caps = {"capabilities_prices": [
        {"pipeline": "llm", "model_id": "default", "price_per_unit": 7},
        {"pipeline": "text-to-image", "model_id": "a/sd", "price_per_unit": 9, "pixels_per_unit": 3},
        {"pipeline": "nothing", "price_per_unit": 1}]}  # fmt: skip
    versions = [{"pipeline": "text-to-image", "model_id": "a/sd", "minVersion": "0.14.1"}]
    ladder = [{"name": "480p0", "fps": 0, "bitrate": 1600000, "width": 854, "height": 480}]
    prices = {"gateways": [{"ethaddress": OTHER, "priceperunit": 5, "pixelsperunit": 1},
                           {"ethaddress": ACCOUNT, "priceperunit": -1, "pixelsperunit": 1}]}  # fmt: skip
    buyer = f"{BUYER} -maxPricePerCapability caps.json -aiMinRunnerVersion '{json.dumps(versions)}' "
    found = adopted(f"{buyer}-transcodingOptions l.json", caps__json=json.dumps(caps), l__json=json.dumps(ladder))
    gateway = table(found, "gateways")
    assert gateway["max_model_prices"] == {"llm": "7 wei / pixel", "sd": "9 wei / 3 pixels"}
    assert gateway["min_runner_versions"] == {"sd": "0.14.1"}
    assert table(found, "ladders", gateway["ladder"])["profiles"][0]["name"] == "480p0"
    assert "adopt-document-unread" in codes(found)  # the cap of a pipeline that the node has not
    found = adopted(f"{SELLER} -pricePerUnit 7 -pricePerGateway p.json", p__json=json.dumps(prices))
    assert table(found, "orchestrators")["gateway_prices"] == {OTHER: "5 wei / pixel"}
    assert asked(found)["gateway_prices"] is Ask.NO_PRICE_FOR


@pytest.mark.parametrize(("price", "mode"), [("0", "ai"), ("0.0", "ai"), ("7", "dual")])
def test_orchestrator_of_models_alone_that_asks_nothing_for_pixels_sells_no_video(price: str, mode: str) -> None:
    models = '[{"pipeline": "llm", "model_id": "a/b", "price_per_unit": 5}]'
    seller = f"{SELLER} -pricePerUnit {price} -aiModels m.json -orchSecret /s".replace(" -transcoder", "")
    worker = "livepeer -aiWorker -orchAddr orch.example.net:8935 -orchSecret /s -nvidia 0 -aiModels m.json"
    found = adopted(f"{seller}\n{worker}", m__json=models)
    assert table(found, "orchestrators")["mode"] == mode
    assert reason(found, "pricePerUnit") is None


# ---------------------------------------------------------------------------------------------------------- listeners


@pytest.mark.parametrize("address", ["10.8.0.20", "[fd00::7]", "203.0.113.9"])
def test_a_listener_that_others_reach_is_not_called_public(address: str) -> None:
    """The node treats a private address as it does any other that is not on loopback."""
    found = adopted(f"{OFFCHAIN} -httpAddr {address}:8935 -cliAddr {address}:5935")
    told = {one.code: one for one in found.diagnostics}
    assert {"adopt-ingest-off", "adopt-listener-exposed"} <= told.keys()
    assert "public" not in found.text + " ".join(one.message for one in told.values())
    assert "http_ingest = true" not in told["adopt-ingest-off"].help  # advice never opens anything
    assert fates(found, "-cliAddr") == {Fate.MISTAKE} and asked(found)["cli"] is Ask.EXPOSED_CLI
    assert "cli" not in table(found, "gateways")


@pytest.mark.parametrize(
    ("ports", "http", "why"),
    [
        ('["9000:8935"]', "0.0.0.0:9000", Why.PUBLISHED),
        ('["127.0.0.1:8935:8935"]', None, Why.PUBLISHED),  # the default of a gateway
        ("[]", None, Why.NOT_PUBLISHED),
    ],
)
def test_a_container_keeps_the_port_that_its_host_publishes(ports: str, http: str | None, why: Why) -> None:
    command = f"{OFFCHAIN} -httpAddr 0.0.0.0:8935".removeprefix("livepeer ")
    found = adopted(f"services:\n  g:\n    image: {IMAGE}\n    ports: {ports}\n    command: {command}", "compose.yaml")
    assert table(found, "gateways").get("http") == http
    assert reason(found, "httpAddr") is why


def test_containers_with_one_port_on_their_host_ask_for_another() -> None:
    service = "  {0}:\n    image: {1}\n    volumes: [/srv/{0}:/root/.lpData]\n    command: {2}\n"
    commands = [OFFCHAIN.removeprefix("livepeer ").replace("/d/g", "/root/.lpData")] * 2
    services = (service.format(name, IMAGE, words) for name, words in zip("ab", commands, strict=True))
    found = adopted("services:\n" + "".join(services), "compose.yaml")
    places = {question.place for question in found.questions if question.kind is Ask.SAME_PORT}
    assert places == {("gateways", "b", key) for key in ("cli", "http", "rtmp")}


# ------------------------------------------------------------------------------------- nodes that reach each other


@pytest.mark.parametrize(
    ("address", "orchestrators", "linked"),
    [
        ("127.0.0.1:8935", {"orch": "-p 8935:8935"}, "orch"),
        ("localhost", {"orch": "-p 127.0.0.1:8935:8935"}, "orch"),
        ("https://[::1]:8935", {"orch": "--network host"}, "orch"),
        ("127.0.0.1:9000", {"orch": "-p 9000:8935"}, "orch"),
        ("orch.example.net:8935", {"orch": ""}, "orch"),
        ("127.0.0.1:8935", {"orch": "-p 192.0.2.7:8935:8935"}, "127.0.0.1:8935"),
        ("127.0.0.1:8936", {"orch": "-p 8935:8935"}, "127.0.0.1:8936"),
        ("127.0.0.1:8935", {"one": "--network host", "two": "--network host"}, "127.0.0.1:8935"),
    ],
)
def test_a_worker_serves_the_one_orchestrator_that_answers_at_its_address(
    address: str, orchestrators: dict[str, str], linked: str
) -> None:
    words = f"{SELLER} -pricePerUnit 7 -orchSecret /etc/lp/s".removeprefix("livepeer ")
    run = f"docker run --name {{}} {{}} -v /d:/d -v /etc:/etc {IMAGE} {words}"
    lines = [
        run.format(name, ports).replace("orch.example", f"{name}.example") for name, ports in orchestrators.items()
    ]
    found = adopted("\n".join([*lines, WORKER.replace("o.example.net:8935", address)]))
    assert table(found, "transcoders")["orchestrator"] == linked
    moved = linked == "orch" and not address.startswith("orch")
    assert reason(found, "orchAddr") is (Why.SERVICE_ADDRESS if moved else None)


RUN = f"docker run --name {{0}} --network lp -v /srv/{{0}}:/root/.lpData -v /etc:/etc {IMAGE} {{1}}\n"


@pytest.mark.parametrize(
    ("text", "kind", "key", "value", "why"),
    [
        (RUN.format("orch", f"-orchestrator -transcoder {CHAIN}{ACCOUNT} -pricePerUnit 7 -redeemerAddr red:8935")
         + RUN.format("red", f"-redeemer {CHAIN}{OTHER} -httpAddr 0.0.0.0:8935"),
         "orchestrators", "redeemer", "red", Why.LISTENS),
        (RUN.format("orch", f"-orchestrator -transcoder {CHAIN}{ACCOUNT} -pricePerUnit 7 -redeemerAddr red:8999")
         + RUN.format("red", f"-redeemer {CHAIN}{OTHER} -httpAddr 0.0.0.0:8935"),
         "orchestrators", "redeemer", "red:8999", None),
        (RUN.format("gw", "-gateway -network offchain -orchAddr o.example.net:8935 -remoteSignerUrl http://sig:8935")
         + RUN.format("sig", f"-remoteSigner {CHAIN}{OTHER} -httpAddr 0.0.0.0:8935"),
         "gateways", "remote_signer", {"signer": "sig"}, Why.LISTENS),
        (f"{SELLER} -pricePerUnit 7 -redeemerAddr 10.8.0.2:8936\nlivepeer -redeemer {CHAIN}{OTHER} "
         "-dataDir /d/r -httpAddr 10.8.0.2:8936", "orchestrators", "redeemer", "redeemer", None),
    ],
)  # fmt: skip
def test_a_helper_of_the_fleet_is_called_by_its_name(text: str, kind: str, key: str, value: object, why: Why) -> None:
    found = adopted(text)
    assert table(found, kind)[key] == value
    flag = "redeemerAddr" if key == "redeemer" else "remoteSignerUrl"
    assert reason(found, flag) is why


def fleet(orchestrator: str, worker: str, **files: str) -> Adopted:
    """An orchestrator and a worker of it, with these words more."""
    reached = WORKER.replace(" -orchSecret /etc/lp/s", "").replace("o.example.net", "orch.example.net")
    return adopted(f"{SELLER} -pricePerUnit 7 {orchestrator}\n{reached} {worker}", **files)


def test_worker_without_a_secret_gets_that_of_its_orchestrator() -> None:
    found = fleet("-orchSecret /etc/lp/s", "")
    assert "secret" not in asked(found) and reason(found, "orchSecret") is Why.ITS_SECRET
    assert asked(fleet("", ""))["secret"] is Ask.SECRET_OF_ORCHESTRATOR


# ------------------------------------------------------------------------------------------------------------ wallets


def test_nodes_of_one_account_share_a_wallet_and_conflicts_are_asked() -> None:
    second = BUYER.replace("/d/g", "/d/h").replace("/etc/lp/pw", "/etc/lp/other")
    found = adopted(f"{BUYER} -ethKeystorePath /keys/a\n{second} -ethKeystorePath /keys/b")
    wallet = table(found, "wallets", "payer")
    assert (wallet["address"], wallet["keystore"]) == (ACCOUNT, "/keys/a")
    assert wallet["password"] == {"host_file": "/etc/lp/pw"}
    kinds = [question.kind for question in found.questions if question.place[:2] == ("wallets", "payer")]
    assert kinds.count(Ask.ONE_KEYSTORE) == kinds.count(Ask.ONE_PASSWORD) == kinds.count(Ask.DEPOSIT) == 1
    assert tomllib.loads(found.text)["wallets"].keys() == {"payer"}


def test_nodes_without_an_account_share_a_wallet_only_with_their_keys() -> None:
    command = f"{BUYER.replace(f'-ethAcctAddr {ACCOUNT}', '')} -ethKeystorePath /keys/"
    for keys, wallets in ((("a", "a"), 1), (("a", "b"), 2)):
        found = adopted("\n".join(f"{command}{key}".replace("/d/g", f"/d/{n}") for n, key in enumerate(keys)))
        assert len(tomllib.loads(found.text)["wallets"]) == wallets


@pytest.mark.parametrize(
    ("run", "command"),
    [
        ("livepeer", "; curl -s http://127.0.0.1:7000/senderInfo on its host shows"),
        (f"docker run --name lp {IMAGE}", "'{{.State.Pid}}' lp) curl -s http://127.0.0.1:7000/senderInfo on its host"),
        (f"docker run {IMAGE}", "'{{.State.Pid}}' CONTAINER) curl -s http://127.0.0.1:7000/senderInfo on its host"),
    ],
)
def test_command_that_shows_a_deposit_reaches_the_node(run: str, command: str) -> None:
    """A node in a container listens on the loopback of that."""
    assert adopted(f"{BUYER} -cliAddr 127.0.0.1:7000".replace("livepeer", run, 1)).text.count(command) == 2


# ---------------------------------------------------------------------------------------------------------- variables


def test_a_value_of_a_variable_is_repeated_only_where_its_name_is_harmless() -> None:
    variables = {
        "LIVE_AI_WHIP_ADDR": ":7280", "CUDA_VISIBLE_DEVICES": "1", "LOG_LEVEL": "debug", "FLAG": "true",
        "HOOK": "http://hook.example.net:80/", "AUTH": "ab1", "PASS1": "ab2", "API_TOKEN": "ab4", "PIN": "1234",
        "PAGE_URL": "http://hook.example.net/?t=ab3", "EMPTY": "", "LC_ALL": "C", "HF_TOKEN": "$TOKEN",
    }  # fmt: skip
    words = " ".join(
        f"-e '{name}={value}'" if value[:1] != "$" else f"-e {name}={value}" for name, value in variables.items()
    )
    found = adopted(f"docker run --network host {words} {IMAGE} {WORKER.removeprefix('livepeer ')}")
    worker = table(found, "transcoders")
    plain = ("LIVE_AI_WHIP_ADDR", "CUDA_VISIBLE_DEVICES", "LOG_LEVEL", "FLAG", "HOOK")
    assert worker["environment"] == {name: variables[name] for name in plain}
    secret = {"AUTH", "PASS1", "API_TOKEN", "PIN", "PAGE_URL", "HF_TOKEN"}
    assert worker["secret_environment"].keys() == secret
    assert worker["secret_environment"]["AUTH"] == {"env": f"{found.nodes[0].name}_AUTH".upper().replace("-", "_")}
    assert not any(value in found.text for value in ("ab1", "ab2", "ab3", "ab4", "1234"))


def test_variables_that_only_compose_fills_in_are_none_of_the_node() -> None:
    compose = (
        f"services:\n  g:\n    image: {IMAGE.partition(':')[0]}:${{TAG}}\n    env_file: .env\n"
        "    command: -gateway -orchAddr ${ORCH}:8935\n    environment: ['LIVE_AI_NAT_IP=${NAT}']\n"
    )
    env = "TAG=v0.9.1\nORCH=o.example.net\nNAT=192.0.2.1\nCOMPOSE_PROJECT_NAME=farm\nTZ=Europe/Berlin\nLP_X=1\n"
    found = adopt([Source("compose.yaml", compose), Source(".env", env)])
    assert table(found, "gateways")["environment"].keys() == {"LIVE_AI_NAT_IP", "TZ"}
    dropped = {entry.shown for entry in found.entries if "sources use it themselves" in entry.words}
    assert dropped == {"TAG", "ORCH", "NAT", "COMPOSE_PROJECT_NAME"}
    assert "adopt-flag-unknown" in codes(found)  # LP_X is no variable of the node


def test_flags_without_a_field_are_kept() -> None:
    found = adopted(f"{OFFCHAIN} -testTranscoder=false -v 6")
    spec = table(found, "gateways")
    kept = {entry.shown for entry in found.entries if entry.fate is Fate.KEPT}
    assert {f"-{flag}" for flag in spec.get("extra_flags", {})} == kept
    assert check_spec([Source("fleet.toml", found.text)]).document is not None
