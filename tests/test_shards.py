"""Parts of a fleet for several machines: every host is in one, and whatever each is at, somebody sells and buys."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.blueprint.blueprint import Blueprint
from fleetc.blueprint.shards import Shard, canary_hosts, read_shard, shards_of
from tests.support import compile_text, compiled_example

HEAD = """spec = 1
[fleet]
name = "many"
network = "arbitrum-one-mainnet"
rpc = { env = "RPC" }
node_release = "v0.9.1"
[wallets.money]
address = "0x1111111111111111111111111111111111111111"
keystore = "/var/lib/livepeer/keystore"
password = { env = "MONEY" }
minimum_balance = "0.05 ETH"
deposit = "0.5 ETH"
reserve = "0.3 ETH"
reward_by = "none"
"""


@dataclass(frozen=True)
class Drawn:
    """A fleet: on each host a gateway that buys from some orchestrators, an orchestrator, or both."""

    sells: tuple[bool, ...]
    buys: tuple[frozenset[int] | None, ...]
    canary: int
    batch: int

    @property
    def groups(self) -> list[frozenset[str]]:
        """Hosts of which one must always go on working, told from the drawing alone."""
        gateways = frozenset(f"h{at}" for at, found in enumerate(self.buys) if found is not None)
        sellers = (frozenset(f"h{at}" for at in found) for found in self.buys if found)
        return [group for group in (gateways, *sellers) if len(group) > 1]

    @property
    def text(self) -> str:
        parts = [HEAD, f"[rollout]\ncanary = {self.canary}\nbatch = {self.batch}\n"]
        for at, (sells, buys) in enumerate(zip(self.sells, self.buys, strict=True)):
            parts.append(f'[hosts.h{at}]\naddress = "10.0.0.{at}"\npublic = "h{at}.example.net"\nruntime = "docker"\n')
            if sells:
                parts.append(
                    f'[orchestrators.o{at}]\nhost = "h{at}"\nmode = "video"\nwallet = "money"\n'
                    'price = "1 wei / pixel"\n'
                )
            if buys is not None:
                names = ", ".join(f'"o{other}"' for other in sorted(buys))
                parts.append(
                    f'[gateways.g{at}]\nhost = "h{at}"\nmode = "video"\nwallet = "money"\nhttp = "0.0.0.0:9935"\n'
                    f'http_ingest = true\nrtmp = "127.0.0.1:1936"\nmax_price = "any"\norchestrators = [{names}]\n'
                )
        return "".join(parts)


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    sells = draw(st.lists(st.booleans(), min_size=2, max_size=8).filter(any))
    sellers = [at for at, found in enumerate(sells) if found]
    some = st.frozensets(st.sampled_from(sellers), min_size=1)
    buys = [draw(st.one_of(st.none(), some)) if found else draw(some) for found in sells]
    return Drawn(tuple(sells), tuple(buys), draw(st.integers(0, 3)), draw(st.integers(1, 8)))


def blueprint_of(text: str) -> Blueprint:
    compiled = compile_text(text)
    assert compiled.blueprint is not None, compiled.checked.diagnostics
    return compiled.blueprint


@given(fleet=drawn(), count=st.integers(1, 4))
def test_parts_are_whole_disjoint_and_never_change_a_whole_group_at_once(fleet: Drawn, count: int) -> None:
    blueprint = blueprint_of(fleet.text)
    shards = shards_of(blueprint, count)
    assert sorted(name for shard in shards for name in shard) == sorted(host.name for host in blueprint.hosts)
    assert shards == shards_of(blueprint_of(fleet.text), count)
    assert set(canary_hosts(blueprint)) <= set(shards[0])
    at_once = [[set(batch) & set(shard) for batch in blueprint.batches] for shard in shards]
    for changing in product(*at_once):
        together = set().union(*changing)
        assert not [group for group in fleet.groups if group <= together]


def test_hosts_are_spread_evenly_where_nothing_ties_them() -> None:
    """Ten gateways that buy from one another's machines elsewhere: only one pair of them stays together."""
    tables = "".join(
        f'[hosts.h{at}]\naddress = "10.0.0.{at}"\npublic = "h{at}.example.net"\nruntime = "docker"\n'
        f'[gateways.g{at}]\nhost = "h{at}"\nmode = "video"\nwallet = "money"\nhttp = "0.0.0.0:9935"\n'
        f'http_ingest = true\nrtmp = "127.0.0.1:1936"\nmax_price = "any"\ndiscovery = "registry"\n'
        for at in range(10)
    )
    assert [len(shard) for shard in shards_of(blueprint_of(HEAD + tables), 3)] == [4, 3, 3]


def test_more_parts_than_hosts_leave_some_empty() -> None:
    blueprint = compiled_example("demo").blueprint
    assert blueprint is not None
    assert shards_of(blueprint, 3) == (("studio",), (), ())


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/", "-1/3", "1/1001", "1/3 ", "²/3", "1/3\n", ""])
def test_what_is_no_part(text: str) -> None:
    with pytest.raises(ValueError, match="such as 3/10"):
        read_shard(text)


def test_part_as_people_write_it() -> None:
    assert read_shard("3/10") == Shard(3, 10)
    assert str(Shard(3, 10)) == "3/10"
