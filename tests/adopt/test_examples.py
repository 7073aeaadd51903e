"""Published launch configurations, adopted: each compiles to what it is today, or the table says why not.

The texts of data/adopt_examples.json stand as they were published, with placeholders; here they are filled in as a
person would, and the questions of the adopted spec are answered. The independent model of the node reads both sides.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.library import Said
from fleetc.formatting import formatted
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.adopt.support import answered, before, meanings
from tests.node import broken_rules, understand
from tests.test_launch_examples import CASES, published
from tests.test_launch_examples import EXAMPLES as CURATED

DATA = Path(__file__).parent.parent / "data"
EXAMPLES: dict[str, dict[str, Any]] = {
    example["id"]: example for example in json.loads((DATA / "adopt_examples.json").read_text())
}
SUFFIXES = {
    "compose": "compose.yaml", "conf": "livepeer.conf", "systemd": "livepeer.service", "aiModels": "aiModels.json",
    "command": "start.sh",
}  # fmt: skip
ROLES = {"L12": "gateway", "L15": "gateway", "L24": "orchestrator", "L49": "gateway"}
"""What the fragments are that name no role."""
FILES = {
    "aiModels.json": '[{"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", "price_per_unit": 5}]',
    "ai-pricing.json": '{"capabilities_prices": [{"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", '
    '"price_per_unit": 1000, "pixels_per_unit": 1}]}',
    "maxPricePerCapability.json": '{"capabilities_prices": [{"pipeline": "llm", "price_per_unit": 7}]}',
    "transcodingOptions.json": '[{"name": "480p0", "fps": 0, "bitrate": 1600000, "width": 854, "height": 480}]',
    "livepeer_transcoder.conf": "transcoder\norchAddr 192.0.2.1:8935\norchSecret /etc/livepeer/secret\nnvidia all\n",
}
FILLED = (
    (r"<mainnet\|rinkeby>", "arbitrum-one-mainnet"),
    (r"<YOUR SERVER IP>|<YOUR GATEWAY PUBLIC IP ADDRESS>", "203.0.113.7"),
    (r"(?<=cliAddr )<IP:PORT>", "127.0.0.1:7935"),
    (r"<(?:IP:PORT|SERVICE_ADDR)>", "203.0.113.7:8935"),
    (r"<PUBLIC_ORCH_IP_OR_URL>:<PUBLIC_ORCH_PORT>", "orch.example.net:8936"),
    (r"(?<=ethOrchAddr=)<ORCH_ADDR>|<MAIN_ORCH_ETH_ADDRESS>", "0x2222222222222222222222222222222222222222"),
    (r"<(?:ORCHESTRATOR_ADDRESSES|ORCH_LIST|ORCH_ADDR|YOUR_ORCHESTRATOR_ADDRESS)>", "https://orch1.example.com:8935"),
    (r"<[A-Z_ ]*(?:RPC|PROVIDER)[A-Z_ ]*>|YOUR_RPC", "https://rpc.example.net"),
    (
        r"<(?:YOUR_ETH_ADDRESS|ETH_ACCT_ADDR|ETHEREUM_ADDRESS|AI_SUBNET_ORCH_ETH_ADDRESS|YOUR ETH ACCOUNT ADDRESS)>"
        r"|0xabc123",
        "0x1111111111111111111111111111111111111111",
    ),
    (r"<CONTROLLER_CONTRACT_ADDRESS[^>]*>|(?<=ethController )\{wallet\}", "0x3333333333333333333333333333333333333333"),
    (r"(?<=ethAcctAddr )\{wallet\}", "0x1111111111111111111111111111111111111111"),
    (r"broadcaster_\{wallet\}", "broadcaster"),
    (r"<KEYSTORE_PATH>|<PATH_TO_KEYSTORE_DIR>|<Path to Keystore>", "/etc/livepeer/keystore"),
    (r"<Path to Data Directory>", "/home/livepeer/data"),
    (r"<(?:YOUR_PASSWORD|ETH_SECRET|Wallet password|ETHEREUM_ACCOUNT_PASSWORD[^>]*)>", "/etc/livepeer/password"),
    (r"<string or path to secret file>", "/etc/livepeer/secret"),
    (r"<PRICE_PER_UNIT>|<900-1200 recommended>", "900"),
    (r"<#>", "12"),
    (r"<PROJECT_ID>", "project"),
    (r"<RELEASE_VERSION>", "v0.9.1"),
    (r"\{\{ARB_ETH_URL\}\}", "https://rpc.example.net"),
    (r"\$\{env:HOME\}|~(?=/)", "/root"),
    (r"\$\{PUBLIC_SERVICE_ADDR\}", "https://orch.example.net:8935"),
    (r"\$\{LIVE_RUNNER_ADDR\}", "http://10.0.0.5:8935"),
    (r"\$\{(?:ARBITRUM_RPC_URL|ETH_RPC_URL(?=\}))\}|\$ETH_RPC_URL", "https://rpc.example.net"),
    (r"\$\{(?:ETH_ACCT_ADDR|SIGNER_ETH_ADDR)\}|\$SIGNER_ETH_ADDR", "0x1111111111111111111111111111111111111111"),
    (r"\$\{ETH_KEYSTORE_PATH\}", "/etc/livepeer/keystore"),
    (r"\$\{ETH_PASSWORD_FILE\}", "/etc/livepeer/password"),
    (r"\$\{ORCH_SECRET\}", "/etc/livepeer/secret"),
    (r"\$\{TICKET_EV\}", "12000000000"),
    (r"\$\{PRICE_PER_UNIT\}", "5"),
    (r"\$\{PIXELS_PER_UNIT\}", "2"),
    (r"\$\{SIGNER_PORT\}|\$SIGNER_PORT", "8081"),
    (r"\$SIGNER_NETWORK", "arbitrum-one-mainnet"),
    (r"\$\{ORCH_WEBHOOK_URL\}", "https://hook.example.net/orchestrators"),
    (r"\$\{LIVE_AI_CAP_REPORT_INTERVAL\}", "10m"),
    (r"<CONTAINER_URL>:<PORT>", "http://192.0.2.5:8000"),
    (r"<OPTIONAL_BEARER_TOKEN>", "word"),
)
"""What stands for the placeholders of the published texts, where people put values of their own."""

NOT_FOLLOWED = ("L01", "L04", "L07", "L09", "L10")
"""Examples of editors' launch files, and scripts whose branches decide: a message has the line and two ways out."""
REFUSED = {
    "L48": "a list of prices alone, which starts no node",
    "L57": "the node refuses this list of models: a price is in quotes",
}
"""Examples for which no spec can be written."""


READ_OTHERWISE: dict[str, dict[str, tuple[object, object]]] = {
    "L07": {"serviceAddr": ("https://localhost:8935", "https://127.0.0.1:8935")}
}
"""Where the curated words are those of another branch of a script, and what differs then."""


def filled(text: str) -> str:
    """A published text with its placeholders replaced."""
    for pattern, value in FILLED:
        text = re.sub(pattern, lambda _, value=value: value, text, flags=re.MULTILINE)  # type: ignore[misc]
    return text


def adopted(example: dict[str, Any], text: str | None = None) -> Adopted:
    """An example, with the files beside it that it names."""
    name = SUFFIXES[example["kind"]]
    if example["kind"] == "conf" and example["id"] in ("L48", "L49"):
        name = "prices.json" if example["id"] == "L48" else "start.sh"
    sources = [Source(name, filled(example["text"]) if text is None else text)]
    sources += [Source(f"files/{file}", content) for file, content in FILES.items() if file in example["text"]]
    return adopt(sources, Said(role=ROLES.get(example["id"], "")))


@dataclass
class Row:
    """One adopted example: equal, explained, refused, or what is wrong."""

    state: str
    explained: dict[str, str] = field(default_factory=dict)
    unexplained: dict[str, object] = field(default_factory=dict)


def row(example: dict[str, Any]) -> Row:
    """Adopt, answer, compile and compare one example."""
    found = adopted(example)
    if not found.text or (example["id"] in NOT_FOLLOWED and not found.nodes):
        return Row("refused", {d.code: d.message for d in found.diagnostics if d.severity is Severity.ERROR})
    text = answered(found.text)
    checked = check_spec([Source("fleet.toml", text)])
    errors = {d.code: d.message for d in checked.diagnostics if d.severity is Severity.ERROR}
    files = {"/etc/livepeer/password": "word", "/etc/livepeer/secret": "secret"}
    for source in found.sources[1:]:
        base = Path(source.name).name
        files |= dict.fromkeys(re.findall(rf"[^\s'\"=]*{re.escape(base)}", found.sources[0].text), source.text)
    if errors:
        broken = [rule for node in found.nodes for rule in broken_rules(before(node, files))]
        return Row("broken today" if broken else "does not check", {}, {**errors, "rules of the node": broken})
    result = Row("equal")
    for node in found.nodes:
        today, after = meanings(found, text, files)[node.name]
        for flag, pair in today.differences(after).items():
            reason = node.reasons.get(flag) or node.reasons.get(flag.removesuffix(" prices").removeprefix("env "))
            if reason:
                result.explained[f"{node.name} -{flag}"] = str(reason)
            else:
                result.unexplained[f"{node.name} -{flag}"] = pair
    result.state = "different" if result.unexplained else "explained" if result.explained else "equal"
    return result


@pytest.fixture(scope="module")
def table() -> dict[str, Row]:
    """What became of every example."""
    return {name: row(example) for name, example in EXAMPLES.items()}


def test_table_of_published_configurations(table: dict[str, Row], snapshot: SnapshotAssertion) -> None:
    shown = [f"{name}: {found.state}" for name, found in table.items()]
    for name, found in table.items():
        shown += [f"  {name} {setting}: {why}" for setting, why in sorted(found.explained.items())]
    assert "\n".join(shown) == snapshot


def test_nearly_all_published_configurations_compile_to_what_they_are_today(table: dict[str, Row]) -> None:
    whole = [name for name, found in table.items() if found.state in ("equal", "explained")]
    assert len(whole) + len(NOT_FOLLOWED) >= 56
    assert {name: found.unexplained for name, found in table.items() if found.state == "different"} == {}


def test_what_cannot_compile_does_not_start_today_or_is_no_node(table: dict[str, Row]) -> None:
    refused = {name for name, found in table.items() if found.state == "refused"}
    assert refused == {*REFUSED, *NOT_FOLLOWED}
    for name in NOT_FOLLOWED:
        told = [d for d in adopted(EXAMPLES[name]).diagnostics if d.code == "adopt-branch-not-followed"]
        assert told and all("--from" in str(d.help) and "args=" in str(d.help) for d in told)
    assert {name for name, found in table.items() if found.state == "does not check"} == set()
    broken = {name: found.unexplained["rules of the node"] for name, found in table.items() if "broken" in found.state}
    assert broken == {"L19": ["R98"]}


@pytest.mark.parametrize("name", EXAMPLES)
def test_published_text_with_its_placeholders_adopts_without_an_end_in_a_traceback(name: str) -> None:
    found = adopted(EXAMPLES[name], text=EXAMPLES[name]["text"])
    errors = [d for d in found.diagnostics if d.severity is Severity.ERROR]
    assert bool(errors) is not bool(found.text)
    assert all(located(found))
    if found.text:
        assert formatted(Source("fleet.toml", found.text)) == (found.text, [])


READ = [case for case in CASES if case[0] not in NOT_FOLLOWED]


@pytest.mark.parametrize(("name", "service"), READ, ids=map("-".join, READ))
def test_words_of_a_published_command_are_read_as_a_shell_or_compose_reads_them(name: str, service: str) -> None:
    """The readers against the reading of the same examples by hand, in launch_examples.json."""
    curated = CURATED[name]
    text = EXAMPLES[name]["text"]
    for placeholder, value in curated["placeholders"].items():
        text = text.replace(placeholder, value)
    files = dict(curated["files"])
    sources = [Source(SUFFIXES[EXAMPLES[name]["kind"]], text)]
    sources += [Source(f"files{path}", content) for path, content in files.items()]
    found = adopt(sources)
    wanted = published(curated, service).meaning
    node = next(node for node in found.nodes if node.name == service or len(found.nodes) == 1)
    assert understand(before(node, files)).differences(wanted) == READ_OTHERWISE.get(name, {})


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_flag_of_a_command_is_accounted_for(name: str) -> None:
    found = adopted(EXAMPLES[name])
    account = " ".join(entry.shown for entry in found.entries)
    for process in found.processes if found.text else ():
        flags = [word.text.lstrip("-").partition("=")[0] for word in process.words if word.text.startswith("-")]
        assert [flag for flag in flags if f"-{flag.replace('datadir', 'dataDir')}" not in account] == []


def test_what_no_command_names_is_accounted_for_too() -> None:
    found = adopt([Source("start.sh", "livepeer -gateway -orchAddr a:1"), Source("other.json", "{}")])
    assert [entry.words for entry in found.entries if entry.span.source == "other.json"] == [
        "no command among the sources names it"
    ]
