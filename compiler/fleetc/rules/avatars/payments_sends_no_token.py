"""A host requires a token or a signature that the payments service does not send.

Why: the payments service calls runners and recorders without a token, and remote operations without a signature. With
`runner_token` or `recordings_token` its recordings and direct commands fail, and with `ops.required` its upgrades fail.
A control plane hands out runner tokens, but it is not known whether the payments service gets them too. If yours sends
them, silence the warning.

Example:

    [avatars.stage]
    slots = 2
    allow = ["payments"]
    payments = { addresses = ["203.0.113.90"] }
    runner_token = { env = "AVATAR_RUNNER_TOKEN" }

Instead:

    [avatars.stage]
    slots = 2
    allow = ["payments"]
    payments = { addresses = ["203.0.113.90"] }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, Path, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the stacks that work for a payments service."""
    for stack in fleet.stacks:
        if stack.settings.payments is None:
            continue
        for path, what, fails in _asked(stack):
            yield warning(
                "payments-sends-no-token",
                f"{stack.name} requires {what} from callers, but the payments service sends none: {fails} fail",
                Label(path, what, on_key=True),
                [Label((*stack.path, "payments"), "the payments service", on_key=True)],
                "remove it: the allowlist still protects the host; or silence the warning if yours sends it",
            )


def _asked(stack: Stack) -> Iterator[tuple[Path, str, str]]:
    if stack.settings.runner_token is not None:
        yield (*stack.path, "runner_token"), "a runner token", "its direct commands"
    if stack.settings.recordings_token is not None:
        yield (*stack.path, "recordings_token"), "a recordings token", "its recordings"
    if stack.settings.ops is not None and stack.settings.ops.required:
        yield (*stack.path, "ops", "required"), "a signature", "its upgrades"
