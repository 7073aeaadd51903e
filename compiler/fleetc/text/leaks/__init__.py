"""Recognises secrets by their looks: tokens, private keys, recovery phrases, keys in addresses, long random texts.

In: any text, and the name of its field if known. Out: its likely secret (`find`), the text masked for display
(`masked`, `may_show`), and whether a key's name means a secret (`names_secret`). Called by the rule that refuses
secrets in a spec, and by all that prints or reports text from outside, which never repeats one. A short plain word is
not found: fields that are secrets take references and nothing else. No form takes more than linear time. What tokens
and addresses look like is data: `upstream/secret_forms.toml`.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache

from fleetc.text.leaks import phrases, urls
from fleetc.text.leaks.found import Leak
from fleetc.text.leaks.randomness import CAREFUL, is_random, pieces
from fleetc.text.leaks.urls import may_need_key, names_node
from fleetc.upstream.secret_forms import forms

__all__ = ["HIDDEN", "Leak", "find", "masked", "may_need_key", "may_show", "names_node", "names_secret", "shown"]

HIDDEN = "[not shown: it may contain a secret]"
"""Replaces a text that seems to hold a secret."""

_LEAST = 8
_SHORT = 4
"""Shown characters of a random text, to distinguish it; far too few to guess a key."""

_WORTH = re.compile(r"[A-Za-z0-9+/=_.~-]{14}|[=:][ \t\"']{0,2}[^\s]{8}|[Bb][Aa][Ss][Ii][Cc]|-----BEGIN ")
_MAY_BE_TOKEN = re.compile(r"[A-Za-z0-9_+-]{16}")
_MAY_BE_RANDOM = re.compile(r"[A-Za-z0-9+/=_.~-]{14}")
_MAY_BE_HASH = re.compile(r"[0-9a-fA-F]{7}|[A-Za-z0-9+/]{43}")
"""Quick ways past the many texts that hold nothing: each form below needs what one of these finds."""

_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")
_SIGNED = re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8}")
_LONG_KEY = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])")
_HEADER = re.compile(r"(?<![A-Za-z0-9])(bearer|basic)[ \t]+([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"(?<![A-Za-z0-9_.-])([A-Za-z][A-Za-z0-9_.-]{1,39})[\"']?[ \t]?[=:][ \t]?[\"']?([^\s\"',;&<>]{8,})"
)
_STREAM_KEY = re.compile(r"(?<![A-Za-z0-9-])[a-z0-9]{4}(?:-[a-z0-9]{4}){3,4}(?![A-Za-z0-9-])")
_READABLE_GROUP = re.compile(r"[a-z]*[0-9]*")
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])")
_IDS = re.compile(
    r"(?<![0-9A-Za-z])P[0-9]{3,4}p[0-9]{2,3}fps[0-9]{1,2}x[0-9]{1,2}(?![0-9A-Za-z])|"
    r"UTC--[0-9T:.-]{19,30}Z?--(?:0x)?[0-9a-fA-F]{40}(?![0-9A-Za-z])|"
    r"(?:GPU-|MIG-)[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?<![0-9A-Za-z])0x[0-9a-fA-F]{40}(?![0-9A-Za-z])|"
    r"(?<![0-9A-Za-z])(?:ssh-(?:rsa|ed25519)|ecdsa-sha2-nistp[0-9]{3}) AAAA[0-9A-Za-z+/]{20,1400}={0,2}"
)
"""Public for certain: a built-in rendition, a key file's name, the id of a GPU, an account, an SSH public key."""
_COMMIT = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{40}(?![0-9A-Za-z])")
_PATH_MARKS = re.compile(r"[/:]")
_CHANGES = re.compile(r"(?=[A-Za-z][0-9]|[0-9][A-Za-z]|[a-z][A-Z]|[!$%^*#@])")

_SECRET_NAME = re.compile(
    r"SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|STREAM_?KEY|CREDS$|(?:^|_)(?:TOKEN|KEY|PWD|PASS|PW)$"
)
_HARMLESS_NAME = re.compile(r"_(?:FILE|PATH|DIR)$")
_LETS_IN = re.compile(
    r"(?:^|_)(?:AUTH|AUTHORIZATION|AUTHENTICATION|BEARER|API|STUDIO|ACCESS|LICENSE|SESSION|COOKIE)(?:_|$)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def names_secret(name: str) -> bool:
    """Whether a key or variable of this name holds a secret, and not the path of a file with one.

    Words may be joined by hyphens, underscores or capitals: access-token, ACCESS_TOKEN, accessToken.
    """
    folded = _folded(name)
    return bool(_SECRET_NAME.search(folded)) and not _HARMLESS_NAME.search(folded)


def _folded(name: str) -> str:
    return _CAMEL.sub("_", name).upper().replace("-", "_")


def find(text: str, name: str = "", media: bool = False) -> Leak | None:
    """What secret the text of a field seems to hold; None when it seems to hold none.

    A UUID is a plain id, unless its field is about access or it is in the address of a node. In the path of an address
    of `media` it is the id of a recording or a channel.
    """
    if len(text) < _LEAST or (len(text) < phrases.SHORTEST and not _WORTH.search(text)):
        return None
    return _find(text, name, media)


@lru_cache(maxsize=16384)  # fleets repeat addresses and names, and each text is checked several times
def _find(text: str, name: str, media: bool) -> Leak | None:
    return _certain(text) or _possible(text, name, media)


def _certain(text: str) -> Leak | None:
    """A form that is nothing else."""
    if "-----BEGIN " in text and _PRIVATE_KEY.search(text):
        return Leak("a private key", True)
    if _MAY_BE_TOKEN.search(text):
        if "eyJ" in text and _SIGNED.search(text):
            return Leak("a signed token", True)
        if forms().token.search(text):
            return Leak("an access token", True)
    if '"ciphertext"' in text and ('"crypto"' in text.lower() or '"kdf"' in text):
        return Leak("the content of a key file", True)
    if any(_is_access(kind.lower(), value) for kind, value in _HEADER.findall(text)):
        return Leak("an authorization header", True)
    seems, certain = phrases.find(text)
    return Leak("a recovery phrase", certain) if seems else None


def _is_access(kind: str, value: str) -> bool:
    """Whether a value behind "Basic" is a name and a password, or one behind "Bearer" a token."""
    if kind == "bearer":
        return bool(_UUID.fullmatch(value)) or is_random(value, CAREFUL)
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _possible(text: str, name: str, media: bool) -> Leak | None:
    """An address with a key, a named password, or long random text."""
    known = _hashes_hidden(text)
    seems = urls.find(known, name, media) if "://" in known else None
    if seems is not None:
        return seems
    rest = urls.without(known) if "://" in known else known
    if len(rest) >= 36:
        rest = _COMMIT.sub(_dots, _IDS.sub(_dots, rest))
    if any(_is_password(key, value) for key, value in _ASSIGNED.findall(rest)):
        return Leak("a password", False)
    if "-" in rest and any(map(_is_stream_key, _STREAM_KEY.findall(rest))):
        return Leak("a stream key", False)
    if _UUID.search(rest):
        if _LETS_IN.search(_folded(name)) or names_secret(name):
            return Leak("a key", False)
        rest = _UUID.sub(_dots, rest)
    if not is_random(rest):
        return None
    return Leak("a key of 64 hexadecimal digits" if _LONG_KEY.search(rest) else "a long random key", False)


def _hashes_hidden(text: str) -> str:
    """The text with dots in the place of hashes that are called so: sha256:0123, commit 0123, tx/0x0123."""
    return forms().hash.sub(_dots, text) if _MAY_BE_HASH.search(text) else text


def _dots(found: re.Match[str]) -> str:
    return "." * len(found[0])


def _is_password(name: str, value: str) -> bool:
    """Whether name=value in a text is a password: by its name, unless the value is a plain word or path."""
    if not (names_secret(name) or name.lower() in forms().query_names) or value[0] in "$/{[(":
        return False
    return len(_CHANGES.findall(value)) >= 2 and (not _PATH_MARKS.search(value) or is_random(value))


def _is_stream_key(text: str) -> bool:
    """Whether groups of four, joined by hyphens, are no words: "edge-node-eu01-west" is a name, "6wjk" is none."""
    odd = [group for group in text.split("-") if not _READABLE_GROUP.fullmatch(group)]
    return len(odd) >= 2 or (len(odd) == 1 and sum(char.isdigit() for char in text) >= 3)


def shown(text: str) -> str:
    """A text for an excerpt: a placeholder if it seems to be a secret, else the text, `masked`."""
    return HIDDEN if find(text) is not None else masked(text)


def may_show(text: str) -> bool:
    """Whether a text may be repeated to anybody: it holds no secret, and nothing long and random, known or not."""
    return find(text) is None and masked(text) == text


def masked(text: str) -> str:
    """The text with asterisks over all but the beginning of what is long and random; its length stays the same.

    Named accounts, GPU ids and digests stay: they are public and distinguish changes.
    """
    if not _MAY_BE_RANDOM.search(text):
        return text
    known = _IDS.sub(_dots, _hashes_hidden(text))
    hidden = list(text)
    spans = [found.span() for found in _UUID.finditer(known)]
    spans += [_whole_word(known, piece.start, piece.end) for piece in pieces(known, CAREFUL)]
    for start, end in spans:
        hidden[start + _SHORT : end] = "*" * (end - start - _SHORT)
    return "".join(hidden)


def _whole_word(text: str, start: int, end: int) -> tuple[int, int]:
    """A piece with the rest of the words that it begins and ends in."""
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end
