"""Keccak-256 as Ethereum uses it (the padding from before SHA-3 was fixed, which `hashlib` does not offer).

In: bytes. Out: a 32-byte digest. Called by `language/quantities/addresses.py` for address checksums (EIP-55).
"""

from __future__ import annotations

_MASK = (1 << 64) - 1
_RATE = 136  # bytes taken in per permutation: 200 less twice the digest


def _round_constants() -> tuple[int, ...]:
    """The 24 constants of the iota step, from a shift register (FIPS 202, 3.2.5)."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for power in range(7):
            if register & 1:
                constant |= 1 << ((1 << power) - 1)
            register <<= 1
            if register & 0x100:
                register ^= 0x171
        constants.append(constant)
    return tuple(constants)


def _lane_moves() -> tuple[tuple[int, int, int], ...]:
    """For rho and pi together, per lane: where it comes from, where it goes, and its left rotation."""
    moves, x, y = [(0, 0, 0)], 1, 0
    for step in range(24):
        to_x, to_y = y, (2 * x + 3 * y) % 5
        moves.append((x + 5 * y, to_x + 5 * to_y, (step + 1) * (step + 2) // 2 % 64))
        x, y = to_x, to_y
    return tuple(moves)


_CONSTANTS = _round_constants()
_MOVES = _lane_moves()


def _permute(lanes: list[int]) -> list[int]:
    """Keccak-f[1600] on 25 lanes of 64 bits, lane x + 5 * y."""
    for constant in _CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        mixes = []
        for x in range(5):
            beside = columns[(x + 1) % 5]
            mixes.append(columns[x - 1] ^ (beside << 1 & _MASK | beside >> 63))
        moved = [0] * 25
        for source, target, turn in _MOVES:
            lane = lanes[source] ^ mixes[source % 5]
            moved[target] = (lane << turn | lane >> (64 - turn)) & _MASK
        lanes = []
        for y in (0, 5, 10, 15, 20):
            a, b, c, d, e = moved[y : y + 5]
            lanes += (a ^ ~b & c, b ^ ~c & d, c ^ ~d & e, d ^ ~e & a, e ^ ~a & b)
        lanes[0] ^= constant
    return lanes


def keccak256(data: bytes) -> bytes:
    """The digest of some bytes."""
    padded = bytearray(data) + bytes(_RATE - len(data) % _RATE)
    padded[len(data)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [0] * 25
    for block in range(0, len(padded), _RATE):
        for index in range(_RATE // 8):
            start = block + 8 * index
            lanes[index] ^= int.from_bytes(padded[start : start + 8], "little")
        lanes = _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
