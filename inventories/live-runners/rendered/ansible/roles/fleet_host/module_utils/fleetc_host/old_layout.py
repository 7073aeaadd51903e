"""Takes over hosts where one link served all nodes at once.

In: nothing. Out: nothing; each node has a link of its own then, and no process was touched.
"""

from __future__ import annotations

import os
import shutil

from .links import link_secrets, link_unit
from .places import CURRENT, RECORD, RELEASES, ROOT, SECRETS, STACK_MARKERS, UNITS
from .releases import digest_of_files, finish_release, is_old_layout, unit_of
from .stack.old_layout import take_over_stack
from .steps import STACK
from .system import names_in, note, read, read_state, remove, run, sync_directory, write, write_json


def take_over_old_layout() -> None:
    """Give each node a link of its own, and put what it runs from behind it. No process is touched; may be repeated.

    The record says what the host runs before the one link goes: a way back never takes such a host for an empty one.
    """
    if is_old_layout():
        prepare_links()
        os.unlink(CURRENT)
    elif os.path.lexists(CURRENT) or not os.path.isdir(CURRENT + ".new"):
        return  # else it was killed right here, and all links are there under another name
    os.rename(CURRENT + ".new", CURRENT)
    sync_directory(ROOT)
    for node in names_in(CURRENT):
        if node != STACK:
            link_secrets(node)
            unit = unit_of(node) + ".service"
            if all(os.path.exists("%s/%s" % (place, unit)) for place in (UNITS, "%s/%s" % (CURRENT, node))):
                link_unit(node)
    run("systemctl", "daemon-reload")


def prepare_links() -> None:
    """Make a release of what the host runs, with its secrets, write down that it runs, and make a link for each node.

    These links wait beside the one that serves all nodes.
    """
    old = os.readlink(CURRENT)[len("releases/") :]
    source, release = "%s/%s" % (RELEASES, old), old.partition(".")[0] + ".0"
    nodes = [name for name in names_in(source) if name != STACK]
    note("take-over", release=release)
    new = RELEASES + "/.new"
    remove(new)
    shutil.copytree(source, new)
    for node in nodes:
        content = read("%s/%s/secrets.env" % (SECRETS, node))
        if content is not None:
            os.mkdir("%s/%s/secrets" % (new, node), 0o700)
            write("%s/%s/secrets/secrets.env" % (new, node), content, 0o600)
    services = [
        {"name": node, "unit": unit_of(node), "digest": digest_of_files("%s/%s" % (new, node)), "secrets": []}
        for node in nodes
    ]
    runtime = "docker" if any(os.path.exists("%s/%s/compose.yaml" % (new, node)) for node in nodes) else "systemd"
    stack = take_over_stack("%s/%s" % (new, STACK))
    before = {"services": services, "stack": stack, "leaves_stack": stack is None and bool(names_in(STACK_MARKERS))}
    write_json(new + "/.wanted.json", {**before, "runtime": runtime, "digest": old})
    finish_release(new, release)
    remove(CURRENT + ".new")
    os.makedirs(CURRENT + ".new")
    for node in names_in("%s/%s" % (RELEASES, release)):
        os.symlink("../releases/%s/%s" % (release, node), "%s.new/%s" % (CURRENT, node))
    sync_directory(CURRENT + ".new")
    record = read_state(RECORD) or {}
    write_json(RECORD, {**record, "release": release, "confirmed": release})
