"""Redeemers and remote signers of the fleet: who calls them goes where they listen from now on."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from fleetc.adopt.adoption import adopt
from fleetc.toml.document import Source
from tests.support import fleetc

CHAIN = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /root/.lpData/pw"
RUN = "docker run -d --name {0} --network {1} -v /srv/{0}:/root/.lpData livepeer/go-livepeer:v0.9.1 {2}\n"
SELLS = f"-orchestrator -transcoder {CHAIN} -ethAcctAddr 0x{'1' * 40} -serviceAddr o.example.net:8935 -pricePerUnit 900"
REDEEMS = f"-redeemer {CHAIN} -ethAcctAddr 0x{'2' * 40} -httpAddr "
BUYS = "-gateway -network offchain -orchAddr o.example.net:8935 -httpAddr 0.0.0.0:9935"
SIGNS = f"-remoteSigner {CHAIN} -ethAcctAddr 0x{'2' * 40} -httpAddr 0.0.0.0:8935"
NAMED = RUN.format("orch", "lp -p 8935:8935", f"{SELLS} -redeemerAddr red:8935") + RUN.format(
    "red", "lp", f"{REDEEMS} 0.0.0.0:8935"
)


def differences(text: str, flag: str) -> list[tuple[str, str, str, str]]:
    found = adopt([Source("start.sh", text)])
    return [(one.node, one.today, one.compiled, one.reason) for one in found.differences if one.flag == flag]


def test_redeemer_by_the_name_of_its_container_is_that_node() -> None:
    assert tomllib.loads(adopt([Source("start.sh", NAMED)]).text)["orchestrators"]["orch"]["redeemer"] == "red"
    assert differences(NAMED, "redeemerAddr") == [
        ("orch", "red:8935", "127.0.0.1:8936", "red listens there from now on")
    ]


def test_name_that_is_no_redeemer_or_another_port_stays_as_it_is() -> None:
    for other in (NAMED.replace("red:8935", "red:8999"), NAMED.replace("redeemerAddr red:8935", "redeemerAddr r:8935")):
        spec = tomllib.loads(adopt([Source("start.sh", other)]).text)
        assert ":" in spec["orchestrators"]["orch"]["redeemer"]


def test_signer_by_the_name_of_its_container_is_that_node() -> None:
    text = RUN.format("gw", "lp -p 9935:9935", f"{BUYS} -remoteSignerUrl http://sig:8935") + RUN.format(
        "sig", "lp", SIGNS
    )
    assert tomllib.loads(adopt([Source("start.sh", text)]).text)["gateways"]["gw"]["remote_signer"]["signer"] == "sig"
    (one,) = differences(text, "remoteSignerUrl")
    assert one[-1] == "sig listens there from now on"


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    text = RUN.format("orch", "host", f"{SELLS} -redeemerAddr 127.0.0.1:9999")
    (tmp_path / "start.sh").write_text(text + RUN.format("red", "host", f"{REDEEMS} 127.0.0.1:9999"))
    assert fleetc("adopt", "h@192.0.2.5=start.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    return tmp_path


def compared(fleet: Path, *changes: tuple[str, str]) -> dict[tuple[str, str], str]:
    text = (fleet / "fleet.toml").read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (fleet / "fleet.toml").write_text(text)
    words = ("adopt", "h@192.0.2.5=start.sh", "--compare", "fleet.toml", "--report", "json")
    found: Any = json.loads(fleetc(*words, cwd=fleet).stdout)
    return {(one["node"], one["flag"]): one["reason"] for one in found["differences"]}


def test_port_of_a_redeemer_that_somebody_changed_is_why_its_caller_goes_there(fleet: Path) -> None:
    moved = compared(fleet, ('"127.0.0.1:9999"', '"127.0.0.1:9997"'), ("redeemers.red]", "redeemers.r2]"),
                     ('redeemer = "red"', 'redeemer = "r2"'))  # fmt: skip
    assert moved["orch", "redeemerAddr"] == "r2 listens there from now on"
    assert moved["r2", "httpAddr"] == ""


def test_another_redeemer_has_no_reason(fleet: Path) -> None:
    assert compared(fleet, ('redeemer = "red"', 'redeemer = "127.0.0.1:9998"'))["orch", "redeemerAddr"] == ""
