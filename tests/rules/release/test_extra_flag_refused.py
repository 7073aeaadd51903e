"""Flags in extra_flags that have a field, that nobody reads or that do not exist."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.rules.release.extra_flag_refused import _of_type
from fleetc.upstream import FLAGS
from tests.rules.support import flagged, free_gateway, free_orchestrator, offchain, silent, transcoder

CODE = "extra-flag-refused"
ORCH = free_orchestrator(secret='{ env = "S" }', transcoding='"remote"')


def _with(flags: str, **fleet: str | None) -> str:
    return offchain(free_gateway(extra_flags=flags), free_orchestrator(), **fleet)


def test_flag_that_has_a_field(snapshot: SnapshotAssertion) -> None:
    assert flagged(_with("{ maxAttempts = 5 }"), CODE) == snapshot


def test_misspelt_flag(snapshot: SnapshotAssertion) -> None:
    assert flagged(_with('{ liveAICapRefreshModel = "noop" }'), CODE) == snapshot


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ('{ network = "offchain" }', "write network of the fleet instead"),
        ("{ broadcaster = true }", "write a table under gateways instead"),
        ('{ datadir = "/d" }', "write data_dir instead"),
        ('{ config = "/etc/livepeer.conf" }', "bypasses the checks"),
        ("{ j = true }", "ends the node"),
        ('{ ethPassword = "x" }', "write password of the wallet instead"),
        ('{ ticketEV = "1" }', "write ticket_ev of orchestrators instead"),
        ('{ liveAICapRefreshModels = "noop" }', "write live.report_interval instead"),
    ],
)
def test_flags_for_which_there_is_something_better(flags: str, message: str) -> None:
    assert message in flagged(_with(flags), CODE)


def test_flag_that_has_no_field_in_an_older_release_is_fine() -> None:
    silent(_with('{ liveAICapRefreshModels = "noop" }', node_release='"v0.8.9"'))


def test_unsound_specs_are_flagged() -> None:
    # Flag that the release lacks.
    text = _with('{ liveAICapRefreshModels = "noop" }', node_release='"v0.8.5"')
    assert "the node of v0.8.5 has no flag" in flagged(text, CODE)
    # Flag that the role does not read.
    worker = transcoder(extra_flags='{ liveAICapRefreshModels = "noop" }')
    assert "only has an effect on gateway" in flagged(offchain(ORCH, worker, node_release='"v0.8.9"'), CODE)
    # Value of another kind.
    text = _with("{ liveAICapRefreshModels = 3 }", node_release='"v0.8.9"')
    assert "takes text" in flagged(text, CODE)


@pytest.mark.parametrize(
    ("flag", "good", "bad"),
    [
        ("monitor", True, "true"),
        ("maxAttempts", 3, True),
        ("gasLimit", 3, "3"),
        ("discoveryTimeout", "5s", "5"),
        ("minPerfScore", "0.5", "half"),
        ("region", "NYC", 1),
    ],
)
def test_values_are_of_the_type_of_the_flag(flag: str, good: bool | int | str, bad: bool | int | str) -> None:
    assert _of_type(FLAGS[flag], good) == ("", "")
    assert all(_of_type(FLAGS[flag], bad))
