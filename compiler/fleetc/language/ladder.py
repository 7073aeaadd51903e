"""What a user may write about ladders: lists of renditions, spelled as in the stream API.

In: raw `ladders` tables. Out: frozen `Ladder` values. A ladder has up to three destinations: the payload of a stream,
the node's own file, and the answer of a webhook. Their limits differ, so this model accepts what any of them accepts;
`renditions.py` finds the users of a ladder, and rules judge each use.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictStr

from fleetc.language.fields import Base, Integer, refuse
from fleetc.language.rendition import H264, Bitrate, ProfileName, whole_rate
from fleetc.language.units import Pixels, Unit

_MOST = 100


def _color_depth(value: int) -> int:
    if value not in (0, 2, 4, 8):
        raise refuse("colorDepth is the number of bits beyond 8", "write 0, 2, 4 or 8")
    return value


def _one_to_a_hundred(value: Any) -> Any:
    if isinstance(value, list) and not 1 <= len(value) <= _MOST:
        raise refuse(
            f"a ladder needs 1 to {_MOST} renditions",
            'write profiles = [{ name = "720p", width = 1280, height = 720, bitrate = 3000000, fps = 30 }]',
        )
    return value


class Rendition(Base):
    """One rendition of a ladder. Its keys are the same as in the stream API and in the node."""

    name: ProfileName = Field(description="Name of the rendition; it appears in playlists and paths.")
    width: Pixels = Field(ge=1, le=65536, description="Width in pixels: 128 or more for streams, 146 for nodes.")
    height: Pixels = Field(ge=1, le=65536, description="Height in pixels: 128 or more for streams, 50 for nodes.")
    bitrate: Bitrate = Field(ge=1, le=2**53, description="Bits per second as a whole number, such as 3000000.")
    fps: Annotated[Integer, Field(ge=0, le=1_000_000), BeforeValidator(whole_rate), Unit("frames / s")] | None = Field(
        None,
        description="Frames per second, required for streams; 0 keeps the source's; 29.97 is fps 30000, fpsDen 1001.",
    )
    fpsDen: Integer | None = Field(  # noqa: N815  # spelled as the node and the stream API do
        None, ge=1, le=1_000_000, description="Divisor of fps, for rates such as 30000/1001."
    )
    quality: Integer | None = Field(
        None,
        ge=0,
        le=44,
        description="Constant quality instead of the bit rate, which is then only a cap; 0 is off.",
        examples=[23],
    )
    gop: StrictStr | None = Field(
        None, description='Seconds between key frames as text, such as "2", or "intra" for key frames only.'
    )
    profile: H264 | None = Field(None, description="H.264 profile; by default the encoder chooses.")
    encoder: Literal["H.264", "HEVC", "VP8", "VP9"] | None = Field(
        None, description="Codec of the rendition; H.264 by default, and always for streams."
    )
    colorDepth: Annotated[Integer, AfterValidator(_color_depth)] | None = Field(  # noqa: N815  # as fpsDen
        None, description="Bits per colour beyond 8: 0, 2, 4 or 8; nodes only.", examples=[2]
    )
    chromaFormat: Integer | None = Field(  # noqa: N815  # as fpsDen
        None,
        ge=0,
        le=2,
        description="Chroma subsampling: 0 for 4:2:0, 1 for 4:2:2, 2 for 4:4:4; nodes only.",
        examples=[1],
    )


class Ladder(Base):
    """A list of renditions, in the order that players see them."""

    profiles: Annotated[tuple[Rendition, ...], BeforeValidator(_one_to_a_hundred)] = Field(
        description="The renditions, from one to a hundred.", json_schema_extra={"minItems": 1, "maxItems": _MOST}
    )
