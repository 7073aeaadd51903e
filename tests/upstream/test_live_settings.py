"""The table of what nodes take while they run agrees with what else is known of the node."""

from __future__ import annotations

import pytest

from fleetc.blueprint.rollout import LiveValue
from fleetc.upstream import FLAGS
from fleetc.upstream.live_settings import LIVE_SETTINGS
from fleetc.upstream.metrics import metrics
from tests.support import compile_text, compiled_example

TRANSACTIONS = (
    "activateOrchestrator", "bond", "rebond", "unbond", "withdraw", "claimEarnings", "reward", "initializeRound",
    "transferTokens", "requestTokens", "signMessage", "vote", "fundDeposit", "unlock", "cancelUnlock",
    "setOrchestratorConfig",
)  # fmt: skip
ROLES = {"gateway", "orchestrator", "transcoder", "ai-worker", "remote-signer", "redeemer", "reward-caller"}


def values(example: str, node: str) -> dict[str, LiveValue]:
    """The settings of a node of an example fleet, by name."""
    blueprint = compiled_example(example).blueprint
    assert blueprint is not None
    (service,) = [service for host in blueprint.hosts for service in host.services if service.name == node]
    return {value.name: value for value in service.live}


@pytest.mark.parametrize("flag", LIVE_SETTINGS)
def test_a_setting_is_a_flag_of_roles_that_read_it_and_sends_no_transaction(flag: str) -> None:
    row = LIVE_SETTINGS[flag]
    read_by = {"reward-caller" if role == "reward" else role for role in FLAGS[flag].roles}
    assert row.roles <= (ROLES if "any" in read_by else read_by)
    assert row.since >= FLAGS[flag].since
    assert not row.path[1:].startswith(TRANSACTIONS)
    assert (row.parameter == "") == (row.document != "") and not (row.document and row.read)
    if row.read[:1] == ("/metrics",):
        assert row.metrics and row.read[1] in metrics()


def test_what_each_role_takes_on_a_chain() -> None:
    gate, orch = values("dual-onchain", "gate"), values("dual-onchain", "orch")
    assert {name for name, value in gate.items() if value.known_back} == {
        "v", "maxSessions", "maxGasPrice", "minGasPrice", "maxPricePerUnit",
    } - ({"maxGasPrice"} if gate["maxGasPrice"].value == "" else set())  # fmt: skip
    assert {name.split(" ")[0] for name, value in gate.items() if not value.known_back} >= {"maxPricePerCapability"}
    assert orch["pricePerUnit"].value == "1200"
    assert not orch["maxFaceValue"].known_back


def test_off_chain_a_price_has_no_effect_so_it_is_none() -> None:
    assert set(values("ai-split", "gate")) == {"v", "maxSessions"}
    assert "maxSessions" not in values("ai-split", "orch"), "it is auto, which panics"
    assert set(values("ai-split", "t-1")) == {"v"}, "a transcoder tells its number when it connects"


def test_a_later_release_closes_the_bounds_of_gas() -> None:
    text = compiled_example("dual-onchain").checked.sources[0].text.replace('"v0.9.1"', '"v0.9.2"')
    blueprint = compile_text(text).blueprint
    assert blueprint is not None
    for service in (service for host in blueprint.hosts for service in host.services):
        assert not {"maxGasPrice", "minGasPrice"} & {value.name for value in service.live}
