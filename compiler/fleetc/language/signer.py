"""What a user may write about the helpers that hold a wallet for others: signers, redeemers and reward callers.

In: raw `remote_signers`, `redeemers` and `reward_callers` tables. Out: frozen `Signer`, `Redeemer` and `RewardCaller`
values.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from fleetc.language.fields import Address, Flag, Listener, Name, PositiveDuration, RunnerLoad, refuse, sets
from fleetc.language.gateway import Buyer, Reach
from fleetc.language.node import ChainSettings
from fleetc.language.secret_fields import HttpUrlOrSecret, Secret

_ONLY_FOR_DISCOVERY = ("orchestrators", "discovery", "selection", "report_interval")


class Signer(Buyer):
    """A remote signer holds the wallet of gateways: it signs their tickets within its caps, and can find orchestrators.

    The node compares every price with the number in max_price: for a pixel, a second or a call.
    """

    http: Listener | None = Field(
        None, description="Listener for gateways, plain HTTP; loopback by default. Anyone who can reach it can spend."
    )
    auth_webhook: HttpUrlOrSecret | None = sets(
        "remoteSignerWebhookUrl", None, "Webhook that admits the requests of gateways."
    )
    auth_webhook_headers: Secret | None = sets(
        "remoteSignerWebhookHeaders", None, "Headers sent to that webhook, as name:value,name:value."
    )
    allow_no_auth: Flag | None = sets(
        "remoteSignerAllowNoAuth", None, "Confirms that a listener beyond loopback admits everybody who can reach it."
    )
    remote_discovery: Flag | None = sets(
        "remoteDiscovery", None, "Whether it also finds orchestrators for its gateways."
    )
    buys_runners: tuple[Name, ...] = Field(
        (),
        description="Live runners that its clients must be able to buy: `check` reports those that its cap refuses. "
        "The node has no such setting.",
        examples=[["vllm"]],
    )
    runner_load: dict[Name, RunnerLoad] = Field(
        default_factory=dict,
        description="Expected average load of these live runners: open sessions, or requests in an hour. Reports "
        "compute costs and the time that the deposit lasts with it.",
        examples=[{"vllm": "2.5 sessions", "sd3": "200 requests / hour"}],
    )
    selection: Reach = Field(default_factory=Reach, description="How it queries orchestrators.")
    report_interval: PositiveDuration | None = sets(
        "liveAICapReportInterval", None, "How often to ask orchestrators for their capabilities."
    )

    @model_validator(mode="after")
    def _expects_what_it_buys(self) -> Signer:
        strange = [name for name in self.runner_load if name not in self.buys_runners]
        if strange:
            raise refuse(
                f"runner_load has {' and '.join(strange)}, which buys_runners does not list",
                f"add {' and '.join(strange)} to buys_runners, or remove the load",
            )
        return self

    @model_validator(mode="after")
    def _discovers_only_when_asked(self) -> Signer:
        useless = sorted(self.model_fields_set.intersection(_ONLY_FOR_DISCOVERY))
        if useless and not self.remote_discovery:
            raise refuse(
                f"only a signer that finds orchestrators for its gateways uses {' and '.join(useless)}",
                f"write remote_discovery = true, or remove {' and '.join(useless)}",
            )
        return self


class Redeemer(ChainSettings):
    """A redeemer turns the winning tickets of orchestrators into money on the chain."""

    http: Listener | None = Field(None, description="Listener for orchestrators, gRPC over TLS; loopback by default.")
    orchestrator_address: Address | None = sets(
        "ethOrchAddr", None, "Registered account that receives the tickets if it differs from the wallet's."
    )


class RewardCaller(ChainSettings):
    """A reward caller only calls reward for its wallet, or initializes rounds."""
