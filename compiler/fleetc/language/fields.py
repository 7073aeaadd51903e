"""The types that fields of the spec have: names, quantities and paths. References to secrets are in `secret_fields.py`.

In: raw TOML values. Out: frozen typed values, or a pydantic error of type `spec` with a sentence and a help line
(`language/problems.py` makes it a diagnostic). Used by every other file of this package. `sets` makes a field of a node
that becomes a flag unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StrictBool,
    StrictInt,
    StrictStr,
)
from pydantic.json_schema import WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from fleetc.language import quantities as q
from fleetc.language import units
from fleetc.places.diagnostic import Value
from fleetc.upstream import NEWEST_RELEASE, OLDEST_RELEASE, RELEASES, Release, format_release, parse_release

T = TypeVar("T")

NAME_PATTERN = "[a-z](-?[a-z0-9])*"
NAME_LIMIT = 40
RESERVED_NAMES = frozenset(
    [
        "all",
        "ungrouped",
        "localhost",
        "hostvars",
        "groups",
        "vars",
        "environment",
        "omit",
        "con",
        "prn",
        "aux",
        "nul",
        "any",
        "none",
        "manifest",
        "ansible",
        "avatar",
    ]
) | {f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)}

_NAME = re.compile(NAME_PATTERN)
_PATH = re.compile(r"(/[A-Za-z0-9_@+][A-Za-z0-9._@+-]*|/\.[A-Za-z0-9_][A-Za-z0-9._@+-]*)+")
_ENV_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_IMAGE = re.compile(
    r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::[0-9]{1,5})?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
_PERCENTAGE = re.compile("(0|[1-9][0-9]?|100)%")
_WEIGHT = re.compile(r"[0-9]{1,6}(\.[0-9]{1,9})?")
TOOL_FORM = re.compile(r"(>=|==)([0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,4})?)")
"""A version of fleetc, and whether newer ones fit too."""
_USER = re.compile("[a-z_][a-z0-9_-]{0,31}")


class Base(BaseModel):
    """A table of the spec: closed, frozen, and its errors never show the value that was refused."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        arbitrary_types_allowed=True,
        defer_build=True,
    )


@dataclass(frozen=True, slots=True)
class Parsed:
    """Marks a field whose value only `parse` makes.

    It is pydantic's PlainValidator without the serializer of the field's type: a fleet is never written back, and the
    serializer would slow down every start.
    """

    parse: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.parse)


def refuse(message: str, help: str = "", secret: bool = False, repair: Value | None = None) -> PydanticCustomError:
    """The error a field raises: one sentence, and what to write instead. The value of a `secret` one is never shown.

    `repair` is the value that was meant, if there is no doubt about it.
    """
    context = {"message": message, "help": help, "secret": secret, "repair": repair}
    return PydanticCustomError("spec", "{message}", context)


def matching(pattern: re.Pattern[str], message: str, help: str) -> AfterValidator:
    """The check that the whole of a text has a form; the message and help of `refuse` for any other."""

    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise refuse(message, help)
        return text

    return AfterValidator(check)


def percentage(lowest: int) -> Parsed:
    """The check of a whole percentage from `lowest` to 100, such as "85%"; the value stays text."""

    def parse(value: Any) -> str:
        number = _PERCENTAGE.fullmatch(value) if isinstance(value, str) else None
        if number is None or int(number[1]) < lowest:
            repair = f"{value}%" if type(value) is int and 1 < value <= 100 else None  # 1 may mean all
            form = f'write a whole percentage from {lowest} to 100, such as "85%"'
            raise refuse("this is not a percentage", form, repair=repair)
        return str(value)

    return Parsed(parse)


def refuse_quantity(problem: q.QuantityError, parse: Callable[[Any], object], value: object) -> PydanticCustomError:
    """The error for a quantity that `parse` cannot read, with the spelling that it could read, if there is one."""
    repair = q.respelled(parse, value) if isinstance(value, str) else ""
    return refuse(problem.message, problem.help, secret=problem.secret, repair=repair or None)


def parsed(parse: Callable[[Any], T]) -> Callable[[Any], T]:
    """Read a quantity, or raise the error for people."""
    known = lru_cache(maxsize=4096)(parse)  # fleets repeat their prices, listeners and sizes thousands of times

    def validate(value: Any) -> T:
        try:
            return known(value) if type(value) is str else parse(value)
        except q.QuantityError as problem:
            raise refuse_quantity(problem, parse, value) from None

    return validate


def check_name(text: str) -> str:
    """Check the name of a host, node, wallet, model or fleet: names become paths, unit names and Ansible hosts."""
    if len(text) > NAME_LIMIT or not _NAME.fullmatch(text):
        raise refuse(
            "this name cannot be used for files, units and hosts",
            f"use lower-case letters, digits and single hyphens, a letter first, at most {NAME_LIMIT} characters",
        )
    if text in RESERVED_NAMES:
        raise refuse(f'"{text}" is a reserved name', "choose another one")
    return text


def check_path(text: str) -> str:
    """Check an absolute path of plain characters."""
    if text.startswith("~/"):
        raise refuse("~ is no home here", "write the home in place of ~, such as /home/ubuntu")
    if text.startswith("./"):
        raise refuse("this path is not absolute", "write the folder in place of ., such as /opt/livepeer")
    if "/<PROJECT>_" in text:
        raise refuse(
            "this path does not name the Compose project of its volume",
            "write the name of the project in place of <PROJECT>; docker volume ls shows it",
        )
    if not _PATH.fullmatch(text) or len(text) > 1024:
        raise refuse(
            "this is not an absolute path of plain characters",
            "write /like/this: only letters, digits and . _ @ + -, no . or .. parts",
        )
    if any(part in ("", ".", "..") for part in text[1:].split("/")):
        raise refuse("a path cannot contain empty, . or .. parts", "write the path without them")
    return text


def check_variable_name(text: str) -> str:
    """Check the name of an environment variable."""
    if not _ENV_NAME.fullmatch(text) or len(text) > 128:
        raise refuse(
            "this is not the name of an environment variable", "use letters, digits and _, not starting with a digit"
        )
    return text


def _variable_name(text: str) -> str:
    if text.startswith("LP_"):
        raise refuse(
            "the node reads variables named LP_... as flags, bypassing every check",
            "write the setting itself; a variable would silently override it",
        )
    return check_variable_name(text)


def _whole_seconds(value: Any) -> q.Duration:
    duration = q.parse_duration(value)
    if duration.microseconds < 1_000_000 or duration.microseconds % 1_000_000:
        raise q.QuantityError("this takes whole seconds, 1 or more", 'write it like "20s"')
    return duration


def _positive_duration(value: Any) -> q.Duration:
    duration = q.parse_duration(value)
    if duration.microseconds == 0:
        raise q.QuantityError("an interval of zero stops the node", 'write it like "10 s"')
    return duration


def _gas_price(value: Any) -> q.Wei:
    price = q.parse_wei(value)
    if not 0 < price.wei < 2**63:
        raise q.QuantityError("the node accepts gas prices from 1 wei to below 2^63 wei", 'write it like "5 gwei"')
    return price


def _cap_price(value: Any) -> q.Price:
    price = q.parse_price(value)
    if price.is_zero:
        raise q.QuantityError("the node reads a cap of zero as no cap at all", "write the highest price you would pay")
    return price


def _rate(value: Any) -> q.Wei:
    rate = q.parse_wei(value)
    if not rate.wei:
        raise q.QuantityError("a currency cannot be worth zero", 'write it like "0.00042 ETH"')
    return rate


def _image(text: str) -> str:
    if not _IMAGE.fullmatch(text) or len(text) > 255:
        raise refuse(
            "this is not a container image",
            'write "registry/name:tag", such as "livepeer/go-livepeer:v0.9.1"',
        )
    return text


_HIGHEST_PART = 9999
"""A higher number in a release is a typo."""


def _release(value: Any) -> Release:
    form = f'write "{format_release(OLDEST_RELEASE)}" or a later release, such as "{format_release(NEWEST_RELEASE)}"'
    if not isinstance(value, str):
        raise refuse("a release must be text", form)
    try:
        release = parse_release(value)
    except ValueError:
        meant = "v" + value.strip().lower().removeprefix("v")
        known = meant in map(format_release, RELEASES)
        raise refuse("this is not a node release", form, repair=meant if known else None) from None
    written = format_release(release)
    if written != value or any(part > _HIGHEST_PART for part in release):
        raise refuse("this is not a node release", form, repair=written if release in RELEASES else None)
    if release < OLDEST_RELEASE:
        raise refuse(f"this version of fleetc does not know the flags of {value}", form)
    if release < NEWEST_RELEASE and release not in RELEASES:
        before = max(known for known in RELEASES if known < release)
        after = min(known for known in RELEASES if known > release)
        around = f'"{format_release(before)}" before it and "{format_release(after)}" after it'
        raise refuse(f"the node has no release {value}", f"there is {around}")
    return release


GPU_UUID_PATTERN = "GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _gpu_uuid(text: str) -> str:
    if not is_gpu_uuid(text):
        raise refuse("this is not the UUID of a GPU", "copy it from nvidia-smi -L: GPU- and a UUID in lower case")
    return text


def is_gpu_uuid(value: object) -> bool:
    """Whether a value is the UUID of a whole GPU, as `nvidia-smi -L` prints it."""
    return isinstance(value, str) and re.fullmatch(GPU_UUID_PATTERN, value) is not None


def read_release(text: str) -> Release | None:
    """The release that this text names in a spec, or None."""
    try:
        return _release(text)
    except PydanticCustomError:
        return None


def _text(text: str) -> str:
    if not text:
        raise refuse("the text is empty, which the node reads as unset", "remove the key, or write a value")
    if len(text.encode()) > 131_000:
        raise refuse("the text is too long for a process argument", "shorten it")
    return text


def _weight(value: Any) -> Decimal:
    plain = not isinstance(value, bool) and _WEIGHT.fullmatch(str(value))
    if not isinstance(value, str) or not plain:
        repair = str(value) if plain else None
        raise refuse("this is not a plain decimal number", 'write it as text, such as "0.3"', repair=repair)
    return Decimal(value)


def _url(schemes: tuple[str, ...]) -> Callable[[Any], q.Url]:
    return parsed(lambda text: q.parse_url(text, schemes))


def _text_schema(example: str, unit: str = "") -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "examples": [example], **({units.UNIT: unit} if unit else {})})


Name = Annotated[
    StrictStr,
    AfterValidator(check_name),
    WithJsonSchema({"type": "string", "pattern": f"^{NAME_PATTERN}$", "maxLength": NAME_LIMIT}),
]
Text = Annotated[StrictStr, AfterValidator(_text)]
GpuUuid = Annotated[
    StrictStr, AfterValidator(_gpu_uuid), WithJsonSchema({"type": "string", "pattern": f"^{GPU_UUID_PATTERN}$"})
]
Integer = StrictInt
Flag = StrictBool
AbsolutePath = Annotated[StrictStr, AfterValidator(check_path)]
VariableName = Annotated[StrictStr, AfterValidator(_variable_name)]
Image = Annotated[StrictStr, AfterValidator(_image)]
UserName = Annotated[
    StrictStr,
    matching(
        _USER, "this is not the name of a Unix user", "use lower-case letters, digits, _ and -, starting with a letter"
    ),
]
NeededTool = Annotated[
    StrictStr,
    matching(TOOL_FORM, "this names no version of fleetc", 'write ">=0.1" for 0.1 and newer, "==0.1.0" for only one'),
    WithJsonSchema({"type": "string", "pattern": f"^{TOOL_FORM.pattern}$", "examples": [">=0.1"]}),
]
ReleaseField = Annotated[Release, Parsed(_release), _text_schema("v0.9.1")]
Price = Annotated[q.Price, Parsed(parsed(q.parse_price)), _text_schema("1200 wei / pixel", units.PRICE)]
CapPrice = Annotated[q.Price, Parsed(parsed(_cap_price)), _text_schema("1500 wei / pixel", units.PRICE)]
RunnerPrice = Annotated[
    q.RunnerPrice, Parsed(parsed(q.parse_runner_price)), _text_schema("0.72 USD / hour", units.RUNNER_PRICE)
]
RunnerLoad = Annotated[
    q.RunnerLoad, Parsed(parsed(q.parse_runner_load)), _text_schema("2.5 sessions", units.RUNNER_LOAD)
]
Wei = Annotated[q.Wei, Parsed(parsed(q.parse_wei)), _text_schema("0.05 ETH", units.AMOUNT)]
Throughput = Annotated[
    q.Throughput, Parsed(parsed(q.parse_throughput)), _text_schema("2000000000 pixels / s", units.LOAD)
]
Currency = Annotated[str, Parsed(parsed(q.parse_currency)), _text_schema("USD")]
Rate = Annotated[q.Wei, Parsed(parsed(_rate)), _text_schema("0.00042 ETH", units.AMOUNT)]
Bytes = Annotated[q.Bytes, Parsed(parsed(q.parse_bytes)), _text_schema("24 GiB", units.SIZE)]
Duration = Annotated[q.Duration, Parsed(parsed(q.parse_duration)), _text_schema("5s", units.TIME)]
PositiveDuration = Annotated[q.Duration, Parsed(parsed(_positive_duration)), _text_schema("10 s", units.TIME)]
WholeSeconds = Annotated[q.Duration, Parsed(parsed(_whole_seconds)), _text_schema("20s", units.TIME)]
GasPrice = Annotated[q.Wei, Parsed(parsed(_gas_price)), _text_schema("5 gwei", units.AMOUNT)]
Listener = Annotated[q.Listener, Parsed(parsed(q.parse_listener)), _text_schema("127.0.0.1:7935")]
Address = Annotated[q.EthAddress, Parsed(parsed(q.parse_eth_address)), _text_schema("0x" + "1" * 40)]
HostAddress = Annotated[str, Parsed(parsed(q.parse_machine)), _text_schema("203.0.113.10")]
Share = Annotated[str, percentage(1), WithJsonSchema({"type": "string", "pattern": "^([1-9][0-9]?|100)%$"})]
Weight = Annotated[Decimal, Parsed(_weight), _text_schema("0.3")]
HttpUrl = Annotated[q.Url, Parsed(_url(("http", "https"))), _text_schema("https://example.net/hook")]
WebSocketUrl = Annotated[q.Url, Parsed(_url(("ws", "wss"))), _text_schema("ws://192.0.2.1:80")]


class Sets(NamedTuple):
    """The mark of a field whose value becomes the flag of the node with this name, written by `rows.written`."""

    flag: str


def sets(flag: str, default: Any, description: str, **constraints: Any) -> Any:
    """A field of a node that sets a flag; the rest are options of pydantic's `Field`."""
    field = Field(default, description=description, **constraints)
    field.metadata.append(Sets(flag))
    return field
