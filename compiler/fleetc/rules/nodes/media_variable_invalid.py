"""A variable for live media has a value that the node cannot use.

Why: the gateway's variables set where it listens for WHIP and WHEP. It exits at startup if the address is invalid, or
if the session limit is not a positive number.

Example:

    [gateways.gate]
    environment = { LIVE_AI_WHEP_MAX_SESSIONS = "0" }

Instead:

    [gateways.gate]
    environment = { LIVE_AI_WHEP_MAX_SESSIONS = "unlimited" }
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleetc.language import effective
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, error

_LIMIT = "LIVE_AI_WHEP_MAX_SESSIONS"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the variables of gateways; only they read them."""
    for name, gateway in sorted(fleet.gateways.items()):
        for variable, value in gateway.environment.items():
            if variable in effective.MEDIA_LISTENERS and effective.media_listener(value) is None:
                advice = f'write {variable} = ":7280", or an address with its port'
            elif variable == _LIMIT and not re.fullmatch("[1-9][0-9]{0,8}|unlimited", value):
                advice = f'write {variable} = "5", or "unlimited"'
            else:
                continue
            yield error(
                "media-variable-invalid",
                f"gateway {name} exits at startup because of the value of {variable}",
                Label(("gateways", name, "environment", variable)),
                help=advice,
            )
