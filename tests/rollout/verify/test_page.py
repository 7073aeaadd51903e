"""The page of a look as text: one file that needs nothing, holds no markup of a host, and never calls unknown fine."""

from __future__ import annotations

import json
import re

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.rollout.verify.data import AVATARS
from fleetc.rollout.verify.html import as_html
from fleetc.rollout.verify.report import Report, as_data, summary
from fleetc.text.encoders import visible
from tests.review.report_support import TEXTS, Reader
from tests.review.test_html import URLS, policy
from tests.rollout.verify import looks
from tests.support import compiled_example, shipped
from tests.support_values import VECTORS


def page_of(report: Report) -> str:
    return as_html(report, shipped()[0])


def body(page: str) -> str:
    """The page without its style and script, which are files of their own."""
    start, rest = page.split("<style>")
    return start + rest.split("</style>")[1].split("<script>")[0]


def states(report: Report) -> dict[str, str]:
    return {f"{node.host} {node.node}": node.state for node in report.nodes}


def test_page_of_a_day(snapshot: SnapshotAssertion) -> None:
    found, hosts = (
        (looks.DEPOSIT, looks.PRICE, looks.SILENT, looks.LEFT),
        ("eu-edge-1", "us-gpu-1", "eu-gpu-1", "us-edge"),
    )
    assert body(page_of(looks.look(found, looks.FACTS, limit=hosts))) == snapshot


def test_page_is_well_formed_and_loads_nothing() -> None:
    for report in (looks.every_day(), looks.stage(), looks.look(), looks.huge(3_000), looks.nasty("<b>")):
        page = page_of(report)
        read = Reader(page)
        assert not read.open
        found = [value for _, name, value in read.attributes if name == "id"]
        assert len(found) == len(set(found))
        for tag, name, value in read.attributes:
            assert not name.startswith("on") and name != "style"
            if name in URLS:
                assert (value.startswith("#") and value[1:] in found) or (tag, value) == ("link", "data:,")
        assert policy(page).startswith("default-src 'none'; style-src 'sha256-")


NASTY = (*TEXTS, *(str(vector["input"]["value"]) for vector in VECTORS if vector["area"] == "encode.html"))


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_text_of_a_host_changes_nothing_but_text(text: str) -> None:
    page = page_of(looks.nasty(text))
    assert Reader(page).shape == Reader(page_of(looks.nasty("plain"))).shape
    if len(text) < 200:
        assert "".join(shown for _, shown in Reader(page).texts).count(visible(text)) >= 10


def test_ten_thousand_findings_stay_usable() -> None:
    page = page_of(looks.huge(10_000))
    assert len(page) < 2_000_000
    assert page.count('class="change ') == 800
    assert "9,200 more findings: the JSON report has them all." in page
    assert "8,000 more nodes: the JSON report has them all." in page


def test_a_node_is_as_its_gravest_finding() -> None:
    both = (looks.SILENT, looks.PRICE._replace(host="eu-gpu-1", node="eu-video-1"))
    assert states(looks.look(both))["eu-gpu-1 eu-video-1"] == "drift"
    assert states(looks.look((looks.SILENT,)))["eu-gpu-1 eu-video-1"] == "unknown"
    assert states(looks.look((looks.DEPOSIT,)))["eu-edge-1 eu-live"] == "warning"
    assert set(states(looks.look()).values()) == {"fine"}


def test_nodes_of_a_host_that_cannot_be_asked_are_unknown() -> None:
    for finding in (looks.CUT, looks.CUT._replace(kind="drift", code="other-host")):
        found = states(looks.look((finding,)))
        assert found.pop("us-ai us-images-1") == "unknown"
        assert found.pop("us-ai ") == finding.kind
        assert set(found.values()) == {"fine"}


def test_slots_of_a_stack_that_is_silent_are_unknown() -> None:
    silent = looks.found("unknown", "not-answered", "stage-2", AVATARS, "its service does not answer")
    found = states(looks.look((silent,), fleet="avatar-stage"))
    assert {state for name, state in found.items() if name.startswith("stage-2 avatar")} == {"unknown"}
    assert found["stage-2 gate"] == "fine"
    assert found["stage-1 avatar/slot-00"] == "fine"


def test_funds_that_nobody_said_are_unknown() -> None:
    table = page_of(looks.every_day()).split('id="funds-title"')[1].split("</section>")[0]
    rows = [re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", row) for row in table.split("<tr>")[2:]]
    assert rows[0] == ["eu-live", "payer", "0.02 ETH", "1 ETH", "0.4 ETH", "0.5 ETH", "3.1 h"]
    assert rows[1] == ["eu-images", "payer", "unknown", "1 ETH", "unknown", "0.5 ETH", "unknown"]


def test_a_limit_shows_its_hosts_alone_and_says_so() -> None:
    report = looks.look(limit=("us-edge", "us-gpu-1"))
    assert {box.host for box in report.hosts} == {"us-edge", "us-gpu-1"}
    assert {(edge.source, edge.target) for edge in report.edges} == {("us-live", "us-video-1")}
    assert "A limit left 7 hosts out: they were not checked." in page_of(report)


def test_summary_never_calls_unknown_fine() -> None:
    assert summary(looks.look()) == "9 hosts with 9 nodes asked: all of it is as reviewed"
    assert summary(looks.look((looks.DEPOSIT,))) == "9 hosts with 9 nodes asked: all of it is as reviewed; 1 warning"
    assert summary(looks.look((looks.CUT,))) == "9 hosts with 9 nodes asked: 1 unknown"
    said = "9 hosts with 9 nodes asked: 2 differences from what was reviewed, 2 unknown, 1 warning"
    assert summary(looks.every_day()) == said


def test_long_random_text_is_not_repeated() -> None:
    """A node may say a secret in any place; what looks like one is masked, as in every message."""
    secret = "q7Vx2pLr9KdTz4WmB8sYhN3cJfGa6EuQ"
    report = looks.nasty(secret)
    for text in (page_of(report), json.dumps(as_data(report))):
        assert secret not in text
        assert "q7Vx" in text


def test_every_service_of_the_examples_is_a_node() -> None:
    for name in ("demo", "dual-onchain", "ai-split", "two-regions", "avatar-stage"):
        blueprint = compiled_example(name).blueprint
        assert blueprint is not None
        wanted = {service.name for host in blueprint.hosts for service in host.services}
        assert wanted <= {node.node for node in looks.look(fleet=name).nodes}
