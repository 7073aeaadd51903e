"""What of a source may be repeated: in the account, in messages and in the spec.

In: settings with their names. Out: whether a value may be repeated, and words as people may see them. The name decides:
the value of a known setting that is no secret may be repeated, and of every other setting only the name. How long a
value is and how it looks decides nothing, but that an address with a user, a query or a fragment has a secret in it.
"""

from __future__ import annotations

import re

from fleetc.text import leaks
from fleetc.upstream import FLAGS

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
_KEYED = re.compile(r"[@?#]")
_FILE = re.compile(r"\S*/\S*|[\w.-]+\.(?:sh|env|conf|cfg|ini|txt|json|ya?ml|toml|service)|\.env[\w.-]*")
_FLAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")


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


def word(text: str) -> str:
    """A word that no node reads, as people may see it: of a flag, the name."""
    name = flag_name(text.lstrip("-").partition("=")[0]) if text.startswith("-") else ""
    return f"-{name}" if name else text if text in ("true", "false") else "a word"


def file_name(text: str) -> str:
    """The path of a file that a setting names, as the account may show it."""
    return text[:200] if _FILE.fullmatch(text) and keyless("", text) else "a file"


def flag_name(name: str) -> str:
    """The name of a flag that the node lacks; "" for a text that may be more than a name."""
    return name if _FLAG_NAME.fullmatch(name) and leaks.may_show(name) else ""
