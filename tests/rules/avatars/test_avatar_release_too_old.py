"""Avatar stacks on a release that lacks what the spec uses."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, checked, flagged, silent, staged

CODE = "avatar-release-too-old"


def test_gpu_statistics_before_their_release(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(gpu_statistics_age='"10 s"'), avatar_release='"v1.3.5"')
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    silent(text.replace("v1.3.5", "v1.3.6"))


def test_remote_ops_could_be_asked_for_before_they_were_the_default() -> None:
    silent(staged(avatars(remote_ops="true"), avatar_release='"v1.3.1-beta.6"'))


def test_projects_that_may_sleep_before_slots_could() -> None:
    text = staged(avatars(power_project_prefixes='["vtuber-"]'), avatar_release='"v1.3.1-beta.3"')
    assert "does not read power_project_prefixes: it came with v1.3.1-beta.4" in flagged(text, CODE, Severity.WARNING)
    silent(text.replace("beta.3", "beta.4"))


def test_runner_token_before_its_release() -> None:
    text = staged(avatars(runner_token='{ env = "TOKEN" }'), avatar_release='"v1.3.5"')
    assert CODE in {d.code for d in checked(text).diagnostics}
    assert CODE not in {d.code for d in checked(text.replace("v1.3.5", "latest")).diagnostics}


def test_settings_file_of_the_game_before_its_release() -> None:
    text = staged(avatars(game_files='{ engine = "Engine.ini", user_settings = "Own.ini" }'), avatar_release='"v1.3.5"')
    assert "does not read game_files.engine: it came with v1.3.6" in flagged(text, CODE, Severity.WARNING)
    silent(text.replace("v1.3.5", "v1.3.6"))


def _release(text: str) -> str:
    return staged(avatars(), avatar_release=f'"{text}"')


def test_release_before_slots(snapshot: SnapshotAssertion) -> None:
    assert flagged(_release("v1.2.4"), CODE) == snapshot


def test_release_without_images(snapshot: SnapshotAssertion) -> None:
    assert flagged(_release("v1.3.1-beta.1"), CODE, Severity.WARNING) == snapshot


def test_first_release_with_images_is_fine() -> None:
    silent(_release("v1.3.1-beta.2"))
