"""The links through which a node's unit and its secrets are read.

In: a node. Out: nothing; its links lead through that to its release then.
"""

from __future__ import annotations

import os
import shutil
import time

from .places import CURRENT, RUN, SECRETS, STATE, UNITS
from .processes import processes_of_units
from .releases import unit_of
from .system import link, note, remove


def link_secrets(node: str) -> None:
    """Make the place where a node reads its secrets lead through its link; nothing is there for one without any."""
    path = "%s/%s" % (SECRETS, node)
    if os.path.isdir("%s/%s/secrets" % (CURRENT, node)):
        os.makedirs(SECRETS, mode=0o700, exist_ok=True)
        link("%s/%s/secrets" % (CURRENT, node), path)
    else:
        remove(path)


def set_aside(path: str, name: str) -> None:
    """Move an addition to a unit to where systemd does not read it. Nothing is lost."""
    aside = "%s/set-aside/%s-%d" % (STATE, name, time.time_ns())
    os.makedirs(os.path.dirname(aside), mode=0o700, exist_ok=True)
    shutil.move(path, aside)
    note("set-aside", path=path, to=aside)


def links_of_unit(node: str) -> dict[str, str]:
    """The links through which systemd has a node's unit, now and at boot, with what each leads to."""
    name = unit_of(node) + ".service"
    wants = "%s/multi-user.target.wants/%s" % (UNITS, name)
    return {"%s/%s" % (UNITS, name): "%s/%s/%s" % (CURRENT, node, name), wants: "../" + name}


def unlinked(node: str) -> list[str]:
    """Which of these links is gone, in words: `systemctl disable` removes both."""
    gone = [path for path in links_of_unit(node) if not os.path.lexists(path)]
    return ["its unit is disabled: the link %s is gone" % gone[0]] if gone else []


def link_unit(node: str) -> None:
    """Make systemd read a node's unit through its link, now and at boot, and put additions to it aside."""
    name = unit_of(node) + ".service"
    for place in (UNITS, RUN + "/systemd/system"):
        additions = "%s/%s.d" % (place, name)
        if os.path.lexists(additions):
            set_aside(additions, "%s.d" % name)
    for path in processes_of_units([node]).get(node, {}).get("dropins", ()):  # systemd reads other places too
        if os.path.lexists(path):
            set_aside(path, os.path.basename(path))
    for path, target in links_of_unit(node).items():
        link(target, path)
