"""A host can be controlled remotely, but its allowlist is empty.

Why: callers from outside upgrade the host and start and stop slots, but the list has none of them. fleetc writes the
host's own addresses into the list, so it is never empty. A control plane adds its edges. Releases before
v2026.3.1-alpha.1 read an empty list as no check: a host without the list admits anybody who reaches port 9090. Newer
releases then let in only the machine itself. What a rolling tag or the tag of a commit does is not known.

Example:

    [avatars.stage]
    slots = 2

Instead:

    [avatars.stage]
    slots = 2
    allow = ["payments"]
    payments = { addresses = ["203.0.113.90"] }
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.avatar_fields import PAYMENTS
from fleetc.language.fleet import Fleet, Stack
from fleetc.places.diagnostic import Diagnostic, Label, error

_WITHOUT_THE_LIST = {
    True: "",
    False: ", and if the host loses the list, anybody can",
    None: ", and if the host loses the list, perhaps anybody can",
}
"""What this means for a release, by whether an empty list closes it."""


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at the stacks that allow nobody; another rule reports an allowlist with a name but no address."""
    for stack in fleet.stacks:
        if effective_avatar.allowed(stack) or PAYMENTS in stack.settings.allow:
            continue
        controls = _controls(fleet, stack)
        if controls:
            edge = stack.settings.edge
            edges = " and the edges that its control plane names" if edge is not None and edge.url is not None else ""
            closes = effective_avatar.can(fleet, stack, "empty-allowlist-closes")
            place = (*stack.path, "allow") if "allow" in stack.settings.model_fields_set else stack.path
            yield error(
                "remote-control-without-allowlist",
                f"{stack.name} has {' and '.join(controls)} on and an empty allowlist: "
                f"only the host itself{edges} can use it{_WITHOUT_THE_LIST[closes]}",
                Label(place, "allows nobody", on_key=True),
                help='write allow = ["payments"] with payments = { addresses = ["203.0.113.90"] }, or turn it off: '
                + ", ".join(f"{name.replace(' ', '_')} = false" for name in controls),
            )


def _controls(fleet: Fleet, stack: Stack) -> list[str]:
    found = ["remote ops"] if stack.settings.remote_ops else []
    if effective_avatar.remote_cluster_control(fleet, stack).value:
        found.append("remote cluster control")
    return found
