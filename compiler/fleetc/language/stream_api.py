"""What a user may write about the stream API itself: where it is, and which token it takes.

In: the raw table `stream_api`, and addresses in the settings of the tool. Out: `StreamApi`, frozen, and `api_url`, one
spelling for each address. The token is a reference. It never travels unencrypted, and never inside an address.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field
from pydantic.json_schema import WithJsonSchema

from fleetc.language import quantities as q
from fleetc.language.fields import Base, Parsed, refuse
from fleetc.language.stream import StreamSecret

_EXAMPLE = "https://streams.example.net/api"
_USUAL_PORTS = {"https": 443, "http": 80}
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*")


def api_url(value: Any) -> str:
    """Read the address of an API: https, or http on this machine; without query, fragment or slash at the end.

    Raises the error of a field.
    """
    try:
        url = q.parse_url(value, ("https", "http"))
    except q.QuantityError as problem:
        raise refuse(problem.message, problem.help, secret=problem.secret) from None
    own = q.reach_of(url.host) == "loopback" and not url.host.endswith(".localhost")
    if url.scheme == "http" and not own:
        raise refuse("over plain http everybody on the way could read the token", "write https://")
    port = "" if url.port in (None, _USUAL_PORTS[url.scheme]) else f":{url.port}"
    host = f"[{url.host}]" if ":" in url.host else url.host
    if url.path.endswith("/") and _PATH.fullmatch(url.path.rstrip("/")):
        clean = f"{url.scheme}://{host}{port}{url.path.rstrip('/')}"
        raise refuse("the address of the API cannot end with a slash", f'write "{clean}"', repair=clean)
    if not _PATH.fullmatch(url.path):
        raise refuse(
            "the address of the API can only have a plain path, without query or fragment",
            f'write everything before /stream, such as "{_EXAMPLE}"',
        )
    return f"{url.scheme}://{host}{port}{url.path}"


ApiUrl = Annotated[str, Parsed(api_url), WithJsonSchema({"type": "string", "examples": [_EXAMPLE]})]


class StreamApi(Base):
    """Where the stream API is, and which token it takes. `fleetc streams` asks it."""

    base_url: ApiUrl = Field(
        description="Address of the API with the prefix of its paths; https, or http on the machine itself. The user "
        "of `fleetc streams` must allow the token there."
    )
    token: StreamSecret = Field(description="Token of the API, as a secret reference.")
