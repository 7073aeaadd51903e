"""Facts about the avatar stack: releases and their order, and a home for each setting and each field."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from fleetc.language.avatar import Avatars
from fleetc.language.secret_fields import SecretRef
from fleetc.upstream.avatar import ABILITIES, NEWEST_RELEASE, RELEASES, AvatarRelease, read_release, settings

IN_ORDER = [
    "v1.2.0", "v1.3.0-beta.1", "v1.3.0-beta.2", "v1.3.0-beta.10", "v1.3.0", "v1.3.1-beta.1", "v1.3.1", "v1.3.9",
    "v1.3.10", "v1.10.0", "v2.0.0", "v999.0.0", "v2026.2.28-alpha.1", "v2026.3.1-alpha.1", "v2026.3.1-alpha.2",
    "v2026.3.1-alpha.10", "v2026.3.2-alpha.1", "v2026.3.10-alpha.1", "v2026.9.30-alpha.1", "v2026.10.1-alpha.1",
    "v2027.1.1-alpha.1",
]  # fmt: skip

NO_RELEASES = [
    "", "v", "1.3.6", "V1.3.6", "v1.3", "v1.3.6.1", "v01.3.6", "v1.03.6", "v1.3.6-beta", "v1.3.6-beta.",
    "v1.3.6-beta.01", "v1.3.6-alpha.1", "v1.3.6-rc.1", "v1.3.6+build", "v1.3.6 ", " v1.3.6", "v1.3.6\n", "v1.-3.6",
    "v1.3.६", "v1000.0.0", "v2026.3.1", "v2026.3.1-beta.1", "v2026.03.1-alpha.1", "v2026.0.1-alpha.1",
    "v2026.13.1-alpha.1", "v2026.3-alpha.1",
    "v2026.3.01-alpha.1", "v2026.3.1-alpha", "v2026.3.1-alpha.1.1", "v0226.3.1-alpha.1", "latest", "sha-abc1234",
]  # fmt: skip

NO_SETTING = {
    "host": "where it runs",
    "avatar_release": "the checkout, and through it the tag of the images and what is checked",
    "brand": "the prefix of the names of settings",
    "slots": "each slot has a file of its own",
    "slots.asleep": "in the Compose file of each slot, and in host_vars",
    "slot_encode_sessions": "weighed against the GPU, no setting of the stack",
    "payments.addresses": "through allow, wherever that names payments",
    "registration.orchestrator": "its account is registration.address",
    "edge.addresses": "callers of the slots, and the address of TURN",
    "images.signaling": "in the Compose file of each slot",
    "images.game": "in the Compose file of each slot",
    "images.turn": "in the Compose file of the host",
    "docker_gateways": "callers of the host's own, in every allowlist",
    "beside": "for the checks of ports",
    "gpu": "slots.gpu for slots that name none",
    "game_command": "slots.game_command for slots that name none",
}
"""Fields that decide no setting by themselves, and what they are for."""


def test_releases_stand_in_their_order() -> None:
    releases = [read_release(text) for text in IN_ORDER]
    assert None not in releases
    shuffled = random.Random(7).sample(releases, len(releases))
    assert sorted(shuffled) == releases  # type: ignore[type-var]
    assert list(RELEASES) == sorted(RELEASES)


@pytest.mark.parametrize("text", IN_ORDER)
def test_release_is_written_as_it_is_read(text: str) -> None:
    assert str(read_release(text)) == text


@pytest.mark.parametrize("text", NO_RELEASES)
def test_other_text_is_no_release(text: str) -> None:
    assert read_release(text) is None


def test_date_form_comes_after_all_of_the_other_form() -> None:
    for release in RELEASES:
        assert release.dated == (release.stage == "alpha")
    assert max(r for r in RELEASES if not r.dated) < min(r for r in RELEASES if r.dated)
    assert str(NEWEST_RELEASE) == "v1.3.6"


_STAGES = st.sampled_from([("", 0), ("beta", 1), ("beta", 2), ("beta", 10)])


@given(st.tuples(*[st.integers(0, 30)] * 3), _STAGES, st.tuples(*[st.integers(0, 30)] * 3), _STAGES)
def test_order_is_that_of_semantic_versioning(
    one: tuple[int, int, int], first: tuple[str, int], other: tuple[int, int, int], second: tuple[str, int]
) -> None:
    """Compared number by number; a stage is below the release itself and compares by its own number."""
    a, b = AvatarRelease(one, *first), AvatarRelease(other, *second)
    expected = one < other or (one == other and bool(first[0]) and (not second[0] or first[1] < second[1]))
    assert (a < b) is expected
    assert (a == b) is (one == other and first == second)


def test_abilities_belong_to_known_releases() -> None:
    assert set(ABILITIES.values()) <= set(RELEASES)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in getattr(annotation, "__args__", ()) for model in _models(argument)]


def _fields(model: type[BaseModel], prefix: str = "") -> list[str]:
    found = []
    for name, field in model.model_fields.items():
        models = [model for model in _models(field.annotation) if model is not SecretRef]
        if models:
            found += _fields(models[0], f"{prefix}{name}.")
        if not models or name == "slots":
            found.append(prefix + name)
    return found


def test_every_field_decides_a_setting_or_says_what_else_it_is_for() -> None:
    decide = {setting.field for setting in settings().values() if setting.field}
    fields = set(_fields(Avatars))
    assert {"slots.avatar", "turn.port", "allow"} <= fields
    assert fields - decide - set(NO_SETTING) == set()
    assert decide - fields == set()
    assert set(NO_SETTING) <= fields
    assert decide & set(NO_SETTING) == set()


def test_every_setting_has_one_home() -> None:
    for setting in settings().values():
        assert bool(setting.field) != bool(setting.decided), setting.name
        assert setting.marks.strip("MPI") == "" and setting.marks, setting.name
        assert setting.since is None or setting.since in RELEASES


def test_settings_of_the_mission_have_their_names() -> None:
    names = {setting.variable("AVATAR") for setting in settings().values() if "M" in setting.marks}
    assert {
        "EXPERIMENTAL_REMOTE_OPS",
        "EXPERIMENTAL_REMOTE_CLUSTER_CONTROL",
        "AVATAR_CLI_NO_AUTO_UPDATE",
        "AVATAR_CLI_AUTO_UPGRADE_WHEN_SLEEPING",
        "AVATAR_SERVICE_IMAGE_TAG",
    } <= names
    assert settings()["SERVICE_IMAGE_TAG"].variable("EMBODY") == "EMBODY_SERVICE_IMAGE_TAG"
    assert settings()["EXPERIMENTAL_REMOTE_OPS"].variable("EMBODY") == "EXPERIMENTAL_REMOTE_OPS"
