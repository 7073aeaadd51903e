"""GPU ids beyond the list of the host."""

from __future__ import annotations

import re

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import (
    SECRET,
    avatars,
    flagged,
    free_orchestrator,
    host,
    offchain,
    renting,
    runner,
    silent,
    staged,
    transcoder,
)

CODE = "gpu-not-on-host"
ORCH = free_orchestrator(host='"edge"', secret=SECRET)


def test_id_beyond_the_list(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(ORCH, transcoder(gpus="[0, 2]")), CODE) == snapshot


def test_sound_specs_are_silent() -> None:
    silent(offchain(ORCH, transcoder(gpus="[0, 1]")))
    # Host without a list says nothing.
    silent(offchain(host("bare"), ORCH, transcoder(host='"bare"', gpus="[7]")))


def test_runner_on_a_host_that_alone_lists_no_gpus(snapshot: SnapshotAssertion) -> None:
    text = renting(host("bare") + runner(host='"bare"', gpus='"all"'))
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(re.sub(r"^gpus = \[\n.*?^\]\n", "", text, flags=re.MULTILINE | re.DOTALL))
    silent(renting(host("bare") + runner(host='"bare"')))


def test_slot_with_a_gpu_beyond_the_list(snapshot: SnapshotAssertion) -> None:
    slots = '[{ avatar = "mira", gpu = 2 }, { avatar = "noor", gpu = 1 }]'
    assert flagged(staged(avatars(slots=slots)), CODE) == snapshot
    assert flagged(staged(avatars(gpu="7", slots="3")), CODE).count("error[") == 1
    silent(staged(avatars(host='"edge"', gpu="7")))
