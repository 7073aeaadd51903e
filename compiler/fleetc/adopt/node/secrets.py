"""What of a source may be repeated: in the account, in messages and in the spec.

In: settings with their names. Out: whether a value may be repeated, and words as people may see them. The name decides:
the value of a known setting that is no secret may be repeated, and of every other setting only the name. How long a
value is and how it looks decides nothing, but that an address with a user, a query or a fragment has a secret in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fleetc.adopt.found.process import Word
from fleetc.text import leaks
from fleetc.upstream import FLAGS

A_WORD, A_COMMAND, A_FILE = "a word", "a command", "a file"

_HARMLESS = re.compile(
    "(?:.*_)?(?:ADDR|ADDRESS|ALLOC_CONF|APP_ID|BATCH|BLOCKING|CAPABILITIES|CAPACITY|CORS|COUNT|CWD|DEBUG|DEVICES?|"
    "DIRS?|DTYPE|ENABLED?|ENCODER|FILE|FORMAT|FPS|HEIGHT|HOME|HOST|HOSTNAME|INTERVAL|LEN|LEVEL|LIMIT|LISTEN|LOADING|"
    "LOCALE|MEMORY|MODE|MODELS?|NAME|NETWORK|NODE|OFFLINE|ORDER|PARALLEL|PATH|PIPELINES?|PORTS?|PRICE|QUANTIZATION|"
    "REGION|SESSIONS|SIZE|THREADS|TIMEOUT|TMPDIR|TYPE|TZ|UNBUFFERED|UNIT|UTILIZATION|VERBOSE|VERSION|WIDTH|WORKERS|"
    "WORKSPACE|ZONE)|(?:MODEL|LC)_.*|GO(?:GC|MAXPROCS|MEMLIMIT|DEBUG)|NO_PROXY|LANG|LANGUAGE|LOGNAME|PWD|SHELL|SHLVL|"
    "TERM|USER|LIVE_AI_NAT_IP"
)
"""The names of variables, and of options of programs, whose values are no secrets."""
_OF_FLAGS = frozenset(flag.env for flag in FLAGS.values() if not flag.secret)
ONLY_HOST = re.compile(r"[a-z0-9+]+://[A-Za-z0-9.-]+(?::[0-9]{1,5})?/?")
"""An address without anything that may be a key."""
_PROGRAMS = """
. [ apt apt-get bash cat cd certbot chmod chown cp curl date docker docker-compose echo env eval exec exit export
false git grep if journalctl kill ln ls mkdir mv nohup nvidia-smi pkill podman printf pwd read rm screen sed set sh
sleep source ssh su sudo sysctl systemctl tail tar tee test tmux touch true ufw ulimit umask unset wait wget which
while livepeer livepeer_cli
"""
"""What people call in scripts around a node; a first word that is none of these may be any text."""
_KEYED = re.compile(r"[@?#]")
_FILE = re.compile(r"\S*/\S*|[\w.-]+\.(?:sh|env|conf|cfg|ini|txt|json|ya?ml|toml|service)|\.env[\w.-]*")
_FLAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_LINE_PARTS = re.compile(r"[\s\"'\[\],]+")
_LINE_WORDS = re.compile(r"(?:ExecStart=|command:|args:|-|\\)?(?:(?:[\w./-]*/)?livepeer)?")


def keyless(name: str, text: str) -> bool:
    """Whether no part of a value may be a key, as it may in an address with a user, a query or a fragment."""
    address = "://" in text or name.upper().endswith(("ADDR", "HOST", "URL", "URI"))
    return not (address and _KEYED.search(text)) and leaks.find(text, name) is None


def _plain(name: str, text: str) -> bool:
    """Whether the value of a flag may be shown: a document in it may have any keys."""
    return not FLAGS[name].secret and keyless(name, text) and not _is_document(text)


def _is_document(text: str) -> bool:
    return text.lstrip().startswith(("[", "{"))


def harmless(name: str) -> bool:
    """Whether the name of a variable, or of an option of another program, is that of no secret."""
    plain = name.strip("-").replace("-", "_").upper()
    return plain in _OF_FLAGS or (bool(_HARMLESS.fullmatch(plain)) and not leaks.names_secret(plain))


def may_repeat(name: str, text: str) -> bool:
    """Whether the value of a variable or an option may be repeated: by its name, or because it can be no secret."""
    if text.lower() in ("", "true", "false") or ONLY_HOST.fullmatch(text):
        return True
    return harmless(name) and "://" not in text and not _is_document(text) and keyless(name, text)


def shown(name: str, text: str) -> str:
    """The value of a flag of the node, if it may be shown."""
    return text if _plain(name, text) else "a value that is not repeated"


def flag(name: str, text: str) -> str:
    """A flag of the node as the account may show it, with its value where that may be repeated."""
    if FLAGS[name].secret:
        return f"-{name} (a secret, or where it is)"
    return f"-{name}={text}" if _plain(name, text) else f"-{name}"


def words(behind: Sequence[Word]) -> list[str]:
    """Words that no node reads, as people may see them."""
    shown: list[str] = []
    before = ""
    for word in behind:
        name, equals, value = word.text.lstrip("-").partition("=")
        known = FLAGS.get(before)
        before = ""
        if word.text.startswith("-") and name in FLAGS:
            shown.append(flag(name, value) if equals else f"-{name}")
            before = "" if equals or FLAGS[name].type == "bool" else name
        elif word.text.startswith("-"):
            shown.append(f"-{flag_name(name)}" if flag_name(name) else A_WORD)
        elif known is not None and _plain(known.name, word.text):
            shown.append(word.text)
        else:
            shown.append(word.text if word.text in ("true", "false") else A_WORD)
    return shown


def line(text: str) -> bool:
    """Whether a line of a source may be shown: each of its words starts a node, or is a flag of the node that is no
    secret with its value.
    """
    before = ""
    for part in filter(None, _LINE_PARTS.split(text)):
        name, equals, value = part.lstrip("-").partition("=")
        known = FLAGS.get(name if part.startswith("-") else before)
        if known is None:
            if not _LINE_WORDS.fullmatch(part) and part not in ("true", "false"):
                return False
            continue
        own = (value if equals else "") if part.startswith("-") else part
        if own and not _plain(known.name, own):
            return False
        before = name if part.startswith("-") and not equals and known.type != "bool" else ""
    return True


def program(text: str) -> str:
    """The first word of a command as the account may show it: the name of a program that people are known to call."""
    base = re.split(r"[/\\]", text)[-1]
    return base if base in _PROGRAMS.split() else A_COMMAND


def file_name(text: str) -> str:
    """The path of a file that a setting names, as the account may show it."""
    return text[:200] if _FILE.fullmatch(text) and keyless("", text) else A_FILE


def flag_name(name: str) -> str:
    """The name of a flag that the node lacks; "" for a text that may be more than a name."""
    return name if _FLAG_NAME.fullmatch(name) and leaks.may_show(name) else ""
