"""Releases of the node that are newer than the flag tables: accepted, with one warning that says what is assumed."""

from __future__ import annotations

import pytest

from fleetc.lower import lower
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity
from fleetc.review.limits import breaches, parse_limits
from fleetc.review.releases import release_notes
from fleetc.toml.document import Source
from fleetc.upstream import FLAGS, NEWEST_RELEASE, format_release, parse_release
from fleetc.upstream.releases import releases, unplaced
from tests import node
from tests.lower.test_lowering import flags, refused, service
from tests.review.support import review
from tests.rules.support import (
    checked,
    flagged,
    free_gateway,
    free_orchestrator,
    gateway,
    offchain,
    onchain,
    orchestrator,
    printed,
    reward_caller,
    silent,
    wallet,
)

CODE = "release-unknown"
NEWER = ("v0.9.2", "v0.9.3", "v0.10.0", "v1.0.0", "v12.3.45")


def newer(release: str = "v0.9.2", *tables: str) -> str:
    return offchain(free_gateway(), free_orchestrator(), *tables, node_release=f'"{release}"')


@pytest.mark.parametrize("release", NEWER)
def test_newer_release_is_accepted_with_one_warning(release: str) -> None:
    found = checked(newer(release)).diagnostics
    assert [(d.code, d.severity) for d in found] == [(CODE, Severity.WARNING)]
    text = flagged(newer(release), CODE, Severity.WARNING)
    assert release in text
    assert f"flags and startup of {format_release(NEWEST_RELEASE)}" in text
    assert "extra_flags" in text


def test_warning_can_be_silenced() -> None:
    silent(newer("v0.9.2", f'[silences.accepted]\ncode = "{CODE}"\nreason = "we read its changelog"\n'))


def test_release_of_one_node_is_told_at_that_node() -> None:
    text = offchain(free_gateway(node_release='"v0.9.2"'), free_orchestrator())
    assert 'node_release = "v0.9.2"' in flagged(text, CODE, Severity.WARNING)
    assert len(checked(text).diagnostics) == 1


@pytest.mark.parametrize(
    "text", ["v0.9", "0.9.2", "v0.9.2-rc1", "v0.09.2", "v0.9.2.1", "v0.9.99999999", "latest", "v0.7.5"]
)
def test_what_is_no_newer_release_is_refused(text: str) -> None:
    assert "invalid-value" in refused(offchain(free_gateway(), free_orchestrator(), node_release=f'"{text}"'))


# Flags that nobody knows yet


@pytest.mark.parametrize(("value", "written"), [("true", "true"), ("5", "5"), ('"a b"', "a b"), ('"10s"', "10s")])
def test_unknown_flag_goes_through_as_it_is_written(value: str, written: str) -> None:
    gate = free_gateway(extra_flags=f"{{ newThing = {value} }}", node_release='"v0.9.2"')
    text = offchain(gate, free_orchestrator())
    assert "extra-flag-refused" not in printed(text)
    assert flags(service(text, "gate"))["newThing"] == written
    assert "the node has no flag newThing" in flagged(text.replace("v0.9.2", "v0.9.1"), "extra-flag-refused")


@pytest.mark.parametrize("name", ["maxattempts", "Gateway", '"a=b"', '"two words"', '"-x"', "config", "maxAttempts"])
def test_newer_release_is_no_way_past_the_checks(name: str) -> None:
    gate = free_gateway(extra_flags=f"{{ {name} = 5 }}", node_release='"v0.9.2"')
    assert flagged(offchain(gate, free_orchestrator()), "extra-flag-refused")


def test_role_that_reads_a_flag_may_have_changed() -> None:
    extra = '{ ethOrchAddr = "0x3333333333333333333333333333333333333333" }'
    found = onchain(orchestrator(), reward_caller(extra_flags=extra))
    assert flagged(found, "extra-flag-refused")
    later = onchain(orchestrator(), reward_caller(extra_flags=extra, node_release='"v0.9.2"'))
    assert "extra-flag-refused" not in printed(later)


# What is known of v0.9.2


def test_transactions_on_the_administration_listener_have_a_field() -> None:
    text = newer("v0.9.2").replace('mode = "video"', 'mode = "video"\ncli_transactions = true', 1)
    assert flags(service(text, "gate"))["enableCliTxRoutes"] == "true"
    assert "v0.9.2" in flagged(text.replace("v0.9.2", "v0.9.1"), "flag-unknown-to-release")


@pytest.mark.parametrize("address", ["127.0.0.1:8935", "localhost:8935", "0.0.0.0:8935", "[::1]:8935"])
def test_service_address_is_routable_from_then_on(address: str) -> None:
    here = free_orchestrator(service=f'"{address}"', host='"edge"', http='"127.0.0.1:8936"')
    before, after = (offchain(free_gateway(), here, node_release=f'"{release}"') for release in ("v0.9.1", "v0.9.2"))
    assert "no session" in flagged(after, "service-address-unreachable") or address.startswith("0.0.0.0")
    assert ("service-address-unreachable" in printed(before)) == address.startswith("0.0.0.0")


def test_release_of_the_gateway_counts_as_well() -> None:
    """Which of the two sides looks at the address is not public."""
    here = free_orchestrator(service='"127.0.0.1:8935"', host='"edge"', http='"127.0.0.1:8936"')
    text = offchain(free_gateway(node_release='"v0.9.2"'), here)
    assert flagged(text, "service-address-unreachable")


def test_facts_of_releases_that_are_not_known_whole_have_their_own_mark() -> None:
    partial = [facts for facts in releases() if facts.partial]
    assert [format_release(facts.release) for facts in partial] == ["v0.9.2"]
    assert all(facts.release > NEWEST_RELEASE for facts in partial)
    assert FLAGS["enableCliTxRoutes"].since == parse_release("v0.9.2")
    assert [change.name for change in unplaced()] == ["reward-of-another-account"]


# Reviews


def changes(text: str, words: str, to: str = "v0.9.2") -> list[tuple[str, str]]:
    """The notes of a review with these words: the end of the sentence, and whom it concerns."""
    sources = [Source("fleet.toml", text)]
    fleets = [check_spec(sources).fleet, check_spec([*sources, Source("to", f'fleet.node_release = "{to}"\n')]).fleet]
    before, after = fleets
    assert before is not None and after is not None
    found = [note for note in release_notes(before, after, lower(before), lower(after)) if words in note]
    return [(note.rpartition("; ")[2].rpartition(" (")[0], note.rpartition(" (")[2].rstrip(")")) for note in found]


def test_review_of_a_newer_release_has_what_is_known_of_it_and_of_later_ones() -> None:
    calling = onchain(wallet(reward_by='"orch"'), orchestrator(wallet='"third"'))
    for to in ("v0.9.2", "v0.9.5"):
        assert changes(calling, "from v0.9.2 on, the administration listener", to)
        assert changes(calling, "in some release after v0.9.1, -reward=true stops", to)
        assert not changes(calling, "from v0.9.5 on", to)


def test_address_that_the_spec_has_needs_no_note() -> None:
    words = "finds no session if the service address"
    assert not [node for _, node in changes(offchain(free_gateway(), free_orchestrator()), words) if node == "orch"]


def test_transactions_are_those_that_people_send_through_each_kind_of_node() -> None:
    found = dict(changes(onchain(gateway(orchestrators='["orch"]'), orchestrator()), "-enableCliTxRoutes"))
    assert found == {
        "write cli_transactions = true to fund, unlock or withdraw a deposit through it": "gate",
        "write cli_transactions = true to activate it, to change its cuts or its address, or to withdraw fees "
        "through it": "orch",
    }


def test_reward_is_told_with_the_account_that_calls_it() -> None:
    own, other = "0x" + "3" * 40, "0x" + "4" * 40
    calling = wallet(reward_by='"orch"', address=f'"{own}"')

    def said(*tables: str) -> list[tuple[str, str]]:
        return changes(onchain(*tables), "-reward=true stops")

    itself = f"orch has the account {own}, so that has to be the registered orchestrator itself"
    assert said(calling, orchestrator(wallet='"third"')) == [(itself, "orch")]
    caller = f"orch has the account {own}, which has to be the registered reward caller of {other}"
    assert said(calling, orchestrator(wallet='"third"', orchestrator_address=f'"{other}"')) == [(caller, "orch")]
    nobody = wallet(reward_by='"none"', address=f'"{own}"')
    assert said(nobody, orchestrator(wallet='"third"')) == []
    ((words, node),) = said(calling.replace('"orch"', '"caller"'), reward_caller(wallet='"third"'), orchestrator())
    assert node == "caller" and "which no orchestrator of this spec has" in words


def test_review_says_that_it_does_not_know_what_an_unknown_flag_does() -> None:
    plain = onchain(orchestrator(), node_release='"v0.9.2"')
    with_flag = onchain(orchestrator(extra_flags="{ newThing = true }"), node_release='"v0.9.2"')
    for before, after in ((plain, with_flag), (with_flag, plain)):
        found = review(before, after)
        (change,) = found.changes
        assert {effect.impact for effect in change.effects} > {"exposure", "price", "funds"}
        assert all("does not know" in effect.text for effect in change.effects if effect.impact == "exposure")
        for limit in ("exposure=none", "exposure=0", "price=50%", "funds=none"):
            assert list(breaches(found, parse_limits(limit))), limit


def test_compiled_launch_line_is_that_of_the_newest_known_release() -> None:
    known, later = service(newer("v0.9.1"), "gate"), service(newer("v0.9.2"), "gate")
    assert flags(known) == flags(later)
    assert later.image.endswith(":v0.9.2")
    assert node.parsing.read([a.text for a in later.arguments], {}).rest == ()
