"""The exchange of `fleetc streams` with the stream API: who may get the token, questions, changes, and stored ids.

In: a spec, its streams, settings. Out: `Talk`, which `cli/streams.py` prints. It prints and writes nothing without
a search for the secrets involved.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from fleetc.cli.shared.output import USAGE, message
from fleetc.messages.forms import Format

if TYPE_CHECKING:
    from fleetc.blueprint.blueprint import StreamApiBlueprint, StreamBlueprint
    from fleetc.language.fleet import Fleet
    from fleetc.online.http import Client
    from fleetc.settings import Settings
    from fleetc.stream_api.data import Report
    from fleetc.stream_api.ids import Ids, Known
    from fleetc.stream_api.outcome import Applied


def _unmasked(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Talk:
    """The output: the reports and, after changes, their results and the reports before."""

    reports: Sequence[Report]
    applied: Sequence[Applied] | None = None
    plan: Sequence[Report] | None = None
    masked: Callable[[str], str] = field(default=_unmasked, repr=False)


def talk(
    spec: Path, fleet: Fleet, chosen: Sequence[StreamBlueprint], settings: Settings, apply: bool, form: Format
) -> Talk:
    """Ask the API about streams and, if asked for, make them as declared.

    Raises FilesError, DeployError if it cannot ask.
    """
    from fleetc.disk.ids_file import locked_streams
    from fleetc.lower.streams import lower_stream_api

    api = _trusted(lower_stream_api(fleet), settings, spec)
    talking = _Talk(spec, api, chosen, set(fleet.streams), settings)
    if not apply:
        return asyncio.run(talking.ask())
    with locked_streams(spec):
        return asyncio.run(talking.apply(form))


def _trusted(api: StreamApiBlueprint | None, settings: Settings, spec: Path) -> StreamApiBlueprint:
    """The API of the spec, if the user allows the token there.

    The spec alone does not decide: a pull request could change it and get the tester's token.
    """
    from fleetc.disk.files import FilesError

    if api is None:
        text = "the spec has no address of the stream API"
        advice = 'write [stream_api] with base_url = "https://..." and token = { env = "NAME" }, or compare a stored '
        advice += "answer with --observed"
        raise FilesError("stream-api-missing", text, path=str(spec), advice=advice, exit_code=USAGE)
    if api.base_url not in settings.stream_apis:
        text = f"the spec sends {api.kind} {api.reference} to {api.base_url}, and you let no token go there"
        advice = f"if that is the API you mean, add --send-token-to {api.base_url}, or put it into stream_apis of your "
        advice += "own configuration"
        raise FilesError("stream-api-not-trusted", text, path=str(spec), advice=advice, exit_code=USAGE)
    return api


class _Talk:
    """One conversation: the secrets it may use, the ids that are known, and what is printed on the way."""

    def __init__(
        self,
        spec: Path,
        api: StreamApiBlueprint,
        chosen: Sequence[StreamBlueprint],
        declared: Collection[str],
        settings: Settings,
    ) -> None:
        from fleetc.disk.ids_file import ids_path
        from fleetc.online.http import Limits, Service
        from fleetc.rollout.hosts.secret_commands import need_defined
        from fleetc.rollout.hosts.stream_secrets import known_values, token_of
        from fleetc.text.masking import Mask

        references = {(secret.kind, secret.reference) for stream in chosen for secret in stream.secrets}
        if api.kind == "command":
            need_defined({api.reference: "the token of the stream API"}, settings.secret_commands)
        self._values = known_values({(api.kind, api.reference), *references}, settings)
        self._chosen = chosen
        self._declared = declared
        self._service = Service(api.base_url, token_of(api, self._values))
        self._limits = Limits(at_once=settings.stream_requests, total_seconds=settings.stream_seconds)
        self._mask = Mask(value for value in self._values.values() if len(value) >= _LEAST_MASKED)
        self._path = ids_path(spec)
        self._known: Mapping[str, Known] = {}

    async def ask(self) -> Talk:
        """Ask about all streams."""
        from fleetc.online.http import connected

        async with connected(self._service, self._limits) as client:
            return Talk(await self._ask(client), masked=self._mask.masked)

    async def apply(self, form: Format) -> Talk:
        """Ask, print the plan, and carry it out."""
        from fleetc.online.applying import Notes, apply_all
        from fleetc.online.http import connected
        from fleetc.rollout.hosts.stream_secrets import need_values
        from fleetc.stream_api.bodies import references
        from fleetc.stream_api.report import all_as_text

        def tell(done: Applied) -> None:
            if form is Format.text and done.result != "unchanged":
                message(self._mask.masked(f"{done.stream}: {done.result.replace('_', ' ')}"))

        async with connected(self._service, self._limits) as client:
            plan = await self._ask(client)
            needed = {reference for report in plan for step in report.steps for reference in references(step.body)}
            need_values(needed, self._values, (secret for stream in self._chosen for secret in stream.secrets))
            if form is Format.text:
                typer.echo(self._mask.masked(all_as_text(plan, None)))
                sys.stdout.flush()
            pairs = list(zip(self._chosen, plan, strict=True))
            notes = Notes(self._keep, lambda text: not self._mask.finds(text))
            applied, reports = await apply_all(client, pairs, self._known, self._values, notes, tell)
        return Talk(reports, applied, plan, self._mask.masked)

    async def _ask(self, client: Client) -> list[Report]:
        from fleetc.online.asking import ask_all
        from fleetc.stream_api.ids import known_at

        self._known = known_at(self._read_ids(), self._service.base_url, self._declared)
        for name in sorted(self._known.keys() - self._declared):
            what = f"{self._path.name} has an id of {name}, which the spec does not declare"
            message(self._mask.masked(f"note: {what}; fleetc deletes no stream"))
        with _progress(sys.stderr, len(self._chosen)) as tell:
            return await ask_all(client, self._chosen, self._known, self._values, tell)

    def _read_ids(self) -> Ids:
        from fleetc.disk.files import FilesError
        from fleetc.disk.ids_file import read_ids_file
        from fleetc.stream_api.ids import IdsError, read_ids

        text = read_ids_file(self._path)
        try:
            return {} if text is None else read_ids(text)
        except IdsError as problem:
            where = f" at {problem.place}" if problem.place else ""
            text, advice = f"{self._path} is damaged{where}: {problem}", "restore it from version control"
            raise FilesError("ids-damaged", text, path=str(self._path), advice=advice) from None

    def _keep(self, name: str, known: Known | None) -> None:
        """Write down what is known of a stream now, in the file as it is: a person may have edited it meanwhile."""
        from fleetc.disk.files import FilesError
        from fleetc.disk.whole import write_whole
        from fleetc.stream_api.ids import ids_text

        try:
            ids, url = self._read_ids(), self._service.base_url
            others = {stream: entry for stream, entry in ids.get(url, {}).items() if stream != name}
            streams = others if known is None else {**others, name: known}
            write_whole(self._path, ids_text({**ids, url: streams}).encode())
        except FilesError as problem:
            if known is not None and known.id is not None:
                text = f"{problem.message}; {name} has the id {known.id}: write that down"
                raise FilesError(problem.code, text, path=problem.path, advice=problem.help, exit_code=3) from None
            raise


_LEAST_MASKED = 6
"""Shortest value to search for: sent values are longer, and a shorter one would match many words.
"""


@contextmanager
def _progress(stream: TextIO, total: int) -> Iterator[Callable[[Report], None]]:
    """A function that hears of each report; on a terminal it counts them."""
    if not stream.isatty():
        yield lambda _report: None
        return
    from rich.console import Console

    count = 0
    with Console(file=stream).status(f"asking about {total} streams") as status:

        def tell(_report: Report) -> None:
            nonlocal count
            count += 1
            status.update(f"asked about {count} of {total} streams")

        yield tell
