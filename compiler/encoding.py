"""One encoder per output grammar: plain text in, the spelling that the target reads back as that text out.

In: a string that came from the spec (data, whatever it looks like). Out: its one canonical spelling in the
target grammar, or `EncodingError` when the grammar cannot hold the value exactly; nothing is ever dropped or
altered to make it fit. Called by the backends and by `templating.py`, hundreds of thousands of times in a
large fleet: the hot encoders look at a clean value once and return.

Two families. *Exact* encoders reject NUL and lone surrogates, and the target's parser returns the value as it
was. *Display* encoders (`visible`, `html`, `markdown_cell`, `mermaid_label`, `plain_output`, `github_data`,
`github_property`) write text for people, must work for every message, and so reject nothing.
"""

from __future__ import annotations

import re

MAX_ARGUMENT_BYTES = 131_071
"""Longest argument or `NAME=value` string that Linux passes on: MAX_ARG_STRLEN less the closing NUL."""

MAX_DOCKER_LINE_BYTES = 65_535
"""Longest line of a docker env file: Go's bufio.Scanner gives up on longer ones."""

MAX_FF_LINE_BYTES = 65_000
"""Longest line of a `key value` file: past 64 KiB the reader drops the rest of the file without an error."""

REASONS = {
    "nul": "it holds a NUL character, which no program argument, environment or file here can carry",
    "lone_surrogate": "it holds half of a surrogate pair, which is not text",
    "noncharacter": "it holds a Unicode noncharacter, and systemd refuses the whole file",
    "too_long": "it is longer than the target accepts",
    "newline": "it holds a line break, and the target is one line",
    "cr": "it holds a carriage return, which the target drops",
    "empty": "it is empty, which the target reads as true",
    "edge_space": "it starts or ends with white space, which the target drops",
    "comment": "it holds a space followed by #, where the target starts a comment",
    "name": "the name is not one that the target accepts",
    "word": "it is not a bare word of letters, digits and _ . / : @ -",
}
"""Every reason code and the sentence part that explains it."""


class EncodingError(ValueError):
    """The target grammar cannot hold the value. `reason` is a key of REASONS; the value is not shown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return REASONS[self.reason]


# Characters that a reader cannot see, or that change how other text is seen: controls, soft hyphen, Arabic
# letter mark, zero width and directional marks, line and paragraph separators, surrogates, noncharacters,
# byte order mark, interlinear marks, tags. A fixed list: str.isprintable changes with the Python version.
_HIDDEN_RANGES = (
    (0x00, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x61C, 0x61C),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0xD800, 0xDFFF),
    (0xFDD0, 0xFDEF),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),
    *((plane + 0xFFFE, plane + 0xFFFF) for plane in range(0, 0x110000, 0x10000)),
)


def _character_class(ranges: tuple[tuple[int, int], ...], without: str = "") -> str:
    members = "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in ranges)
    return f"(?![{without}])[{members}]" if without else f"[{members}]"


HIDDEN = re.compile(_character_class(_HIDDEN_RANGES, without=r"\n\t"))
"""Matches one character that a spec may not contain: a hidden one other than line feed and tab."""

_NOT_VISIBLE = re.compile(_character_class(_HIDDEN_RANGES))
_FORBIDDEN = re.compile("[\x00\ud800-\udfff]")
_NONCHARACTER = re.compile(_character_class(((0xFDD0, 0xFDEF), *_HIDDEN_RANGES[-17:])))


def is_hidden(character: str) -> bool:
    """Whether one character is hidden in the sense of HIDDEN."""
    return HIDDEN.fullmatch(character) is not None


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_match(match: re.Match[str]) -> str:
    return _escape(ord(match[0]))


def _check(value: str, limit: int | None = MAX_ARGUMENT_BYTES) -> None:
    found = _FORBIDDEN.search(value)
    if found:
        raise EncodingError("nul" if found[0] == "\0" else "lone_surrogate")
    # The bytes are counted only where four per character could be too many.
    if limit is not None and len(value) > limit // 4 and len(value.encode()) > limit:
        raise EncodingError("too_long")


def _check_characters(value: str) -> None:
    if _NONCHARACTER.search(value):
        raise EncodingError("noncharacter")


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FLAG = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


def _assignment(name: str, value: str, limit: int = MAX_ARGUMENT_BYTES) -> str:
    if not _VARIABLE.fullmatch(name):
        raise EncodingError("name")
    assignment = f"{name}={value}"
    _check(assignment, limit)
    return assignment


# --- systemd --------------------------------------------------------------------------------------

_SYSTEMD_ENVIRONMENT = {
    **{code: f"\\x{code:02x}" for code in (*range(1, 0x20), 0x7F)},
    **{ord(char): f"\\{letter}" for char, letter in zip("\n\r\t", "nrt", strict=True)},
    ord("\\"): "\\\\",
    ord('"'): '\\"',
    ord("%"): "%%",
}
_SYSTEMD_EXEC = {**_SYSTEMD_ENVIRONMENT, ord("$"): "$$"}
_SYSTEMD_CLEAN = re.compile(r"[ !#&-\[\]-~]*")  # printable ASCII without " $ % \


def systemd_exec(value: str) -> str:
    """One argument of `ExecStart=`. systemd expands `%` and `$` inside quotes too, so both are doubled."""
    if _SYSTEMD_CLEAN.fullmatch(value) and len(value) <= MAX_ARGUMENT_BYTES:
        return f'"{value}"'
    _check(value)
    _check_characters(value)
    return f'"{value.translate(_SYSTEMD_EXEC)}"'


def systemd_environment(name: str, value: str) -> str:
    """A whole `Environment="NAME=value"` line, without line end. `$` is not special in this one."""
    assignment = _assignment(name, value)
    _check_characters(value)
    return f'Environment="{assignment.translate(_SYSTEMD_ENVIRONMENT)}"'


# --- environment files, one form for each reader --------------------------------------------------

_POSIX_QUOTED = {ord(char): f"\\{char}" for char in '"\\$`'}
_COMPOSE_QUOTED = {**{ord(char): f"\\{char}" for char in '"\\$'}, ord("\n"): "\\n", ord("\r"): "\\r"}


def posix_quoted(value: str) -> str:
    """The value in double quotes, as `sh` and systemd's `EnvironmentFile=` read it; line ends stay raw."""
    _check(value)
    _check_characters(value)
    return f'"{value.translate(_POSIX_QUOTED)}"'


def env_posix(name: str, value: str) -> str:
    """A `NAME="value"` line for a file that systemd's `EnvironmentFile=` or `sh` reads. It may span lines."""
    _assignment(name, value)
    return f"{name}={posix_quoted(value)}"


def env_compose(name: str, value: str) -> str:
    """A `NAME="value"` line for a file that Compose reads as `env_file`."""
    _assignment(name, value)
    return f'{name}="{value.translate(_COMPOSE_QUOTED)}"'


def env_docker(name: str, value: str) -> str:
    """A `NAME=value` line for `docker run --env-file`, which knows no quotes: a line break is rejected."""
    line = _assignment(name, value, MAX_DOCKER_LINE_BYTES)
    if "\n" in value:
        raise EncodingError("newline")
    if "\r" in value:
        raise EncodingError("cr")
    return line


def posix_word(value: str) -> str:
    """One word of a POSIX shell command, always in single quotes."""
    _check(value)
    return "'" + value.replace("'", "'\"'\"'") + "'"


# --- YAML and Ansible -----------------------------------------------------------------------------

# Surrogates never reach the table, so it can do without them.
_YAML = {
    **{code: _escape(code) for first, last in _HIDDEN_RANGES if first != 0xD800 for code in range(first, last + 1)},
    **{ord(char): f"\\{letter}" for char, letter in zip('\\"\n\t\r', '\\"ntr', strict=True)},
}
_COMPOSE = {**_YAML, ord("$"): "$$"}
_YAML_CLEAN = re.compile(r"[ !#-\[\]-~]*")  # printable ASCII without " \
_COMPOSE_CLEAN = re.compile(r"[ !#%-\[\]-~]*")  # and without $


def yaml_string(value: str) -> str:
    """A double-quoted YAML scalar: the same string for readers of YAML 1.1, of YAML 1.2, and for Go's."""
    if _YAML_CLEAN.fullmatch(value):
        return f'"{value}"'
    _check(value, limit=None)
    return f'"{value.translate(_YAML)}"'


def compose_string(value: str) -> str:
    """A YAML string for a Compose file, with `$` doubled because Compose interpolates every value."""
    if _COMPOSE_CLEAN.fullmatch(value) and len(value) <= MAX_ARGUMENT_BYTES:
        return f'"{value}"'
    _check(value)
    return f'"{value.translate(_COMPOSE)}"'


def ansible_unsafe(value: str) -> dict[str, str]:
    """The JSON form of a string that Ansible never evaluates as a template: {"__ansible_unsafe": value}."""
    _check(value, limit=None)
    return {"__ansible_unsafe": value}


# --- flags and key-value files of Go programs -----------------------------------------------------

_GO_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What Go's strings.TrimSpace takes away: the White_Space property. str.strip takes four controls more."""


def _flag_text(value: str | bool | int) -> str:
    # bool first: it is a kind of int.
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def go_flag(name: str, value: str | bool | int) -> str:
    """One argument `-name=value`. A separate value would be taken as a stray word after a boolean flag."""
    if not _FLAG.fullmatch(name):
        raise EncodingError("name")
    token = f"-{name}={_flag_text(value)}"
    _check(token)
    return token


def ff_line(name: str, value: str | bool | int) -> str:
    """A `name value` line of the node's configuration file. The format has no quotes and no escapes."""
    if not _FLAG.fullmatch(name):
        raise EncodingError("name")
    text = _flag_text(value)
    line = f"{name} {text}"
    _check(line, MAX_FF_LINE_BYTES)
    if not text:
        raise EncodingError("empty")
    if "\n" in text:
        raise EncodingError("newline")
    if text.strip(_GO_SPACE) != text:
        raise EncodingError("edge_space")
    if " #" in text:
        raise EncodingError("comment")
    return line


# --- text for people ------------------------------------------------------------------------------

_HTML = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&#x27;"}
_NOT_MARKDOWN_SAFE = re.compile(r"[^A-Za-z0-9 ]")
# A dot, dash or underscore between letters or digits starts no list and no emphasis; names stay readable.
_NOT_MERMAID_SAFE = re.compile(r"(?![-._](?<=[A-Za-z0-9].)(?=[A-Za-z0-9]))[^A-Za-z0-9 ]")
_RUNNER_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#\w*\[)")


def visible(value: str) -> str:
    """The text for a terminal or a diagnostic.

    Hidden characters, line ends and tabs become `\\xHH`, `\\uHHHH` or `\\UHHHHHHHH`.
    """
    # For ASCII, isprintable means the same in every Python.
    if value.isascii() and value.isprintable():
        return value
    return _NOT_VISIBLE.sub(_escape_match, value)


def html(value: str) -> str:
    """The visible form as HTML text or as an attribute value in quotes."""
    return visible(value).translate(_HTML)


def markdown_cell(value: str) -> str:
    """The visible form as code in a Markdown table cell; nothing in it is markup, a mention or a link."""
    cell = _NOT_MARKDOWN_SAFE.sub(lambda match: f"&#{ord(match[0])};", visible(value))
    return f"<code>{cell}</code>"


def mermaid_label(value: str) -> str:
    """The visible form as a quoted Mermaid label; what Mermaid could take as syntax is a character code."""
    label = _NOT_MERMAID_SAFE.sub(lambda match: f"#{ord(match[0])};", visible(value))
    return f'"{label}"'


def plain_output(value: str) -> str:
    """The visible form as one line of a CI log: a runner finds no `::command` and no `##[command]` in it."""
    return _RUNNER_COMMAND.sub(_break_command, visible(value))


def _break_command(match: re.Match[str]) -> str:
    # Half of the marker is shown as its code, as hidden characters are.
    return r"\x23" if match[0] == "#" else match[1] + r"\x3a"


def github_data(value: str) -> str:
    """The message of a GitHub workflow command. Line ends are kept; NUL and lone surrogates become visible.

    Text from a spec passes `visible` first: the runner shows other hidden characters as they are.
    """
    shown = _FORBIDDEN.sub(_escape_match, value)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def github_property(value: str) -> str:
    """A property value (file, title) of a GitHub workflow command."""
    return github_data(value).replace(":", "%3A").replace(",", "%2C")
