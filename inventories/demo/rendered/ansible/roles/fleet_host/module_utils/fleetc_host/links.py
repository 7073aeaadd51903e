"""The links through which a node's unit and its secrets are read."""

from __future__ import annotations

import os
import shutil
import time

from .places import CURRENT, SECRETS, STATE, UNITS
from .releases import unit_of
from .system import link, note, remove


def link_secrets(node: str) -> None:
    """Make the place where a node reads its secrets lead through its link; nothing is there for one without any."""
    path = "%s/%s" % (SECRETS, node)
    if os.path.isdir(path) and not os.path.islink(path):
        os.rename(path, "%s/.old-%s" % (SECRETS, node))
    if os.path.isdir("%s/%s/secrets" % (CURRENT, node)):
        os.makedirs(SECRETS, mode=0o700, exist_ok=True)
        link("%s/%s/secrets" % (CURRENT, node), path)
    else:
        remove(path)
    remove("%s/.old-%s" % (SECRETS, node))


def link_unit(node: str) -> None:
    """Make systemd read a node's unit through its link, now and at boot, and put additions to it aside."""
    name = unit_of(node) + ".service"
    for place in (UNITS, "/run/systemd/system"):
        additions = "%s/%s.d" % (place, name)
        if os.path.lexists(additions):
            aside = "%s/set-aside/%s.d-%d" % (STATE, name, time.time_ns())
            os.makedirs(os.path.dirname(aside), mode=0o700, exist_ok=True)
            shutil.move(additions, aside)
            note("set-aside", path=additions, to=aside)
    link("%s/%s/%s" % (CURRENT, node, name), "%s/%s" % (UNITS, name))
    link("../" + name, "%s/multi-user.target.wants/%s" % (UNITS, name))
