"""Models that are sold at the base price of an orchestrator."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, ai_worker, flagged, model, onchain, orchestrator, printed

CODE = "model-price-unset"
USES = '[{ use = "realvis" }]'


def _seller(name: str = "orch", /, **settings: str | None) -> str:
    return orchestrator(name, **{"mode": '"dual"', "models": USES, "secret": SECRET, **settings})


def test_no_price_of_its_own(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(_seller(), model(price=None)), CODE, Severity.WARNING) == snapshot


def test_one_repair_for_several_orchestrators() -> None:
    text = onchain(_seller(), _seller("orch-2", cli='"127.0.0.1:7936"', service='"x.example.net:9"'), model(price=None))
    assert "so 2 orchestrators sell it at their base prices" in flagged(text, CODE, Severity.WARNING)


def test_sound_specs_are_silent() -> None:
    # A price at the model or at its use.
    assert printed(onchain(_seller(), model()), CODE) == "no problems\n"
    use = '[{ use = "realvis", price = "1200 wei / pixel" }]'
    assert printed(onchain(_seller(models=use), model(price=None)), CODE) == "no problems\n"
    # Without a base price the node does not start.
    assert printed(onchain(_seller(price='"0 wei / pixel"'), model(price=None)), CODE) == "no problems\n"


def test_a_model_of_a_worker_has_the_price_of_the_list(snapshot: SnapshotAssertion) -> None:
    """The price in its table does not reach the orchestrator, whose list lacks the model."""
    text = onchain(_seller(models=None), ai_worker(secret=SECRET), model())
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    assert printed(onchain(_seller(), ai_worker(secret=SECRET), model()), CODE) == "no problems\n"
