"""Reads what people name as sources of `fleetc adopt`: files, folders, each perhaps with its host.

In: names as people type them. Out: texts, and which host they are from. Exits where one cannot be read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fleetc.cli.output import files_failure, message, wrong_usage
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.toml.document import Source


class NamedSources(NamedTuple):
    """The texts, which host each is from, the addresses of hosts, and pages that nobody named.

    `loose` are those texts of directories that may be anything: their names say nothing, and nobody named them.
    `others` are texts of directories that are no sources, and `more` counts other files there.
    """

    texts: list[Source]
    hosts: dict[str, str]
    addresses: dict[str, str]
    pages: list[Source]
    loose: list[Source]
    others: list[Source]
    more: int


def read_named(names: list[str]) -> NamedSources:
    """All sources by name."""
    from fleetc.adopt.markdown import NAMES, shows_node
    from fleetc.disk.adopting import read_source_files
    from fleetc.disk.manifest import FilesError, shown

    found = NamedSources([], {}, {}, [], [], [], 0)
    for given in names:
        host, equals, path = given.partition("=")
        if not equals or Path(given).exists():
            host, path = "", given
        host, _, address = host.partition("@")
        try:
            read, trees, pages, others, more = read_source_files(path, NAMES)
        except FilesError as failure:
            files_failure(failure, Format.text)
        for tree in trees:
            message(f"passed over {shown(str(tree))}: fleetc compiled it from a spec; name it as a source to adopt it")
        found.pages.extend(filter(shows_node, pages))
        found.others.extend(others)
        found = found._replace(more=found.more + more)
        fresh = [source for source in read if source.name not in {known.name for known in found.texts}]
        found.texts.extend(fresh)
        found.loose.extend(filter(_is_loose, fresh) if Path(path).is_dir() else ())
        for source in read if host else ():
            if found.hosts.setdefault(source.name, host) != host:
                wrong_usage(
                    f"{source.name} is named for {found.hosts[source.name]} and for {host}: part it, or name it "
                    "without a host if their nodes only read it"
                )
        if address:
            found.addresses[host] = address
    texts = {known.name for known in found.texts}
    left = {one.name: one for one in found.others if one.name not in texts}
    return found._replace(pages=[page for page in found.pages if page.name not in texts], others=[*left.values()])


def _is_loose(source: Source) -> bool:
    """Whether a text may be anything, as far as its name and its first line say."""
    return Path(source.name).suffix in ("", ".txt") and not source.text.startswith("#!")
