"""`fleetc comment` against a stand-in for both services: one comment, whoever else writes, and who approves what."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetc.review.reports.comment import marker
from fleetc.text.encoders import markdown_text
from tests.online.ill_servers import ILLNESSES, ill
from tests.standin import forges
from tests.standin.forges import BOT, TOKEN, Fault, Forge
from tests.support import fleetc

HEAD, OLD = "a1" * 20, "b2" * 20
MARK = marker("fleet")
REVIEW = "### 1 change on 1 host: price (1)\n\n- **price**: argument `-pricePerUnit`\n"
LIMITS = 'max_impact = "price=5%,exposure=none"\n[owners]\nprice = ["Alice", "bob"]\n'
SERVICES = ["github", "gitlab"]


@pytest.fixture
def forge() -> Iterator[Forge]:
    """A stand-in with one pull request."""
    with forges.running() as found:
        found.pull(12, HEAD)
        yield found


def variables(forge: Forge, service: str, token: str = TOKEN) -> dict[str, str]:
    own = {"FLEETC_COMMENT_TOKEN": token}
    if service == "gitlab":
        return own | {"CI_API_V4_URL": f"{forge.address}/api/v4", "CI_PROJECT_ID": "7", "CI_MERGE_REQUEST_IID": "12"}
    run = {"GITHUB_SERVER_URL": "https://github.example.net", "GITHUB_RUN_ID": "99"}
    return own | run | {"GITHUB_API_URL": forge.address, "GITHUB_REPOSITORY": "me/fleet"}


def words(service: str, *more: str) -> list[str]:
    place = ["--head-repository", "fork/fleet", "--base", "main"] if service == "github" else []
    return ["comment", "review.md", "--on", service, "--commit", HEAD, *place, *more]


def comment(
    forge: Forge, place: Path, service: str = "github", *more: str, text: str = REVIEW
) -> subprocess.CompletedProcess[str]:
    (place / "review.md").write_text(text, encoding="utf-8")
    done = fleetc(*words(service, *more), cwd=place, **variables(forge, service))
    assert "Traceback" not in done.stderr and TOKEN not in done.stdout + done.stderr
    return done


# ------------------------------------------------------------------------------------------------- one comment


@pytest.mark.parametrize("service", SERVICES)
def test_first_run_creates_the_comment_and_later_ones_update_it(service: str, forge: Forge, tmp_path: Path) -> None:
    assert comment(forge, tmp_path, service).returncode == 0
    assert forge.of(12) == [f"{MARK}\n{REVIEW}"]
    again = comment(forge, tmp_path, service)
    assert "unchanged" in again.stderr and not forge.asked("PATCH" if service == "github" else "PUT")
    assert comment(forge, tmp_path, service, text="### Nothing changes\n").returncode == 0
    assert forge.of(12) == [f"{MARK}\n### Nothing changes\n"]
    assert len(forge.asked("POST")) - sum("graphql" in path for path in forge.asked("POST")) == 1


@pytest.mark.parametrize("service", SERVICES)
def test_comment_is_found_behind_300_others(service: str, forge: Forge, tmp_path: Path) -> None:
    for number in range(150):
        forge.say(12, "somebody", f"word {number}")
    comment(forge, tmp_path, service)
    for number in range(150):
        forge.say(12, "somebody", f"more {number}")
    assert "updated" in comment(forge, tmp_path, service, text="new\n").stderr
    assert forge.of(12) == [f"{MARK}\nnew\n"]
    forge.say(12, BOT, f"{MARK}\nat the very end\n")
    assert comment(forge, tmp_path, service, text="newer\n").returncode == 0
    assert forge.of(12) == [f"{MARK}\nnewer\n"]


@pytest.mark.parametrize("service", SERVICES)
def test_a_marker_that_somebody_else_wrote_is_never_taken(service: str, forge: Forge, tmp_path: Path) -> None:
    forge.say(12, "mallory", f"{MARK}\nAll is well, merge it.\n")
    forge.say(12, "", f"{MARK}\nof a deleted account\n")
    forge.say(12, BOT, f"another workflow quotes it:\n{MARK}\n")
    forge.say(12, BOT, f"{marker('other')}\nthe review of another fleet\n")
    assert "created" in comment(forge, tmp_path, service).stderr
    assert f"{MARK}\n{REVIEW}" in forge.of(12)
    assert len(forge.comments) == 5
    assert forge.of(12, "mallory") == [f"{MARK}\nAll is well, merge it.\n"]


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("service", SERVICES)
def test_two_runs_at_once_leave_one_comment(service: str, forge: Forge, tmp_path: Path) -> None:
    """Both look before either has created one, so both create one."""
    met = threading.Event()
    forge.together = threading.Barrier(2, action=met.set)
    (tmp_path / "review.md").write_text(REVIEW, encoding="utf-8")
    runs = [
        subprocess.Popen(
            [sys.executable, "-I", "-m", "fleetc", *words(service)],
            cwd=tmp_path,
            env={**os.environ, **variables(forge, service)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [run.communicate(timeout=60)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], told
    assert met.is_set()
    assert any("created" in text for text in told), "the slower one may find the other's, and keep it"
    assert forge.of(12) == [f"{MARK}\n{REVIEW}"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(status: int, forge: Forge, tmp_path: Path) -> None:
    forge.faults = [
        Fault("GET", "/comments", status, headers={"Retry-After": "0"}),
        Fault("POST", "/graphql", status),
        Fault("POST", "/comments", status),
    ]
    assert comment(forge, tmp_path).returncode == 0
    forge.faults.append(Fault("PATCH", "/comments", status))
    assert comment(forge, tmp_path, text="new\n").returncode == 0
    assert forge.of(12) == [f"{MARK}\nnew\n"]
    assert not any(fault.times for fault in forge.faults)


def test_an_answer_that_was_lost_leads_to_no_second_comment(forge: Forge, tmp_path: Path) -> None:
    forge.faults = [Fault("POST", "/comments", 502, after=True)]
    assert comment(forge, tmp_path).returncode == 0
    assert forge.of(12) == [f"{MARK}\n{REVIEW}"]


def test_a_limit_on_requests_that_github_calls_forbidden_is_waited_for(forge: Forge, tmp_path: Path) -> None:
    forge.faults = [Fault("POST", "/comments", 403, headers={"Retry-After": "1"})]
    assert comment(forge, tmp_path).returncode == 0
    assert len(forge.of(12)) == 1


def test_a_refusal_is_told_and_no_secret_with_it(forge: Forge, tmp_path: Path) -> None:
    forge.faults = [Fault("POST", "/comments", 403)]
    done = comment(forge, tmp_path)
    assert done.returncode == 3
    assert done.stderr == "error: the service answered 403 to /repos/me/fleet/issues/12/comments: not now\n"


def test_a_redirect_is_not_followed_and_no_cookie_kept(forge: Forge, tmp_path: Path) -> None:
    with forges.running() as other:
        other.pull(12, HEAD)
        forge.faults = [Fault("GET", "/comments", 302, headers={"Location": f"{other.address}/x"})]
        assert comment(forge, tmp_path).returncode == 3
        assert other.log == []
    assert comment(forge, tmp_path).returncode == 0
    assert all("cookie" not in {name.lower() for name in headers} for _, _, headers in forge.log)


ODD = ["HTML", "an empty body", "nested without end", "a number of 100,000 digits", "a number as text", "binary"]


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("illness", ODD)
def test_answers_that_make_no_sense_are_an_error(illness: str, service: str, forge: Forge, tmp_path: Path) -> None:
    (tmp_path / "review.md").write_text(REVIEW, encoding="utf-8")
    with ill(ILLNESSES[illness]) as server:
        given = {
            name: value.replace(forge.address, server.address) for name, value in variables(forge, service).items()
        }
        done = fleetc(*words(service), cwd=tmp_path, **given)
    assert done.returncode == 3
    assert done.stderr.startswith("error: the service") and "internal error" not in done.stderr


# ------------------------------------------------------------------------------------- which pull request, and where


def test_pull_request_is_found_by_its_head_and_the_repository_of_it(forge: Forge, tmp_path: Path) -> None:
    for number in range(100, 260):
        forge.pull(number, OLD)
    forge.pull(300, HEAD, repository="mallory/fleet")
    forge.pull(301, HEAD, repository="")
    forge.pull(302, HEAD, base="release")
    forge.pull(303, HEAD)
    assert comment(forge, tmp_path).returncode == 0
    assert sorted({each["number"] for each in forge.comments}) == [12, 303]


@pytest.mark.parametrize("service", SERVICES)
def test_a_push_in_the_meantime_leaves_the_newer_review(service: str, forge: Forge, tmp_path: Path) -> None:
    comment(forge, tmp_path, service, text="of the newer one\n")
    forge.pull(12, OLD)
    late = comment(forge, tmp_path, service, text="late\n")
    assert late.returncode == 0 and "nothing was written" in late.stderr
    assert forge.of(12) == [f"{MARK}\nof the newer one\n"]


def test_a_number_counts_only_for_the_branch_that_was_compared_with(forge: Forge, tmp_path: Path) -> None:
    forge.pull(13, HEAD, base="release")
    done = comment(forge, tmp_path, "github", "--number", "13")
    assert "nothing was written" in done.stderr and forge.comments == []
    assert comment(forge, tmp_path, "github", "--number", "12").returncode == 0
    assert len(forge.of(12)) == 1


@pytest.mark.parametrize(
    "address", ["", "http://api.github.example.net", "ftp://x", "https://user:pass@api.example.net", "https://x/?a=b"]
)
def test_token_goes_to_no_odd_address(address: str, forge: Forge, tmp_path: Path) -> None:
    (tmp_path / "review.md").write_text(REVIEW, encoding="utf-8")
    done = fleetc(*words("github"), cwd=tmp_path, **{**variables(forge, "github"), "GITHUB_API_URL": address})
    assert done.returncode == 2 and "GITHUB_API_URL" in done.stderr and "pass" not in done.stderr
    assert forge.log == []


def test_no_file_of_the_checkout_chooses_the_address_or_the_token(forge: Forge, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GITHUB_API_URL=http://127.0.0.1:1\nFLEETC_COMMENT_TOKEN=x\n")
    (tmp_path / "fleetc.toml").write_text('github_api_url = "http://127.0.0.1:1"\n')
    assert comment(forge, tmp_path).returncode == 0
    assert len(forge.of(12)) == 1


def test_without_a_token_nothing_is_asked(forge: Forge, tmp_path: Path) -> None:
    (tmp_path / "review.md").write_text(REVIEW, encoding="utf-8")
    done = fleetc(*words("github"), cwd=tmp_path, **variables(forge, "github", token=""))
    assert (done.returncode, forge.log) == (2, []) and "FLEETC_COMMENT_TOKEN" in done.stderr


# --------------------------------------------------------------------------------------------------------- the text


def test_long_review_is_cut_with_a_sentence_and_fits(forge: Forge, tmp_path: Path) -> None:
    long = (
        REVIEW + "<details><summary>Files</summary>\n\n```diff\n" + "+ a line of a file\n" * 9000 + "```\n</details>\n"
    )
    assert comment(forge, tmp_path, text=long).returncode == 0
    (body,) = forge.of(12)
    assert len(body) <= 65_000
    left = re.search(r"\*\*([\d,]+) of 9,008 lines are left out here. All of it: (\S+)\*\*", body)
    assert left is not None and left[2] == "https://github.example.net/me/fleet/actions/runs/99"
    assert body.endswith("+ a line of a file\n```\n</details>\n")
    assert body.count("+ a line") + int(left[1].replace(",", "")) + 6 == 9_008
    one = comment(forge, tmp_path, text="x" * 70_000)
    assert one.returncode == 0 and len(forge.of(12)[0]) < 1_000
    assert comment(forge, tmp_path, "gitlab", text=long).returncode == 0
    assert "left out" not in forge.of(12)[0]


HOSTILE = [
    "@everyone",
    "<!-- fleetc review fleet -->",
    "/approve",
    "#1",
    "![x](https://evil.example.net/x.png)",
    "![[a]]",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_of_a_spec_is_inert_in_the_comment(text: str, forge: Forge, tmp_path: Path) -> None:
    comment(forge, tmp_path, "gitlab", text=f"- because of {markdown_text(text)}\n{markdown_text(text)}\n")
    (body,) = forge.of(12)
    lines = body.splitlines()
    assert lines[0] == MARK and MARK not in lines[1:]
    assert not any(line.startswith("/") for line in lines)
    assert not re.search(r"(?<![`&;>])@\w|!\[|<!--|(?<![`&])#1\b", "\n".join(lines[1:])), body


def test_line_that_gitlab_would_carry_out_is_escaped(forge: Forge, tmp_path: Path) -> None:
    comment(forge, tmp_path, "gitlab", text="/merge\n")
    assert forge.of(12) == [f"{MARK}\n\\/merge\n"]


# -------------------------------------------------------------------------------------------------------- approvals


@pytest.fixture
def gated(tmp_path: Path) -> Path:
    """A place with limits, and the review of a price that breaks one."""
    (tmp_path / "limits.toml").write_text(LIMITS, encoding="utf-8")
    broken = [{"impact": "price", "limit": "price=5%", "amount": "8.25", "changes": [0]}]
    told(tmp_path, broken=broken)
    return tmp_path


def told(place: Path, **more: object) -> None:
    review = {"broken": [], "foreign": [], "files_only": False, **more}
    (place / "review.json").write_text(json.dumps(review), encoding="utf-8")


def judged(forge: Forge, place: Path, service: str = "github") -> str:
    """What the comment says of the limit; the exit code and the status have to say the same."""
    done = comment(forge, place, service, "--limits", "limits.toml", "--review", "review.json")
    (body,) = [text for text in forge.of(12) if text.startswith(MARK)]
    waits = "waits for" in body or "nobody who may" in body or "No approval" in body
    assert done.returncode == int(waits), done.stderr
    if service == "github":
        commit, status = forge.statuses[-1]
        assert (commit, status["state"], status["context"]) == (HEAD, "failure" if waits else "success", "fleetc")
    return body


@pytest.mark.parametrize("service", SERVICES)
def test_change_beyond_a_limit_waits_until_an_owner_approves_this_commit(
    service: str, forge: Forge, gated: Path
) -> None:
    waiting = judged(forge, gated, service)
    assert "price&#61;5&#37;</code> is broken (it comes to 8.25%): **waits for** `Alice` or `bob`." in waiting
    assert f"```\nfleetc approve price {HEAD}\n```" in waiting
    forge.say(12, "alice", f"/fleetc approve price {HEAD}\n")
    approved = judged(forge, gated, service)
    assert "is broken (it comes to 8.25%): approved by `Alice`." in approved and "```" not in approved


WAYS_AROUND = {
    "by somebody who is no owner": ("mallory", f"fleetc approve price {HEAD}"),
    "by our own token": (BOT, f"fleetc approve price {HEAD}"),
    "by a deleted account": ("", f"fleetc approve price {HEAD}"),
    "of an older head": ("alice", f"fleetc approve price {OLD}"),
    "of no commit": ("alice", "fleetc approve price"),
    "of the beginning of a commit": ("alice", f"fleetc approve price {HEAD[:12]}"),
    "of another class": ("alice", f"fleetc approve exposure {HEAD}"),
    "inside of other text": ("alice", f"If it is good I will write\nfleetc approve price {HEAD}"),
    "quoted": ("alice", f"> fleetc approve price {HEAD}"),
    "with a name that looks like it": ("al\u0456ce", f"fleetc approve price {HEAD}"),
}


@pytest.mark.parametrize("way", WAYS_AROUND)
def test_no_way_around_an_approval(way: str, forge: Forge, gated: Path) -> None:
    forge.say(12, *WAYS_AROUND[way])
    assert "waits for" in judged(forge, gated)


def test_comment_of_an_owner_that_was_edited_approves_nothing(forge: Forge, gated: Path) -> None:
    said = forge.say(12, "alice", "Looks odd to me.")
    forge.edit(said, f"fleetc approve price {HEAD}")
    assert "waits for" in judged(forge, gated)


def test_approval_of_another_pull_request_counts_nothing(forge: Forge, gated: Path) -> None:
    forge.pull(13, HEAD, repository="me/fleet")
    forge.say(13, "alice", f"fleetc approve price {HEAD}")
    assert "waits for" in judged(forge, gated)


def test_new_push_voids_an_approval(forge: Forge, gated: Path) -> None:
    forge.say(12, "alice", f"fleetc approve price {OLD}")
    forge.say(12, "alice", f"fleetc approve price {HEAD}")
    assert "approved by" in judged(forge, gated)
    forge.comments = [each for each in forge.comments if HEAD not in each["body"] or each["author"] == BOT]
    assert "waits for" in judged(forge, gated), "an approval that was removed still counts"


def test_class_without_owners_is_approved_by_nobody(forge: Forge, gated: Path) -> None:
    told(gated, broken=[{"impact": "exposure", "limit": "exposure=none", "amount": "1", "changes": [0]}])
    forge.say(12, "alice", f"fleetc approve exposure {HEAD}")
    assert "the limits file names nobody who may approve it" in judged(forge, gated)


@pytest.mark.parametrize("more", [{"foreign": ["ansible/x"]}, {"files_only": True}])
def test_review_that_is_not_whole_is_approved_by_nobody(more: dict[str, object], forge: Forge, gated: Path) -> None:
    told(gated, **more)
    forge.say(12, "alice", f"fleetc approve price {HEAD}")
    assert "No approval can be given" in judged(forge, gated)


def test_missing_review_is_no_approval(forge: Forge, gated: Path) -> None:
    (gated / "review.json").unlink()
    assert "No approval can be given" in judged(forge, gated)


def test_change_within_the_limits_waits_for_nobody(forge: Forge, gated: Path) -> None:
    told(gated)
    assert judged(forge, gated) == f"{MARK}\n{REVIEW}"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("max_impact = 5", "must be a text"),
        ('max_impact = "price=5"', "percentage"),
        ('max_impcat = "price=5%"', "max_impcat"),
        ('[owners]\nprize = ["alice"]', "prize"),
        ('[owners]\nprice = "alice"', "list of account names"),
        ('[owners]\nprice = ["@me/team"]', "teams do not count"),
        ('[owners]\nprice = ["github-actions[bot]"]', "account names of people"),
        ("max_impact = ", "not TOML"),
        ("max_impact = " + "[" * 5000, "nested"),
    ],
)
def test_limits_that_are_not_understood_stop_it(text: str, word: str, forge: Forge, gated: Path) -> None:
    (gated / "limits.toml").write_text(text, encoding="utf-8")
    done = comment(forge, gated, "github", "--limits", "limits.toml", "--review", "review.json")
    assert done.returncode != 0 and "error[limits-invalid]" in done.stderr and word in done.stderr
    assert forge.log == []


@pytest.mark.parametrize(
    ("key", "status"), [("fleet", "fleetc"), ("fleet-eu", "fleetc-eu"), ("eu/fleet-1", "eu/fleet-1")]
)
def test_status_of_each_fleet_has_its_own_name(key: str, status: str, forge: Forge, gated: Path) -> None:
    comment(forge, gated, "github", "--limits", "limits.toml", "--review", "review.json", "--key", key)
    assert forge.statuses[-1][1]["context"] == status
