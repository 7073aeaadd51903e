"""Reviews are whole: nothing that differs is missing, nothing is told twice, and what is told is what the trees say.

The oracle is the trees themselves: the tables of FLEET.md, the digests that rollouts restart by, and the bytes.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
import tomli_w

from fleetc.disk import files
from fleetc.emit.tree import Artifact, tree_of
from fleetc.pipeline import compile_spec
from fleetc.review.compare import compare
from fleetc.review.data import Change, NodeRef, Review
from fleetc.review.gravity import gravity
from fleetc.review.limits import breaches, parse_limits
from fleetc.review.reports import wording
from fleetc.review.sides import Side, of_compiled, of_recorded
from fleetc.toml.document import Source
from tests.mutating import mutations, spread
from tests.review import support
from tests.review.support import classes, compiled_or_none, example, review, service_digests, side
from tests.rules.support import SECRET, gateway, model, onchain, orchestrator
from tests.support import EXAMPLES, example_sources, exploring, shipped
from tests.upstream.test_releases import RICH

FLEETS = {**{name: example(name) for name in EXAMPLES}, "rich": RICH}

TWO = example("two-regions")
DUAL = example("dual-onchain")
DEMO = example("demo")


def one(found: Review, what: str) -> Change:
    (change,) = [change for change in found.changes if change.what == what]
    return change


def text_of(change: Change, impact: str) -> list[str]:
    return [effect.text for effect in change.effects if effect.impact == impact]


def cut(text: str, *tables: str) -> str:
    """A spec without some of its tables."""
    for table in tables:
        text = re.sub(rf"(?ms)^\[{re.escape(table)}\]\n.*?(?=^\[|^# ---|\Z)", "", text)
    return text


# --- seeded edits ---------------------------------------------------------------------------------


def check(old: Side, new: Side) -> None:
    """Everything that holds for every review."""
    found = compare(old, new)
    differing = {path for path in {*old.files, *new.files} if old.files.get(path) != new.files.get(path)}
    assert {file.path for file in found.files} == differing
    assert bool(found.changes) == bool(differing)
    plain = old.document is not None and new.document is not None and old.document.raw != new.document.raw
    assert not plain or not [change.what for change in found.changes if change.kind == "text"]
    for change in found.changes:
        assert change.effects
        assert not plain or change.causes, change.what
    keys = Counter((c.kind, c.what, target) for c in found.changes for target in c.targets or ("",))
    assert not [key for key, count in keys.items() if count > 1]
    _matches_the_trees(old, new, found)


def _matches_the_trees(old: Side, new: Side, found: Review) -> None:
    kinds = classes(found)
    names = support.names_there(old, new)
    opened = {(names.get(row[0], row[0]), *row[1:]) for row in support.open_ports(old)} != support.open_ports(new)
    assert not opened or "exposure" in kinds
    assert support.prices(old) == support.prices(new) or "price" in kinds
    assert support.purchases(old) == support.purchases(new) or "price" in kinds
    assert support.funds(old) == support.funds(new) or "funds" in kinds
    before, after = support.service_digests(old), support.service_digests(new)
    before = {(names[host], node): digest for (host, node), digest in before.items() if host in names}
    ended = {key for key, digest in before.items() if after.get(key) != digest}
    live = ended - {(target.host, target.node) for target, _ in found.restarts}
    assert {(target.host, target.node) for target, _ in found.restarts} <= ended
    assert ("restart" in kinds, "live" in kinds) == (bool(ended - live), bool(live))
    former = {now: then for then, now in names.items()}
    for host, node in live:
        assert _differ_in_settings_alone(old, new, (former[host], host), node)


LIVE_FLAGS = re.compile(
    rb"-(v|maxSessions|maxFaceValue|m(ax|in)GasPrice|(maxP|p)rice(PerUnit|PerGateway|PerCapability)|pixelsPerUnit)="
)


LIVE_FILES = ("prices.json", "liveRunners.json")
"""Files that a node is given anew while it runs."""


def _differ_in_settings_alone(old: Side, new: Side, hosts: tuple[str, str], node: str) -> bool:
    """Whether the files of a node have the same lines but for settings that a node takes while it runs."""
    rest = []
    for side_of, host in zip((old, new), hosts, strict=True):
        start = f"hosts/{host}/{node}/"
        names = [path for path in side_of.files if path.startswith(start) and not path.endswith(LIVE_FILES)]
        kept = {}
        for path in names:
            lines = side_of.files[path].replace(b" \\\n", b"\n").splitlines()
            kept[path.removeprefix(start)] = [line for line in lines if not LIVE_FLAGS.match(line.strip(b' "'))]
        rest.append(kept)
    return rest[0] == rest[1]


@pytest.mark.parametrize("name", FLEETS)
def test_review_of_seeded_edits_is_whole_and_says_what_the_trees_say(name: str) -> None:
    text, count = FLEETS[name], 300 if exploring() else 8
    raw = tomllib.loads(text)
    old = side(tomli_w.dumps(raw))
    tried = 0
    for mutation in spread(mutations(raw, raw), 4 * count, f"review {name}"):
        compiled = compiled_or_none(tomli_w.dumps(mutation.apply(raw)))
        if compiled is not None and tried < count:
            tried += 1
            new = of_compiled("fleet.toml", compiled)
            try:
                check(old, new)
                check(new, old)
            except AssertionError as failure:
                raise AssertionError(f"{name}: {mutation.name}") from failure
    assert tried >= min(count, 20)


@pytest.mark.parametrize("name", FLEETS)
def test_review_of_a_fleet_against_itself_is_empty(name: str) -> None:
    found = compare(side(FLEETS[name]), side(FLEETS[name]))
    assert (found.changes, found.files, found.restarts, found.notes) == ((), (), (), ())


@pytest.mark.parametrize("name", EXAMPLES)
def test_comment_or_order_alone_is_of_class_none(name: str) -> None:
    text = example(name)
    for new in (text + "# the end\n", text.replace("spec = 1", "# one\nspec = 1"), text.replace("\n\n", "\n\n\n")):
        found = review(text, new)
        assert classes(found) == {"none"}
        assert [(c.kind, c.what) for c in found.changes] == [("text", "spec/base.toml")]
        assert found.changes[0].causes
        assert found.restarts == ()
    reordered = "spec = 1\n" + text.replace("spec = 1\n", "")
    assert classes(review(text, reordered)) <= {"none"}


# --- each change once -----------------------------------------------------------------------------


def test_flag_that_shows_in_five_files_is_one_change_with_their_lines() -> None:
    found = review(DEMO, DEMO.replace("max_sessions = 4", "max_sessions = 3"))
    (change,) = found.changes
    assert (change.kind, change.what, change.old, change.new) == ("argument", "-maxSessions", "4", "3")
    shown = [line.artifact for line in change.lines]
    node = ["hosts/studio/orch/compose.yaml", "hosts/studio/orch/launch.flags"]
    assert shown == [*node, *["monitoring/alerts.yml"] * 3]  # expression, label and sentence of the rule
    assert {line.change for file in found.files for line in file.lines if file.path.startswith("hosts/")} == {0}


def test_equal_changes_of_many_nodes_are_one() -> None:
    found = review(TWO, TWO.replace('block_polling_interval = "20s"', 'block_polling_interval = "10s"'))
    (change,) = found.changes
    assert [target.node for target in change.targets] == ["eu-live", "eu-images", "us-live"]
    assert len(change.causes) == 3
    assert {effect.impact: effect.amount for effect in change.effects} == {"restart": 3}


def test_load_of_a_gateway_is_what_its_signer_expects_to_pay_for() -> None:
    text = example("live-runners")
    found = review(text, text.replace('expected_load = "50 megapixels / s"', 'expected_load = "60 megapixels / s"'))
    (change,) = found.changes
    assert (change.kind, change.what, [target.node for target in change.targets]) == (
        "funds",
        "expected load",
        ["signer"],
    )
    assert [cause.text.strip() for cause in change.causes] == ['expected_load = "60 megapixels / s"']
    assert classes(found) == {"funds"}


def test_list_of_addresses_is_shown() -> None:
    text = example("two-regions")
    found = review(
        text, text.replace('orchestrators = ["eu-video-1", "eu-video-2", ', 'orchestrators = ["eu-video-1", ')
    )
    change = one(found, "-orchAddr")
    assert change.old is not None and change.old.startswith("https://eu-gpu-1.example.net:8935,https://eu-gpu-2.")
    assert change.new is not None and "eu-gpu-2" not in change.new


def test_node_that_comes_or_goes_is_one_change() -> None:
    node = (
        '[gateways.second]\nhost = "studio"\nmode = "video"\nhttp = "0.0.0.0:9940"\nrtmp = "127.0.0.1:1940"\n'
        'cli = "127.0.0.1:5940"\norchestrators = ["orch"]\nrenditions = ["P240p30fps16x9"]\n'
    )
    come, gone = review(DEMO, DEMO + node), review(DEMO + node, DEMO)
    for found in (come, gone):
        (change,) = found.changes
        assert (change.kind, change.what) == ("service", "second")
        assert {"exposure", "capacity"} <= {effect.impact for effect in change.effects}
    assert come.changes[0].old is None and gone.changes[0].new is None
    assert come.restarts == ()
    assert [target.node for target, _ in gone.restarts] == ["second"]
    assert text_of(gone.changes[0], "restart") == ["second stops: at most 10 live sessions drop"]


def test_node_that_moves_is_one_change_of_its_host_and_of_what_follows() -> None:
    node = DEMO.replace("[hosts.studio]", '[hosts.annex]\naddress = "192.0.2.20"\nruntime = "docker"\n\n[hosts.studio]')
    moved = node.replace('[gateways.gate]\nhost = "studio"', '[gateways.gate]\nhost = "annex"')
    check(side(node), side(moved))
    found = review(node, moved)
    (change,) = found.changes
    assert (change.kind, change.what, change.old, change.new) == ("service", "host", "studio", "annex")
    assert {"exposure", "restart"} <= {effect.impact for effect in change.effects}
    assert [(target.host, target.node) for target, _ in found.restarts] == [("studio", "gate")]
    assert text_of(change, "restart") == [
        "gate stops on studio and starts on annex: at most 10 live sessions drop",
    ]
    assert wording.restarts(found) == "1 process stops, at most 10 live sessions drop"


def test_model_with_another_id_is_one_changed_entry() -> None:
    found = review(DUAL, DUAL.replace("RealVisXL_V4.0_Lightning", "RealVisXL_V5.0"))
    entries = [change for change in found.changes if change.what.startswith("aiModels.json: ")]
    assert len(entries) == 1
    assert "V4.0" in (entries[0].old or "") and "V5.0" in (entries[0].new or "")


def test_order_of_models_is_a_change() -> None:
    first, second = (
        '  { use = "realvis", warm = true, capacity = 1 },\n',
        '  { use = "whisper", warm = true, capacity = 1 },\n',
    )
    found = review(DUAL, DUAL.replace(first + second, second + first))
    change = one(found, "aiModels.json: order")
    assert "restart" in {effect.impact for effect in change.effects}


def test_secrets_are_shown_as_references_and_lines_that_look_like_one_stay_hidden() -> None:
    leak = "https://rpc.example.net/v2/ZX9kq3LmP0aQ7tYw2uVb8nRc"
    old = DEMO.replace("[gateways.gate]", f'[gateways.gate]\nenvironment = {{ RPC = "{leak}" }}')
    sound = compiled_or_none(old)
    if sound is not None:
        found = compare(of_compiled("fleet.toml", sound), side(DEMO))
        assert leak not in repr(found)
    change = one(review(DUAL, DUAL.replace('"ARBITRUM_RPC_URL"', '"OTHER"')), "LP_ETHURL")
    assert (change.kind, change.old, change.new) == ("secret", "env ARBITRUM_RPC_URL", "env OTHER")


# --- what it means --------------------------------------------------------------------------------


def test_price_says_how_much_and_who_no_longer_buys() -> None:
    change = one(review(DUAL, DUAL.replace('"1200 wei', '"1600 wei')), "-pricePerUnit")
    assert text_of(change, "price") == [
        "video can no longer be bought by gate",
        "asks 1600 wei / pixel instead of 1200 wei / pixel (+33.3 percent)",
    ]
    assert max(e.amount for e in change.effects if e.impact == "price") * 3 - 100 < 1
    back = one(review(DUAL.replace('"1200 wei', '"1600 wei'), DUAL), "-pricePerUnit")
    assert text_of(back, "price")[0].endswith("(-25 percent)")
    assert text_of(back, "price")[1] == "video can newly be bought by gate while gas is below about 0.625 gwei"


REALVIS = "SG161222/RealVisXL_V4.0_Lightning"


def test_what_comes_of_prices_changes_with_reserve_gas_price_and_tickets() -> None:
    told = "video can no longer be bought by gate"
    tight = DUAL.replace('"1500 wei', '"1236 wei')
    poor = one(review(tight, tight.replace('"0.3 ETH"', '"0.1 ETH"')), "reserve")
    assert text_of(poor, "price") == [
        f"{REALVIS} can no longer be bought from orch: only while gas is below about 0.04048 gwei",
        "video can no longer be bought from orch: only while gas is below about 0.025 gwei",
    ]
    gas = review(tight, tight.replace("[fleet]", '[fleet]\ngas_price = "0.2 gwei"'))
    assert "gate: video can no longer be bought from orch: only while gas is below about 0.075 gwei" in text_of(
        one(gas, "gas price"), "price"
    )
    seller = 'price = "1200 wei / pixel"'
    face = one(review(tight, tight.replace(seller, f'{seller}\nmax_face_value = "0.001 ETH"')), "-maxFaceValue")
    assert f"{told}: only while gas is below about 0.025 gwei" in text_of(face, "price")
    refused = one(review(tight, tight.replace(seller, f'{seller}\nmax_face_value = "0.00001 ETH"')), "-maxFaceValue")
    assert any(text.startswith(f"{told}: max_face_value is too low for a ticket") for text in text_of(refused, "price"))


def test_price_of_another_model_under_the_same_name_is_another_price() -> None:
    """Nobody in the fleet buys, so no purchase tells it."""
    home = example("home-gpu")
    found = review(home, home.replace('pipeline = "text-to-image"', 'pipeline = "image-to-image"'))
    prices = [effect for change in found.changes for effect in change.effects if effect.impact == "price"]
    assert [(effect.text, effect.amount) for effect in prices] == [
        (
            "asks 4768371 wei / pixel for realvis (image-to-image SG161222/RealVisXL_V4.0_Lightning) "
            "instead of 4768371 wei / pixel (text-to-image SG161222/RealVisXL_V4.0_Lightning)",
            Decimal(100),
        )
    ]


def test_purchase_from_funds_that_nobody_knows_is_not_said_to_end() -> None:
    """A signer elsewhere pays for live AI, from funds and up to caps that this spec does not have."""
    old = DUAL
    for before, after in (
        (
            'pipeline = "audio-to-text"\nid = "openai/whisper-large-v3"',
            'pipeline = "live-video-to-video"\nid = "comfyui"',
        ),
        ('price = "0.02 USD / 1000000 pixels"', 'price = "1200 wei / pixel"'),
        ('audio-to-text = "0.03 USD / 1000000 pixels"', 'live-video-to-video = "1500 wei / pixel"'),
    ):
        assert before in old
        old = old.replace(before, after)
    of_a_payer = {"wallet", "discovery", "max_price", "max_model_prices", "block_polling_interval", "expected_load"}
    start, end = old.index("[gateways.gate]"), old.index("[orchestrators.orch]")
    kept = [line for line in old[start:end].splitlines() if line.partition(" = ")[0] not in of_a_payer]
    behind = ['orchestrators = ["orch"]', 'remote_signer = { url = "https://signer.example.net" }', "", ""]
    new = old[:start] + "\n".join(kept + behind) + old[end:]
    found = [text for change in review(old, new).changes for text in text_of(change, "price")]
    assert "comfyui may no longer be bought from orch: caps and funds are those of an external signer" in found
    assert "video can no longer be bought from orch: the gateway asks for no such goods" in found


def test_exposure_says_where_and_to_whom_before_and_after() -> None:
    narrow = DEMO.replace('rtmp = "0.0.0.0:1935"', 'rtmp = "127.0.0.1:1935"')
    opens = one(review(narrow, DEMO), "-rtmpAddr")
    assert text_of(opens, "exposure") == [
        "RTMP (tcp): port 1935 of studio, open to everyone who can reach the host; before: for the host itself at most"
    ]
    assert [e.amount for e in opens.effects if e.impact == "exposure"] == [1]
    closes = one(review(DEMO, narrow), "-rtmpAddr")
    assert [e.amount for e in closes.effects if e.impact == "exposure"] == [0]


WITHOUT_HOST = cut(TWO, "hosts.us-gpu-2", "orchestrators.us-video-2").replace(', "us-video-2"', "")
US_VIDEO_3 = """
[orchestrators.us-video-3]
host = "us-gpu-2"
mode = "video"
wallet = "earner"
http = "0.0.0.0:8936"
service = "us-gpu-2.example.net:8936"
cli = "127.0.0.1:7940"
price = "1300 wei / pixel"
max_sessions = 1
monitor = true
"""


IF_KNOWN = "if the journal of rollouts knows the host, a rollout of all hosts stops"
NOT_KNOWN = "the journal here does not know the host, so no rollout from here stops"


@pytest.mark.parametrize(("journal", "stops"), [(None, IF_KNOWN), (frozenset({"us-gpu-1"}), NOT_KNOWN)])
def test_nobody_can_tell_what_becomes_of_a_host_that_no_journal_knows(
    journal: frozenset[str] | None, stops: str
) -> None:
    check(side(TWO), side(WITHOUT_HOST))
    found = compare(side(TWO), side(WITHOUT_HOST), lambda: journal)
    assert [target.node for target, _ in found.restarts] == ["us-live"]
    assert not any("us-video-2 stops" in effect.text for change in found.changes for effect in change.effects)
    node = one(found, "us-video-2")
    assert text_of(node, "exposure") == [
        f"us-video-2 on us-gpu-2, which leaves the spec: {stops} it" + "; else it is unknown who does" * (not journal),
        "once stopped: service (tcp): gone; before: port 8935 of us-gpu-2, open to everyone who can reach the host",
    ]
    assert "once stopped: no longer asks 1300 wei / pixel" in text_of(node, "price")
    assert all(effect.text.startswith(("once stopped: ", "us-video-2 on us-gpu-2, ")) for effect in node.effects)
    assert not list(breaches(found, parse_limits("exposure=0")))
    assert {breach.limit.impact for breach in breaches(found, parse_limits("identity=none,exposure=none"))} == {
        "identity", "exposure",
    }  # fmt: skip


def test_host_that_the_journal_knows_is_stopped_and_retired() -> None:
    found = compare(side(TWO), side(WITHOUT_HOST), lambda: frozenset({"us-gpu-2"}))
    assert NodeRef("us-gpu-2", "us-video-2") in found.stops
    node = one(found, "us-video-2")
    assert text_of(node, "restart")[0].startswith("us-video-2 stops as a rollout of all hosts retires us-gpu-2: ")
    assert "no longer asks 1300 wei / pixel" in text_of(node, "price")
    assert not any("may still" in effect.text for change in found.changes for effect in change.effects)
    assert not any("unknown who" in effect.text for change in found.changes for effect in change.effects)


@pytest.mark.parametrize("known", [True, False])
def test_node_that_moves_off_a_host_that_leaves(known: bool) -> None:
    new = TWO.replace("us-gpu-2", "us-gpu-9").replace("198.51.100.13", "198.51.100.99")
    check(side(TWO), side(new))
    node = one(compare(side(TWO), side(new), lambda: frozenset({"us-gpu-2"}) if known else None), "host")
    moved = "us-video-2 stops on us-gpu-2 and starts on us-gpu-9"
    unknown = f"us-video-2 on us-gpu-2, which leaves the spec: {IF_KNOWN} it; on us-gpu-9 it starts"
    assert (unknown in text_of(node, "exposure")) != known
    assert [text.startswith(moved) for text in text_of(node, "restart")] == [True] * known


def test_avatar_stack_that_leaves_with_its_host_is_one_change_whose_gravest_effects_are_shown() -> None:
    old = example("avatar-stage")
    new = cut(old, *[name for name in re.findall(r"(?m)^\[(.*)\]$", old) if name.startswith("avatars.front")])
    new = new.replace('host = "stage-1"', 'host = "stage-3"').replace("[hosts.stage-1]", "[hosts.stage-3]")
    new = new.replace("203.0.113.11", "203.0.113.31")
    for journal in (None, frozenset({"stage-1"})):
        found = compare(side(old), side(new), lambda known=journal: known)  # type: ignore[misc]
        assert not [change for change in found.changes if change.kind == "spec" and "avatars" in change.what]
        host = one(found, "stage-1")
        assert {cause.path for cause in host.causes} >= {"hosts.stage-1", "avatars.front"}
        ways = [gravity(effect) for effect in host.effects]
        assert ways == sorted(ways)
        shown, _ = wording.effects(host, 3)
        assert any("fewer slots" in effect.text for effect in shown)
        assert any("avatar/host, avatar/slot-00" in effect.text for effect in shown)
        assert bool([stop for stop in found.stops if stop.host == "stage-1"]) == (journal is not None)
        assert all(text.startswith("once stopped: ") for text in text_of(host, "capacity")) == (journal is None)


def test_host_with_another_name_alone_is_the_same_machine() -> None:
    new = TWO.replace('us-gpu-2"', 'us-gpu-9"').replace("[hosts.us-gpu-2]", "[hosts.us-gpu-9]")
    assert 'public = "us-gpu-2.example.net"' in new
    for name, other in ((TWO, new), (new, TWO)):
        check(side(name), side(other))
        found = review(name, other)
        assert found.restarts == ()
        assert classes(found) == {"none"}
        assert "the same machine" in one(found, "host").effects[0].text


def test_node_that_comes_goes_or_is_renamed_brings_its_account_and_address() -> None:
    limits = parse_limits("identity=none,chain=none,funds=none")
    renamed = TWO.replace("us-video-2", "us-video-9")
    for old, new in ((TWO, TWO + US_VIDEO_3), (TWO + US_VIDEO_3, TWO), (TWO, renamed)):
        assert [breach.limit.impact for breach in breaches(review(old, new), limits)] == ["identity", "chain", "funds"]
    come = one(review(TWO, TWO + US_VIDEO_3), "us-video-3")
    assert text_of(come, "identity") == [
        f"it acts with account 0x{'2' * 40}; it is found at us-gpu-2.example.net:8936",
    ]
    gone = one(review(TWO, renamed), "us-video-2")
    assert text_of(gone, "funds")[0].startswith(
        "tickets that were not redeemed yet stay in /var/lib/livepeer/us-video-2; "
    )
    assert text_of(gone, "price")[0].startswith("video can no longer be bought by ")
    assert "no longer asks 1300 wei / pixel" in text_of(gone, "price")
    kept = TWO.replace("[orchestrators.us-video-2]\n", '[orchestrators.us-video-2]\ndata_dir = "/srv/tickets"\n')
    found = review(kept, kept.replace("us-video-2", "us-video-9"))
    assert not any("tickets" in text for text in text_of(one(found, "us-video-2"), "funds"))


def test_node_that_moves_takes_its_account_and_leaves_its_tickets() -> None:
    spare = '\n[hosts.spare]\naddress = "198.51.100.77"\npublic = "spare.example.net"\nruntime = "docker"\n'
    spare += 'gpus = [{ model = "RTX A4000", memory = "16 GiB", encode_sessions = 8 }]\n'
    fixed = TWO.replace("[orchestrators.us-video-2]", '[orchestrators.us-video-2]\nservice = "v2.example.net:8935"')
    new = fixed.replace('host = "us-gpu-2"', 'host = "spare"') + spare
    check(side(fixed + spare), side(new))
    node = one(review(fixed + spare, new), "host")
    assert text_of(node, "identity") == [
        f"it acts with account 0x{'2' * 40} from the new host, which needs the key; "
        "v2.example.net:8935 must lead to the new host",
    ]
    assert text_of(node, "funds") == [
        "tickets that were not redeemed yet stay in /var/lib/livepeer/us-video-2 on the old host"
    ]
    assert not text_of(node, "chain")


def test_only_models_that_are_warm_afterwards_start_cold_and_each_once() -> None:
    cold = DUAL.replace("warm = true", "warm = false")
    found = review(DUAL, cold)
    assert found.cold_starts == ()
    assert [text for change in found.changes for text in text_of(change, "cold-start")] == [
        "whisper is no longer kept loaded: its first request waits for the load, 30 to 120 s",
        "realvis is no longer kept loaded: its first request waits for the load, 30 to 120 s",
    ]
    assert not list(breaches(found, parse_limits("cold-start=0")))
    many = review(DUAL, DUAL.replace("max_sessions = 12", "max_sessions = 10\nverbosity = 6\nhevc_decoding = false"))
    assert [model for _, model in many.cold_starts] == ["realvis", "whisper"]
    assert not list(breaches(many, parse_limits("cold-start=2")))
    assert [breach.amount for breach in breaches(many, parse_limits("cold-start=1"))] == [2]


@pytest.mark.parametrize(
    ("networks", "said", "openings"),
    [
        ('"203.0.113.64/30"', "narrower: 203.0.113.64/30 instead of 203.0.113.64/29", 0),
        ('"203.0.113.64/28"', "wider: 203.0.113.64/28 instead of 203.0.113.64/29", 1),
        ('"203.0.113.72/29"', "now 203.0.113.72/29; no longer 203.0.113.64/29", 1),
        ('"203.0.113.64/30", "203.0.113.68/30"', "the same addresses, written differently", 0),
        ('"203.0.113.64/30", "192.0.2.1"', "now 192.0.2.1/32; narrower: 203.0.113.64/30 instead of 203.0.113.64/29", 1),
        ('"203.0.113.64/29", "203.0.113.65"', "the same addresses, written differently", 0),
    ],
)
def test_callers_of_a_stack_are_compared_as_addresses(networks: str, said: str, openings: int) -> None:
    old = example("avatar-stage")
    found = one(review(old, old.replace('"203.0.113.64/29"', networks, 1)), "firewall.cidr")
    assert text_of(found, "exposure") == [f"who may call the stack: {said}"]
    assert [e.amount for e in found.effects if e.impact == "exposure"] == [openings]


def test_every_address_in_another_spelling_is_no_opening_and_says_so() -> None:
    found = one(review(DEMO, DEMO.replace('"0.0.0.0:1935"', '"[::]:1935"')), "-rtmpAddr")
    (text,) = text_of(found, "exposure")
    assert text.endswith("as before: on all addresses, IPv4 and IPv6, whichever way it is written")
    assert [e.amount for e in found.effects if e.impact == "exposure"] == [0]


HOOK = 'http_ingest = true\nauth_webhook = "https://auth.example.net/admit"'
JWT = 'playbackPolicy = { type = "jwt", allowedOrigins = ["https://stage.example.net"] }\n'
CAMERA = "streams.camera"


@pytest.mark.parametrize(
    ("fleet", "before", "after", "said", "openings"),
    [
        ("demo", "http_ingest = true", "http_ingest = false",
         "streams and AI requests are no longer taken on the HTTP listener", 0),
        ("demo", "http_ingest = true", HOOK, "a webhook decides who is admitted; before everybody was", 0),
        ("demo", HOOK, "http_ingest = true", "no webhook decides any more who is admitted: everybody is", 1),
        ("demo", HOOK, HOOK.replace("admit", "judge"),
         "another webhook decides who is admitted; without one everybody is", 1),
        ("avatar-stage", '"jwt", allowedOrigins = ["https://stage.example.net"]', '"public"',
         "who may watch the stream: everybody; before: holders of a signed token on pages of some origins", 1),
        ("avatar-stage", JWT, "",
         "who may watch the stream: everybody; before: holders of a signed token on pages of some origins", 1),
        ("avatar-stage", 'type = "public"', 'type = "jwt"',
         "who may watch the stream: holders of a signed token; before: everybody", 0),
        ("avatar-stage", 'playbackPolicy = { type = "public" }\n', "",
         "who may watch the stream: the same as before", 0),
        ("avatar-stage", '"https://stage.example.net"]', '"https://stage.example.net", "https://b.example.net"]',
         "who may watch the stream: holders of a signed token on pages of some origins, but not the same as before",
         1),
    ],
)  # fmt: skip
def test_exposure_has_a_direction(fleet: str, before: str, after: str, said: str, openings: int) -> None:
    old = example(fleet).replace("http_ingest = true", before if "http_ingest" in before else "http_ingest = true")
    assert before in old
    (change,) = review(old, old.replace(before, after, 1)).changes
    assert [(e.text, e.amount) for e in change.effects if e.impact == "exposure"] == [(said, Decimal(openings))]


def test_table_of_turn_that_goes_admits_nobody_and_a_slot_that_sleeps_is_one_less() -> None:
    old = example("avatar-stage")
    gone = review(old, cut(old, "avatars.back.turn"))
    assert text_of(one(gone, "TURN_USER"), "exposure") == ["no user is admitted to TURN any longer"]
    slept = one(
        review(old, old.replace("game_command = false }", "game_command = false, asleep = true }")), "slot-03 asleep"
    )
    assert text_of(slept, "capacity") == ["one slot fewer"]


def test_stream_that_comes_opens_and_one_that_goes_does_not() -> None:
    old = example("avatar-stage")
    new = cut(old, CAMERA)
    gone, come = one(review(old, new), "camera"), one(review(new, old), "camera")
    assert [(e.text, e.amount) for e in gone.effects] == [("stream removed; who could watch it: everybody", Decimal(0))]
    assert [(e.text, e.amount) for e in come.effects] == [("new stream; who may watch it: everybody", Decimal(1))]


@pytest.mark.parametrize(
    ("price", "said", "limit"),
    [("1400", "+16.7 percent", "16.7"), ("1399", "+16.6 percent", "16.6"), ("1200.01", "+0.00083 percent", "0.00084"),
     ("1199.99", "-0.00083 percent", "0.00084"), ("1260", "+5 percent", "5"), ("1204", "+0.33 percent", "0.34"),
     ("1230.6", "+2.6 percent", "2.55"), ("1200.000001", "less than +0.000001 percent", "0.000001")],
)  # fmt: skip
def test_percent_is_rounded_as_people_do_and_the_exact_one_counts(price: str, said: str, limit: str) -> None:
    found = review(DUAL, DUAL.replace('"1200 wei', f'"{price} wei'))
    assert text_of(one(found, "-pricePerUnit"), "price")[0].endswith(f"({said})")
    assert not list(breaches(found, parse_limits(f"price={limit}%")))


def test_processes_of_which_sessions_are_not_known_are_named() -> None:
    found = review(TWO, TWO.replace('node_release = "v0.9.1"', 'node_release = "v0.9.0"'))
    texts = [text for change in found.changes for text in text_of(change, "restart")]
    assert any(text.endswith("; it is unknown how many more on eu-images") for text in texts)


def test_runway_is_told_of_every_node_that_shares_the_wallet() -> None:
    change = one(review(DUAL, DUAL.replace('"0.5 ETH"', '"0.7 ETH"')), "deposit")
    assert any("the deposit lasts" in text for text in text_of(change, "funds"))


def test_facts_go_to_the_change_that_brings_them() -> None:
    old = example("avatar-stage")
    new = old.replace("203.0.113.64/29", "203.0.113.64/28", 1).replace('  { avatar = "noor", gpu = 1 },\n', "", 1)
    found = review(old, new.replace("monitor = true\n\n[orchestrators", "[orchestrators"))
    lists, slot = one(found, "firewall.cidr"), one(found, "noor")
    assert text_of(lists, "exposure") == ["who may call the stack: wider: 203.0.113.64/28 instead of 203.0.113.64/29"]
    assert text_of(slot, "capacity") == ["one slot fewer"]
    assert len(text_of(slot, "exposure")) == 3
    assert {effect.impact for effect in one(found, "-monitor").effects} == {"restart"}


def test_runway_that_another_node_shortens_is_told_with_its_change() -> None:
    load = 'expected_load = "10 megapixels / s"\n'
    old = TWO.replace("max_price =", f"{load}max_price =").replace('"any"', '"1600 wei / pixel"')
    new = old.replace('"1400 wei', '"1300 wei').replace("max_sessions = 200\n", "max_sessions = 150\n", 1)
    found = review(old, new)
    assert any("lasts" in text for text in text_of(one(found, "-maxPricePerUnit"), "funds"))
    assert any("eu-live" in text for text in text_of(one(found, "-maxPricePerUnit"), "funds"))
    assert not text_of(one(found, "-maxSessions"), "funds")


def test_whole_fleet_effects_are_told_once() -> None:
    found = review(TWO, TWO.replace('price = "1200 wei', 'price = "1700 wei'))
    told = [text for change in found.changes for text in text_of(change, "price") if "no longer" in text]
    assert len(told) == len(set(told))
    assert told


# --- recorded trees -------------------------------------------------------------------------------


def recorded(text: str, edit: dict[str, bytes] | None = None, without: str = " ") -> Side:
    """The tree of a spec as it lies in a directory, some files edited by hand or removed."""
    compiled = compiled_or_none(text)
    assert compiled is not None and compiled.tree is not None
    contents = {a.path: (edit or {}).get(a.path, a.content) for a in compiled.tree.artifacts}
    return of_recorded("rendered", tree_of(Artifact(p, c) for p, c in contents.items() if not p.startswith(without)))


def test_recorded_tree_compares_like_its_spec() -> None:
    new = side(TWO.replace('"1300 wei', '"1350 wei'))
    told, same = compare(recorded(TWO), new), compare(side(TWO), new)
    assert [replace(change, causes=()) for change in told.changes] == [
        replace(change, causes=()) for change in same.changes
    ]
    assert told.restarts == same.restarts


@pytest.mark.parametrize("name", EXAMPLES)
def test_committed_tree_of_an_example_reviews_its_edits(name: str, tmp_path: Path) -> None:
    compiled = compiled_or_none(example(name))
    assert compiled is not None and compiled.tree is not None
    files.write_tree(compiled.tree, tmp_path / "rendered")
    old = of_recorded("rendered", files.read_tree(tmp_path / "rendered"))
    assert compare(old, side(example(name))).changes == ()
    assert classes(compare(old, side(example(name) + "# more\n"))) == {"none"}


def test_file_edited_by_hand_is_an_error_of_the_review() -> None:
    path = "hosts/studio/orch/launch.flags"
    old = recorded(DEMO, {path: side(DEMO).files[path] + b"-maxSessions=99\n"})
    found = compare(old, side(DEMO))
    (change,) = found.changes
    assert (change.kind, change.what, change.causes) == ("text", "launch.flags", ())
    assert (change.old, change.new) == ("-maxSessions=99", "")
    assert [effect.text for effect in change.effects] == [
        "somebody edited the file by hand: the spec does not say this"
    ]
    assert found.restarts == ()
    assert found.foreign == (path,)


def test_edit_by_hand_beside_a_change_of_the_spec_is_told_apart() -> None:
    path = "hosts/studio/orch/launch.flags"
    old = recorded(DEMO, {path: side(DEMO).files[path] + b"-v=99\n"})
    found = compare(old, side(DEMO.replace("max_sessions = 4", "max_sessions = 3")))
    assert sorted((change.kind, change.what) for change in found.changes) == [
        ("argument", "-maxSessions"),
        ("text", "launch.flags"),
    ]


def test_tree_without_its_spec_is_compared_file_by_file() -> None:
    old = recorded(DEMO, without="spec/")
    found = compare(old, side(DEMO.replace("max_sessions = 4", "max_sessions = 3")))
    assert "has no copy of the spec" in found.notes[0]
    assert {change.kind for change in found.changes} == {"text"}
    assert {file.path for file in found.files} >= {"hosts/studio/orch/launch.flags", "spec/base.toml"}
    assert [target.node for target, _ in found.restarts] == ["orch"]
    assert "restart" in classes(found)


def test_tree_whose_copy_of_the_spec_was_edited_is_compared_file_by_file() -> None:
    old = recorded(DEMO, {"spec/base.toml": DEMO.replace("= 4", "= 5").encode()})
    found = compare(old, side(DEMO))
    assert "were not compiled from the spec there" in found.notes[0]
    assert {change.what for change in found.changes} == {"spec/base.toml"}
    assert found.foreign, "an edit of the copy that the tree does not follow is an error"


def older(text: str, path: str, content: bytes, host: str, digest: str) -> Side:
    """A tree of another version in which one file, and so one digest of the record of its host, is another."""
    plain, record = side(text), f"ansible/host_vars/{host}.json"
    files_then = {path: content, record: plain.files[record].replace(digest.encode(), b"0" * 64)}
    manifest = json.loads(plain.files["manifest.json"])
    manifest["tool"]["version"] = "0.0.9"
    for name, then in files_then.items():
        next(entry for entry in manifest["files"] if entry["path"] == name)["sha256"] = Artifact(name, then).sha256
    return recorded(text, {**files_then, "manifest.json": json.dumps(manifest).encode()})


def test_tree_of_another_version_shows_what_the_version_changed() -> None:
    path = "hosts/studio/orch/compose.yaml"
    plain = side(DEMO)
    digest = service_digests(plain)["studio", "orch"]
    old_file = plain.files[path].replace(b"max-size: 50m", b"max-size: 10m")
    old = older(DEMO, path, old_file, "studio", str(digest))
    found = compare(old, plain)
    assert "was written by fleetc 0.0.9" in found.notes[0]
    change = one(found, "compose.yaml")
    assert (change.old, change.new) == ("        max-size: 10m", "        max-size: 50m")
    assert [target.node for target, _ in found.restarts] == ["orch"]
    assert "restart" in {effect.impact for effect in change.effects}


def test_overlay_that_comes_is_named_with_its_line() -> None:
    new = compiled_or_none(DEMO, "[orchestrators.orch]\nmax_sessions = 2\n")
    assert new is not None
    found = compare(side(DEMO), of_compiled("fleet.toml", new))
    (change,) = found.changes
    assert [(spot.file, spot.line) for spot in change.causes] == [("overlay-1.toml", 2)]


def test_tree_of_another_version_restarts_the_slots_whose_files_it_changed() -> None:
    path = "hosts/stage-1/avatar/slots/slot-01.env"
    plain = side(example("avatar-stage"))
    record = json.loads(plain.files["ansible/host_vars/stage-1.json"])
    (digest,) = (slot["environment"] for slot in record["fleet_host_stack_slots"] if slot["name"] == "slot-01")
    old = older(example("avatar-stage"), path, b"# older\n" + plain.files[path], "stage-1", digest)
    found = compare(old, plain)
    assert [(target.host, target.node) for target, _ in found.restarts] == [("stage-1", "avatar/slot-01")]
    change = one(found, "slot-01.env")
    assert [target.node for target in change.targets] == ["avatar/slot-01"]
    assert "restart" in {effect.impact for effect in change.effects}


def test_spec_under_another_name_shows_its_name() -> None:
    other = compile_spec([Source("other.toml", DEMO)], *shipped())
    (change,) = compare(side(DEMO), of_compiled("other.toml", other)).changes
    assert change.what == "manifest.json"
    assert '"fleet.toml"' in (change.old or "") and '"other.toml"' in (change.new or "")
    assert not re.search("[0-9a-f]{64}", f"{change.old}{change.new}")
    assert [effect.impact for effect in change.effects] == ["none"]


def test_connections_of_one_side_have_their_state() -> None:
    old = example("two-regions")
    eu, us = '["eu-video-1", "eu-video-2", "us-video-1"]', '["us-video-1", "us-video-2", "eu-video-1"]'
    new = old.replace(eu, '["eu-video-1", "eu-video-2", "us-video-2"]')
    assert new != old and us in new
    states = {edge[:3]: edge.state for edge in review(old, new).edges}
    assert {edge: state for edge, state in states.items() if state} == {
        ("eu-live", "us-video-1", "pays"): "removed",
        ("eu-live", "us-video-2", "pays"): "added",
    }
    assert states["us-live", "us-video-1", "pays"] == ""


def test_connections_are_not_called_new_against_a_tree_without_a_spec() -> None:
    new = side(example("two-regions"))
    old = replace(new, document=None, fleet=None, whole=None, files={**new.files, "FLEET.md": b"other"})
    assert all(edge.state == "" for edge in compare(old, new).edges)


def test_a_change_of_a_class_is_counted_by_its_members() -> None:
    """One card for the class; a change of one member of it is of that member."""
    (regions,) = (text.text for text in example_sources("two-regions"))
    one_line = review(regions, regions.replace('block_polling_interval = "20s"', 'block_polling_interval = "10s"'))
    (change,) = one_line.changes
    assert wording.where(change) == "same on 3 of 3 members of gateways: eu-live, eu-images, us-live"
    (cause,) = change.causes
    assert (cause.path, cause.members) == ("defaults.gateways.block_polling_interval", 3)
    exception = regions.replace("[gateways.us-live]\n", '[gateways.us-live]\nblock_polling_interval = "10s"\n')
    (change,) = review(regions, exception).changes
    assert wording.where(change) == "on us-edge, node us-live"


def test_model_without_a_price_has_the_base_price() -> None:
    added = DUAL.replace('price = "4768371 wei / pixel"\n', "")
    found = review(DUAL, added)
    prices = {effect.text for change in found.changes for effect in change.effects if effect.impact == "price"}
    assert any(
        text.startswith("asks 1200 wei / pixel, its base price, for realvis instead of 4768371") for text in prices
    )


def test_first_models_of_a_spec_say_that_their_images_end() -> None:
    """Where a spec starts to depend on them; one that has models already is not told again."""
    ai = {"mode": '"dual"', "models": '[{ use = "realvis", warm = true }]', "gpus": "[0]", "secret": SECRET}
    none, one = onchain(orchestrator()), onchain(model(), orchestrator(**ai))
    two = onchain(
        model(), model("other", id='"org/other"'), orchestrator(**ai).replace(" }]", ' }, { use = "other" }]')
    )
    said = [[text for change in review(*pair).changes for text in text_of(change, "capacity")]
            for pair in ((none, one), (one, two))]  # fmt: skip
    assert any("deprecated since August 2026, and live runners replace them" in text for text in said[0])
    assert any("org/other" in text for text in said[1]) and not any("deprecated" in text for text in said[1])


def test_purchase_from_whom_a_gateway_blocks_ends_for_that() -> None:
    gate, other = gateway(orchestrators='["orch", "https://203.0.113.99:8935"]'), orchestrator()
    blocking = gate + 'selection = { blocked = ["0x2222222222222222222222222222222222222222"] }\n'
    found = [text for change in review(onchain(gate, other), onchain(blocking, other)).changes
             for text in text_of(change, "price")]  # fmt: skip
    assert "video can no longer be bought from orch: the gateway blocks its account" in found
