"""What an adopted spec says once: tables with counters, classes and defaults stand for exactly what was adopted."""

from __future__ import annotations

import random
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fleetc.adopt import writing
from fleetc.adopt.adoption import adopt
from fleetc.adopt.alike import shared
from fleetc.adopt.assembled import Assembled
from fleetc.adopt.said import Said
from fleetc.adopt.session import Table
from fleetc.language.spec import read_spec
from fleetc.toml.document import Source

UNIT = """[Service]
User=livepeer
ExecStart=/usr/local/bin/livepeer -orchestrator -transcoder -network arbitrum-one-mainnet \\
  -ethUrl https://arb1.example.net -ethAcctAddr 0x1111111111111111111111111111111111111111 \\
  -ethPassword /etc/livepeer/pw -serviceAddr {host}.example.net:8935 -nvidia {gpus} \\
  -pricePerUnit {price} -maxSessions 20 -dataDir /data/lp
"""


def written(kinds: dict[str, dict[str, Table]]) -> str:
    return writing.written(Assembled(Table({"name": "adopted", "network": "offchain"}), kinds))


def resolved(text: str) -> dict[str, Any]:
    document, problems = read_spec([Source("fleet.toml", text)])
    assert document is not None
    assert not problems, problems
    return document.raw


def of_units(units: list[tuple[str, str, str]]) -> str:
    sources = [Source(f"{h}.service", UNIT.format(host=h, gpus=g, price=p)) for h, g, p in units]
    inventory = "[gpus]\n" + "".join(
        f"{host} ansible_host=203.0.113.{10 + place}\n" for place, (host, _, _) in enumerate(units)
    )
    places = {source.name: host for source, (host, _, _) in zip(sources, units, strict=True)}
    return adopt([Source("inventory.ini", inventory), *sources], Said(hosts=places)).text


def test_twenty_equal_hosts_are_two_tables() -> None:
    text = of_units([(f"gpu-{number:02}", "all", "900") for number in range(1, 21)])
    assert '[hosts."gpu-{01..20}"]\naddress = "203.0.113.{10..29}"' in text
    assert text.count("\n[") == 4, text  # fleet, hosts, wallet, orchestrators
    assert len(resolved(text)["orchestrators"]) == len(resolved(text)["hosts"]) == 20
    assert resolved(text)["hosts"]["gpu-07"]["public"] == "gpu-07.example.net"


def test_counts_begin_anywhere() -> None:
    for first in (0, 1, 8, 97):
        hosts = {
            f"a-{n}": Table({"address": f"192.0.2.{n}", "runtime": "docker", "public": f"h{n + 3:03}.example.net"})
            for n in range(first, first + 14)
        }
        text = written({"hosts": hosts})
        assert text.count("[hosts.") == 1, text
        assert resolved(text)["hosts"] == {name: table.values for name, table in hosts.items()}


def test_names_that_do_not_count_share_a_class() -> None:
    values: dict[str, Any] = {"runtime": "systemd", "ssh_user": "ops", "node_user": "lp", "binary": "/opt/livepeer"}
    hosts = {f"gpu-{town}": Table({"address": f"{town}.example.net"} | values) for town in ("oslo", "paris", "rome")}
    hosts["edge"] = Table({"address": "edge.example.net", "runtime": "docker"})
    text = written({"hosts": hosts})
    assert "[classes.gpu.hosts]" in text
    assert text.count('like = "gpu"') == 3
    assert text.count("/opt/livepeer") == 1
    assert resolved(text)["hosts"] == {name: table.values for name, table in hosts.items()}


def test_the_one_that_differs_stays_apart() -> None:
    units = [(f"gpu-{number:02}", "all", "901" if number == 7 else "900") for number in range(1, 13)]
    text = of_units(units)
    assert '[hosts."gpu-{01..12}"]' in text
    assert text.count("[orchestrators.") == 3, text
    assert resolved(text)["orchestrators"][next(n for n in resolved(text)["orchestrators"] if "07" in n)][
        "price"
    ].startswith("901")


def test_what_would_not_be_the_same_is_written_out(monkeypatch: Any) -> None:
    hosts = {f"a-{n}": Table({"address": f"192.0.2.{n}", "runtime": "docker"}) for n in range(1, 5)}
    monkeypatch.setattr(writing, "shared", lambda kind, members: shared(kind, dict(list(members.items())[:3])))
    assert resolved(written({"hosts": hosts}))["hosts"] == {name: table.values for name, table in hosts.items()}


TEXTS = st.sampled_from(["x", "{", "}", "{{a}}", "{1..3}", "{}", "10.0.0.8", "n08", "0", "a b"])
VALUES = st.one_of(
    TEXTS, st.integers(0, 2), st.booleans(), st.lists(TEXTS, max_size=2), st.dictionaries(TEXTS, TEXTS, max_size=2)
)
NAMES = st.from_regex(r"\A[ab](-[a-c])?(-?[0-9]{1,3})?\Z")


@settings(max_examples=150)
@given(st.randoms(use_true_random=False), st.lists(NAMES, min_size=3, max_size=12, unique=True), st.data())
def test_what_is_said_once_is_the_same(chance: random.Random, names: list[str], data: st.DataObject) -> None:
    kinds = [data.draw(st.dictionaries(st.sampled_from("pqrstuv"), VALUES, max_size=7)) for _ in range(3)]
    members = {}
    for place, name in enumerate(names):
        values = dict(chance.choice(kinds))
        if chance.random() < 0.6:
            values["address"] = f"10.0.0.{place + 7}"
        members[name] = Table(values, ["TODO w = 1: what?"] if chance.random() < 0.3 else [])
    plain = {name: table.values for name, table in members.items()}
    short = writing._written(Assembled(Table(), {}), {"gateways": shared("gateways", members)})
    assert resolved(short).get("gateways", {}) == plain
    assert tomllib.loads(short)
