"""GPUs that share a UUID."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import flagged, free_orchestrator, host, offchain, silent

CODE = "gpu-uuid-used-twice"
ONE, OTHER = "GPU-8a56a4bc-e184-4b6e-bb5e-c4d1b6b1b5f4", "GPU-1f0c7d52-93a8-4c1e-8a4e-2f6f0b7d9c31"


def _fleet(first: str, second: str) -> str:
    gpus = ", ".join(f'{{ model = "RTX 4090", uuid = "{uuid}" }}' for uuid in (first, second))
    return offchain(free_orchestrator(), host("box", gpus=f"[{gpus}]"))


def test_a_copied_entry(snapshot: SnapshotAssertion) -> None:
    assert flagged(_fleet(ONE, ONE), CODE) == snapshot
    silent(_fleet(ONE, OTHER))
