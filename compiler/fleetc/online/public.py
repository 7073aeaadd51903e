"""Asks public addresses of nodes as anybody can: without an account, a token or a cookie, and following no redirect.

In: URLs. Out: an `Answer` for each, within bounds of size and time. Certificates are not checked: orchestrators make
their own, and nothing secret is sent.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from typing import NamedTuple

import httpx

_AT_ONCE = 32
_CONNECT_SECONDS, _ANSWER_SECONDS = 5.0, 10.0
_BODY_LIMIT = 64 * 1024


class Answer(NamedTuple):
    """What a URL answers: `status` is 0 without an answer, and `reason` says why.

    `refused` is whether its machine itself turned the connection down, so that it is no matter of the way there.
    """

    status: int
    body: str = ""
    reason: str = ""
    refused: bool = False


def ask_public(urls: Sequence[str], total_seconds: float = 60.0) -> dict[str, Answer]:
    """What each URL answers; those that are still silent at the end of the time have no answer."""
    return asyncio.run(_ask_all(list(dict.fromkeys(urls)), total_seconds))


async def _ask_all(urls: Sequence[str], seconds: float) -> dict[str, Answer]:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    turns = asyncio.Semaphore(_AT_ONCE)
    async with httpx.AsyncClient(verify=context, timeout=timeout, follow_redirects=False, trust_env=False) as client:

        async def one(url: str) -> Answer:
            async with turns:
                try:
                    async with asyncio.timeout(_ANSWER_SECONDS):
                        return await _ask(client, url)
                except TimeoutError:
                    return Answer(0, reason=f"no whole answer within {_ANSWER_SECONDS:.0f} seconds")

        jobs = {url: asyncio.create_task(one(url)) for url in urls}
        if jobs:
            _, late = await asyncio.wait(jobs.values(), timeout=seconds)
            for job in late:
                job.cancel()
            await asyncio.gather(*late, return_exceptions=True)
    silent = Answer(0, reason=f"nobody came to ask it within {seconds:.0f} seconds")
    return {url: silent if job.cancelled() else job.result() for url, job in jobs.items()}


async def _ask(client: httpx.AsyncClient, url: str) -> Answer:
    try:
        async with client.stream("GET", url) as reply:
            body = b""
            async for piece in reply.aiter_raw():
                body += piece
                if len(body) > _BODY_LIMIT:
                    return Answer(0, reason=f"its answer is longer than {_BODY_LIMIT // 1024} kB")
            return Answer(reply.status_code, body.decode(errors="replace"))
    except httpx.ConnectError as failure:
        return _not_connected(failure)
    except httpx.TimeoutException:
        return Answer(0, reason=f"nothing within {_CONNECT_SECONDS:.0f} seconds")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return Answer(0, reason="its answer is no HTTP", refused=True)


def _not_connected(failure: httpx.ConnectError) -> Answer:
    """Why there is no connection: what its machine says is another thing than no way there."""
    causes: list[BaseException] = [failure]
    for cause in causes:  # which grows
        if isinstance(cause, ConnectionRefusedError):
            return Answer(0, reason="it refuses the connection", refused=True)
        if isinstance(cause, ssl.SSLError):
            return Answer(0, reason="it does not speak TLS as it should", refused=True)
        causes += cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()
        causes += [one for one in (cause.__cause__ or cause.__context__,) if one is not None]
    return Answer(0, reason="no way there, or no such name")
