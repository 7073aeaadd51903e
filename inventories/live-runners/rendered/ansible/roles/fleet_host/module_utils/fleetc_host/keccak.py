"""Keccak-256, as key files and contracts use it: hashlib has only its later form, with other padding.

In: bytes. Out: 32 bytes.
"""

from __future__ import annotations


def keccak256(data: bytes) -> bytes:
    """The digest of some bytes, 32 bytes long."""
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
