"""`fleetc adopt --answers`: adopting again keeps what people answered, and loses nothing without saying so."""

from __future__ import annotations

import random
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from fleetc.adopt.adoption import adopt
from fleetc.adopt.again import adopt_again
from fleetc.adopt.earlier import read_earlier
from fleetc.disk.adopting import read_source_files
from fleetc.language.sharing import tables
from fleetc.language.spec import read_spec
from fleetc.toml.document import Source, value_at
from tests.adopt.test_against import COMPOSE, DATA, SCRIPT, SOURCES, WORKER, answer
from tests.support import EXAMPLES, INVENTORIES, compile_text, fleetc


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A folder with sources, and the answered spec of two of three."""
    for name, text in (("compose.yaml", COMPOSE), ("orch.sh", SCRIPT), ("worker.sh", WORKER)):
        (tmp_path / name).write_text(text)
    assert fleetc("adopt", *SOURCES[:2], "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    answer(tmp_path / "fleet.toml")
    return tmp_path


def again(folder: Path, *more: str, sources: tuple[str, ...] = SOURCES) -> tuple[dict[str, Any], str]:
    """The spec after adopting again, and what was said."""
    done = fleetc("adopt", *sources, "--answers", "fleet.toml", "-o", "fleet.toml", *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    return tomllib.loads((folder / "fleet.toml").read_text()), done.stderr


def changed(folder: Path, before: str, after: str) -> None:
    text = (folder / "fleet.toml").read_text()
    assert before in text
    (folder / "fleet.toml").write_text(text.replace(before, after))


def test_answers_stay_when_a_source_is_added(fleet: Path) -> None:
    spec, said = again(fleet)
    assert spec["wallets"]["payer"]["keystore"] == f"{DATA}/keystore"
    assert spec["gateways"]["lp-gateway"]["data_dir"] == DATA
    assert spec["transcoders"].keys() == {"worker"}
    assert "TODO" not in (fleet / "fleet.toml").read_text().replace("TODO node_release", "")
    assert "  [wallets.payer] deposit, reserve, keystore\n" in said
    assert "  [gateways.lp-gateway] data_dir\n" in said
    assert "the spec compiles" in said
    assert fleetc("check", cwd=fleet).returncode == 0
    assert fleetc("adopt", *SOURCES, "--compare", "fleet.toml", cwd=fleet).returncode == 0


def test_nothing_changes_when_nothing_is_new(fleet: Path) -> None:
    again(fleet)
    before = (fleet / "fleet.toml").read_text()
    again(fleet)
    assert (fleet / "fleet.toml").read_text() == before


def test_sources_stand_where_both_speak(fleet: Path) -> None:
    changed(fleet, "verbosity = 5", "verbosity = 6")
    changed(fleet, 'http = "0.0.0.0:8935"', 'http = "0.0.0.0:8936"')
    spec, said = again(fleet)
    assert spec["gateways"]["lp-gateway"]["verbosity"] == 5
    assert "the sources say something other than fleet.toml, and theirs is taken:" in said
    assert "  [gateways.lp-gateway] verbosity: 5, and no longer 6\n" in said
    assert '  [gateways.lp-gateway] http: "0.0.0.0:8935", and no longer "0.0.0.0:8936"\n' in said


def test_source_that_says_the_default_speaks_too(fleet: Path) -> None:
    (fleet / "compose.yaml").write_text(COMPOSE.replace("-v=5", "-v=3"))
    spec, said = again(fleet)
    assert "verbosity" not in spec["gateways"]["lp-gateway"]
    assert "  [gateways.lp-gateway] verbosity: the default of the node, and no longer 5\n" in said


def test_what_adopting_only_guessed_is_what_people_say(fleet: Path) -> None:
    changed(fleet, 'name = "adopted"', 'name = "kyoto"')
    changed(fleet, 'host = "edge"\nmode = "video"', 'host = "edge"\nmode = "dual"')
    spec, said = again(fleet)
    assert spec["fleet"]["name"] == "kyoto"
    assert spec["gateways"]["lp-gateway"]["mode"] == "dual"
    assert "sources say something other" not in said
    spec, said = again(fleet, "--name", "osaka")
    assert spec["fleet"]["name"] == "osaka"
    assert '  [fleet] name: "osaka", and no longer "kyoto"\n' in said


def test_secret_moved_elsewhere_stays_there(fleet: Path) -> None:
    (fleet / "orch.sh").write_text(SCRIPT.replace("/srv/lp/secret", "word-of-the-fleet"))
    (fleet / "worker.sh").write_text(WORKER.replace("/srv/lp/secret", "word-of-the-fleet"))
    (fleet / "fleet.toml").unlink()
    assert fleetc("adopt", *SOURCES, "-o", "fleet.toml", cwd=fleet).returncode == 0
    answer(fleet / "fleet.toml")
    text = (fleet / "fleet.toml").read_text()
    assert 'secret = { env = "' in text
    name = text.partition('secret = { env = "')[2].partition('"')[0]
    changed(fleet, f'{{ env = "{name}" }}', '{ host_file = "/etc/livepeer/secret" }')
    spec, said = again(fleet)
    assert spec["orchestrators"]["orch"]["secret"] == {"host_file": "/etc/livepeer/secret"}
    assert "word-of-the-fleet" not in said + (fleet / "fleet.toml").read_text()


def test_rpc_address_that_people_know_to_have_no_key_stays(tmp_path: Path) -> None:
    address = "https://rpc.example.net/our-own-node"
    (tmp_path / "orch.sh").write_text(SCRIPT.replace("https://arb1.arbitrum.io/rpc", address))
    first = fleetc("adopt", "orch.sh", "-o", "fleet.toml", cwd=tmp_path)
    assert "if no part of it is a key, write the address itself as rpc" in first.stderr
    changed(tmp_path, 'rpc = { env = "RPC_URL" }', f'rpc = "{address}"')
    spec, said = again(tmp_path, sources=("orch.sh",))
    assert spec["fleet"]["rpc"] == address
    assert "no longer" not in said


def test_tables_that_no_source_has_stay_and_are_named(fleet: Path) -> None:
    text = (fleet / "fleet.toml").read_text()
    (fleet / "fleet.toml").write_text(
        text + '\n[monitoring]\nhost = "edge"\n\n[rates]\nUSD = "0.0004 ETH"\n\n[hosts.spare]\naddress = "192.0.2.9"\n'
        'runtime = "docker"\n\n[silences.full]\ncode = "minimum-balance-low"\nat = "wallets.payer"\nreason = "it is"\n'
    )
    before = tomllib.loads((fleet / "fleet.toml").read_text())
    spec, said = again(fleet)
    for table in ("monitoring", "rates", "silences.full"):
        assert spec[table.partition(".")[0]] == before[table.partition(".")[0]]
        assert f"[{table}]" in said.partition("  as a whole: ")[2].partition("\n")[0]
    assert spec["hosts"]["spare"] == before["hosts"]["spare"]
    assert "  [hosts.spare] as a whole: no source has it; remove it if it is gone\n" in said


def test_names_that_people_gave_stay(fleet: Path) -> None:
    for before, after in (("orchestrators.orch]", "orchestrators.tokyo]"), ("hosts.main", "hosts.rack"),
                          ('host = "main"', 'host = "rack"'), ("wallets.payer", "wallets.club"),
                          ('wallet = "payer"', 'wallet = "club"')):  # fmt: skip
        changed(fleet, before, after)
    spec, said = again(fleet)
    assert spec["orchestrators"].keys() == {"tokyo"}
    assert spec["orchestrators"]["tokyo"]["host"] == "rack"
    assert spec["transcoders"]["worker"]["orchestrator"] == "tokyo"
    assert spec["gateways"]["lp-gateway"]["wallet"] == "club"
    assert spec["wallets"]["club"]["deposit"] == "0.5 ETH"
    for line in ("[orchestrators.tokyo] is orch", "[hosts.rack] is main", "[wallets.club] is payer"):
        assert f"  {line} in the sources, and keeps its name\n" in said
    assert "kept from fleet.toml: 5 values that the sources leave open, 3 names:\n" in said
    assert fleetc("check", cwd=fleet).returncode == 0


def test_comments_stay_where_they_can_and_are_told_where_not(fleet: Path) -> None:
    changed(fleet, "[wallets.payer]\n", "# the account of the club\n[wallets.payer]\n")
    changed(fleet, 'deposit = "0.5 ETH"', '# ask Bob first\ndeposit = "0.5 ETH"  # since May')
    changed(fleet, "verbosity = 5", "verbosity = 5\nmax_attempts = 2  # of three")
    (fleet / "fleet.toml").write_text((fleet / "fleet.toml").read_text() + "\n# the end of all\n")
    _, said = again(fleet)
    text = (fleet / "fleet.toml").read_text()
    assert '# ask Bob first\ndeposit = "0.5 ETH" # since May' in text.replace("  #", " #")
    assert "# the account of the club\n" in text.partition("[wallets.payer]")[0]
    assert "max_attempts = 2 # of three" in text.replace("  #", " #")
    assert ("the end of all" in text) is not ("the end of all" in said)


def test_comments_of_people_are_not_taken_for_those_of_adopting(fleet: Path) -> None:
    changed(fleet, "[wallets.payer]\n", "# from scratch\n# TODO rotate: next month\n[wallets.payer]\n")
    again(fleet)
    above = (fleet / "fleet.toml").read_text().partition("[wallets.payer]")[0]
    assert "# from scratch\n# TODO rotate: next month\n" in above


def test_comments_at_the_end_of_a_table_stay_there(fleet: Path) -> None:
    text = (fleet / "fleet.toml").read_text()
    at = text.index("\n\n", text.index("[wallets.payer]"))
    (fleet / "fleet.toml").write_text(f"{text[:at]}\n# TODO tell Bob: he pays\n# of the club{text[at:]}")
    for _ in range(2):
        again(fleet)
        wallet = (fleet / "fleet.toml").read_text().partition("[wallets.payer]\n")[2].partition("\n\n")[0]
        assert wallet.endswith("\n# TODO tell Bob: he pays\n# of the club")


def test_a_question_about_hosts_that_people_removed_does_not_come_back(tmp_path: Path) -> None:
    worker = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret /etc/s -nvidia 0 -cliAddr :793{0}"
    for name in "12":
        (tmp_path / f"w{name}.sh").write_text(worker.format(name))
    sources = ("w1.sh", "w2.sh")
    assert fleetc("adopt", *sources, "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "fleet.toml").read_text()
    assert "# TODO host: no source says that it is one host, and" in text and "# TODO address" in text
    again(tmp_path, sources=sources)
    assert (tmp_path / "fleet.toml").read_text() == text
    (tmp_path / "fleet.toml").write_text(re.sub("# TODO host.*\n", "", text))
    again(tmp_path, sources=sources)
    assert "# TODO host" not in (tmp_path / "fleet.toml").read_text()
    (tmp_path / "w3.sh").write_text(worker.format(3))
    again(tmp_path, sources=(*sources, "w3.sh"))
    assert "# TODO host" in (tmp_path / "fleet.toml").read_text()


@pytest.mark.parametrize(("text", "asked"), [(WORKER, "address = "), (SCRIPT, "address: is this also")])
def test_own_comments_are_written_once(text: str, asked: str, tmp_path: Path) -> None:
    (tmp_path / "my node.sh").write_text(text)
    assert fleetc("adopt", "my node.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    before = (tmp_path / "fleet.toml").read_text()
    assert "# from my node.sh\n" in before and f"# TODO {asked}" in before
    again(tmp_path, sources=("my node.sh",))
    assert (tmp_path / "fleet.toml").read_text() == before


def test_question_that_nobody_answered_stays(fleet: Path) -> None:
    (fleet / "fleet.toml").unlink()
    assert fleetc("adopt", *SOURCES, "-o", "fleet.toml", cwd=fleet).returncode == 0
    before = (fleet / "fleet.toml").read_text()
    assert "# TODO node_release: " not in before and "# TODO deposit" in before
    file = fleet / "fleet.toml"
    file.write_text(re.sub(r"# TODO deposit .*\n", "", before))
    changed(fleet, "[wallets.payer]\n", '[wallets.payer]\ndeposit = "2 ETH"\n')
    again(fleet)
    text = file.read_text()
    assert "# TODO deposit" not in text and "# TODO reserve" in text and 'deposit = "2 ETH"' in text
    assert "# TODO folder" in text and "<PROJECT>" in text
    _, said = again(fleet, "--directory", "edge=/opt/gw")
    text = file.read_text()
    assert "# TODO folder" not in text and f'data_dir = "{DATA}"' in text and "sources say something other" not in said


@pytest.mark.parametrize("verbosity", ["", " -v 5"])
def test_answer_to_what_a_spec_is_refused_for_stays(tmp_path: Path, verbosity: str) -> None:
    """The source says a price that nobody sells for: its question is answered by another price."""
    (tmp_path / "start.sh").write_text(
        "livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl http://rpc.example.net -ethAcctAddr "
        "0x1111111111111111111111111111111111111111 -ethPassword /srv/pw -dataDir /srv/orch "
        "-serviceAddr orch.example.net:8935 -pricePerUnit 1000\n"
        "livepeer -gateway -network arbitrum-one-mainnet -ethUrl http://rpc.example.net -ethAcctAddr "
        "0x2222222222222222222222222222222222222222 -ethPassword /srv/pw -dataDir /srv/gate "
        f"-orchAddr https://orch.example.net:8935 -maxPricePerUnit 1000{verbosity}\n"
    )
    assert fleetc("adopt", "start.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "fleet.toml").read_text()
    assert "# TODO max_price: " in text and "# TODO rpc: " in text
    answer(tmp_path / "fleet.toml")
    changed(tmp_path, 'max_price = "1000 wei', 'max_price = "1020 wei')
    changed(tmp_path, 'rpc = "http:', 'rpc = "https:')
    assert fleetc("check", cwd=tmp_path).returncode == 0
    done = fleetc("adopt", "start.sh", "--compare", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert (
        "gateway -maxPricePerUnit: 1000 wei / pixel -> 1020 wei / pixel\n"
        in done.stdout.partition("the spec answers what adopting asks:")[2]
    )
    if verbosity:
        changed(tmp_path, "verbosity = 5", "verbosity = 6")
    spec, said = again(tmp_path, sources=("start.sh",))
    assert spec["gateways"]["gateway"]["max_price"] == "1020 wei / pixel"
    assert spec["fleet"]["rpc"] == "https://rpc.example.net"
    assert ("sources say something other" in said) is bool(verbosity)


def test_guess_that_still_has_its_question_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "worker.sh").write_text(WORKER)
    assert fleetc("adopt", "gpu@192.0.2.1=worker.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    again(tmp_path, sources=("gpu@192.0.2.1=worker.sh",))
    text = (tmp_path / "fleet.toml").read_text()
    assert "# TODO node_release" in text
    (tmp_path / "fleet.toml").write_text("".join(line for line in text.splitlines(True) if "TODO node_rel" not in line))
    again(tmp_path, sources=("gpu@192.0.2.1=worker.sh",))
    assert "# TODO node_release" not in (tmp_path / "fleet.toml").read_text()


def test_guess_that_somebody_changed_is_a_value_that_is_kept(tmp_path: Path) -> None:
    (tmp_path / "worker.sh").write_text(WORKER)
    assert fleetc("adopt", "gpu@192.0.2.1=worker.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "fleet.toml").read_text()
    (tmp_path / "fleet.toml").write_text("".join(line for line in text.splitlines(True) if "# TODO " not in line))
    changed(tmp_path, 'node_release = "v0.9.1"', 'node_release = "v0.8.5"')
    spec, said = again(tmp_path, sources=("gpu@192.0.2.1=worker.sh",))
    assert spec["fleet"]["node_release"] == "v0.8.5"
    assert "1 value that the sources leave open:\n  [fleet] node_release\n" in said


def test_classes_are_written_out_and_that_is_said(fleet: Path) -> None:
    (fleet / "fleet.toml").write_text(
        (fleet / "fleet.toml").read_text() + '\n[defaults.hosts]\nssh_user = "ops"\nbecome = true\n'
    )
    spec, said = again(fleet)
    assert {host["ssh_user"] for name, host in spec["hosts"].items() if name != "gpu"} == {"ops"}
    assert "classes and defaults of fleet.toml are written out" in said


@pytest.mark.parametrize("name", EXAMPLES)
def test_spec_that_says_the_same_in_other_words_stays_what_it_is(name: str, tmp_path: Path) -> None:
    """The examples are written by hand: their trees and their specs make the same trees again."""
    example = INVENTORIES / name
    shutil.copy(example / "fleet.toml", tmp_path)
    done = fleetc("adopt", example / "rendered", "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = fleetc("adopt", example / "rendered", "--compare", "fleet.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing differs" in done.stdout
    compiled = compile_text((tmp_path / "fleet.toml").read_text())
    assert compiled.tree is not None, compiled.checked.diagnostics
    after = {one.path: one.content for one in compiled.tree.artifacts if one.path.startswith("hosts/")}
    assert after
    before = {path: (example / "rendered" / path).read_bytes() for path in after}
    assert {path for path in after if after[path] != before[path]} == set()


def test_another_file_is_never_replaced(fleet: Path) -> None:
    (fleet / "other.toml").write_text("# mine\n")
    done = fleetc("adopt", *SOURCES, "--answers", "fleet.toml", "-o", "other.toml", cwd=fleet)
    assert done.returncode == 1 and "error[adopt-output-exists]" in done.stderr
    assert (fleet / "other.toml").read_text() == "# mine\n"
    before = (fleet / "fleet.toml").read_text()
    done = fleetc("adopt", *SOURCES, "--answers", "fleet.toml", cwd=fleet)
    assert done.returncode == 0 and "[transcoders.worker]" in done.stdout
    assert (fleet / "fleet.toml").read_text() == before


def test_refused_output_says_which_option_keeps_answers(fleet: Path) -> None:
    done = fleetc("adopt", *SOURCES, "-o", "fleet.toml", cwd=fleet)
    assert done.returncode == 1 and "add --answers fleet.toml" in done.stderr


@pytest.mark.parametrize(
    "text", ["spec = 1\n[fleet\n", 'spec = 1\ninclude = ["hosts.toml"]\n', "fleet = 3\n", "[hosts]\na = 1\n", None]
)
def test_spec_that_cannot_be_read_is_left_alone(fleet: Path, text: str | None) -> None:
    path = fleet / "fleet.toml"
    path.unlink() if text is None else path.write_text(text)
    done = fleetc("adopt", *SOURCES, "--answers", "fleet.toml", "-o", "fleet.toml", cwd=fleet)
    assert done.returncode in (1, 2) and "error[" in done.stderr and "Traceback" not in done.stderr
    assert (path.read_text() if path.exists() else None) == text


def test_nothing_is_replaced_where_a_source_is_refused(fleet: Path) -> None:
    before = (fleet / "fleet.toml").read_text()
    (fleet / "worker.sh").write_text('livepeer -transcoder "\n')
    done = fleetc("adopt", *SOURCES, "--answers", "fleet.toml", "-o", "fleet.toml", cwd=fleet)
    assert done.returncode == 1
    assert (fleet / "fleet.toml").read_text() == before


_VALUES = ("3", '"x"', "[]", "true", '{ env = "A" }', "{ a = { b = 1 } }")


def _changed_at_random(text: str, chance: random.Random) -> str:
    """A spec after some careless edits; most are none any longer."""
    lines = text.split("\n")
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(lines))
        key, equals, _ = lines[place].partition(" = ")
        if chance.random() < 0.5:
            del lines[place]
        elif equals:
            lines[place] = f"{key} = {chance.choice(_VALUES)}"
        else:
            lines.insert(place, chance.choice(lines))
    return "\n".join(lines)


@pytest.mark.parametrize("name", ["dual-onchain", "live-runners"])
def test_each_value_of_an_earlier_spec_is_kept_or_told(name: str) -> None:
    sources = read_source_files(str(INVENTORIES / name / "rendered")).texts
    text = (INVENTORIES / name / "fleet.toml").read_text()
    chance, tried = random.Random(8935), 0
    while tried < 12:
        earlier, _ = read_earlier(Source("fleet.toml", _changed_at_random(text, chance)))
        if earlier is None:
            continue
        tried += 1
        found = adopt_again(earlier, lambda answers: adopt(sources, earlier=answers))
        if not found.text:
            continue
        assert found.carried is not None
        document, _ = read_spec([Source("fleet.toml", found.text)])
        assert document is not None
        told = {one.place[:3] for one in found.carried.contradictions}
        for kind in ("fleet", *tables()):
            tables_ = {"": earlier.raw.get(kind, {})} if kind == "fleet" else earlier.raw.get(kind, {})
            for table, values in tables_.items():
                place = (kind, table) if table else (kind,)
                now = value_at(document.raw, place)
                assert isinstance(now, dict), place
                kept = {key for key, value in values.items() if now.get(key) == value or isinstance(value, dict)}
                assert {(*place, key) for key in values if key not in kept} <= told


def test_a_worker_says_nothing_of_the_network_and_no_source_of_a_host(tmp_path: Path) -> None:
    """Adopting only a worker with the spec of a fleet on a chain leaves the fleet there, and the worker on its host."""
    (tmp_path / "orch.sh").write_text(SCRIPT)
    (tmp_path / "worker.sh").write_text(WORKER)
    assert fleetc("adopt", "orch.sh", "worker.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    changed(tmp_path, '[transcoders.worker]\nhost = "host-1"', '[transcoders.worker]\nhost = "gpu"')
    changed(tmp_path, "[wallets.earner]", '[hosts.gpu]\naddress = "192.0.2.9"\nruntime = "systemd"\n\n[wallets.earner]')
    changed(tmp_path, "gpus = [0, 1]", "gpus = [0]")
    spec, said = again(tmp_path, sources=("worker.sh",))
    assert spec["fleet"]["network"] == "arbitrum-one-mainnet"
    assert spec["transcoders"]["worker"]["host"] == "gpu"
    assert 'no longer "arbitrum' not in said and 'no longer "gpu"' not in said
    assert spec["transcoders"]["worker"]["orchestrator"] == "orch"
    assert 'no longer "orch"' not in said
    assert "of a host: fleetc adopt --in-place HOST fleet.toml" in said


@pytest.mark.parametrize("refused", [False, True])
def test_host_on_which_people_put_a_node_is_no_host_of_no_source(refused: bool, tmp_path: Path) -> None:
    """The list of hosts is that of the spec, also where nothing can be compared because a rule refuses the spec."""
    chain = "-network arbitrum-one-mainnet -ethUrl https://arb1.arbitrum.io/rpc -ethPassword /srv/pw"
    (tmp_path / "notes.sh").write_text(
        f"livepeer -orchestrator -transcoder -serviceAddr o.example.net:8935 -pricePerUnit 900 {chain} "
        f"-ethAcctAddr 0x{'1' * 40} -dataDir /srv/o -cliAddr 127.0.0.1:7935\n"
        f"livepeer -gateway -orchAddr https://o.example.net:8935 -maxPricePerUnit 1200 {chain} "
        f"-ethAcctAddr 0x{'2' * 40} -dataDir /srv/g -cliAddr 127.0.0.1:5935\n"
    )
    assert fleetc("adopt", "notes.sh", "-o", "fleet.toml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "fleet.toml").read_text()
    (host,) = tomllib.loads(text)["hosts"]
    head, _, tail = text.partition("[gateways.")
    spec = f"{head}[gateways.{tail.replace(host, 'bergen', 1)}".replace(host, "oslo")
    hosts = '\n[hosts.bergen]\naddress = "203.0.113.9"\nruntime = "systemd"\n'
    if refused:
        hosts += '\n[wallets.none]\nkeystore = "/srv/k"\n'
    for name in ("bergen", "oslo"):
        assert f'host = "{name}"' in spec
    (tmp_path / "fleet.toml").write_text(f"{spec}{hosts}")
    done = fleetc("adopt", "notes.sh", "--answers", "fleet.toml", "-o", "fleet.toml", cwd=tmp_path)
    assert "  bergen: gateway\n  oslo: orchestrator\n" in done.stderr, done.stderr
    assert ("nothing could be compared" in done.stderr) is refused
    assert "[hosts.bergen]" in done.stderr and "[hosts.bergen] as a whole: no source" not in done.stderr
    assert "# no source has it\n[hosts.bergen]" not in (tmp_path / "fleet.toml").read_text()


@pytest.mark.parametrize(("table", "key", "sources", "words", "other"), [
    ("orchestrators.orch", "price", "900 wei / pixel", "1800 wei / 2 pixels", "1900 wei / 2 pixels"),
    ("orchestrators.orch", "price", "900 wei / pixel", "0.0009 ETH / terapixel", "9 gwei / megapixel"),
    ("gateways.lp-gateway", "max_price", "1200 wei / pixel", "1200000000 wei / 1000000 pixels", "1200 gwei / pixel"),
])  # fmt: skip
def test_value_in_other_words_is_no_contradiction(
    table: str, key: str, sources: str, words: str, other: str, fleet: Path
) -> None:
    """The words of people stay, also at a node of which the sources say something else."""
    changed(fleet, "verbosity = 5", "verbosity = 6")
    changed(fleet, "max_sessions = 20", "max_sessions = 21")
    kind, name = table.split(".")
    changed(fleet, f'{key} = "{sources}"', f'{key} = "{words}"')
    text = (fleet / "fleet.toml").read_text()
    spec, said = again(fleet)
    assert spec[kind][name][key] == words and f"[{table}] {key}:" not in said, said
    assert "[gateways.lp-gateway] verbosity: 5, and no longer 6" in said
    (fleet / "fleet.toml").write_text(text.replace(words, other))
    spec, said = again(fleet)
    assert spec[kind][name][key] == sources and f'[{table}] {key}: "{sources}", and no longer "{other}"' in said


def test_questions_at_a_table_of_no_source_stay(fleet: Path) -> None:
    asked = '# TODO address = "0x..."  # which account?\n'
    with (fleet / "fleet.toml").open("a") as file:
        file.write(f'\n[wallets.other]\nkeystore = "/srv/k"\n{asked}')
    _, said = again(fleet)
    assert asked in (fleet / "fleet.toml").read_text().partition("[wallets.other]")[2]
    assert "[wallets.other] address: which account?" in said
    text = (fleet / "fleet.toml").read_text()
    again(fleet)
    assert (fleet / "fleet.toml").read_text() == text
