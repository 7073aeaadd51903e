"""Where files of nodes are on their host: homes, folders of Compose files, volumes, and what is left to ask."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.said import Said
from fleetc.adopt.node.host_paths import Folders
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source

CHAIN = (
    "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
    "-ethAcctAddr 0x1111111111111111111111111111111111111111"
)
SELLS = f"-orchestrator -transcoder {CHAIN} -serviceAddr o.example.net:8935 -pricePerUnit 5"
BELOW = ".lpData/arbitrum-one-mainnet"


def adopted(name: str, text: str, folders: Folders | None = None, env: str = "") -> Adopted:
    """Adopt one source, with an environment file beside it."""
    return adopt([Source(name, text), Source("lp/.env", env)], Said(folders=folders or Folders()))


def places(found: Adopted) -> tuple[str, str, Any]:
    """The data directory of the one node, and keystore and password of its wallet."""
    spec = tomllib.loads(found.text)
    (node,) = (spec.get("orchestrators") or spec["gateways"]).values()
    (wallet,) = spec["wallets"].values()
    return node.get("data_dir", ""), wallet["keystore"], wallet["password"].get("host_file")


def questions(found: Adopted) -> list[str]:
    """What the TODO lines are about, but for those that every such node has."""
    lines = [line.removeprefix("# TODO ") for line in found.text.splitlines() if line.startswith("# TODO ")]
    return [
        line
        for line in lines
        if not line.startswith(("address", "node_release", "deposit", "reserve", "node_user", "minimum_balance"))
    ]


@pytest.mark.parametrize(
    ("command", "home"),
    [
        ("ssh root@o1 'livepeer WORDS'", "/root"),
        ("sudo -u lp HOME=/srv/lp livepeer WORDS", "/srv/lp"),
        ("su -c 'livepeer WORDS'", "/root"),
        ("export HOME=/srv/lp\nlivepeer WORDS", "/srv/lp"),
        ("cd /root/livepeer\n./livepeer WORDS", "/root"),
        ("cd /root\nlivepeer WORDS", "/root"),
    ],
)
def test_a_known_home_leaves_no_question(command: str, home: str) -> None:
    found = adopted("start.sh", command.replace("WORDS", f"{SELLS} -ethPassword ~/pw"))
    assert places(found) == (f"{home}/{BELOW}", f"{home}/{BELOW}/keystore", f"{home}/pw")
    assert questions(found) == []


@pytest.mark.parametrize(
    ("before", "path", "asked"),
    [
        ("", "/srv/lp", 'node_user = "livepeer"'),
        ("", "/root/.lpData/x", 'node_user = "root"'),
        ("", "/home/lp/data", 'node_user = "lp"'),
        ("sudo -u lp", "/srv/lp", ""),
        ("", "~/data", ""),  # the question about the home asks for the user too
    ],
)
def test_whose_directories_they_are_is_asked_where_no_source_says_it(before: str, path: str, asked: str) -> None:
    found = adopted("start.sh", f"{before} livepeer {SELLS} -ethPassword /etc/pw -dataDir {path}")
    lines = [line for line in found.text.split("\n") if line.startswith("# TODO node_user")]
    assert len(lines) == bool(asked)
    assert all(line.startswith(f"# TODO {asked}  # who starts orchestrator today?") for line in lines)


@pytest.mark.parametrize("written", ["~/pw", "$HOME/pw", '"${HOME}/pw"', "$(cat ~/pw)", '"$(cat $HOME/pw)"'])
def test_one_question_asks_for_the_home_of_all_paths(written: str) -> None:
    command = f"cd /home/lp/livepeer\n./livepeer {SELLS} -ethPassword {written}"
    found = adopted("start.sh", command)
    assert places(found) == (f"~/{BELOW}", f"~/{BELOW}/keystore", "~/pw")
    (asked,) = questions(found)
    assert asked.startswith("~: in whose home? No source says who starts start.sh: ")
    words = "adopt again with --answers FILE -o FILE (this file) --home /home/lp"
    assert asked.endswith(f'such as /home/lp, and node_user = "lp" here, or {words}')
    assert found.checked is not None
    errors = {d.message for d in found.checked.diagnostics if d.severity is Severity.ERROR}
    assert errors == {"~ stands for no home here"}
    again = adopted("start.sh", command, Folders(homes={"": "/home/lp"}))
    assert places(again) == (f"/home/lp/{BELOW}", f"/home/lp/{BELOW}/keystore", "/home/lp/pw")
    assert tomllib.loads(again.text)["hosts"]["host-1"]["node_user"] == "lp"  # who else could read it
    assert questions(again) == []


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("start.sh", "sudo -u lp -E livepeer WORDS"),
        ("start.sh", "su - lp -c 'livepeer WORDS'"),
        ("crontab", "@reboot lp /opt/lp/livepeer WORDS"),
        ("lp.service", "[Service]\nUser=lp\nExecStart=/usr/bin/livepeer WORDS"),
        ("lp.service", "[Service]\nUser=lp\nExecStart=/bin/sh -c 'livepeer WORDS'"),
    ],
)
def test_the_home_of_a_service_user_is_asked_for(name: str, command: str) -> None:
    command = command.replace("WORDS", f"{SELLS} -ethPassword /etc/pw")
    asked = adopted(name, command)
    assert places(asked) == (f"~/{BELOW}", f"~/{BELOW}/keystore", "/etc/pw")
    (question,) = questions(asked)
    assert question == (
        "~: where is the home of lp? On its host, getent passwd lp shows it: write it for each ~ below, such as "
        "/home/lp, or adopt again with --answers FILE -o FILE (this file) --home /home/lp"
    )
    answered = adopted(name, command, Folders(homes={"": "/var/lib/lp"}))
    assert places(answered)[0] == f"/var/lib/lp/{BELOW}"
    assert questions(answered) == []
    for found in (asked, answered):
        assert tomllib.loads(found.text)["hosts"]["host-1"]["node_user"] == "lp"


def test_a_home_of_another_host_is_not_that_of_this_one() -> None:
    text = f"livepeer {SELLS} -ethPassword /etc/pw"
    other, own = (adopted("start.sh", text, Folders(homes={host: "/home/lp"})) for host in ("other", "host-1"))
    assert places(other)[0] == f"~/{BELOW}"
    assert places(own)[0] == f"/home/lp/{BELOW}"  # as the spec calls the lone host
    source = Source("start.sh", text)
    named = adopt([source], Said(hosts={"start.sh": "orch"}, folders=Folders(homes={"orch": "/home/lp", "": "/x"})))
    assert places(named)[0] == f"/home/lp/{BELOW}"


@pytest.mark.parametrize(
    ("begin", "volume", "path"),
    [
        ("", "/srv/lp:/root/.lpData", "/srv/lp"),
        ("", "lp:/root/.lpData", "/var/lib/docker/volumes/lp/_data"),
        ("", "$HOME/.lpData:/root/.lpData", "~/.lpData"),
        ("D=$HOME/lp\n", "$D:/root/.lpData", "~/lp"),
        ("", "$(pwd)/data:/root/.lpData", "./data"),
        ("cd /opt/lp\n", '"$PWD"/data:/root/.lpData', "/opt/lp/data"),
        ("cd /opt/lp\n", "../data/:/root/.lpData", "/opt/data"),
    ],
)
def test_volumes_of_docker_run_are_where_the_host_has_them(begin: str, volume: str, path: str) -> None:
    text = f"{begin}docker run -v {volume} livepeer/go-livepeer:v0.9.1 {SELLS} -ethPassword /root/.lpData/pw"
    found = adopted("start.sh", text)
    assert places(found) == (f"{path}/arbitrum-one-mainnet", f"{path}/arbitrum-one-mainnet/keystore", f"{path}/pw")
    assert len(questions(found)) == (0 if path.startswith("/") else 1)


def test_a_data_directory_of_a_container_has_no_network_behind_it_when_the_command_names_it() -> None:
    text = f"docker run -v lp:/data livepeer/go-livepeer:v0.9.1 {SELLS} -ethPassword /data/pw -dataDir /data"
    assert places(adopted("start.sh", text))[0] == "/var/lib/docker/volumes/lp/_data"
    numbered = f"docker run --user 1000 -v lp:/.lpData livepeer/go-livepeer:v0.9.1 {SELLS} -ethPassword /.lpData/pw"
    assert places(adopted("start.sh", numbered))[0] == "/var/lib/docker/volumes/lp/_data/arbitrum-one-mainnet"


COMPOSE = f"""\
services:
  orch:
    image: livepeer/go-livepeer:v0.9.1
    command: {SELLS} -ethPassword /root/.lpData/pw
    volumes: [VOLUME]
"""
DOCKER = "/var/lib/docker/volumes"


@pytest.mark.parametrize(
    ("volume", "more", "env", "path"),
    [
        ("'/srv/lp:/root/.lpData'", "", "", "/srv/lp"),
        ("'./data:/root/.lpData'", "", "", "./data"),
        ("'../data:/root/.lpData'", "", "", "./../data"),
        ("'~/data:/root/.lpData'", "", "", "~/data"),
        ("'${HOME}/data:/root/.lpData'", "", "", "~/data"),
        ("{type: bind, source: ./data, target: /root/.lpData}", "", "", "./data"),
        ("'lp:/root/.lpData'", "volumes: {lp: }", "", f"{DOCKER}/<PROJECT>_lp/_data"),
        ("'lp:/root/.lpData'", "name: farm\nvolumes: {lp: {}}", "", f"{DOCKER}/farm_lp/_data"),
        ("'lp:/root/.lpData'", "name: farm", "COMPOSE_PROJECT_NAME=node", f"{DOCKER}/node_lp/_data"),
        ("'lp:/root/.lpData'", "volumes: {lp: {name: kept}}", "", f"{DOCKER}/kept/_data"),
        ("'lp:/root/.lpData'", "volumes: {lp: {external: true}}", "", f"{DOCKER}/lp/_data"),
        ("'lp:/root/.lpData'", "volumes: {lp: {external: {name: old}}}", "", f"{DOCKER}/old/_data"),
        ("'lp:/root/.lpData'", "volumes: {lp: {driver_opts: {type: none, o: bind, device: /mnt/lp}}}", "", "/mnt/lp"),
        ("{type: volume, source: lp, target: /root/.lpData}", "name: farm", "", f"{DOCKER}/farm_lp/_data"),
    ],
)
def test_volumes_of_compose_are_where_the_host_has_them(volume: str, more: str, env: str, path: str) -> None:
    text = COMPOSE.replace("VOLUME", volume) + more
    found = adopted("lp/compose.yaml", text, env=env)
    network = f"{path}/arbitrum-one-mainnet"
    assert places(found) == (network, f"{network}/keystore", f"{path}/pw")
    assert len(questions(found)) == (0 if path.startswith("/") and "<" not in path else 1)


def test_the_folder_of_a_compose_file_answers_paths_and_the_project() -> None:
    volumes = "'./data:/root/.lpData', 'keys:/keys'"
    text = COMPOSE.replace("VOLUME", volumes).replace("/root/.lpData/pw", "/keys/pw")
    asked = adopted("lp/compose.yaml", text)
    assert places(asked)[2] == f"{DOCKER}/<PROJECT>_keys/_data/pw"
    assert asked.checked is not None
    errors = {d.message for d in asked.checked.diagnostics if d.severity is Severity.ERROR}
    assert "this path does not say which Compose project its volume is of" in errors
    (question,) = questions(asked)
    assert question.startswith("folder: where on this host is lp/compose.yaml? Write it for each ./ below, and the ")
    words = "--answers FILE -o FILE (this file) --directory /opt/lp"
    shows = "docker inspect -f '{{json .Mounts}}' $(docker compose ps -q orch) shows"
    assert f"or adopt again with {words}; {shows}" in question
    for folders in (Folders(directories={"": "/srv/My-Node"}), Folders(directories={"lp": "/srv/My-Node", "": "/x"})):
        answered = adopted("lp/compose.yaml", text, folders)
        assert places(answered)[1:] == (
            "/srv/My-Node/data/arbitrum-one-mainnet/keystore", f"{DOCKER}/my-node_keys/_data/pw",
        )  # fmt: skip
        assert questions(answered) == []


def test_a_volume_of_another_driver_is_asked_for() -> None:
    text = COMPOSE.replace("VOLUME", "'lp:/root/.lpData'") + "volumes: {lp: {driver: nfs}}"
    found = adopted("compose.yaml", text)
    assert [line.split()[0] for line in questions(found)] == ["keystore", "password", "data_dir"]


def test_a_directory_that_a_node_does_without_is_no_question() -> None:
    worker = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret /etc/s"
    gateway = "livepeer -gateway -orchAddr o.example.net:8935"
    for command in (worker, gateway):
        found = adopted("start.sh", command)
        assert questions(found) == []
        assert "data_dir" not in found.text
        (node,) = found.nodes
        assert "keeps nothing there that it needs again" in node.reasons["dataDir"]
    models = adopted(
        "start.sh", f"{worker.replace('transcoder', 'aiWorker')} -aiModels text-to-image:stabilityai/sd:true"
    )
    assert 'data_dir = "~/.lpData/offchain"' in models.text


def test_a_question_about_one_of_several_hosts_names_it() -> None:
    texts = {"a.sh": f"livepeer {SELLS} -ethPassword /etc/pw", "b.sh": f"livepeer {SELLS} -dataDir /d -ethPassword /p"}
    found = adopt([Source(name, text) for name, text in texts.items()], Said(hosts={"a.sh": "orch", "b.sh": "edge"}))
    (asked,) = (one for one in questions(found) if "reward_by" not in one)  # nobody says who calls reward
    assert asked.endswith("or adopt again with --answers FILE -o FILE (this file) --home orch=/home/NAME")


LISTS = """\
services:
  orch:
    image: livepeer/go-livepeer:v0.9.1
    command: -orchestrator SELLS -aiModels /root/.lpData/aiModels.json -orchSecret /root/.lpData/s
    ports: ["8935:8935"]
    volumes: [VOLUME]
  worker:
    image: livepeer/go-livepeer:v0.9.1
    command: -aiWorker -orchAddr orch:8935 -orchSecret /root/.lpData/s -aiModels /root/cfg/aiModels.json -nvidia 0
    volumes: ["./ai:/root/cfg", "/srv/w:/root/.lpData"]
"""
SOLD, RUN = (f'[{{"pipeline":"text-to-image","model_id":"a/{name}"}}]' for name in ("sold", "run"))


@pytest.mark.parametrize(
    ("volume", "sources", "sold", "guess"),
    [
        ("./orch:/root/.lpData", {"lp/orch/aiModels.json": SOLD}, "sold", ""),
        ("./orch/aiModels.json:/root/.lpData/aiModels.json", {"lp/orch/aiModels.json": SOLD}, "sold", ""),
        ("/srv/lp/orch:/root/.lpData", {"lp/orch/aiModels.json": SOLD}, "sold", ""),
        ("data:/root/.lpData", {"lp/orch/aiModels.json": SOLD}, "sold", "lp/orch/aiModels.json"),
        ("data:/root/.lpData", {}, "run", "lp/ai/aiModels.json"),
    ],
)
def test_a_file_is_found_through_the_mounts_of_its_container(
    volume: str, sources: dict[str, str], sold: str, guess: str
) -> None:
    text = LISTS.replace("SELLS", SELLS.partition("-transcoder ")[2]).replace("VOLUME", volume)
    files = {"lp/compose.yaml": text, "lp/ai/aiModels.json": RUN, **sources}
    found = adopt([Source(*one) for one in files.items()], Said(folders=Folders(directories={"": "/srv/lp"})))
    spec = tomllib.loads(found.text)
    assert [use["use"] for use in spec["orchestrators"]["orch"]["models"]] == [sold]
    assert [use["use"] for use in spec["ai_workers"]["worker"]["models"]] == ["run"]
    told = [one.message for one in found.diagnostics if one.code == "adopt-file-guessed"]
    said = "is taken for this file by its name alone: today it is in a volume; docker volume inspect says where"
    assert told == ([f"{guess} {said}"] if guess else [])
    where = "/var/lib/docker/volumes/lp_data/_data/aiModels.json"
    words = (
        f"# TODO models: {guess} is taken for its file by the name alone; compare it with the one of the host: {where}"
    )
    assert (words in found.text) is bool(guess)


@pytest.mark.parametrize("listed", [True, False])
def test_models_of_a_container_without_volume_stay_where_the_host_has_them(listed: bool) -> None:
    command = (
        "docker run livepeer/go-livepeer -aiWorker -orchAddr o.example.net:8935 -orchSecret /run/s -nvidia 0 "
        "-aiModels /etc/models.json -aiModelsDir /mnt/nvme/models"
    )
    models = Source("models.json", '[{"pipeline": "text-to-image", "model_id": "a/b", "warm": true}]')
    found = adopt([Source("start.sh", command), *([models] if listed else [])])
    assert 'models_dir = "/mnt/nvme/models"' in found.text
    assert [one for one in found.differences if one.flag == "aiModelsDir"] == []
    (why,) = [one.reason for one in found.differences if one.flag == "dataDir"]
    assert why == "today it is inside the container, and gone with it; the node needs nothing of it again"
    assert listed or "aiModelsDir" in {flag for _, flag in found.waiting}


@pytest.mark.parametrize(
    ("secret", "beside", "reference"),
    [
        ("pw.txt", {}, {"host_file": "/opt/lp/pw.txt"}),
        ("keys/pw.pass", {}, {"host_file": "/opt/lp/keys/pw.pass"}),
        ("orchsecret", {"orchsecret": "hunter2\n"}, {"host_file": "/opt/lp/orchsecret"}),
        ("orchsecret", {}, {"env": "ORCHESTRATOR_PASSWORD"}),
    ],
)
@pytest.mark.parametrize("form", ["start.sh", "start.service"])
def test_secret_that_is_the_name_of_a_file_is_that_file(
    secret: str, beside: dict[str, str], reference: dict[str, str], form: str
) -> None:
    command = f"/usr/bin/livepeer {SELLS} -ethPassword {secret}"
    begin = "cd /opt/lp\n" if form == "start.sh" else "[Service]\nUser=lp\nWorkingDirectory=/opt/lp\nExecStart="
    found = adopt([Source(form, begin + command), *(Source(name, text) for name, text in beside.items())])
    assert tomllib.loads(found.text)["wallets"]["earner"]["password"] == reference
    assert ("adopt-secret-inline" in [one.code for one in found.diagnostics]) is ("env" in reference)


def test_a_home_that_people_name_is_the_same_directory_for_each_path() -> None:
    command = (
        "docker run --network host -v ~/lp:/root/.lpData livepeer/go-livepeer:v0.8.5 -aiWorker -nvidia 0 "
        "-orchAddr o.example.net:8935 -orchSecret /s -aiModels m.json -aiModelsDir ~/models"
    )
    models = Source("m.json", '[{"pipeline": "text-to-image", "model_id": "maker/one"}]')
    found = adopt([Source("start.sh", command), models], Said(folders=Folders(homes={"": "/home/lp"})))
    (change,) = (one for one in found.differences if one.flag == "aiModelsDir")
    assert (change.today, change.compiled) == ("~/models", "/home/lp/models")
    assert change.reason == "it is the same directory, by its whole path"


def test_gpus_that_no_source_says_are_asked_for_by_number() -> None:
    found = adopted("start.sh", f"{SELLS} -nvidia $GPU".replace("-orchestrator", "livepeer -orchestrator", 1))
    assert "TODO gpus = [0]" in found.text


@pytest.mark.parametrize(
    "command",
    ["livepeer -transcoder -nvidia 0 -orchAddr o.example.net:8935 -orchSecret ~/secret.txt",
     "livepeer -transcoder -nvidia 0 -orchAddr o.example.net:8935 -orchSecret ~/secret.txt -dataDir ~/lp",
     "docker run -v ~/lp:/root/.lpData -v ~/secret.txt:/s livepeer/go-livepeer -transcoder -orchAddr o.example.net:1 "
     "-orchSecret /s",
     "docker run -v ~/lp:/lp -v ~/s:/s livepeer/go-livepeer -transcoder -orchAddr o.example.net:1 -orchSecret /s "
     "-dataDir /lp"],
)  # fmt: skip
def test_home_makes_the_same_node_on_the_command_line_as_in_the_spec(command: str) -> None:
    sources = [Source("start.sh", command)]
    asked = tomllib.loads(adopt(sources).text.replace('"~/', '"/home/lp/'))
    said = tomllib.loads(adopt(sources, Said(folders=Folders({"": "/home/lp"}))).text)
    assert asked["transcoders"] == said["transcoders"]


def test_one_host_is_asked_once_for_its_home_and_for_each_folder_of_its_sources() -> None:
    worker = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret ~/pw -dataDir ./data -cliAddr :79{0}"
    sources = [Source(f"lp/start-{name}.sh", worker.format(at)) for at, name in enumerate("abcd", 10)]
    found = adopt([*sources, Source("other/e.sh", worker.format(20))], Said(hosts={one.name: "h" for one in sources}))
    asked = [line for line in found.text.splitlines() if line.startswith(("# TODO ~", "# TODO folder"))]
    assert [line.partition("? ")[0] for line in asked if "/e.sh" not in line] == [
        "# TODO ~: in whose home", "# TODO folder: where on this host are lp/start-a.sh, lp/start-b.sh and 2 more",
    ]  # fmt: skip
    assert "No source says who starts lp/start-a.sh, lp/start-b.sh and 2 more:" in asked[0]
    units = [
        Source(f"{user}.service", f"[Service]\nUser={user}\nExecStart=/usr/bin/{worker.format(at)}\n")
        for at, user in enumerate(("anna", "berta"), 10)
    ]
    text = adopt(units).text
    assert text.count("# TODO ~: where is the home of ") == 2


def test_paths_of_a_bare_process_beside_a_container_are_those_of_the_host() -> None:
    """fleetc makes it a container; today it is none, so nothing of it is inside one."""
    bare = f"livepeer {SELLS} -dataDir /srv/ai -ethPassword /srv/ai/.pass -aiModels m.json".replace("1111 -", "2222 -")
    container = "docker run --name box -v /srv/t:/root/.lpData livepeer/go-livepeer:v0.8.5 -transcoder -orchAddr o:1"
    models = Source("m.json", '[{"pipeline": "upscale", "model_id": "a/b"}]')
    found = adopt([Source("ai.sh", bare), Source("t.sh", f"{container} -orchSecret /s -nvidia 0"), models], Said())
    assert places(found) == ("/srv/ai", "/srv/ai/keystore", "/srv/ai/.pass")
    assert tomllib.loads(found.text)["hosts"]["host-1"]["runtime"] == "docker"
    assert "it runs in a process of the host, and will in a container" in {one.words for one in found.beside}
    assert not any("inside the container" in one.reason for one in found.differences)
    assert not any(line.startswith(("keystore", "password", "models")) for line in questions(found))


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("-ethPassword=$DIR/.pass", "the source says ${DIR}/.pass"),
        ("-ethPassword=$DIR/keys/lp", "the source says ${DIR}/keys/lp"),
        ("-ethPassword=pre$DIR/x", ""),
    ],
)
def test_password_file_in_a_folder_that_no_source_says_is_asked_for(words: str, asked: str) -> None:
    """It is a path and no value, so no variable has it."""
    found = adopted("start.sh", f"livepeer {SELLS} -dataDir /srv/lp {words}")
    (wallet,) = tomllib.loads(found.text)["wallets"].values()
    assert ("password" in wallet) is not bool(asked)
    assert any(line.startswith("password") and line.endswith(asked) for line in questions(found)) is bool(asked)
