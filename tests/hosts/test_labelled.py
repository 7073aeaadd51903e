"""What a review says of processes is what a rollout on real hosts does: edits one after the other on one fleet."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.farm.farm import Farm, HostSpec
from tests.hosts.test_regions import CONTAINERS, HOSTS, Regions
from tests.support import fleetc

pytestmark = [pytest.mark.usefixtures("processes"), pytest.mark.slow]

ENDS = "\n"
EDITS: tuple[tuple[str, str], ...] = (
    ("[orchestrators.eu-video-1]\n", '[orchestrators.eu-video-1]\nprice = "1250 wei / pixel"\n'),
    ("[orchestrators.eu-video-1]\n", "[orchestrators.eu-video-1]\nverbosity = 5\n"),
    ("[orchestrators.eu-video-1]\n", "[orchestrators.eu-video-1]\nmetrics_per_stream = true\n"),
    ("[orchestrators.eu-video-2.environment]\n", '[orchestrators.eu-video-2.environment]\nGOGC = "50"\n'),
    ("max_sessions = 2\ngpus", "max_sessions = 1\ngpus"),
    ("[gateways.us-live]\n", '[gateways.us-live]\nmax_price = "1450 wei / pixel"\n'),
    ("[gateways.eu-images]\n", "[gateways.eu-images]\nmax_attempts = 5\n"),
    ("[hosts.eu-ai]\n", '[hosts.eu-ai]\nssh_user = "root"\n'),
    (ENDS, '\n[wallets.payer]\ndeposit = "2 ETH"\n'),
    (ENDS, '\n[models.svd]\nprice = "3400000 wei / pixel"\n'),
    (ENDS, '\n[models.realvis]\nmemory = "10 GiB"\n'),
    (ENDS, '\n[monitoring]\nscrape_interval = "30s"\n'),
    ("batch = 3", "batch = 2"),
    ('"eu-video-4", "us-video-1"]', '"us-video-1"]'),
    ("[orchestrators.eu-video-4", ""),
    ("eu-gpu-1.example.net:8933", "eu-gpu-1.example.net:8943"),
    ("monitor = true\n", "monitor = false\n"),
    ('host = "eu-edge-2"', 'host = "us-edge"\nrtmp = "127.0.0.1:1936"\ncli = "127.0.0.1:5936"'),
    ("[gateways.eu-live]\n", "[gateways.eu-live]\nhardened = false\n"),
    ("[hosts.eu-edge-2", ""),
)
"""What stands in the overlay, and what is written instead. Without that, a table goes, and all below it."""


def edited(text: str, before: str, after: str) -> str:
    if before == ENDS:
        return text + after
    if after:
        assert before in text
        return text.replace(before, after, 1)
    start, *tables = re.split(r"(?m)^(?=\[)", text)
    left = "".join(table for table in tables if not table.startswith((f"{before}]", f"{before}.")))
    of_base = before.startswith("[hosts.")
    return (start.replace("remove = [\n", f'remove = [\n  "{before[1:]}",\n') if of_base else start) + left


class Edited(Regions):
    """The fleet, whose overlay is edited."""

    text = ""

    def edit(self, before: str, after: str) -> dict[str, Any]:
        """Compile an edit; its review against what was compiled before."""
        self.number += 1
        self.text = edited(self.text, before, after)
        (self.directory / "farm.toml").write_text(self.text, encoding="utf-8")
        self.compile()
        last, this = (self.directory / "releases" / str(number) for number in (self.number - 1, self.number))
        shutil.copytree(self.directory / "rendered", this)
        environment: dict[str, Any] = self.environment
        done = fleetc("diff", self.directory, "--against", last, "--format", "json", **environment)
        assert done.returncode == 0, done.stderr
        reviewed: dict[str, Any] = json.loads(done.stdout)
        return reviewed

    def processes(self) -> dict[tuple[str, str], int]:
        """The process of each node, by host and node."""
        return {
            (name, word.rpartition(b"/")[2].decode()): process.pid
            for name, host in self.hosts.items()
            for process in host.processes("livepeer")
            for word in process.argv
            if word.startswith(b"-dataDir=")
        }


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edited]:
    specs = [HostSpec(name, docker=name in CONTAINERS) for name in HOSTS.values()]
    with Farm(hosts=specs) as farm:
        made = Edited(farm, tmp_path_factory.mktemp("labelled"))
        made.provide()
        made.release()
        made.text = (made.directory / "farm.toml").read_text(encoding="utf-8")
        made.roll_out()
        yield made


@pytest.mark.parametrize(("before", "after"), EDITS)
def test_review_names_the_processes_that_a_rollout_restarts_and_stops(fleet: Edited, before: str, after: str) -> None:
    reviewed, old = fleet.edit(before, after), fleet.processes()
    said = fleet.roll_out()
    new = fleet.processes()
    restarted = {place for place in old.keys() & new.keys() if old[place] != new[place]}
    by_review = {key: {(each["host"], each["node"]) for each in reviewed[key]} for key in ("restarts", "stops", "live")}
    gone = old.keys() - new.keys()
    assert by_review["restarts"] & old.keys() == restarted | gone, said
    assert by_review["stops"] == gone, said
    assert not by_review["live"] & restarted, said
