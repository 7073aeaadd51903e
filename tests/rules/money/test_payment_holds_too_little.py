"""Requests that cost more than one payment can hold."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from fleetc.places.diagnostic import Severity
from tests.rules.support import SECRET, flagged, gateway, model, onchain, orchestrator, printed, signer, silent

CODE = "payment-holds-too-little"
SELLER = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "ai_registry": "true", "secret": SECRET}
LIVE = {"pipeline": '"live-video-to-video"', "id": '"noop"'}


def _image(price: str, buyer: str = "", **settings: str) -> str:
    listing = buyer or gateway(mode='"ai"', orchestrators='["orch"]')
    return onchain(model(price=f'"{price}"'), listing, orchestrator(**{**SELLER, **settings}))


def _live(price: str, buyer: str = "", **settings: str) -> str:
    listing = buyer or gateway(mode='"ai"', orchestrators='["orch"]')
    return onchain(model(price=f'"{price}"', **LIVE), listing, orchestrator(**{**SELLER, **settings}))


def test_image_at_a_common_price(snapshot: SnapshotAssertion) -> None:
    assert flagged(_image("12882811 wei / pixel"), CODE, Severity.WARNING) == snapshot


def test_what_the_help_says_is_enough() -> None:
    assert 'ticket_ev = "23 gwei"' in flagged(_image("12882811 wei / pixel"), CODE, Severity.WARNING)
    silent(_image("12882811 wei / pixel", ticket_ev='"23 gwei"'))


def test_the_last_thousandth_of_a_wei_counts() -> None:
    plain = {"auto_adjust_price": "false"}
    silent(_image("4577636 wei / pixel", **plain))  # 4800 gwei / 1048576
    assert flagged(_image("4577637 wei / pixel", **plain), CODE, Severity.WARNING)
    silent(_image("4487879 wei / pixel"))  # with 2 percent for redeeming tickets
    assert flagged(_image("4487880 wei / pixel"), CODE, Severity.WARNING)


def test_live_video_is_an_error_at_its_bare_price(snapshot: SnapshotAssertion) -> None:
    assert flagged(_live("2894 wei / pixel"), CODE) == snapshot
    assert flagged(_live("2893 wei / pixel"), CODE, Severity.WARNING)
    silent(_live("2893 wei / pixel", auto_adjust_price="false"))
    assert flagged(_live("2894 wei / pixel", gateway(mode='"ai"', discovery='"ai-registry"')), CODE, Severity.WARNING)


def test_signer_makes_100_tickets() -> None:
    behind = gateway(mode='"ai"', wallet=None, orchestrators='["orch"]', remote_signer='{ signer = "signer" }')
    text = _live("483 wei / pixel", behind, auto_adjust_price="false") + signer(max_price='"any"')
    assert "one payment of gate holds only 800 gwei" in printed(text, CODE)
    assert 'ticket_ev = "8.1 gwei"' in printed(text, CODE)
    assert printed(text.replace("483 wei", "482 wei"), CODE) == "no problems\n"


def test_bound_of_the_payer_is_in_the_way() -> None:
    text = _image("30000000 wei / pixel", max_face_value='"0.003 ETH"')
    found = flagged(text, CODE, Severity.WARNING)
    assert 'write ticket_ev = "54 gwei" for orch, and raise tickets.max_total_ev of gate to "33000 gwei"' in found
    rich = gateway(mode='"ai"', orchestrators='["orch"]', tickets='{ max_total_ev = "33000 gwei" }')
    silent(_image("30000000 wei / pixel", rich, ticket_ev='"54 gwei"'))


def test_other_pipelines_have_no_common_size() -> None:
    silent(_image("12882811 wei / pixel").replace("text-to-image", "audio-to-text"))


def test_both_problems_are_said_at_once_where_the_cap_is_too_low_as_well() -> None:
    low = gateway(mode='"ai"', orchestrators='["orch"]', max_price='"1500 wei / pixel"')
    text = _image("12882811 wei / pixel", low)
    assert 'ticket_ev = "23 gwei"' in flagged(text, CODE, Severity.WARNING)
    assert flagged(text, "gateway-price-admits-nobody")
    assert flagged(_live("2894 wei / pixel", low), CODE, Severity.WARNING)  # nothing is bought, so nothing is certain


def test_a_payer_with_default_settings_stands_where_nobody_asks() -> None:
    image = onchain(model(price='"12882811 wei / pixel"'), orchestrator(**SELLER))
    found = flagged(image, CODE, Severity.WARNING)
    assert "but one payment of a gateway with default settings holds only 4800 gwei" in found
    assert 'ticket_ev = "23 gwei"' in found
    silent(image.replace("[orchestrators.orch]", '[orchestrators.orch]\nticket_ev = "23 gwei"'))
    live = onchain(model(price='"483 wei / pixel"', **LIVE), orchestrator(**SELLER, auto_adjust_price="false"))
    assert "but one payment of a signer with default settings holds only 800 gwei" in printed(live, CODE)
    silent(live.replace("483 wei", "482 wei"))


def test_no_help_proposes_what_a_payer_with_default_settings_refuses() -> None:
    dear = onchain(model(price='"30000000 wei / pixel"'), orchestrator(**SELLER))
    assert "no ticket_ev that payers with default settings accept is enough" in flagged(dear, CODE, Severity.WARNING)
