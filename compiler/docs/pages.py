"""The pages of the documentation site.

In: the Markdown files of the repository, the reference, and the help of each command. Out: Markdown for Sphinx, one
page for each file beside this one, each example fleet, each table of a spec, each topic of codes and each command.
Nothing is written twice: whoever changes a page changes the file that it comes from.
`python -m docs.pages DIRECTORY` writes them, for `make docs`.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from fleetc.cli.app import app
from fleetc.cli.commands import COMMANDS, GROUPS
from fleetc.messages.reference import markdown
from fleetc.messages.topics import code_topics

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"( *```)(\w*)")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)")
_TABLE = re.compile(r"`\[+(\w+)")
_LEXERS = {"log": "text", "console": "text"}
"""Languages of our blocks that the highlighter does not know, or takes for something else."""

_GUIDE = "compiler/docs"
REFERENCE = "compiler/REFERENCE.md"
PROJECT = {
    "Changes": ("CHANGELOG.md", "changes"),
    "How fleetc is built": ("compiler/README.md", "architecture"),
    "Working on fleetc": ("CONTRIBUTING.md", "contributing"),
    "Security": ("SECURITY.md", "security"),
}


class Section(NamedTuple):
    """A heading, and what is below it down to the next heading of its level."""

    title: str
    text: str


class Page(NamedTuple):
    """A page of the site: the file that it comes from, its path, and Markdown that begins with its title."""

    source: str
    path: str
    text: str


def site() -> dict[str, str]:
    """Markdown by the path of its page, without a suffix."""
    made = [*_guide(), *_examples(), *_commands(), *_reference(), *_project()]
    made.append(_start(made))
    places = _places(made)
    return {page.path: _linked(page, places) for page in made}


# ------------------------------------------------------------------------------------------------------- Markdown


def marked(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it belongs to a fenced block."""
    inside = False
    for line in text.splitlines():
        fence = _FENCE.match(line) is not None
        yield line, inside or fence
        inside ^= fence


def sections(text: str, level: int) -> tuple[str, list[Section]]:
    """What is before the first heading of this level, and the sections."""
    start: list[str] = []
    found: list[tuple[str, list[str]]] = []
    for line, code in marked(text):
        if not code and line.startswith("#" * level + " "):
            found.append((line[level:].strip(), []))
        else:
            (found[-1][1] if found else start).append(line)
    return "\n".join(start).strip(), [Section(title, "\n".join(lines).strip()) for title, lines in found]


def slug(title: str) -> str:
    """The anchor of a heading, as forges and MyST make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _contents(pages: list[str], option: str = ":hidden:") -> str:
    """The pages below one, which Sphinx lists at the side."""
    return "\n".join(["```{toctree}", ":maxdepth: 1", option, "", *pages, "```"])


# ---------------------------------------------------------------------------------------------------------- pages


def _read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def _guide() -> Iterator[Page]:
    """The pages beside this file, in the order in which the README links to them."""
    start = _read("README.md")
    for file in sorted(Path(__file__).parent.glob("*.md"), key=lambda file: start.index(f"({_GUIDE}/{file.name})")):
        yield Page(f"{_GUIDE}/{file.name}", f"guide/{file.stem}", file.read_text("utf-8"))


def _examples() -> Iterator[Page]:
    stories = {path.parent.name: path for path in sorted(ROOT.glob("inventories/*/README.md"))}
    index = f"{_read('inventories/README.md')}\n\n{_contents(list(stories))}"
    yield Page("inventories/README.md", "examples/index", index)
    for name in stories:
        yield Page(f"inventories/{name}/README.md", f"examples/{name}", _read(f"inventories/{name}/README.md"))


def _commands() -> Iterator[Page]:
    names = [listed.name for listed in COMMANDS]
    parts = ["# Help of each command"]
    for title, group in GROUPS.items():
        said = {listed.name: re.sub(r"--[\w-]+", r"`\g<0>`", listed.summary) for listed in group}
        rows = [f"- [fleetc {name}]({name}.md): {summary}" for name, summary in said.items()]
        parts += [f"## {title}", "\n".join(rows)]
    parts.append(_contents(names))
    yield Page("", "commands/index", "\n\n".join(parts))
    for name in names:
        shown = CliRunner().invoke(app, [name, "--help"], prog_name="fleetc").stdout
        yield Page("", f"commands/{name}", f"# fleetc {name}\n\n```text\n{shown.strip()}\n```")


def _reference() -> Iterator[Page]:
    parts = {part.title: part.text for part in sections(markdown(), 2)[1]}
    intro, tables = sections(parts["Tables"], 3)
    pages: dict[str, list[Section]] = {}
    for table in tables:
        match = _TABLE.match(table.title)
        pages.setdefault(match[1] if match else slug(table.title), []).append(table)
    yield Page(REFERENCE, "tables/index", "\n\n".join(["# Tables", intro, _contents(list(pages), "")]))
    for name, group in pages.items():
        texts = (f"## {title}\n\n{text}" for title, text in group[1:])
        yield Page(REFERENCE, f"tables/{name}", "\n\n".join([f"# {group[0].title}", group[0].text, *texts]))
    yield Page(REFERENCE, "flags", f"# Flags of the node\n\n{parts['Flags of the node']}")
    yield from _codes(*sections(parts["Codes"], 3))


def _codes(listed: str, codes: list[Section]) -> Iterator[Page]:
    topics, texts = code_topics(), dict(codes)
    yield Page(REFERENCE, "codes/index", "\n\n".join(["# Codes", listed, _contents(list(topics))]))
    for name, topic in topics.items():
        entries = (f"## {code}\n\n{texts[code]}" for code in topic.codes)
        yield Page(REFERENCE, f"codes/{name}", "\n\n".join([f"# Codes: {name}", topic.sentence, *entries]))


def _project() -> Iterator[Page]:
    for title, (source, path) in PROJECT.items():
        text = sections(_read(source), 1)[1][0].text
        yield Page(source, f"project/{path}", f"# {title}\n\n{text}")


def _start(pages: list[Page]) -> Page:
    paths = {folder: [page.path for page in pages if page.path.startswith(folder)] for folder in ("guide", "project")}
    contents = {
        "Guide": paths["guide"],
        "Examples": ["examples/index"],
        "Reference": ["commands/index", "tables/index", "flags", "codes/index"],
        "Project": paths["project"],
    }
    lists = (_contents(listed, f":caption: {caption}\n:hidden:") for caption, listed in contents.items())
    return Page("README.md", "index", "\n\n".join([_read("README.md"), *lists]))


# ---------------------------------------------------------------------------------------------------------- links


def _places(pages: list[Page]) -> dict[tuple[str, str], str]:
    """The page of each (file, anchor); the anchor "" is the first page of the file."""
    places: dict[tuple[str, str], str] = {}
    for page in pages:
        places.setdefault((page.source, ""), page.path)
        for line, code in marked(page.text):
            if line.startswith("#") and not code:
                places.setdefault((page.source, slug(line.lstrip("# "))), page.path)
    return places


def _linked(page: Page, places: Mapping[tuple[str, str], str]) -> str:
    """The page with links that lead inside the site, and with languages that the highlighter knows.

    A picture is one of `static`. A link to a file of the repository that is no page becomes its words. Raises
    SystemExit for one that leads nowhere.
    """

    def linked(match: re.Match[str]) -> str:
        words, file, anchor = match[2], match[3], (match[4] or "")[1:]
        if match[1]:
            return f'<img alt="{words}" src="{"../" * page.path.count("/")}_static/{posixpath.basename(file)}">'
        source = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), file)) if file else page.source
        if not page.source:
            return match[0]
        if (source, anchor) in places:
            path = posixpath.relpath(places[source, anchor], posixpath.dirname(page.path) or ".")
            return f"[{words}]({path}.md{'#' + anchor if anchor else ''})"
        if anchor or not (ROOT / source).exists():
            raise SystemExit(f"{page.source}: the link to {file}#{anchor} leads nowhere")
        return words

    lines = []
    for line, code in marked(page.text):
        fence = _FENCE.match(line)
        if fence and not line.lstrip("`").lstrip().startswith("{"):
            line = fence[1] + _LEXERS.get(fence[2], fence[2])
        lines.append(line if code else _LINK.sub(linked, line))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name, text in site().items():
        file = Path(sys.argv[1], f"{name}.md")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
