"""Recognises secrets by their looks: keys in URLs, private keys, tokens, key files, recovery phrases.

In: any text. Out: what kind of secret it seems to hold, or "" (`find`), and whether a key is called like one
(`names_secret`). Called by the rule that refuses secrets in a spec, and by all that
prints or reports text from outside, which never repeats one. It knows forms only, so a plain word is not found: fields
that are secrets take references and nothing else. No form takes more than linear time.
"""

from __future__ import annotations

import re

_SUSPECT = re.compile(
    r"://|-----BEGIN |eyJ|ciphertext"
    r"|gh[opsur]_|github_pat_|glpat-|hf_|sk-|sk_live_|rk_live_|xox[abprs]-|AKIA|ASIA|AIza|AGE-SECRET-KEY-|npm_|SG\."
    r"| (?:[a-z]{3,8} ){10}"
)
_LONG_KEY = re.compile(r"[0-9a-fA-F]{64}")
"""Every form below contains one of these: a quick way past the many texts that hold nothing.

In the first, each branch begins with one certain character, which makes its search three times as fast.
"""

_FORMS = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY|AGE-SECRET-KEY-1[A-Z0-9]{20}")),
    ("a signed token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8}")),
    (
        "an access token",
        re.compile(
            r"\bgh[opsur]_[A-Za-z0-9]{30}|\bgithub_pat_[A-Za-z0-9_]{30}|\bglpat-[A-Za-z0-9_-]{20}"
            r"|\bhf_[A-Za-z0-9]{30}|\bsk-[A-Za-z0-9_-]{20}|\b[sr]k_live_[A-Za-z0-9]{16}|\bnpm_[A-Za-z0-9]{30}"
            r"|\bxox[abprs]-[A-Za-z0-9-]{20}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30}"
            r"|\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16}"
        ),
    ),
    ("a key of 64 hexadecimal digits", re.compile(r"(?<!sha256:)(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])")),
)

_URL = re.compile(r"://([^\s/?#\"'<>]*)([^\s?#\"'<>]*)(\?[^\s#\"'<>]*)?(#[^\s\"'<>]*)?")
_BETWEEN_URLS = re.compile(r",(?=[A-Za-z][A-Za-z0-9+.-]*://)")
"""The comma of a list of URLs. Any other comma may belong to a URL, also to the user info of one."""
_KEY_NAME = re.compile(
    r"(?:api|access|private).?key|token|secret|passw|credential|signature|^auth|^sig$|^pwd?$|(?:^|[-_.])key$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_READABLE = re.compile(r"v?[0-9]{1,8}|[a-z]{1,24}[0-9]{0,3}|[A-Z][a-z]+")
_KEY_LENGTH = 20

_PHRASE = re.compile(r"(?<![a-z])(?:[a-z]{3,8} ){11,23}[a-z]{3,8}(?![a-z])")
_PHRASE_LENGTHS = (12, 15, 18, 21, 24)
_NO_PHRASE_WORDS = frozenset({"the", "and", "for", "are", "was", "our", "its", "but", "has", "with", "from"})
"""Words of ordinary sentences that no recovery phrase holds: its word list lacks them."""


_SECRET_NAME = re.compile(r"SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|STREAM_?KEY|(?:^|_)(?:TOKEN|KEY|PWD)$")
_HARMLESS_NAME = re.compile(r"_(?:FILE|PATH|DIR)$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def names_secret(name: str) -> bool:
    """Whether a key or variable of this name holds a secret, and not the path of a file with one.

    Words may be joined by hyphens, underscores or capitals: access-token, ACCESS_TOKEN, accessToken.
    """
    folded = _CAMEL.sub("_", name).upper().replace("-", "_")
    return bool(_SECRET_NAME.search(folded)) and not _HARMLESS_NAME.search(folded)


def find(text: str, media: bool = False) -> str:
    """What kind of secret the text seems to hold, such as "an access token"; "" when it seems to hold none.

    In the path of an address of `media` a UUID is the id of a recording or a channel; elsewhere it may be a key.
    """
    if len(text) < 8 or not (_SUSPECT.search(text) or (len(text) >= 64 and _LONG_KEY.search(text))):
        return ""
    for kind, form in _FORMS:
        if form.search(text):
            return kind
    if '"ciphertext"' in text and ('"crypto"' in text.lower() or '"kdf"' in text):
        return "the content of a key file"
    if any(_holds_key(url, media) for part in _BETWEEN_URLS.split(text) for url in _URL.finditer(part)):
        return "a key in a URL"
    return "a recovery phrase" if any(map(_is_phrase, _PHRASE.findall(text))) else ""


def _holds_key(url: re.Match[str], media: bool) -> bool:
    """Whether a URL has user info, a fragment, a query that names a key, or a path segment that looks like one."""
    authority, path, query, fragment = url.groups()
    if "@" in authority or (fragment and len(fragment) > 1):
        return True
    for pair in (query or "?")[1:].split("&"):
        name, _, value = pair.partition("=")
        if value and not _REFERENCE.fullmatch(value) and _KEY_NAME.search(name):
            return True
    return any(_looks_random(part) and not (media and _UUID.fullmatch(part)) for part in path.split("/"))


def _looks_random(segment: str) -> bool:
    """20 characters or more with letters and digits, that are neither a ${REFERENCE} nor words joined by marks."""
    if len(segment) < _KEY_LENGTH or _REFERENCE.fullmatch(segment):
        return False
    if not any(c.isdigit() for c in segment) or not any(c.isalpha() for c in segment):
        return False
    words = re.split(r"[-_.]", segment)
    return len(words) == 1 or not all(_READABLE.fullmatch(word) for word in words if word)


def _is_phrase(text: str) -> bool:
    words = text.split(" ")
    return len(words) in _PHRASE_LENGTHS and not _NO_PHRASE_WORDS.intersection(words)
