"""Finds the folder of a script, as it asks for it: `$(dirname "$0")`, `$(cd "$(dirname "$0")" && pwd)` and the like.

In: the text of a command in `$( )`. Out: the folder, "." for that of the script itself; None for other commands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fleetc.adopt.read.shell_words import Token

_SCRIPT = re.compile(r"\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?(?::?-\$\{?0\}?)?\})")
_WHOLE_PATH = r"(?:readlink -[fem]|realpath(?: -[a-zA-Z])?)"
_PATH = r"(\.(?:/[A-Za-z0-9_./-]*)?)"
"""A path that begins in the folder of the script."""
_NAME = "./script"
"""What stands for the script itself."""
_QUIET = r"(?: ?&?> ?/dev/null(?: ?2>&1)?)?"
_STEPS = (
    re.compile(rf"\$\( ?{_WHOLE_PATH} (?:-- )?{_PATH} ?\)"),
    re.compile(r"\$\( ?dirname (?:-- )?(\.(?:/[A-Za-z0-9_.-]+)*)/[A-Za-z0-9_.-]+ ?\)"),
    re.compile(rf"\$\( ?cd (?:-P )?(?:-- )?{_PATH}{_QUIET} ?(?:&&|;) ?pwd(?: -[PL])? ?\)"),
)
"""Commands that give the path that they are given, or the folder of it."""
_LONGEST = 400
_OF_HOST = frozenset({"-v", "--volume", "--mount", "--env-file"})
_CONTAINERS = frozenset({"docker", "podman"})


def folder_of(text: str, known: Mapping[str, str]) -> str | None:
    """The folder that a command asks for. `known` are variables with paths that begin in the folder of the script."""
    if len(text) > _LONGEST:
        return None
    text = re.sub(r"\s+", " ", text).replace('"', "")
    if text.startswith("`") and text.endswith("`"):
        text = f"$({text[1:-1]})"
    text = _SCRIPT.sub(_NAME, text)
    text = re.sub(r"\$\{?([A-Za-z_]\w*)\}?", lambda found: known.get(found[1], found[0]), text)
    before = ""
    while text != before:
        before = text
        for step in _STEPS:
            text = step.sub(r"\1", text)
    return text if re.fullmatch(_PATH, text) else None


def in_containers(command: Sequence[Token]) -> list[bool]:
    """For each word of a command, whether a container takes it, which has no folder of the script."""
    if not any(token.text in _CONTAINERS for token in command[:6]):
        return [False] * len(command)
    found = []
    for at, token in enumerate(command):
        option = token.text if "=" in token.text else command[at - 1].text if at else ""
        found.append(option.partition("=")[0] not in _OF_HOST)
    return found
