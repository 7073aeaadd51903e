"""A secret that stands in a source appears in nothing that adopting makes: spec, messages, reports."""

from __future__ import annotations

import tomllib

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.report import glance
from fleetc.adopt.report.report import reported
from fleetc.messages.forms import AdoptionFormat, Format, written
from fleetc.toml.document import Source

WORD = "hunter2-swordfish"
"""No form of secrets that is recognised by its looks: only its place says what it is."""

CHAIN = "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethAcctAddr 0x" + "1" * 40
GATEWAY = f"livepeer -gateway {CHAIN}"
_CONFIG = f"network arbitrum-one-mainnet\nethAcctAddr 0x{'1' * 40}\n"
SOURCES = {
    "flag": {"a.sh": f"{GATEWAY} -ethPassword {WORD} -v 6"},
    "flag with a sign": {"a.sh": f"{GATEWAY} -ethPassword={WORD} -aiHttpAddr x"},
    "two words": {"a.sh": f"{GATEWAY} -ethPassword one {WORD} -v 6"},
    "second word with a sign": {"a.sh": f"{GATEWAY} -ethPassword=one {WORD} -v 6"},
    "variable": {"a.sh": f"PW={WORD}\n{GATEWAY} -ethPassword $PW"},
    "secret variable in a branch": {"a.sh": f"if uname; then\n  PASSWORD={WORD}\nfi\n{GATEWAY} -ethPassword $PASSWORD"},
    "default": {"a.sh": f"{GATEWAY} -ethPassword ${{PW:-{WORD}}}"},
    "environment of a command": {"a.sh": f"LP_ETHPASSWORD={WORD} {GATEWAY} -ethPassword other"},
    "exported": {"a.sh": f"export LP_ORCHSECRET={WORD}\nlivepeer -orchestrator -serviceAddr a.example.net:1"},
    "docker": {"a.sh": f"docker run -e MY_TOKEN={WORD} livepeer/go-livepeer -gateway -orchAddr a.example.net:1"},
    "config": {"a.conf": f"orchestrator\nserviceAddr a.example.net:1\norchSecret {WORD}\norchSecret other\n"},
    "environment file": {
        "compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer\n    command: -gateway -orchAddr a:1\n"
        "    env_file: g.env\n",
        "g.env": f"LP_MEDIAMTXAPIPASSWORD={WORD}\nAPI_KEY={WORD}\n",
    },
    "compose": {
        "compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer\n    environment:\n"
        f"      LP_ORCHSECRET: {WORD}\n    command: -transcoder -orchAddr a.example.net:1 -nosuch\n"
    },
    "dot env": {
        "compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer\n"
        "    command: -transcoder -orchAddr a.example.net:1 -orchSecret ${S} -nosuch\n",
        ".env": f"S={WORD}\n",
    },
    "unit": {
        "a.service": f"[Service]\nEnvironment=LP_ORCHSECRET={WORD}\nExecStart=/bin/livepeer -transcoder -orchAddr a:1"
    },
    "models": {
        "a.sh": "livepeer -orchestrator -aiWorker -aiModels m.json -serviceAddr a.example.net:1",
        "m.json": f'[{{"pipeline": "llm", "model_id": "a/b", "url": "http://192.0.2.1:8000", "token": "{WORD}"}}]',
    },
    "address": {"a.sh": f"livepeer -gateway -orchWebhookUrl https://user:{WORD}@hook.example.net/list"},
    "key in an RPC address": {
        "a.sh": f"export RPC=https://arb1.example.net/rpc/{WORD}\n{GATEWAY} -ethUrl $RPC -serviceAddr a:1",
    },
    "key of few letters in an RPC address": {"a.sh": f"{GATEWAY} -ethUrl ws://10.0.0.5:8548/k/{WORD}"},
    "key in an odd parameter of an RPC address": {"a.conf": f"gateway\n{_CONFIG}ethUrl https://a.example.net?of={WORD}\n"},
    "RPC address in the environment of a unit": {
        "a.service": f"[Service]\nEnvironment=ARB_RPC=https://rpc.example.net/k/{WORD} U=https://x.example/{WORD}\n"
        f"ExecStart=/bin/livepeer -orchestrator -serviceAddr a:1 {CHAIN} -ethUrl https://x.example/{WORD}",
    },
    "headers": {
        "a.sh": f"livepeer -gateway -remoteSignerUrl http://192.0.2.1:1 -remoteSignerHeaders Authorization:{WORD} -x"
    },
    "stack of avatars": {
        ".env": f"VTUBER_TYPO={WORD}\nEDGE_CONFIG_URL=https://edge.example.net\nEDGE_CONFIG_TOKEN={WORD}\n"
        f"RUNNER_API_TOKEN={WORD}\nEDGE_ENFORCE_EXCLUSIVE=1\nPAYMENTS_API_URL=https://user:{WORD}@pay.example.net\n",
        ".env.turn": f"TURN_USER=u\nTURN_PASS={WORD}\nRUNNER_API_TOKEN=other\n",
        "cluster.json": '{"instances": ["mira"]}',
    },
    "file of a password beside a script": {"a.sh": GATEWAY, "data/password.txt": f"{WORD}\n"},
    "password with a space and a bracket": {"a.sh": GATEWAY, "pass.txt": f"one {WORD} & more x\n{WORD} --x {WORD}\n"},
    "variable of a short name": {"a.sh": f'export LP_PASS="{WORD}"\n{GATEWAY} -nosuch'},
    "password of a wallet": {"a.sh": f"export LP_WALLET_PW={WORD} ; {GATEWAY} -serviceAddr a:1"},
    "unknown flag": {"a.sh": f"{GATEWAY} -s3creds AKIAXXXXXXXX/{WORD} -nosuch={WORD} -v 6"},
    "words behind the end": {"a.sh": f"{GATEWAY} -reward false -s3creds {WORD} -nosuch={WORD} {WORD}"},
    "flags outside the command": {"a.sh": f"{GATEWAY}\n-v 6 -ethPassword {WORD} {WORD}"},
    "variable of a container on one line": {
        "a.sh": f"docker run -e LP_X={WORD} livepeer/go-livepeer -gateway -orchAddr a:1 -serviceAddr b:1"
    },
    "branch not taken": {"a.sh": f"if [ a = b ]; then\n  {WORD} livepeer\n  X={WORD} docker run x\nfi\n{GATEWAY}"},
    "file read by a script": {"a.sh": f". {WORD}\nsource /etc/livepeer/env\n{GATEWAY}"},
    "unit with a line that is none": {
        "a.service": f"[Service]\n{WORD}\nExecStart=/bin/livepeer -transcoder -orchAddr a.example.net:1"
    },
    "config file with a line that is none": {
        "a.conf": f"orchestrator\ntranscoder\nserviceAddr a.example.net:1\n{WORD}\nx {WORD}\n"
    },
    "manifest": {
        "a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: g}\nspec:\n  containers:\n    - name: g\n"
        "      image: livepeer/go-livepeer\n      args: [-transcoder, -orchAddr=a.example.net:1]\n      env:\n"
        f"        - {{name: LP_ORCHSECRET, value: {WORD}}}\n"
    },
}  # fmt: skip


REFUSED = {
    "file of a password": {"pass.txt": f"{WORD}\n"},
    "file of a password with a quote": {"pass.txt": f"{WORD} & it's\n"},
    "notes": {"README.md": f"# Notes\n\nThe password is\n{WORD}\n\nhttps://example.net/v2/{WORD}\n"},
    "no role": {"a.sh": f"export LP_PASS={WORD}; livepeer -v 6 -nosuch {WORD}"},
}
"""Sources that start no node."""


def _made(files: dict[str, str]) -> tuple[Adopted, list[str]]:
    """What adopting makes of files: the spec, all forms of the report and of the messages, and differences."""
    found = adopt([Source(name, text) for name, text in files.items()])
    messages = located(found)
    made = [found.text, *(reported(found, form, messages) for form in AdoptionFormat)]
    made += [written(form, messages, found.sources) for form in (Format.text, Format.json, Format.github)]
    made += [f"{d.today} {d.compiled}" for d in found.differences]
    return found, made


@pytest.mark.parametrize("case", REFUSED)
def test_secret_appears_nowhere_where_no_spec_is_written(case: str) -> None:
    found, made = _made(REFUSED[case])
    assert [text for text in made if WORD in text] == []
    assert not found.text


def test_key_in_an_address_is_hidden_however_long_the_address_is() -> None:
    key = "AAbbCCdd11223344"
    address = f"https://arb-mainnet.g.alchemy.com/v2/{key}"
    _, made = _made({"a.sh": f"{GATEWAY}\n{address} x\n", "b.sh": f"if [ a = b ]; then\n{address}\nfi\n"})
    assert [text for text in made if key[:8] in text] == []


SERVICE = "  {}:\n    image: livepeer/go-livepeer\n    volumes: [/srv/{}:/root/.lpData]\n    command: {}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "services:\n"
            + SERVICE.format(
                "o",
                "o",
                f"-orchestrator -serviceAddr orch.example.net:8935 -authWebhookUrl https://u:{WORD}@auth.example.net/x",
            )
            + SERVICE.format("g", "g", "-gateway -orchAddr o:8935"),
            "no other is called o: g reaches o at orch.example.net:8935",
        ),
        (
            f"{GATEWAY} -orchSecret {WORD} -localVerify=false -monitor false -v 6",
            "nothing behind false, 1 flag among it",
        ),
        (f"{GATEWAY} -orchSecret={WORD} -monitor false -v 6", "nothing behind false, 1 flag among it"),
    ],
)
def test_message_that_repeats_no_secret_keeps_its_words(text: str, said: str) -> None:
    _, made = _made({"compose.yaml" if text.startswith("services") else "a.sh": text})
    assert [one for one in made if WORD in one] == []
    assert said in " ".join(made)
    assert "so it is not repeated" not in " ".join(made)


@pytest.mark.parametrize("address", [
    "https://arb1.arbitrum.io/rpc", "https://1rpc.io/arb", "https://endpoints.omniatech.io/v1/arbitrum/one/public",
    "https://arbitrum-one-rpc.publicnode.com", "http://10.0.0.5:8547", "https://rpc.ankr.com/arbitrum",
])  # fmt: skip
def test_public_rpc_address_stays(address: str) -> None:
    found, _ = _made({"a.sh": f"{GATEWAY} -ethUrl {address}"})
    assert f'rpc = "{address}"' in found.text


def test_what_everybody_knows_is_shown() -> None:
    command = f"{GATEWAY} -reward false -maxSessions 30 -cliAddr 0.0.0.0:7935"
    _, made = _made({"a.sh": f"mkdir -p /srv/livepeer\nsystemctl stop livepeer\n{command}"})
    report = made[1]
    assert all(f": {word}: " in report for word in ("mkdir", "systemctl", "false", "-maxSessions", "0.0.0.0:7935"))


@pytest.mark.parametrize("case", SOURCES)
def test_secret_appears_nowhere(case: str) -> None:
    found, made = _made(SOURCES[case])
    assert [text for text in made if WORD in text] == []
    assert found.processes or found.stacks


@pytest.mark.parametrize(
    ("texts", "password"),
    [
        ({"start.sh": "cd /opt/lp\n./livepeer WORDS -ethPassword pw.txt"}, {"host_file": "/opt/lp/pw.txt"}),
        ({"start.sh": "cd /opt/lp\n./livepeer WORDS -ethPassword keys/.ethpass"},
         {"host_file": "/opt/lp/keys/.ethpass"}),
        ({"lp.service": "[Service]\nWorkingDirectory=/opt/lp\nExecStart=/opt/lp/livepeer WORDS -ethPassword pw.txt"},
         {"host_file": "/opt/lp/pw.txt"}),
        ({"start.sh": "cd /opt/lp\n./livepeer WORDS -ethPassword walletword", "walletword": "hunter2\n"},
         {"host_file": "/opt/lp/walletword"}),
        ({"start.sh": "./livepeer WORDS -ethPassword pw.txt"}, {"host_file": "./pw.txt"}),
        ({"start.sh": "cd /opt/lp\n./livepeer WORDS -ethPassword walletword"}, {"env": "ORCHESTRATOR_PASSWORD"}),
        ({"start.sh": "cd /opt/lp\n./livepeer WORDS -ethPassword P4ss.word!"}, {"env": "ORCHESTRATOR_PASSWORD"}),
    ],
)  # fmt: skip
def test_name_of_a_password_file_is_no_password(texts: dict[str, str], password: dict[str, str]) -> None:
    words = (
        "-orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net -dataDir /d "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr o.example.net:8935 -pricePerUnit 5"
    )
    found = adopt([Source(name, text.replace("WORDS", words)) for name, text in texts.items()])
    (wallet,) = tomllib.loads(found.text)["wallets"].values()
    assert wallet["password"] == password
    codes = {one.code for one in found.diagnostics}
    assert ("adopt-secret-inline" in codes) == ("env" in password)
    assert ("adopt-file-missing" in codes) == ("env" not in password)  # people should look whether it is there
    assert "hunter2" not in found.text


def test_secret_in_a_text_for_a_shell_is_shown_where_its_value_stands() -> None:
    url = f"https://arb1.example.net/v2/{WORD}"
    script = f'ETH_URL={url}\nscreen -dmS g bash -c "./{GATEWAY.replace("https://rpc.example.net", "$ETH_URL")}"\n'
    found = adopt([Source("a.sh", script)])
    (one,) = (item for item in located(found) if item.diagnostic.code == "adopt-secret-inline")
    assert one.primary.line == 1
    assert "as ETH_URL" in one.diagnostic.message


@pytest.mark.parametrize(
    "script",
    [
        'livepeer -transcoder -orchAddr o.example.net:1 -orchSecret "$SECRET"',
        "livepeer -transcoder -orchAddr o.example.net:1 -orchSecret=$SECRET",
        "export LP_ORCHSECRET=$SECRET\nlivepeer -transcoder -orchAddr o.example.net:1",
        'COPY="${SECRET}"\nlivepeer -transcoder -orchAddr o.example.net:1 -orchSecret $COPY',
        'WORDS="-orchSecret $SECRET -v 6"\nlivepeer -transcoder -orchAddr o.example.net:1 $WORDS',
        'WORDS="-v 6 -orchSecret=$SECRET"\nlivepeer -transcoder -orchAddr o.example.net:1 $WORDS',
        "docker run -e LP_ORCHSECRET=$SECRET livepeer/go-livepeer -transcoder -orchAddr o.example.net:1",
    ],
)
def test_secret_of_a_sourced_file_is_told_where_its_value_stands(script: str) -> None:
    """Who is told to move a value looks for it at the line that has it."""
    env = Source("gateway.env", 'NAME=lp\nSECRET="hunter2-of-the-orchestrator"\n')
    found = adopt([Source("start.sh", f'#!/bin/sh\n. "$(dirname "$0")/gateway.env"\n{script}\n'), env])
    (one,) = (item for item in located(found) if item.diagnostic.code == "adopt-secret-inline")
    assert (one.primary.file, one.primary.line, one.primary.hidden) == ("gateway.env", 2, True)
    assert "as WORDS" not in one.diagnostic.message and "hunter2" not in found.text


_PART = "http://auth.example.net/hook?token=$TOKEN"
_WEB = "https://lists.example.net/o.json?key=$KEY"
_KEYS = "TOKEN=hunter2-of-the-hook\nKEY=hunter2-of-the-list\n"
_IN_COMPOSE = "services:\n  gateway:\n    image: livepeer/go-livepeer\n"


@pytest.mark.parametrize(
    "texts",
    [
        {"gateway.sh": f'{_KEYS}livepeer -gateway -orchWebhookUrl "{_WEB}" -authWebhookUrl {_PART}'},
        {"gateway.sh": f'{_KEYS}livepeer -gateway -orchWebhookUrl="{_WEB}" -authWebhookUrl={_PART}'},
        {"gateway.sh": f'{_KEYS}A={_PART}\nB="{_WEB}"\nlivepeer -gateway -orchWebhookUrl $B -authWebhookUrl "$A"'},
        {"gateway.sh": f'. ./keys.env\nexport LP_AUTHWEBHOOKURL={_PART}\nlivepeer -gateway -orchWebhookUrl "{_WEB}"',
         "keys.env": _KEYS},
        {"gateway.sh": f"{_KEYS}docker run -e LP_AUTHWEBHOOKURL={_PART} "
         f"livepeer/go-livepeer -gateway -orchWebhookUrl {_WEB}"},
        {"compose.yaml": f"{_IN_COMPOSE}    command: -gateway -orchWebhookUrl {_WEB} -authWebhookUrl={_PART}\n",
         ".env": _KEYS},
        {"compose.yaml": f"{_IN_COMPOSE}    environment:\n      LP_AUTHWEBHOOKURL: {_PART}\n"
         f"    command: [-gateway, -orchWebhookUrl, '{_WEB}']\n", ".env": _KEYS},
        {"compose.yaml": f"{_IN_COMPOSE}    environment: ['LP_AUTHWEBHOOKURL={_PART}']\n"
         f"    command: ['-gateway', '-orchWebhookUrl={_WEB}']\n", ".env": _KEYS},
        {"gateway.service": "[Service]\nEnvironmentFile=/etc/keys.env\n"
         f"ExecStart=/bin/livepeer -gateway -orchWebhookUrl {_WEB.replace('$KEY', '${KEY}')} "
         f"-authWebhookUrl={_PART.replace('$TOKEN', '${TOKEN}')}\n", "keys.env": _KEYS},
    ],
)  # fmt: skip
def test_variable_with_a_part_of_a_secret_is_not_taken_for_the_whole(texts: dict[str, str]) -> None:
    """Whoever deploys would give the node the token alone as its webhook."""
    found = adopt([Source(name, text) for name, text in texts.items()])
    (gateway,) = tomllib.loads(found.text)["gateways"].values()
    assert gateway["auth_webhook"] == {"env": "GATEWAY_AUTH_WEBHOOK"}
    assert gateway["discovery"] == {"webhook": {"env": "GATEWAY_DISCOVERY_WEBHOOK"}}
    said = [item for item in located(found) if item.diagnostic.code == "adopt-secret-inline"]
    assert len(said) == 2
    for one, name in zip(said, ("TOKEN", "KEY"), strict=True):
        file = next(source for source in found.sources if source.name == one.primary.file)
        assert file.text.splitlines()[one.primary.line - 1].startswith(f"{name}=")
        assert "all or a part of" in one.diagnostic.message and f"as {name}" not in one.diagnostic.message
        assert "put the whole value" in one.diagnostic.help and "WEBHOOK" in one.diagnostic.message


def test_part_of_a_secret_that_no_source_has_is_asked_for_as_a_whole() -> None:
    found = adopt(
        [Source("gateway.sh", f"livepeer -gateway -orchWebhookUrl {_WEB} -ethUrl https://rpc.example.net?k=$RPC")]
    )
    (gateway,) = tomllib.loads(found.text)["gateways"].values()
    assert gateway["discovery"] == {"webhook": {"env": "GATEWAY_DISCOVERY_WEBHOOK"}}
    assert any("put the whole value into the variable GATEWAY_DISCOVERY" in one.help for one in found.diagnostics)


def test_key_behind_a_sign_in_the_rpc_address_is_no_address() -> None:
    script = f"KEY={WORD}\n{GATEWAY.replace('https://rpc.example.net', 'https://rpc.example.net?apikey=$KEY')}"
    assert tomllib.loads(adopt([Source("gateway.sh", script)]).text)["fleet"]["rpc"] == {"env": "RPC_URL"}


def test_plain_word_of_a_passphrase_hides_no_message() -> None:
    """Which word that is would tell a part of it."""
    env = f"RPC=https://arb-mainnet.g.alchemy.com/v2/Qm77xAlchKeyFRAx\nORCH_PW='{WORD} with space'\n"
    command = f"{GATEWAY} -ethPassword $ORCH_PW".replace("https://rpc.example.net", "$RPC")
    _, made = _made({"a.sh": f". ./g.env\n{command}", "g.env": env})
    assert [one for one in made if WORD in one or "Qm77xAlch" in one] == []
    assert "so it is not repeated" not in " ".join(made)
    assert "with its key stands in this file" in " ".join(made)


def test_all_lines_that_a_secret_stands_in_are_named() -> None:
    """Also those that start no node, as in notes, and those of another file; each is to be changed."""
    key = "https://rpc.example.net/v3/5f0e8c1a9b7d4263a8e1c04f6b9d2e77"
    lines = [f"livepeer -gateway {CHAIN} -ethUrl {key} -cliAddr 127.0.0.1:{port}" for port in (5935, 5936)]
    sources = {"a.sh": f"{lines[0]}\n# {key}\n# {key}0\n", "b.sh": lines[1]}
    found, made = _made(sources)
    (line, *_) = glance.secrets(found)
    assert line.startswith("secrets in clear: set RPC_URL (a.sh:1,2, b.sh:1) where you deploy")
    assert [text for text in made if key in text] == []


ON = "-network arbitrum-one-mainnet -ethUrl https://r.example.net"
CAPS = '{"capabilities_prices": [{"pipeline": "llm", "model_id": "m/l", "price_per_unit": 200}]}'
LISTS = {
    "o.sh": f"livepeer -orchestrator {ON} -serviceAddr o.example.net:8935 -orchSecret /srv/s -pricePerUnit 1000 "
    "-aiModels /srv/a.json\n",
    "w.sh": "livepeer -aiWorker -orchAddr o.example.net:8935 -orchSecret /srv/s -aiModels /srv/b.json -nvidia 0\n",
    "g.sh": f"livepeer -gateway {ON} -orchAddr o.example.net:8935 -maxPricePerUnit 900 "
    f"-maxPricePerCapability '{CAPS}'\n",
    "a.json": '[\n{"pipeline": "llm", "model_id": "m/l", "price_per_unit": "0.5e-12USD", "warm": true}\n]',
    "b.json": '[{"pipeline": "llm", "model_id": "m/l", "price_per_unit": 180, "url": "http://10.0.0.9:8000", '
    '"token": "sk-np-7f3a91c2d8e64b05", "warm": true}]',
}


def lists(**changed: str) -> Adopted:
    return adopt([Source(name, changed.get(name.partition(".")[0], text)) for name, text in LISTS.items()])


def test_token_of_one_list_hides_no_mistake_of_another() -> None:
    """A list with a credential: its keys are words that messages have too, and it is named where secrets are."""
    found = lists()
    told = written(Format.text, located(found))
    assert "price_per_unit is not a number; the node refuses numbers in quotes" in told
    assert "sk-np-" not in told and "seems to contain a secret" not in told
    line = "secrets in clear without a variable in the spec: token of m/l (b.json:1): change it"
    assert line in glance.secrets(found)


def test_cap_is_not_judged_by_a_list_that_cannot_be_read() -> None:
    """What its orchestrator asks for the model is not known, so no higher cap is asked for."""
    assert "sells model" not in lists().text
    sound = LISTS["a.json"].replace('"0.5e-12USD"', "400")
    assert "sells model" in lists(a=sound).text
    lost = sound.replace('"warm"', '"url": "http://10.0.0.9:8000", "token": "sk-np-7f3a91c2d8e64b05", "warm"')
    assert "sells model" in lists(a=lost).text  # what becomes of a token is asked too, and the price is known
