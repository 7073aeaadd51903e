"""Carries out the requests that make streams as declared: each once, in their order, and never one blindly again.

In: a client, reports with their steps, values of secrets, and `Notes`. Out: `Applied` for each stream, and the reports
afterwards. Before a creating request, fleetc records it on the disk. If fleetc dies or the answer is lost, the next run
knows that it may have arrived.

Streams are created and patched. It leaves a step that waits for an inactive stream, and all after it. It never replaces
a stream, which would change keys and addresses that others hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fleetc.blueprint.blueprint import StreamBlueprint
from fleetc.online.asking import Values, ask, ask_by_id
from fleetc.online.http import Client, Failure, Reply
from fleetc.stream_api import normal
from fleetc.stream_api.bodies import as_bytes
from fleetc.stream_api.data import DRIFT, IN_SYNC, REPLACE, ApiRequest, Binding, Report
from fleetc.stream_api.ids import Known, usable_id, with_bindings
from fleetc.stream_api.learning import learn, sent_targets
from fleetc.stream_api.observed import MISSING, STREAM, UNREACHABLE, read_body
from fleetc.stream_api.outcome import CHANGED, CREATED, LEFT, LOST, NOT_BEGUN, REFUSED, UNCHANGED, Applied
from fleetc.stream_api.steps import INACTIVE, NEW_STREAM, path_of_id

_LATE_READS = (0.3, 1.0, 2.0)
"""Seconds between readings after a change: the service answers from a copy that may be late."""
_ENDS_ALL = (401, 403, 429)
"""Statuses that every further request would meet too; that of 429 came after all waiting."""


class Notes(NamedTuple):
    """How to write down what is known of a stream.

    `keep` writes it to the disk by the stream's name in the spec; None is nothing any more. `may_write` decides whether
    a text from the service may be stored: an echoed token may not.
    """

    keep: Callable[[str, Known | None], None]
    may_write: Callable[[str], bool]


class _Sent(NamedTuple):
    """What a request came to: accepted, refused or unknown; the stream that was answered, if one was."""

    result: str
    reasons: tuple[str, ...] = ()
    stream: Mapping[str, Any] | None = None


_ACCEPTED = "accepted"


async def apply_all(
    client: Client,
    pairs: Sequence[tuple[StreamBlueprint, Report]],
    known: Mapping[str, Known],
    values: Values,
    notes: Notes,
    tell: Callable[[Applied], None],
) -> tuple[list[Applied], list[Report]]:
    """Make streams as declared, each with its report, one after the other; `tell` gets each when it is done."""
    run = _Run(client, known, values, notes)
    done: list[Applied] = []
    after: list[Report] = []
    for pair in pairs:
        applied, report = await run.one(*pair)
        done.append(applied)
        after.append(report)
        tell(applied)
    return done, after


class _Run:
    """The changes of one run. After a failure that would meet every stream, nothing more is sent."""

    def __init__(self, client: Client, known: Mapping[str, Known], values: Values, notes: Notes) -> None:
        self._client = client
        self._known = dict(known)
        self._values = values
        self._notes = notes
        self._ended = False

    async def one(self, blueprint: StreamBlueprint, report: Report) -> tuple[Applied, Report]:
        """One stream: what became of it, and how it is afterwards, by what is known of it then."""
        name = blueprint.name
        new = name not in self._known
        self._bind(name, report.bindings)
        if report.kind == IN_SYNC:
            return Applied(name, UNCHANGED), report
        if report.kind != DRIFT and not (report.kind == MISSING and new):
            return Applied(name, LEFT, reasons=report.reasons), report
        if self._ended:
            return Applied(name, NOT_BEGUN), report
        done = await (self._create(blueprint, report) if new else self._patch(name, report))
        return done, await self._afterwards(blueprint) if done.accepted or done.result == LOST else report

    async def _create(self, blueprint: StreamBlueprint, report: Report) -> Applied:
        name = blueprint.name
        rows = normal.target_rows(blueprint.request.content)
        self._keep(name, Known(None, sent_targets(rows)))
        sent = await self._send(report.steps[0])
        stream = sent.stream
        if sent.result == REFUSED:
            self._keep(name, None)
            return Applied(name, REFUSED, reasons=sent.reasons)
        if stream is None or not self._usable(stream.get("id")):
            reasons = sent.reasons or ("the service accepted it, but answered no stream with an id",)
            return Applied(name, LOST, reasons=reasons)
        self._keep(name, self._known[name]._replace(id=stream["id"]))
        self._bind(name, learn(rows, normal.target_rows(stream)))
        steps = [step._replace(path=path_of_id(stream["id"])) for step in report.steps[1:]]
        done = await self._send_all(name, steps)
        result = CREATED if done.result == CHANGED else done.result
        return done._replace(result=result, accepted=done.accepted + 1)

    async def _patch(self, name: str, report: Report) -> Applied:
        if any(drift.action == REPLACE for drift in report.drifts):
            reason = "it needs a new stream: remove the id of this one, apply, then end the old stream"
            return Applied(name, LEFT, reasons=(reason,))
        if not report.steps:
            return Applied(name, LEFT, reasons=("what differs needs a person",))
        return await self._send_all(name, report.steps)

    async def _send_all(self, name: str, steps: Sequence[ApiRequest]) -> Applied:
        """Send steps in their order, up to the first that is not accepted or has to wait."""
        for accepted, step in enumerate(steps):
            if step.when == INACTIVE:
                reason = f"waits until the stream is inactive: {', '.join(step.body)}"
                return Applied(name, LEFT, accepted, (reason,))
            before, rows = self._known[name], step.body.get("multistream", {}).get("targets", [])
            self._keep(name, before._replace(targets=with_bindings(before.targets, sent_targets(rows))))
            sent = await self._send(step)
            if sent.result == REFUSED:
                self._keep(name, before)
            if sent.result != _ACCEPTED:
                return Applied(name, sent.result, accepted, sent.reasons)
            if sent_targets(rows):
                await self._learn(name, rows)
        return Applied(name, CHANGED, len(steps))

    async def _learn(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Read which ids the service gave to new targets; a patch is not answered with them."""
        stream_id = self._known[name].id
        assert stream_id is not None  # noqa: S101  # only streams with an id are patched
        for seconds in (0.0, *_LATE_READS):
            if not await self._client.pause(seconds):
                break
            answer = await ask_by_id(self._client, stream_id)
            bindings = learn(rows, normal.target_rows(answer.stream)) if answer.kind == STREAM else ()
            self._bind(name, bindings)
            if bindings:
                break

    async def _afterwards(self, blueprint: StreamBlueprint) -> Report:
        known = self._known[blueprint.name]
        report = await ask(self._client, blueprint, known, self._values)
        for seconds in _LATE_READS:
            if report.kind not in (DRIFT, MISSING) or not await self._client.pause(seconds):
                break
            report = await ask(self._client, blueprint, known, self._values)
        self._bind(blueprint.name, report.bindings)
        if report.kind in (DRIFT, MISSING):
            kind = DRIFT if report.kind == DRIFT else UNREACHABLE  # it was there a moment ago
            note = "the service may answer from a copy that is late: run fleetc streams again in a moment"
            report = replace(report, kind=kind, notes=(*report.notes, note))
        return report

    def _keep(self, name: str, known: Known | None) -> None:
        """Write down what is known of a stream, where that changes."""
        if known == self._known.get(name):
            return
        self._notes.keep(name, known)
        if known is None:
            del self._known[name]
        else:
            self._known[name] = known

    def _bind(self, name: str, bindings: Sequence[Binding]) -> None:
        """Write down the ids of targets, those that the file may have."""
        if (known := self._known.get(name)) is not None:
            usable = [binding for binding in bindings if self._usable(binding.id)]
            self._keep(name, known._replace(targets=with_bindings(known.targets, usable)))

    async def _send(self, step: ApiRequest) -> _Sent:
        """Send one request. Only an explicit answer is a refusal: else it may have arrived."""
        assert step.path != NEW_STREAM  # noqa: S101  # its id is known by now
        reply = await self._client.send(step.method, step.path, as_bytes(step.body, self._values))
        if isinstance(reply, Failure):
            self._ended = True
            if not reply.sent:
                return _Sent(REFUSED, (f"not sent: {reply.reason}",))
            return _Sent(LOST, (f"it may have arrived: {reply.reason}",))
        return self._judged(step, reply)

    def _judged(self, step: ApiRequest, reply: Reply) -> _Sent:
        if 200 <= reply.status < 300:
            if step.method != "POST":
                return _Sent(_ACCEPTED)
            created = read_body(reply.body, 200)
            return _Sent(_ACCEPTED, created.reasons, created.stream if created.kind == STREAM else None)
        answer = read_body(reply.body, reply.status)
        self._ended = self._ended or reply.status in _ENDS_ALL or reply.status >= 500
        if 400 <= reply.status < 500 and reply.status != 408:
            wait = f"; it asks to wait {reply.wait:g} s" if reply.wait else ""
            return _Sent(REFUSED, tuple(f"{reason}{wait}" for reason in answer.reasons))
        return _Sent(LOST, tuple(f"it may have been carried out: {reason}" for reason in answer.reasons))

    def _usable(self, value: object) -> bool:
        return isinstance(value, str) and usable_id(value) and self._notes.may_write(value)
