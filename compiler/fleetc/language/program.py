"""What a user may write about the node's program: where that of a release comes from.

In: raw tables `programs`, one for each release. Out: frozen typed values. Only systemd hosts use them.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictStr, model_validator
from pydantic.json_schema import WithJsonSchema

from fleetc.language import quantities as q
from fleetc.language.fields import AbsolutePath, Base, Name, Parsed, matching, read_release, refuse
from fleetc.upstream import format_release

_DIGEST = re.compile("[0-9a-f]{64}")
_MEMBER = re.compile(r"(?!\.{1,2}(/|$))[A-Za-z0-9._+-]+(/(?!\.{1,2}(/|$))[A-Za-z0-9._+-]+)*")
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")


class Digest(str):
    """A SHA-256 digest in hex. It has its own type because it looks like a key, but is public."""


def _sha256(value: Any) -> Digest:
    form = "copy it from the checksums of the release, or from sha256sum: 64 digits and letters from a to f"
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        meant = value.strip().lower().removeprefix("sha256:") if isinstance(value, str) else ""
        repair = meant if _DIGEST.fullmatch(meant) else None
        raise refuse("this is not a SHA-256 digest in lower case", form, repair=repair)
    return Digest(value)


def _address(value: Any) -> q.Url:
    """An address that a host fetches a program from: nothing in it may be a secret, because trees are published."""
    try:
        url = q.parse_url(value, ("http", "https"))
    except q.QuantityError as problem:
        raise refuse(problem.message, problem.help, secret=problem.secret) from None
    if url.scheme == "http" and q.reach_of(url.host) != "loopback":
        raise refuse("hosts only fetch programs over https", "write https://..., or name a file to copy from")
    if "?" in url.path or "#" in url.path:
        raise refuse(
            "this address has a query or a fragment, which often holds a key",
            "write an address that everybody may read, or name a file to copy from",
            secret=True,
        )
    return url


ProgramUrl = Annotated[
    q.Url,
    Parsed(_address),
    WithJsonSchema({"type": "string", "examples": ["https://downloads.example.net/livepeer-linux-amd64.tar.gz"]}),
]
Sha256 = Annotated[Digest, Parsed(_sha256), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})]
Member = Annotated[
    StrictStr,
    matching(
        _MEMBER,
        "this is not the path of a file in an archive",
        'write it as tar lists it, such as "livepeer-linux-amd64/livepeer"',
    ),
]


class ProgramBuild(Base):
    """One build of the node's program: where it comes from, and its digest."""

    url: ProgramUrl | None = Field(
        None, description="Address that each host fetches it from; https, or http from the host itself."
    )
    file: AbsolutePath | None = Field(
        None,
        description="File on the machine that deploys, which is copied to the hosts that lack it.",
        examples=["/srv/programs/livepeer-linux-amd64.tar.gz"],
    )
    sha256: Sha256 = Field(description="SHA-256 of what is at that address or in that file, the archive included.")
    member: Member | None = Field(
        None,
        description="Path of the program in the archive, such as livepeer-linux-amd64/livepeer; without it, the file "
        "is the program itself.",
    )

    @model_validator(mode="after")
    def _comes_from_one_place(self) -> ProgramBuild:
        if (self.url is None) == (self.file is None):
            raise refuse("a program needs either url or file", "write one of the two")
        if self.member is None and self.source.endswith(_ARCHIVES):
            raise refuse("this is an archive, and no field names the program in it", "add member")
        return self

    @property
    def source(self) -> str:
        """The address or the path that it comes from."""
        return str(self.url or self.file)


class Program(ProgramBuild):
    """The node's program of one release, for systemd hosts.

    fleetc installs it below /opt/fleetc/programs, beside other releases, so a failed rollout returns to the previous
    program.
    """

    builds: dict[Name, ProgramBuild] = Field(
        default_factory=dict,
        description="Other builds of the same release, such as gpu or arm64, by the name that hosts give as `build`.",
    )


def _release_name(text: str) -> str:
    release = read_release(text)
    if release is None or format_release(release) != text:
        raise refuse("this is not a known node release", 'name the table after it, such as programs."v0.9.1"')
    return text


ReleaseName = Annotated[StrictStr, AfterValidator(_release_name)]
