"""The meaning of a tally: one finding for each signature, and those that need several.

In: a `Tally`. Out: `LogFinding`s, the worst first. Combinations are functions of what was seen; each looks at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from fleetc.language.rows import fields_that_set
from fleetc.messages.pages import PAGES
from fleetc.observe.lives import SILENCE, Ended
from fleetc.observe.tally import LogLine, Seen, Tally
from fleetc.places.diagnostic import Severity
from fleetc.text import leaks
from fleetc.text.encoders import visible
from fleetc.upstream.messages import flags_named
from fleetc.upstream.signatures import signatures

_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING, "note": Severity.NOTE}
_CONSTANT_MINUTES = 10
_UNFUNDED = (
    "deposit-missing",
    "reserve-missing",
    "funds-unlocking",
    "face-value-above-deposit",
)
"""Signatures of missing funds. That a payment fails does not: it has other reasons too."""
_FUNDS = ("gateway-funds-missing", "deposit-below-face-value")


class LogFinding(NamedTuple):
    """A code with what it means and what to do, and what was seen of it in the logs.

    `change` names fields of the spec, `checks` codes of `fleetc check` that may explain it.
    """

    code: str
    severity: Severity
    what: str
    handling: str
    seen: Seen
    change: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    @property
    def per_minute(self) -> float:
        """The lines per minute with any; all lines if none has a time."""
        return self.seen.count / max(1, self.seen.minutes)


def findings(tally: Tally) -> list[LogFinding]:
    """The findings: errors, then warnings, then what is benign; of one severity combinations first, and general ones
    last; of those with more lines the first."""
    of_tally = [_plain(seen) for code, seen in tally.seen.items() if not _is_constant(tally, code)]
    of_tally += _combined(tally)
    return sorted(
        of_tally,
        key=lambda one: (one.severity, one.code not in PAGES, _is_general(one.code), -one.seen.count, one.code),
    )


def _is_general(code: str) -> bool:
    """Whether a finding may follow from any other."""
    return code in signatures() and signatures()[code].general


def _plain(seen: Seen) -> LogFinding:
    signature = signatures()[seen.code]
    return LogFinding(
        seen.code,
        _SEVERITIES[signature.severity],
        signature.what,
        signature.handling,
        seen,
        signature.change,
        signature.checks,
    )


def _combined(tally: Tally) -> Iterator[LogFinding]:
    for code in tally.seen:
        if _is_constant(tally, code):
            yield _of("ticket-params-always-expired", tally.seen[code], ("fleet.rpc",), ("rpc-not-layer-2",))
    yield from (_ended(tally, ended) for ended in tally.lives if ended.count > 1 or not ended.code)
    yield from _without_funds(tally.seen)
    yield from _below_every_price(tally.seen)


def _ended(tally: Tally, ended: Ended) -> LogFinding:
    """Processes that ended in the same way, and what their last words name."""
    words = visible(leaks.shown(ended.words))
    if ended.code:
        known = signatures()[ended.code].what.removesuffix(".")
        words = known[:1].lower() + known[1:]
    what = f"a node ended{'' if ended.count == 1 else f' {ended.count} times'}"
    what += ", and its log does not say why" if ended.words == SILENCE else f": {words}"
    what += f", in {ended.inside}" if ended.inside else ""
    if ended.befores:
        what += f"; the error before it: {'; '.join(visible(leaks.shown(before)) for before in ended.befores)}"
    starts = f"; {tally.lives.starts} starts in all" if tally.lives.starts > 1 else ""
    handling = ended.site.says if ended.site is not None else PAGES["node-ended"].instead
    handling = f"See {ended.code} below for what to do. {handling}" if ended.code else handling
    if ended.site is not None and ended.site.line:
        release = ".".join(map(str, ended.site.release))
        handling += f" The source of v{release} has it in {ended.site.path}:{ended.site.line}."
    fields = {flag: fields_that_set(flag) for flag in flags_named(ended.text)} if not ended.code else {}
    handling += "".join(f" -{flag} comes from {' or '.join(names)} of the spec." for flag, names in fields.items())
    change = tuple(name for names in fields.values() for name in names)
    seen = Seen("node-ended", LogLine(ended.log, ended.line, ended.text), ended.count, ended.first, ended.last, 1)
    return LogFinding("node-ended", Severity.ERROR, f"{what}{starts}", handling, seen, change)


def _is_constant(tally: Tally, code: str) -> bool:
    """Whether parameters expired in at least half of all minutes, over some time."""
    minutes = tally.seen[code].minutes
    return code == "ticket-params-expired" and minutes >= max(_CONSTANT_MINUTES, tally.minutes / 2)


def _without_funds(seen: Mapping[str, Seen]) -> Iterator[LogFinding]:
    """A gateway that finds no orchestrator and cannot pay, silently for the sender of a stream."""
    if any(_together(seen, "sessions-not-available", code) for code in _UNFUNDED):
        change = ("wallets.deposit", "wallets.reserve")
        yield _of("gateway-has-no-funds", seen["sessions-not-available"], change, _FUNDS)


def _below_every_price(seen: Mapping[str, Seen]) -> Iterator[LogFinding]:
    """A gateway that finds none because it drops orchestrators for their prices."""
    if _together(seen, "sessions-not-available", "price-above-cap"):
        above = seen["price-above-cap"]
        change = ("gateways.max_price", "gateways.max_model_prices")
        finding = _of("gateway-cap-below-every-price", seen["sessions-not-available"], change, _PRICES)
        yield finding._replace(seen=replace(finding.seen, parts=above.parts, ranges=above.ranges))


def _together(seen: Mapping[str, Seen], code: str, other: str) -> bool:
    """Whether two signatures were seen in the same minute, or at unknown times."""
    if code not in seen or other not in seen:
        return False
    minutes, others = seen[code].when, seen[other].when
    return not minutes or not others or not minutes.isdisjoint(others)


_PRICES = ("gateway-price-admits-nobody",)


def _of(code: str, seen: Seen, change: tuple[str, ...], checks: tuple[str, ...]) -> LogFinding:
    page = PAGES[code]
    return LogFinding(code, Severity.ERROR, page.what, page.instead, seen, change, checks)
