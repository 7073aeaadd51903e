"""The spec contains a secret.

Why: the spec ends up in a repository, its history, reviews and logs, and its text, including comments, is copied into
the tree. Anybody who can read one of them has the key, and removing it later does not help: you must replace it. A
certain secret is an error that you cannot silence: a token's prefix, a private key, a valid recovery phrase, a key in a
known provider's address. Long random text may be an id: you can silence that error with `[silences.<name>]`: code =
"inline-secret", its exact place as `at`, and a reason.

Example:

    [fleet]
    rpc = "https://rpc.provider.example/?apikey=YOUR-KEY-HERE"

Instead:

    [fleet]
    rpc = { env = "ARBITRUM_RPC_URL" }
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from fleetc.language.fields import Base
from fleetc.language.fleet import Fleet
from fleetc.language.program import Digest
from fleetc.language.quantities import Bytes, Duration, EthAddress, Listener, Price, Url, Wei
from fleetc.language.secret_fields import REFERENCE_FORM
from fleetc.language.stream import STREAM_REFERENCE_FORM
from fleetc.places.diagnostic import Diagnostic, Label, Path, error
from fleetc.text import leaks

_HARMLESS_VALUE = re.compile(r"[0-9]{1,5}|true|false|yes|no|/.*")
_NO_TEXT = frozenset({bool, int, type(None), Listener, Price, EthAddress, Wei, Duration, Bytes, Decimal, Digest})
_FALSE_ALARM = "; if it is not a secret, silence this error at this place, with a reason"
_NO_FORM = "remove it: this field is sent to the service as is, and cannot be a reference"


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Look at every text of the spec. The message names the place and the kind, never the value."""
    yield from _walk(fleet, ())
    for node in fleet.nodes:
        for name, value in node.settings.environment.items():
            secret_name = leaks.names_secret(name) and not _HARMLESS_VALUE.fullmatch(value)
            if secret_name and not leaks.find(value, name):
                yield error(
                    "inline-secret",
                    f"{node.name} sets the variable {name} in plain text, but its name says that it is a secret",
                    Label((*node.path, "environment", name), secret=True),
                    help=f'move it: secret_environment = {{ {name} = {{ env = "{name}" }} }}',
                )


def _walk(value: Any, path: Path) -> Iterator[Diagnostic]:
    """Everything below a value; only what the spec sets, because defaults contain no secrets.

    It compares exact types: asking a pydantic class whether it is one is slow, and this visits every value of the spec.
    """
    kind = type(value)
    members: Iterable[tuple[str | int, Any]] = ()
    if kind is dict:
        for key in value:
            if (seems := leaks.find(key)) is not None:
                yield _found(seems, (*path, key), on_key=True)
        members = value.items()
    elif kind is tuple:
        members = enumerate(value)
    elif issubclass(kind, Base):
        members = [(name, getattr(value, name)) for name in value.model_fields_set]
    for name, item in members:
        kind = type(item)
        if kind is str or kind is Url:
            text = item if kind is str else item.text
            field = str(name) if isinstance(name, str) else str(path[-1])
            if (seems := leaks.find(text, field, media=_is_source(path, name))) is not None:
                yield _found(seems, (*path, name))
        elif kind not in _NO_TEXT:
            yield from _walk(item, (*path, name))


def _is_source(table: Path, key: str | int) -> bool:
    """Whether this is the address to pull a stream from."""
    return key == "source" and table[:1] == ("streams",) and table[2:] == ("pull",)


def _form(path: Path, on_key: bool) -> str:
    """What to write instead of a secret: the references that the field takes, if any."""
    if path[0] != "streams":
        return REFERENCE_FORM
    return STREAM_REFERENCE_FORM if _is_source(path[:-1], path[-1]) and not on_key else _NO_FORM


def _found(seems: leaks.Leak, path: Path, on_key: bool = False) -> Diagnostic:
    at = path[:-1] if on_key else path
    place = ".".join(map(str, at))
    told = f"{_form(path, on_key)}; then replace the secret, because it has been written down"
    found = error(
        "inline-secret",
        f"{place} seems to contain {seems.kind}",
        Label(path, on_key=on_key, secret=True),
        help=told if seems.certain else f"{told}{_FALSE_ALARM}",
    )
    return found if seems.certain else replace(found, doubted=at)
