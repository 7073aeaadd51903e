"""The order of risk, the four tones, and the line that says the gravest effect in plain words."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pytest

from fleetc.review.data import IMPACTS, WEIGHTS, Effect, FileChange
from fleetc.review.gravity import TONES, gravity, tone
from fleetc.review.reports import wording
from fleetc.review.reports.markdown import as_markdown
from fleetc.review.reports.terminal import as_text
from tests.review.samples import EMPTY, mixed, price_on
from tests.review.support import example, review

TWO = example("two-regions")
OPENED = ("[gateways.us-live]\n", '[gateways.us-live]\ncli = "0.0.0.0:5935"\ncli_exposed = true\n')
SECOND = (
    "[gateways.us-live]\n",
    """[gateways.second]
host = "us-gpu-1"
mode = "video"
wallet = "payer"
http = "0.0.0.0:9935"
auth_webhook = "https://accounts.example.net/streams"
cli = "127.0.0.1:5936"
rtmp = "127.0.0.1:1936"
orchestrators = ["us-video-2"]
max_price = "1500 wei / pixel"
renditions = ["P240p30fps16x9"]
block_polling_interval = "20s"

[gateways.us-live]
""",
)


def edited(*swaps: tuple[str, str]) -> str:
    text = TWO
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_administration_opened_to_others_comes_before_a_new_service_port() -> None:
    found = review(TWO, edited(SECOND, OPENED))
    assert [change.what for change in found.changes[:2]] == ["-cliAddr", "second"]
    assert [wording.is_critical(change) for change in found.changes[:2]] == [True, False]
    assert [effect.weight for effect in found.changes[1].effects if effect.impact == "exposure"] == ["usual"]
    said = "Opens the administration port (5935) of us-live to everyone who can reach us-edge"
    said += ": they can move funds, and nothing asks who they are"
    assert wording.gravest(found) == said
    assert as_text(found).splitlines()[2] == f"{said}."
    assert as_text(found).splitlines()[4].startswith("critical, exposure, restart  argument -cliAddr: ")
    assert "\n- **critical**, **exposure**, **restart**: argument `-cliAddr`: " in as_markdown(found)
    assert as_text(found).count("critical") == 1
    assert f"**{said.replace('us-live', '`us-live`').replace('us-edge', '`us-edge`')}.**" in as_markdown(found)


def test_port_that_closes_is_calm_and_comes_after_a_price() -> None:
    dearer = ('price = "1200 wei / pixel"', 'price = "1250 wei / pixel"')
    found = review(edited(OPENED), edited(dearer))
    assert [change.what for change in found.changes] == ["-pricePerUnit", "-cliAddr"]
    closed = found.changes[1]
    assert wording.tones(closed) == {"restart": "restart", "exposure": "calm"}
    assert wording.gravest(found).startswith("eu-video-1 asks 1250 wei / pixel instead of 1200 wei / pixel")


def test_capacity_is_a_danger_only_when_it_is_lost() -> None:
    few = edited(("max_sessions = 8", "max_sessions = 4"))
    fewer, more = review(TWO, few), review(few, TWO)
    assert wording.tones(fewer.changes[0])["capacity"] == "danger"
    assert wording.gravest_tone(fewer) == "danger"
    assert wording.gravest(fewer) == "eu-video-1: sessions: 4 instead of 8"
    assert wording.tones(more.changes[0])["capacity"] == "calm"


@pytest.mark.parametrize("impact", IMPACTS)
def test_every_class_has_a_tone_and_a_place(impact: str) -> None:
    for weight in WEIGHTS:
        effect = Effect(impact, "", Decimal(1), weight=weight)
        assert tone(effect) in TONES
        assert gravity(effect) >= (0, 0)
    assert gravity(Effect("exposure", "", Decimal(1), weight="critical")) < gravity(Effect(impact, "", Decimal(1)))


def test_what_is_unknown_is_said_as_unknown() -> None:
    assert wording.gravest(EMPTY) == "Nothing changes"
    file = FileChange("hosts/a/b/launch.flags", "changed", ())
    only_files = replace(price_on(1), files=(file,), files_only=True)
    assert wording.gravest(only_files).endswith("; what that means for prices, funds and reach is unknown")
    nothing = replace(mixed(), changes=mixed().changes[-1:], files_only=True)
    assert wording.gravest(nothing) == "Only files were compared: what they mean is unknown"
    assert wording.gravest(replace(nothing, files_only=False)) == "Nothing that runs changes"
    assert wording.gravest(replace(EMPTY, foreign=("ansible/x",))).startswith("A rollout would use 1 file that")


def test_restarts_are_said_with_all_processes_that_end() -> None:
    found = review(TWO, edited(('node_release = "v0.9.1"', 'node_release = "v0.9.0"')))
    assert len(found.changes) == 1
    assert wording.gravest(found) == (
        "node release v0.9.0 instead of v0.9.1: "
        "9 processes restart, at most 435 live sessions drop; it is unknown how many more on 1 process"
    )


def test_purchase_that_ends_is_said_with_who_can_no_longer_buy() -> None:
    found = review(TWO, TWO.replace('"1300 wei / pixel"', '"1390 wei / pixel"'))
    (change,) = found.changes
    assert [effect.text for effect in change.effects if effect.impact == "price"] == [
        "us-video-1 and us-video-2: video can no longer be bought by us-live",
        "us-video-1 and us-video-2: asks 1390 wei / pixel instead of 1300 wei / pixel (+6.9 percent)",
    ], "each fact of a change at several nodes names those that it is about"
    assert wording.gravest(found) == "us-live can no longer buy video from us-video-1, and 1 more like it"


def test_node_on_a_host_that_leaves_is_of_unknown_fate_and_that_comes_first() -> None:
    ai = [re.search(rf"\n\[{table}\].*?(?=\n\[)", TWO, re.S) for table in ("hosts.us-ai", "orchestrators.us-images-1")]
    gone = TWO
    for table in ai:
        assert table is not None
        gone = gone.replace(table[0], "")
    gone = gone.replace('instances = ["https://us-ai.example.net:8935"]', "")
    found = review(TWO, gone)
    assert wording.gravest(found) == (
        "us-images-1 on us-ai, which leaves the spec: if the journal of rollouts knows the host, a rollout of all hosts"
        " stops it; else it is unknown who does"
    )
    prices = [effect.text for effect in found.changes[0].effects if effect.impact == "price"]
    assert "once stopped: timbrooks/instruct-pix2pix may still be bought by eu-images" in prices, "the registry has it"


@pytest.mark.parametrize(
    ("host", "node", "said"),
    [
        ("us-gpu-2", "orchestrators.us-video-2", "video can no longer be bought by us-live"),
        ("us-edge", "gateways.us-live", "video may still be bought from us-video-1"),
    ],
)
def test_purchases_of_what_may_go_on_end_only_where_a_list_ends_them(host: str, node: str, said: str) -> None:
    gone = TWO.replace('"us-video-2", ', "")
    for table in (f"hosts.{host}", node):
        match = re.search(rf"\n\[{table}\].*?(?=\n\[)", gone, re.S)
        assert match is not None
        gone = gone.replace(match[0], "")
    texts = [effect.text for change in review(TWO, gone).changes for effect in change.effects]
    assert any(said in text for text in texts), texts
    assert not any("can no longer be bought from" in text for text in texts)


def test_one_price_of_many_nodes_is_one_change_and_one_line() -> None:
    found = review(TWO, TWO.replace('"1300 wei / pixel"', '"1350 wei / pixel"'))
    (change,) = [one for one in found.changes if one.what == "-pricePerUnit"]
    assert len(change.targets) == 2
    assert wording.gravest(found).endswith("(+3.8 percent), and 1 more like it")


def test_node_that_goes_is_called_removed_once() -> None:
    table = re.search(r"\n\[orchestrators.us-video-2\].*?(?=\n\[)", TWO, re.S)
    assert table is not None
    found = review(TWO, TWO.replace(table[0], "").replace('"us-video-2", ', ""))
    assert wording.gravest(found).startswith("us-video-2 is removed: tickets that were not redeemed yet stay in ")
