"""Logs for the tests: what a tally makes of some lines, lines as the node writes them, and `fleetc diagnose`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from fleetc.observe.matching import Matcher
from fleetc.observe.tally import Tally
from fleetc.upstream.messages import lookup
from fleetc.upstream.signatures import signatures
from tests.support import INVENTORIES, fleetc

SPEC = (INVENTORIES / "dual-onchain/fleet.toml").read_text("utf-8")


@cache
def matcher() -> Matcher:
    """The patterns of all signatures, built once in a process."""
    return Matcher(signatures().values())


def tally_of(*lines: str | bytes, piece: int = 1 << 20) -> Tally:
    """The tally of one log with these lines, read in pieces of a size."""
    data = b"\n".join(line.encode() if isinstance(line, str) else line for line in lines) + b"\n"
    return tally_of_pieces(data[start : start + piece] for start in range(0, len(data), piece))


def tally_of_pieces(pieces: Iterable[bytes]) -> Tally:
    """The tally of one log that comes in pieces."""
    tally = Tally(matcher(), lookup())
    tally.read("node.log", pieces)
    return tally


def glog(text: str, clock: str = "05:12:13", level: str = "I", day: str = "1123") -> str:
    """A line as the node writes it."""
    return f"{level}{day} {clock}.123456       1 broadcast.go:100] {text}"


CAPPED = glog("OrchestratorCapped", level="E")


def diagnose(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in the working directory, in a wide terminal without colour."""
    return fleetc("diagnose", *arguments, cwd=Path.cwd(), COLUMNS="200", NO_COLOR="1")


def counts(tally: Tally) -> dict[str, int]:
    """How many lines were seen of each signature."""
    return {code: seen.count for code, seen in tally.seen.items()}
