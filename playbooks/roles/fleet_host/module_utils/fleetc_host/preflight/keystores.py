"""Checks of keystores and their passwords, without showing either.

In: a need, and what is asked. Out: findings.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator

from ..keccak import keccak256
from ..places import Json
from ..system import names_in, read, read_json
from .asked import MEGABYTE, Asked, Finding
from .files import can, check_file, open_to_all, owner_of

_one_key_at_a_time = threading.Lock()


def check_password_file(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a file holds a password: of an empty or a missing one, the node takes the path for the password."""
    path = need["subject"]
    if not os.path.isfile(path):
        yield "password-file-not-empty", "there is no file %s, which must hold the password of the account" % path
        return
    text = read(path) or b""
    if not text.strip():
        yield "password-file-not-empty", "%s is empty: the node would take the path itself for the password" % path
    elif text.endswith(b"\n"):
        yield "password-file-newline", "%s ends in a newline, which the node does not take for the password" % path
    yield from check_file(need, asked)
    yield from open_to_all(path)


def check_keystore(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a keystore has the key of the account, for the node, and the password opens it."""
    path, account = need["subject"], need["account"].lower()[2:]
    if not os.path.isdir(path):
        is_file = os.path.exists(path)
        code = "keystore-is-a-directory" if is_file else "keystore-holds-account"
        yield (
            code,
            "%s %s; it must be a directory with the key file of 0x%s"
            % (
                path,
                "is a file" if is_file else "is not there",
                account,
            ),
        )
        return
    keys = {name: key_in("%s/%s" % (path, name)) for name in names_in(path)}
    mine = sorted(name for name, key in keys.items() if key.get("address") == account)
    if not mine:
        others = ", ".join(sorted("0x" + key["address"] for key in keys.values() if key.get("address"))) or "no account"
        message = "%s has no key file of 0x%s, but of %s: the node would make a new account"
        yield "keystore-holds-account", message % (path, account, others)
        return
    file = "%s/%s" % (path, mine[0])
    if not can(asked.reader, "r", file):
        yield "file-unreadable", "%s cannot be read by %s, as which nodes run here" % (file, owner_of(asked))
    yield from open_to_all(file)
    password = password_of(need, asked)
    if password and opens(keys[mine[0]], password) is False:
        yield "password-opens-key", "the password from %s does not open %s" % (need["password"], file)


def key_in(path: str) -> Json:
    """A key file with its address in lower case, without 0x; {} for any other file."""
    found = read_json(path) if os.path.isfile(path) and os.path.getsize(path) < MEGABYTE else None
    address = (found or {}).get("address")
    if found is None or not isinstance(address, str):
        return {}
    address = address.lower()
    return {**found, "address": address[2:] if address.startswith("0x") else address}


def password_of(need: Json, asked: Asked) -> bytes:
    """The password of an account as the node reads it; b"" where it is not known here."""
    kind = str(need.get("password_kind", ""))
    if kind == "host_file":
        return (read(need["password"]) or b"").strip()
    return str(asked.values.get(kind, {}).get(need.get("password"), "")).encode()


def opens(key: Json, password: bytes) -> bool | None:
    """Whether a password opens a key file; None where that cannot be told, such as for an unknown form of file."""
    try:
        crypto = key.get("crypto") or key["Crypto"]
        given, salt = crypto["kdfparams"], bytes.fromhex(crypto["kdfparams"]["salt"])
        with _one_key_at_a_time:  # one takes 256 MB
            if crypto["kdf"] == "scrypt":
                cost, size = int(given["n"]), int(given["r"])
                if cost > 2**20 or size > 32:
                    return None
                room = 128 * cost * size + 64 * MEGABYTE
                made = hashlib.scrypt(
                    password, salt=salt, n=cost, r=size, p=int(given["p"]), dklen=int(given["dklen"]), maxmem=room
                )
            elif crypto["kdf"] == "pbkdf2" and given["prf"] == "hmac-sha256" and int(given["c"]) <= 2**22:
                made = hashlib.pbkdf2_hmac("sha256", password, salt, int(given["c"]), int(given["dklen"]))
            else:
                return None
        return keccak256(made[16:32] + bytes.fromhex(crypto["ciphertext"])).hex() == str(crypto["mac"]).lower()
    except (KeyError, TypeError, ValueError, AttributeError, MemoryError):
        return None
