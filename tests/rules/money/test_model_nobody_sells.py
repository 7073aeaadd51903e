"""Models that nobody here can buy, whatever they would pay."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import flagged, gateway, model, onchain, orchestrator, printed, silent

CODE = "model-nobody-sells"
LIST = '["orch"]'
TWO = model() + model("other", id='"Org/Other"')
SELLER = orchestrator(mode='"dual"', models='[{ use = "realvis" }]')


def _buyer(**settings: str) -> str:
    return gateway(mode='"dual"', **{"orchestrators": LIST, **settings})


def test_model_that_no_orchestrator_offers(snapshot: SnapshotAssertion) -> None:
    assert flagged(onchain(TWO, _buyer(), SELLER), CODE, Severity.WARNING) == snapshot


def test_sound_specs_are_silent() -> None:
    both = '[{ use = "realvis" }, { use = "other" }]'
    silent(onchain(TWO, _buyer(), orchestrator(mode='"dual"', models=both)))
    # Second name of an offered model is fine.
    silent(onchain(model(), model("alias"), _buyer(), SELLER))
    # Gateway that searches may find the model outside.
    text = onchain(TWO, _buyer(max_model_prices='{ other = "9000 wei / pixel" }').replace(LIST, "[]"), SELLER)
    assert printed(text, CODE) == "no problems\n"
    # Fleet without AI gateways or orchestrators may keep spare models.
    assert printed(onchain(TWO, gateway(), SELLER), CODE) == "no problems\n"
    assert printed(onchain(TWO, _buyer(), orchestrator()), CODE) == "no problems\n"


def test_cap_for_a_model_that_the_list_lacks(snapshot: SnapshotAssertion) -> None:
    dear = orchestrator(
        "second", mode='"dual"', host='"edge"', wallet='"payer"', models='[{ use = "other" }]', http='"0.0.0.0:9000"'
    )
    caps = '{ realvis = "9000 wei / pixel", other = "9000 wei / pixel" }'
    text = onchain(TWO, _buyer(max_model_prices=caps), SELLER, dear)
    assert flagged(text, CODE, Severity.WARNING) == snapshot
    assert printed(text.replace('["orch"]', '["orch", "second"]'), CODE) == "no problems\n"
