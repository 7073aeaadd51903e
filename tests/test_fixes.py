"""Certain repairs: what each code repairs, that nothing else is touched, and `fleetc check --fix` on real files."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetc.disk.files import FilesError, write_sources
from fleetc.disk.spec_writer import with_line_ends
from fleetc.fixes import Repaired, repair
from fleetc.messages.explain import pages
from fleetc.toml.document import Source
from tests.support import check_text, fleetc

BASE = """\
#:schema ../spec.schema.json
# A fleet with every layout: comments, inline tables, dotted keys, quotes of both kinds.
spec = 1

[fleet]
name = "aurora"
network = "arbitrum-one-mainnet"   # the chain
rpc = { env = "RPC_URL" }
node_release = "v0.9.1"

[rollout]
canary = 2
batch = 2

[hosts.edge]
address = "203.0.113.10"
public = "edge.example.net"
runtime = 'docker'

[hosts.gpu]
address = '203.0.113.20' # in the basement
public = "gpu.example.net"
runtime = "systemd"
ssh_port = 2222
become = true
gpus = [
  { model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }, # the first
]

[wallets]
payer.address = "0x1111111111111111111111111111111111111111"
payer.keystore = "/var/lib/livepeer/keystore"
payer.password = { env = "PAYER" }
payer.minimum_balance = "0.05 ETH"
payer.deposit = "0.5 ETH"
payer.reserve = "0.3 ETH"

[wallets.earner]
address = "0x2222222222222222222222222222222222222222"
keystore = "/var/lib/livepeer/keystore"
password = { env = "EARNER" }
minimum_balance = "0.05 ETH"
deposit = "0.6 ETH"
reserve = "0.4 ETH"
reward_by = "orch" # one of two
"""
OVERLAY = """\
# The nodes, which may stand in an overlay.
[models.realvis]
pipeline = "text-to-image"
id = "SG161222/RealVisXL_V4.0_Lightning"
memory = "4 GiB"

[gateways.gate]
host = "edge"
mode = "dual"
wallet = "payer"
http = "0.0.0.0:8935"
http_ingest = true
max_price = "1500 wei / pixel"
max_model_prices = { text-to-image = "5000000 wei / pixel" }
orchestrators = ["orch"]
renditions = ["P720p30fps16x9", "P240p30fps16x9"]
selection.timeout = "5 s" # patience
selection.random = "0.3"
selection.stake = "0.7"
environment = { TZ = "1" }

[gateways.second]
host = "gpu"
mode = "video"
wallet = "earner"
max_price = "any"
http = "127.0.0.1:9000"
orchestrators = ["orch"]

[orchestrators.orch]
host = "gpu"
mode = "dual"
wallet = "earner"
service = "gpu.example.net:8935"
price = "1200 wei / pixel"
max_sessions = 8
gpus = [0]
containers_per_gpu = 1
models = [{ use = "realvis", warm = true, price = "4000000 wei / pixel" }]

[streams.main]
recordingSpec = {}
record = true
"""

DAMAGES: dict[str, list[tuple[str, str]]] = {
    "missing-key": [("spec = 1\n\n", "")],
    "wrong-type": [
        ("canary = 2", 'canary = "2"'),
        ("ssh_port = 2222", "ssh_port = 2222.0"),
        ("become = true", 'become = "true"'),
        ("encode_sessions = 8", "encode_sessions = '8'"),
        ('TZ = "1"', "TZ = 1"),
        ('gate]\nhost = "edge"\nmode = "dual"', 'gate]\nhost = "edge"\nmode = "Dual"'),
        ('9000"\norchestrators = ["orch"]', '9000"\norchestrators = "orch"'),
    ],
    "invalid-value": [
        ("batch = 2", 'batch = "2"'),
        ('"v0.9.1"', '"0.9.1"'),
        ('"24 GiB"', '"24GiB"'),
        ('"0.5 ETH"', '" 0.5 eth"'),
        ('"0.3 ETH"', '"0.3ether"'),
        ('"0x1111111111', '"0X1111111111'),
        ('"0x2222222222', '"2222222222'),
        ('"203.0.113.10"', '"203.0.113.10 "'),
        ('"edge.example.net"', '"edge.example.net."'),
        ('"1500 wei / pixel"', '"1_500wei per Pixel"'),
        ('"1200 wei / pixel"', '"1200 WEI/pixel"'),
        ('"5 s"', '"5 Seconds"'),
        ('random = "0.3"', "random = 0.3"),
        ('"any"', '"Any"'),
        ("max_sessions = 8", 'max_sessions = "8"'),
    ],
    "unknown-key": [
        ("node_release", "nodeRelease"),
        ("[wallets.earner]\naddress = ", "[wallets.earner]\nAddress = "),
        ("http_ingest", "http-ingest"),
        ("containers_per_gpu", "containers-per-GPU"),
        ("[rollout]", "[Rollout]"),
        ("warm = true", "Warm = true"),
    ],
    "unknown-value": [("runtime = 'docker'", "runtime = 'Docker'"), ('mode = "video"', 'mode = "VIDEO"')],
    "unknown-reference": [("{ text-to-image =", "{ Text_To_Image =")],
    "unknown-pipeline": [('pipeline = "text-to-image"', 'pipeline = "Text-To-Image"')],
    "unknown-rendition": [('"P720p30fps16x9"', '"p720p30fps16x9"')],
    "model-id-wrong": [("SG161222/RealVisXL_V4.0_Lightning", "sg161222/RealVisXL_v4.0_lightning")],
    "service-address-missing": [('"gpu.example.net:8935"', '"gpu.example.net"')],
    "reward-caller-wrong": [],  # the key comes back without its comment: tested by itself
    "stream-recording-spec-without-record": [("recordingSpec = {}\nrecord = true", "recordingSpec = {}")],
    "silence-expired": [],  # it needs a day: see test_silences.py
    "unused-silence": [("[fleet]\nname", '[silences.accepted]\ncode = "zero-price"\nreason = "x"\n\n[fleet]\nname')],
}
"""What a person may write instead, by the code that repairs it. Every repair gives the text back as it was."""

FLAT = [(code, old, new) for code, pairs in DAMAGES.items() for old, new in pairs]


def damaged(text: str, *damages: tuple[str, str, str]) -> str:
    for _, old, new in damages:
        assert text.count(old) <= 1, old
        text = text.replace(old, new.replace("\\n", "\n"))
    return text


def repaired(*texts: str) -> Repaired:
    return repair([Source(f"f{number}.toml", text) for number, text in enumerate(texts)])


def test_the_sound_spec_has_nothing_to_repair() -> None:
    found = repaired(BASE, OVERLAY)
    assert found.repairs == ()
    assert found.checked.fleet is not None, check_text(BASE + OVERLAY)


@pytest.mark.parametrize(("code", "old", "new"), FLAT, ids=[f"{code}: {new[:40]!r}" for code, _, new in FLAT])
def test_damage_is_repaired_to_the_byte(code: str, old: str, new: str) -> None:
    whole = BASE + "\n" + OVERLAY
    text = damaged(whole, (code, old, new))
    assert text != whole
    found = repaired(text)
    if code == "missing-key":  # what stands above the first header is all the same place
        assert found.sources[0].text.replace("\n\n[fleet]", "\n[fleet]") == whole.replace("\n\n[fleet]", "\n[fleet]")
    else:
        assert found.sources[0].text == whole
    assert code in {repaired_code for repaired_code, _ in found.repairs} or "Dual" in new


@given(st.lists(st.sampled_from([d for d in FLAT if d[0] != "missing-key"]), unique=True, max_size=12), st.booleans())
def test_law_any_damages_together_are_repaired_to_the_byte(damages: list[tuple[str, str, str]], split: bool) -> None:
    texts = [BASE, OVERLAY] if split else [BASE + "\n" + OVERLAY]
    broken = [damaged(text, *damages) for text in texts]
    found = repaired(*broken)
    assert [source.text for source in found.sources] == texts
    assert bool(found.repairs) == (broken != texts)
    again = repair(found.sources)
    assert again.repairs == () and again.sources == found.sources


def test_reward_caller_is_named_behind_the_last_key() -> None:
    found = repaired(BASE.replace('reward_by = "orch" # one of two\n', ""), OVERLAY)
    assert found.sources[0].text == BASE.replace(" # one of two", "")
    assert found.sources[1].text == OVERLAY


def test_reward_caller_is_not_chosen_among_two() -> None:
    second = OVERLAY[OVERLAY.index("[orchestrators.orch]") :].replace("orchestrators.orch]", "orchestrators.other]")
    text = BASE.replace('reward_by = "orch" # one of two\n', "") + OVERLAY + second.replace(":8935", ":9935")
    assert "reward-caller-wrong" not in {code for code, _ in repaired(text).repairs}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"24 GiB"', '"24 GB of memory"'),
        ('"24 GiB"', '"24 Gb"'),
        ('"24 GiB"', "24"),
        ('"1200 wei / pixel"', '"1200"'),
        ('"1200 wei / pixel"', '"1,200 wei / pixel"'),
        ('"1200 wei / pixel"', '"1200 wei"'),
        ('"5 s"', '"5"'),
        ("canary = 2", 'canary = "two"'),
        ("canary = 2", "canary = 2.5"),
        ("become = true", "become = 1"),
        ("become = true", 'become = "yes"'),
        ('"0x1111111111111111111111111111111111111111"', '"0x52908400098527886e0F7030069857D2E4169EE7"'),
        ("http_ingest", "http_ingset"),
        ('runtime = "systemd"', 'runtime = "sytemd"'),
        ('orchestrators = ["orch"]\nrenditions', 'orchestrators = "orch, second"\nrenditions'),
        ('orchestrators = ["orch"]\nrenditions', 'orchestrators = ["https://orch.example.org"]\nrenditions'),
        ('password = { env = "EARNER" }', "password = 12345678"),
        ("http_ingest = true\n", "http_ingest = true\nhttp-ingest = true\n"),
        ('0.0.0.0:8935"', '0.0.0.0"'),
    ],
)
def test_doubt_is_left_to_the_person(old: str, new: str) -> None:
    text = (BASE + OVERLAY).replace(old, new)
    assert text != BASE + OVERLAY
    found = repaired(text)
    assert found.repairs == () and found.sources[0].text == text
    assert found.checked.fleet is None, "the damage is an error"


def test_port_of_the_service_is_left_open_when_something_speaks_for_another() -> None:
    text = (BASE + OVERLAY).replace('"gpu.example.net:8935"', '"gpu.example.net"')
    for other in ('max_sessions = 8\nhttp = "0.0.0.0:9935"', None):
        again = text.replace("max_sessions = 8", other) if other else text.replace("127.0.0.1:9000", "127.0.0.1:8935")
        assert repaired(again).repairs == ()


def test_spec_that_cannot_be_read_stays_as_it_is() -> None:
    found = repaired("a = \n")
    assert (found.repairs, found.sources[0].text, found.checked.document) == ((), "a = \n", None)


def test_fixable_codes_are_those_whose_pages_say_so() -> None:
    told = {code for code, page in pages().items() if re.search(r"^Fix: `fleetc check --fix` ", page, re.MULTILINE)}
    assert told == set(DAMAGES)


def test_message_tells_what_the_fix_writes() -> None:
    text = damaged(BASE + OVERLAY, *(d for d in FLAT if d[1] in ("http_ingest", "canary = 2", '"P720p30fps16x9"')))
    shown = check_text(text)
    assert " = fix: fleetc check --fix writes canary = 2\n" in shown
    assert " = fix: fleetc check --fix writes http_ingest for http-ingest\n" in shown
    rendition = check_text(BASE + OVERLAY.replace('"P720p30', '"p720p30'))
    assert ' = fix: fleetc check --fix writes "P720p30fps16x9"\n' in rendition
    silence = check_text(BASE + OVERLAY + '[silences.accepted]\ncode = "zero-price"\nreason = "x"\n')
    assert " = fix: fleetc check --fix removes silences.accepted\n" in silence


def test_text_that_looks_like_a_secret_is_repaired_without_being_shown(tmp_path: Path) -> None:
    url = "https://orch.example.net:8935/3f7a9c1e5b2d8046af13c5e7"
    spec = tmp_path / "fleet.toml"
    spec.write_text((BASE + OVERLAY).replace("max_sessions = 8", f'max_sessions = 8\ninstances = "{url}"'))
    shown = fleetc("check", spec).stdout
    assert " = fix: fleetc check --fix writes this value in the right form\n" in shown
    done = fleetc("check", spec, "--fix")
    assert "repaired[wrong-type]" in done.stderr and "3f7a9c1e" not in shown + done.stderr + done.stdout
    assert f'instances = ["{url}"]' in spec.read_text()


# ------------------------------------------------------------------------------------------------------ the command


def test_check_fix_writes_the_files_and_says_what(tmp_path: Path) -> None:
    base, overlay = tmp_path / "fleet.toml", tmp_path / "nodes.toml"
    base.write_bytes(damaged(BASE, *FLAT[1:2]).replace("\n", "\r\n").encode())
    base.chmod(0o640)
    overlay.write_text(OVERLAY.replace('"1200 wei / pixel"', '"1200wei/pixel"') + "  \n# end")
    first = fleetc("check", base, "--overlay", overlay)
    assert first.returncode == 1
    assert base.read_bytes() != BASE.replace("\n", "\r\n").encode()
    done = fleetc("check", base, "--overlay", overlay, "--fix")
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert f'repaired[wrong-type] {base}:12:10: "2" -> 2' in lines
    assert any(x.startswith("repaired[invalid-value]") and x.endswith('-> "1200 wei / pixel"') for x in lines)
    assert "error" not in lines[-1]
    assert base.read_bytes() == BASE.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(base.stat().st_mode) == 0o640
    assert overlay.read_text() == OVERLAY + "  \n# end"
    times = base.stat().st_mtime_ns, overlay.stat().st_ino
    assert "repaired" not in fleetc("check", base, "--overlay", overlay, "--fix").stderr
    assert (base.stat().st_mtime_ns, overlay.stat().st_ino) == times
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fleet.toml", "nodes.toml"]


def test_check_fix_exits_with_what_remains(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text((BASE + OVERLAY).replace("canary = 2", 'canary = "2"').replace('host = "gpu"', 'host = "gp"'))
    done = fleetc("check", spec, "--fix", "--format", "json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert {d["code"] for d in told["diagnostics"]} == {"unknown-reference"}
    assert all(d["fixable"] is False for d in told["diagnostics"])
    (change,) = told["repaired"]
    assert (change["code"], change["line"], change["change"]) == ("wrong-type", 12, '"2" -> 2')
    assert "canary = 2\n" in spec.read_text()


def test_json_tells_what_is_fixable(tmp_path: Path) -> None:
    spec = tmp_path / "fleet.toml"
    spec.write_text((BASE + OVERLAY).replace("canary = 2", 'canary = "2"'))
    (found,) = json.loads(fleetc("check", spec, "--format", "json").stdout)["diagnostics"]
    assert found["fixable"] is True


def test_check_fix_does_not_write_through_a_link(tmp_path: Path) -> None:
    spec, link = tmp_path / "real.toml", tmp_path / "fleet.toml"
    spec.write_text(damaged(BASE + OVERLAY, *FLAT[1:2]))
    before = spec.read_bytes()
    link.symlink_to(spec)
    done = fleetc("check", link, "--fix")
    assert done.returncode == 1 and "error[spec-is-a-link]" in done.stderr
    assert spec.read_bytes() == before and link.is_symlink()


def test_no_file_is_written_when_one_cannot_be(tmp_path: Path) -> None:
    base, overlay = tmp_path / "base.toml", tmp_path / "over.toml"
    base.write_text("a = 1\n")
    overlay.write_text("b = 9\n")
    old = [Source(str(base), "a = 1\n"), Source(str(overlay), "b = 1\n")]
    new = [Source(str(base), "a = 2\n"), Source(str(overlay), "b = 2\n")]
    with pytest.raises(FilesError) as caught:
        write_sources(old, new, 1000)
    assert caught.value.code == "spec-changed"
    assert (base.read_text(), overlay.read_text()) == ("a = 1\n", "b = 9\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["base.toml", "over.toml"]


def test_only_a_regular_file_is_written(tmp_path: Path) -> None:
    fifo = tmp_path / "fleet.toml"
    os.mkfifo(fifo)
    with pytest.raises(FilesError) as caught:
        write_sources([Source(str(fifo), "")], [Source(str(fifo), "a = 1\n")], 1000)
    assert caught.value.code == "spec-not-a-file"


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["\n", "\r\n"])), max_size=8), st.data())
def test_law_lines_that_stay_keep_their_ends(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    before = "".join(line + end for line, end in lines)
    plain = before.replace("\r\n", "\n")
    assert with_line_ends(before, plain) == before
    at = data.draw(st.integers(0, len(lines)))
    first = "".join(line + end for line, end in lines[:at])
    last = "".join(line + end for line, end in lines[at:])
    after = with_line_ends(before, first.replace("\r\n", "\n") + "new\n" + last.replace("\r\n", "\n"))
    assert after.replace("\r\n", "\n") == first.replace("\r\n", "\n") + "new\n" + last.replace("\r\n", "\n")
    assert after.startswith(first) and after.endswith(last)
