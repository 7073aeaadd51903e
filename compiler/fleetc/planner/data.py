"""What a host runs, and the steps from that to what it shall run, as plain values.

In: nothing; made by the other files of this folder, and of what hosts said. Out: `HostState`, `Step`.
"""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN, RECORDED, OBSERVED = "unknown", "recorded", "observed"
"""How much is known about a host: nothing, what a rolled-out tree says, or what the host itself said."""


@dataclass(frozen=True, slots=True)
class ProcessState:
    """What a host has of one node, or of one unit of its avatar stack: avatar/firewall, avatar/host, avatar/turn and
    avatar/slot-NN.

    `digest` is that of the files it was started from, "" when its host does not say. `running` is None where nobody
    looked; of a stack it says whether there are containers, since one that sleeps is left asleep. Only a slot has a
    Compose `project`, and in `turn` the digest of the settings of TURN that it was started with. `secrets` tells where
    its secrets are read, such as "LP_ETHURL env RPC_URL"; None where nobody says. In the words of its host,
    `drift` is how it differs from what it was started from, `unlinked` what keeps it from starting at boot, `was_set`
    the settings that it was given since, `ill` what keeps it from its work, and `unanswered` what it does not say.
    `live` and `silent` are the settings that it has and takes while it runs, such as "maxSessions=8"; nobody can ask
    for those that are silent. `rest` is the digest of its files without them, "" where it is not known. `exclusive` is
    what only one process of the fleet may do at a time.
    One that is `taken` was started by people, and is as good as its node; no release has reached it yet.
    """

    node: str
    digest: str
    runtime: str
    running: bool | None
    project: str = ""
    turn: str = ""
    secrets: str | None = None
    drift: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    was_set: tuple[str, ...] = ()
    ill: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    rest: str = ""
    live: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    exclusive: tuple[str, ...] = ()
    taken: bool = False

    @property
    def against(self) -> tuple[str, ...]:
        """All that its host says against it, in words, the gravest first."""
        stopped = ("it does not run",) if self.running is False else ()
        return stopped + self.drift + self.unlinked + self.was_set + self.ill + self.unanswered


@dataclass(frozen=True, slots=True)
class HostState:
    """What a host runs, as far as it is `known`: UNKNOWN, RECORDED or OBSERVED.

    `release` is the digest that the link to the current release leads to, "" without one. `processes` are sorted by
    node and project. `note` says why nothing is known.
    """

    host: str
    known: str
    release: str = ""
    processes: tuple[ProcessState, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step on a host. `do` is one of:

    - copy: bring the release `digest` to the host and make it the current one; node is "";
    - retire: stop `node`, which has no place on the host any more, or a slot that gives up its ports;
    - start, restart: run `node` from files with `digest`; `reason` says why;
    - live: set on `node` what changes, while it runs, and give it files with `digest`: no session drops;
    - halt: nothing, as `node` would have to be restarted for a setting and the spec does not allow it;
    - keep: the release, or `node`, is already what it should be;
    - ensure: the state of the host is unknown, or `node` reads its secrets elsewhere: whatever of these it takes;
    - ill: nothing, as `node` is not well and no step helps; `reason` says why;
    - unknown: nothing, as `node` does not answer; or its host left the spec, and only a journal that is not here can
      tell whether it retires `node`.
    """

    do: str
    node: str
    digest: str
    reason: str = ""


UNHELPED = {"ill": "{} is not well", "unknown": "whether {} is as reviewed is unknown"}
"""Steps on a node that no rollout helps, in words."""


def unhelped(do: str, node: str, reason: str) -> str:
    """What a rollout leaves as it is, with the reason."""
    return f"{UNHELPED[do].format(node)}: {reason}"
