"""Where files of nodes are: on their host, through homes, folders and volumes, and among the sources."""

from __future__ import annotations

import tomllib

import pytest

from fleetc.adopt import Adopted, Said, adopt
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Mount, Process, Word
from fleetc.adopt.node.paths import own_file, secret_file
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

CHAIN = f"-network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethAcctAddr 0x{'1' * 40}"
SELLS = f"-orchestrator -transcoder {CHAIN} -serviceAddr o.example.net:8935 -pricePerUnit 5"
BELOW = ".lpData/arbitrum-one-mainnet"
DOCKER = "/var/lib/docker/volumes"


def adopted(name: str, text: str, said: Said | None = None, env: str = "") -> Adopted:
    """Adopt one source, with an environment file beside it."""
    return adopt([Source(name, text), Source("lp/.env", env)], said or Said())


def places(found: Adopted) -> dict[str, str]:
    """The data directory of the one node, and keystore and password of its wallet: a path, or where they are today."""
    spec = tomllib.loads(found.text)
    (node,) = (spec.get("orchestrators") or spec["gateways"]).values()
    (wallet,) = spec["wallets"].values()
    known = {
        "data_dir": node.get("data_dir"), "keystore": wallet.get("keystore"),
        "password": wallet.get("password", {}).get("host_file"),
    }  # fmt: skip
    asked = {one.key: f"? {dict(one.facts)['where'][6:]}" for one in found.questions if "where" in dict(one.facts)}
    return {key: value for key, value in known.items() if value} | asked


@pytest.mark.parametrize(
    ("command", "home"),
    [
        ("sudo -u lp HOME=/srv/lp livepeer WORDS", "/srv/lp"),
        ("su -c 'livepeer WORDS'", "/root"),
        ("export HOME=/srv/lp\nlivepeer WORDS", "/srv/lp"),
        ("cd /root/livepeer\n./livepeer WORDS", "/root"),
        ("cd /root\nlivepeer WORDS", "/root"),
    ],
)
def test_home_that_the_source_says_is_that_of_each_path(command: str, home: str) -> None:
    found = adopted("start.sh", command.replace("WORDS", f"{SELLS} -ethPassword ~/pw"))
    data = f"{home}/{BELOW}"
    assert places(found) == {"data_dir": data, "keystore": f"{data}/keystore", "password": f"{home}/pw"}


UNKNOWN = "; --home says whose home that is"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("start.sh", "livepeer WORDS"),
        ("start.sh", "sudo -u lp -E livepeer WORDS"),
        ("lp.service", "[Service]\nUser=lp\nExecStart=/usr/bin/livepeer WORDS"),
    ],
)
def test_home_that_no_source_says_is_asked_for_and_no_path_of_it_is_in_the_spec(name: str, command: str) -> None:
    command = command.replace("WORDS", f"{SELLS} -ethPassword /etc/pw")
    asked = adopted(name, command)
    data = f"? ~/{BELOW}"
    assert places(asked) == {
        "data_dir": f"{data}{UNKNOWN}", "keystore": f"{data}/keystore{UNKNOWN}", "password": "/etc/pw",
    }  # fmt: skip
    assert '"~' not in asked.text and "# TODO data_dir = " in asked.text
    answered = adopted(name, command, Said(homes={"": "/home/lp"}))
    assert places(answered)["data_dir"] == f"/home/lp/{BELOW}"
    assert tomllib.loads(answered.text)["hosts"]["host-1"]["node_user"] == "lp"


def test_home_of_another_host_is_not_that_of_this_one() -> None:
    text = f"livepeer {SELLS} -ethPassword /etc/pw"
    other, own = (adopted("start.sh", text, Said(homes={host: "/home/lp"})) for host in ("other", "host-1"))
    assert places(other)["data_dir"].startswith("? ~")
    assert places(own)["data_dir"] == f"/home/lp/{BELOW}"
    named = adopt([Source("start.sh", text)], Said(hosts={"start.sh": "o"}, homes={"o": "/home/lp", "": "/"}))
    assert places(named)["data_dir"] == f"/home/lp/{BELOW}"


@pytest.mark.parametrize(
    ("begin", "volume", "path"),
    [
        ("", "/srv/lp:/root/.lpData", "/srv/lp/"),
        ("", "lp:/root/.lpData", f"{DOCKER}/lp/_data/"),
        ("", "$HOME/.lpData:/root/.lpData", "? ~/.lpData/"),
        ("D=$HOME/lp\n", "$D:/root/.lpData", "? ~/lp/"),
        ("", "$(pwd)/data:/root/.lpData", "? ./data/"),
        ("cd /opt/lp\n", '"$PWD"/data:/root/.lpData', "/opt/lp/data/"),
        ("cd /opt/lp\n", "../data/:/root/.lpData", "/opt/data/"),
        ("", "/srv/x:/x", "? /root/.lpData/"),
    ],
)
def test_volumes_of_docker_run_are_where_the_host_has_them(begin: str, volume: str, path: str) -> None:
    text = f"{begin}docker run -v {volume} livepeer/go-livepeer:v0.9.1 {SELLS} -ethPassword /root/.lpData/pw"
    keystore = places(adopted("start.sh", text))["keystore"].replace("$HOME", "~").replace("${HOME}", "~")
    assert keystore.replace("$(pwd)", ".").startswith(f"{path}arbitrum-one-mainnet/keystore")


@pytest.mark.parametrize(
    ("volume", "more", "env", "path"),
    [
        ("'/srv/lp:/root/.lpData'", "", "", "/srv/lp"),
        ("'./data:/root/.lpData'", "", "", "? ./data"),
        ("'~/data:/root/.lpData'", "", "", "? ~/data"),
        ("{type: bind, source: ./data, target: /root/.lpData}", "", "", "? ./data"),
        ("'lp:/root/.lpData'", "volumes: {lp: }", "", "? in the volume lp; --directory says of which Compose project"),
        ("'lp:/root/.lpData'", "name: farm\nvolumes: {lp: {}}", "", f"{DOCKER}/farm_lp/_data"),
        ("'lp:/root/.lpData'", "name: farm", "COMPOSE_PROJECT_NAME=node", f"{DOCKER}/node_lp/_data"),
        ("'lp:/root/.lpData'", "volumes: {lp: {name: kept}}", "", f"{DOCKER}/kept/_data"),
        ("'lp:/root/.lpData'", "volumes: {lp: {external: true}}", "", f"{DOCKER}/lp/_data"),
        ("'lp:/root/.lpData'", "volumes: {lp: {driver_opts: {type: nfs, device: ':/lp'}}}", "", "? in a volume"),
        ("{type: volume, source: lp, target: /root/.lpData}", "name: farm", "", f"{DOCKER}/farm_lp/_data"),
        ("'lp:/root/.lpData'", "volumes: {lp: {driver: nfs}}", "", "? in a volume; docker volume inspect says where"),
    ],
)
def test_volumes_of_compose_are_where_the_host_has_them(volume: str, more: str, env: str, path: str) -> None:
    service = (
        f"services:\n  o:\n    image: livepeer/go-livepeer:v0.9.1\n    command: {SELLS} -ethPassword /root/.lpData/p"
    )
    found = adopted("lp/compose.yaml", f"{service}\n    volumes: [{volume}]\n{more}", env=env)
    assert all(place.startswith(path) for place in places(found).values())
    answer = Said(homes={"": "/home/lp"}, directories={"lp": "/srv/My-Node", "": "/x"})
    known = adopted("lp/compose.yaml", f"{service}\n    volumes: [{volume}]\n{more}", answer, env)
    assert all(place.startswith("/") for place in places(known).values()) is ("nfs" not in more)


def test_directory_that_a_node_does_without_is_no_question() -> None:
    worker = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret /etc/s"
    for command in (worker, "livepeer -gateway -orchAddr o.example.net:8935"):
        found = adopted("start.sh", command)
        assert "data_dir" not in found.text
        (node,) = found.nodes
        assert "keeps nothing there that it needs again" in str(node.reasons["dataDir"])
    warm = "-aiModels text-to-image:stabilityai/sd:true"
    assert "# TODO data_dir" in adopted("start.sh", f"{worker.replace('transcoder', 'aiWorker')} {warm}").text


@pytest.mark.parametrize(
    ("mount", "sources", "source", "guess"),
    [
        (Mount("/root/.lpData", "./orch"), ["lp/orch/m.json", "lp/ai/m.json"], "lp/orch/m.json", ""),
        (Mount("/root/.lpData/m.json", "./o/m.json"), ["lp/o/m.json", "lp/ai/m.json"], "lp/o/m.json", ""),
        (Mount("/root/.lpData", "/srv/lp/orch"), ["lp/orch/m.json", "lp/ai/m.json"], "lp/orch/m.json", ""),
        (Mount("/root/.lpData", "", name="data"), ["lp/orch/m.json", "lp/ai/m.json"], "", ""),  # two have this name
        (Mount("/root/.lpData", "", name="data"), ["lp/ai/m.json"], "lp/ai/m.json", "in the volume data"),
    ],
)
def test_file_is_found_through_the_mounts_of_its_container(
    mount: Mount, sources: list[str], source: str, guess: str
) -> None:
    library = Library({name: Source(name, "[]") for name in sources})
    place = Span("lp/compose.yaml", 0, 1)
    process = Process("o", place, (), runtime="docker", directory="/srv/lp", mounts=(mount,))
    found = own_file(library, process, "/root/.lpData/m.json")
    assert (found.source.name if found.source else "") == source
    assert found.guess.removeprefix("today ").startswith(guess) and bool(found.guess) is bool(guess)


@pytest.mark.parametrize(
    ("text", "path"),
    [("/etc/pw", "/etc/pw"), ("~/pw", "~/pw"), ("${HOME}/pw", "${HOME}/pw"), ("word", "./word"), ("other", ""),
     ("pw.txt", ""), ("$DIR/keys/lp", "$DIR/keys/lp"), ("pre$DIR/x", "")],
)  # fmt: skip
def test_text_that_may_be_a_secret_is_a_path_only_where_it_is_one_or_names_a_source(text: str, path: str) -> None:
    holes = ("$DIR",) if "$DIR" in text else ()
    library = Library({"a/word": Source("a/word", "moss")})
    assert secret_file(Word(text, Span("a/start.sh", 0, 1), holes), library, "a/start.sh") == path
