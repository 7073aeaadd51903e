"""Each command takes work in proportion to its input: counted in executed lines, never in seconds."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from functools import _lru_cache_wrapper, partial
from types import CodeType, FrameType
from typing import Any

import pytest

from fleetc.adopt.adoption import adopt
from fleetc.assist import completion, hover, names, state
from fleetc.assist.page import Page
from fleetc.fixes import repair, replacements
from fleetc.messages.locate import locate
from fleetc.messages.text import as_text
from fleetc.observe.findings import findings
from fleetc.pipeline import Compiled, check_spec
from fleetc.review import lines, why
from fleetc.review.reports import terminal
from fleetc.review.why import Derivation
from fleetc.text import suggestions
from fleetc.toml.document import Source
from tests.bench.fleetgen import spec_text
from tests.large_specs import BIG, ENTRIES, FIRST, HEAD, LONG, ONE_OF_EACH, big_text, cases, large_spec, long_spec
from tests.observe.support import glog, tally_of
from tests.review.support import review
from tests.rollout.verify.healthy import World
from tests.support import ROOT, compile_text, shipped

PACKAGE = str(ROOT / "compiler" / "fleetc")
SIZES = (8, 16, 32)
"""Each twice the one before; none so small that a graphics card still has room for all of them."""
Tracer = Callable[[FrameType, str, Any], None]
SOUGHT = 3
"""Near names that are sought here, so that few entries go past the limit."""


def _check(text: str) -> str:
    """What `fleetc check` prints."""
    sources = [Source("fleet.toml", text)]
    checked = check_spec(sources)
    return as_text(locate(checked.diagnostics, sources, checked.document))


def _repair(text: str) -> str:
    """What `fleetc check --fix` writes; and SARIF, where each repair is located alone."""
    sources = [Source("fleet.toml", text)]
    checked = check_spec(sources)
    if checked.document is not None:
        replacements(sources, checked.document, [d.fix for d in checked.diagnostics if d.fix is not None])
    return repair(sources).sources[0].text


def _lines(text: str, work: Callable[[str], str]) -> Counter[CodeType]:
    """How many lines of each function of the package are executed. A comprehension and a generator are functions."""
    tallies: dict[
        int, tuple[CodeType, list[int], Tracer]
    ] = {}  # by identity: hashing code takes longer than most lines

    def call(frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        known = tallies.get(id(code))
        if known is None:
            if not code.co_filename.startswith(PACKAGE):
                return None
            known = tallies[id(code)] = (code, *_tally())
        known[1][0] += 1
        return known[2]

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work(text)
    finally:
        sys.settrace(before)
    counts: Counter[CodeType] = Counter()
    for code, count, _ in tallies.values():
        counts[code] += count[0]
    return counts


def _tally() -> tuple[list[int], Tracer]:
    """A number, and the tracer of one function that adds to it."""
    count = [0]

    def line(_frame: FrameType, _event: str, _argument: Any) -> None:
        """None is: go on with this tracer."""
        count[0] += 1

    return count, line


def _superlinear(make: Callable[[int], str], work: Callable[[str], str] = _check) -> list[str]:
    """The functions whose work more than doubles with twice the entries, once the part that is always there is off."""
    texts = [make(size) for size in SIZES]
    work(texts[-1])  # what is cached is cached for all of them
    small, middle, large = (_lines(text, work) for text in texts)
    own = [vars(module).values() for name, module in [*sys.modules.items()] if name.startswith("fleetc.")]
    cached = {one.__wrapped__.__code__ for values in own for one in values if isinstance(one, _lru_cache_wrapper)}
    found = []
    for code, count in large.items():
        if code in cached:
            continue  # its calls are those that no longer fit, which begin at some size
        first, second = middle[code] - small[code], count - middle[code]
        if second > 2.5 * first and second > 6 * (SIZES[2] - SIZES[1]):
            place = f"{code.co_filename}:{code.co_firstlineno} {code.co_name}"
            found.append(f"{place}: {small[code]}, {middle[code]}, {count}")
    return found


@pytest.fixture(autouse=True)
def few_suggestions(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lower the limits beyond which near names are not sought, and texts are long."""
    monkeypatch.setattr(suggestions, "LIMIT", SOUGHT)
    monkeypatch.setattr(lines, "_LIMIT", 10)
    yield


@pytest.mark.parametrize(("kind", "fault"), list(cases()))
def test_work_grows_with_the_number_of_entries(kind: str, fault: str) -> None:
    assert _superlinear(lambda size: large_spec(kind, fault, size)) == []


@pytest.mark.parametrize("name", LONG)
def test_work_grows_with_the_length_of_a_list(name: str) -> None:
    assert _superlinear(lambda size: long_spec(name, size)) == []


REPAIRS = {
    "silences of nothing": ("silences", 'at = "', 'at = "nowhere.'),
    "keys in another spelling": ("hosts", "runtime = ", "ssh-port = 22\nruntime = "),
    "numbers as texts": ("hosts", "runtime = ", 'ssh_port = "22"\nruntime = '),
    "units in another spelling": ("orchestrators", "1200 wei / pixel", "1200wei/Pixel"),
}


@pytest.mark.parametrize(("kind", "before", "after"), REPAIRS.values(), ids=list(REPAIRS))
def test_work_of_repairs_grows_with_their_number(kind: str, before: str, after: str) -> None:
    def text(size: int) -> str:
        return large_spec(kind, "right", size).replace(before, after)

    assert _repair(text(2)) != text(2)
    assert _superlinear(text, _repair) == []


@pytest.mark.parametrize("name", BIG)
def test_work_grows_with_the_size_of_the_text_and_the_answer_does_not(name: str) -> None:
    """A text of megabytes in comments, fields, lines and names: what is printed about it can be read."""
    assert _superlinear(lambda size: big_text(name, size * 1000)) == []
    shown = _check(big_text(name, 1_000_000))
    assert max(map(len, shown.splitlines())) < 2500
    assert len(shown) < 20_000


def test_near_names_are_sought_for_the_first_twenty_words_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    calls: list[str] = []
    near = suggestions._Names.near

    def counted(self: suggestions._Names, word: str) -> tuple[str, ...]:
        calls.append(word)
        return near(self, word)

    monkeypatch.setattr(suggestions._Names, "near", counted)
    shown = _check(large_spec("gateways", "unknown-host", 100))
    assert len(calls) == suggestions.LIMIT
    assert shown.count("did you mean") == suggestions.LIMIT
    assert "known: base, h1001, h1002" in shown
    shown = _check(large_spec("gateways", "unknown-key", 100).replace("hosst", "rtmpp"))
    assert shown.count("did you mean") == suggestions.LIMIT


# ------------------------------------------------------------------------------------------- commands and large fleets


def _sound(text: str) -> Compiled:
    compiled = compile_text(text)
    assert compiled.tree is not None
    return compiled


def _compiled(text: str) -> str:
    """All paths of the tree of a spec."""
    return " ".join(file.path for file in _sound(text).sound.tree.artifacts)


def _verified(text: str) -> str:
    """What `verify` has to say of a fleet that runs as reviewed."""
    return str(World(_sound(text)).judged().findings)


def _explained(text: str) -> str:
    """Where a line of the page of the fleet, of its inventory and of its manifest comes from."""
    document, fleet, blueprint, tree = _sound(text).sound
    question = Derivation(fleet, blueprint, document, [Source("fleet.toml", text)], shipped())
    hosts = (path for path in tree.as_mapping() if path.endswith("/launch.flags"))
    paths = ("FLEET.md", "ROLLOUT.md", "ansible/inventory.json", "manifest.json", next(hosts))
    return "".join(why.as_text(why.explain_line(question, path, 12)) for path in paths)


def _edited(text: str) -> str:
    """What an editor asks once somebody has typed: diagnostics, hover, completion and references of the last host."""
    snapshot = state.check([Source("fleet.toml", text)], None, date(2027, 1, 31), state.Snapshot())
    page, at = Page(f"{text}\n", Page(text)), text.rindex('host = "') + 9
    target, _ = names.target_at(page, at, snapshot.document) or pytest.fail("there is no name")
    found = [*names.references(page, target, snapshot.document), *completion.complete(page, at, snapshot)]
    return f"{hover.hover(page, at, snapshot)} {found}"


def _diagnosed(log: str) -> str:
    """What `diagnose` makes of a log."""
    return str(findings(tally_of(*log.splitlines())))


def _adopted(text: str) -> str:
    """The spec of a Compose file."""
    return adopt([Source("compose.yaml", text)]).text


def _reviewed(text: str) -> str:
    """The review of new prices."""
    return terminal.as_text(review(text, text.replace("1200 wei", "1300 wei")))


def _included(text: str) -> str:
    """What `check` prints if each host has a file of its own."""
    head, *hosts = text.split("[hosts.h")
    parts = [f"{number}.toml" for number in range(len(hosts))]
    sources = [Source("fleet.toml", f'include = ["*.toml"]\n{head}')]
    sources += [Source(part, f"[hosts.h{host}", part=part) for part, host in zip(parts, hosts, strict=True)]
    checked = check_spec(sources)
    assert checked.fleet is not None
    return as_text(locate(checked.diagnostics, sources, checked.document))


def _sites(size: int) -> str:
    """The smallest is beyond the size at which FLEET.md draws every host."""
    return spec_text(size * 20)


def _of_one_account(size: int) -> str:
    """What orchestrators of one account have to do with each other is found once for all of them."""
    text = re.sub(r"(?m)^reward_by = .*", 'reward_by = "none"', _sites(size))
    return re.sub(r'(?m)^wallet = "([a-z-]+)-[0-9]+"', r'wallet = "\1-000"', text)


def _of_one_gateway(size: int) -> str:
    """A gateway lists all orchestrators."""
    text = large_spec("orchestrators", "right", size * 5)
    listed = re.findall(r"(?m)^\[orchestrators\.([a-z0-9]+)\]", text)
    return re.sub(r"(?m)^orchestrators = .*", f"orchestrators = {listed}", text)


def _crossed(size: int) -> str:
    """Each gateway lists all orchestrators: as many of both as make a text of this size."""
    count = round((18 * size) ** 0.5)
    sellers = large_spec("orchestrators", "right", count)
    buyers = large_spec("gateways", "right", count).removeprefix(HEAD + ONE_OF_EACH).replace("h1", "g1")
    listed = [f"n{number}" for number in range(FIRST, FIRST + count)]
    return sellers + buyers.replace("[gateways.n", "[gateways.b").replace('["orch"]', str(listed)).replace(
        '"10.', '"11.'
    )


def _slots(size: int) -> str:
    """A stack of many slots on sixteen GPUs."""
    slots = "".join(f'{{ avatar = "mira{number}", gpu = {number % 16} }}, ' for number in range(size))
    head, _, host = large_spec("avatars", "right", 1).rpartition("gpus = [")
    others = '{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }, ' * 15
    text = f"{head}gpus = [{others}{host}"
    return re.sub(r"(?m)^slots = .*", f"slots = [{slots}]", text)


def _log(size: int) -> str:
    """Errors with ids of their own."""
    return "\n".join(glog(f"OrchestratorCapped sessionID=s{number}", level="E") for number in range(size * 5))


def _compose(size: int) -> str:
    """Each node is on the chain, with an account, a port and a GPU of its own."""
    service = (
        "  o{0}:\n    image: livepeer/go-livepeer:v0.9.1\n    network_mode: host\n    command: -orchestrator "
        "-transcoder -nvidia {1} -network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc "
        "-ethAcctAddr 0x{0:040x} -ethPassword /etc/livepeer/pw -dataDir /srv/o{0} -serviceAddr o{0}.example.net:{2} "
        "-httpAddr 0.0.0.0:{2} -cliAddr 127.0.0.1:{3} -pricePerUnit {0}\n"
    )
    numbers = range(1, size * 5 + 1)
    return "services:\n" + "".join(service.format(one, one % 8, 10_000 + one, 20_000 + one) for one in numbers)


Make = Callable[[int], str]
_KINDS: dict[str, Make] = {kind: partial(large_spec, kind, "right") for kind in ENTRIES}
_ONE_HOST = "remote_work"
"""All its orchestrators are on one host, whose page looks for the ports of each among all: hosts have few nodes."""
GROWING: dict[str, tuple[Callable[[str], str], Make]] = {
    **{f"compile {kind}": (_compiled, make) for kind, make in _KINDS.items() if kind != _ONE_HOST},
    "compile sites": (_compiled, _sites),
    "compile one account": (_compiled, _of_one_account),
    "compile crossed lists": (_compiled, _crossed),
    "compile slots": (_compiled, _slots),
    "check includes": (_included, _KINDS["hosts"]),
    "review": (_reviewed, _of_one_gateway),
    "why": (_explained, _sites),
    "verify orchestrators": (_verified, _KINDS["orchestrators"]),
    "verify runners": (_verified, _KINDS["runners"]),
    "verify slots": (_verified, _KINDS["avatars"]),
    "verify crossed lists": (_verified, _crossed),
    "lsp gateways": (_edited, _KINDS["gateways"]),
    "lsp classes": (_edited, _KINDS["classes"]),
    "lsp market": (_edited, _KINDS["market"]),
    "diagnose": (_diagnosed, _log),
    "adopt": (_adopted, _compose),
}


@pytest.mark.parametrize("name", GROWING)
def test_work_of_a_command_grows_with_its_input(name: str) -> None:
    work, make = GROWING[name]
    assert _superlinear(make, work) == []
