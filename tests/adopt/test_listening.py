"""What adopting says of who reaches the listeners of a node."""

from __future__ import annotations

import pytest

from fleetc.adopt.adoption import adopt
from fleetc.toml.document import Source


@pytest.mark.parametrize("address", ["10.8.0.20", "172.16.0.4", "192.168.1.40", "[fd00::7]", "203.0.113.9"])
def test_a_listener_that_others_reach_is_not_called_public(address: str) -> None:
    """The node treats a private address as it does any other that is not on loopback."""
    command = (
        f"livepeer -gateway -network offchain -orchAddr o.example.net:8935 -httpAddr {address}:8935 "
        f"-cliAddr {address}:5935 -dataDir /srv/d"
    )
    found = adopt([Source("gate.sh", command)])
    told = {one.code: one.message for one in found.diagnostics}
    assert told["adopt-ingest-off"] == (
        "HTTP ingest is off: no webhook admits streams, and the listener is not on loopback"
    )
    assert told["adopt-listener-exposed"] == (
        "others than the host itself reach the administration listener, and it asks nobody for a password"
    )
    assert "public" not in found.text + " ".join(told.values())
