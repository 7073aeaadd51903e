"""Asks public addresses of nodes as anybody can: without an account, a token or a cookie, and following no redirect.

In: URLs. Out: a `UrlAnswer` for each, within bounds of size and time. Certificates are not checked: orchestrators make
their own, and nothing secret is sent.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import NamedTuple

import httpx

_AT_ONCE = 32
_CONNECT_SECONDS, _ANSWER_SECONDS = 5.0, 10.0


class UrlAnswer(NamedTuple):
    """What a URL answers: `status` is 0 without one, and `reason` is why. The body is ignored.

    `refused` is whether the machine itself turned the request down, so that the way there is not the cause. `connected`
    is whether anything took the connection.
    """

    status: int
    reason: str = ""
    refused: bool = False
    connected: bool = False


def ask_public(urls: Sequence[str], total_seconds: float = 60.0) -> dict[str, UrlAnswer]:
    """The answer of each URL; none for those still silent at the end."""
    return asyncio.run(_ask_all(list(dict.fromkeys(urls)), total_seconds))


async def _ask_all(urls: Sequence[str], seconds: float) -> dict[str, UrlAnswer]:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    timeout = httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
    turns = asyncio.Semaphore(_AT_ONCE)
    cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))  # keeps none
    begun: set[str] = set()
    async with httpx.AsyncClient(
        verify=context, timeout=timeout, follow_redirects=False, trust_env=False, cookies=cookies
    ) as client:

        async def one(url: str) -> UrlAnswer:
            async with turns:
                begun.add(url)
                try:
                    async with asyncio.timeout(_ANSWER_SECONDS):
                        return await _ask(client, url)
                except TimeoutError:
                    return UrlAnswer(0, f"no answer within {_ANSWER_SECONDS:.0f} seconds", connected=True)

        jobs = {url: asyncio.create_task(one(url)) for url in urls}
        if jobs:
            _, late = await asyncio.wait(jobs.values(), timeout=seconds)
            for job in late:
                job.cancel()
            await asyncio.gather(*late, return_exceptions=True)
    late_answer = UrlAnswer(0, f"it had not answered when the {seconds:.0f} seconds for all addresses were over")
    not_asked = UrlAnswer(0, f"the {seconds:.0f} seconds for all addresses were over before its turn came")
    return {
        url: job.result() if not job.cancelled() else late_answer if url in begun else not_asked
        for url, job in jobs.items()
    }


async def _ask(client: httpx.AsyncClient, url: str) -> UrlAnswer:
    try:
        async with client.stream("GET", url) as reply:
            return UrlAnswer(reply.status_code, connected=True)
    except httpx.ConnectError as failure:
        return _not_connected(failure)
    except httpx.ConnectTimeout:
        return UrlAnswer(0, f"no connection within {_CONNECT_SECONDS:.0f} seconds")
    except httpx.TimeoutException:
        return UrlAnswer(0, f"no answer within {_ANSWER_SECONDS:.0f} seconds", connected=True)
    except httpx.RemoteProtocolError:
        return UrlAnswer(0, "its answer is not HTTP", refused=True, connected=True)
    except (httpx.NetworkError, OSError):  # as a bad TLS record, which httpx lets through
        return UrlAnswer(0, "the connection broke off", connected=True)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return UrlAnswer(0, "it is not an address that can be asked")


def _not_connected(failure: httpx.ConnectError) -> UrlAnswer:
    """Why there is no connection: a refusal by the machine differs from no route."""
    causes: list[BaseException] = [failure]
    for cause in causes:  # which grows
        if isinstance(cause, ConnectionRefusedError):
            return UrlAnswer(0, "it refuses the connection", refused=True)
        if isinstance(cause, ssl.SSLError):
            return UrlAnswer(0, "it does not speak TLS as it should", refused=True, connected=True)
        causes += cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()
        causes += [inner for inner in (cause.__cause__ or cause.__context__,) if inner is not None]
    return UrlAnswer(0, "no way there, or no such name")
