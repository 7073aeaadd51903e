"""Kafka settings that the node does not use."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, onchain, printed, signer

CODE = "kafka-settings-unused"
KAFKA = 'broker = "kafka.example.net:9092", topic = "events"'


def test_events_of_a_signer_without_metrics(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(signer(kafka=f"{{ {KAFKA} }}")), CODE, Severity.WARNING) == snapshot


def test_half_a_login(snapshot: SnapshotAssertion) -> None:
    user = f'{{ {KAFKA}, user = "fleet" }}'
    password = f'{{ {KAFKA}, password = {{ env = "KAFKA_PASSWORD" }} }}'
    nodes = gateway(kafka=user, monitor="true"), signer(kafka=password, monitor="true", http='"127.0.0.1:9000"')
    assert flagged(onchain(*nodes), CODE, Severity.WARNING) == snapshot


def test_whole_login_beside_metrics() -> None:
    kafka = f'{{ {KAFKA}, user = "fleet", password = {{ env = "KAFKA_PASSWORD" }} }}'
    assert CODE not in printed(onchain(gateway(kafka=kafka, monitor="true")))
