"""The report of an adoption says only what was compared, and no value is compiled as another one unseen."""

from __future__ import annotations

import json

import pytest

from fleetc.adopt.adoption import adopt, located
from fleetc.adopt.report import reported
from fleetc.messages.forms import AdoptionFormat
from fleetc.pipeline import check_spec
from fleetc.toml.document import Source

WORKER = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -dataDir /srv/lp -nvidia 0"


def reports(command: str) -> dict[AdoptionFormat, str]:
    """The report of a command in each form, on a host whose address is known."""
    found = adopt([Source("start.sh", command)], {"start.sh": "gpu"}, {"gpu": "192.0.2.1"})
    return {form: reported(found, form, located(found)) for form in AdoptionFormat}


def test_settings_are_only_counted_where_the_spec_compiles() -> None:
    for command, compared in ((WORKER, True), (WORKER.replace("-orchSecret /etc/lp/secret", ""), False)):
        report = reports(command)
        assert report[AdoptionFormat.text].endswith("settings:\n  nothing\n") is compared
        assert ("settings compared" in report[AdoptionFormat.markdown]) is compared
        for form in (AdoptionFormat.text, AdoptionFormat.markdown):
            assert ("no node was compared" in report[form]) is not compared
            assert "0 settings" not in report[form]
        assert bool(json.loads(report[AdoptionFormat.json])["compared"]) is compared
    assert json.loads(report[AdoptionFormat.json])["compared"] is None


@pytest.mark.parametrize("value", ["auto", "0", "-3", "ten"])
def test_value_that_no_spec_has_is_not_compiled_as_the_default(value: str) -> None:
    found = adopt([Source("start.sh", f"{WORKER} -maxSessions {value}")], {}, {"gpu": "192.0.2.1"})
    assert "# TODO max_sessions" in found.text
    assert "max_sessions = " in found.text.split("[transcoders.")[1]
    assert not found.comparable
    places = [one.primary.place for one in check_spec([Source("fleet.toml", found.text)]).diagnostics]
    assert any(isinstance(place, tuple) and place[-1] == "max_sessions" for place in places)
