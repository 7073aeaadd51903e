"""What a process does today: its role and its settings, and the mistakes that the node makes with them.

In: a process of a source. Out: `Running`, or None where the node stops at its start. Each word of the command line and
each line of a config file is accounted for, here or by whoever takes the setting into the spec.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fleetc.adopt.found.questions import Reason
from fleetc.adopt.found.words import Fate, Ledger, Process, Unread, Word
from fleetc.adopt.node.flags import (
    Parsed,
    Setting,
    Wrong,
    boolean,
    effective,
    environment_flags,
    flags_like,
    parse_config,
    parse_words,
    role_of,
    value_of,
)  # fmt: skip
from fleetc.adopt.node.own_files import own_file
from fleetc.adopt.read import showing
from fleetc.adopt.read.library import Library
from fleetc.language.rows import flag_called
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.upstream import FLAGS

TABLES = {
    "gateway": "gateways", "orchestrator": "orchestrators", "transcoder": "transcoders", "ai-worker": "ai_workers",
    "remote-signer": "remote_signers", "redeemer": "redeemers", "reward": "reward_callers",
}  # fmt: skip
ROLE_FLAGS = ("redeemer", "remoteSigner", "orchestrator", "transcoder", "aiWorker", "broadcaster", "gateway")
CHAIN_SIGNS = (
    "ethUrl",
    "ethAcctAddr",
    "ethKeystorePath",
    "ethPassword",
    "pricePerUnit",
    "maxPricePerUnit",
    "ethOrchAddr",
)
OFFCHAIN = "offchain"
PATH_OR_TEXT = ("orchSecret", "ethPassword", "FVfailGskey")
"""Secrets that the node reads from a file, if their text is the path of one."""
_OF_FLAGS = frozenset(flag.env for flag in FLAGS.values())
LONGEST_TEXT = 50_000
"""Characters of a value; a line of a spec has at most 65,536."""


@dataclass
class Running:
    """A process with its role. `settings` are those in force by flag; `reasons` say why a compiled one differs.

    `runners` are the tables of its live runners, by label, and `unreached` the flags of listeners that
    nothing outside its container reaches. `unplaced` is the process without what people say of homes and folders, and
    `called` what its source calls it, where a host has that name. `unread` is what it reads its settings from and no
    source is, and `own` says of settings where this node has what its wallet has elsewhere.
    """

    process: Process
    role: str
    settings: dict[str, Setting]
    reasons: dict[str, str | Reason] = field(default_factory=dict)
    name: str = ""
    host: str = ""
    runners: dict[str, str] = field(default_factory=dict)
    unreached: set[str] = field(default_factory=set)
    unplaced: Process | None = None
    called: str = ""
    unread: tuple[Unread, ...] = ()
    own: dict[str, str] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The table of the spec that it belongs to."""
        return TABLES[self.role]

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
        setting = self.settings.get(flag)
        return setting.text if setting else ""

    def on(self, flag: str) -> bool:
        """Whether a bool flag is on."""
        setting = self.settings.get(flag)
        if setting is None:
            return FLAGS[flag].default is True
        return not setting.word.holes and boolean(setting.text)

    def word(self, flag: str) -> Word:
        """The text of a flag that is set, with its place."""
        return self.settings[flag].word


def looks_like_path(text: str) -> bool:
    """Whether a text that may be a secret or a path is a path."""
    return text.startswith(("/", "./", "../", "~/", "${HOME}/")) and "\n" not in text and len(text) < 1000


_BELOW = re.compile(r"(?:/[A-Za-z0-9._${}-]+)+")


def in_open_folder(word: Word) -> bool:
    """Whether a text that may be a secret or a path is a path in a folder that no source says, as $DIR/password is."""
    hole = next((one for one in word.holes if word.text.startswith(f"{one}/")), "")
    return hole != "" and _BELOW.fullmatch(word.text.removeprefix(hole)) is not None


def names_document(text: str) -> bool:
    """Whether a text that may be a document or the path of one is a path, also one in the directory of the node."""
    return looks_like_path(text) or (text.endswith(".json") and not text.lstrip().startswith(("{", "[")))


_FILE_NAME = re.compile(
    r"(?:[A-Za-z0-9_-]{1,40}/){0,4}"
    r"(?:[A-Za-z0-9_-]{1,60}\.(?:txt|pass|passwd|password|pw|pwd|secret|key|conf|cfg)"
    r"|\.[a-z_-]{0,20}(?:pass|passwd|password|pw|pwd|secret)(?:\.[a-z]{1,8})?)"
)
"""How people call the file of a password, in the directory of the node."""


def secret_file(word: Word, library: Library, beside: str) -> str:
    """The path that a text is that may be a secret or the path of one, "" where it is the secret.

    The node reads a file of that name, if there is one where it starts: so does adopting, where the text has the form
    of such a name, or is that of a source.
    """
    text = word.text
    if looks_like_path(text) or in_open_folder(word):
        return text
    if word.holes or len(text) >= 200 or leaks.find(text) is not None:
        return ""
    return f"./{text}" if _FILE_NAME.fullmatch(text) or library.find(text, beside) is not None else ""


def shown(flag: str, text: str) -> str:
    """A flag and its value as the account may show them."""
    return showing.flag(flag, text)


def running(process: Process, library: Library, ledger: Ledger, otherwise: str = "") -> Running | None:
    """Read the settings of a process; one that does not say its role has the role `otherwise`."""
    parsed = parse_words(process.words)
    _ignored(parsed, process, ledger)
    config, unread = _config(parsed, process, library, ledger)
    found = effective(parsed, process.variables, config)
    wrong_variables = _wrong_variables(process.variables)
    for wrong in (*parsed.wrong, *(config.wrong if config else ()), *wrong_variables):
        _wrong(wrong, ledger)
    bad = {wrong.word.span for wrong in wrong_variables}
    settings = {
        flag: one for flag, one in found.settings.items() if one.source != "environment" or one.word.span not in bad
    }
    for flag in [flag for flag, one in settings.items() if len(one.text) > LONGEST_TEXT]:
        ledger.mistake(
            "adopt-value-invalid", settings[flag].word.span, f"-{flag}",
            f"the value of -{flag} has more than {LONGEST_TEXT} characters, which no spec has",
            "put it into a file, where the node reads one",
        )  # fmt: skip
        del settings[flag]
    for flag in [flag for flag, one in settings.items() if visible(one.text) != one.text]:
        ledger.mistake(
            "adopt-value-invalid", settings[flag].word.span, f"-{flag}",
            f"the value of -{flag} has a hidden character, which no spec may have", "type the value again",
        )  # fmt: skip
        del settings[flag]
    for lost, winner in found.lost:
        if lost.word.span == winner.word.span or lost.word.text == winner.word.text:
            ledger.note(
                lost.word.span, shown(lost.flag, lost.text), Fate.DROPPED, "said again elsewhere, in the same way"
            )
            continue
        ledger.mistake(
            "adopt-setting-overridden", lost.word.span, shown(lost.flag, lost.text),
            f"the node does not use this value of -{lost.flag}: another one comes first",
            f"the one that counts is that of the {_SOURCES[winner.source]}; remove this one",
        )  # fmt: skip
    on = {
        flag: True
        for flag in (*ROLE_FLAGS, "reward", "initializeRound")
        if flag in settings and not settings[flag].word.holes and boolean(settings[flag].text)
    }
    for flag, setting in settings.items():
        open_ = flag in PATH_OR_TEXT and bool(secret_file(setting.word, library, process.span.source))
        open_ = open_ or ("://" in setting.text and leaks.find(setting.text, flag) is None)  # an address without a key
        open_ = open_ and (flag != "ethUrl" or not leaks.may_need_key(setting.text))
        if FLAGS[flag].secret and setting.text and not setting.word.holes and not open_:
            ledger.secrets.append(setting.word.span)
    for name, word in process.variables.items():
        if name not in _OF_FLAGS and not showing.harmless(word):
            ledger.secrets.append(word.span)
    role = role_of(on) or otherwise
    if "config" in settings:
        ledger.note(settings["config"].word.span, shown("config", settings["config"].text), Fate.UNDERSTOOD,
                    "its settings are in the spec")  # fmt: skip
        del settings["config"]
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


_SOURCES = {"flag": "command line", "environment": "environment", "file": "config file"}


def _ignored(parsed: Parsed, process: Process, ledger: Ledger) -> None:
    for word in parsed.unknown:
        name = _variable(word)
        ledger.note(word.span, name, Fate.DROPPED, "its value is not in the sources", "adopt-value-unknown")
        ledger.warn(
            "adopt-value-unknown", word.span, f"no source says which flags {name} stands for, so none is adopted",
            "if it stands for any, write them in its place, and adopt again",
        )  # fmt: skip
    if parsed.stopped_by is None:
        return
    stopper = parsed.stopped_by
    behind = [word for word in parsed.ignored if word.text.startswith("-") and len(word.text) > 1]
    at = next((i for i, word in enumerate(process.words) if word is stopper), 0)
    before = process.words[at - 1].text.lstrip("-") if at else ""
    hidden = _after_secret(process.words, at)
    switch = FLAGS.get(before)
    if switch is not None and switch.type == "bool" and stopper.text.lower() in ("true", "false"):
        message = f"-{before} takes no word behind it, so it is on, and the node reads nothing behind {stopper.text}"
        advice = f"write -{before}={stopper.text}, if that is what you mean"
    elif stopper.text.startswith(("{{", "{%")):
        message, advice = (
            "this is a part of a template, which fleetc does not render, and everything behind it is lost",
            "render it with the tool it is for, and adopt the result",
        )
    else:
        message = "the node stops reading here: this is no flag, and everything behind it is lost"
        advice = "remove it, or put the whole value in quotes"
    lost = f", {len(behind)} flag{'s' * (len(behind) > 1)} among it" if behind else ""
    for word, known in zip(parsed.ignored, showing.unread(parsed.ignored), strict=True):
        hidden = hidden and not word.text.startswith("-")
        if hidden or known is None:
            ledger.secrets.append(word.span)
        shown_ = _NOT_SHOWN if hidden else known or showing.HIDDEN_WORD
        ledger.note(word.span, shown_, Fate.MISTAKE, "ignored by your node today", "adopt-words-ignored")
    ledger.warn("adopt-words-ignored", stopper.span, message + lost, advice, "ignored from here on")


def _variable(word: Word) -> str:
    """A word that is a variable, as people may see it."""
    return word.text if _VARIABLE.fullmatch(word.text) else "this"


_VARIABLE = re.compile(r"\$\{?[A-Za-z0-9_]{1,80}\}?")
_NOT_SHOWN = "a word that may be part of a secret"


def _after_secret(words: tuple[Word, ...], at: int) -> bool:
    """Whether a word follows the value of a flag that is a secret: it may be the rest of it."""
    names = [
        word.text.lstrip("-").partition("=")[0] for word in words[max(0, at - 2) : at] if word.text.startswith("-")
    ]
    return any(name in FLAGS and FLAGS[name].secret for name in names)


def _config(
    parsed: Parsed, process: Process, library: Library, ledger: Ledger
) -> tuple[Parsed | None, tuple[Unread, ...]]:
    """The config file of a process, and the same as a file that is none of the sources, where it is that."""
    named = [one for one in parsed.given if one.flag == "config"]
    word = named[-1].word if named else process.variables.get("LP_CONFIG")
    if word is None or not word.text:
        return None, ()
    source = own_file(library, process, word.text).source
    if source is None:
        return None, (missing(word, "the config file", ledger),)
    library.used.add(source.name)
    config = parse_config(source.name, source.text)
    if config.stopped_by is not None:
        ledger.mistake(
            "adopt-words-ignored", config.stopped_by.span, "a line of more than 64 KiB",
            "the node stops reading its config file at a line of more than 64 KiB, without a word",
            "shorten the line; what is behind it is not adopted either",
        )  # fmt: skip
    return config, ()


def missing(word: Word, what: str, ledger: Ledger, optional: bool = False) -> Unread:
    """Say that a file is none of the sources which a process needs, or reads if there is one; it comes back as that."""
    known = showing.file_name(word.text)
    name = leaks.shown(posixpath.basename(word.text)) if known == word.text else "it"
    if known != word.text:
        ledger.secrets.append(word.span)
    ledger.note(word.span, known, Fate.DROPPED, f"{what} is none of the sources", "adopt-file-missing")
    copy = f"copy {name} from the host and name it too"
    if optional:
        ledger.remark(
            "adopt-file-missing", word.span, f"{what} is optional and none of the sources: it may say otherwise",
            f"{copy}; if the host has none, name an empty file called so",
        )  # fmt: skip
    else:
        ledger.warn("adopt-file-missing", word.span, f"{what} is none of the sources", copy)
    return Unread(word.span, known, optional)


def _wrong_variables(variables: Mapping[str, Word]) -> list[Wrong]:
    """Variables of flags whose value the node cannot read."""
    found = []
    for name, word in environment_flags(variables):
        if word.holes or name == "datadir":
            continue
        try:
            value_of(FLAGS[name].type, word.text)
        except ValueError:
            found.append(Wrong(name, word, "invalid"))
    return found


_MOST_SUGGESTED = 100
"""Messages behind which no flag is looked for any more that an unknown one is like."""


def _wrong(wrong: Wrong, ledger: Ledger) -> None:
    if wrong.kind == "unknown":
        meant, name = flag_called(wrong.name), showing.flag_name(wrong.name)
        if wrong.word.text == wrong.name and not meant:
            name = ""  # a line of a config file that is one word: it may be no name at all
        if not name or (wrong.value is not None and not showing.harmless(wrong.value)):
            ledger.secrets.append(wrong.word.span)
            ledger.secrets.append((wrong.value or wrong.word).span)
        few = name and len(ledger.findings) < _MOST_SUGGESTED
        likely = " or ".join(f"-{one}" for one in ([meant] if meant else flags_like(name) if few else []))
        advice = f"did you mean {likely}?" if likely else "remove it, or look for its new name with livepeer -h"
        text = f"the node has no flag {name or 'of this name'}, and stops at its start"
        ledger.mistake("adopt-flag-unknown", wrong.word.span, f"-{name}" if name else "a flag", text, advice)
        return
    kind = FLAGS[wrong.name].type
    text = (
        f"-{wrong.name} has no value, and the node stops at its start"
        if wrong.kind == "missing"
        else f"-{wrong.name} takes {_KINDS.get(kind, 'text')}, and the node stops at its start"
    )
    ledger.mistake("adopt-value-invalid", wrong.word.span, f"-{wrong.name}", text,
                   f"write -{wrong.name}={_EXAMPLES.get(kind, 'VALUE')}, or remove it")  # fmt: skip


_KINDS = {
    "bool": "true or false", "int": "a whole number", "int64": "a whole number", "float": "a number",
    "duration": "a time with a unit",
}  # fmt: skip
_EXAMPLES = {"bool": "true", "int": "10", "int64": "10", "float": "0.5", "duration": "500ms"}


def _roles(found: Running, on: dict[str, bool], ledger: Ledger) -> None:
    """Roles that the node passes over, because it has another one."""
    works = {"transcoder", "aiWorker"} if found.role == "orchestrator" else set()
    own = {"gateway", "broadcaster"} if found.role == "gateway" else {_FLAG_OF.get(found.role, "")}
    for flag in ROLE_FLAGS:
        if flag not in on or flag in works or flag in own:
            continue
        setting = found.settings.pop(flag)
        ledger.mistake(
            "adopt-role-ignored", setting.word.span, f"-{flag}",
            f"the node is {_ARTICLES[found.role]} and passes over -{flag} without a word",
            "run the other role in a process of its own",
        )  # fmt: skip
        found.reasons[flag] = "the node passes over this role"
    for flag in ROLE_FLAGS:
        if flag in found.settings:
            ledger.note(found.word(flag).span, f"-{flag}", Fate.UNDERSTOOD, "the role of the node")


_FLAG_OF = {
    "orchestrator": "orchestrator", "transcoder": "transcoder", "ai-worker": "aiWorker",
    "remote-signer": "remoteSigner", "redeemer": "redeemer",
}  # fmt: skip
_ARTICLES = {
    "gateway": "a gateway", "orchestrator": "an orchestrator", "transcoder": "a transcoder",
    "ai-worker": "an AI worker", "remote-signer": "a remote signer", "redeemer": "a redeemer",
    "reward": "a reward caller",
}  # fmt: skip


def _network(found: Running, ledger: Ledger) -> None:
    if "network" in found.settings or found.role in ("transcoder", "ai-worker"):
        return
    signs = [flag for flag in CHAIN_SIGNS if flag in found.settings]
    if signs:
        verb = "does" if len(signs) == 1 else "do"
        ledger.warn(
            "adopt-network-missing", found.word(signs[0]).span,
            f"without -network the node runs off-chain, and {_listed(signs)} {verb} nothing",
            "add -network=arbitrum-one-mainnet to the command if it should be paid, and adopt again",
        )  # fmt: skip


def _listed(flags: list[str]) -> str:
    names = [f"-{flag}" for flag in flags]
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")
