"""References to secrets, and addresses that may be one: `{ env = "NAME" }` and the like.

In: raw TOML values. Out: frozen typed values; text in place of a reference is never shown. Used by the other files of
this package.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictStr
from pydantic.json_schema import WithJsonSchema
from pydantic_core import PydanticCustomError

from fleetc.language import quantities as q
from fleetc.language.fields import Base, Parsed, check_path, check_variable_name, parsed, refuse

_STEERS_A_RUN = re.compile(
    r"(?:ANSIBLE|LD|DYLD|LC|BASH|PYTHON|RUNNER)(?:_.*)?|PYTHON.*|PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TMPDIR"
    r"|TERM|PWD|IFS|ENV|VIRTUAL_ENV|SSH_(?:AUTH_SOCK|AGENT_PID|ASKPASS|ASKPASS_REQUIRE)",
    re.IGNORECASE,
)
_COMMAND_NAME = re.compile("[A-Za-z_][A-Za-z0-9_-]*")


def _reference_variable(text: str) -> str:
    """The name of a variable that a deployment reads a secret from, and passes to Ansible under the same name."""
    if _STEERS_A_RUN.fullmatch(text):
        raise refuse(
            "this variable controls programs of the deployment, so it cannot hold a secret",
            "give the secret its own variable, such as ORCHESTRATOR_SECRET",
        )
    return check_variable_name(text)


def check_command_name(text: str) -> str:
    """Check the name of a command that prints a secret."""
    if not _COMMAND_NAME.fullmatch(text) or len(text) > 128:
        raise refuse(
            "this is not the name of a command",
            "use letters, digits, _ and -, not starting with a digit; what to run is in your own configuration",
        )
    return text


class SecretRef(Base):
    """Where a rollout finds a secret.

    Write exactly one of the four keys, never the value itself.
    """

    env: Annotated[StrictStr, AfterValidator(_reference_variable)] | None = Field(
        None, description="Environment variable on the machine that runs the deployment."
    )
    host_file: Annotated[StrictStr, AfterValidator(check_path)] | None = Field(
        None, description="File on the host that holds only the secret."
    )
    vault: Annotated[StrictStr, AfterValidator(check_variable_name)] | None = Field(
        None, description="Key under `fleet_vault` in the deployment's Ansible Vault file."
    )
    command: Annotated[StrictStr, AfterValidator(check_command_name)] | None = Field(
        None,
        description="Name of a command in `secret_commands` of the deploying user's configuration; it prints the "
        "secret.",
    )

    @property
    def kind(self) -> str:
        """Which of the four it is: env, host_file, vault or command."""
        if self.env is not None:
            return "env"
        if self.host_file is not None:
            return "host_file"
        return "vault" if self.vault is not None else "command"

    @property
    def name(self) -> str:
        """The variable, path, key or command that it names."""
        return self.env or self.host_file or self.vault or self.command or ""


REFERENCE_FORM = (
    'write a reference: { env = "NAME" }, { host_file = "/path" }, { vault = "key" } or { command = "name" }'
)


_CHECKS: dict[str, Callable[[str], str]] = {
    "env": _reference_variable,
    "host_file": check_path,
    "vault": check_variable_name,
    "command": check_command_name,
}


def parse_secret(value: Any) -> SecretRef:
    """Read a secret reference. Its value may be the secret, so no message shows it."""
    if isinstance(value, SecretRef):
        return value
    if not isinstance(value, dict):
        raise refuse("secrets do not belong in the spec", REFERENCE_FORM, secret=True)
    if len(value) != 1 or next(iter(value)) not in SecretRef.model_fields:
        message = "a secret reference needs exactly one of the keys env, host_file, vault and command"
        raise refuse(message, REFERENCE_FORM, secret=True)
    kind, name = next(iter(value.items()))
    if not isinstance(name, str):
        raise refuse(f"{kind} must be text", REFERENCE_FORM, secret=True)
    try:
        checked = _CHECKS[kind](name)
    except PydanticCustomError as problem:  # what is not a name may be the secret itself
        context = problem.context or {}
        raise refuse(context["message"], context["help"], secret=True) from None
    names: dict[str, Any] = {**dict.fromkeys(SecretRef.model_fields), kind: checked}
    return SecretRef.model_construct(**names)


def _url_or_secret(schemes: tuple[str, ...]) -> Callable[[Any], q.Url | SecretRef]:
    def validate(value: Any) -> q.Url | SecretRef:
        if isinstance(value, str) and value.startswith("$"):  # it names a variable, so it is no secret itself
            raise refuse("the spec is no shell: a variable is not filled in here", REFERENCE_FORM, secret=True)
        if isinstance(value, str):
            return parsed(lambda text: q.parse_url(text, schemes))(value)
        return parse_secret(value)

    return validate


SECRET_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "maxProperties": 1,
    "properties": {
        name: {"type": "string", "description": field.description or ""}
        for name, field in SecretRef.model_fields.items()
    },
}


Secret = Annotated[SecretRef, Parsed(parse_secret), WithJsonSchema(SECRET_SCHEMA)]


def _or_secret(example: str) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [{"type": "string", "examples": [example]}, SECRET_SCHEMA]})


HttpUrlOrSecret = Annotated[
    q.Url | SecretRef,
    Parsed(_url_or_secret(("http", "https"))),
    _or_secret("https://example.net/hook"),
]
RpcUrlOrSecret = Annotated[
    q.Url | SecretRef,
    Parsed(_url_or_secret(("http", "https", "ws", "wss"))),
    _or_secret("https://rpc.example.net"),
]
StoreUrlOrSecret = Annotated[
    q.Url | SecretRef,
    Parsed(_url_or_secret(("s3", "s3+http", "s3+https", "gs", "ipfs", "file", "w3s"))),
    _or_secret("s3+https://storage.example.net/bucket"),
]
QueueUrlOrSecret = Annotated[
    q.Url | SecretRef,
    Parsed(_url_or_secret(("amqp", "amqps"))),
    _or_secret("amqps://queue.example.net/live"),
]
