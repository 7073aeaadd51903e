"""A payments service that the allowlists leave out."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, flagged, silent, staged

CODE = "payments-not-allowed"

REGISTRATION = '{ id = "stage-1", address = "0x1111111111111111111111111111111111111111" }'


def test_address_on_no_allowlist(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(allow='["198.51.100.7"]')), CODE) == snapshot


def test_network_that_runners_cannot_compare(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(allow='["203.0.112.0/23"]'))
    assert flagged(text, CODE) == snapshot


def test_narrow_network_with_the_address_is_fine() -> None:
    silent(staged(avatars(allow='["203.0.113.88/29"]')))


def test_word_without_addresses(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(payments=None)), CODE) == snapshot


def test_registration_without_payments() -> None:
    text = staged(avatars(payments=None, allow='["198.51.100.7"]', registration=REGISTRATION))
    assert "registers with the payments service" in flagged(text, CODE)
    silent(staged(avatars(registration=REGISTRATION)))


def test_stack_that_names_no_payments_service_is_a_warning(snapshot: SnapshotAssertion) -> None:
    assert flagged(staged(avatars(payments=None, allow='["198.51.100.7"]')), CODE, Severity.WARNING) == snapshot
