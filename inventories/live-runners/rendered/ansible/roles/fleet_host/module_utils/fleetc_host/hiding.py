"""Hides secrets in the settings of a process that fleetc did not start, and in the files that they name.

In: what the node's flags are, and words, variables or texts of a host. Out: the same, each secret as ***N***, where N
counts the secrets of this host: the same value has the same number everywhere. What nobody knows to be harmless is
hidden.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .places import Json

SECRET_NAME = re.compile(r"(?i)token|secret|passw|passphrase|key|auth|cred|cookie|bearer|header|signature")
PLAIN = re.compile(r"[0-9.,:%+-]{1,60}|true|false|[A-Za-z]{1,20}")
"""Values that are shown whatever they are for: numbers, switches, one short word."""
SWITCHES = ("true", "false")
PATH = re.compile(r"(?:/[A-Za-z0-9_.-]{1,60}){1,12}/?")
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20}://)(?:([^\s\"/]*)@)?([^\s\"/?#,]*)([^\s\",]*)")
SEGMENT = re.compile(r"[a-z]+(?:[._-][a-z]+)*|v?[0-9]{1,4}")
"""A part of a path of an address that is shown: words in lower case, and small numbers."""
RUN = re.compile(r"[A-Za-z0-9]{20,}")
KNOWN_RUN = re.compile(r"0x[0-9a-fA-F]{40}(?![0-9a-zA-Z])|sha256:[0-9a-f]{64}(?![0-9a-zA-Z])")
"""Long words that are public: accounts, contracts, digests of images."""


class Hider:
    """Gives each secret of a host its number. `types` are those of flags by name, `secret` the flags that are one."""

    def __init__(self, types: Json, secret: list[str]) -> None:
        self.types, self.secret = types, frozenset(secret)
        self.of_variable = {"LP_" + name.upper(): name for name in types}
        self._numbers: dict[str, int] = {}

    def hidden(self, value: str) -> str:
        """What stands for a secret."""
        return "***%d***" % self._numbers.setdefault(value, len(self._numbers) + 1) if value else ""

    def value(self, flag: str, value: str, is_file: bool) -> str:
        """The value of a flag; `is_file` says that it is the path of a file that is there."""
        if is_file and value.startswith("/"):
            return value
        if flag in self.secret or (flag not in self.types and value not in SWITCHES):
            return self.hidden(value)
        return self.text(value)

    def text(self, value: str) -> str:
        """A value that is no secret as a whole, without what addresses have in them; hidden where it looks random."""
        if value.lstrip()[:1] in ("{", "["):
            return self.document(value) or self.hidden(value)
        if is_random(ADDRESS.sub("", value)) or re.search(r"[^/\s]:[^/\s]*@", ADDRESS.sub("", value)):
            return self.hidden(value)
        return ADDRESS.sub(self._address, value)

    def _address(self, found: re.Match[str]) -> str:
        scheme, account, host, rest = found.groups()
        kept = scheme + (self.hidden(account) + "@" if account else "")
        kept += self.hidden(host) if is_random(host) else host
        path, mark, query = rest.partition("?")
        if not mark:
            path, mark, query = rest.partition("#")
        parts = [part if not part or SEGMENT.fullmatch(part) else self.hidden(part) for part in path.split("/")]
        return kept + "/".join(parts) + (mark + self.hidden(query) if mark else "")

    def arguments(self, words: list[str], is_file: Any) -> list[str]:
        """The arguments of a node, which reads none behind the first word that is no flag."""
        found: list[str] = []
        waiting = ""
        stopped = False
        for word in words:
            if waiting and not stopped:
                found.append(self.value(waiting, word, is_file(word)))
                waiting = ""
                continue
            name, equals, value = word.lstrip("-").partition("=")
            stopped = stopped or not word.startswith("-") or len(word) < 2 or word == "--"
            known = name in self.types
            dashes = word[: len(word) - len(word.lstrip("-"))]
            if stopped:
                found.append(dashes + name if dashes and known and not equals else self.hidden(word))
            elif equals:
                shown = name if known or PLAIN.fullmatch(name) else self.hidden(name)
                found.append(dashes + shown + "=" + self.value(name, value, is_file(value)))
            else:
                found.append(dashes + name if known or PLAIN.fullmatch(name) else dashes + self.hidden(name))
                waiting = "" if self.types.get(name) == "bool" else name
        return found

    def variable(self, name: str, value: str, is_file: bool) -> str:
        """The value of a variable of the environment."""
        if name in self.of_variable:
            return self.value(self.of_variable[name], value, is_file)
        if name.startswith("LP_"):
            return value if value in SWITCHES else self.hidden(value)
        shown = PLAIN.fullmatch(value) or (PATH.fullmatch(value) and not is_random(value))
        if (shown and not SECRET_NAME.search(name)) or (is_file and value.startswith("/")):
            return value
        return self.hidden(value)

    def config(self, text: str, is_file: Any) -> str:
        """A config file of the node: one flag and its value in each line. Comments are left out."""
        lines = []
        for key, value in lines_of(text):
            flag = key if key in self.types else self.of_variable.get(key, "")
            shown = key if flag else self.hidden(key)
            lines.append("%s %s" % (shown, self.value(flag or key, value, is_file(value))) if value else shown)
        return "\n".join(lines) + "\n"

    def document(self, text: str) -> str:
        """A text of JSON, "" where it is none. Where nothing is hidden it stays as it is written."""
        numbers = dict(self._numbers)
        try:
            read = json.loads(text, object_pairs_hook=Members)
            shown = self._in("", read)
            return text if shown == read else json.dumps(as_objects(shown), indent=2) + "\n"
        except (ValueError, RecursionError):
            self._numbers = numbers
            return ""

    def _in(self, key: str, value: Any) -> Any:
        """A value of JSON below a key, without its secrets."""
        if isinstance(value, Members):
            within = key if SECRET_NAME.search(key) else ""
            return Members((self.text_of_key(name), self._in(within or name, one)) for name, one in value)
        if isinstance(value, list):
            return [self._in(key, one) for one in value]
        if value is None or isinstance(value, bool):
            return value
        if SECRET_NAME.search(key):
            return self.hidden(str(value))
        return self.text(value) if isinstance(value, str) else value

    def text_of_key(self, key: str) -> str:
        """A key of JSON, which may be a secret itself."""
        return self.hidden(key) if is_random(key) else key


def lines_of(text: str) -> Iterator[tuple[str, str]]:
    """Key and value of each line of a config file, as the node reads it; the value is "" where there is none."""
    for raw in text.split("\n"):
        key, _, value = raw.strip().partition(" ")
        if key and not key.startswith("#"):
            yield key, value.strip().partition(" #")[0].strip()


class Members(list):  # type: ignore[type-arg]  # of pairs
    """The members of an object of JSON, in their order; a key may be there twice."""


def as_objects(value: Any) -> Any:
    """JSON with its objects."""
    if isinstance(value, Members):
        return {name: as_objects(one) for name, one in value}
    return [as_objects(one) for one in value] if isinstance(value, list) else value


def is_random(text: str) -> bool:
    """Whether a text has a long word of letters and digits in it, as keys are; accounts and digests are none."""
    return any(
        re.search("[0-9]", found[0]) and re.search("[A-Za-z]", found[0])
        for found in RUN.finditer(KNOWN_RUN.sub("", text))
    )
