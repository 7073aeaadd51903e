"""A slot does not say which of several GPUs it uses.

Why: such a slot sees all GPUs and uses the first, so several slots crowd on one. fleetc only checks whether they fit on
all GPUs together.

Example:

    [hosts.gpu]
    gpus = [{ model = "RTX 4090" }, { model = "RTX 4090" }]

    [avatars.stage]
    host = "gpu"
    slots = [{ avatar = "mira" }, { avatar = "noor" }]

Instead:

    [avatars.stage]
    host = "gpu"
    slots = [{ avatar = "mira", gpu = 0 }, { avatar = "noor", gpu = 1 }]
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language import effective_avatar
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic, Label, warning


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at hosts that list several GPUs; one warning for each stack."""
    for stack in fleet.stacks:
        count = len(fleet.hosts[stack.settings.host].gpus)
        silent = [slot for slot in effective_avatar.slots_of(fleet, stack) if slot.gpu_origin.kind == "default"]
        if count < 2 or not silent:
            continue
        others = len(silent) - 1
        more = f" (and {others} more slot{'' if others == 1 else 's'})" if others else ""
        yield warning(
            "slot-gpu-unsaid",
            f"slot {silent[0].number} of {stack.name}{more} names no GPU, but host {stack.settings.host} has {count}",
            Label(silent[0].path, silent[0].avatar),
            [Label(("hosts", stack.settings.host, "gpus"), "the GPUs of the host, counted from 0")],
            'write gpu = 0 for a slot, or for all of them in the table; gpu = "all" confirms that you mean it',
        )
