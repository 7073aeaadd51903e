"""The RPC address of a fleet: it is asked for where nodes name several, and each is compared with that of its spec."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from fleetc.adopt.adoption import adopt
from fleetc.adopt.found.said import Said
from fleetc.adopt.node.rpc import ADDRESSES, site_of
from fleetc.toml.document import Source
from tests.support import fleetc

LOCAL, PUBLIC = "http://127.0.0.1:8547", "https://arb1.arbitrum.io/rpc"
KEYED = "https://arb-mainnet.g.alchemy.com/v2/abcdefghijklmnopqrstuvwxyz012345"
CHAIN = "-network arbitrum-one-mainnet -ethPassword /srv/p -cliAddr 127.0.0.1"
ORCH = (
    f"livepeer -orchestrator -transcoder -serviceAddr o.example.net:8935 -pricePerUnit 1000 "
    f"-ethAcctAddr 0x{'1' * 40} {CHAIN}:7935 -dataDir /srv/o -ethUrl"
)
GATE = f"livepeer -gateway -maxPricePerUnit 2000 -ethAcctAddr 0x{'2' * 40} {CHAIN}:5935 -dataDir /srv/g -ethUrl"


def asked(one: str, other: str) -> str:
    """What is asked of a fleet whose nodes name these two."""
    found = adopt([Source("o.sh", f"{ORCH} {one}\n"), Source("g.sh", f"{GATE} {other}\n")])
    return next((line for line in found.text.splitlines() if line.startswith(("# TODO rpc", "rpc"))), "")


def test_one_address_is_that_of_the_fleet() -> None:
    assert asked(LOCAL, LOCAL) == f'rpc = "{LOCAL}"'


@pytest.mark.parametrize(("one", "other", "offered"), [
    (LOCAL, PUBLIC, f'"{PUBLIC}"'), (PUBLIC, LOCAL, f'"{PUBLIC}"'), (LOCAL, KEYED, '{ env = "RPC_URL" }'),
    (KEYED, f"{KEYED}6", '{ env = "RPC_URL" }'),
])  # fmt: skip
def test_several_addresses_are_asked_about(one: str, other: str, offered: str) -> None:
    """Two keyed ones get the same reference and are two all the same; the one of each host itself is not offered."""
    line = asked(one, other)
    assert line.startswith(f"# TODO rpc = {offered}  # a host has one RPC address, but o asks ")
    assert ", g asks " in line and "abcdefghijklmnop" not in line


def test_each_host_keeps_its_own_address(tmp_path: Path) -> None:
    """The fleet has the one that more hosts use, and of two the one that is not of the host itself."""
    (tmp_path / "o.sh").write_text(f"{ORCH} {LOCAL}\n")
    (tmp_path / "g.sh").write_text(f"{GATE} {PUBLIC}\n")
    sources = ("a@203.0.113.9=o.sh", "b@203.0.113.10=g.sh")
    given = ('wallets.payer.deposit="0.1 ETH"', 'wallets.payer.reserve="0.1 ETH"')
    options = [word for answer in given for word in ("--set", answer)]
    done = fleetc("adopt", *sources, *options, "-o", "fleet.toml", cwd=tmp_path)
    found = tomllib.loads((tmp_path / "fleet.toml").read_text())
    assert found["fleet"]["rpc"] == PUBLIC, done.stderr
    assert (found["hosts"]["a"]["rpc"], "rpc" in found["hosts"]["b"]) == (LOCAL, False)
    assert "TODO rpc" not in (tmp_path / "fleet.toml").read_text() and "-ethUrl" not in done.stderr
    again = fleetc("adopt", *sources, "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path)
    assert again.returncode == 0 and tomllib.loads((tmp_path / "fleet.toml").read_text()) == found
    text = (tmp_path / "fleet.toml").read_text()
    (tmp_path / "other.toml").write_text(text.replace(f'rpc = "{LOCAL}"', ""))
    compared = fleetc("adopt", *sources, "--compare", "other.toml", cwd=tmp_path)
    assert "o -ethUrl: 127.0.0.1:8547 -> arb1.arbitrum.io" in compared.stdout and compared.returncode == 1
    assert "-ethUrl" not in fleetc("adopt", *sources, "--compare", "fleet.toml", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("answer", "kept"),
    [('"http://10.9.9.9:8547"', None), ('{ env = "RPC" }', None), (f'"{PUBLIC}"', PUBLIC)],
)
def test_address_of_a_host_in_an_earlier_spec_yields_to_what_its_nodes_ask(
    answer: str, kept: str | None, tmp_path: Path
) -> None:
    (tmp_path / "o.sh").write_text(f"{ORCH} {PUBLIC}\n")
    (tmp_path / "g.sh").write_text(f"{GATE} {PUBLIC}\n")
    sources = ("a@203.0.113.9=o.sh", "b@203.0.113.10=g.sh")
    fleetc("adopt", *sources, "-o", "fleet.toml", cwd=tmp_path)
    text = (tmp_path / "fleet.toml").read_text().replace("[hosts.a]\n", f"[hosts.a]\nrpc = {answer}\n")
    (tmp_path / "fleet.toml").write_text(text)
    done = fleetc("adopt", *sources, "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert tomllib.loads((tmp_path / "fleet.toml").read_text())["hosts"]["a"].get("rpc") == kept
    told = f'  [hosts.a] rpc: "{PUBLIC}", and no longer {answer}\n'
    assert (told in done.stderr) is (kept is None), done.stderr
    assert "-ethUrl" not in done.stderr


def test_reference_of_a_host_stays_where_the_sources_have_an_address_with_a_key(tmp_path: Path) -> None:
    (tmp_path / "o.sh").write_text(f"{ORCH} {KEYED}\n")
    fleetc("adopt", "a@203.0.113.9=o.sh", "-o", "fleet.toml", cwd=tmp_path)
    text = (tmp_path / "fleet.toml").read_text().replace("[hosts.a]\n", '[hosts.a]\nrpc = { env = "MINE" }\n')
    (tmp_path / "fleet.toml").write_text(text)
    fleetc("adopt", "a@203.0.113.9=o.sh", "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path)
    assert tomllib.loads((tmp_path / "fleet.toml").read_text())["hosts"]["a"]["rpc"] == {"env": "MINE"}


def test_host_whose_nodes_name_two_is_asked_and_others_keep_theirs() -> None:
    third = ORCH.replace("1" * 40, "3" * 40).replace("o.example", "p.example").replace("/srv/o", "/srv/p")
    hosts = {"o.sh": "a", "g.sh": "a", "p.sh": "b"}
    sources = [
        Source("o.sh", f"{ORCH} {LOCAL}\n"), Source("g.sh", f"{GATE} {PUBLIC}\n"), Source("p.sh", f"{third} {KEYED}\n"),
    ]  # fmt: skip
    found = tomllib.loads(adopt(sources, Said(hosts=hosts)).text)
    text = adopt(sources, Said(hosts=hosts)).text
    assert found["fleet"]["rpc"] == {"env": "RPC_URL"} and "rpc" not in found["hosts"]["b"]
    line = f'# TODO rpc = "{PUBLIC}"  # a host has one RPC address, but o asks 127.0.0.1:8547, g asks arb1.arbitrum.io'
    assert line in text.partition("[hosts.a]")[2].partition("[hosts.b]")[0]


def test_two_keyed_addresses_get_two_references() -> None:
    """One for each host; what a reference has is told by its name alone."""
    sources = [Source("o.sh", f"{ORCH} {KEYED}\n"), Source("g.sh", f"{GATE} {KEYED}6\n")]
    found = tomllib.loads(adopt(sources, Said(hosts={"o.sh": "a", "g.sh": "b"})).text)
    assert found["fleet"]["rpc"] == {"env": "RPC_URL"} and found["hosts"]["b"]["rpc"] == {"env": "RPC_URL_2"}


def test_node_with_another_address_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "o.sh").write_text(f"{ORCH} {LOCAL}\n")
    (tmp_path / "g.sh").write_text(f"{GATE} {PUBLIC}\n")
    sources = ("adopt", "h@203.0.113.9=o.sh", "h@203.0.113.9=g.sh")
    fleetc(*sources, "-o", "fleet.toml", cwd=tmp_path)
    answers = (f'fleet.rpc="{LOCAL}"', 'wallets.payer.deposit="0.1 ETH"', 'wallets.payer.reserve="0.1 ETH"')
    options = [word for answer in answers for word in ("--set", answer)]
    done = fleetc(*sources, *options, "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path)
    assert f'rpc = "{LOCAL}"' in (tmp_path / "fleet.toml").read_text(), done.stderr
    line = "  g -ethUrl: arb1.arbitrum.io -> 127.0.0.1:8547: as you answered\n"
    assert line in done.stderr
    compared = fleetc(*sources, "--compare", "fleet.toml", "--report", "text", cwd=tmp_path).stdout
    assert line.replace("as you answered", "the spec answers what adopting asks") in compared


def test_other_address_in_a_changed_spec_is_a_difference_without_a_reason(tmp_path: Path) -> None:
    (tmp_path / "o.sh").write_text(f"{ORCH} {PUBLIC}\n")
    fleetc("adopt", "h@203.0.113.9=o.sh", "-o", "fleet.toml", cwd=tmp_path)
    spec = tmp_path / "fleet.toml"
    for there, shown in (
        ("https://elsewhere.example/rpc", "elsewhere.example"),
        (f"{PUBLIC}2", "another address of arb1"),
    ):
        text = "".join(line for line in spec.read_text().splitlines(True) if "TODO" not in line)
        (tmp_path / "other.toml").write_text(text.replace(f'"{PUBLIC}"', f'"{there}"'))
        done = fleetc("adopt", "h@203.0.113.9=o.sh", "--compare", "other.toml", cwd=tmp_path)
        assert f"o -ethUrl: arb1.arbitrum.io -> {shown}" in done.stdout and done.returncode == 1, done.stdout


@pytest.mark.parametrize(("answer", "reason", "firsts"), [
    ("http://10.30.0.2:8547", "the sources say otherwise", "no reason is known: look at it before you deploy"),
    ("https://elsewhere.example", "the spec answers what adopting asks", "as you answered"),
])  # fmt: skip
def test_answer_to_a_refused_address_is_the_same_host_with_tls(
    answer: str, reason: str, firsts: str, tmp_path: Path
) -> None:
    """A question about an address that a source has is none about which one it is."""
    (tmp_path / "o.sh").write_text(f"{ORCH} http://elsewhere.example\n")
    fleetc("adopt", "h@203.0.113.9=o.sh", "-o", "fleet.toml", cwd=tmp_path)
    text = (tmp_path / "fleet.toml").read_text()
    assert "# TODO rpc: the RPC address is http://" in text
    text = re.sub("# TODO .*", "", text)
    (tmp_path / "fleet.toml").write_text(text.replace("http://elsewhere.example", answer))
    done = fleetc("adopt", "h@203.0.113.9=o.sh", "--compare", "fleet.toml", cwd=tmp_path)
    (line,) = (line for line in done.stdout.splitlines() if "-ethUrl" in line)
    assert line.endswith(f": {reason}") and done.returncode == (reason == "the sources say otherwise"), done.stdout
    again = fleetc("adopt", "h@203.0.113.9=o.sh", "--answers", "fleet.toml", cwd=tmp_path)
    (line,) = (line for line in again.stderr.splitlines() if "-ethUrl" in line)
    assert line.endswith(f": {firsts}")


HOOK = "http://127.0.0.1:3004/auth"
STORE = "s3+https://store.example.net/bucket"
SIGNER = f"livepeer -remoteSigner -ethAcctAddr 0x{'3' * 40} {CHAIN}:4935 -dataDir /srv/s -ethUrl {PUBLIC}"
OF_GATE = f"{GATE} {PUBLIC} -orchAddr https://o.example.net:8935"


@pytest.mark.parametrize(("command", "flag", "key", "address"), [
    (OF_GATE, "authWebhookUrl", "auth_webhook", HOOK), (OF_GATE, "liveAIAuthWebhookUrl", "auth_webhook", HOOK),
    (OF_GATE, "objectStore", "object_store", STORE), (OF_GATE, "recordStore", "record_store", STORE),
    (OF_GATE, "metadataQueueUri", "uri", "amqps://queue.example.net/live"),
    (f"{GATE} {PUBLIC}", "orchWebhookUrl", "webhook", HOOK), (SIGNER, "remoteSignerWebhookUrl", "auth_webhook", HOOK),
])  # fmt: skip
def test_each_address_in_clear_is_compared(command: str, flag: str, key: str, address: str, tmp_path: Path) -> None:
    """Its path may be a key, and is never shown."""
    assert flag in ADDRESSES
    (tmp_path / "o.sh").write_text(f"{command} -{flag} {address}\n")
    answers = [word for name in ("deposit", "reserve") for word in ("--set", f'wallets.payer.{name}="0.4 ETH"')]
    fleetc("adopt", "h@203.0.113.9=o.sh", *answers, "-o", "fleet.toml", cwd=tmp_path)
    text = re.sub("# TODO .*", "", (tmp_path / "fleet.toml").read_text())
    given = re.search(rf'{key} = ("[^"]*"|{{ env = "[A-Z_]*" }})', text)
    assert given, text
    scheme, site, path = re.fullmatch("(.*)://(.*)(/.*)", address).groups()  # type: ignore[union-attr]
    for there, line in (
        (address, ""),
        (f"{scheme}://elsewhere.example{path}", f"-{flag}: {site} -> elsewhere.example: the sources say otherwise"),
        (f"{address}2", f"-{flag}: {site} -> another address of {site}: the sources say otherwise"),
    ):
        (tmp_path / "other.toml").write_text(text.replace(given[0], f'{key} = "{there}"'))
        done = fleetc("adopt", "h@203.0.113.9=o.sh", "--compare", "other.toml", cwd=tmp_path)
        assert (line or "nothing differs") in done.stdout and done.returncode == bool(line), done.stdout
        assert f"{path}2" not in done.stdout
    (tmp_path / "other.toml").write_text(text.replace(given[0], f'{key} = {{ env = "OTHER" }}'))
    done = fleetc("adopt", "h@203.0.113.9=o.sh", "--compare", "other.toml", cwd=tmp_path)
    assert "nothing differs" in done.stdout and done.returncode == 0, done.stdout


@pytest.mark.parametrize(("address", "site"), [
    ("https://user:word@host.example:8545/v2/key", "host.example:8545"), ("http://host?key=abc", "host"),
    ("http://user:1/abc@host.example/x", "an address"), ("http://wo rd/x", "an address"),
    ("http://[::1]:1/x", "[::1]:1"),
])  # fmt: skip
def test_only_the_host_of_an_address_is_told(address: str, site: str) -> None:
    assert site_of(address) == site
