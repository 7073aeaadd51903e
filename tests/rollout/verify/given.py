"""Hosts whose answers are given, for tests of everything that `fleetc verify` does with them.

In: findings by look. Out: `GivenHosts`, in whose place the command asks and judges.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from fleetc.rollout.hosts.events import Event
from fleetc.rollout.verify.data import Fact, Finding
from fleetc.rollout.verify.judge import Verdict
from tests.rollout.verify.looks import EVERY_DAY, FACTS


class GivenHosts:
    """A stand-in for hosts and the verdict on them: what is found at each look, which takes a minute.

    After the last look somebody interrupts.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks: list[tuple[Finding, ...]] = [EVERY_DAY]
        self.facts: tuple[Fact, ...] = FACTS
        self.number = -1
        self.tells = False
        """Whether hosts are heard while they are asked."""
        monkeypatch.setattr("fleetc.rollout.hosts.verify.ask_hosts", self._ask)
        monkeypatch.setattr("fleetc.rollout.verify.judge.judge", self._judge)
        monkeypatch.setattr("fleetc.online.public.ask_public", lambda urls: pytest.fail("asked for public addresses"))
        monkeypatch.setattr(time, "time", lambda: 1_795_415_400 + 60 * self.number)
        monkeypatch.setattr(time, "sleep", self._sleep)

    def _ask(self, *given: Any) -> dict[str, Any]:
        self.number += 1
        if self.tells:
            given[-1](Event("unreachable", "us-ai", "Ask", "no route"))
        return {}

    def _judge(self, *_: Any) -> Verdict:
        return Verdict(self.looks[self.number], self.facts)

    def _sleep(self, _: float) -> None:
        if self.number == len(self.looks) - 1:
            raise KeyboardInterrupt
