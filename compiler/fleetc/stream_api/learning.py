"""Finds the ids of targets that were sent by spec in what the service answered after that.

In: the targets of a request, and those of the stream afterwards. Out: `Binding`s. The service keeps their order; where
the order does not fit, nothing is learnt from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleetc.stream_api.data import Binding
from fleetc.stream_api.drift import reference_of


def learn(sent: Sequence[Mapping[str, Any]], answered: Sequence[Mapping[str, Any]]) -> tuple[Binding, ...]:
    """The ids of new targets by their place, if all targets are where they were sent."""
    if len(sent) != len(answered) or not all(map(_fits, sent, answered)):
        return ()
    return tuple(
        Binding(*reference_of(row), back["id"]) for row, back in zip(sent, answered, strict=True) if "spec" in row
    )


def sent_targets(rows: Sequence[Mapping[str, Any]]) -> tuple[Binding, ...]:
    """The targets of a request that make new ones, as they are known while there is no answer."""
    return tuple(Binding(*reference_of(row), "") for row in rows if "spec" in row)


def _fits(sent: Mapping[str, Any], answered: Mapping[str, Any]) -> bool:
    same = sent["profile"] == answered["profile"] and sent.get("videoOnly", False) == answered.get("videoOnly", False)
    return same and "id" in answered and ("spec" in sent or sent["id"] == answered["id"])
