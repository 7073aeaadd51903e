"""Takes over a stack that the role of an older fleetc set up.

In: a directory of files. Out: what a release wants of such a stack, or None.
"""

from __future__ import annotations

import os

from ..places import STACK_MARKERS, Json, RefusedError
from ..system import hexdigest, names_in, read, write
from .parts import HOST_COMPOSE, HOST_PROJECT, HOST_SERVICES, containers_of, marker_of, markers_of, settings_in


def take_over_stack(directory: str) -> Json | None:
    """The stack that the role of an older fleetc started from the files in a directory.

    The way back needs it, and the role left nothing but files and markers. The secrets are put beside the files. None
    where there is no stack, and where what it was started from is not exactly what is found, such as after a start that
    broke off: it is left as it is then.
    """
    markers = {name: marker_of(name) for name in names_in(STACK_MARKERS)}
    slots = sorted(name for name in markers if name.startswith("slot-"))
    first = settings_in("%s/slots/%s.env" % (directory, slots[0].partition(".")[0])) if slots else {}
    checkout = os.path.dirname(first.get("COMPOSE_FILE", "").partition(":")[0])
    try:
        there = [one["service"] for one in containers_of(HOST_PROJECT)] if slots else []
    except RefusedError:
        return None
    secrets = {file: secrets_in_checkout(directory, checkout, file) for file in ("host", "turn")}
    stack = {
        "checkout": checkout,
        "steered": "EDGE_CONFIG_URL" in settings_in(directory + "/host.env"),
        "services": [name for name in HOST_SERVICES if name in there],
        "host_compose": HOST_COMPOSE if os.path.exists("%s/%s" % (directory, HOST_COMPOSE)) else "",
        "digests": digests_of_stack(directory),
        "reserved_ports": markers.pop("reserved", ""),
        "slots": [slot_at(directory, name) for name in slots],
    }
    known = len(slots) == len([name for name in names_in(directory + "/slots") if name.endswith(".env")])
    if not slots or not known or markers_of(stack, secrets["host"], secrets["turn"]) != markers:
        return None
    for file, lines in secrets.items():
        if lines:
            os.makedirs(directory + "/secrets", mode=0o700, exist_ok=True)
            write("%s/secrets/%s.env" % (directory, file), lines, 0o600)
    return stack


def slot_at(directory: str, marker: str) -> Json:
    """A slot of the role as its files say; its directories are there since it was started."""
    name, _, project = marker.partition(".")
    files = {"environment": "env", "arguments": "compose.yaml"}
    found = {part: hexdigest(read("%s/slots/%s.%s" % (directory, name, end)) or b"") for part, end in files.items()}
    return {"name": name, "project": project, "directories": [], **found}


def digests_of_stack(directory: str) -> dict[str, str]:
    """The digests of the parts of a stack that change independently, as the compiler computes them from its files."""
    files = {"host": "host.env", "turn": "turn.env", "firewall": "nftables.conf"}
    found = {part: hexdigest(read("%s/%s" % (directory, name)) or b"") for part, name in files.items()}
    own = read("%s/%s" % (directory, HOST_COMPOSE))
    if own is not None:
        found["host"] = hexdigest(("%s %s" % (found["host"], hexdigest(own))).encode())
    return found


def secrets_in_checkout(directory: str, checkout: str, file: str) -> bytes:
    """The secret lines of an environment file of the checkout: those that no file of a release has."""
    name = {"host": ".env", "turn": ".env.turn"}[file]
    others = {"SIGNALING_EXTRA_ARGS", *settings_in("%s/%s.env" % (directory, file))}
    lines = (read("%s/%s" % (checkout, name)) or b"").splitlines(True)
    return b"".join(
        line for line in lines if b"=" in line and line.split(b"=")[0].decode(errors="replace") not in others
    )
