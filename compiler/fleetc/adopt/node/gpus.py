"""Which GPUs of its host a process gets: what `--gpus`, Compose, NVIDIA's variable and -nvidia say.

In: their texts. Out: numbers of the host, or words where no source says the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fleetc.adopt.found.process import Word
from fleetc.text import leaks
from fleetc.text.encoders import visible

VISIBLE = "NVIDIA_VISIBLE_DEVICES"
"""The variable with the GPUs that the runtime of NVIDIA shows to a container."""
ALL = "all"
_MOST = 64


def numbers(text: str) -> tuple[int, ...] | None:
    """The GPUs of a list of numbers; None for any other text."""
    ids = text.split(",")
    return tuple(map(int, ids)) if all(re.fullmatch("[0-9]{1,2}", one) and int(one) < _MOST for one in ids) else None


def asked_gpus(text: str) -> tuple[str, bool]:
    """What `--gpus` asks for, and whether these are ids: `all`, a count, or `device=` with ids, beside other words."""
    ids: list[str] = []
    count, key = "", ""
    for part in re.sub("[\"']", "", text).split(","):
        named, equals, value = part.partition("=")
        key = named if equals else key
        if key == "device":
            ids.append(value if equals else part)
        elif key == "count" or not key:
            count = value or part
    return (",".join(ids), True) if ids else (count or ALL, False)


def seen_gpus(asked: tuple[str, bool] | None, variables: Mapping[str, Word], runtime: str) -> tuple[int, ...] | str:
    """The GPUs of its host that a container sees: those that it asks for, as a count or as ids, else those that its
    variable says to the runtime of NVIDIA. ALL, numbers, () for none, and words where no source says the numbers.
    """
    word = variables.get(VISIBLE)
    if asked is None and word is not None and word.holes:
        return f"its container sees those of {VISIBLE}"
    text, ids = asked or ((word.text, True) if word is not None else (ALL if runtime == "nvidia" else "none", True))
    if text in (ALL, "-1", "", "none", "void"):
        return ALL if text in (ALL, "-1") else ()
    items = numbers(text)
    if items is None:
        return f"its container sees {leaks.shown(visible(text))[:60]}; nvidia-smi -L on the host shows its number"
    return items if ids or len(items) > 1 else tuple(range(items[0]))


def of_host(sees: Sequence[int], text: str) -> list[int] | str | None:
    """The GPUs of -nvidia by their number on the host: a container that `sees` some counts those from 0, and () is all.

    None for other texts, and for numbers that the container has not.
    """
    if text == ALL:
        return list(sees) or ALL
    ids = numbers(text)
    if ids is None or (sees and max(ids) >= len(sees)):
        return None
    return [sees[one] for one in ids] if sees else list(ids)
