"""Requests to the host of a repository: comments of a pull request, its head, the token's account.

In: a client, the names of things in the service. Out: values, or a `ForgeError` in words of our own. GitHub and GitLab
have the same questions with other paths; GitLab's merge requests are called pull requests here, and its notes comments.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from urllib.parse import quote

from fleetc.online.http import Client, Failure, Reply, is_passing
from fleetc.text.encoders import visible

_PAGE = 100
_PAGES = 100
"""A pull request with more than 10,000 comments is refused rather than given a second one."""
_SAID = 200


class ForgeError(Exception):
    """The service failed; the message has its answer."""


class NotCreatedError(Exception):
    """A new comment got no answer, or a temporary error: it may exist. `wait` are seconds to wait first."""

    def __init__(self, wait: float) -> None:
        super().__init__()
        self.wait = wait


class Comment(NamedTuple):
    """A comment: `author` is an account name, by the service's word."""

    id: int
    author: str
    body: str
    edited: bool


class Pull(NamedTuple):
    """A pull request: its number, the commit at its head, and the branch that it wants to get into."""

    number: int
    head: str
    base: str


class Forge(ABC):
    """A repository on a service. `room` is how many characters a comment may have."""

    room: int

    def __init__(self, client: Client) -> None:
        self._client = client

    @abstractmethod
    async def own_name(self) -> str:
        """The account name of the token."""

    @abstractmethod
    async def pull(self, number: int) -> Pull:
        """A pull request by its number."""

    @abstractmethod
    async def comments(self, number: int) -> list[Comment]:
        """All comments of a pull request."""

    @abstractmethod
    async def create(self, number: int, body: str) -> None:
        """Add a comment, sent once. Raises `NotCreatedError` where it may be there or not."""

    @abstractmethod
    async def update(self, number: int, comment: int, body: str) -> bool:
        """Give a comment another text; False if it is gone."""

    @abstractmethod
    async def remove(self, number: int, comment: int) -> None:
        """Remove a comment; a missing one is no error."""

    async def _get(self, path: str) -> Any:
        return _content(await self._client.get(path), path)

    async def _pages(self, path: str) -> AsyncIterator[Any]:
        """Every entry of a list that comes in pages."""
        mark = "&" if "?" in path else "?"
        for page in range(1, _PAGES + 1):
            entries = await self._get(f"{path}{mark}per_page={_PAGE}&page={page}")
            if not isinstance(entries, list):
                raise ForgeError(f"the service answered no list to {path}")
            for entry in entries:
                yield entry
            if len(entries) < _PAGE:
                return
        raise ForgeError(f"the service has more than {_PAGE * _PAGES} entries at {path}")

    async def _add(self, path: str, body: dict[str, str]) -> None:
        reply = await self._client.send("POST", path, _bytes(body))
        if is_passing(reply) or (isinstance(reply, Failure) and reply.sent):
            raise NotCreatedError((reply.wait or 0) if isinstance(reply, Reply) else 0)
        _content(reply, path)

    async def _change(self, method: str, path: str, body: dict[str, str] | None) -> bool:
        """Send a repeatable request; False if the thing is gone."""
        reply = await self._client.put(method, path, None if body is None else _bytes(body))
        if isinstance(reply, Reply) and reply.status in (404, 410):
            return False
        _content(reply, path)
        return True


class GitHub(Forge):
    """A repository on GitHub, or on a GitHub server of one's own. `prefix` is the path of the API."""

    room = 65_000  # it refuses 65,536 characters

    def __init__(self, client: Client, prefix: str, repository: str) -> None:
        super().__init__(client)
        self._graphql = f"{prefix.removesuffix('/v3')}/graphql"
        self._repository = f"{prefix}/repos/{quote(repository)}"

    async def own_name(self) -> str:
        # The token of a workflow may not ask GET /user; GraphQL returns its account.
        reply = await self._client.put("POST", self._graphql, _bytes({"query": "{viewer{login}}"}))
        return _text(_content(reply, self._graphql), "data", "viewer", "login")

    async def pull(self, number: int) -> Pull:
        request = await self._get(f"{self._repository}/pulls/{number}")
        return Pull(number, _text(request, "head", "sha"), _text(request, "base", "ref"))

    async def pulls_of(self, head: str, repository: str, base: str) -> list[Pull]:
        """The open pull requests into a branch that come from this commit of this repository, in any number."""
        path = f"{self._repository}/pulls?state=open&base={quote(base, safe='')}&sort=updated&direction=desc"
        entries = [entry async for entry in self._pages(path)]
        return [
            Pull(_number(entry, "number"), head, base)
            for entry in entries
            if _text(entry, "head", "sha") == head
            and _at(entry, "head", "repo", "full_name") == repository
            and _at(entry, "base", "ref") == base
        ]

    async def comments(self, number: int) -> list[Comment]:
        return [
            Comment(
                _number(entry, "id"),
                str(_at(entry, "user", "login") or ""),
                str(_at(entry, "body") or ""),
                _edited(entry),
            )
            async for entry in self._pages(f"{self._repository}/issues/{number}/comments")
        ]

    async def create(self, number: int, body: str) -> None:
        await self._add(f"{self._repository}/issues/{number}/comments", {"body": body})

    async def update(self, number: int, comment: int, body: str) -> bool:
        return await self._change("PATCH", f"{self._repository}/issues/comments/{comment}", {"body": body})

    async def remove(self, number: int, comment: int) -> None:
        await self._change("DELETE", f"{self._repository}/issues/comments/{comment}", None)

    async def tell(self, name: str, commit: str, good: bool, text: str, link: str) -> None:
        """Set the status `name` of a commit, which a rule of the repository can require."""
        body = {"state": "success" if good else "failure", "context": name, "description": text, "target_url": link}
        path = f"{self._repository}/statuses/{commit}"
        if not await self._change("POST", path, {name: value for name, value in body.items() if value}):
            raise ForgeError(f"the service does not know {path}")


class GitLab(Forge):
    """A project on GitLab. `prefix` is the path of the API, `project` its number."""

    room = 900_000  # it refuses 1,000,000 characters

    def __init__(self, client: Client, prefix: str, project: str) -> None:
        super().__init__(client)
        self._user = f"{prefix}/user"
        self._requests = f"{prefix}/projects/{quote(project, safe='')}/merge_requests"

    async def own_name(self) -> str:
        return _text(await self._get(self._user), "username")

    async def pull(self, number: int) -> Pull:
        request = await self._get(f"{self._requests}/{number}")
        return Pull(number, _text(request, "sha"), _text(request, "target_branch"))

    async def comments(self, number: int) -> list[Comment]:
        return [
            Comment(
                _number(entry, "id"),
                str(_at(entry, "author", "username") or ""),
                str(_at(entry, "body") or ""),
                _edited(entry),
            )
            async for entry in self._pages(f"{self._requests}/{number}/notes?order_by=created_at&sort=asc")
            if not _at(entry, "system")
        ]

    async def create(self, number: int, body: str) -> None:
        await self._add(f"{self._requests}/{number}/notes", {"body": body})

    async def update(self, number: int, comment: int, body: str) -> bool:
        return await self._change("PUT", f"{self._requests}/{number}/notes/{comment}", {"body": body})

    async def remove(self, number: int, comment: int) -> None:
        await self._change("DELETE", f"{self._requests}/{number}/notes/{comment}", None)


# --- answers --------------------------------------------------------------------------------------


def _bytes(body: dict[str, str]) -> bytes:
    return json.dumps(body).encode()


def _content(reply: Reply | Failure, path: str) -> Any:
    """What an answer holds. Raises `ForgeError`."""
    if isinstance(reply, Failure):
        raise ForgeError(f"no answer to {path}: {reply.reason}")
    try:
        content = json.loads(reply.body) if reply.body else None
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or nested without end
        content = None
    if 200 <= reply.status < 300:
        return content
    words = _at(content, "message") or _at(content, "error")
    more = f": {visible(words[:_SAID])}" if isinstance(words, str) else ""
    raise ForgeError(f"the service answered {reply.status} to {path}{more}")


def _edited(entry: Any) -> bool:
    """Whether a comment may have been edited; where its times are missing, it may."""
    created = _at(entry, "created_at")
    return not created or created != _at(entry, "updated_at")


def _at(content: Any, *names: str) -> Any:
    """What is at a path of objects; None where there is nothing."""
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    return content


def _text(content: Any, *names: str) -> str:
    text = _at(content, *names)
    if not isinstance(text, str) or not text:
        raise ForgeError(f"the service's answer lacks {'.'.join(names)}")
    return text


def _number(content: Any, name: str) -> int:
    number = _at(content, name)
    if not isinstance(number, int):
        raise ForgeError(f"the service's answer lacks {name}")
    return number
