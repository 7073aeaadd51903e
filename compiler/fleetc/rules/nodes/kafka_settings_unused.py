"""The node ignores Kafka settings in the spec.

Why: the node starts Kafka only together with its metrics; without them it logs one line and publishes nothing. It logs
in and uses TLS only with both a user and a password; with one of the two it connects without login and TLS.

Example:

    [remote_signers.signer]
    kafka = { broker = "kafka.example.net:9092", topic = "events" }

Instead:

    [remote_signers.signer]
    monitor = true
    kafka = { broker = "kafka.example.net:9092", topic = "events" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.gateway import Buyer
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the gateways and remote signers with Kafka."""
    for node in fleet.nodes:
        kafka = node.settings.kafka if isinstance(node.settings, Buyer) else None
        if kafka is None:
            continue
        path = (*node.path, "kafka")
        if not node.settings.monitor:
            yield warning(
                "kafka-settings-unused",
                f"{node.name} publishes nothing to Kafka, because it serves no metrics",
                Label(path),
                help="write monitor = true",
            )
        if (kafka.user is None) != (kafka.password is None):
            missing, has = ("password", "user") if kafka.password is None else ("user", "password")
            yield warning(
                "kafka-settings-unused",
                f"{node.name} does not log in to Kafka or use TLS: it has a {has} but no {missing}",
                Label((*path, has)),
                help=f"write {missing} as well, or remove {has}",
            )
