"""What a host needs before its stack changes.

In: what a release wants of the stack. Out: nothing, or RefusedError.
"""

from __future__ import annotations

import os
import re

from ..places import NFT, Json, RefusedError
from ..system import read, run
from .checkout import content_in_checkout, in_checkout, need_source
from .parts import COMPOSE_WITH_TAGS, HOST_FILE, SLOT_FILE


def need_stack(wanted: Json, directory: str = "") -> None:
    """Refuse a host that lacks what its avatar stack needs. Changes nothing.

    `directory` has the files of the stack once they are on the disk: only they say which Compose can read them.
    """
    stack = wanted.get("stack")
    if not stack:
        return
    need_checkout(stack, wanted["host"])
    need_nftables(wanted["host"])
    need_docker(stack, wanted["host"], directory)
    for name in (HOST_FILE, SLOT_FILE):
        need_brand(stack, wanted["host"], name)


def need_nftables(host: str) -> None:
    """Refuse a host without the program that loads the rules of the packet filter."""
    if not os.path.exists(NFT):
        message = "%s has no %s, which guards the ports of the slots: install nftables" % (host, NFT)
        raise RefusedError("stack-nftables-missing", message)


def need_checkout(stack: Json, host: str) -> None:
    """Refuse a host without the checkout of the stack, or without the settings files of the game in it."""
    checkout = stack["checkout"]
    need_source(stack, host)
    missing = [name for name in (HOST_FILE, SLOT_FILE) if not in_checkout(stack, name)]
    if missing:
        message = (
            "%s has no checkout of the avatar stack at %s: %s %s not there. "
            "Clone it there, or name its directory as project_dir in the spec"
        )
        are = "is" if len(missing) == 1 else "are"
        raise RefusedError("stack-checkout-missing", message % (host, checkout, " and ".join(missing), are))
    # Docker makes a directory of a file that is to be mounted and does not exist; the game starts without its settings.
    missing = ["%s/%s" % (checkout, name) for name in stack["checkout_files"] if not in_checkout(stack, name)]
    if missing:
        message = (
            "%s has no %s, which game_files of the spec names: take a file that the checkout has, or leave the key out"
        )
        raise RefusedError("stack-game-files-missing", message % (host, " and no ".join(missing)))


def need_docker(stack: Json, host: str, directory: str) -> None:
    """Refuse a host without an engine that answers, without Compose, or with one too old for the files of slots."""
    engine = run("docker", "version", "--format", "{{ .Server.Version }}")
    if engine.status:
        message = (
            "%s has no Docker engine that answers, and the avatar stack runs in its containers: "
            "install Docker Engine with its Compose plugin and start it. docker said: %s"
        )
        raise RefusedError("stack-docker-missing", message % (host, engine.err.strip() or "nothing"))
    compose = run("docker", "compose", "version", "--short")
    if compose.status:
        message = (
            "%s has Docker without its Compose plugin, which starts the avatar stack: "
            "install the package docker-compose-plugin"
        )
        raise RefusedError("stack-compose-missing", message % host)
    # Such tags stand only in the files of slots without command port and of those beyond the public design. A Compose
    # that somebody built himself has no number.
    number = re.search(r"[0-9]+([.][0-9]+)*", compose.out)
    if number is None or not directory or tuple(map(int, number[0].split("."))) >= COMPOSE_WITH_TAGS:
        return
    names = [slot["name"] for slot in stack["slots"]]
    texts = [(name, read("%s/slots/%s.compose.yaml" % (directory, name)) or b"") for name in names]
    tagged = [name for name, text in texts if re.search(b": !(override|reset)", text)]
    if tagged:
        message = (
            "%s has Docker Compose %s, and %s %s 2.24.4 or newer to change what the checkout publishes: "
            "update the package docker-compose-plugin"
        )
        need = "needs" if len(tagged) == 1 else "need"
        raise RefusedError("stack-compose-old", message % (host, number[0], ", ".join(tagged), need))


def need_brand(stack: Json, host: str, name: str) -> None:
    """Refuse a checkout of another brand: a name that no file reads is no error to Compose."""
    tag, path = stack["prefix"] + "_SERVICE_IMAGE_TAG", "%s/%s" % (stack["checkout"], name)
    text = content_in_checkout(stack, name)
    names = re.findall("[A-Z]+_SERVICE_IMAGE_TAG", (text or b"").decode(errors="replace"))
    if tag in names or text is None:  # a release that is still to be fetched is looked at then
        return
    advice = "Set brand to that of this checkout in the spec"
    if names:
        advice = "It reads %s: set brand to %s in the spec" % (names[0], names[0].split("_")[0].lower())
    message = "%s on %s does not read %s, so its services would run latest whatever the spec says. %s"
    raise RefusedError("stack-brand-differs", message % (path, host, tag, advice))
