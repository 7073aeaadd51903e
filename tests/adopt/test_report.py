"""The report of an adoption says only what was compared, and no value is compiled as another one unseen."""

from __future__ import annotations

import json

import pytest

from fleetc.adopt.adoption import adopt, located
from fleetc.adopt.report import reported
from fleetc.adopt.said import Said
from fleetc.messages.forms import AdoptionFormat
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source

WORKER = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -dataDir /srv/lp -nvidia 0"
ON_GPU = Said(hosts={"start.sh": "gpu"}, addresses={"gpu": "192.0.2.1"})


def reports(command: str) -> dict[AdoptionFormat, str]:
    """The report of a command in each form, on a host whose address is known."""
    found = adopt([Source("start.sh", command)], ON_GPU)
    return {form: reported(found, form, located(found)) for form in AdoptionFormat}


def test_settings_that_wait_for_an_answer_are_named_and_not_compared() -> None:
    for command, waits in ((WORKER, False), (WORKER.replace("-orchSecret /etc/lp/secret", ""), True)):
        report = reports(command)
        for form in (AdoptionFormat.text, AdoptionFormat.markdown):
            assert ("Not compared: transcoder -orchSecret" in report[form]) is waits
        waiting = [one["flag"] for one in json.loads(report[AdoptionFormat.json])["waiting"]]
        assert waiting == (["orchSecret"] if waits else [])
        assert ("settings:\n  nothing\n" in report[AdoptionFormat.text]) is True
    whole, part = (adopt([Source("start.sh", text)], ON_GPU) for text in (
        WORKER, WORKER.replace("-orchSecret /etc/lp/secret", "")))  # fmt: skip
    assert whole.complete and not part.complete
    assert whole.compared == part.compared + 1


def test_nothing_is_counted_where_nothing_was_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fleetc.adopt.refusals._MOST_NODES", 0)  # more nodes than are judged without answers
    report = reports(WORKER.replace("-orchAddr orch.example.net:8935", ""))
    for form in (AdoptionFormat.text, AdoptionFormat.markdown):
        assert "no node was compared" in report[form]
        assert "0 settings" not in report[form]
    assert json.loads(report[AdoptionFormat.json])["compared"] is None


@pytest.mark.parametrize("value", ["auto", "0", "-3", "ten"])
def test_value_that_no_spec_has_is_not_compiled_as_the_default(value: str) -> None:
    found = adopt([Source("start.sh", f"{WORKER} -maxSessions {value}")], Said(addresses={"gpu": "192.0.2.1"}))
    assert "# TODO max_sessions" in found.text
    assert "max_sessions = " in found.text.split("[transcoders.")[1]
    assert not found.complete
    assert ("transcoder", "maxSessions") in found.waiting
    places = [one.primary.place for one in check_spec([Source("fleet.toml", found.text)]).diagnostics]
    assert any(isinstance(place, tuple) and place[-1] == "max_sessions" for place in places)


def test_listeners_are_shown_as_people_write_them() -> None:
    compose = (
        "services:\n  orch:\n    image: livepeer/go-livepeer:v0.9.1\n"
        "    command: -orchestrator -transcoder -network offchain -serviceAddr orch.example.net:8935\n"
    )
    (change,) = (one for one in adopt([Source("compose.yaml", compose)]).differences if one.flag == "httpAddr")
    assert (change.today, change.compiled) == ("0.0.0.0:8935", "127.0.0.1:8935")


def test_nodes_that_a_rule_refuses_together_are_compared_all_the_same() -> None:
    other = WORKER.replace("/srv/lp", "/srv/other")
    found = adopt(
        [Source("start.sh", f"{WORKER} -v 7\n{other}\n")],
        ON_GPU,
    )
    assert not found.complete  # both use one port
    assert found.compared == 30 and found.differences == ()
