"""One encoder per output grammar: plain text in, the spelling that the target reads back as that text out.

In: a string from the spec (always data). Out: its one canonical spelling in the target grammar, or `EncodingError` if
that cannot hold it exactly; no encoder drops or alters characters. Called by the formats and `emit/templates.py`,
hundreds of thousands of times in a large fleet: hot encoders scan a clean value once.

Two families. *Exact* encoders reject NUL and lone surrogates, and the target's parser returns the value as it was.
*Display* encoders (`visible`, `html`, `markdown_cell`, `markdown_code`, `markdown_text`, `mermaid_label`,
`plain_output`, `github_data`, `github_property`) write text for people and reject nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_ARGUMENT_BYTES = 131_071
"""Longest argument or `NAME=value` string that Linux passes on: MAX_ARG_STRLEN less the closing NUL."""

MAX_DOCKER_LINE_BYTES = 65_535
"""Longest line of a docker env file: Go's bufio.Scanner gives up on longer ones."""

SHARED_CHARACTERS = "letters, digits and _ . / : @ % + = , ? [ ] -"
"""What all readers of environment files take for the same, for people; `is_shared` decides."""

REASONS = {
    "nul": "it contains a NUL character, which no program argument, environment or file here can hold",
    "lone_surrogate": "it contains half of a surrogate pair, which is not text",
    "noncharacter": "it contains a Unicode noncharacter, and systemd would refuse the whole file",
    "too_long": "it is longer than the target accepts",
    "name": "the target does not accept this name",
    "word": "it is not a bare word of letters, digits and _ . / : @ -",
    "shared": f"it contains more than {SHARED_CHARACTERS}, which some reader would misread",
    "twice": "the name is there twice, and readers of the file disagree about which one counts",
    "address": "it is not an address or a network",
}
"""Every reason code and the sentence part that explains it."""


class EncodingError(ValueError):
    """The target grammar cannot hold the value. `reason` is a key of REASONS; the value is not shown.

    `subject` is the name that the value would have had, where that helps.
    """

    def __init__(self, reason: str, subject: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.subject = subject

    def __str__(self) -> str:
        return f"{self.subject}: {REASONS[self.reason]}" if self.subject else REASONS[self.reason]


# Invisible characters, and those that change how other text looks: controls, soft hyphen, Arabic letter mark, zero
# width and directional marks, line and paragraph separators, surrogates, noncharacters, byte order mark, interlinear
# marks, tags. A fixed list: str.isprintable changes with the Python version.
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


_SHARED = re.compile(r"[A-Za-z0-9_./:@%+=,?\[\]-]*")


def is_shared(value: str) -> bool:
    """Whether every reader of environment files takes a value for the same, without quotes."""
    return _SHARED.fullmatch(value) is not None


def env_shared(variables: Iterable[tuple[str, str]]) -> list[str]:
    """The lines `NAME=value` of a whole file that every reader of environment files takes for the same.

    Docker, Compose, systemd, shells and programs that cut lines at `=` and `#` themselves share no quotes and no
    escapes, so a value is made of characters that mean nothing to any of them. It may be empty.
    """
    lines: dict[str, str] = {}
    for name, value in variables:
        try:
            line = _assignment(name, value, MAX_DOCKER_LINE_BYTES)
        except EncodingError as problem:
            raise EncodingError(problem.reason, name) from None
        if not is_shared(value):
            raise EncodingError("shared", name)
        if name in lines:
            raise EncodingError("twice", name)
        lines[name] = line
    return list(lines.values())


def posix_word(value: str) -> str:
    """One word of a POSIX shell command, always in single quotes."""
    _check(value)
    return "'" + value.replace("'", "'\"'\"'") + "'"


_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:@%+-]+")


def readable_word(value: str) -> str:
    """One word of a POSIX shell command for people to copy: without quotes where it needs none."""
    return value if _PLAIN_WORD.fullmatch(value) and not value.startswith("-") else posix_word(value)


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


# --- packet filter --------------------------------------------------------------------------------

_NFT_ADDRESS = re.compile(r"[0-9.]{7,15}(/[0-9]{1,2})?|[0-9a-f:.]{2,45}(/[0-9]{1,3})?")


def nft_address(value: str) -> str:
    """An address or a network, bare, as an element of a set of nftables, which has no quotes for them."""
    if not _NFT_ADDRESS.fullmatch(value):
        raise EncodingError("address")
    return value


# --- Prometheus -----------------------------------------------------------------------------------

_PROMQL = {ord(char): f"\\{letter}" for char, letter in zip("\\'\n\t\r", "\\'ntr", strict=True)}


def promql_string(value: str) -> str:
    """A single-quoted string of PromQL, inside a YAML string without escapes."""
    _check(value, limit=None)
    return f"'{value.translate(_PROMQL)}'"


def go_template_text(value: str) -> str:
    """Text inside a Go template, such as an annotation of an alert, that comes out as it is and is never evaluated."""
    _check(value, limit=None)
    return value.replace("{{", '{{"{{"}}')


# --- text for people ------------------------------------------------------------------------------

_HTML = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&#x27;"}
_NOT_MARKDOWN_SAFE = re.compile(r"[^A-Za-z0-9 ]")
# Signs that end a word of a sentence begin no markup; only at the start of a line a number makes them begin a list.
_NOT_MARKDOWN_TEXT_SAFE = re.compile(r"[^A-Za-z0-9,;:%/.()]")
_LIST_ITEM = re.compile(r"[0-9]+[.)]+")
_SIGNS = frozenset({"", "-", "->", "/", "*", "+", "=", "<", ">"})
_MARKDOWN_PLAIN = re.compile(r"[A-Za-z0-9]+|[0-9]+(?:[.,][0-9]+)+")
_MARKDOWN_LIVE = re.compile(r"[0-9a-f]{7,}|www", re.IGNORECASE)  # a commit; with a point behind it, a link
_BACKTICKS = re.compile("`+")
_BACKTICKS_HOLD = re.compile(r"[A-Za-z0-9._/:=+-]+(?: [A-Za-z0-9._/:=+-]+)*")
# A dot, dash or underscore between letters or digits starts no list and no emphasis; names stay readable.
# Nor do a slash there or between spaces, and a comma behind a word: prices and lists stay readable in a diff.
_NOT_MERMAID_SAFE = re.compile(
    r"(?![-._/](?<=[A-Za-z0-9].)(?=[A-Za-z0-9]))(?!/(?<= .)(?= ))(?!,(?<=[A-Za-z0-9].)(?= ))[^A-Za-z0-9 ]"
)
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
    """The visible form as code in a Markdown table cell; nothing in it is markup, a mention or a link.

    Forges also find e-mail addresses in HTML, even as character codes. An invisible break before an @ inside a value
    prevents that.
    """
    shown = _entities(visible(value), _NOT_MARKDOWN_SAFE)
    return f"<code>{shown[:1]}{shown[1:].replace('&#64;', '<wbr>&#64;')}</code>"


def markdown_code(value: str) -> str:
    """The visible form as code in Markdown, in backticks where it is plain, so that the source stays readable."""
    return f"`{value}`" if _BACKTICKS_HOLD.fullmatch(value) else markdown_cell(value)


def markdown_span(value: str) -> str:
    """The visible form as a code span, for readers that show no HTML: its fence is longer than any run of backticks."""
    shown = visible(value)
    longest = max(map(len, _BACKTICKS.findall(shown)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {shown} {fence}" if longest or not shown.strip() else f"{fence}{shown}{fence}"


def markdown_text(value: str) -> str:
    """The visible form as running Markdown text, for a sentence that names things of a spec.

    Words of letters and numbers stay words. Possible markup, mentions, links, commits or issue numbers become code,
    which forges do not interpret.
    """
    return " ".join(map(_markdown_word, visible(value).split(" ")))


def _markdown_word(word: str) -> str:
    core = word.lstrip("\"'(").rstrip(")\"'.,;:!?%")
    if core in _SIGNS or _LIST_ITEM.fullmatch(word):
        return _entities(word, _NOT_MARKDOWN_TEXT_SAFE if core == "/" else _NOT_MARKDOWN_SAFE)
    before, _, after = (_entities(part, _NOT_MARKDOWN_TEXT_SAFE) for part in word.partition(core))
    is_word = _MARKDOWN_PLAIN.fullmatch(core) and not _MARKDOWN_LIVE.fullmatch(core)
    return f"{before}{core if is_word else markdown_code(core)}{after}"


def _entities(text: str, unsafe: re.Pattern[str]) -> str:
    return unsafe.sub(lambda match: f"&#{ord(match[0])};", text)


def mermaid_label(*lines: str) -> str:
    """The visible form of lines as a quoted Mermaid label; what Mermaid could take as syntax is a character code."""
    safe = (_NOT_MERMAID_SAFE.sub(lambda match: f"#{ord(match[0])};", visible(line)) for line in lines)
    return f'"{"<br/>".join(safe)}"'


def plain_output(value: str) -> str:
    """The visible form as one line of a CI log: a runner finds no `::command` and no `##[command]` in it."""
    return _RUNNER_COMMAND.sub(lambda match: r"\x23" if match[0] == "#" else match[1] + r"\x3a", visible(value))


_JSON_COMMAND = re.compile(r"#(?=#\w*\[)")


def json_output(text: str) -> str:
    """JSON of ASCII as a CI log may have it: a runner finds a command in "##[" anywhere; DEL is no control of JSON."""
    return _JSON_COMMAND.sub(r"\\u0023", text).replace("\x7f", r"\u007f")


def github_data(value: str) -> str:
    """The message of a GitHub workflow command. Line ends are kept; NUL and lone surrogates become visible.

    Text from a spec passes `visible` first: the runner shows other hidden characters as they are.
    """
    shown = _FORBIDDEN.sub(_escape_match, value)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def github_property(value: str) -> str:
    """A property value (file, title) of a GitHub workflow command."""
    return github_data(value).replace(":", "%3A").replace(",", "%2C")


def sarif_text(value: str) -> str:
    """The visible form as a SARIF message: braces doubled, as single ones are placeholders, and nothing is a link."""
    shown = visible(value).replace("{", "{{").replace("}", "}}")
    return shown.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]") if "](" in shown else shown


_URI_PATH = frozenset(b"/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def uri_path(path: str) -> str:
    """A file path as a URI reference: bytes outside the unreserved set of RFC 3986 as `%XX`, an absolute one as file://.

    Bytes of a name that is not UTF-8 keep their values; other lone surrogates become `%3F`.
    """
    encoded = "".join(chr(byte) if byte in _URI_PATH else f"%{byte:02X}" for byte in _path_bytes(path))
    return f"file://{encoded}" if encoded.startswith("/") else encoded


def _path_bytes(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "replace")
