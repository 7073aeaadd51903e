"""GPUs of orchestrators whose work others do."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, free_orchestrator, model, offchain, silent, transcoder

CODE = "gpus-unused"


def test_remote_transcoders_do_the_work(snapshot: SnapshotAssertion) -> None:
    orch = free_orchestrator(host='"edge"', secret=SECRET, gpus="[0]", transcoding='"remote"')
    assert flagged(offchain(orch, transcoder()), CODE, Severity.WARNING) == snapshot


def test_workers_that_name_it_do_the_work() -> None:
    orch = free_orchestrator(host='"edge"', secret=SECRET, gpus='"all"')
    assert "are idle" in flagged(offchain(orch, transcoder()), CODE, Severity.WARNING)


@pytest.mark.parametrize("own", ['"local"', None])
def test_gpus_that_transcode_are_used(own: str | None) -> None:
    silent(offchain(free_orchestrator(host='"edge"', gpus="[0]", transcoding=own)))


def test_gpus_of_models_are_used_although_others_transcode() -> None:
    orch = free_orchestrator(
        host='"edge"', mode='"dual"', secret=SECRET, gpus="[0]", transcoding='"remote"', models='[{ use = "m" }]'
    )
    silent(offchain(orch, transcoder(), model("m")))
