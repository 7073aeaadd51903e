"""Reviews made by hand: what people see every day, what is far too much, and what wants to do harm."""

from __future__ import annotations

from decimal import Decimal

from fleetc.review.data import Box, Cause, Change, Edge, Effect, FileChange, Line, NodeFact, NodeRef, Review

NASTY = (
    "<script>alert(1)</script>",
    "</details></code></pre><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "`x` ``` ~~~",
    "a|b\\|c",
    "one\ntwo\r\n\r\nthree\n```\n# head\n- item",
    "@everyone @octo/team #1 GH-12 octo/repo#3 deadbeefcafe :smile:",
    "https://evil.example/x www.evil.example mail@evil.example <https://evil.example>",
    "![x](https://evil.example/x.png) [y](javascript:alert(1))",
    "\x1b[2J\x1b]0;pwn\x07\x9b31m",
    "\u202egpj.exe\u200b\u2066\ufeff",
    "::set-output name=x::y ##[add-mask]x",
    "<!-- sticky --> ]]> --></style></script>",
    "**bold** _it_ ~~no~~ $x$ {{ 7*7 }} {% raw %} &amp; &#64; \\",
    "日本 😀 é \U000e0041 \ud800 \0",
    "x" * 100_000,
    "\x7f" * 100_000,
    "",
    " ",
)
"""Texts that some target would take for more than text, and texts that are too long."""

EMPTY = Review(
    fleet="two-regions",
    baseline="the recorded tree rendered/",
    tool="0.2.0",
    changes=(),
    files=(),
    restarts=(),
    picture=(),
    edges=(),
    notes=(),
)
"""Nothing changes."""


def spot(line: int, column: int, path: str, text: str, reason: str = "") -> Cause:
    """A given place of the new spec."""
    return Cause("new", "given", "fleet.toml", line, column, path, text, reason)


def price_on(hosts: int) -> Review:
    """One price, changed in one line of the spec, on so many hosts."""
    names = [f"gpu-{number:04}" for number in range(hosts)]
    targets = tuple(NodeRef(name, f"video-{name[4:]}") for name in names)
    paths = [f"hosts/{target.host}/{target.node}/launch.flags" for target in targets]
    old, new = "-pricePerUnit=1200", "-pricePerUnit=1300"
    change = Change(
        kind="argument",
        what="-pricePerUnit",
        old="1200",
        new="1300",
        targets=targets,
        causes=(spot(12, 9, "templates.video.price", 'price = "1300 wei / pixel"'),),
        effects=(
            Effect("price", "asks 1,300 wei / pixel instead of 1,200, 8.3% more; no gateway is lost", Decimal("8.3")),
            Effect("restart", "each process restarts and drops at most 8 live sessions", Decimal(hosts)),
        ),
        lines=(Line(paths[0], 14, 14, old, new),),
    )
    files = [FileChange(path, "changed", (Line(path, 14, 14, old, new),)) for path in paths]
    page = tuple(
        Line("FLEET.md", 40 + i, 40 + i, f"| {t.node} | asks | 1200 |", f"| {t.node} | asks | 1300 |", 0)
        for i, t in enumerate(targets)
    )
    return Review(
        fleet="five-hundred",
        baseline="the recorded tree rendered/",
        tool="0.2.0",
        changes=(change,),
        files=(FileChange("FLEET.md", "changed", page), *files),
        restarts=tuple((target, 8) for target in targets),
        picture=tuple(Box(t.host, f"{t.host} docker", (t.node,), (t.node,)) for t in targets),
        edges=(),
        notes=(),
    )


def huge(number: int) -> Review:
    """So many changes that are all different, on as many hosts."""
    kinds = ("exposure", "funds", "price", "identity", "chain", "capacity", "cold-start", "restart", "none")
    changes, files, boxes = [], [], []
    for index in range(number):
        impact = kinds[index * len(kinds) // number]
        target = NodeRef(f"host-{index:05}", f"node-{index:05}")
        path = f"hosts/{target.host}/{target.node}/launch.flags"
        line = Line(path, 9, 9, f"-maxSessions={index}", f"-maxSessions={index + 1}", index)
        effects = (
            () if impact == "none" else (Effect(impact, f"number {index} of {number} means {impact}", Decimal(1)),)
        )
        changes.append(
            Change(
                "argument",
                "-maxSessions",
                str(index),
                str(index + 1),
                (target,),
                (spot(index + 10, 5, f"orchestrators.{target.node}.max_sessions", f"max_sessions = {index + 1}"),),
                effects,
                (line,),
            )
        )
        files.append(FileChange(path, "changed", (line,)))
        boxes.append(Box(target.host, f"{target.host} systemd", (target.node,), (target.node,)))
    edges = tuple(Edge(f"node-{i:05}", f"node-{i + 1:05}", "pays") for i in range(number - 1))
    return Review(
        "huge",
        "main",
        "0.2.0",
        tuple(changes),
        tuple(files),
        tuple((change.targets[0], None) for change in changes),
        tuple(boxes),
        edges,
        tuple(f"note {index}" for index in range(number)),
    )


def nasty(text: str) -> Review:
    """A review in which every text that can come from a spec is `text`."""
    target = NodeRef(text, text)
    line = Line(text, 1, 1, text, text + "y", 0)
    change = Change(
        kind=text,
        what=text,
        old=text,
        new=text + "y",
        targets=(target, NodeRef("b", text)),
        causes=(
            Cause("new", "given", text, 3, 1, text, text, text),
            Cause("old", "default", "", 0, 0, text, "", text),
        ),
        effects=(Effect("exposure", text, Decimal(1), (text, text)), Effect("restart", text, Decimal(2))),
        lines=(line,),
    )
    gone = Change("port", text, text, None, (NodeRef("", ""),), (), (), ())
    return Review(
        fleet=text,
        baseline=text,
        tool=text,
        changes=(change, gone),
        files=(FileChange(text, "changed", (line,)),),
        restarts=((target, 3), (NodeRef("b", text), None)),
        picture=(Box(text, text, (text, "n2"), (text,)), Box("b", text, ("n3",), ())),
        edges=(Edge(text, "n2", "pays"), Edge("n2", text, text)),
        notes=(text,),
    )


def mixed() -> Review:
    """A day's work on the example fleet of two regions: a bit of everything."""
    flags = {node: f"hosts/{host}/{node}/launch.flags" for host, node in _NODES}
    eu_live, us_live = NodeRef("eu-edge-1", "eu-live"), NodeRef("us-edge", "us-live")
    video = tuple(NodeRef(host, node) for host, node in _NODES if "video" in node)
    changes = (
        Change(
            "argument",
            "-cliAddr",
            "127.0.0.1:5935",
            "0.0.0.0:5935",
            (us_live,),
            (spot(153, 7, "gateways.us-live.cli", 'cli = "0.0.0.0:5935"'),),
            (
                Effect(
                    "exposure",
                    "port 5935 of us-edge, through which anyone can move funds, was open to the host alone and is "
                    "now open to every address",
                    Decimal(1),
                    weight="critical",
                    headline="Opens the administration port (5935) of us-live to everyone who can reach us-edge",
                ),
                Effect("restart", "us-live restarts and drops at most 200 live sessions", Decimal(1)),
            ),
            (Line(flags["us-live"], 2, 2, "-cliAddr=127.0.0.1:5935", "-cliAddr=0.0.0.0:5935", 0),),
        ),
        Change(
            "wallet",
            "payer deposit",
            "1 ETH",
            "0.4 ETH",
            (eu_live, us_live),
            (spot(81, 11, "wallets.payer.deposit", 'deposit = "0.4 ETH"'),),
            (
                Effect(
                    "funds",
                    "the deposit of wallet payer is stated as 0.4 ETH instead of 1 ETH; at the stated load "
                    "it lasts 9 hours instead of 23",
                    Decimal(1),
                    ("eu-live", "us-live", "eu-images"),
                ),
                Effect("chain", f"the difference moves only by a transaction of 0x{'1' * 40}", Decimal(1)),
            ),
            (),
        ),
        Change(
            "argument",
            "-pricePerUnit",
            "1200",
            "1450",
            video,
            (
                spot(166, 9, "orchestrators.eu-video-1.price", 'price = "1450 wei / pixel"'),
                spot(178, 9, "orchestrators.eu-video-2.price", 'price = "1450 wei / pixel"'),
            ),
            (
                Effect(
                    "price",
                    "asks 1,450 wei / pixel instead of 1,200, 20.8% more; gateway us-live pays at most "
                    "1,400 wei / pixel and can no longer buy from them",
                    Decimal("20.8"),
                    ("us-live",),
                ),
                Effect("restart", "4 processes restart and drop at most 32 live sessions", Decimal(4)),
            ),
            (Line(flags["eu-video-1"], 11, 11, "-pricePerUnit=1200", "-pricePerUnit=1450", 2),),
        ),
        Change(
            "file",
            "aiModels.json: SG161222/RealVisXL_V4.0_Lightning",
            "warm",
            "cold",
            (NodeRef("eu-ai", "eu-images-1"),),
            (
                spot(
                    188,
                    42,
                    "orchestrators.eu-images-1.models[0].warm",
                    'models = [{ use = "realvis", warm = false, capacity = 1 }]',
                ),
            ),
            (Effect("cold-start", "the first request after a pause waits 30 to 120 s for realvis", Decimal(1)),),
            (Line("hosts/eu-ai/eu-images-1/aiModels.json", 5, 5, '    "warm": true,', '    "warm": false,', 3),),
        ),
        Change(
            "argument",
            "-maxSessions",
            "200",
            None,
            (eu_live,),
            (
                Cause(
                    "old",
                    "given",
                    "fleet.toml",
                    128,
                    16,
                    "gateways.eu-live.max_sessions",
                    "max_sessions = 200",
                    "the line is gone",
                ),
                Cause(
                    "new", "default", "", 0, 0, "gateways.max_sessions", "", "the node itself then takes 10 sessions"
                ),
            ),
            (
                Effect("capacity", "eu-live takes at most 10 sessions instead of 200", Decimal(190), weight="worse"),
                Effect("restart", "eu-live restarts and drops at most 200 live sessions", Decimal(1)),
            ),
            (Line(flags["eu-live"], 9, 0, "-maxSessions=200", None, 4),),
        ),
        Change(
            "secret",
            "LP_ETHURL",
            "env ARBITRUM_RPC_URL",
            "env ARBITRUM_RPC",
            (eu_live, us_live, *video),
            (
                Cause(
                    "new", "given", "fleet.toml", 8, 7, "fleet.rpc", "", "every node on the chain has it", hidden=True
                ),
            ),
            (Effect("restart", "6 processes restart and drop at most 432 live sessions", Decimal(6)),),
            (Line("hosts/eu-edge-1/eu-live/compose.yaml", 0, 21, None, "      - LP_ETHURL", 5),),
        ),
        Change(
            "text",
            "FLEET.md",
            None,
            None,
            (),
            (spot(1, 1, "", "# Two regions, three gateways and six orchestrators"),),
            (),
            (),
        ),
    )
    prices = [
        FileChange(
            flags[t.node], "changed", (Line(flags[t.node], 11, 11, "-pricePerUnit=1200", "-pricePerUnit=1450", 2),)
        )
        for t in video
    ]
    page = (
        Line(
            "FLEET.md",
            61,
            61,
            "| eu-video-1 | asks | 1200 wei / pixel |",
            "| eu-video-1 | asks | 1450 wei / pixel |",
            2,
        ),
        Line(
            "FLEET.md",
            62,
            62,
            "| eu-video-2 | asks | 1200 wei / pixel |",
            "| eu-video-2 | asks | 1450 wei / pixel |",
            2,
        ),
        Line("FLEET.md", 80, 0, "Nobody buys above the cap of a gateway of this fleet.", None),
    )
    new_file = tuple(
        Line("hosts/us-edge/us-live/firewall.nft", 0, number, None, text, 0)
        for number, text in enumerate(
            ("table inet fleetc {", "  chain input {", "    tcp dport 5935 accept", "  }", "}"), 1
        )
    )
    files = (
        FileChange("FLEET.md", "changed", page),
        *(
            FileChange(c.lines[0].artifact, "changed", c.lines)
            for c in changes
            if c.lines and c.what != "-pricePerUnit"
        ),
        *prices,
        FileChange("hosts/us-edge/us-live/firewall.nft", "added", new_file),
        FileChange(
            "streams/old-stage.json", "removed", (Line("streams/old-stage.json", 1, 0, '{"name": "old-stage"}', None),)
        ),
    )
    changed = {target.node for change in changes for target in change.targets}
    return Review(
        fleet="two-regions",
        baseline="the recorded tree inventories/two-regions/rendered",
        tool="0.2.0",
        changes=changes,
        files=tuple(sorted(files, key=lambda file: file.path)),
        restarts=((eu_live, 200), (us_live, 200), *((t, 8) for t in video), (NodeRef("eu-ai", "eu-images-1"), None)),
        picture=tuple(
            Box(
                host,
                f"{host} {'docker' if 'edge' in host else 'systemd'}",
                (node,),
                (node,) if node in changed else (),
                facts=(NodeFact(node, _FACTS),) if node == "us-live" else (),
            )
            for host, node in _NODES
        ),
        edges=_EDGES,
        notes=("what runs on the hosts was not asked, only the recorded tree",),
    )


_FACTS = (
    "gateway video; pays at most 1400 wei / pixel; HTTP 8935 on all addresses; administration 5935 on all addresses"
)
_NODES = (
    ("eu-ai", "eu-images-1"),
    ("eu-edge-1", "eu-live"),
    ("eu-edge-2", "eu-images"),
    ("eu-gpu-1", "eu-video-1"),
    ("eu-gpu-2", "eu-video-2"),
    ("us-ai", "us-images-1"),
    ("us-edge", "us-live"),
    ("us-gpu-1", "us-video-1"),
    ("us-gpu-2", "us-video-2"),
)
_EDGES = (
    Edge("eu-live", "eu-video-1", "pays"),
    Edge("eu-live", "eu-video-2", "pays"),
    Edge("eu-live", "us-video-1", "pays"),
    Edge("eu-images", "registry", "finds"),
    Edge("us-live", "us-video-1", "pays"),
    Edge("us-live", "us-video-2", "pays"),
    Edge("us-live", "eu-video-1", "pays"),
)
