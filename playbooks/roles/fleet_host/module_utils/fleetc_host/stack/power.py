"""Puts slots to sleep and wakes them, through the service of the stack that does that for everybody.

In: a Compose project. Out: whether it sleeps, or woke.
"""

from __future__ import annotations

from ..asking import tell
from ..system import note
from .parts import containers_of, is_asleep, steering


def put_to_sleep(project: str) -> bool | None:
    """Have a slot sleep; whether it does. One that does not is changed while it runs, as without it.

    None where the service has not answered: the slot may fall asleep at any time from now on, so it has to be woken.
    """
    return _ask(project, "sleep")


def wake(project: str) -> bool:
    """Have a slot wake; whether it did."""
    return bool(_ask(project, "wake"))


def _ask(project: str, action: str) -> bool | None:
    """Ask for sleep or wake, and look what came of it: the service answers at the end, and always with 200.

    None where it did not answer in time, and nothing came of it yet.
    """
    status = tell(steering(), "/power/projects/" + project, {"action": action, "reason": "rollout"})
    if status in (200, None) and is_asleep(containers_of(project)) == (action == "sleep"):
        return True
    note("power-unchanged", project=project, action=action, answer=status)
    return None if status is None else False
