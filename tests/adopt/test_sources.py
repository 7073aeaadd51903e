"""What a source is, `docker run`, what is named as not followed, trees of fleetc, and reading from a disk."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.library import Library, Said
from fleetc.adopt.read.sources import kind_of
from fleetc.disk import adopting
from fleetc.disk.adopting import read_source_files
from fleetc.disk.manifest import FilesError
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.support import ROOT, fleetc

NODE = "livepeer -gateway -orchAddr a.example.net:1"


def adopted(texts: dict[str, str]) -> Adopted:
    return adopt([Source(name, text) for name, text in texts.items()])


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("run", f"LP_ETHPASSWORD=/root/pw {NODE} extra -monitor\n", "shell"),
        ("node.env", "LP_ETHPASSWORD=/root/pw\nNAME=a livepeer\n", "environment"),
        ("x", "[Service]\nExecStart=/bin/livepeer -gateway\n", "unit"),
        ("x", "cat > a <<EOF\n[Service]\nExecStart=/bin/livepeer -gateway\nEOF\n", "shell"),
        ("a.conf", "gateway\norchAddr a:1\n", "config"),
        ("x", "services:\n  a: {}\n", "compose"),
        ("m.json", '[{"pipeline": "llm"}]', "models"),
        ("m.json", '{"a": 1}', "json"),
        ("launch.flags", "-gateway\n", "flags"),
    ],
)
def test_what_a_source_is_shows_in_its_text(name: str, text: str, kind: str) -> None:
    assert kind_of(Source(name, text)) == kind


PROGRAMS = {
    "a Kubernetes manifest": (
        "a.yaml",
        "kind: Pod\napiVersion: v1\nspec: {containers: [{image: livepeer/go-livepeer}]}\n",
    ),
    "an Ansible playbook": ("site.yml", f"---\n# a\n- hosts: all\n  tasks:\n    - shell: {NODE}\n"),
    "an Ansible inventory": ("hosts.ini", "[nodes]\ngpu ansible_host=192.0.2.9 livepeer=1\n"),
    "a configuration of supervisor": ("lp.conf", f"[supervisord]\n[program:lp]\ncommand={NODE}\n"),
    "a launch file of an editor": (".vscode/launch.json", '{"configurations": [{"program": "livepeer"}]}'),
    "a page of notes": ("NOTES.md", f"```\n{NODE}\n```\n"),
    "a crontab": ("cron.txt", f"MAILTO=x\n@reboot lp {NODE}\n"),
    "a template": ("lp.service", "[Service]\nExecStart={{ bin }} -gateway # livepeer\n"),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_is_no_source_any_more_is_named_at_its_line_with_two_ways_out(what: str) -> None:
    name, text = PROGRAMS[what]
    found = adopted({name: text, "a.sh": NODE})
    (item,) = [one for one in located(found) if one.diagnostic.code == "adopt-branch-not-followed"]
    assert item.diagnostic.message == f"fleetc does not follow {what}"
    assert "--from NAME=ADDRESS" in item.diagnostic.help and "ps -ww -o args=" in item.diagnostic.help
    assert (item.primary.file, item.primary.line) == (name, text[: text.index("livepeer")].count("\n") + 1)
    assert len(found.nodes) == 1 and found.unused == (name,)
    harmless = adopted({name: text.replace("livepeer", "other"), "a.sh": NODE})
    assert harmless.diagnostics == () and harmless.unused == (name,)


def test_a_text_in_which_a_node_may_start_is_never_passed_over_in_silence() -> None:
    text = f"services:\n  x:\n    image: other\n    command: start {NODE}\n"
    found = adopted({"x.json": f'{{"command": "{NODE}"}}', "compose.yaml": text})
    assert "adopt-branch-not-followed" in {d.code for d in found.diagnostics if d.severity is not Severity.NOTE}


def test_options_of_docker_run_are_those_of_a_container() -> None:
    text = (
        "docker run -dit --name=lp --net host -u 1000 -v /srv:/data:ro --mount type=bind,source=/k,target=/k "
        "-p 127.0.0.1:9935:8935/tcp --env-file node.env -e LP_V=7 --env OWN --memory 4g --label a=b --rm "
        "--log-opt splunk-token=Vk7pQm2TzX livepeer/go-livepeer:v0.9.1 -gateway -orchAddr a.example.net:1\n"
    )
    found = adopted({"a.sh": text, "node.env": "LP_V=6\nLP_MAXSESSIONS=3\n"})
    process = found.nodes[0].process
    assert (process.name, process.network, process.user, process.container) == ("lp", "host", "1000", "lp")
    assert [(one.inside, one.outside) for one in process.mounts] == [("/data", "/srv"), ("/k", "/k")]
    assert [(one.address, one.port, one.inside) for one in process.published] == [("127.0.0.1", 9935, 8935)]
    assert {name: word.text for name, word in process.variables.items()} == {
        "LP_V": "7", "LP_MAXSESSIONS": "3", "OWN": "${OWN}",
    }  # fmt: skip
    left = {entry.shown for entry in found.entries if entry.words == "fleetc decides how containers run"}
    assert left >= {"--memory", "--label", "--rm", "--log-opt"}
    assert "Vk7pQm2TzX" not in repr((found.text, found.entries))


@pytest.mark.parametrize(
    ("texts", "listed", "nodes"),
    [
        ({"a.conf": "gateway\norchAddr a:1\n"}, True, ["a.conf"]),
        ({"a.env": "LP_GATEWAY=true\nLP_ORCHADDR=a:1\n"}, True, ["a.env"]),
        ({"a.conf": "gateway\norchAddr a:1\n", "b.sh": NODE}, False, ["a.conf", "b.sh"]),
        ({"a.conf": "gateway\norchAddr a:1\n", "b.sh": NODE}, True, ["b.sh"]),
        ({"a.conf": "gateway\norchAddr a:1\n", "b.sh": "livepeer -config=/etc/a.conf"}, False, ["b.sh"]),
        ({"a.env": "LP_GATEWAY=true\n", "compose.yml": "services:\n  g: {image: livepeer/livepeer, profiles: [x]}\n"},
         True, []),
    ],
)  # fmt: skip
def test_a_file_that_no_command_names_starts_only_where_nothing_else_could(
    texts: dict[str, str], listed: bool, nodes: list[str]
) -> None:
    found = adopt([Source(*one) for one in texts.items()], Said(listed=texts.keys() if listed else ()))
    assert sorted(process.span.source for process in found.processes) == nodes


def test_a_path_means_the_source_that_ends_alike_and_is_near() -> None:
    library = Library({name: Source(name, "") for name in ("a/etc/x.env", "b/etc/x.env", "b/x.env", "y.env")})
    wanted = {("/etc/x.env", "a/u.service"): "a/etc/x.env", ("/etc/x.env", "c/u"): None, ("x.env", "b/u"): "b/x.env",
              ("/opt/y.env", "b/u"): "y.env", ("/none", "b/u"): None, ("", "b/u"): None}  # fmt: skip
    got = {key: library.find(*key) for key in wanted}
    assert {key: source and source.name for key, source in got.items()} == wanted


# --------------------------------------------------------------------------------------------- trees and disks


def test_a_tree_is_read_where_it_is_named_and_passed_over_in_a_folder(tmp_path: Path) -> None:
    tree = ROOT / "inventories/two-regions/rendered"
    files = read_source_files(str(tree))
    assert {Path(source.name).relative_to(tree).parts[0] for source in files.sources} == {"hosts", "ansible"}
    found = adopt(files.sources)
    hosts = tomllib.loads(found.text)["hosts"]
    given = tomllib.loads((tree.parent / "fleet.toml").read_text())["hosts"]
    assert {name: host["address"] for name, host in hosts.items()} == {
        name: host["address"] for name, host in given.items()
    }
    assert {node.host for node in found.nodes} <= hosts.keys()
    assert not [d for d in found.diagnostics if d.code == "adopt-branch-not-followed"]
    (tmp_path / "a.sh").write_text(NODE)
    (tmp_path / "tree").symlink_to(tree)
    assert [source.text for source in read_source_files(str(tmp_path)).sources] == [NODE]
    with pytest.raises(FilesError, match="two-regions/rendered: fleetc compiled it from a spec"):
        read_source_files(str(tree.parent))


def test_of_a_folder_what_was_not_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(NODE)
    (tmp_path / "b.sh").write_bytes(b"\xff\xfe")
    (tmp_path / "c.sh").write_text("\0")
    os.mkfifo(tmp_path / "d.sh")
    done = fleetc("adopt", ".", cwd=tmp_path)
    assert done.returncode == 0 and "passed over b.sh: b.sh is not UTF-8" in done.stderr
    assert "passed over c.sh: c.sh has a NUL character" in done.stderr


@pytest.mark.parametrize("limit", ["_MOST_CHARACTERS", "_MOST_FILES"])
def test_a_folder_with_too_much_is_refused(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.sh", "b.sh"):
        (tmp_path / name).write_text(NODE)
    assert len(read_source_files(str(tmp_path)).sources) == 2
    monkeypatch.setattr(adopting, limit, 1)
    with pytest.raises(FilesError, match="has more than"):
        read_source_files(str(tmp_path))


def test_a_folder_that_nobody_may_read_is_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    real = Path.iterdir

    def closed(path: Path) -> object:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "iterdir", closed)
    with pytest.raises(FilesError, match="closed cannot be read: Permission denied"):
        read_source_files(str(tmp_path))
