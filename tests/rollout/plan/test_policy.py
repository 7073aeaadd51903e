"""Who may sign a plan, how long one is good, and what `allowed_signers` says about rollouts without one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fleetc.rollout.hosts.plans import LONGEST
from tests.rollout.plan.support import NOW, SIGNER, Workplace, make_key
from tests.rollout.plan.test_refusals import refused, resealed, verified

pytestmark = pytest.mark.usefixtures("processes")


@pytest.mark.parametrize("options", [(), ("--check",), ("--limit", "eu-ai"), ("--check", "--limit", "eu-ai")])
@pytest.mark.parametrize("variable", ["FLEETC_ALLOWED_SIGNERS", "FLEETC_SIGNER"])
def test_nothing_is_rolled_out_without_a_signed_plan(
    variable: str, options: tuple[str, ...], place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "signers" if variable.endswith("SIGNERS") else SIGNER)
    message = refused(place.run("deploy", *options))
    assert message.startswith("error[plan-required]: ")
    assert "fleetc deploy --plan plan.json" in message
    place.store(place.made())
    code = "plan-not-signed" if variable.endswith("SIGNERS") else "plan-signers-missing"
    for command in (("deploy", *options, "--plan", "plan.json"), ("plan", "--verify", "plan.json")):
        assert f"error[{code}]" in refused(place.run(*command)), command


def test_policy_of_the_users_own_configuration(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    file = place.directory.with_name("user") / "fleetc" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'allowed_signers = "{place.signers}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(file.parent.parent))
    assert "error[plan-required]" in refused(place.run("deploy", "--check"))
    place.store(place.made(), sign=True)
    assert f"signed by {SIGNER}" in place.run("plan", "--verify", "plan.json").out


def signers(place: Workplace, *lines: str) -> None:
    """The file of those who may sign, with the key of the plan where a line says KEY."""
    public = " ".join(place.key.with_suffix(".pub").read_text().split()[:2])
    place.signers.write_text("".join(f"{line.replace('KEY', public)}\n" for line in lines))


SIGNERS: dict[str, tuple[tuple[str, ...], str]] = {
    "several names": (("other@example.net,release@example.net KEY",), "other@example.net"),
    "the first name is an exception": (("!boss@example.net,release@example.net KEY",), SIGNER),
    "the first line is for another purpose": (
        ('boss@example.net namespaces="git" KEY', 'release@example.net namespaces="fleetc-plan" KEY'),
        SIGNER,
    ),
    "the first line has expired": (
        ('old@example.net valid-before="20200101" KEY', "release@example.net KEY"),
        SIGNER,
    ),
    "comments and blank lines": (("# who may", "", "  ", "release@example.net KEY"), SIGNER),
}


@pytest.mark.parametrize("name", SIGNERS)
def test_every_identity_with_the_key_is_tried(name: str, place: Workplace) -> None:
    lines, who = SIGNERS[name]
    place.store(place.made(), sign=True)
    signers(place, *lines)
    done = verified(place)
    assert done.code == 0, done.err
    assert f"signed by {who}" in done.out
    assert verified(place, SIGNER).code == 0


def test_identities_that_may_sign_nothing_of_this_kind(place: Workplace) -> None:
    place.store(place.made(), sign=True)
    signers(place, 'boss@example.net namespaces="git" KEY', 'old@example.net valid-before="20200101" KEY')
    message = refused(verified(place))
    assert "error[plan-signature-bad]" in message
    stranger = " ".join(make_key(Path("stranger")).with_suffix(".pub").read_text().split()[:2])
    place.signers.write_text(f"boss@example.net {stranger}\n")
    assert "nobody in signers has the key that signed it" in refused(verified(place))


LATE = NOW + LONGEST + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("times", "code"),
    [
        ({"expires": "2026-02-31T09:00:00Z"}, "plan-unreadable"),
        ({"expires": "9999-99-99T99:99:99Z"}, "plan-unreadable"),
        ({"expires": "2026-03-02T12:00:00Z "}, "plan-unreadable"),
        ({"expires": "2026-3-2T12:00:00Z"}, "plan-unreadable"),
        ({"created": "2026-02-30T12:00:00Z"}, "plan-unreadable"),
        ({"created": "9999-12-31T00:00:00Z", "expires": "9999-12-31T00:00:00Z"}, "plan-unreadable"),
        ({"expires": "9999-12-31T23:59:59Z"}, "plan-expires-too-late"),
        ({"expires": LATE.strftime("%Y-%m-%dT%H:%M:%SZ")}, "plan-expires-too-late"),
        ({"created": "2020-01-01T00:00:00Z"}, "plan-expires-too-late"),
    ],
)
def test_expiry_is_a_date_and_soon_enough(times: dict[str, str], code: str, place: Workplace) -> None:
    """Somebody who may sign, or a fleetc that was changed, wrote down another time."""
    place.store(replace(place.made(), **times), sign=True)  # type: ignore[arg-type]
    assert place.codes(signed=True) == [code]
    assert f"error[{code}]" in refused(verified(place))


def test_longest_lifetime_is_that_of_making(place: Workplace) -> None:
    resealed_end = (NOW + LONGEST).strftime("%Y-%m-%dT%H:%M:%SZ")
    place.store(place.made())
    resealed(place, expires=resealed_end)
    assert place.codes() == []
    made = place.run("plan", "--limit", "eu-ai", "--expires", f"{LONGEST.days * 24}h", "-o", "plan.json")
    assert made.code == 0, made.err
    assert place.read().expires == resealed_end
    assert place.run("plan", "--expires", f"{LONGEST.days * 24 * 60 + 1}m").code == 2
