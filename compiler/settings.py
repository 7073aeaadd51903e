"""The tool's own settings: environment, a file, and options, options strongest.

In: `FLEETC_*` variables, a `fleetc.toml` or the `[tool.fleetc]` table of a `pyproject.toml` in the working
directory, and the options of a command. Out: `Settings`. Read by `commands/` and `ops/`; nothing here changes what a
spec means.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    PyprojectTomlConfigSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)


def _split(value: Any) -> Any:
    """A text names one file, or several with the separator of PATH between them; a list stays as it is."""
    return [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value


class Settings(BaseSettings):
    """Settings of the tool. Each has an option, a variable `FLEETC_<NAME>` and a key in the settings file."""

    model_config = SettingsConfigDict(
        env_prefix="FLEETC_",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        toml_file="fleetc.toml",
        pyproject_toml_table_header=("tool", "fleetc"),
    )

    overlay: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_split)] = Field(
        (), description="Overlay files that are laid over the spec, in this order."
    )
    output: Path | None = Field(None, description="Directory of the tree; by default rendered/ beside the spec.")
    color: Literal["auto", "always", "never"] = Field(
        "auto", description="Whether messages are coloured; NO_COLOR is honoured."
    )
    max_spec_mib: int = Field(64, ge=1, le=1024, description="Largest spec file that is read, in MiB.")
    ssh_key: Path | None = Field(None, description="Private key that a deployment logs in with; else the SSH agent.")
    ssh_known_hosts: Path | None = Field(None, description="File of host keys; by default the user's own.")
    vault_file: Path | None = Field(None, description="Ansible Vault file that defines fleet_vault.")
    vault_password_file: Path | None = Field(
        None, description="File or program that gives the password of the vault file."
    )
    forks: int = Field(10, ge=1, le=500, description="How many hosts a deployment works on at once.")
    connect_timeout: int = Field(15, ge=1, le=600, description="Seconds to wait for an SSH connection.")
    allowed_signers: Path | None = Field(
        None, description="File of the people who may sign plans; with it, a plan that is not signed is refused."
    )
    signer: str | None = Field(None, description="Who must have signed a plan; by default anybody of that file.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Options, then the environment, then fleetc.toml, then pyproject.toml. No .env file is ever read."""
        return (
            init_settings,
            env_settings,
            TomlConfigSettingsSource(settings_cls),
            PyprojectTomlConfigSettingsSource(settings_cls),
        )


def load(**options: Any) -> Settings:
    """The settings in force. Options that were not given are None. Raises pydantic.ValidationError."""
    return Settings(**{name: value for name, value in options.items() if value not in (None, (), [])})
