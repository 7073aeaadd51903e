"""The command `fleetc comment`: one comment with a review on a pull request, kept up to date, and who approved what.

In: a file of `fleetc diff --format markdown`, arguments, and the variables of the CI service: API address, repository,
run. Out: the comment; a status of the commit on GitHub; exit code 1 while a broken limit waits for an owner.

The token comes from the environment alone. The comment only goes to that API: no file of a checkout and no option names
its address. It is never printed.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from fleetc.cli.shared.output import FAILURE, PROBLEMS, USAGE, message, wrong_usage
from fleetc.cli.shared.working import read_limits

if TYPE_CHECKING:
    from fleetc.online.forges import Forge, GitHub, Pull
    from fleetc.online.http import Client
    from fleetc.review.approvals import Rules
    from fleetc.review.limits import Breach

TOKEN = "FLEETC_COMMENT_TOKEN"  # noqa: S105  # the name of the variable
_KEY = re.compile(r"[A-Za-z0-9_/](?:-?[A-Za-z0-9._/]){0,99}")
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")
_REVIEW_BYTES, _JSON_BYTES = 16 * 1024 * 1024, 256 * 1024 * 1024
_STATUS = 130
"""Characters of the text of a status; GitHub refuses more than 140."""


class Forges(StrEnum):
    """A service that hosts repositories."""

    github = "github"
    gitlab = "gitlab"


def comment(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What fleetc diff --format markdown wrote.")],
    on: Annotated[Forges, typer.Option("--on", help="The service that runs this, which its variables describe.")],
    commit: Annotated[
        str, typer.Option("--commit", metavar="ID", help="The commit that was reviewed, with all digits.")
    ],
    number: Annotated[
        int | None, typer.Option("--number", metavar="N", min=1, help="The pull request; else it is looked for.")
    ] = None,
    head_repository: Annotated[
        str, typer.Option("--head-repository", metavar="OWNER/NAME", help="Repository that the commit was pushed to.")
    ] = "",
    base: Annotated[
        str, typer.Option("--base", metavar="BRANCH", help="Branch that the pull request wants to get into.")
    ] = "",
    limits: Annotated[
        Path | None, typer.Option("--limits", metavar="FILE", help="Limits and their owners, of that branch.")
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option("--review", metavar="FILE", help="What fleetc diff --limits FILE --format json wrote."),
    ] = None,
    key: Annotated[
        str, typer.Option("--key", metavar="NAME", help="Distinguishes the comments and statuses of several fleets.")
    ] = "fleet",
) -> None:
    """Write a review into one comment of a pull request, which every later run updates.

    With --limits, changes that go further wait for an owner: a comment of one line, fleetc approve CLASS COMMIT.
    """
    from fleetc.disk.files import read_text
    from fleetc.online.forges import ForgeError
    from fleetc.review.approvals import COMMIT
    from fleetc.text.masking import Mask

    if not COMMIT.fullmatch(commit):
        wrong_usage("--commit needs all digits of the commit's id")
    if not _KEY.fullmatch(key):
        wrong_usage("--key may have letters, digits, dots, slashes and single hyphens")
    token = os.environ.get(TOKEN, "")
    if not token.isascii() or not token.isprintable() or not token.strip():
        wrong_usage(f"the variable {TOKEN} has no token that may comment")
    place = _place(on, number, head_repository, base)
    try:
        text = read_text(file, _REVIEW_BYTES, "review-unreadable", "write it with fleetc diff --format markdown", USAGE)
        gate = _Gate(read_limits(limits), *_judged(review)) if limits is not None else None
        waiting = asyncio.run(_talk(place, token, commit, _Words(key, text, _link(on)), gate))
    except ForgeError as failure:
        message(f"error: {Mask([token]).masked(str(failure))}")
        raise typer.Exit(FAILURE) from None
    if waiting:
        raise typer.Exit(PROBLEMS)


class _Place(NamedTuple):
    """Where the comment goes. Without a number, `head_repository` and `base` select the pull requests.

    With a number, `base` must be its target branch, unless it is empty.
    """

    on: Forges
    api: str
    project: str
    number: int | None
    head_repository: str
    base: str


class _Words(NamedTuple):
    """The text of the comment: its key, the review and a link to all of it."""

    key: str
    review: str
    link: str


class _Gate(NamedTuple):
    """The limits and what the review breaks. `unchecked` is why it cannot be approved."""

    rules: Rules
    broken: tuple[Breach, ...]
    unchecked: tuple[str, ...]


def _place(on: Forges, number: int | None, head_repository: str, base: str) -> _Place:
    """The place by the variables of the service that runs this; exits where one is missing or odd."""
    if on is Forges.gitlab:
        iid = os.environ.get("CI_MERGE_REQUEST_IID", "")
        number = number or (int(iid) if re.fullmatch("[0-9]{1,9}", iid) else None)
        project = _variable("CI_PROJECT_ID", re.compile("[0-9]{1,12}"))
        if number is None:
            wrong_usage("this is no pipeline of a merge request, so name it with --number")
        return _Place(on, _api("CI_API_V4_URL"), project, number, "", base)
    if number is None and not (_REPOSITORY.fullmatch(head_repository) and base):
        wrong_usage("name the pull request with --number, or with --head-repository and --base")
    return _Place(
        on, _api("GITHUB_API_URL"), _variable("GITHUB_REPOSITORY", _REPOSITORY), number, head_repository, base
    )


def _variable(name: str, form: re.Pattern[str]) -> str:
    value = os.environ.get(name, "")
    if not form.fullmatch(value):
        wrong_usage(f"the variable {name}, which the service sets in its jobs, is missing or odd")
    return value


def _api(name: str) -> str:
    """The address of the API: https, or http on this machine."""
    from pydantic import TypeAdapter, ValidationError

    from fleetc.language.stream_api import ApiUrl

    try:
        api: str = TypeAdapter(ApiUrl).validate_python(os.environ.get(name, "").rstrip("/"))
    except ValidationError:
        wrong_usage(f"the variable {name} has no https address of an API; the service sets it in its jobs")
    return api


def _link(on: Forges) -> str:
    """Where the whole review is: the page of this run."""
    if on is Forges.gitlab:
        link = os.environ.get("CI_PIPELINE_URL", "")
    else:
        names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
        server, repository, run = (os.environ.get(name, "") for name in names)
        link = f"{server}/{repository}/actions/runs/{run}" if server and run else ""
    return link if re.fullmatch(r"https?://[A-Za-z0-9._~:/-]{1,500}", link) else ""


def _judged(path: Path | None) -> tuple[tuple[Breach, ...], tuple[str, ...]]:
    """The limits that a review breaks, and why none can be checked, from its JSON form; no file means no review."""
    from fleetc.disk.files import FilesError, read_text
    from fleetc.review.reports.json import breaches_in

    if path is None or not path.exists():
        return (), ("there is no review of this change, so no limit can be checked",)
    advice = "write it with fleetc diff --limits FILE --format json"
    text = read_text(path, _JSON_BYTES, "review-unreadable", advice, USAGE)
    try:
        review: Any = json.loads(text)
        broken = breaches_in(review)
        foreign, files_only = bool(review["foreign"]), bool(review["files_only"])
    except (ValueError, ArithmeticError, KeyError, TypeError, AttributeError, RecursionError):
        raise FilesError(
            "review-unreadable", "this is no review", path=str(path), advice=advice, exit_code=USAGE
        ) from None
    if foreign:
        return broken, ("a rollout would use files that the spec does not compile to",)
    return broken, ("only files are compared, so no limit can be checked",) if files_only else ()


async def _talk(place: _Place, token: str, commit: str, words: _Words, gate: _Gate | None) -> bool:
    """Comment on every selected pull request; return whether one waits for an owner."""
    from fleetc.online.http import Limits, Service, connected

    origin, slash, path = place.api.partition("://")[2].partition("/")
    service = Service(f"{place.api.partition('://')[0]}://{origin}", token)
    async with connected(service, Limits(at_once=1, answer_bytes=64 * 1024 * 1024)) as client:
        return await _comment(client, place, slash + path, commit, words, gate)


async def _comment(client: Client, place: _Place, prefix: str, commit: str, words: _Words, gate: _Gate | None) -> bool:
    from fleetc.online.commenting import keep_comment
    from fleetc.online.forges import GitHub, GitLab
    from fleetc.review.reports.comment import as_comment, marker

    github = GitHub(client, prefix, place.project) if place.on is Forges.github else None
    forge: Forge = github or GitLab(client, prefix, place.project)
    waiting: list[str] = []
    pulls = await _pulls(forge, github, place, commit)
    for pull in pulls:
        verdicts = await _verdicts(forge, pull, gate)
        unchecked = gate.unchecked if gate else ()
        waiting += [str(verdict.broken.limit) for verdict in verdicts if not verdict.approved_by] + list(unchecked)
        text = as_comment(words.key, words.review, verdicts, unchecked, commit, words.link, forge.room)
        done = await keep_comment(client, forge, pull.number, marker(words.key), text)
        message(f"the comment on {pull.number}: {done}")
    if github is not None and gate is not None and pulls:
        status = (
            f"waits for an owner: {', '.join(dict.fromkeys(waiting))}" if waiting else "within the limits, or approved"
        )
        name = re.sub("^fleet(?![a-z])", "fleetc", words.key)
        await github.tell(name, commit, not waiting, status[:_STATUS], words.link)
    return bool(waiting)


async def _pulls(forge: Forge, github: GitHub | None, place: _Place, commit: str) -> list[Pull]:
    """The selected pull requests whose head still is this commit; prints a message if there is none."""
    if place.number is not None:
        pull = await forge.pull(place.number)
        pulls = [pull] if pull.head == commit and place.base in ("", pull.base) else []
    else:
        assert github is not None  # noqa: S101  # GitLab has a number
        pulls = await github.pulls_of(commit, place.head_repository, place.base)
    if not pulls:
        message("no pull request into that branch has this commit as its head any more, so nothing was written")
    return pulls


async def _verdicts(forge: Forge, pull: Pull, gate: _Gate | None) -> list[Any]:
    from fleetc.review.approvals import PullComment, judge

    if gate is None or not gate.broken:
        return []
    comments = [PullComment(each.author, each.body, each.edited) for each in await forge.comments(pull.number)]
    return judge(gate.rules, gate.broken, comments, pull.head)
