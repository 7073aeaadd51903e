"""What a user may write about ladders: lists of renditions for streams, spelled as in the stream API.

In: raw `ladders` tables. Out: frozen `Ladder` values. The bounds are those that the node keeps to: it clamps sizes
outside of them, and a bit rate is a 32-bit number on its wire.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictStr, model_validator

from compiler.model.fields import Base, Integer, refuse


def _rendition_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,499}", text) or text == "source":
        raise refuse(
            "this is not the name of a rendition",
            'write letters, digits and . _ - such as "720p"; "source" is the stream itself',
        )
    return text


def _gop(text: str) -> str:
    if text != "intra" and not re.fullmatch(r"(0|[1-9][0-9]{0,4})(\.[0-9]{1,6})?", text):
        raise refuse("this is no distance of key frames", 'write seconds as text, such as "2.0", or "intra"')
    return text


def _color_depth(value: int) -> int:
    if value not in (0, 2, 4, 8):
        raise refuse("the colour depth is written as the bits beyond 8", "write 0, 2, 4 or 8")
    return value


class Rendition(Base):
    """One rendition of a ladder. Its keys are those of the stream API and of the node."""

    name: Annotated[StrictStr, AfterValidator(_rendition_name)] = Field(
        description="Name of the rendition; it stands in playlists and paths."
    )
    width: Integer = Field(ge=146, le=4096, description="Width in pixels.")
    height: Integer = Field(ge=50, le=4096, description="Height in pixels.")
    bitrate: Integer = Field(ge=400, le=2**31 - 1, description="Bit rate in bits a second.")
    fps: Integer = Field(0, ge=0, le=1_000_000, description="Frames a second; 0 keeps those of the source.")
    fpsDen: Integer | None = Field(  # noqa: N815  # spelled as the node and the stream API do
        None, ge=1, le=1_000_000, description="What fps is divided by, for rates such as 30000/1001."
    )
    quality: Integer | None = Field(
        None, ge=0, le=44, description="Constant quality instead of the bit rate, which then only caps; 0 is off."
    )
    gop: Annotated[StrictStr, AfterValidator(_gop)] | None = Field(
        None, description='Seconds between key frames as text, or "intra" for key frames only.'
    )
    profile: Literal["H264Baseline", "H264Main", "H264High", "H264ConstrainedHigh"] | None = Field(
        None, description="Profile of H.264; the encoder's own choice when left out."
    )
    encoder: Literal["H.264", "HEVC", "VP8", "VP9"] | None = Field(
        None, description="Codec of the rendition; H.264 when left out."
    )
    colorDepth: Annotated[Integer, AfterValidator(_color_depth)] | None = Field(  # noqa: N815
        None, description="Bits of each colour beyond 8: 0, 2, 4 or 8."
    )
    chromaFormat: Integer | None = Field(  # noqa: N815
        None, ge=0, le=2, description="Chroma subsampling: 0 for 4:2:0, 1 for 4:2:2, 2 for 4:4:4."
    )


class Ladder(Base):
    """A list of renditions, in the order in which players are offered them."""

    profiles: tuple[Rendition, ...] = Field(
        min_length=1, max_length=100, description="The renditions, from one to a hundred."
    )

    @model_validator(mode="after")
    def _names_differ(self) -> Ladder:
        twice = [name for name, count in Counter(p.name for p in self.profiles).items() if count > 1]
        if twice:
            raise refuse(
                f'two renditions are named "{twice[0]}"',
                "give each a name of its own: names become paths of the stream",
            )
        return self
