"""Finds the user that a command line runs a node as.

In: the words of a command line, and the processes that it begins. Out: the user that sudo, su or runuser names, and the
processes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fleetc.adopt.found.process import Process
from fleetc.adopt.found.words import Word
from fleetc.adopt.read.shell_wrappers import AS_USER, ASSIGNMENT, TAKES, WRAPPERS, base_of, cron_user, times_of


def user_of(words: Sequence[Word]) -> str:
    """The user that sudo, su, runuser or a line of /etc/cron.d names; "" where the words name none."""
    if user := cron_user(words):
        return user
    words = words[times_of(words) :]
    for place, word in enumerate(words):
        name, rest = base_of(word.text), words[place + 1 :]
        if name in ("sudo", "runuser") and (user := _option(rest, name)):
            return user
        if name == "su" or (name in AS_USER and any(one.text == "-c" for one in rest)):
            named = (one for one, before in zip(rest, (word, *rest), strict=False) if before.text not in ("-c", "-s"))
            return next((one.text for one in named if not one.text.startswith("-") and not one.holes), "root")
        if name not in WRAPPERS:
            return ""
    return ""


def _option(words: Sequence[Word], name: str) -> str:
    """The value of -u or --user among the options of a program."""
    place = 0
    while place < len(words) and (words[place].text.startswith("-") or ASSIGNMENT.match(words[place].text)):
        text = words[place].text
        long, equals, value = text.partition("=")
        if long in ("-u", "--user") and not equals:
            value = words[place + 1].text if place + 1 < len(words) and not words[place + 1].holes else ""
        elif text.startswith("-u"):
            value = text[2:]
        elif long != "--user":
            value = ""
        if value:
            return value
        place += 2 if len(text) == 2 and text[1] in TAKES[name] else 1
    return ""


def run_by(user: str, processes: Sequence[Process]) -> list[Process]:
    """The processes that a command begins, as a user; what Docker starts has the user of its image."""
    return [replace(one, user=one.user or user) if one.runtime == "systemd" else one for one in processes]
