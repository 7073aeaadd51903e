"""The tool's own settings: options, environment, the checkout's files, and the user's own configuration.

In: the options of a command, `FLEETC_*` variables, a `fleetc.toml` or the `[tool.fleetc]` table of a `pyproject.toml`
in the working directory, and the user's `fleetc/config.toml`; the first that says something counts. Out: `Settings`.
Read by `cli/` and `rollout/hosts/`; nothing here changes what a spec means.

Files in the working directory came with a checkout, and whoever proposes a change writes them: `WHERE` says which
settings they may contain. This also applies without git.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import tomli
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr
from pydantic_core import PydanticCustomError

from fleetc.disk.manifest import FilesError, read_path, shown
from fleetc.disk.new_files import repository_top

CHECKOUT_FILES = ("fleetc.toml", "pyproject.toml")
"""Files of the working directory with settings, the stronger one first."""

_LIMIT_BYTES = 4 * 1024 * 1024
_USAGE = 2


class SettingPlace(NamedTuple):
    """Whether a file of a checkout may set this, and why. The user's own configuration may set everything."""

    in_checkout: bool
    reason: str


WHERE: Mapping[str, SettingPlace] = {
    "overlay": SettingPlace(True, "part of what is compiled; plans seal its digest"),
    "output": SettingPlace(True, "part of what is compiled, stays in the checkout"),
    "color": SettingPlace(False, "your own choice"),
    "max_spec_mib": SettingPlace(False, "protects you from the checkout"),
    "ssh_key": SettingPlace(False, "names a key"),
    "ssh_known_hosts": SettingPlace(False, "says which hosts are trusted"),
    "vault_file": SettingPlace(False, "holds secrets, and variables are strongest in Ansible"),
    "vault_password_file": SettingPlace(False, "names a program to run, or a password"),
    "secret_commands": SettingPlace(False, "names programs to run, which print secrets"),
    "forks": SettingPlace(False, "load on the machine that deploys"),
    "connect_timeout": SettingPlace(False, "concerns the machine that deploys"),
    "allowed_signers": SettingPlace(False, "says whose plans are trusted"),
    "signer": SettingPlace(False, "says whose plans are trusted"),
    "journal": SettingPlace(False, "says what runs where"),
    "worker": SettingPlace(False, "names a program to run, which gets at secrets"),
    "stream_apis": SettingPlace(False, "says where the token of the stream API may go"),
    "stream_requests": SettingPlace(False, "load on a service that may refuse you"),
    "stream_seconds": SettingPlace(False, "your own choice"),
}
"""Where each setting is allowed. Plans seal the settings of a checkout, and reviews show them."""


OTHER_VARIABLES = ("COMMENT_TOKEN", "DEBUG", "PAGER")
"""What commands read besides the settings, each as `FLEETC_<NAME>`. The project's tests read `FLEETC_TEST_*`."""


def _split(value: Any) -> Any:
    """Text names one file, or several separated as in PATH; a list stays as it is."""
    return [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value


def _words(value: Any) -> Any:
    """Text names one address, or several with spaces between; a list stays as it is."""
    return value.split() if isinstance(value, str) else value


def _apis(value: tuple[str, ...]) -> tuple[str, ...]:
    from fleetc.language.stream_api import api_url

    return tuple(map(api_url, value))


def _command(value: str) -> str:
    """Words as a shell splits them; no shell gets to see them."""
    try:
        shlex.split(value)
    except ValueError as problem:
        raise ValueError(f"it is no command: {str(problem).lower()}") from None
    return value


def _commands(value: Any) -> Any:
    """Commands by name, as lists of words that no shell sees; as a variable, in JSON.

    No program is named relative to a directory: that could be one of a checkout.
    """
    from fleetc.language.secret_fields import check_command_name

    form = 'write lists of words by name: {"payer": ["/usr/bin/pass", "show", "fleet/payer"]}'
    try:
        commands = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError(f"it is no JSON; {form}") from None
    if not isinstance(commands, dict):
        raise ValueError(form)
    for name, words in commands.items():
        try:
            check_command_name(name)
        except PydanticCustomError as problem:
            raise ValueError(f"{json.dumps(name)}: {problem.message()}") from None
        if not isinstance(words, list | tuple) or not words or not all(_is_word(word) for word in words):
            raise ValueError(f'{name} is no list of words; write {name} = ["/usr/bin/pass", "show", "fleet/{name}"]')
        if not words[0] or ("/" in words[0] and not words[0].startswith("/")):
            raise ValueError(f"{name} must begin with an absolute path, or with the name of a program in PATH")
    return commands


def _is_word(word: object) -> bool:
    return isinstance(word, str) and "\0" not in word


class FromCheckout(NamedTuple):
    """A setting that a file of the checkout makes. `value` is as people write it: several paths with ":" between."""

    file: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.file} sets {self.name} = {json.dumps(self.value, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class _Layers:
    """The settings besides those of the checkout's files: the stronger ones and the weaker ones."""

    above: Mapping[str, Any]
    below: Mapping[str, Any]


class Settings(BaseModel):
    """Settings of the tool. Each has a variable `FLEETC_<NAME>` and a key in the user's own configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    overlay: Annotated[tuple[Path, ...], BeforeValidator(_split)] = Field(
        (), description="Overlay files to apply to the spec, in this order."
    )
    output: Path | None = Field(None, description="Directory of the tree; by default rendered/ beside the spec.")
    color: Literal["auto", "always", "never"] = Field(
        "auto", description="Whether to colour messages; NO_COLOR is respected."
    )
    max_spec_mib: int = Field(64, ge=1, le=1024, description="Largest spec file to read, in MiB.")
    ssh_key: Path | None = Field(None, description="Private key to log in to hosts with; by default the SSH agent.")
    ssh_known_hosts: Path | None = Field(None, description="Host key file; by default your own.")
    vault_file: Path | None = Field(None, description="Ansible Vault file that defines fleet_vault.")
    vault_password_file: Path | None = Field(
        None, description="File or program that provides the vault file's password."
    )
    secret_commands: Annotated[dict[str, tuple[str, ...]], BeforeValidator(_commands)] = Field(
        {}, description="Commands that print secrets, as lists of words by the names that specs call them."
    )
    forks: int = Field(25, ge=1, le=500, description="How many hosts to deploy to at once.")
    connect_timeout: int = Field(15, ge=1, le=600, description="Seconds to wait for an SSH connection.")
    allowed_signers: Path | None = Field(
        None, description="File of the people who may sign plans; if set, only plans they signed are rolled out."
    )
    signer: str | None = Field(None, description="Who must have signed a plan; by default anybody in that file.")
    journal: Path | None = Field(
        None, description="Directory with the journals of rollouts; by default ~/.local/state/fleetc."
    )
    worker: Annotated[str, AfterValidator(_command)] = Field(
        "", description="Command that starts ansible-runner worker, where Ansible runs then; by default it runs here."
    )

    stream_apis: Annotated[tuple[str, ...], BeforeValidator(_words), AfterValidator(_apis)] = Field(
        (), description="Stream APIs that may get the token: the spec must name one of them, letter by letter."
    )
    stream_requests: int = Field(16, ge=1, le=100, description="How many requests to the stream API at once.")
    stream_seconds: int = Field(300, ge=1, le=86400, description="Seconds that all requests to it may take.")

    _from_checkout: tuple[FromCheckout, ...] = PrivateAttr(())
    _layers: _Layers = PrivateAttr(_Layers({}, {}))

    @property
    def from_checkout(self) -> tuple[FromCheckout, ...]:
        """The settings in force that a file of the checkout makes, sorted by name."""
        return self._from_checkout

    @property
    def max_spec_bytes(self) -> int:
        """The size of the largest spec file to read."""
        return self.max_spec_mib * 2**20

    def tree_of(self, spec: Path) -> Path:
        """The directory of the tree that a spec file compiles to."""
        return self.output or spec.parent / "rendered"

    def with_checkout(self, others: Sequence[FromCheckout]) -> Settings:
        """The settings with other files of the checkout, such as those of an earlier revision.

        Raises pydantic.ValidationError.
        """
        layers = self._layers
        heard = tuple(sorted((s for s in others if s.name not in layers.above), key=lambda s: s.name))
        settings = Settings(**{**layers.below, **{s.name: s.value for s in heard}, **layers.above})
        settings._from_checkout, settings._layers = heard, layers
        return settings


def load(spec: Path, here: Path | None = None, **options: Any) -> Settings:
    """The settings in force for a command about `spec`, run in the directory `here`, by default the working directory.

    Options that were not given are None. Raises pydantic.ValidationError, and `FilesError`: settings-unreadable,
    setting-not-for-checkout, setting-leads-outside, configuration-in-checkout.
    """
    given = {name: value for name, value in options.items() if value not in (None, (), [])}
    directory = here or Path.cwd()
    checkout = checkout_settings(directory)
    own = _own_settings([directory, spec.parent])
    settings = Settings.model_construct()
    settings._layers = _Layers({**_environment(), **given}, own)
    return settings.with_checkout(checkout)


def _environment() -> dict[str, Any]:
    """What variables set, as text."""
    if not any(name.upper().startswith("FLEETC_") for name in os.environ):
        return {}
    from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict  # it takes a third of a `check`

    class Variables(Settings, BaseSettings):
        model_config = SettingsConfigDict(env_prefix="FLEETC_", env_ignore_empty=True, enable_decoding=False)

    return dict(EnvSettingsSource(Variables)())


def need_known_variables(texts: Sequence[str]) -> None:
    """Refuse a variable that no setting, no command and no text of the spec names: it would silently have no effect.

    Raises `FilesError` variable-unknown.
    """
    known = [*(name.upper() for name in WHERE), *OTHER_VARIABLES]
    for variable in sorted(os.environ):
        prefix, name = variable[:7].upper(), variable[7:].upper()
        if prefix != "FLEETC_" or name in known or name.startswith("TEST_") or any(variable in text for text in texts):
            continue
        from fleetc.text.suggestions import Suggestions, asked

        near = asked(f"FLEETC_{one}" for one in Suggestions(1).near(name, known))
        message = f"nothing reads the variable {shown(variable)}: no setting of fleetc has this name, nor does the spec"
        raise FilesError("variable-unknown", message, path=variable, advice=near or "unset it", exit_code=_USAGE)


# --- files of the checkout ------------------------------------------------------------------------


def checkout_settings(directory: Path) -> list[FromCheckout]:
    """What the files of the working directory set, if they may. Raises `FilesError`."""
    settings: dict[str, FromCheckout] = {}
    for file in reversed(CHECKOUT_FILES):
        table = _table(_read(directory / file, file), file)
        _need_known(table, file)
        refused = [name for name in table if not WHERE[name].in_checkout]
        if refused:
            raise _not_for_checkout(refused, file)
        for name, value in table.items():
            paths = _paths(name, value, file)
            for path in paths:
                _need_inside(path, directory, name, file)
            settings[name] = FromCheckout(file, name, os.pathsep.join(paths))
    return list(settings.values())


def settings_then(read: Callable[[str], bytes | None]) -> list[FromCheckout]:
    """What those files set at an earlier time, as far as a checkout may set it; `read` gives the content of each.

    Nothing is refused here: a change that moves settings to the right place must be reviewable too.
    """
    settings: dict[str, FromCheckout] = {}
    for file in reversed(CHECKOUT_FILES):
        try:
            table = _table(read(file), file)
            allowed = {name: value for name, value in table.items() if name in WHERE and WHERE[name].in_checkout}
            settings |= {
                name: FromCheckout(file, name, os.pathsep.join(_paths(name, value, file)))
                for name, value in allowed.items()
            }
        except FilesError:
            continue
    return list(settings.values())


def _paths(name: str, value: Any, file: str) -> list[str]:
    """The paths that a setting of a checkout names; one for the output."""
    paths = _split(value) if name == "overlay" else [value]
    if not isinstance(paths, list) or not all(isinstance(path, str) and path and "\0" not in path for path in paths):
        raise _unreadable(file, f"{name} in {shown(file)} is not a path")
    return paths


def _need_inside(path: str, directory: Path, name: str, file: str) -> None:
    """A checkout names nothing outside itself: not with an absolute path, `..`, or a link."""
    top = Path(os.path.realpath(repository_top(directory)))
    real = Path(os.path.realpath(directory / path))
    if Path(path).is_absolute() or not real.is_relative_to(top):
        message = f"{shown(file)} sets {name} to {shown(path)}, which is outside the checkout"
        variable = f"FLEETC_{name.upper()}"
        advice = f"write a relative path inside the checkout, or use --{name} or {variable}"
        raise FilesError("setting-leads-outside", message, path=file, advice=advice, exit_code=_USAGE)


def _not_for_checkout(names: Sequence[str], file: str) -> FilesError:
    several = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
    reasons = "; ".join(f"{name} {WHERE[name].reason}" if len(names) > 1 else WHERE[name].reason for name in names)
    message = f"{shown(file)} sets {several}, which a file in a checkout must not: {reasons}"
    variables = " and ".join(f"FLEETC_{name.upper()}" for name in names)
    advice = f"remove it there, and set {variables} or put it into your own {shown(str(own_configuration()))}"
    return FilesError("setting-not-for-checkout", message, path=file, advice=advice, exit_code=_USAGE)


# --- the user's own configuration -----------------------------------------------------------------


def own_configuration() -> Path:
    """The file of the user's own settings. As the XDG standard says, only absolute paths count."""
    base = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (base if base.is_absolute() else _expanded("~/.config")) / "fleetc" / "config.toml"


def _expanded(path: str) -> Path:
    """A path with the home directory filled in; unchanged if that directory is unknown."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _own_settings(places: Sequence[Path]) -> dict[str, Any]:
    """The user's own settings. Relative paths start at the file, so that no checkout decides where they lead."""
    file = own_configuration()
    content = _read(file, str(file))
    if content is None:
        return {}
    for place in places:
        with suppress(OSError, ValueError):  # not a valid path: reading the spec reports what is wrong
            _need_outside(file, repository_top(place))
    table = _table(content, str(file))
    _need_known(table, str(file))
    return {name: _beside(name, value, file) for name, value in table.items()}


def _beside(name: str, value: Any, file: Path) -> Any:
    def whole(path: Any) -> Any:
        return str(file.parent / _expanded(path)) if isinstance(path, str) else path

    if name == "overlay":
        return [whole(path) for path in _split(value)] if isinstance(value, list | str) else value
    return whole(value) if name in _PATHS else value


_PATHS = ("output", "ssh_key", "ssh_known_hosts", "vault_file", "vault_password_file", "allowed_signers", "journal")


def _need_outside(file: Path, top: Path) -> None:
    """Refuse a configuration inside the checkout, for example when HOME is the checkout: changes could write it."""
    written = Path(os.path.abspath(file))  # noqa: PTH100  # resolve() would follow links
    for inner, outer in ((written, top), (Path(os.path.realpath(file)), Path(os.path.realpath(top)))):
        if inner.is_relative_to(outer):
            message = (
                f"{shown(str(file))} is inside the checkout {shown(str(outer))}, so it cannot be your own configuration"
            )
            advice = "set XDG_CONFIG_HOME to a directory elsewhere, or run fleetc in a directory with only the fleet"
            raise FilesError("configuration-in-checkout", message, path=str(file), advice=advice, exit_code=_USAGE)


def journals(settings: Settings, spec: Path) -> Path:
    """The directory with the journals of rollouts. Raises `FilesError` journal-in-checkout.

    A journal says where hosts are that left the spec, and a rollout logs in there: no checkout may contain it.
    """
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    usual = (base if base.is_absolute() else _expanded("~/.local/state")) / "fleetc"
    folder = settings.journal.expanduser().absolute() if settings.journal else usual
    for place in (Path.cwd(), spec.parent):
        top = repository_top(place)
        if not (top / ".git").exists() and (place != spec.parent or _expanded("~").is_relative_to(top)):
            continue  # no checkout: the root of the file system, or somebody's home directory
        for inner, outer in ((folder, top.absolute()), (Path(os.path.realpath(folder)), Path(os.path.realpath(top)))):
            if inner.is_relative_to(outer):
                message = f"the journal {shown(str(folder))} would be inside the checkout {shown(str(outer))}"
                advice = "name a directory elsewhere with --journal, FLEETC_JOURNAL or XDG_STATE_HOME"
                raise FilesError("journal-in-checkout", message, path=str(folder), advice=advice, exit_code=_USAGE)
    return folder


# --- reading --------------------------------------------------------------------------------------


def _read(path: Path, name: str) -> bytes | None:
    """The content of a regular file, never waiting for a FIFO or a device; None where there is nothing."""
    try:
        return read_path(path, _LIMIT_BYTES)
    except OSError as problem:
        if problem.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise _unreadable(name, f"{shown(name)} cannot be read: {os.strerror(problem.errno or 0)}") from problem
    except ValueError as problem:
        raise _unreadable(name, f"{shown(name)} cannot be read: not a path") from problem


def _table(content: bytes | None, name: str) -> dict[str, Any]:
    """The settings in the content of a file; a pyproject.toml has them in its own table."""
    if content is None:
        return {}
    try:
        table: Any = tomli.loads(content.decode())
    except (ValueError, RecursionError) as problem:
        reason = "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        raise _unreadable(name, f"{shown(name)} is not valid TOML: {shown(reason)}") from problem
    for key in ("tool", "fleetc") if name == "pyproject.toml" else ():
        table = table.get(key, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise _unreadable(name, f"tool.fleetc in {shown(name)} is not a table")
    return table


def _need_known(table: Mapping[str, Any], name: str) -> None:
    """Refuse a key that is not a setting: a misspelled one would silently have no effect."""
    for key in table:
        if key not in WHERE:
            from fleetc.text.suggestions import did_you_mean

            advice = did_you_mean(key, WHERE, f"the settings are {', '.join(WHERE)}")
            raise _unreadable(name, f"{shown(name)} sets {shown(key)}, which is not a setting of fleetc", advice)


def _unreadable(name: str, message: str, advice: str = "correct the file, or move it away") -> FilesError:
    return FilesError("settings-unreadable", message, path=name, advice=advice, exit_code=_USAGE)
