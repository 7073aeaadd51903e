"""Weighs addresses: user info, the labels of the host, the segments of the path, the values of the query.

In: a text, the name of its field, and whether it is the address of a recording. Out: what an address in it seems to
hold (`find`), and whether an RPC address may hold a key (`may_need_key`). Called by `__init__.py`. Providers and names
are data, in `upstream/secret_forms.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from fleetc.text.leaks.found import Leak
from fleetc.text.leaks.randomness import CAREFUL, is_random
from fleetc.upstream.secret_forms import Provider, forms

PASSWORD = Leak("a password in a URL", certain=True)
PROVIDER_KEY = Leak("a key in a URL", certain=True)
KEY = Leak("a key in a URL", certain=False)

_URL = re.compile(r"://([^\s/?#\"'<>]*)([^\s?#\"'<>]*)(\?[^\s#\"'<>]*)?(#[^\s\"'<>]*)?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*$")
_LONGEST_SCHEME = 20
_BETWEEN_URLS = re.compile(r",(?=[A-Za-z][A-Za-z0-9+.-]{0,20}://)")
"""The comma of a list of URLs. Any other comma may belong to a URL, also to the user info of one."""

_REFERENCE = re.compile(r"\$?\{[A-Za-z_][A-Za-z0-9_]*\}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_HEX_GROUPS = re.compile(r"[0-9a-fA-F-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DIGITS = re.compile(r"[0-9]{20,}")
_NO_VALUE = frozenset({"", "0", "1", "true", "false", "yes", "no", "none", "null"})
_USERS_WITHOUT_KEY = re.compile(r"ssh|git\+ssh|sftp|rsync|git")
_SAYS_NODE = re.compile(r"(?:^|[^a-z])(?:rpc|eth|arb|arbitrum|ethereum|web3|node|provider|archive)(?:[^a-z]|$)")


class UrlParts(NamedTuple):
    """An address as far as it matters here; the query is its names and values."""

    scheme: str
    user: str
    host: str
    segments: list[str]
    query: list[tuple[str, str]]
    fragment: str


def find(text: str, name: str = "", media: bool = False) -> Leak | None:
    """What the addresses in a text seem to hold; the certain first."""
    found = [seems for url in _urls(text) if (seems := _weigh(url, name, media)) is not None]
    return max(found, key=lambda one: one.certain, default=None)


def names_node(text: str) -> bool:
    """Whether the name of a field or a host means an address of a chain's node."""
    return bool(_SAYS_NODE.search(text.lower()))


def may_need_key(text: str) -> bool:
    """Whether an RPC address may hold a key: some part of it is none of the words that public ones are made of.

    A chain's name may look like a short key, so this is never certain, for callers that can ask.
    """
    known = forms().rpc_words
    return any(
        url.user or url.query or url.fragment
        or not all(word in known for segment in url.segments for word in re.split("[-_]", segment.lower()))
        for url in _urls(text)
    )  # fmt: skip


def without(text: str) -> str:
    """The text with dots in the place of its addresses."""
    return _URL.sub(lambda found: "." * len(found[0]), text)


def _urls(text: str) -> Iterator[UrlParts]:
    for part in _BETWEEN_URLS.split(text) if "," in text else [text]:
        for found in _URL.finditer(part):
            scheme = _SCHEME.search(part[max(0, found.start() - _LONGEST_SCHEME) : found.start()])
            authority, path, query, fragment = found.groups()
            user, _, host = authority.rpartition("@")
            pairs = (pair.partition("=") for pair in query[1:].split("&")) if query else ()
            yield UrlParts(
                scheme[0].lower() if scheme else "",
                user,
                host.lower(),
                [segment for segment in path.split("/") if segment],
                [(key.lower(), value) for key, _, value in pairs],
                (fragment or "#")[1:],
            )


def _weigh(url: UrlParts, name: str, media: bool) -> Leak | None:
    user, _, password = url.user.partition(":")
    if password and not _REFERENCE.fullmatch(password):
        return PASSWORD
    if user and not password and not _REFERENCE.fullmatch(user) and not _USERS_WITHOUT_KEY.fullmatch(url.scheme):
        return KEY
    provider = forms().providers.get(_is_of(url.host, forms().providers))
    if provider is not None and _has_key(url, provider):
        return PROVIDER_KEY
    if any(_lets_in(key) and value not in _NO_VALUE and not _REFERENCE.fullmatch(value) for key, value in url.query):
        return KEY if provider is None else PROVIDER_KEY
    return KEY if any(_seems_key(part, url, name, media) for part in _parts(url)) or (media and url.fragment) else None


def _has_key(url: UrlParts, provider: Provider) -> bool:
    parts = url.segments[provider.before :] if provider.key == "path" else url.host.split(".")[:1]
    return any(
        len(part) >= provider.least and part not in provider.words and not _REFERENCE.fullmatch(part) for part in parts
    )


def _parts(url: UrlParts) -> Iterator[str]:
    """A possible key in the address of an unknown provider: long enough, and no id or hash."""
    labels = [label for label in url.host.split(".") if len(label) >= CAREFUL.length]
    if labels and not _is_of(url.host, forms().id_hosts):
        yield from labels
    segments = [segment for segment in url.segments if len(segment) >= CAREFUL.length]
    if segments and not _is_of(url.host, forms().hash_hosts):
        yield from segments
    for part in (*(value for _, value in url.query), url.fragment):
        if len(part) >= CAREFUL.length:
            yield part


def _seems_key(part: str, url: UrlParts, name: str, media: bool) -> bool:
    if _REFERENCE.fullmatch(part) or _ADDRESS.fullmatch(part):
        return False
    if _UUID.fullmatch(part):
        return not media and (names_node(name) or names_node(url.host))
    if _HEX_GROUPS.fullmatch(part):
        part = part.replace("-", "")
    return is_random(part, CAREFUL) or bool(_COMMIT.fullmatch(part) or _DIGITS.fullmatch(part))


def _lets_in(name: str) -> bool:
    """Whether a parameter grants access, by its name."""
    return name in forms().query_names or any(part in name for part in forms().query_parts)


def _is_of(host: str, hosts: Collection[str]) -> str:
    """The member of `hosts` that the host is, or ends in; "" for none."""
    end = host.partition(":")[0]
    while end and end not in hosts:
        end = end.partition(".")[2]
    return end
