"""What another release of the node means, in both directions: by value, and by `diff --release` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleetc.language.fleet import Fleet
from fleetc.lower import lower
from fleetc.pipeline import check_spec
from fleetc.review.releases import release_notes
from fleetc.toml.document import Source
from fleetc.upstream import RELEASES, Release, format_release
from tests.review.support import review
from tests.rules.support import (
    SECRET,
    ai_worker,
    free_gateway,
    free_orchestrator,
    gateway,
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


def fleet_of(text: str) -> Fleet:
    fleet = check_spec([Source("fleet.toml", text)]).fleet
    assert fleet is not None, printed(text)
    return fleet


def notes(text: str, old: str, new: str) -> list[str]:
    """The notes about a spec with NODE_RELEASE in the place of its release."""
    before, after = (fleet_of(text.replace("NODE_RELEASE", release)) for release in (old, new))
    return list(release_notes(before, after, lower(before), lower(after)))


def of(found: list[str], words: str) -> str:
    """The nodes of the only note with these words."""
    (note,) = [note for note in found if words in note]
    return note.rpartition(" (")[2].rstrip(")")


AT = {"node_release": '"NODE_RELEASE"'}


def test_same_release_has_no_notes() -> None:
    assert notes(offchain(model(), AI, **AT), "v0.9.1", "v0.9.1") == []


@pytest.mark.parametrize(
    ("old", "new", "lost", "won"),
    [
        ("v0.8.0", "v0.9.1", "-aiRunnerImage", "-aiRunnerImageOverrides"),
        ("v0.9.1", "v0.8.0", "-aiRunnerImageOverrides", "-aiRunnerImage"),
    ],
)
def test_renamed_flag_is_a_change_of_the_line(old: str, new: str, lost: str, won: str) -> None:
    text = offchain(model(), AI, **AT)
    changes = {
        change.what: change for change in review(*(text.replace("NODE_RELEASE", at) for at in (old, new))).changes
    }
    assert changes[lost].new is None and changes[won].old is None
    assert changes["node release"].old == old and changes["node release"].new == new


def test_new_default_acts_only_on_nodes_that_read_it_and_leave_it_out() -> None:
    text = onchain(
        model(),
        orchestrator(mode='"dual"', models=OFFER),
        gateway(mode='"dual"', discovery='"registry"', max_model_prices='{ llm = "1 wei / pixel" }'),
        gateway("video", host='"gpu"', discovery='"registry"', http='"127.0.0.1:9936"'),
        **AT,
    ).replace("[wallets.payer]", '[wallets.payer]\nreward_by = "none"')
    assert of(notes(text, "v0.8.9", "v0.8.10"), "-liveAICapReportInterval came with v0.8.10 and is") == "gate"
    assert of(notes(text, "v0.8.10", "v0.8.9"), "until then there is no such setting") == "gate"
    given = text.replace("[gateways.gate]", "[gateways.gate]\nlive = { save_segments = 3 }")
    assert any("-liveAISaveNSegments" in note for note in notes(text, "v0.8.6", "v0.8.9"))
    assert not any("-liveAISaveNSegments" in note for note in notes(given, "v0.8.7", "v0.8.9"))


def test_unset_flag_whose_meaning_changes_concerns_only_the_nodes_that_leave_it_out() -> None:
    shared = {"host": '"edge"', "secret": SECRET}
    fast = transcoder("fast", gpus="[0]", max_sessions="4", cli='"127.0.0.1:6936"')
    text = offchain(free_orchestrator(**shared), transcoder("cpu"), fast, **AT)
    assert of(notes(text, "v0.9.1", "v0.7.6"), "-hevcDecoding is unset") == "cpu"


def test_changes_concern_the_nodes_that_notice_them() -> None:
    warm = '[{ use = "realvis", warm = true, capacity = 1 }]'
    text = offchain(
        model(),
        free_orchestrator(mode='"dual"', models=OFFER, host='"edge"', secret=SECRET),
        ai_worker(models=warm, gpus="[0]"),
        **AT,
    )
    up, back = notes(text, "v0.8.5", "v0.8.6"), notes(text, "v0.9.1", "v0.8.5")
    assert of(up, "runner containers listen on") == "worker"
    assert of(up, "can register their own capability") == "orch"
    assert of(up, "deploy these nodes first") == "worker"
    assert of(back, "before v0.8.6, a warm model has one container") == "worker"
    assert of(back, "deploy these nodes first") == "orch"


def test_ticket_lifetime_concerns_chains_only() -> None:
    free, paid = offchain(free_orchestrator(), **AT), onchain(orchestrator(), **AT)
    assert not any("ticket parameters" in note for note in notes(free, "v0.9.1", "v0.8.3"))
    assert of(notes(paid, "v0.9.1", "v0.8.3"), "ticket parameters") == "orch"


def test_changes_of_a_remote_signer_concern_the_gateways_that_use_one() -> None:
    signed = free_gateway(remote_signer='{ url = "https://signer.example.net" }')
    found = notes(offchain(free_orchestrator(), signed, **AT), "v0.8.11", "v0.9.1")
    assert of(found, "only starts with a webhook") == "gate"


def test_node_with_a_release_of_its_own_is_listed_and_left_alone() -> None:
    text = offchain(free_orchestrator(), free_gateway(node_release='"v0.9.0"'), **AT)
    assert notes(text, "v0.9.1", "v0.8.11")[-1] == "nodes with a node_release of their own keep it (gate)"
    changes = review(*(text.replace("NODE_RELEASE", at) for at in ("v0.9.1", "v0.8.11"))).changes
    assert {target.node for change in changes for target in change.targets} <= {"orch", ""}


@pytest.mark.parametrize("old", RELEASES[::4], ids=format_release)
@pytest.mark.parametrize("new", RELEASES[::4], ids=format_release)
def test_every_pair_of_releases_can_be_compared(old: Release, new: Release) -> None:
    """A rich fleet, less what the older of the two does not have."""
    checked, _ = rich_for(min(old, new))
    assert checked.document is not None
    text = checked.document.sources[0].text
    texts = [text.replace(format_release(min(old, new)), format_release(release), 1) for release in (old, new)]
    before, after = (check_spec([Source("fleet.toml", text)]).fleet for text in texts)
    if before is not None and after is not None:
        found = release_notes(before, after, lower(before), lower(after))
        assert len(set(found)) == len(found)
        assert (old == new) <= (found == ())


# The command


DEMO = ROOT / "inventories/demo"


def test_command_reviews_the_spec_against_itself() -> None:
    for name in ("v0.8.11", "0.8.11"):
        done = fleetc("diff", DEMO, "--release", name)
        assert (done.returncode, done.stderr) == (0, "")
        assert "node release: v0.9.1 -> v0.8.11" in done.stdout
    assert "Nothing changes" in fleetc("diff", DEMO, "--release", "v0.9.1").stdout


def test_command_has_the_forms_of_a_review_and_its_limits() -> None:
    done = fleetc("diff", DEMO, "--release", "v0.9.0", "--format", "json", "--max-impact", "restart=0")
    assert done.returncode == 1 and "restart" in done.stderr
    assert "node release" in {change["what"] for change in json.loads(done.stdout)["changes"]}


def test_command_exits_1_and_names_places_when_the_spec_must_change(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text(offchain(free_orchestrator(), free_gateway(ai_retry_timeout='"5s"')), encoding="utf-8")
    done = fleetc("diff", spec, "--release", "v0.8.0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[flag-unknown-to-release]" in done.stderr
    assert f"{spec}:" in done.stderr and "--> --release:2:16" in done.stderr


def test_command_does_not_pretend_to_know_a_release() -> None:
    done = fleetc("diff", DEMO, "--release", "v1.0.0")
    assert done.returncode == 0
    assert "warning[release-unknown]" in done.stderr
    assert "v1.0.0 (unknown to fleetc) instead of v0.9.1" in done.stdout
    assert "v1.0.0" not in done.stdout.replace("v1.0.0 (unknown to fleetc)", "").replace('node_release = "v1.0.0"', "")


@pytest.mark.parametrize("wrong", ["v0.9.2-rc1", "v0.8.12", "latest", "v0.9", "\x1b[31m"])
def test_command_refuses_a_release_that_never_was(wrong: str) -> None:
    done = fleetc("diff", DEMO, "--release", wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert "fleetc knows no release" in done.stderr
    assert "\x1b" not in done.stderr


def test_command_compares_the_spec_with_nothing_else() -> None:
    done = fleetc("diff", DEMO, "--release", "v0.9.0", "--against", "main")
    assert done.returncode == 2 and "--against" in done.stderr


def test_command_first_wants_a_sound_spec(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text(offchain(free_orchestrator(mode='"vidoe"')), encoding="utf-8")
    done = fleetc("diff", spec, "--release", "v0.9.0")
    assert (done.returncode, done.stdout) == (1, "")
    assert 'did you mean "video"?' in done.stderr


def test_overlays_are_compared_too() -> None:
    base = ROOT / "inventories/two-regions"
    done = fleetc("diff", base, "--overlay", base / "staging.toml", "--release", "v0.9.0")
    assert done.returncode == 0 and "node release" in done.stdout
