"""Registrations that call nobody."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import avatars, checked, flagged, silent, staged

CODE = "payments-url-unsaid"

REGISTRATION = '{ id = "stage-1", address = "0x1111111111111111111111111111111111111111" }'
PAYMENTS = '{ addresses = ["203.0.113.90"] }'


def test_registration_without_url(snapshot: SnapshotAssertion) -> None:
    text = staged(avatars(registration=REGISTRATION, payments=PAYMENTS))
    assert flagged(text, CODE, Severity.WARNING) == snapshot


def test_written_url_is_fine() -> None:
    with_url = PAYMENTS.replace(" }", ', url = "http://203.0.113.90:8081" }')
    silent(staged(avatars(registration=REGISTRATION, payments=with_url)))


def test_payments_service_without_registration_is_fine() -> None:
    silent(staged(avatars(payments=PAYMENTS)))


def test_registration_without_payments_service_is_another_finding() -> None:
    found = checked(staged(avatars(registration=REGISTRATION, payments=None))).diagnostics
    assert CODE not in {diagnostic.code for diagnostic in found}
