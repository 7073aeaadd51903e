"""The folder of a script, as the script itself asks for it: what is beside it is found there, also on the host."""

from __future__ import annotations

import tomllib

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.adopt.found.said import Said
from fleetc.adopt.node.host_paths import Folders
from fleetc.toml.document import Source

LADDER = '[{"name": "480p", "width": 854, "height": 480, "bitrate": 1600000, "fps": 30, "profile": "h264baseline"}]'
NODE = "livepeer -gateway -network offchain -orchAddr 192.0.2.7:8935 -httpAddr 127.0.0.1:8936"
USES = "-transcodingOptions $DIR/profiles.json -dataDir $DIR/data"


def adopted(script: str, folder: str = "/opt/lp") -> Adopted:
    """Adopt a script with a ladder beside it."""
    return adopt(
        [Source("lp/start.sh", f"#!/bin/bash\n{script}\n"), Source("lp/profiles.json", LADDER)],
        Said(folders=Folders(directories={"": folder} if folder else {})),
    )


@pytest.mark.parametrize(
    "folder",
    [
        '"$(dirname "$0")"',
        "$(dirname $0)",
        "`dirname $0`",
        '$(dirname "${BASH_SOURCE[0]}")',
        '$(dirname -- "${BASH_SOURCE[0]:-$0}")',
        '"$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"',
        '$(cd -- "$( dirname -- "$0" )" &> /dev/null && pwd -P)',
        "$(cd $(dirname $0) >/dev/null 2>&1; pwd)",
        '"$(dirname "$(readlink -f "$0")")"',
        '$(dirname $(realpath "$BASH_SOURCE"))',
        '$(realpath "$(dirname "$0")")',
    ],
)
def test_a_path_from_the_folder_of_the_script_is_found_there(folder: str) -> None:
    spec = tomllib.loads(adopted(f"DIR={folder}\n$DIR/{NODE} {USES}").text)
    (node,) = spec["gateways"].values()
    assert node["data_dir"] == "/opt/lp/data"
    assert spec["ladders"][node["ladder"]]["profiles"][0]["height"] == 480
    assert [host["binary"] for host in spec["hosts"].values()] == ["/opt/lp/livepeer"]


@pytest.mark.parametrize(
    ("script", "data"),
    [
        ('cd "$(dirname "$0")"\n./NODE -dataDir data', "/opt/lp/data"),
        ('DIR=$(dirname "$0")\ncd "$DIR"\nNODE USES', "/opt/lp/data"),
        ('DIR=$(dirname "$0")\ncd -P -- "$DIR" || exit 1\nNODE USES', "/opt/lp/data"),
        ('FILE=$(readlink -f "$0")\nDIR=$(dirname "$FILE")\nNODE USES', "/opt/lp/data"),
        ('DIR=$(cd "$(dirname "$0")/.." && pwd)\nNODE USES', "/opt/data"),
        ('cd "$(dirname "$0")/.."\n./NODE -dataDir data', "/opt/data"),
        ('DIR=$(dirname "$0")\ncd "$DIR/../etc"\nNODE -dataDir ./data', "/opt/etc/data"),
        ('DIR=$(dirname "$0")\nARGS=(USES)\nNODE "${ARGS[@]}"', "/opt/lp/data"),
    ],
)
def test_the_folder_is_followed_through_variables_and_directories(script: str, data: str) -> None:
    found = adopted(script.replace("NODE", NODE).replace("USES", USES))
    (node,) = tomllib.loads(found.text)["gateways"].values()
    assert node["data_dir"] == data


@pytest.mark.parametrize(
    "script",
    [
        'DIR=$(dirname "$0")\ncd /srv/other\nNODE USES',
        'cd "$SOMEWHERE"\nDIR=$(dirname "$0")\nNODE USES',
        'DIR=$(dirname "$OTHER")\nNODE USES',
        'DIR=$(cd "$(dirname "$0")" && ls)\nNODE USES',
        'DIR=$(dirname "$0")\ncat > /etc/systemd/system/lp.service <<EOF\n'
        "[Service]\nWorkingDirectory=/srv\nExecStart=NODE USES\nEOF",
        'DIR=$(dirname "$0")\ndocker run -v $DIR/data:$DIR/data livepeer/go-livepeer:v0.8.5 '
        "-gateway -network offchain -orchAddr 192.0.2.7:8935 USES",
    ],
)
def test_a_folder_that_only_a_running_script_knows_is_asked_for(script: str) -> None:
    found = adopted(script.replace("NODE", NODE).replace("USES", USES))
    (node,) = tomllib.loads(found.text)["gateways"].values()
    assert "data_dir" not in node
    assert "# TODO data_dir" in found.text


def test_a_directory_from_the_folder_of_the_script_is_written_as_a_path_from_there() -> None:
    script = f'cd "$(dirname "$0")/.."\n./bin/{NODE}'
    found = adopted(script, folder="")
    assert tomllib.loads(found.text)["hosts"]["host-1"]["binary"] == "./../bin/livepeer"
    assert "TODO folder" in found.text
    assert "TODO binary" not in found.text
    assert tomllib.loads(adopted(script).text)["hosts"]["host-1"]["binary"] == "/opt/bin/livepeer"


def test_a_mount_from_the_folder_of_the_script_is_there_on_the_host() -> None:
    command = NODE.removeprefix("livepeer ")
    found = adopted(f"docker run -v $(dirname $0)/data:/data livepeer/go-livepeer:v0.8.5 {command} -dataDir /data")
    (node,) = tomllib.loads(found.text)["gateways"].values()
    assert node["data_dir"] == "/opt/lp/data"


def test_one_question_asks_where_the_folder_of_the_script_is() -> None:
    command = (
        "livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -serviceAddr o.example.net:8935 -pricePerUnit 5"
    )
    found = adopted(f'DIR="$(dirname "$0")"\n{command} -dataDir $DIR/data -ethPassword $DIR/pw', folder="")
    (node,) = tomllib.loads(found.text)["orchestrators"].values()
    assert node["data_dir"] == "./data"
    assert found.text.count("TODO folder") == 1


def test_the_directory_of_a_unit_is_not_taken_for_the_folder_of_its_script() -> None:
    unit = "[Service]\nWorkingDirectory=/srv/work\nExecStart=/opt/lp/start.sh\n"
    script = f'#!/bin/bash\nDIR=$(dirname "$0")\n{NODE} -dataDir $DIR/data\n'
    found = adopt([Source("lp/lp.service", unit), Source("lp/start.sh", script)])
    assert "/srv/work" not in found.text


@pytest.mark.parametrize(
    ("cd", "program", "data"),
    [
        ("cd ~/lp", "/home/ann/lp/livepeer", "/home/ann/lp/data"),
        ("cd $HOME/lp && cd bin", "/home/ann/lp/bin/livepeer", "/home/ann/lp/bin/data"),
        ('cd "${HOME}/lp/bin"; cd ..', "/home/ann/lp/livepeer", "/home/ann/lp/data"),
        ("cd; cd ~", "/home/ann/livepeer", "/home/ann/data"),
        ("cd ~/lp; cd ../..", "", "./data"),
        ("cd ~bob/lp", "", "./data"),
        ("cd ~/$X", "", "./data"),
    ],
)
def test_a_script_that_goes_to_a_folder_of_its_callers_home(cd: str, program: str, data: str) -> None:
    command = "./livepeer -orchestrator -network offchain -serviceAddr o.example.net:8935 -dataDir ./data -transcoder"
    source = Source("start.sh", f"{cd}\n{command}\n")
    found = adopt([source], Said(folders=Folders(homes={"": "/home/ann"})))
    (node,) = tomllib.loads(found.text)["orchestrators"].values()
    (host,) = tomllib.loads(found.text)["hosts"].values()
    assert (host.get("binary", ""), node["data_dir"]) == (program, data)
    asked = adopt([source]).text
    assert ("# TODO ~: in whose home?" in asked) is bool(program)
    assert ("# TODO binary" in asked) is not bool(program)
