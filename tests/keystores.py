"""Key files as wallets write them, for hosts of tests. Their keys are cheap to make, and nobody owns them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fleetc.text.keccak import keccak256


def key_file(address: str, password: bytes, kdf: str = "scrypt") -> bytes:
    """A key file as wallets write it, whose key is cheap to make."""
    salt, ciphertext = b"salt" * 8, b"k" * 32
    if kdf == "scrypt":
        parameters: dict[str, Any] = {"n": 2, "r": 8, "p": 1, "dklen": 32}
        made = hashlib.scrypt(password, salt=salt, n=2, r=8, p=1, dklen=32)
    else:
        parameters = {"c": 2, "prf": "hmac-sha256", "dklen": 32}
        made = hashlib.pbkdf2_hmac("sha256", password, salt, 2, 32)
    crypto = {"kdf": kdf, "kdfparams": {**parameters, "salt": salt.hex()}, "ciphertext": ciphertext.hex()}
    crypto["mac"] = keccak256(made[16:] + ciphertext).hex()
    return json.dumps({"address": address.lower()[2:], "crypto": crypto, "version": 3}).encode()
