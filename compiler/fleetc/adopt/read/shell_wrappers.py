"""Finds the command behind what starts it: sudo, env, nice, numactl, the times of a crontab, the prompt of a terminal.

In: the words of a command line. Out: how many stand before the command, and the variables that it is given.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from fleetc.adopt.found.words import Word
from fleetc.adopt.node.flags import TYPES

ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=)")
WRAPPERS = frozenset({
    "sudo", "nohup", "exec", "env", "time", "nice", "ionice", "setsid", "command", "stdbuf", "chrt", "numactl",
    "taskset", "runuser", "systemd-run", "timeout",
})  # fmt: skip
TAKES = {
    "sudo": "ugCphRT", "nice": "n", "ionice": "cnp", "env": "uC", "stdbuf": "ioe", "chrt": "", "numactl": "mNCpi",
    "taskset": "cp", "runuser": "ugGs", "systemd-run": "utpEMH",
    "timeout": "ks",
}  # fmt: skip
_SCHEDULE = re.compile(r"@[a-z]+|[0-9*/,-]+(?: [0-9*/,-]+){4}")
"""When a line of a crontab runs its command."""
_USER = re.compile("[a-z_][a-z0-9_-]*")
_PROGRAMS = frozenset({"livepeer", "docker", "podman", "sh", "bash", "cd", "test", "sleep", "screen", "tmux"})
"""What a line of a crontab begins with, and no user is called."""
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")
AS_USER = frozenset({"su", "runuser"})


def behind_wrappers(words: Sequence[Word], own: dict[str, Word]) -> int:
    """How many words stand before a command; the variables that they give it are added to `own`."""
    place = _behind_begin(words)
    while place < len(words) and (name := base_of(words[place].text)) in WRAPPERS:
        if name in AS_USER and any(word.text == "-c" for word in words[place + 1 : place + 6]):
            break
        place += 1
        while place < len(words) and (words[place].text.startswith("-") or ASSIGNMENT.match(words[place].text)):
            option = words[place].text
            if found := ASSIGNMENT.match(option):
                own[found[1]] = words[place].part(found.end())
            elif len(option) == 2 and option[1] in TAKES.get(name, ""):
                place += 1
            place += 1
        place += name == "timeout"  # how long
    return place


def cron_user(words: Sequence[Word]) -> str:
    """The user of a line of /etc/cron.d, which stands between its times and its command; "" in other lines."""
    times = times_of(words)
    return words[times].text if times and _behind_begin(words) > times else ""


def times_of(words: Sequence[Word]) -> int:
    """How many words are the times of a line of a crontab."""
    for count in (1, 5):
        if len(words) > count and _SCHEDULE.fullmatch(" ".join(word.text for word in words[:count])):
            return count
    return 0


def _behind_begin(words: Sequence[Word]) -> int:
    """How many words stand before a copied command: its prompt, or times, and maybe a user, of a line of a crontab."""
    if times := times_of(words):
        user, *rest = words[times:]
        command = rest[0].text if rest else "-"
        starts = command.startswith("/") or base_of(command) in WRAPPERS | AS_USER | _PROGRAMS
        return times + int(bool(_USER.fullmatch(user.text)) and starts and user.text not in WRAPPERS | _PROGRAMS)
    return int(words[0].text == "$" and len(words) > 1)


def base_of(text: str) -> str:
    """The name of a program without its folder."""
    return re.split(r"[/\\]", text)[-1]


def directory_after(words: Sequence[Word], before: str, beside: bool = False) -> str:
    """Where `cd` leads from a directory; "" where only a running script knows. `beside`: `./` is the folder of the
    script, from which the directory is then a relative path. One below the home of the caller begins with ~.
    """
    to = [word for word in words[1:] if not (word.text.startswith("-") and len(word.text) > 1)]
    if len(to) != 1 or to[0].text[:1] in ("-", ""):
        return ""
    home = _HOME.match(to[0].text)
    if (home is None and to[0].text.startswith("~")) or any(home is None or hole != home[0] for hole in to[0].holes):
        return ""
    text = f"~{to[0].text[home.end() :]}" if home is not None else to[0].text
    known = before or text.startswith(("/", "~", "./") if beside else ("/", "~"))
    path = posixpath.normpath(text if home is not None else posixpath.join(before, text)) if known else ""
    return "" if before.startswith("~") and not path.startswith(("~", "/")) else path


def is_flag(text: str) -> bool:
    """Whether a word is a flag of the node."""
    return text.lstrip("-").partition("=")[0] in TYPES
