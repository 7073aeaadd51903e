"""Checks of secrets that are addresses, and of what has to answer.

In: a need, and what is asked. Out: findings.
"""

from __future__ import annotations

import os
import socket
import urllib.parse
from collections.abc import Iterator

from ..places import Json
from ..secret_files import masked, secret_value
from .asked import Asked, Finding, has_scheme
from .ports import holder_of, listeners, own_pids

REACH_SECONDS = 5
USUAL_PORTS = {"http": 80, "https": 443, "amqp": 5672, "amqps": 5671, "s3+http": 80, "s3+https": 443}


def check_secret(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a secret is there, and an address where it must be one. Its value is in no message."""
    kind, reference = need["kind"], need["subject"]
    if kind != "host_file" and reference not in asked.values.get(kind, {}):
        return  # nobody has given it to a preflight
    whose = ", ".join(need["nodes"]) or "the host"
    value = secret_value({"kind": kind, "reference": reference, "variable": need["variable"]}, asked.values, whose)
    if need["schemes"] and not has_scheme(value, need["schemes"]):
        message = "%s of %s, from %s %s, is not an address with %s"
        kinds = " or ".join(need["schemes"].split())
        yield "secret-addresses-well-formed", message % (need["variable"], whose, kind, reference, kinds)
    elif need["check"]:
        failure = not_reached(value)
        if failure:
            message = "the address in %s of %s does not answer: %s"
            yield need["check"], message % (need["variable"], whose, failure)


def check_reach(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether somebody listens at an address that is needed at the start; not for a program that is here already."""
    if need["installed"] and os.path.exists(need["installed"]):
        return
    failure = not_reached(need["subject"])
    if failure:
        yield need["check"], "%s does not answer: %s" % (masked(need["subject"], ()), failure)


def check_service_address(need: Json, _asked: Asked) -> Iterator[Finding]:
    """Whether the address of an orchestrator has a meaning here, where it asks itself when it starts.

    Whether it leads here shows only while a node listens, so another one is not asked.
    """
    place, code = need["subject"], "service-address-leads-here"
    parts = urllib.parse.urlsplit("//" + place)
    try:
        socket.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM)
    except OSError:
        yield code, "the name of its service address %s has no address on this host" % place
        return
    waiting = [inode for _, port, inode in listeners("tcp") if port == int(need["port"])]
    if waiting and {holder_of(inode)[0] for inode in waiting} & set(own_pids()):
        failure = not_reached(place)
        if failure:
            message = "its service address %s does not lead back to this host, where a node listens: %s"
            yield code, message % (place, failure)


def not_reached(address: str) -> str:
    """Why nobody can be reached at host:port or at a URL; "" if somebody can, or where it has no such place."""
    scheme, separator, _ = address.partition("://")
    try:
        parts = urllib.parse.urlsplit(address if separator else "//" + address)
        host, port = parts.hostname, parts.port or USUAL_PORTS.get(scheme)
        if not host or not port:
            return ""
        with socket.create_connection((host, port), timeout=REACH_SECONDS):
            return ""
    except TimeoutError:
        return "nothing within %d seconds" % REACH_SECONDS
    except OSError as failure:
        return failure.strerror or "its name has no address"
    except ValueError:
        return "it is not an address"
