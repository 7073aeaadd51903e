"""What a process does today: its role and its settings, and the mistakes that the node makes with them.

In: a process of a source. Out: `Running`, or None where the node stops at its start. Each word of the command line and
each line of a config file is accounted for, here or by whoever takes the setting into the spec.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from fleetc.adopt.found.ledger import Fate, Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process, Unread, Word
from fleetc.adopt.found.questions import Reason, Why
from fleetc.adopt.node import flags, secrets
from fleetc.adopt.node.flags import ROLES, Parsed, Setting, Wrong, boolean
from fleetc.adopt.node.paths import own_file
from fleetc.language.images import release_of_tag, split_image
from fleetc.language.rows import READERS, flag_called
from fleetc.text import leaks
from fleetc.text.suggestions import nearest_name
from fleetc.upstream import FLAGS, OLDEST_RELEASE, format_release

TABLES = {
    "gateway": "gateways", "orchestrator": "orchestrators", "transcoder": "transcoders", "ai-worker": "ai_workers",
    "remote-signer": "remote_signers", "redeemer": "redeemers", "reward": "reward_callers",
}  # fmt: skip
_WORKS = {"orchestrator": ("transcoder", "ai-worker")}
"""What an orchestrator does itself by two more flags."""
_CHAIN_SIGNS = ("ethUrl", "ethAcctAddr", "ethKeystorePath", "ethPassword", "pricePerUnit", "maxPricePerUnit",
                "ethOrchAddr")  # fmt: skip
OFFCHAIN = "offchain"
PATH_OR_TEXT = ("orchSecret", "ethPassword", "FVfailGskey")
"""Secrets that the node reads from a file, if their text is the path of one."""
ADDRESSES = frozenset({"ethUrl", "authWebhookUrl", "liveAIAuthWebhookUrl", "metadataQueueUri", "objectStore",
                       "orchWebhookUrl", "recordStore", "remoteSignerWebhookUrl"})  # fmt: skip
"""Settings that a spec has in clear, or as a reference where a part of them is a key."""
PRICED_FLAGS = frozenset({"maxPricePerUnit", "maxPricePerCapability", "pricePerUnit", "pricePerGateway", "ticketEV",
                           "maxFaceValue", "maxTicketEV", "maxTotalEV", "depositMultiplier", "autoAdjustPrice",
                           "priceFeedAddr", "selectRandFreq", "selectStakeWeight", "selectPriceWeight"})  # fmt: skip
NO_SETTINGS = frozenset({"config", "version", "datadir", "broadcaster", "pricePerBroadcaster", "pixelsPerUnit", "j"})
"""Second names, parts of others, and what is no setting of a node."""
_SOURCES = {"flag": "command line", "environment": "environment", "file": "config file"}
_KINDS = {
    "bool": ("true or false", "true"), "int": ("a whole number", "10"), "int64": ("a whole number", "10"),
    "float": ("a number", "0.5"), "duration": ("a time with a unit", "500ms"),
}  # fmt: skip
_MOST_SUGGESTED = 100
"""Messages behind which no flag is looked for any more that an unknown one is like."""


@dataclass
class Running:
    """A process with its role. `settings` are those in force by flag; `reasons` say why a compiled one differs.

    `runners` are the tables of its live runners, by label, `unread` what it reads settings from and no source is.
    """

    process: Process
    role: str
    settings: dict[str, Setting]
    reasons: dict[str, Reason] = field(default_factory=dict)
    name: str = ""
    host: str = ""
    runners: dict[str, str] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()

    @property
    def table(self) -> str:
        """The table of the spec that it belongs to."""
        return TABLES[self.role]

    @property
    def release(self) -> str:
        """The release that a source says: by the tag of its image, also one that fleetc does not know yet, or as fleetc
        wrote it; "" for none.
        """
        image = self.process.image
        release = release_of_tag(split_image(image.text)[0]) if image else None
        return format_release(release) if release is not None and release >= OLDEST_RELEASE else self.process.release

    @property
    def network(self) -> str:
        """The network that it names; a node without one runs off-chain."""
        return self.text("network") or OFFCHAIN

    @property
    def on_chain(self) -> bool:
        """Whether it talks to a chain."""
        return self.network != OFFCHAIN

    def text(self, flag: str) -> str:
        """The text of a flag; "" where nothing sets it."""
        return self.settings[flag].text if flag in self.settings else ""

    def on(self, flag: str) -> bool:
        """Whether a bool flag is on."""
        setting = self.settings.get(flag)
        return FLAGS[flag].default is True if setting is None else not setting.word.holes and boolean(setting.text)

    def word(self, flag: str) -> Word:
        """The text of a flag that is set, with its place."""
        return self.settings[flag].word


def is_known(one: Running, flag: str = "ethUrl") -> bool:
    """Whether a source has a value itself, and neither a variable nor a reference."""
    return bool(one.text(flag)) and not one.word(flag).holes and FLAGS[flag].env not in one.process.secrets


def open_settings(one: Running) -> frozenset[str]:
    """The settings of a node that nobody knows, because something that it reads is no source: those that its command
    and its known variables leave open. A variable in the place of flags may set each of them again.
    """
    if not one.unread:
        return frozenset()
    any_flag = any(file.flags for file in one.unread)
    of_file = {flag for flag, setting in one.settings.items() if setting.source == "file" and one.process.unread}
    known = set[str]() if any_flag else one.settings.keys() - of_file
    off = {*PRICED_FLAGS, *_CHAIN_SIGNS, "reward"} if "network" in known and not one.on_chain else set[str]()
    read = {flag for flag, row in FLAGS.items() if READERS[one.table] & row.roles}
    return frozenset(read - known - off - NO_SETTINGS)


def missing(word: Word, what: str, ledger: Ledger, optional: bool = False) -> Unread:
    """Say that a file is none of the sources which a process needs, or reads if there is one; it comes back as that."""
    known = secrets.file_name(word.text)
    name = leaks.shown(posixpath.basename(word.text)) if known == word.text else "it"
    advice, say = f"copy {name} from the host and name it too", ledger.warn
    ledger.note(word.span, known, Fate.DROPPED, f"{what} is none of the sources", "adopt-file-missing")
    if optional:
        what, say = f"{what} is optional and may set more: it", ledger.remark
        advice += "; if the host has none, name an empty file of this name"
    say("adopt-file-missing", word.span, f"{what} is none of the sources", advice)
    return Unread(word.span, known, optional)


def running(process: Process, library: Library, ledger: Ledger, otherwise: str = "") -> Running | None:
    """Read the settings of a process; one that does not say its role has the role `otherwise`."""
    parsed = flags.parse_words(process.words)
    _ignored(parsed, process, ledger)
    config, unread = _config(parsed, process, library, ledger)
    environment = flags.environment_flags(process.variables)
    wrong = [one for one in environment if not flags.readable(FLAGS[one.flag].type, one.word)]
    unreadable = [Wrong(one.flag, one.word, "invalid") for one in wrong if one.flag != "datadir"]
    for fault in (*parsed.wrong, *(config.wrong if config else ()), *unreadable):
        _wrong(fault, ledger)
    given, lost = flags.effective(parsed, process.variables, config)
    settings = {flag: one for flag, one in given.items() if one not in wrong}
    _overridden(lost, ledger)
    on = {
        flag: role
        for flag, role in (*ROLES.items(), ("reward", "reward"), ("initializeRound", "reward"))
        if flag in settings and not settings[flag].word.holes and boolean(settings[flag].text)
    }
    role = next(iter(on.values()), otherwise)
    if (named := settings.pop("config", None)) is not None:
        shown = secrets.flag("config", named.text)
        ledger.note(named.word.span, shown, Fate.UNDERSTOOD, "its settings are in the spec")
    if not role:
        ledger.refuse(
            "adopt-role-missing", process.span, "no flag says what this node is, so it would not start",
            "add -gateway, -orchestrator or the like to the command as it really is, or say it with --role",
        )  # fmt: skip
        return None
    hidden = (Unread(word.span, _variable(word), flags=True) for word in parsed.unknown)
    result = Running(process, role, settings, unread=(*process.unread, *unread, *hidden))
    _roles(result, on, ledger)
    _network(result, ledger)
    return result


def _overridden(lost: list[tuple[Setting, Setting]], ledger: Ledger) -> None:
    for one, winner in lost:
        span, shown = one.word.span, secrets.flag(one.flag, one.text)
        if span == winner.word.span or one.text == winner.text:
            ledger.note(span, shown, Fate.DROPPED, "set again elsewhere, to the same value")
        else:
            ledger.mistake(
                "adopt-setting-overridden", span, shown,
                f"the node does not use this value of -{one.flag}: another one comes first",
                f"the one that counts is that of the {_SOURCES[winner.source]}; remove this one",
            )  # fmt: skip


def _ignored(parsed: Parsed, process: Process, ledger: Ledger) -> None:
    for word in parsed.unknown:
        name = _variable(word)
        ledger.note(word.span, name, Fate.DROPPED, "its value is not in the sources", "adopt-value-unknown")
        ledger.warn(
            "adopt-value-unknown", word.span, f"no source says which flags {name} stands for, so none is adopted",
            "if it stands for any, write them in its place, and adopt again",
        )  # fmt: skip
    stopper = parsed.stopped_by
    if stopper is None:
        return
    at = next((i for i, word in enumerate(process.words) if word is stopper), 0)
    before = FLAGS.get(process.words[at - 1].text.lstrip("-")) if at else None
    if before is not None and before.type == "bool" and stopper.text.lower() in ("true", "false"):
        name = f"-{before.name}"
        message = f"{name} takes no word behind it, so it is on, and the node reads nothing behind {stopper.text}"
        advice = f"write {name}={stopper.text}, if that is what you mean"
    else:
        message = "the node stops reading here: this is no flag, and everything behind it is lost"
        advice = "remove it, or put the whole value in quotes"
    behind = sum(word.text.startswith("-") and len(word.text) > 1 for word in parsed.ignored)
    lost = f", {behind} flag{'s' * (behind > 1)} among it" if behind else ""
    for word in parsed.ignored:
        ledger.note(
            word.span, secrets.word(word.text), Fate.MISTAKE, "ignored by your node today", "adopt-words-ignored"
        )
    ledger.warn("adopt-words-ignored", stopper.span, message + lost, advice)


def _variable(word: Word) -> str:
    """A word that is a variable, as people may see it."""
    return word.text if re.fullmatch(r"\$\{?[A-Za-z0-9_]{1,80}\}?", word.text) else "this"


def _config(
    parsed: Parsed, process: Process, library: Library, ledger: Ledger
) -> tuple[Parsed | None, tuple[Unread, ...]]:
    """The config file of a process, and the same as a file that is none of the sources, where it is that."""
    named = [one.word for one in parsed.given if one.flag == "config"]
    word = named[-1] if named else process.variables.get("LP_CONFIG")
    if word is None or not word.text:
        return None, ()
    source = own_file(library, process, word.text).source
    if source is None:
        return None, (missing(word, "the config file", ledger),)
    library.used.add(source.name)
    return flags.parse_config(source.name, source.text), ()


def _wrong(wrong: Wrong, ledger: Ledger) -> None:
    if wrong.kind == "unknown":
        name = secrets.flag_name(wrong.name)
        few = len(ledger.findings) < _MOST_SUGGESTED
        likely = flag_called(wrong.name) or (nearest_name(name, flags.NAMES) if few else "")
        advice = f"did you mean -{likely}?" if likely else "remove it, or look for its new name with livepeer -h"
        text = f"the node has no flag {name or 'of this name'}, and stops at its start"
        ledger.mistake("adopt-flag-unknown", wrong.word.span, f"-{name}" if name else "a flag", text, advice)
        return
    takes, example = _KINDS.get(FLAGS[wrong.name].type, ("text", "VALUE"))
    has = "has no value" if wrong.kind == "missing" else f"takes {takes}"
    text = f"-{wrong.name} {has}, and the node stops at its start"
    advice = f"write -{wrong.name}={example}, or remove it"
    ledger.mistake("adopt-value-invalid", wrong.word.span, f"-{wrong.name}", text, advice)


def _roles(one: Running, on: Collection[str], ledger: Ledger) -> None:
    """Roles that the node ignores, because it has another one."""
    for flag in [flag for flag in ROLES if flag in one.settings]:
        if ROLES[flag] in (one.role, *_WORKS.get(one.role, ())) or flag not in on:
            ledger.note(one.word(flag).span, f"-{flag}", Fate.UNDERSTOOD, "the role of the node")
            continue
        text = f"this node has the role {one.role.replace('-', ' ')} and ignores -{flag} without a message"
        span, advice = one.settings.pop(flag).word.span, "run the other role in a process of its own"
        ledger.mistake("adopt-role-ignored", span, f"-{flag}", text, advice)
        one.reasons[flag] = Reason(Why.ROLE_IGNORED)


def _network(one: Running, ledger: Ledger) -> None:
    signs = [f"-{flag}" for flag in _CHAIN_SIGNS if flag in one.settings]
    if "network" in one.settings or one.role in ("transcoder", "ai-worker") or not signs:
        return
    listed = signs[0] + (f" and {len(signs) - 1} more do" if len(signs) > 1 else " does")
    ledger.warn(
        "adopt-network-missing", one.word(signs[0][1:]).span,
        f"without -network the node runs off-chain, and {listed} nothing",
        "add -network=arbitrum-one-mainnet to the command if it should be paid, and adopt again",
    )  # fmt: skip
