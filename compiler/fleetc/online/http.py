"""Sends requests to one service over HTTP, within bounds, and its token only there.

In: the address of the service, its token, `Limits`, and requests. Out: a `Reply` with status and bytes, or a `Failure`
with the reason in our own words. Nothing here raises for failures of a service. A redirect is a reply like any other,
and never followed. A request is repeated that reads or may arrive twice, and any that the service took too early.
"""

from __future__ import annotations

import asyncio
import random
import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from itertools import count
from typing import NamedTuple

import httpx

from fleetc.text.encoders import visible

_AGAIN = frozenset({500, 502, 503, 504})
"""Statuses after which the same question may get an answer."""
_FIRST_WAIT = 0.5
_SECONDS = re.compile("[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a conversation: requests at once, tries of a question, bytes of an answer, seconds."""

    at_once: int = 16
    tries: int = 4
    answer_bytes: int = 1024 * 1024
    connect_seconds: float = 10.0
    answer_seconds: float = 30.0
    total_seconds: float = 300.0


class Service(NamedTuple):
    """Where requests go, and the token that they carry. The address has no slash at its end."""

    base_url: str
    token: str

    def __repr__(self) -> str:
        return f"Service({self.base_url!r})"


class Reply(NamedTuple):
    """An answer: its status, its bytes, and the seconds that the service asks to wait, if it does."""

    status: int
    body: bytes
    wait: float | None = None


class Failure(NamedTuple):
    """No answer, and why. `sent`: the request may have reached the service; `again`: repeat it."""

    reason: str
    sent: bool = True
    again: bool = False


class Client:
    """A conversation with one service. Made by `connected`."""

    def __init__(self, service: Service, limits: Limits, asking: httpx.AsyncClient, sending: httpx.AsyncClient) -> None:
        self.limits = limits
        self._service = service
        self._asking = asking
        self._sending = sending
        self._clock = asyncio.get_running_loop().time
        self._end = self._clock() + limits.total_seconds
        self._not_before = 0.0

    async def get(self, path: str) -> Reply | Failure:
        """Ask, again after a while where that may help."""
        return await self._patiently(self._asking, "GET", path, None, is_passing)

    async def put(self, method: str, path: str, body: bytes | None) -> Reply | Failure:
        """Send a request that changes nothing more when it arrives twice, again after a while where that may help."""
        return await self._patiently(self._sending, method, path, body, is_passing)

    async def send(self, method: str, path: str, body: bytes) -> Reply | Failure:
        """Send a changing request; again only while the service says that it came too early, and did nothing."""
        return await self._patiently(self._sending, method, path, body, _is_too_early)

    async def _patiently(
        self,
        connection: httpx.AsyncClient,
        method: str,
        path: str,
        body: bytes | None,
        passes: Callable[[Reply | Failure], bool],
    ) -> Reply | Failure:
        """Repeat a request within the tries, and as long as time is left where the service says how long to wait."""
        for attempt in count(1):
            reply = await self._once(connection, method, path, body)
            asked = reply.wait if isinstance(reply, Reply) else None
            if not passes(reply) or (asked is None and attempt >= self.limits.tries):
                break
            if not await self._wait(min(attempt, self.limits.tries), asked or 0.0):
                break
        return reply

    async def pause(self, seconds: float) -> bool:
        """Wait if time is left; return whether it did."""
        if self._clock() + seconds >= self._end:
            return False
        await asyncio.sleep(seconds)
        return True

    async def _wait(self, attempt: int, seconds: float) -> bool:
        """Wait before the next try, a random time of a growing span; at least what the service asks everybody for."""
        if self._clock() + seconds < self._end:
            self._not_before = max(self._not_before, self._clock() + seconds)
        spread = random.uniform(0.5, 1) * _FIRST_WAIT * 2 ** (attempt - 1)  # noqa: S311  # spreads load, hides nothing
        return await self.pause(spread + seconds)

    async def _once(self, connection: httpx.AsyncClient, method: str, path: str, body: bytes | None) -> Reply | Failure:
        in_time = self._not_before <= self._clock() or await self.pause(self._not_before - self._clock())
        left = self._end - self._clock()
        if left <= 0 or not in_time:
            return Failure(f"the time limit of {self.limits.total_seconds:g} s for all requests is over", sent=False)
        seconds = min(left, self.limits.answer_seconds)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        try:
            async with asyncio.timeout(seconds):
                url = self._service.base_url + path
                async with connection.stream(method, url, content=body, headers=headers) as answer:
                    return await self._reply(answer)
        except TimeoutError:
            return Failure(f"there was no whole answer within {seconds:g} s", again=True)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as problem:
            return _failure(problem)

    async def _reply(self, answer: httpx.Response) -> Reply | Failure:
        """The answer as it came: what is compressed could be of any size once it is not."""
        if answer.headers.get("content-encoding", "identity") != "identity":
            return Failure("the answer is compressed, although the request did not allow that")
        body = bytearray()
        async for piece in answer.aiter_raw():
            body += piece
            if len(body) > self.limits.answer_bytes:
                return Failure(f"the answer is larger than {self.limits.answer_bytes} bytes")
        return Reply(answer.status_code, bytes(body), _asked_wait(answer.headers))


@asynccontextmanager
async def connected(service: Service, limits: Limits) -> AsyncIterator[Client]:
    """A client for a service. Connections over TLS use the proxy of the environment; those to this machine none.

    A changing request uses a new connection: on a kept one, just closed by the service, its fate would be unknown.
    """
    secure = service.base_url.startswith("https:")
    trust = httpx.create_ssl_context() if secure else False

    def opened(kept: int) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            headers={
                "Authorization": f"Bearer {service.token}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "fleetc",
            },
            verify=trust,
            trust_env=secure,
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=limits.connect_seconds),
            limits=httpx.Limits(max_connections=limits.at_once, max_keepalive_connections=kept),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # keeps none
        )

    async with opened(limits.at_once) as asking, opened(0) as sending:
        yield Client(service, limits, asking, sending)


def is_passing(reply: Reply | Failure) -> bool:
    """Whether to repeat a request that may arrive twice; a 403 with a wait time is a rate limit."""
    if isinstance(reply, Failure):
        return reply.again
    return reply.status in _AGAIN or _is_too_early(reply)


def _is_too_early(reply: Reply | Failure) -> bool:
    return isinstance(reply, Reply) and (reply.status == 429 or (reply.status == 403 and reply.wait is not None))


def _asked_wait(headers: httpx.Headers) -> float | None:
    """Seconds of Retry-After. A date there counts from the date of the answer, so that no two clocks are compared."""
    text = headers.get("retry-after", "")
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        span = parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, span.total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


_NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)
_NOT_A_REQUEST = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError)


def _failure(problem: Exception) -> Failure:
    """A failure in words that repeat nothing of the request.

    Only errors before the first byte mean that a request was not sent. After any other exception it may have arrived;
    httpx passes some unchanged, such as those of TLS.
    """
    causes = list(_causes(problem))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = visible(cause.verify_message)
            return Failure(f"its certificate is not trusted: {why}", sent=False)
    if isinstance(problem, _NOT_CONNECTED):
        words = [cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror]
        why = f": {visible(words[-1])}" if words else ""
        return Failure(f"no connection{why}", sent=False, again=True)
    if isinstance(problem, _NOT_A_REQUEST):
        return Failure("the request could not be sent", sent=False)
    lost = isinstance(problem, httpx.NetworkError | httpx.TimeoutException | OSError)
    return Failure("the connection broke off" if lost else "the answer is not HTTP, or broke off", again=True)


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    while problem is not None:
        yield problem
        problem = problem.__cause__ or problem.__context__
