"""Commands of a script or a unit that prepare its node, or bound it, and that a new unit does not run.

In: the words of commands. Out: the same as people may see them, and what is lost with them in words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from fleetc.adopt.found.words import Aside, Process, Word
from fleetc.adopt.read.bounds import OF_UNITS
from fleetc.adopt.read.shell_words import Token
from fleetc.adopt.read.shell_wrappers import WRAPPERS, base_of
from fleetc.adopt.read.showing import harmless
from fleetc.text import leaks

BY_SCRIPT = "its script also runs"
UNDER = "its script starts it with"
_PREPARES = {
    "nvidia-smi": r"-pm|-pl|-sc|-cc|-lgc|-lmc|-rgc|-rmc|-ac|-rac|-am|-c|-e|-r|-mig|-gtt|--(?:persistence-mode"
    r"|power-limit(?:=.*)?|lock-.*|reset-.*|gpu-reset|applications-clocks|compute-mode|ecc-config|multi-instance-gpu)",
    "nvidia-persistenced": "", "nvidia-settings": "-a|--assign", "modprobe": "", "swapoff": "", "swapon": "",
    "ulimit": "unlimited|[0-9]+", "umask": "[0-7]+", "sysctl": r"-p|-w|--load.*|--system|[^=]+=.*", "renice": "",
    "prlimit": "", "cpupower": "", "mount": "/.*", "ethtool": "-[A-Z].*", "tc": "", "ip": "add|replace|set",
    "tee": "/(?:proc|sys)/.*", "iptables": "-[AI]", "ip6tables": "-[AI]", "nft": "add|-f",
}  # fmt: skip
"""Programs that change a machine, or what its shell starts, until it ends, and by which of their words; "" for any."""
_OF_SHELL = ("ulimit", "umask")
"""Those that say nothing of containers."""
_BOUNDS = frozenset({"nice", "ionice", "chrt", "numactl", "taskset", "systemd-run", "timeout"})
_PLAIN = re.compile(
    r"--?[A-Za-z][a-z-]{0,30}(?:=[0-9,.]{1,20})?|[a-z][a-z0-9_.-]{0,40}|-?[0-9][0-9,:-]{0,40}"
    r"|[A-Za-z][A-Za-z0-9_.-]{0,40}=[0-9 ,]{1,30}[KMGT%]?"
)
"""A word of one of those programs that is known to be no secret."""
_OPTION = re.compile(r"-[A-Za-z]|--[a-z][a-z-]{1,30}")
_MOST = 8
_MOST_KEPT = 100
"""Commands of one text that its processes remember."""


def preparing(words: Sequence[Word]) -> str:
    """A command that prepares what its script starts, as people may see it; "" for any other."""
    program, behind = base_of(words[0].text), [word.text for word in words[1:]]
    if (by := _PREPARES.get(program)) is None or (by and not any(re.fullmatch(by, text) for text in behind)):
        return ""
    files = program == "ulimit" and behind[0] in ("-n", "-Sn", "-Hn") and behind[-1].isdecimal()
    return "" if files and int(behind[-1]) <= int(OF_UNITS["LimitNOFILE"]) else shown(words)


def writing(line: Sequence[Token], words: Sequence[Word]) -> str:
    """A command that writes into /proc or /sys, which is a setting of the machine; "" for any other."""
    for token, path in pairwise(line):
        if token.kind == "op" and token.text in (">", ">>") and path.text.startswith(("/proc/", "/sys/")):
            value = " ".join(
                word.text if harmless(word) or _PLAIN.fullmatch(word.text) else "..." for word in words[1:]
            )
            place = Word(path.text, words[0].span)
            return f"echo {value} > {path.text if harmless(place) else '...'}"
    return ""


def bounding(before: Sequence[Word]) -> str:
    """What stands before a command and bounds it, without what only starts it, such as sudo."""
    pieces: list[list[Word]] = [[]]
    for word in before:
        if base_of(word.text) in WRAPPERS:
            pieces.append([])
        pieces[-1].append(word)
    return " ".join(shown(piece) for piece in pieces if piece and base_of(piece[0].text) in _BOUNDS)


def shown(words: Sequence[Word]) -> str:
    """A command with dots for each word that may be a secret."""
    known = {*_PREPARES, *_BOUNDS, "echo"}
    program = base_of(words[0].text)
    form = _PLAIN if program in known else _OPTION
    texts = [
        leaks.shown(word.text) if harmless(word) or (form.fullmatch(word.text) and not leaks.find(word.text)) else "..."
        for word in words[1:]
    ]
    return " ".join([leaks.shown(words[0].text) if program in known or harmless(words[0]) else "...", *texts])


class Prepared(NamedTuple):
    """A command of a text that prepares what it starts, as people may see it, and the place where it stands."""

    text: str
    at: int


def prepared(processes: Sequence[Process], commands: Sequence[Prepared], parts: Sequence[range] = ()) -> list[Process]:
    """Processes of a text with what else it runs on their host. Of a page with `parts`, a command is for those that
    start in the smallest part with one around it: a page has the commands of several machines.
    """
    starts = sorted(one.span.start for one in processes)
    by_size = sorted(parts, key=len)
    around = [one for one in by_size if bisect_left(starts, one.start) < bisect_left(starts, one.stop)]
    of_part: dict[range | None, list[tuple[str, str]]] = {}
    for one in commands:
        of_part.setdefault(next((part for part in around if one.at in part), None), []).append((BY_SCRIPT, one.text))
    found = [*processes]
    for part, own in of_part.items():
        here = [part is None or one.span.start in part for one in found]
        added = iter(with_commands([one for one, inside in zip(found, here, strict=True) if inside], own))
        found = [next(added) if inside else one for one, inside in zip(found, here, strict=True)]
    return found


def with_commands(processes: Iterable[Process], commands: Iterable[tuple[str, str]]) -> list[Process]:
    """Processes of a script with what else it runs on their host."""
    added = tuple(dict.fromkeys(commands))[:_MOST_KEPT]
    of_host = tuple(one for one in added if not one[1].startswith(_OF_SHELL))
    return [one if one.login else one.beside(of_host if one.runtime == "docker" else added) for one in processes]


def lost(process: Process) -> Iterator[Aside]:
    """What runs beside a process today, and will not."""
    by: dict[str, list[str]] = {}
    for how, text in process.commands:
        by.setdefault(how, []).append(f"`{text}`" if text else "a command")
    for how, texts in by.items():
        more = f" and {len(texts) - _MOST} more commands" if len(texts) > _MOST else ""
        listed = ", ".join(texts[:_MOST]) + more
        runs = f"{how} {listed}" if how in (BY_SCRIPT, UNDER) else f"its unit also runs {listed} ({how})"
        yield Aside(
            f"{runs}, and fleetc does not", "no longer starts under" if how == UNDER else "no longer runs", listed
        )
