"""What nodes read their settings from and no source has: which settings it may decide.

In: nodes. Out: the settings that are not known for that, and what people must know of each such file, once, and of each
variable that stands for flags.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from fleetc.adopt.found.words import Same, Unknown
from fleetc.adopt.node.flags import Setting
from fleetc.adopt.node.reading import Running
from fleetc.language.rows import READERS
from fleetc.upstream import FLAGS

_OF_CHAIN = frozenset({
    "maxPricePerUnit", "maxPricePerCapability", "pricePerUnit", "pricePerGateway", "pixelsPerUnit", "ticketEV",
    "maxFaceValue", "maxTicketEV", "maxTotalEV", "depositMultiplier", "autoAdjustPrice", "priceFeedAddr",
})  # fmt: skip
_OF_ACCOUNTS = frozenset({"ethUrl", "ethAcctAddr", "ethKeystorePath", "ethPassword", "ethOrchAddr", "reward"})
"""What a node reads of these does nothing off-chain."""
_GROUPS = (
    ("prices", _OF_CHAIN),
    ("the account", frozenset({"ethAcctAddr", "ethKeystorePath", "ethPassword"})),
    ("-orchSecret", frozenset({"orchSecret"})),
    ("listeners", frozenset({"cliAddr", "httpAddr", "rtmpAddr", "serviceAddr"})),
    ("the RPC address", frozenset({"ethUrl"})),
    ("the data directory", frozenset({"dataDir"})),
    ("GPUs", frozenset({"nvidia"})),
    ("-reward", frozenset({"reward"})),
)
"""What people must know first, in words."""
_NEVER = frozenset({"config", "version", "datadir", "broadcaster", "pricePerBroadcaster", "j"})
"""Second names, and what is no setting of a node."""


class Doubt(NamedTuple):
    """A file that is none of the sources, or a variable in the place of `flags`: the nodes that read it, and the
    settings that it may have. `likely` is a source of another name that may be it.
    """

    file: str
    nodes: tuple[str, ...]
    settings: tuple[str, ...]
    optional: bool
    flags: bool
    likely: str = ""

    @property
    def words(self) -> str:
        """What people must know, behind the names of the nodes."""
        there = ", if there is one," if self.optional else ""
        may = f"{self.file}{there} may set {listed(self.settings)}" + ("" if self.flags else ", and variables")
        name = posixpath.basename(self.file)
        return may + (f"; {self.likely} may be it: call it {name} to have it read" if self.likely else "")


def open_settings(one: Running) -> frozenset[str]:
    """The settings of a node that nobody knows, because something that it reads is no source: those that its command
    and its known variables leave open. Flags in a variable also win over all that stand before it.
    """
    if not one.unread:
        return frozenset()
    known = {flag for flag, setting in one.settings.items() if _sure(setting, one)}
    off = _OF_CHAIN | _OF_ACCOUNTS if "network" in known and not one.on_chain else frozenset[str]()
    read = {flag for flag, row in FLAGS.items() if READERS[one.table] & row.roles}
    return frozenset(read - known - off - _NEVER)


def _sure(setting: Setting, one: Running) -> bool:
    """Whether nothing that is no source can say otherwise of a setting."""
    variables = [file.span for file in one.unread if file.flags]
    if variables:
        place = setting.word.span
        behind = all(place.source == other.source and place.start > other.start for other in variables)
        return setting.source == "flag" and behind
    return setting.source in ("flag", "environment") or not one.process.unread


def doubts(nodes: Iterable[Running], names: dict[str, str] | None = None) -> Iterator[Doubt]:
    """What is said of each such file; `names` are those of nodes in a spec where they have others."""
    readers: dict[str, list[Running]] = {}
    needed: set[str] = set()
    variables: set[str] = set()
    for one in nodes:
        for file in one.unread:
            if file.flags and one.process.unread:
                continue  # the file may give it its value
            variables |= {file.shown} if file.flags else set()
            readers.setdefault(file.shown, []).append(one)
            needed |= set() if file.optional else {file.shown}
    for name, found in readers.items():
        settings = sorted(frozenset[str]().union(*map(open_settings, found)))
        called = dict.fromkeys((names or {}).get(one.name, one.name) for one in found)
        likely = next((file.likely for one in found for file in one.unread if file.shown == name and file.likely), "")
        yield Doubt(name, tuple(called), tuple(settings), name not in needed, name in variables, likely)


def unsure(reason: str, one: Running) -> Unknown:
    """The reason of a difference in a setting that nobody knows of a node."""
    if isinstance(reason, Unknown):
        return reason
    files = " or ".join(dict.fromkeys(file.shown for file in one.unread))
    if not reason or isinstance(reason, Same):
        return Unknown(f"{files} may set it, and no source has it")
    return Unknown(f"{reason}, unless {files} sets it")


def listed(settings: Collection[str]) -> str:
    """Settings in few words, gravest first."""
    known = set(settings)
    groups = [words for words, flags in _GROUPS if not known.isdisjoint(flags)]
    left = len(known.difference(*(flags for _, flags in _GROUPS)))
    more = [] if not left else [f"{left} more setting{'s' * (left > 1)}"]
    return ", ".join([*groups, *more])
