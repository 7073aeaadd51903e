"""A signer has a setting that the node never reads, because of what the signer does or lacks.

Why: without a webhook its headers are unused, and payments are unchecked. A signer only pays for live AI video and live
runners: a cap for another pipeline has no effect, and max_price applies.

Example:

    [remote_signers.signer]
    auth_webhook_headers = { host_file = "/etc/livepeer/webhook-headers" }

Instead:

    [remote_signers.signer]
    auth_webhook = "https://accounts.example.net/signer"
    auth_webhook_headers = { host_file = "/etc/livepeer/webhook-headers" }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet
from fleetc.language.signing import SIGNED_PIPELINE
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at all signers."""
    for name, signer in sorted(fleet.remote_signers.items()):
        path: Path = ("remote_signers", name)
        if signer.auth_webhook_headers is not None and signer.auth_webhook is None:
            yield warning(
                "signer-setting-unused",
                f"signer {name} has headers for a webhook, and no webhook",
                Label((*path, "auth_webhook_headers")),
                help='write auth_webhook = "https://accounts.example.net/signer" as well, or remove it',
            )
        for work in signer.max_model_prices:
            model = fleet.models.get(work)
            pipeline = work if model is None else model.pipeline
            if pipeline != SIGNED_PIPELINE:
                yield warning(
                    "signer-setting-unused",
                    f"signer {name} has a cap for {pipeline}, and only pays for {SIGNED_PIPELINE} and live runners",
                    Label((*path, "max_model_prices", work)),
                    help="remove it; gateways that buy it need a wallet of their own",
                )
