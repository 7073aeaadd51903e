"""`FLEET.md` and the pages of hosts: what people read, with nothing of the spec taken for markup."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from fleetc.blueprint.blueprint import Blueprint, Connection, PriceLine, SecretVariable, Silenced
from fleetc.blueprint.market import MarketRow, MarketTables
from fleetc.text.encoders import visible
from tests.emit import support
from tests.support import ROOT, compile_text, compiled_example
from tests.text.test_encoding import PageReader


def page_of(plan: Blueprint, host: str = "") -> str:
    """The page of a host, or of the fleet."""
    return support.text(support.emitted(plan), f"hosts/{host}/README.md" if host else "FLEET.md")


def section(page: str, heading: str) -> str:
    """What is below a heading."""
    return page.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def lines(page: str, heading: str) -> list[str]:
    """The points of a list below a heading, as a Markdown reader shows them."""
    shown = MarkdownIt("commonmark").render(section(page, heading))
    return [PageReader(point).text for point in re.findall(r"<li>(.*?)</li>", shown, re.DOTALL)]


def table(page: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, as a Markdown reader shows them."""
    shown = MarkdownIt("commonmark").enable("table").render(section(page, heading))
    rows = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in shown.split("<tr>")[2:]]
    for row in rows:
        for cell in row:
            assert {tag for tag, _ in PageReader(cell).tags} <= {"a", "code", "wbr"}
    return [[PageReader(cell).text for cell in row] for row in rows]


def test_page_of_the_fleet_leads_to_those_of_its_hosts() -> None:
    page = page_of(support.plan())
    assert table(page, "Hosts") == [
        ["edge-1", "eu-west", "203.0.113.10", "docker", "gw-eu gateway"],
        ["gpu-1", "eu-west", "2001:db8::1", "systemd", "orch-a orchestrator, gw-us gateway"],
        ["spare-1", "none", "203.0.113.10", "docker", "nothing"],
    ]
    assert "| [`gpu-1`](hosts/gpu-1/README.md) |" in page
    assert table(page, "Silenced warnings") == [
        ["cli-port-exposed", "gateways.gw-eu", "behind | a *firewall*", "2027-01-31", "edge | *team*"]
    ]


def test_page_of_a_host_tells_what_runs_there_and_whom_it_meets() -> None:
    page = page_of(support.plan(), "gpu-1")
    assert page.startswith("# Host `gpu-1`\n") and "A host of [fleet `aurora`](../../FLEET.md)." in page
    assert "| `2001:db8::1` | `gpu-1.example.net` | `eu-west` | systemd |" in page
    assert lines(page, "`orch-a`")[:2] == [
        "orchestrator, dual, release v0.9.1: /usr/local/bin/livepeer",
        "Log: journalctl --unit livepeer-orch-a",
    ]
    assert "- Is paid by: [`gw-eu`](../edge-1/README.md)\n" in page
    assert lines(page, "`gw-us`")[-2:] == ["Asks: registry", "Secret LP_ETHURL: env ARBITRUM_RPC_URL"]
    assert "Log: docker logs livepeer-gw-eu" in lines(page_of(support.plan(), "edge-1"), "`gw-eu`")


def test_what_several_hosts_need_has_its_command_once() -> None:
    tree = compiled_example("two-regions").tree
    assert tree is not None
    texts = {a.path: a.content.decode() for a in tree.artifacts if a.path.endswith(".md")}
    assert [path for path, text in texts.items() if "`nvidia-ctk --version`" in text] == ["FLEET.md"]
    assert "NVIDIA Container Toolkit, on eu-ai, us-ai, us-gpu-1, us-gpu-2" in "".join(
        lines(texts["FLEET.md"], "Before the first rollout")
    )
    named = [path for path, text in texts.items() if "\n- [ ] NVIDIA Container Toolkit\n" in text]
    assert named == [f"hosts/{host}/README.md" for host in ("eu-ai", "us-ai", "us-gpu-1", "us-gpu-2")]


def test_no_number_on_a_page_grows_with_the_fleet() -> None:
    """Two hosts that two people add would meet in it."""
    hosts = [support.host(f"h{i}", support.service(f"gw-{i}"), region="eu" if i % 2 else "us") for i in range(130)]
    edges = tuple(Connection(f"gw-{i}", "gw-0", "pays") for i in range(1, 130))
    for name in ("", "h0"):
        few, many = (page_of(support.plan(*hosts[:count], edges=edges[: count - 1]), name) for count in (121, 130))
        assert few == many


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
    page = page_of(support.plan(support.host("edge-1", support.service("gw-eu"), listeners=ports)), "edge-1")
    assert table(page, "`gw-eu`") == [
        ["1935/tcp", "203.0.113.10", "everyone", "RTMP", "spend", "a webhook", "no"],
        ["5935/tcp", "127.0.0.1", "nobody else", "administration", "spend", "nothing", "no"],
        ["7290/udp", "[::1]", "nobody else", "WHIP", "spend", "nothing", "no"],
        ["8935/tcp", "0.0.0.0", "everyone", "HTTP", "spend", "nothing", "yes"],
        ["9091/tcp", "0.0.0.0", "192.0.2.7, 2001:db8::7", "Prometheus", "spend", "nothing", "no"],
    ]


def test_prices_of_processes_are_in_their_order() -> None:
    prices = (
        PriceLine(True, "base price", "any price", support.HERE),
        PriceLine(False, "gateway 0xab", "7 wei / 10 pixels", support.HERE),
        PriceLine(True, "odd | work", "1 wei / pixel", support.HERE),
    )
    page = page_of(support.plan(support.host("edge-1", support.service("gw-eu", prices=prices))), "edge-1")
    assert lines(page, "`gw-eu`")[2:5] == [
        "Pays at most any price for base price",
        "Asks 7 wei / 10 pixels for gateway 0xab",
        "Pays at most 1 wei / pixel for odd | work",
    ]


def test_picture_shows_hosts_nodes_and_connections() -> None:
    picture = page_of(support.plan()).split("```mermaid\n")[1].split("```")[0]
    assert picture.startswith("---\nconfig:\n  layout: elk\n  elk:\n    mergeEdges: true\n---\nflowchart LR\n")
    assert (
        '  subgraph region_eu_west["region eu-west"]\n  direction LR\n  subgraph host_edge_1["edge-1 docker"]\n'
        in picture
    )
    box = '  subgraph host_gpu_1["gpu-1 systemd"]\n    direction LR\n    %% a node\n'
    assert f'{box}    node_orch_a["orch-a<br/>orchestrator dual"]\n' in picture
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
    assert 'region_us["us with gateways"]' in picture
    assert picture.count("  region_eu --> region_us\n") == 1
    assert "node_" not in picture
    assert page.count("```mermaid\n") == 1
    assert "## Hosts" not in page
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
    assert 'region_eu["eu with gateways"]' in whole
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
    plan = support.plan(support.host("edge-1", service), silenced=silenced, edges=edges)
    page = page_of(plan)
    shown = sorted(f"Secret S: vault {visible(value)}" for value in support.ODD_VALUES)
    assert sorted(line for line in lines(page_of(plan, "edge-1"), "`gw-eu`") if line.startswith("Secret")) == shown
    assert [row[2] for row in table(page, "Silenced warnings")] == [visible(v) for v in support.ODD_VALUES if v]
    assert page.count("```") == 2


def test_avatars_have_their_tables_ports_secrets_and_places_in_the_picture() -> None:
    tree = compile_text((ROOT / "tests/data/avatar_stage.toml").read_text(encoding="utf-8")).tree
    assert tree is not None
    page, solo = (support.text(tree, f"hosts/{host}/README.md") for host in ("gpu-1", "gpu-2"))
    assert [row for row in table(page, "Avatars of `stage`") if len(row) == 9][1:3] == [
        ["1", "orin", "1", "vtuber-orin", "8081", "9878", "8890", "not published", "172.30.1.0/24"],
        ["3", "Mira", "0", "vtuber-mira", "8083", "9880", "8892", "7780", "172.30.3.0/24"],
    ]
    callers = [row for row in table(page, "Avatars of `stage`") if len(row) == 3]
    assert ["198.51.100.90/32", "yes", "yes"] in callers
    assert ["203.0.113.77/32", "yes", "no"] in callers
    assert ["127.0.0.1/32", "yes", "yes"] in callers
    ports = {row[0]: row[2:4] for row in table(page, "The host itself")}
    assert ports["8083/tcp"] == ["the allowlist of the stack", "signaling of slot 3"]
    assert ports["7780/tcp"][0] == "nobody else"
    assert ports["49160-49200/udp"][1] == "relayed media of TURN"
    assert "closes them by itself to everyone who is not named there" in page
    assert {row[0]: row[2] for row in table(solo, "The host itself")}["8080/tcp"] == "everyone"
    images, of_solo = (
        {row[0]: row[1] for row in table(one, f"Avatars of `{name}`") if len(row) == 2}
        for one, name in ((page, "stage"), (solo, "solo"))
    )
    assert of_solo["unreal-game"] == "latest, not pinned"
    assert images["turn-server"].startswith("registry.example.net/embody-turn-server@sha256:3")
    assert "turn-server" not in of_solo, "it runs none"
    assert "Secret TURN_PASS: env TURN_PASSWORD" in lines(page, "Avatars of `stage`")
    picture = support.text(tree, "FLEET.md").split("```mermaid\n")[1].split("```")[0]
    assert '    slot_3_gpu_1["slot 3 Mira on GPU 0 signaling 8083"]\n' in picture
    assert "## Avatars" not in page_of(support.plan(), "gpu-1")


def test_market_is_shown_in_groups() -> None:
    def row(gateway: str, orchestrator: str, verdict: str = "buys") -> MarketRow:
        return MarketRow(gateway, "video", orchestrator, "1 wei", "2 wei", "buys while", verdict)

    rows = (row("a", "x"), row("a", "y"), row("b", "x"), row("b", "y"), row("c", "x", "too expensive"))
    market = MarketTables(rows=rows, rates=(("USD", "0.00042 ETH"),))
    page = page_of(support.plan(market=market))
    assert table(page, "Who buys from whom") == [
        ["a, b", "video", "buys", "x, y"],
        ["c", "video", "too expensive", "x"],
    ]
    assert "\n1 USD = `0.00042 ETH`, as the spec states.\n" in page
    odd = MarketTables(rows=tuple(row(value or "gw", value or "orch") for value in support.ODD_VALUES))
    shown = table(page_of(support.plan(market=odd)), "Who buys from whom")
    assert [cells[3] for cells in shown] == [visible(value or "orch") for value in support.ODD_VALUES]
    assert "do not fit here" in page_of(support.plan(market=MarketTables(whole=False)))
    assert "No gateway of this fleet buys" in page_of(support.plan())


def test_wallets_have_their_nodes_and_funds() -> None:
    tree = compiled_example("dual-onchain").tree
    assert tree is not None
    earner, payer = table(support.text(tree, "FLEET.md"), "Wallets")
    assert earner == ["earner", "0x" + "2" * 40, "orch", "none", "none", "unknown"]
    assert payer[:5] == ["payer", "0x" + "1" * 40, "gate", "0.5 ETH", "0.3 ETH"] and payer[5].startswith("at least")
