"""What a user may write about the helpers that hold a wallet for others: signers, redeemers and reward callers.

In: raw `remote_signers`, `redeemers` and `reward_callers` tables. Out: frozen `Signer`, `Redeemer` and `RewardCaller`
values.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic.json_schema import WithJsonSchema

from compiler.model.fields import (
    Address,
    Flag,
    HttpUrlOrSecret,
    Listener,
    Parsed,
    PositiveDuration,
    Secret,
    refuse,
)
from compiler.model.gateway import Buyer, Reach, Webhook
from compiler.model.node import ChainSettings


def _discovery(value: Any) -> str | Webhook:
    if value == "registry":
        return "registry"
    if isinstance(value, dict) and set(value) == {"webhook"}:
        return Webhook.model_validate(value)
    raise refuse(
        "a signer finds orchestrators in the registry of the chain or through a webhook",
        'write "registry" or { webhook = { env = "NAME" } }, or list them: orchestrators = ["orch-a"]',
    )


_ONLY_FOR_DISCOVERY = ("orchestrators", "discovery", "selection", "report_interval")


class Signer(Buyer):
    """A remote signer holds the wallet of gateways elsewhere: it signs their tickets, and may find orchestrators."""

    http: Listener | None = Field(
        None, description="Listener for gateways, plain HTTP; loopback by default. Whoever reaches it can spend."
    )
    webhook: HttpUrlOrSecret | None = Field(None, description="Webhook that admits the requests of gateways.")
    webhook_headers: Secret | None = Field(None, description="Headers sent to that webhook, as name:value,name:value.")
    allow_no_auth: Flag | None = Field(
        None, description="Says aloud that a listener beyond loopback admits everybody who reaches it."
    )
    remote_discovery: Flag | None = Field(None, description="Whether it also finds orchestrators for its gateways.")
    discovery: (
        Annotated[
            str | Webhook,
            Parsed(_discovery),
            WithJsonSchema(
                {
                    "anyOf": [
                        {"const": "registry"},
                        {
                            "type": "object",
                            "required": ["webhook"],
                            "additionalProperties": False,
                            "properties": {"webhook": {}},
                        },
                    ]
                }
            ),
        ]
        | None
    ) = Field(
        None, description="How it finds orchestrators without a fixed list: the registry on the chain, or a webhook."
    )
    selection: Reach = Field(default_factory=Reach, description="How it asks orchestrators.")
    report_interval: PositiveDuration | None = Field(
        None, description="How often orchestrators are asked for their capabilities."
    )

    @model_validator(mode="after")
    def _discovers_only_when_asked(self) -> Signer:
        useless = sorted(self.model_fields_set.intersection(_ONLY_FOR_DISCOVERY))
        if useless and not self.remote_discovery:
            raise refuse(
                f"only a signer that finds orchestrators for its gateways uses {' and '.join(useless)}",
                f"write remote_discovery = true, or take {' and '.join(useless)} away",
            )
        return self


class Redeemer(ChainSettings):
    """A redeemer turns the winning tickets of orchestrators into money on the chain."""

    http: Listener | None = Field(None, description="Listener for orchestrators, gRPC over TLS; loopback by default.")
    orchestrator_address: Address | None = Field(
        None, description="Registered account that receives the tickets, when it differs from the wallet's."
    )


class RewardCaller(ChainSettings):
    """A reward caller does nothing but call reward for its wallet, or initialize rounds."""
