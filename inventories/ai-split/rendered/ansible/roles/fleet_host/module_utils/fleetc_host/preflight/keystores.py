"""Checks of keystores and their passwords, without showing either."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator

from ..places import Json
from ..system import names_in, read, read_json
from .asked import MEGABYTE, Asked, Finding
from .files import can, check_file, owner_of

_one_key_at_a_time = threading.Lock()


def check_password_file(need: Json, asked: Asked) -> Iterator[Finding]:
    """Whether a file holds a password: of an empty or a missing one, the node takes the path for the password."""
    path = need["subject"]
    if not os.path.isfile(path):
        yield "password-file-not-empty", "there is no file %s, which must hold the password of the account" % path
        return
    if not (read(path) or b"").strip():
        yield "password-file-not-empty", "%s is empty: the node would take the path itself for the password" % path
    yield from check_file(need, asked)


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


def keccak256(data: bytes) -> bytes:
    """The digest that key files are checked with; hashlib has only its later form, with other padding."""
    mask, rate = (1 << 64) - 1, 136
    padded = bytearray(data) + bytes(rate - len(data) % rate)
    padded[len(data)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [0] * 25
    for block in range(0, len(padded), rate):
        for at in range(rate // 8):
            lanes[at] ^= int.from_bytes(padded[block + 8 * at : block + 8 * at + 8], "little")
        register = 1
        for _ in range(24):
            columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
            turned = [(one << 1 & mask) | one >> 63 for one in columns]
            lanes = [lane ^ columns[(at + 4) % 5] ^ turned[(at + 1) % 5] for at, lane in enumerate(lanes)]
            moved, x, y, lane = lanes[:1] + [0] * 24, 1, 0, lanes[1]
            for step_number in range(24):
                turn = (step_number + 1) * (step_number + 2) // 2 % 64
                x, y = y, (2 * x + 3 * y) % 5
                moved[x + 5 * y], lane = ((lane << turn) | lane >> (64 - turn)) & mask, lanes[x + 5 * y]
            lanes = [
                moved[at] ^ (~moved[at - at % 5 + (at + 1) % 5] & moved[at - at % 5 + (at + 2) % 5]) for at in range(25)
            ]
            for power in range(7):
                if register & 1:
                    lanes[0] ^= 1 << ((1 << power) - 1)
                register = (register << 1) ^ (0x171 if register & 0x80 else 0)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
