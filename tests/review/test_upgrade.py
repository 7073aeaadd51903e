"""What another release would mean: told completely, in both directions, and grouped; by value and as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.pipeline import check_spec
from fleetc.review.reports.upgrade import as_json, as_text
from fleetc.review.upgrade import Upgrade, compare
from fleetc.toml.document import Source
from fleetc.upstream import RELEASES, Release, format_release, parse_release
from tests.rules.support import (
    SECRET,
    ai_worker,
    free_gateway,
    free_orchestrator,
    gateway,
    host,
    model,
    offchain,
    onchain,
    orchestrator,
    printed,
    transcoder,
)
from tests.support import ROOT, fleetc
from tests.upstream.test_releases import rich_for

OFFER = '[{ use = "realvis" }]'
AI = free_orchestrator(mode='"dual"', models=OFFER, runner_image='"x/y:v1.0.0"')


def upgrade(text: str, to: str) -> Upgrade:
    sources = [Source("fleet.toml", text)]
    base = check_spec(sources)
    assert base.fleet is not None, printed(text)
    return compare(base, sources, parse_release(to))


def names(findings: tuple[Any, ...]) -> dict[str, tuple[str, ...]]:
    return {finding.name: finding.nodes for finding in findings}


def test_same_release_changes_nothing() -> None:
    found = upgrade(offchain(model(), AI), "v0.9.1")
    assert not found.must_change
    assert (found.lost, found.renamed, found.defaults, found.changes, found.lines) == ((), (), (), (), ())


def test_report_of_an_upgrade(snapshot: SnapshotAssertion) -> None:
    gate = free_gateway(mode='"dual"', http='"127.0.0.1:9935"')
    text = offchain(model(), AI, gate, node_release='"v0.8.0"')
    assert as_text(upgrade(text, "v0.9.1")) == snapshot


def test_report_of_a_downgrade_that_the_spec_does_not_allow(snapshot: SnapshotAssertion) -> None:
    orch = free_orchestrator(mode='"dual"', models=OFFER, runner_logs="true", runner_image='"x/y:v1.0.0"')
    gate = free_gateway(ai_retry_timeout='"5s"', node_release='"v0.9.0"')
    assert as_text(upgrade(offchain(model(), orch, gate), "v0.8.2")) == snapshot


def test_flag_that_the_release_does_not_have_is_lost_and_must_go() -> None:
    found = upgrade(offchain(free_orchestrator(), free_gateway(ai_retry_timeout='"5s"')), "v0.8.3")
    assert names(found.lost) == {"aiProcessingRetryTimeout": ("gate",)}
    assert found.must_change
    assert [d.code for d in found.appeared] == ["flag-unknown-to-release"]
    assert found.lines is None


def test_secret_flags_are_lost_too() -> None:
    gate = free_gateway(live='{ mediamtx_password = { env = "PASSWORD" } }')
    assert "mediaMTXApiPassword" in names(upgrade(offchain(free_orchestrator(), gate), "v0.8.0").lost)


@pytest.mark.parametrize(
    ("old", "new", "lost", "won"),
    [
        ("v0.8.0", "v0.9.1", "-aiRunnerImage=x/y:v1.0.0", '-aiRunnerImageOverrides={"default":"x/y:v1.0.0"}'),
        ("v0.9.1", "v0.8.0", '-aiRunnerImageOverrides={"default":"x/y:v1.0.0"}', "-aiRunnerImage=x/y:v1.0.0"),
    ],
)
def test_renamed_flag_is_renamed_and_not_lost(old: str, new: str, lost: str, won: str) -> None:
    found = upgrade(offchain(model(), AI, node_release=f'"{old}"'), new)
    assert not found.lost
    assert not found.must_change
    assert names(found.renamed) == {lost[1:].partition("=")[0]: ("orch",)}
    assert found.lines is not None
    (change,) = found.lines
    assert lost in change.removed
    assert won in change.added


def test_new_default_acts_only_on_nodes_that_read_it_and_leave_it_out() -> None:
    text = onchain(
        model(),
        orchestrator(mode='"dual"', models=OFFER),
        gateway(mode='"dual"', discovery='"registry"', max_model_prices='{ llm = "1 wei / pixel" }'),
        gateway("video", host='"gpu"', discovery='"registry"', http='"127.0.0.1:9936"'),
        node_release='"v0.8.9"',
    ).replace("[wallets.payer]", '[wallets.payer]\nreward_by = "none"')
    assert names(upgrade(text, "v0.8.10").defaults) == {"liveAICapReportInterval": ("gate",)}
    given = text.replace("[gateways.gate]", "[gateways.gate]\nlive = { save_segments = 3 }")
    assert "liveAISaveNSegments" in names(upgrade(text, "v0.8.6").defaults)
    assert "liveAISaveNSegments" not in names(upgrade(given, "v0.8.6").defaults)


def test_unset_flag_whose_meaning_changes_concerns_only_the_nodes_that_leave_it_out() -> None:
    shared = {"host": '"edge"', "secret": SECRET}
    text = offchain(
        free_orchestrator(**shared),
        transcoder("cpu"),
        transcoder("fast", gpus="[0]", max_sessions="4", cli='"127.0.0.1:6936"'),
        transcoder("told", hevc_decoding="true", cli='"127.0.0.1:6937"'),
        node_release='"v0.9.1"',
    )
    found = upgrade(text, "v0.7.6")
    assert names(found.defaults)["hevcDecoding"] == ("cpu",)
    assert names(found.lost) == {"hevcDecoding": ("told",)}


def test_changes_concern_the_nodes_that_notice_them() -> None:
    warm = '[{ use = "realvis", warm = true, capacity = 2 }]'
    text = offchain(
        model(),
        free_orchestrator(mode='"dual"', models=OFFER, host='"edge"', secret=SECRET),
        ai_worker(models=warm, gpus="[0]"),
        node_release='"v0.8.5"',
    )
    found = upgrade(text, "v0.8.6")
    assert names(found.changes)["warm-capacity"] == ("worker",)
    assert names(found.changes)["runners-on-loopback"] == ("worker",)
    assert names(found.changes)["byoc"] == ("orch",)
    assert names(found.changes)["ai-workers-first"] == ("worker",)
    assert [d.code for d in found.appeared] == ["too-many-warm-containers"]
    back = upgrade(text.replace("v0.8.5", "v0.9.1").replace("capacity = 2", "capacity = 1"), "v0.8.5")
    assert "before v0.8.6, a warm model has one container" in as_text(back)
    assert names(back.changes)["orchestrators-first"] == ("orch",)


def test_ticket_lifetime_concerns_chains_only() -> None:
    assert "ticket-lifetime" not in names(upgrade(offchain(free_orchestrator()), "v0.8.3").changes)
    assert names(upgrade(onchain(orchestrator()), "v0.8.3").changes)["ticket-lifetime"] == ("orch",)


def test_changes_of_a_remote_signer_concern_the_gateways_that_use_one() -> None:
    signed = free_gateway(remote_signer='{ url = "https://signer.example.net" }')
    found = upgrade(offchain(free_orchestrator(), signed, node_release='"v0.8.11"'), "v0.9.1")
    assert names(found.changes)["public-signer-needs-a-webhook"] == ("gate",)
    assert "signer-price-ceilings" in names(found.changes)


def test_node_with_a_release_of_its_own_is_listed_and_left_alone() -> None:
    text = offchain(free_orchestrator(), free_gateway(node_release='"v0.9.0"'), node_release='"v0.9.1"')
    found = upgrade(text, "v0.8.11")
    assert [(f.name, f.nodes) for f in found.kept] == [("v0.9.0", ("gate",))]
    assert found.lines is not None
    assert [change.nodes for change in found.lines] == [("orch",)]


def test_override_that_stays_behind_is_an_error_when_its_orchestrator_moves() -> None:
    orch = free_orchestrator(mode='"dual"', models=OFFER, host='"edge"', secret=SECRET)
    text = offchain(model(), orch, ai_worker(node_release='"v0.8.5"'), node_release='"v0.8.5"')
    found = upgrade(text, "v0.9.1")
    assert [d.code for d in found.appeared] == ["worker-older-than-orchestrator"]


def test_image_with_the_tag_of_another_release_is_worth_a_look() -> None:
    text = offchain(free_orchestrator(), host("more"), image='"livepeer/go-livepeer:v0.9.0"', node_release='"v0.9.0"')
    text = text.replace('host = "gpu"', 'host = "more"').replace(
        "[hosts.more]", '[hosts.more]\npublic = "m.example.net"'
    )
    found = upgrade(text, "v0.9.1")
    assert [d.code for d in found.appeared] == ["image-differs-from-release"]
    assert not found.must_change
    assert "worth a look" in as_text(found)


def test_equal_differences_stand_together() -> None:
    many = [host(f"h{n}", address=f'"203.0.113.{40 + n}"') for n in range(7)]
    gates = [free_gateway(f"gate-{n}", host=f'"h{n}"') for n in range(7)]
    found = upgrade(offchain(*many, free_orchestrator(host='"gpu"'), *gates), "v0.9.0")
    assert found.lines is not None
    assert [len(change.nodes) for change in found.lines] == [7, 1]
    assert "same on 7 nodes: gate-0, gate-1, gate-2, gate-3 and 3 more" in as_text(found)
    assert "program /usr/local/bin/livepeer, v0.9.0" in as_text(found)


def test_values_of_variables_are_not_shown() -> None:
    text = onchain(orchestrator(), rpc='"https://arbitrum.example.net/word"')
    assert "example.net/word" not in as_text(upgrade(text, "v0.8.0")) + as_json(upgrade(text, "v0.8.0"))


@pytest.mark.parametrize("old", RELEASES[::4], ids=format_release)
@pytest.mark.parametrize("new", RELEASES[::4], ids=format_release)
def test_every_pair_of_releases_can_be_compared(old: Release, new: Release) -> None:
    """A flag stays, is lost, or gets another name: what vanishes from a line is told in one of the two sections."""
    checked, _ = rich_for(old)
    assert checked.document is not None
    sources = list(checked.document.sources)
    found = compare(checked, sources, new)
    assert as_text(found).startswith("Fleet rich: from ")
    told = json.loads(as_json(found))
    assert told["must_change"] == found.must_change
    assert (told["launch_lines"] is None) == found.must_change
    if new >= old:
        assert not found.lost
        assert {d.code for d in found.appeared} <= {"too-many-warm-containers"}  # their capacity counts since v0.8.6
    if found.lines is not None:
        vanished = {
            word[1:].partition("=")[0] for change in found.lines for word in change.removed if word.startswith("-")
        }
        kept = {word[1:].partition("=")[0] for change in found.lines for word in change.added if word.startswith("-")}
        assert vanished - kept <= set(names(found.lost)) | set(names(found.renamed))


# The command


def test_command_says_that_nothing_must_change() -> None:
    done = fleetc("upgrade", ROOT / "inventories/demo", "--to", "v0.8.11")
    assert (done.returncode, done.stderr) == (0, "")
    assert "In the spec: nothing must change" in done.stdout


def test_command_exits_1_and_names_places_when_the_spec_must_change(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text(offchain(free_orchestrator(), free_gateway(ai_retry_timeout='"5s"')), encoding="utf-8")
    done = fleetc("upgrade", spec, "--to", "v0.8.0")
    assert done.returncode == 1
    assert f"{spec}:" in done.stdout
    assert "--> --to:2:16" in done.stdout
    told = json.loads(fleetc("upgrade", spec, "--to", "v0.8.0", "--format", "json").stdout)
    assert told["must_change"] is True
    assert told["diagnostics"][0]["code"] == "flag-unknown-to-release"
    assert told["diagnostics"][0]["primary"]["file"] == str(spec)
    assert told["lost"] == [
        {
            "name": "aiProcessingRetryTimeout",
            "text": "-aiProcessingRetryTimeout: v0.8.0 does not have it; it came with v0.8.4",
            "nodes": ["gate"],
        }
    ]


@pytest.mark.parametrize("wrong", ["v0.9.2-rc1", "0.9.1", "v0.8.12", "latest", "\x1b[31m"])
def test_command_refuses_a_release_that_never_was(wrong: str) -> None:
    done = fleetc("upgrade", ROOT / "inventories/demo", "--to", wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert "fleetc knows no release" in done.stderr
    assert "\x1b" not in done.stderr


def test_command_suggests_the_nearest_release() -> None:
    assert 'write "v0.9.1"' in fleetc("upgrade", ROOT / "inventories/demo", "--to", "0.9.1").stderr


def test_command_first_wants_a_sound_spec(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text(offchain(free_orchestrator(mode='"vidoe"')), encoding="utf-8")
    done = fleetc("upgrade", spec, "--to", "v0.9.0")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'did you mean "video"?' in done.stderr


def test_overlays_are_compared_too() -> None:
    base = ROOT / "inventories/two-regions"
    done = fleetc("upgrade", base, "--overlay", base / "staging.toml", "--to", "v0.9.0")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("Fleet ")
