"""Secrets of our own invention in sources of every kind: none is printed, and none is in a spec."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import count

import pytest

from fleetc.adopt import adopt, located, reported, screen
from fleetc.adopt.node import secrets
from fleetc.messages.forms import Format, ReportFormat, written
from fleetc.messages.text import as_text
from fleetc.toml.document import Source
from tests.support import ROOT

CHAIN = f"-network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethAcctAddr 0x{'1' * 40}"
GATEWAY = f"livepeer -gateway -orchAddr o.example.net:8935 {CHAIN}"
ORCHESTRATOR = f"livepeer -orchestrator -transcoder {CHAIN} -serviceAddr o.example.net:8935 -pricePerUnit 5"
PLACED: dict[str, dict[str, str]] = tomllib.loads((ROOT / "tests/data/placed_secrets.toml").read_text())
FORMS = {"w": "otter{}vault", "n": "40{}77", "f": "/moss/k{}", "h": "fern{}.io:9{}"}


def placed(files: dict[str, str]) -> tuple[list[Source], list[str]]:
    """Sources with a secret of its own at each place."""
    numbers, texts = count(100), list[str]()

    def secret(mark: re.Match[str]) -> str:
        number = next(numbers)
        texts.append(FORMS[mark[1]].format(number, number))
        return texts[-1]

    commands = {"GATEWAY": GATEWAY, "ORCHESTRATOR": ORCHESTRATOR}
    whole = {name: re.sub("GATEWAY|ORCHESTRATOR", lambda at: commands[at[0]], text) for name, text in files.items()}
    return [Source(name, re.sub(r"@([wnfh])", secret, text)) for name, text in whole.items()], texts


def made(sources: list[Source]) -> Iterator[tuple[str, str]]:
    """All that comes of an adoption, by its form."""
    found = adopt(sources)
    messages = located(found)
    yield "spec", found.text
    yield "messages", as_text(messages)
    yield "screen", "\n".join(screen(found, messages, "fleet.toml"))
    yield from ((form, reported(found, form, messages)) for form in ReportFormat)
    yield from ((form, written(form, messages, found.sources)) for form in (Format.json, Format.github))


@pytest.mark.parametrize("kind", PLACED)
def test_placed_secret_is_in_nothing_that_comes_of_it(kind: str) -> None:
    sources, texts = placed(PLACED[kind])
    assert texts
    leaked = {f"{form}: {text}" for form, output in made(sources) for text in texts if text in output}
    assert leaked == set()
    assert sum(len(placed(files)[1]) for files in PLACED.values()) >= 80


@pytest.mark.parametrize("address", [
    "https://arb1.arbitrum.io/rpc", "https://1rpc.io/arb", "https://endpoints.omniatech.io/v1/arbitrum/one/public",
    "https://arbitrum-one-rpc.publicnode.com", "http://10.0.0.5:8547", "https://rpc.ankr.com/arbitrum",
])  # fmt: skip
def test_public_rpc_address_stays(address: str) -> None:
    text = adopt([Source("a.sh", GATEWAY.replace("https://rpc.example.net", address))]).text
    assert f'rpc = "{address}"' in text


def test_settings_that_fleetc_knows_are_shown_with_their_values() -> None:
    command = f"{GATEWAY} -maxSessions 30 -cliAddr 0.0.0.0:7935 -reward false -v 6"
    found = adopt([Source("a.sh", f"mkdir -p /srv/livepeer\nfoo /srv\n{command}")])
    shown = {entry.shown for entry in found.entries}
    assert {"a command", "-maxSessions=30", "-cliAddr=0.0.0.0:7935", "false", "-v"} <= shown


@pytest.mark.parametrize(
    ("name", "known"),
    [("CUDA_VISIBLE_DEVICES", True), ("--model-id", True), ("LC_ALL", True), ("LP_V", True), ("LP_ORCHSECRET", False),
     ("AUTH", False), ("FAL_KEY", False), ("NVIDIA_TOKEN", False)],
)  # fmt: skip
def test_variables_and_options_are_known_by_their_names(name: str, known: bool) -> None:
    assert secrets.harmless(name) is known


WORDS = ORCHESTRATOR.partition(" ")[2] + " -dataDir /d"


@pytest.mark.parametrize(
    ("texts", "password"),
    [
        ({"start.sh": "./livepeer WORDS -ethPassword /etc/pw"}, {"host_file": "/etc/pw"}),
        ({"start.sh": "cd /opt/lp\n./livepeer WORDS -ethPassword ./pw"}, {"host_file": "/opt/lp/pw"}),
        (
            {"start.sh": "cd /opt/lp\n./livepeer WORDS -ethPassword word", "word": "moss77\n"},
            {"host_file": "/opt/lp/word"},
        ),
        ({"start.sh": "cd /opt/lp\n./livepeer WORDS -ethPassword pw.txt"}, {"env": "ORCHESTRATOR_PASSWORD"}),
        ({"start.sh": "./livepeer WORDS -ethPassword P4ss.word!"}, {"env": "ORCHESTRATOR_PASSWORD"}),
    ],
)
def test_text_is_the_file_of_a_password_only_as_a_path_or_as_a_source(
    texts: dict[str, str], password: dict[str, str]
) -> None:
    found = adopt([Source(name, text.replace("WORDS", WORDS)) for name, text in texts.items()])
    (wallet,) = tomllib.loads(found.text)["wallets"].values()
    assert wallet["password"] == password and "moss77" not in found.text
    assert ("adopt-secret-inline" in {one.code for one in found.diagnostics}) == ("env" in password)


SECRET = "transcoder -orchAddr o.example.net:1 -orchSecret"


@pytest.mark.parametrize("script", [
    f'livepeer -{SECRET} "$SECRET"', f"livepeer -{SECRET}=$SECRET",
    "export LP_ORCHSECRET=$SECRET\nlivepeer -transcoder -orchAddr o.example.net:1",
    f'COPY="${{SECRET}}"\nlivepeer -{SECRET} $COPY',
    f"docker run -e LP_ORCHSECRET=$SECRET livepeer/go-livepeer -{SECRET.removesuffix(' -orchSecret')}",
])  # fmt: skip
def test_secret_is_reported_where_its_value_stands(script: str) -> None:
    """Who has to move a value looks for it at the line that has it."""
    env = Source("gateway.env", 'NAME=lp\nSECRET="moss-of-the-orchestrator"\n')
    found = adopt([Source("start.sh", f'. "$(dirname "$0")/gateway.env"\n{script}\n'), env])
    (one,) = (item for item in located(found) if item.diagnostic.code == "adopt-secret-inline")
    assert (one.primary.file, one.primary.line, one.primary.hidden) == ("gateway.env", 2, True)
    assert "moss" not in found.text


PART, WEB = "http://auth.example.net/hook?token=$TOKEN", "https://lists.example.net/o.json?key=$KEY"
KEYS = "TOKEN=moss-of-the-hook\nKEY=moss-of-the-list\n"
IN_COMPOSE = "services:\n  gateway:\n    image: livepeer/go-livepeer\n"


@pytest.mark.parametrize("texts", [
    {"gateway.sh": f'{KEYS}livepeer -gateway -orchWebhookUrl "{WEB}" -authWebhookUrl={PART}'},
    {"gateway.sh": f'. ./keys.env\nexport LP_AUTHWEBHOOKURL={PART}\nlivepeer -gateway -orchWebhookUrl "{WEB}"',
     "keys.env": KEYS},
    {"compose.yaml": f"{IN_COMPOSE}    command: -gateway -orchWebhookUrl {WEB} -authWebhookUrl={PART}\n", ".env": KEYS},
    {"gateway.service": f"[Service]\nEnvironmentFile=/etc/keys.env\nExecStart=/bin/livepeer -gateway "
     f"-orchWebhookUrl {WEB.replace('$KEY', '${KEY}')} -authWebhookUrl={PART.replace('$TOKEN', '${TOKEN}')}\n",
     "keys.env": KEYS},
])  # fmt: skip
def test_variable_with_a_part_of_a_secret_is_not_taken_for_the_whole(texts: dict[str, str]) -> None:
    """Whoever deploys would give the node the token alone as its webhook."""
    found = adopt([Source(name, text) for name, text in texts.items()])
    (gateway,) = tomllib.loads(found.text)["gateways"].values()
    assert gateway["auth_webhook"] == {"env": "GATEWAY_AUTH_WEBHOOK"}
    assert gateway["discovery"] == {"webhook": {"env": "GATEWAY_DISCOVERY_WEBHOOK"}}
    places = [item.primary for item in located(found) if item.diagnostic.code == "adopt-secret-inline"]
    lines = (texts[place.file].split("\n")[place.line - 1] for place in places)
    assert {line.partition("=")[0] for line in lines} == {"TOKEN", "KEY"}
