"""A sealed plan as bytes and back: canonical JSON, and the seal over its exact bytes.

In: a `SealedPlan`, or the content of a plan file. Out: the other. The file is `{"plan": ..., "seal": ...}` with sorted
keys, two blanks a level and a final line end. The seal is the SHA-256 of the bytes between the two keys: fleetc checks
it before parsing. One plan has one spelling: any other is refused, even if it means the same. The seal finds accidents
and edits. Only a signature helps against a person who makes a new seal.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from fleetc.emit.artifacts import json_document, plain_decimal
from fleetc.rollout.plan.data import FORMAT, PlanRefusedError, Refusal, SealedPlan

_START = b'{\n  "plan": '
_BEFORE_SEAL = b',\n  "seal": "sha256:'
_END = b'"\n}\n'
_SEAL_LENGTH = 64

_AGAIN = "make a new plan with fleetc plan, or fetch the file again from where it was stored"


def encode(plan: SealedPlan) -> bytes:
    """The content of the plan's file."""
    body = _body(plan)
    return _START + body + _BEFORE_SEAL + _seal(body).encode() + _END


def seal_of(content: bytes) -> str:
    """The seal in the content of a plan's file, as hex digits."""
    return content[-len(_END) - _SEAL_LENGTH : -len(_END)].decode()


def decode(content: bytes) -> SealedPlan:
    """The plan of a file with a valid seal.

    Raises PlanRefusedError: plan-unreadable, plan-seal-broken, plan-other-tool.
    """
    body_end = len(content) - len(_END) - _SEAL_LENGTH - len(_BEFORE_SEAL)
    framed = content.startswith(_START) and content.endswith(_END) and body_end > len(_START)
    if not framed or content[body_end : body_end + len(_BEFORE_SEAL)] != _BEFORE_SEAL:
        raise _unreadable("the file does not have the form of a plan")
    body = content[len(_START) : body_end]
    if content[-len(_END) - _SEAL_LENGTH : -len(_END)] != _seal(body).encode():
        message = "the seal of the plan does not match its content: one of the two was changed after it was made"
        raise PlanRefusedError(Refusal("plan-seal-broken", message, _AGAIN))
    return _parsed(body)


def _seal(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _body(plan: SealedPlan) -> bytes:
    """The plan's own JSON, indented as in the file."""
    text = json_document({"plan": _plain(plan)}).encode()
    return text[len(_START) : -len(b"\n}\n")]


def _plain(value: Any) -> Any:
    """Text, numbers, lists and dicts with sorted keys; a Decimal is text with exactly its digits."""
    if is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in sorted(field.name for field in fields(value))}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return plain_decimal(value) if isinstance(value, Decimal) else value


def _parsed(body: bytes) -> SealedPlan:
    try:
        form = _form_adapter().validate_json(body)["format"]
    except (ValidationError, KeyError):
        raise _unreadable("the file has no format version") from None
    if form != FORMAT:
        message = f"the plan has format {form}, but this fleetc reads format {FORMAT}"
        raise PlanRefusedError(Refusal("plan-other-tool", message, "use the fleetc that made it, or make a new plan"))
    try:
        plan = _plan_adapter().validate_json(body)
    except ValidationError as failure:
        first = failure.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise _unreadable(f"{place or 'the plan'} is not what it should be") from None
    if _body(plan) != body:  # also finds what the reader above lets pass: unknown keys, numbers as text
        raise _unreadable("the plan is not written in its canonical form")
    return plan


@cache
def _form_adapter() -> TypeAdapter[dict[str, Any]]:
    return TypeAdapter(dict[str, Any])


@cache
def _plan_adapter() -> TypeAdapter[SealedPlan]:
    return TypeAdapter(SealedPlan)


def _unreadable(what: str) -> PlanRefusedError:
    return PlanRefusedError(Refusal("plan-unreadable", f"{what}, so it is not a fleetc plan, or it is damaged", _AGAIN))
