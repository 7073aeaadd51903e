"""Nasty values, and plain readers of the target grammars.

`nasty_values()` is what every real program here has to give back: the encoder tests hand it to parsers, and
the host tests start a real service with it. The readers are independent, slow and simple models of the
grammars, for law tests that cannot start a program per example; real programs read the same values elsewhere.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.support import ROOT

_MARK = "touch injected"

_NASTY = (
    # plain, empty, space
    *("plain", "", " ", "  ", "a b", " lead", "trail ", "\t", "a\tb", "\u00a0edge\u00a0", "a" * 3000),
    # line ends
    *(
        "\n",
        "a\nb",
        "a\n",
        "\na",
        "a\rb",
        "a\r",
        "a\r\nb",
        "a\\\nb",
        "l1\u2028l2\u2029l3",
        "a\x85b",
        "a\vb\fc",
    ),
    # quotes and backslashes
    *(
        "'",
        '"',
        "it's",
        'say "hi"',
        "''",
        '""',
        "\\",
        "\\\\",
        "trail\\",
        "C:\\new\\table",
        '\\"',
        "\\'",
        "\\n",
    ),
    *("\\x41", "\\u0041", "\\101", "'\"'\"'", '"; echo "'),
    # expansion
    *("$HOME", "${HOME}", "$$", "$", "cost$", "${A:-b}", "$(id)", "`id`", "\\$X", "$$HOME", "$1", "$'a'"),
    *("%", "100%", "%n", "%h/%u", "%%", "%zz", "~", "~root", "*", "?", "[a-z]", "{a,b}", "!x", "!!"),
    # injection
    *(f'x"\nExecStartPre=/bin/sh -c "{_MARK}"\n#', f"'; {_MARK}; '", f"a; {_MARK}", f"a & {_MARK} &"),
    *("ok\nLD_PRELOAD=/tmp/x.so", "a\nethUrl https://evil.example", "; rm -rf /", "a | b", "a > b", "<(x)"),
    # comments, options, assignments
    *(
        "#c",
        "a #c",
        "a#c",
        ";c",
        "; c",
        "-",
        "--",
        "-n",
        "-dash",
        "-x=y",
        "a=b",
        "=",
        "K=V",
        "export A=1",
        "@/bin/x",
    ),
    # what YAML, TOML or Go would take for something else
    *(
        "no",
        "off",
        "yes",
        "true",
        "True",
        "null",
        "~",
        "1e3",
        "0o17",
        "017",
        "08",
        "1_000",
        "1.10",
        "0x10",
        "NaN",
    ),
    *("22:22", "2026-11-20", "2001-1-1", ".inf", "<<", "=", "-", "- a", "a: b", "? a", "&a", "*a", "!!str x"),
    *(
        "|",
        ">",
        "---",
        "...",
        "[1, 2]",
        '{"a": 1,  "b":2}',
        '{"a": [1, "b c"], "d": "$e"}',
        "12345678901234567890",
    ),
    # templates
    *(
        f"{{{{ lookup('pipe','{_MARK}') }}}}",
        "{% for i in range(9) %}x{% endfor %}",
        "{# c #}",
        "{{ 1 }}",
        "{{",
    ),
    *(f"{{% raw %}}x{{% endraw %}}{{{{ lookup('pipe','{_MARK}') }}}}", "$ANSIBLE_VAULT;1.1;AES256\n31"),
    f"#jinja2: variable_start_string:'[['\n[[ lookup('pipe','{_MARK}') ]]",
    # markup and CI
    *("a|b", "<b>&amp;</b>", "<!-- x -->", "![x](https://evil.example/x.png)", "@everyone", "#1", "</code>"),
    *("::error::x", "##[add-mask]x", "%0A::add-mask::x", "a,b:c"),
    # other scripts and hidden characters
    *(
        "é",
        "e\u0301",
        "日本 \U0001f600",
        "\U0001fae8",
        "\u202eabc",
        "a\u200bb",
        "\ufeffa",
        "a\xadb",
        "\U000e0041",
    ),
    *(
        "\x01",
        "\x1b[31m",
        "\x7f",
        "\x9b31m",
        "\x1c",
        "\uffff",
        "\ufdd0",
        "\U0010ffff",
        "\ufffd",
        "\ue000",
        "\ud7ff",
    ),
)


def nasty_values() -> tuple[str, ...]:
    """Strings that are hard to carry, without NUL and lone surrogates, no string twice, in a fixed order."""
    return tuple(dict.fromkeys(_NASTY))


def has_noncharacter(value: str) -> bool:
    """Whether systemd would refuse the file for a character that Unicode reserves as no character."""
    return any(0xFDD0 <= ord(char) <= 0xFDEF or ord(char) & 0xFFFE == 0xFFFE for char in value)


_SIMPLE_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "s": " ", "t": "\t", "v": "\v"}
_C_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{3}|.)", re.DOTALL)


def unescape_c(text: str) -> str:
    """Undo the C escapes that systemd reads and prints; before any other character a backslash falls away."""

    def one(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] == "x":
            return chr(int(body[1:], 16))
        if len(body) == 3:
            return chr(int(body, 8))
        return _SIMPLE_ESCAPES.get(body, body)

    return _C_ESCAPE.sub(one, text)


def read_systemd_words(text: str, expand_dollar: bool) -> list[str]:
    """Model of the right side of a unit line: words, quotes, C escapes, `%` and, for commands, `$`.

    Raises ValueError at anything that systemd would expand, so a value that comes back was not expanded.
    """
    words = []
    rest = text
    while rest:
        match = re.match(r'"((?:[^"\\]|\\.)*)"(?: |$)', rest, re.DOTALL)
        if match is None or "\n" in match[0]:
            raise ValueError(f"not a quoted word: {rest!r}")
        words.append(_undouble(unescape_c(match[1]), "%$" if expand_dollar else "%"))
        rest = rest[match.end() :]
    return words


def _undouble(text: str, marks: str) -> str:
    for mark in marks:
        if mark in text.replace(mark * 2, ""):
            raise ValueError(f"{mark} would be expanded")
        text = text.replace(mark * 2, mark)
    return text


def read_posix_env(text: str) -> dict[str, str]:
    """Model of `NAME="value"` as sh and systemd's environment files read it; nothing live may be left."""
    return _read_env(text, r'(?:[^"\\$`]|\\["\\$`])*', {})


def read_compose_env(text: str) -> dict[str, str]:
    """Model of Compose's env files: double quotes, backslash escapes, `$` expanded unless escaped."""
    return _read_env(text, r'(?:[^"\\$]|\\["\\$nr])*', {"n": "\n", "r": "\r"})


def _read_env(text: str, inner: str, escapes: dict[str, str]) -> dict[str, str]:
    values, position = dict[str, str](), 0
    line = re.compile(f'([A-Za-z_]\\w*)="({inner})"\n', re.DOTALL)
    while position < len(text):
        match = line.match(text, position)
        if match is None:
            raise ValueError(f"not an assignment: {text[position:]!r}")
        values[match[1]] = re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]), match[2])
        position = match.end()
    return values


VECTORS: list[dict[str, Any]] = json.loads((ROOT / "tests/data/encode_vectors.json").read_text(encoding="utf-8"))
"""Values and what encoders make of them."""

GO_SPACE = "".join(map(chr, (9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)))
GO_SPACE += "".join(map(chr, range(0x2000, 0x200B)))


def read_ff(text: str) -> dict[str, str]:
    """Model of the node's `key value` file. Raises ValueError where the node would not start."""
    if text.startswith("\ufeff"):
        raise ValueError("byte order mark")
    values = {}
    for line in text.split("\n"):
        if len(line.encode()) >= 65_536:
            break  # this line and the rest of the file vanish
        line = line.strip(GO_SPACE)
        if not line or line.startswith("#"):
            continue
        name, _, value = line.partition(" ")
        value = value.strip(GO_SPACE).split(" #")[0].strip(GO_SPACE)
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.]*", name):
            raise ValueError(f"unknown flag {name!r}")
        values[name] = value or "true"
    return values


def read_go_flags(arguments: list[str], booleans: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    """Model of Go's flag package: (values by name, stray words). Raises ValueError where parsing fails."""
    values: dict[str, str] = {}
    queue = list(arguments)
    while queue and len(queue[0]) > 1 and queue[0][0] == "-":
        token = queue.pop(0)
        if token == "--":
            break
        body = token[2:] if token.startswith("--") else token[1:]
        if body[:1] in ("", "-", "="):
            raise ValueError(f"bad flag syntax: {token}")
        name, has_value, value = body.partition("=")
        if name in booleans:
            value = value if has_value else "true"
            if value not in ("1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"):
                raise ValueError(f"invalid boolean {value!r}")
        elif not has_value:
            if not queue:
                raise ValueError(f"flag needs an argument: {token}")
            value = queue.pop(0)
        values[name] = value
    return values, queue
