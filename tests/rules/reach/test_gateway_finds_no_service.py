"""Lists of orchestrators that sell something else."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from tests.rules.support import (
    SECRET,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    model,
    offchain,
    onchain,
    orchestrator,
    silent,
    wallet,
)

CODE = "gateway-finds-no-service"
AI = {"mode": '"ai"', "models": '[{ use = "realvis" }]', "secret": SECRET}


def test_ai_gateway_with_video_orchestrators(snapshot: SnapshotAssertion) -> None:
    assert flagged(offchain(free_orchestrator(), free_gateway(mode='"ai"')), CODE) == snapshot


def test_one_that_serves_it_is_enough() -> None:
    silent(offchain(model(), free_orchestrator(**AI), free_gateway(mode='"ai"')))


def test_video_gateway_with_ai_orchestrators() -> None:
    assert "serves video" in flagged(offchain(model(), free_orchestrator(**AI), free_gateway()), CODE)


def test_dual_gateway_needs_both() -> None:
    assert "serves AI" in flagged(offchain(free_orchestrator(), free_gateway(mode='"dual"')), CODE)
    pair = [free_orchestrator(), free_orchestrator("ai", **AI, service='"orch.example.net:9000"', cli='"127.0.0.1:1"')]
    silent(offchain(model(), *pair, free_gateway(mode='"dual"', orchestrators='["orch", "ai"]')))


def test_orchestrators_outside_may_serve_it() -> None:
    listed = '["orch", "other.example.net:8935"]'
    silent(offchain(free_orchestrator(), free_gateway(mode='"ai"', orchestrators=listed)))


EARNER = '"0x2222222222222222222222222222222222222222"'


def _blocking(**settings: str | None) -> str:
    gate = {"orchestrators": '["orch"]', "selection": f"{{ blocked = [{EARNER}] }}", **settings}
    return onchain(gateway(**gate), orchestrator())


def test_a_gateway_that_blocks_all_whom_it_lists(snapshot: SnapshotAssertion) -> None:
    assert flagged(_blocking(), CODE) == snapshot
    silent(_blocking(selection=None))  # as the help says


def test_one_that_is_blocked_and_one_that_is_too_old() -> None:
    old = orchestrator("old", node_release='"v0.9.0"', wallet='"third"', service='"orch.example.net:9000"',
                       cli='"127.0.0.1:1"', max_sessions="1")  # fmt: skip
    gate = gateway(orchestrators='["orch", "old"]', selection=f'{{ blocked = [{EARNER}], min_release = "v0.9.1" }}')
    found = flagged(onchain(wallet(), gate, orchestrator(max_sessions="1"), old), CODE)
    assert "orch: the gateway blocks its account" in found
    assert "old: it runs an older release than the gateway accepts" in found


def test_lists_of_a_signer_count_for_its_gateways() -> None:
    signed = gateway(mode='"ai"', wallet=None, max_price=None, remote_signer='{ signer = "signer" }')
    signer = f"""
[remote_signers.signer]
host = "edge"
wallet = "payer"
http = "127.0.0.1:8936"
max_price = "any"
remote_discovery = true
orchestrators = ["orch"]
selection = {{ blocked = [{EARNER}] }}
"""
    live = {"pipeline": '"live-video-to-video"', "id": '"streamdiffusion"'}
    seller = orchestrator(mode='"ai"', models='[{ use = "realvis" }]', gpus="[0]", secret=SECRET)
    found = flagged(onchain(model(**live), signed, signer, seller), CODE)
    assert f"remove {EARNER} from blocked in selection of signer" in found


def test_an_address_that_only_people_know_is_not_blocked() -> None:
    """The node compares the account of the process, not the one that it acts for."""
    other = '"0x4444444444444444444444444444444444444444"'
    silent(onchain(gateway(orchestrators='["orch"]', selection=f"{{ blocked = [{other}] }}"),
                   orchestrator(orchestrator_address=other)))  # fmt: skip
