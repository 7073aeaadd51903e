"""What the readers make of sources: shell scripts, docker run, Compose files, units, and inventories."""

from __future__ import annotations

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.library import Said
from fleetc.toml.document import Source


def adopted(**texts: str) -> Adopted:
    """Adopt texts by file name, with __ for a dot and ___ for a slash."""
    return adopt([Source(name.replace("___", "/").replace("__", "."), text) for name, text in texts.items()])


def codes(found: Adopted) -> list[str]:
    """The codes of all messages."""
    return [d.code for d in found.diagnostics]


def test_account_with_a_wrong_checksum_is_asked() -> None:
    wrong = "0x9C10672CEE058Fd658103d90872fE431bb6C0AFA"
    found = adopted(
        start__sh="livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        f"-serviceAddr o.example.net:8935 -pricePerUnit 1 -ethAcctAddr {wrong} -ethOrchAddr {wrong} -dataDir /d"
    )
    assert found.checked is not None and f"checksum of {wrong} is wrong" in repr(found.checked.diagnostics)
    for question in (f"orchestrator_address: no spec takes {wrong}, because", "address: the spec does not take what"):
        assert f"# TODO {question}" in found.text


def test_sources_beside_those_of_a_named_host_are_elsewhere() -> None:
    command = "livepeer -gateway -orchAddr a.example.net:{0} -dataDir /d/{0}"
    sources = [Source("a.sh", command.format(1)), Source("b.sh", command.format(2))]
    found = adopt(sources, Said(hosts={"a.sh": "edge"}, addresses={"edge": "192.0.2.7"}))
    assert [(node.name, node.host) for node in found.nodes] == [("a", "edge"), ("b", "host-1")]


def test_same_wallet_and_model_met_twice_are_one_table() -> None:
    command = (
        "livepeer -orchestrator -aiWorker -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword /etc/lp/pw -ethKeystorePath /etc/lp/keys "
        "-serviceAddr orch-{0}.example.net:8935 -pricePerUnit 900 -aiModels models-{0}.json -dataDir /d/{0}\n"
    )
    models = '[{"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", "price_per_unit": %d, "warm": true}]'
    found = adopt(
        [
            Source("a.sh", command.format(1)), Source("b.sh", command.format(2)),
            Source("models-1.json", models % 5), Source("models-2.json", models % 5),
        ],
        Said(hosts={"a.sh": "a", "b.sh": "b"}),
    )  # fmt: skip
    assert found.text.count("[wallets.") == found.text.count("[models.") == 1
    assert found.text.count('price = "5 wei / pixel"') == 1  # of the model, since all ask the same
    assert '# TODO reward_by = "orchestrator-a"  # orchestrator-a, orchestrator-b have this wallet' in found.text


@pytest.mark.parametrize(("first", "second", "caller"), [
    ("-reward=false", "", "orchestrator-b"), ("", "-reward=false", "orchestrator-a"),
    ("", "-reward", "orchestrator-b"), ("-reward=false", "-reward=false", "none"),
])  # fmt: skip
def test_node_that_says_that_it_calls_no_reward_is_not_chosen_for_it(first: str, second: str, caller: str) -> None:
    command = (
        "livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword /etc/lp/pw -ethKeystorePath /etc/lp/keys "
        "-serviceAddr orch-{0}.example.net:8935 -pricePerUnit 900 -dataDir /d/{0} {1}\n"
    )
    sources = [Source("a.sh", command.format(1, first)), Source("b.sh", command.format(2, second))]
    found = adopt(sources, Said(hosts={"a.sh": "a", "b.sh": "b"}))
    assert f'reward_by = "{caller}"' in found.text
    assert "TODO reward_by" not in found.text
