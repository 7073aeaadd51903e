"""`FLEET.md`: what people read, with nothing of the spec taken for markup."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from fleetc.blueprint.blueprint import Blueprint, Connection, PriceLine, SecretVariable, Silenced
from fleetc.blueprint.market import Assumed, FundsRow, MarketRow, MarketSummary, MarketTables
from fleetc.places.origin import given
from fleetc.text.encoders import visible
from tests.emit import support
from tests.support import ROOT, compile_text
from tests.text.test_encoding import PageReader


def page_of(plan: Blueprint) -> str:
    return support.text(support.emitted(plan), "FLEET.md")


def table(page: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, as a Markdown reader shows them."""
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    shown = MarkdownIt("commonmark").enable("table").render(section)
    rows = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in shown.split("<tr>")[2:]]
    for row in rows:
        for cell in row:
            assert {tag for tag, _ in PageReader(cell).tags} <= {"code", "wbr"}
    return [[PageReader(cell).text for cell in row] for row in rows]


def test_tables_list_hosts_nodes_and_secrets() -> None:
    page = page_of(support.plan())
    assert table(page, "Hosts")[1] == ["gpu-1", "2001:db8::1", "gpu-1.example.net", "eu-west", "systemd", "2"]
    assert table(page, "Nodes")[:2] == [
        ["gw-eu", "edge-1", "gateway", "dual", "v0.9.1", "livepeer/go-livepeer:v0.9.1"],
        ["orch-a", "gpu-1", "orchestrator", "dual", "v0.9.1", "/usr/local/bin/livepeer"],
    ]
    assert table(page, "Secrets")[0] == ["env", "ARBITRUM_RPC_URL", "LP_ETHURL", "gw-eu", "edge-1"]
    assert table(page, "Silenced warnings") == [
        ["cli-port-exposed", "gateways.gw-eu", "behind | a *firewall*", "2027-01-31", "edge | *team*"]
    ]


PEERS = ("192.0.2.7", "2001:db8::7")


def test_ports_say_who_reaches_them_and_what_for() -> None:
    ports = (
        support.listening("203.0.113.10", 1935, "RTMP", guard="a webhook"),
        support.listening("127.0.0.1", 5935, "administration"),
        support.listening("[::1]", 7290, "WHIP", protocol="udp"),
        support.listening("0.0.0.0", 8935, "HTTP", tls=True),
        support.listening(
            "0.0.0.0", 9091, "Prometheus", meant_for="peers", closed=True, peers=("192.0.2.7", "2001:db8::7")
        ),
    )
    page = page_of(support.plan(support.host("edge-1", support.service("gw-eu"), listeners=ports)))
    assert [row[1:8] for row in table(page, "Ports and firewall")] == [
        ["1935", "tcp", "203.0.113.10", "everyone", "spend", "a webhook", "no"],
        ["5935", "tcp", "127.0.0.1", "nobody else", "spend", "nothing", "no"],
        ["7290", "udp", "[::1]", "nobody else", "spend", "nothing", "no"],
        ["8935", "tcp", "0.0.0.0", "everyone", "spend", "nothing", "yes"],
        ["9091", "tcp", "0.0.0.0", "192.0.2.7, 2001:db8::7", "spend", "nothing", "no"],
    ]


def test_prices_of_processes_are_rows_in_their_order() -> None:
    lines = (
        PriceLine(True, "base price", "any price", support.HERE),
        PriceLine(False, "gateway 0xab", "7 wei / 10 pixels", support.HERE),
        PriceLine(True, "odd | work", "1 wei / pixel", support.HERE),
    )
    page = page_of(support.plan(support.host("edge-1", support.service("gw-eu", prices=lines))))
    assert table(page, "Prices") == [
        ["gw-eu", "pays at most", "base price", "any price"],
        ["gw-eu", "asks", "gateway 0xab", "7 wei / 10 pixels"],
        ["gw-eu", "pays at most", "odd | work", "1 wei / pixel"],
    ]


def test_picture_shows_hosts_nodes_and_connections() -> None:
    picture = page_of(support.plan()).split("```mermaid\n")[1].split("```")[0]
    assert picture.startswith("---\nconfig:\n  layout: elk\n  elk:\n    mergeEdges: true\n---\nflowchart LR\n")
    assert (
        '  subgraph region_eu_west["region eu-west"]\n  direction LR\n  subgraph host_edge_1["edge-1 docker"]\n'
        in picture
    )
    assert (
        '  subgraph host_gpu_1["gpu-1 systemd"]\n    direction LR\n    node_orch_a["orch-a<br/>orchestrator dual"]\n'
        in picture
    )
    assert "  node_gw_eu -->|pays| node_orch_a\n" in picture
    assert re.search(r'  (outside_[0-9a-f]{12})\(\["registry"\]\)\n(.*\n)*  node_gw_us -\.->\|finds\| \1\n', picture)
    assert re.search(r"  outside_[0-9a-f]{12} -->\|hands work to\| node_gw_eu\n", picture)
    assert picture.count("subgraph") == picture.count("  end\n") == 3, "a region and the two hosts that run something"


def test_big_fleet_is_drawn_as_regions_and_says_so() -> None:
    hosts = [support.host(f"h{i}", support.service(f"gw-{i}"), region="eu" if i % 2 else "us") for i in range(121)]
    edges = (
        Connection("gw-1", "gw-2", "pays"),
        Connection("gw-3", "gw-4", "pays"),
        Connection("gw-1", "registry", "finds"),
    )
    page = page_of(support.plan(*hosts, edges=edges))
    picture = page.split("```mermaid\n")[1].split("```")[0]
    assert "The fleet has more than 120 nodes" in page
    assert 'region_us["us with 61 hosts, 61 gateways"]' in picture
    assert 'region_eu -->|"2 connections"| region_us' in picture
    assert "node_" not in picture
    assert page.count("```mermaid\n") == 1
    assert len(table(page, "Nodes")) == 121
    assert "more than 120 nodes" not in page_of(support.plan(*hosts[1:], edges=()))


def pictures(page: str) -> list[str]:
    """The source of every picture of a page."""
    return [part.split("```")[0] for part in page.split("```mermaid\n")[1:]]


def test_fleet_of_many_nodes_has_a_picture_for_each_region() -> None:
    hosts = [support.host(f"h{i}", support.service(f"gw-{i}"), region="eu" if i < 8 else "us") for i in range(16)]
    edges = (
        Connection("gw-1", "gw-2", "pays"),
        Connection("gw-1", "gw-9", "pays"),
        Connection("gw-10", "gw-3", "pays"),
    )
    page = page_of(support.plan(*hosts, edges=edges))
    whole, eu, us = pictures(page)
    assert 'region_eu["eu with 8 hosts, 8 gateways"]' in whole
    assert "\nRegion `eu`:\n\n```mermaid\n" in page and "\nRegion `us`:\n\n```mermaid\n" in page
    assert (eu.count("subgraph host_"), us.count("subgraph host_")) == (8, 8)
    assert 'to_us(["region us"])' in eu and "node_gw_1 -->|pays| to_us\n" in eu
    assert 'from_us(["region us"])' in eu and "from_us -->|pays| node_gw_3\n" in eu
    assert "gw_9" not in eu and "from_eu -->|pays| node_gw_9\n" in us
    assert len(pictures(page_of(support.plan(*hosts[:8], edges=())))) == 1


def test_connections_that_many_nodes_share_meet_in_a_point() -> None:
    hosts = [support.host(f"h{i}", support.service(f"gw-{i}"), region="eu") for i in range(9)]
    edges = tuple(Connection(f"gw-{a}", f"gw-{b}", "pays") for a in range(4) for b in range(4, 9))
    (picture,) = pictures(page_of(support.plan(*hosts, edges=edges)))
    assert picture.count("-->|pays|") == 5 and picture.count(" --- ") == 4
    assert "  node_gw_3 --- point_1\n" in picture and "  point_1 -->|pays| node_gw_8\n" in picture
    assert picture.count("point_1(( ))") == 1


def test_picture_tells_prices_wallets_and_streams() -> None:
    spec = (ROOT / "inventories/avatar-stage/fleet.toml").read_text(encoding="utf-8")
    tree = compile_text(spec).tree
    assert tree is not None
    (picture,) = pictures(support.text(tree, "FLEET.md"))
    assert '["gate<br/>gateway dual<br/>pays at most 1500 wei / pixel and 1 more cap<br/>wallet payer"]' in picture
    assert '[/"streams camera, stage-main, stage-mobile"/] -->|goes to| node_gate\n' in picture
    tree = compile_text(re.sub(r"\n\[streams.(stage-mobile|camera)\].*?(?=\n\[)", "", spec, flags=re.S)).tree
    assert tree is not None
    assert '[/"stream stage-main"/] -->|goes to| node_gate\n' in pictures(support.text(tree, "FLEET.md"))[0]
    many = spec + "".join(f'\n[streams.extra-{number}]\ngateway = "gate"\n' for number in range(5))
    tree = compile_text(many).tree
    assert tree is not None
    (picture,) = pictures(support.text(tree, "FLEET.md"))
    assert '[/"8 streams"/] -->|goes to| node_gate\n' in picture


def test_no_odd_text_is_markup() -> None:
    secrets = tuple(SecretVariable("S", "vault", value, support.HERE) for value in support.ODD_VALUES)
    service = support.service("gw-eu", secrets=secrets)
    silenced = tuple(Silenced("name", "code", "", value, "", value) for value in support.ODD_VALUES if value)
    edges = tuple(Connection("gw-eu", value, "outside") for value in support.ODD_VALUES)
    page = page_of(support.plan(support.host("edge-1", service), silenced=silenced, edges=edges))
    shown = sorted(visible(value) for value in support.ODD_VALUES)
    assert sorted(row[1] for row in table(page, "Secrets")) == shown
    assert [row[2] for row in table(page, "Silenced warnings")] == [visible(v) for v in support.ODD_VALUES if v]
    assert page.count("```") == 2


def test_avatars_have_their_tables_ports_secrets_and_places_in_the_picture() -> None:
    tree = compile_text((ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")).tree
    assert tree is not None
    page = support.text(tree, "FLEET.md")
    assert "2 hosts, 0 nodes, 5 avatar slots." in page
    rows = [row for row in table(page, "Avatars") if len(row) == 10]
    assert rows[1:3] == [
        ["gpu-1", "1", "orin", "1", "vtuber-orin", "8081", "9878", "8890", "not published", "172.30.1.0/24"],
        ["gpu-1", "3", "Mira", "0", "vtuber-mira", "8083", "9880", "8892", "7780", "172.30.3.0/24"],
    ]
    callers = [row[1:] for row in table(page, "Avatars") if len(row) == 4 and row[0] == "gpu-1"]
    assert ["198.51.100.90/32", "yes", "yes"] in callers
    assert ["203.0.113.77/32", "yes", "no"] in callers
    assert ["127.0.0.1/32", "yes", "yes"] in callers
    ports = {(row[0], row[1], row[2]): (row[4], *row[8:]) for row in table(page, "Ports and firewall")}
    assert ports["gpu-1", "8083", "tcp"] == ("the allowlist of the stack", "signaling of slot 3", "stage")
    assert ports["gpu-1", "7780", "tcp"][0] == "nobody else"
    assert ports["gpu-1", "49160-49200", "udp"][1] == "relayed media of TURN"
    assert ports["gpu-2", "8080", "tcp"][0] == "everyone"
    images = {(row[0], row[1]): row[2] for row in table(page, "Avatars") if len(row) == 3}
    assert images["solo", "unreal-game"] == "latest, not pinned"
    assert images["stage", "turn-server"].startswith("registry.example.net/embody-turn-server@sha256:3")
    assert ("solo", "turn-server") not in images, "it runs none"
    assert ["env", "TURN_PASSWORD", "TURN_PASS", "avatar", "gpu-1"] in table(page, "Secrets")
    picture = page.split("```mermaid\n")[1].split("```")[0]
    assert '    slot_3_gpu_1["slot 3 Mira on GPU 0 signaling 8083"]\n' in picture
    assert "## Avatars" not in page_of(support.plan())


def test_market_is_shown_pair_by_pair_or_as_a_summary() -> None:
    pairs = tuple(
        MarketRow("gw-eu", "video", value or "orch-a", "1 wei", "2 wei", "buys") for value in support.ODD_VALUES
    )
    funds = (FundsRow("gw-eu", "payer", "0.5 ETH", "", "", "", "at least 2 d"),)
    assumed = Assumed("0.05 gwei", given("fleet", "gas_price"), 100)
    market = MarketTables(rows=pairs, funds=funds, rates=(("USD", "0.00042 ETH"),), assumed=assumed)
    page = page_of(support.plan(market=market))
    assert [row[2] for row in table(page, "Who buys from whom")] == [visible(v or "orch-a") for v in support.ODD_VALUES]
    assert "at a gas price of `0.05 gwei`, as the spec states,\nand with 100 orchestrators" in page
    assert "converted at 1 USD = `0.00042 ETH`, as the spec states" in page
    assert table(page, "Funds") == [["gw-eu", "payer", "0.5 ETH", "none", "not stated", "unknown", "at least 2 d"]]
    summary = MarketSummary("gw-eu", "models", 9, 4, 3, 1, 1, "1 wei / pixel", "")
    market = MarketTables(whole=False, gateways=40, offers=60, summaries=(summary,), assumed=assumed)
    page = page_of(support.plan(market=market))
    assert table(page, "Who buys from whom") == [["gw-eu", "models", "9", "4", "3", "1", "1", "1 wei / pixel", "none"]]
    assert "more than 40 gateways or 60 offers" in page
    assert "No gateway of this fleet buys" in page_of(support.plan())
