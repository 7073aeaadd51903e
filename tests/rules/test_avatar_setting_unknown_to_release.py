"""Settings that came with a later release."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from compiler.diagnostics import Severity
from tests.rules.support import avatars, checked, flagged, silent, staged

CODE = "avatar-setting-unknown-to-release"


def test_gpu_statistics_before_their_release(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(gpu_statistics_age='"10 s"'), avatar_release='"v1.3.5"')
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(text.replace("v1.3.5", "v1.3.6"))


def test_runner_token_before_its_release() -> None:
    text = staged(avatars(runner_token='{ env = "TOKEN" }'), avatar_release='"v1.3.5"')
    assert CODE in {d.code for d in checked(text).diagnostics}
    assert CODE not in {d.code for d in checked(text.replace("v1.3.5", "latest")).diagnostics}
