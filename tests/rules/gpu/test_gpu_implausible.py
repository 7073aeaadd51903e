"""GPUs with more memory or encode sessions than their model has."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, free_gateway, free_orchestrator, host, offchain, silent

CODE = "gpu-implausible"


def _box(gpu: str) -> str:
    return offchain(host("box", gpus=f"[{{ {gpu} }}]"), free_orchestrator(), free_gateway())


def test_twice_the_memory(snapshot: SnapshotAssertion) -> None:
    assert flagged(_box('model = "RTX 4090", memory = "48 GiB"'), CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    # What the model is sold with is fine.
    silent(_box('model = "RTX 4090", memory = "24 GiB"'))
    silent(_box('model = "NVIDIA A100", memory = "80 GiB"'))
    silent(_box('model = "RTX 4090", memory = "24 GB"'))
    # Unknown models may have any memory.
    silent(_box('model = "Unheard 1", memory = "1 TiB"'))


def test_more_sessions_than_any_driver_allows() -> None:
    most = "GPU 0 of host box has 9 encode sessions in the spec, but the RTX 4090 has 8"
    assert most in flagged(_box('model = "RTX 4090", encode_sessions = 9'), CODE, Severity.WARNING)
    assert "remove encode_sessions" in flagged(_box('model = "A100", encode_sessions = 1'), CODE, Severity.WARNING)
    silent(_box('model = "RTX 4090", encode_sessions = 8'))
    silent(_box('model = "L4", encode_sessions = 100'))
