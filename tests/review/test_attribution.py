"""Each change is told once, in the words of who reads it, with the line of the spec that made it so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

import pytest

from fleetc.review.data import Change, Review
from fleetc.review.limits import breaches, parse_limits
from fleetc.review.reports.html import as_html
from fleetc.review.reports.markdown import as_markdown
from fleetc.review.reports.terminal import as_text
from tests.review.support import example, review
from tests.support import shipped

STAGE = example("avatar-stage")
DUAL = example("dual-onchain")
TWO = example("two-regions")
DEMO = example("demo")

IRIS = '  { avatar = "iris", gpu = 0 },\n'
LUNA = '  { avatar = "luna", gpu = 0 },\n'
ZED = '  { avatar = "zed", gpu = 1 },\n'


def edited(text: str, *swaps: tuple[str, str]) -> Review:
    return review(text, apply(text, swaps))


def apply(text: str, swaps: Iterable[tuple[str, str]]) -> str:
    for before, after in swaps:
        assert before in text
        text = text.replace(before, after, 1)
    return text


def told(found: Review) -> list[tuple[str, str, str | None, str | None]]:
    return [(change.kind, change.what, change.old, change.new) for change in found.changes]


def lines_of(change: Change) -> list[str]:
    return [spot.text.strip() for spot in change.causes]


def ended(change: Change) -> str:
    (text,) = [effect.text for effect in change.effects if effect.impact == "restart"]
    return text


# --- avatars and their slots ----------------------------------------------------------------------


def test_avatar_that_goes_is_named_and_those_behind_it_move() -> None:
    found = edited(STAGE, (LUNA, ""))
    assert told(found) == [
        ("avatar", "luna", "slot-01 on GPU 0", None),
        ("avatar", "orin", "slot-02 on GPU 1", "slot-01 on GPU 1"),
        ("avatar", "vega", "slot-03 on GPU 1", "slot-02 on GPU 1"),
    ]
    assert [lines_of(change) for change in found.changes] == [[LUNA.strip()]] * 3
    luna, orin, vega = found.changes
    assert ended(luna).startswith("avatar/host, avatar/slot-01 and avatar/slot-03 restart or stop")
    assert "avatar/slot-01" in ended(orin)
    assert "avatar/slot-02" in ended(vega)
    assert {effect.text for effect in luna.effects if effect.impact == "capacity"} == {"one slot fewer"}
    assert not [effect for effect in (*orin.effects, *vega.effects) if effect.impact != "restart"]


def test_avatar_that_comes_is_named_and_those_behind_it_move() -> None:
    found = edited(STAGE, (LUNA, LUNA + ZED))
    assert told(found) == [
        ("avatar", "orin", "slot-02 on GPU 1", "slot-03 on GPU 1"),
        ("avatar", "vega", "slot-03 on GPU 1", "slot-04 on GPU 1"),
        ("avatar", "zed", None, "slot-02 on GPU 1"),
    ]
    assert all(lines_of(change) == [ZED.strip()] for change in found.changes)
    assert "avatar/slot-03" in ended(found.changes[1])  # it leaves a slot that another avatar takes


def test_avatars_that_swap_slots_are_two_moves() -> None:
    found = edited(STAGE, (IRIS + LUNA, LUNA + IRIS))
    assert told(found) == [
        ("avatar", "iris", "slot-00 on GPU 0", "slot-01 on GPU 0"),
        ("avatar", "luna", "slot-01 on GPU 0", "slot-00 on GPU 0"),
    ]


def test_avatar_in_the_slot_of_another_is_a_change_of_the_slot() -> None:
    found = edited(STAGE, ('"luna"', '"lune"'))
    assert told(found) == [("avatar", "in slot-01", "luna on GPU 0", "lune on GPU 0")]
    assert any(line.old and "luna" in line.old for line in found.changes[0].lines)


def test_avatar_on_another_gpu_stays_in_its_slot() -> None:
    found = edited(STAGE, ('"orin", gpu = 1', '"orin", gpu = 0'))
    assert told(found) == [("avatar", "orin", "slot-02 on GPU 1", "slot-02 on GPU 0")]


def test_avatars_that_move_have_their_cause_beside_many_other_edits() -> None:
    others = [(f"bitrate = {old}", f"bitrate = {old + 1}") for old in (800000, 3000000, 6000000, 250000, 1600000)]
    found = edited(STAGE, (LUNA, ""), *others)
    vega = next(change for change in found.changes if change.what == "vega")
    assert lines_of(vega) == [LUNA.strip()]


def test_stack_that_goes_is_one_change() -> None:
    start, end = STAGE.index("[avatars.back]"), STAGE.index("# --- streams")
    found = review(STAGE, STAGE[:start] + STAGE[end:])
    assert not [change for change in found.changes if change.kind in ("slot",) or change.what == "luna"]
    assert [change.what for change in found.changes if change.kind == "avatar"] == ["stack back"]


# --- causes ---------------------------------------------------------------------------------------

PAYER_2 = """[wallets.payer2]
address = "0x4444444444444444444444444444444444444444"
keystore = "/var/lib/livepeer/keystore"
password = { host_file = "/etc/livepeer/payer2-password" }
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"

"""


def test_another_wallet_of_a_node_is_caused_by_the_line_of_the_node() -> None:
    found = edited(DUAL, ('wallet = "payer"', 'wallet = "payer2"'), ("[models.realvis]", PAYER_2 + "[models.realvis]"))
    assert [change.what for change in found.changes] == ["-ethAcctAddr", "LP_ETHPASSWORD"]
    assert all(lines_of(change) == ['wallet = "payer2"'] for change in found.changes)


ORCH_B = """[orchestrators.orch-b]
host = "studio"
mode = "video"
http = "0.0.0.0:8936"
cli = "127.0.0.1:7936"
service = "studio.example.net:8936"
monitor = true

"""
GATE_B = """[gateways.gate-b]
host = "studio"
mode = "video"
http = "0.0.0.0:9936"
rtmp = "127.0.0.1:1936"
cli = "127.0.0.1:5936"
http_ingest = true
orchestrators = ["orch"]
renditions = ["P240p30fps16x9"]

"""
HOST_B = """[hosts.studio-b]
address = "192.0.2.20"
runtime = "docker"

"""


@pytest.mark.parametrize(
    ("text", "swaps", "what"),
    [
        (DEMO, (("[gateways.gate]", ORCH_B + "[gateways.gate]"), ('["orch"]', '["orch", "orch-b"]')), "orch-b"),
        (DEMO, (("[gateways.gate]", GATE_B + "[gateways.gate]"),), "gate-b"),
        (
            DEMO,
            (
                ("[orchestrators.orch]", HOST_B + "[orchestrators.orch]"),
                ('[gateways.gate]\nhost = "studio"', '[gateways.gate]\nhost = "studio-b"'),
            ),
            "studio-b",
        ),
    ],
)
def test_table_that_comes_or_goes_is_its_own_cause_whoever_names_it(
    text: str, swaps: tuple[tuple[str, str], ...], what: str
) -> None:
    comes = edited(text, *swaps)
    goes = edited(apply(text, swaps), *((after, before) for before, after in reversed(swaps)))
    for found in (comes, goes):
        (change,) = [change for change in found.changes if change.what == what]
        assert change.kind in ("service", "host")
        assert lines_of(change) in ([f"[orchestrators.{what}]"], [f"[gateways.{what}]"], [f"[hosts.{what}]"])


def test_host_of_the_monitoring_is_told_as_what_it_changes() -> None:
    found = edited(TWO, ('[monitoring]\nhost = "eu-edge-1"', '[monitoring]\nhost = "eu-edge-2"'))
    assert told(found) == [("monitoring", "home", "eu-edge-1", "eu-edge-2")]
    assert len(found.files) == 14
    assert "no file" not in as_text(found)


def test_consent_to_a_listener_stands_beside_its_change() -> None:
    service = 'service = "studio.example.net:8935"\n'
    found = edited(DEMO, (service, f'{service}cli = "0.0.0.0:7935"\ncli_exposed = true\n'))
    (change,) = found.changes
    assert change.what == "-cliAddr"
    assert lines_of(change) == ['cli = "0.0.0.0:7935"', "cli_exposed = true"]


def test_edit_that_changes_nothing_that_runs_says_so() -> None:
    found = edited(DUAL, ('memory = "9 GiB"', 'memory = "10 GiB"'))
    assert told(found) == [("spec", "models.realvis.memory", "9 GiB", "10 GiB")]
    assert found.changes[0].effects[0].text == "no node, stack or stream gets anything different"


def test_entries_of_one_file_have_the_line_of_their_own() -> None:
    found = edited(DUAL, ('"realvis", warm = true', '"realvis"'), ('"whisper", warm = true', '"whisper"'))
    causes = {change.what.split()[1]: lines_of(change) for change in found.changes}
    assert causes == {
        "audio-to-text": ['{ use = "whisper", warm = true, capacity = 1 },'],
        "text-to-image": ['{ use = "realvis", warm = true, capacity = 1 },'],
    }


def test_pixels_of_a_price_follow_the_price() -> None:
    assert [change.what for change in edited(DUAL, ('"1500 wei / pixel"', '"any"')).changes] == ["-maxPricePerUnit"]
    alone = edited(DUAL, ('"1500 wei / pixel"', '"1500 wei / 2 pixels"'))
    assert [change.what for change in alone.changes] == ["-pixelsPerUnit"]


# --- equal changes are one ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "before", "after", "what", "places"),
    [
        (DEMO, '"v0.9.1"', '"v0.9.0"', "node release", 2),
        (TWO, 'deposit = "1 ETH"', 'deposit = "0.2 ETH"', "deposit", 3),
        (STAGE, '"v1.3.6"', '"v1.3.5"', "image tag", 2),
        (STAGE, "203.0.113.64/29", "203.0.113.64/28", "firewall.cidr", 2),
    ],
)
def test_equal_changes_are_one_whatever_follows_elsewhere(
    text: str, before: str, after: str, what: str, places: int
) -> None:
    (change,) = review(text, text.replace(before, after)).changes
    assert (change.what, len(change.targets)) == (what, places)


def test_processes_of_the_same_name_are_counted() -> None:
    (change,) = edited(STAGE, ('"v1.3.6"', '"v1.3.5"')).changes
    assert ended(change).startswith("8 processes on 2 hosts (avatar/host, avatar/slot-00")


def test_deposit_counts_once_for_each_wallet() -> None:
    found = edited(TWO, ('deposit = "1 ETH"', 'deposit = "0.2 ETH"'))
    (funds,) = [effect for effect in found.changes[0].effects if effect.impact == "funds"]
    assert (funds.text, funds.amount) == (
        "eu-images, eu-live and us-live: deposit 0.2 ETH instead of 1 ETH",
        Decimal(1),
    )
    assert not list(breaches(found, parse_limits("funds=1,chain=1")))


def test_rung_of_a_ladder_is_one_change_of_all_its_streams() -> None:
    found = edited(STAGE, ("bitrate = 800000", "bitrate = 900000"), ("bitrate = 6000000", "bitrate = 5000000"))
    streams = [change for change in found.changes if change.kind == "stream"]
    assert [change.what for change in streams] == [
        "camera, stage-main: 1080p bitrate",
        "camera, stage-main: 360p bitrate",
    ]
    assert len(found.changes) == 4
    assert all(len(change.causes) == 1 and f"bitrate = {change.new}" in lines_of(change)[0] for change in found.changes)


RUNG = STAGE[STAGE.index('  { name = "360p"') :].partition("\n")[0] + "\n"


def test_rendition_that_goes_or_comes_is_one_row_of_its_streams() -> None:
    shorter = STAGE.replace(RUNG, "")
    for found in (review(STAGE, shorter), review(shorter, STAGE)):
        assert [(change.kind, change.what) for change in found.changes] == [
            ("file", "transcoding.json: 360p"),
            ("stream", "camera, stage-main: 360p"),
        ]
        assert all(lines_of(change) == [RUNG.strip()] for change in found.changes)


def test_rendition_with_another_name_is_one_row() -> None:
    found = review(STAGE, STAGE.replace(RUNG, RUNG.replace('"360p"', '"540p"')))
    assert [(change.kind, change.what) for change in found.changes] == [
        ("file", "transcoding.json: 540p"),
        ("stream", "camera, stage-main: 540p"),
    ]
    assert all('"360p"' in (change.old or "") and '"540p"' in (change.new or "") for change in found.changes)


def test_lines_of_several_files_stand_under_the_names_of_their_files() -> None:
    page = as_html(edited(DUAL, ('"1200 wei / pixel"', '"1400 wei / pixel"')), shipped()[0])
    inside = page.split('<article class="change')[1].split("</article>")[0]
    node = "hosts/gpu/orch"
    files = [
        *(f"{node}/launch.flags", f"{node}/livepeer-orch.service"),
        *("FLEET.md", "hosts/gpu/README.md", "monitoring/alerts.yml"),
    ]
    assert re.findall(r'<p class="of">([^<]*)</p>', inside) == files
    assert inside.index(files[0]) < inside.index("-pricePerUnit=<mark>1200") < inside.index(files[1])


def test_list_is_told_by_its_elements() -> None:
    longer = edited(TWO, ('"us-video-1"]', '"us-video-1", "us-video-2"]'))
    third = "https://us-gpu-2.example.net:8935"
    assert f"argument -orchAddr: + {third}\n" in as_text(longer)
    assert f": + `{third}`" in as_markdown(longer)
    assert f'<ins>{third}</ins> <span class="deed">added</span>' in as_html(longer, shipped()[0])
    shorter = edited(TWO, (', "P720p30fps16x9"]', "]"))
    assert "argument -transcodingOptions: - P720p30fps16x9\n" in as_text(shorter)
    swapped = edited(TWO, ('"P360p30fps16x9", "P720p30fps16x9"]', '"P360p30fps16x9", "P576p30fps16x9"]'))
    assert "argument -transcodingOptions: - P720p30fps16x9 + P576p30fps16x9\n" in as_text(swapped)
    turned = edited(TWO, ('"eu-video-1", "eu-video-2"', '"eu-video-2", "eu-video-1"'))
    assert "-orchAddr: moved: https://eu-gpu-2.example.net:8935 from place 2 to 1\n" in as_text(turned)
    assert '<span class="deed">moved</span> <code>https://eu-gpu-2.example.net:8935 from' in as_html(
        turned, shipped()[0]
    )


def test_stream_whose_gateway_goes_is_told_what_becomes_of_it() -> None:
    gate = STAGE[STAGE.index("[gateways.gate]") :].partition("\n\n")[0]
    named = 'gateway = "gate"\n'
    gone = {c.what: c for c in review(STAGE, STAGE.replace(gate, "").replace(named, "")).changes}
    streams = gone["camera, stage-main, stage-mobile: gateway"]
    assert (streams.kind, streams.old, streams.new) == ("stream", "gate", None)
    assert [(e.impact, e.text, e.amount) for e in streams.effects] == [
        (
            "capacity",
            "gate leaves the fleet, and the stream has no other gateway: none accepts it",
            Decimal(3),
        )
    ]
    moved = STAGE.replace("[gateways.gate]", "[gateways.door]").replace(named, 'gateway = "door"\n')
    (change,) = [c for c in review(STAGE, moved).changes if c.kind == "stream"]
    assert [(e.impact, e.text) for e in change.effects] == [
        ("identity", "the stream must be sent to door now; gate leaves the fleet")
    ]
    (change,) = edited(STAGE, (f"[streams.camera]\n{named}", "[streams.camera]\n")).changes
    assert [(e.impact, e.text, e.amount) for e in change.effects] == [
        ("capacity", "the stream no longer has a gateway in the spec; gate stays in the fleet", Decimal(0))
    ]


# --- words ----------------------------------------------------------------------------------------


def test_blank_line_is_no_hidden_one() -> None:
    text = as_text(edited(DUAL, ("spec = 1\n", "spec = 1\n\n")))
    assert "   5 | [blank line]" in text
    assert "(empty) -> (blank line)" in text
    assert "secret" not in text


def test_line_that_may_hold_a_secret_is_still_hidden() -> None:
    leak = 'password = { env = "X" } # build 16c7e42f292c6912e7710c838347ae17'
    silence = (
        '[silences.accepted]\ncode = "inline-secret"\n'
        'at = "wallets.payer.password"\nreason = "a build"\n\n[wallets.payer]'
    )
    password = 'password = { host_file = "/etc/livepeer/payer-password" }'
    found = edited(DUAL, ("[wallets.payer]", silence), (password, leak))
    assert "16c7e42f" not in as_text(found)
    assert "[line not shown: it may contain a secret]" in as_text(found)


def test_host_without_processes_says_what_becomes_of_it() -> None:
    table = '[hosts.extra]\naddress = "192.0.2.20"\nruntime = "docker"\n\n[orchestrators.orch]'
    (change,) = edited(DEMO, ("[orchestrators.orch]", table)).changes
    assert [effect.text for effect in change.effects] == ["rollouts reach the host from now on"]


def test_service_beside_a_stack_gets_its_ports_through_the_packet_filter() -> None:
    more = STAGE.replace("game_open_files = 4096", 'game_open_files = 4096\nbeside = ["minio"]')
    assert more != STAGE
    (change,) = review(STAGE, more).changes
    assert [effect.impact for effect in change.effects] == ["exposure"]
    assert "port 9000, 9001 of stage-1, open to everyone" in change.effects[0].text
