"""Texts of `fleetc explain` and the reference about values that a spec sets once for many tables.

In: nothing, or how wide the terminal is. Out: lines (`sharing_page`) and Markdown (`sharing_section`).
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.language.editor import WORDS
from fleetc.messages.sheet import Sheet

ORDER = (
    "Precedence, highest first: member, counter table, classes (last wins), defaults. Tables merge, and all else is "
    "replaced."
)
COUNTERS = (
    "A name with a counter makes many tables: {01..20} counts, {a,b} lists, {1..3,7} does both, and {eu*10,us*10} "
    "repeats. In texts of such a table, its classes and defaults, {} is the counter of the name. A counter of equal "
    "length gives each member the value at its position. Braces that mean themselves are written twice there. "
    "A list of names takes one counter in a name, or one star: orch-* is every name of that form."
)
EXCEPTIONS = (
    "A table with the plain name of one member is an exception for that member. An overlay may remove a member by its "
    "name."
)
EXAMPLE = """\
[classes.gpu-box.hosts]
runtime = "systemd"
gpus = [{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }]

[hosts."gpu-{01..20}"]
like = "gpu-box"
address = "203.0.113.{10..29}"
public = "gpu-{}.example.net"

[hosts.gpu-07]
ssh_port = 2222

[orchestrators."orch-{}"]
on = "gpu-*"
mode = "video"
gpus = [0]
max_sessions = 8
"""


def sharing_page(sheet: Sheet) -> Iterator[str]:
    """The page for a terminal."""
    yield sheet.head("Values that a spec sets once")
    yield ""
    for word, sentence in WORDS.items():
        yield from sheet.row(word, sentence, 18)
    for sentence in (ORDER, COUNTERS, EXCEPTIONS):
        yield ""
        yield from sheet.filled(sentence)
    yield ""
    yield "Example:"
    yield ""
    yield from (f"    {line}".rstrip() for line in EXAMPLE.splitlines())


def sharing_section() -> str:
    """The section of the reference."""
    words = "\n".join(f"- `{word}`: {sentence}" for word, sentence in WORDS.items())
    return "\n\n".join([words, ORDER, COUNTERS, EXCEPTIONS, f"Example:\n\n```toml\n{EXAMPLE}```"])
