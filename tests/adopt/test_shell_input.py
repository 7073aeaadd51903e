"""Texts that scripts give to shells, hosts and files: heredocs, here-strings and pipes, and what is lost of them; files
that they read, and that nobody gave.
"""

from __future__ import annotations

import tomllib

import pytest

from fleetc.adopt.adoption import Adopted, adopt
from fleetc.places.diagnostic import Span
from fleetc.toml.document import Source

NODE = "livepeer -gateway -orchAddr a.example.net:1 -v 6"
WORKER = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -dataDir /srv/lp"
IMAGE = "livepeer/go-livepeer:master"
LOST = "adopt-branch-not-followed"
CHAIN = "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethAcctAddr 0x" + "1" * 40


def adopted(text: str) -> Adopted:
    """Adopt one script."""
    return adopt([Source("start.sh", text)])


def warned(found: Adopted) -> list[int]:
    """The lines at which a command is said to be lost."""
    text = found.sources[0].text
    places = [one.primary.place for one in found.diagnostics if one.code == LOST]
    return sorted(text[: place.start].count("\n") + 1 for place in places if isinstance(place, Span))


@pytest.mark.parametrize(
    ("text", "host", "user"),
    [
        ("ssh root@o1 <<EOF\nNODE\nEOF", "o1", "root"),
        ("ssh lp@o1 <<'EOF'\nnohup NODE &\nEOF", "o1", ""),
        ("ssh o1 'bash -s' <<EOF\nNODE\nEOF", "o1", ""),
        ("ssh root@o1 sudo -u lp bash -s <<-EOF\n\tNODE\n\tEOF", "o1", "lp"),
        ("ssh o1 <<'EOF'\nscreen -dmS orch bash -c \"NODE 2>&1 | tee o.log\"\nEOF", "o1", ""),
        ("bash <<EOF\nNODE\nEOF", "", ""),
        ("bash <<< 'NODE'", "", ""),
        ("cat <<EOF | ssh o1 bash\nNODE\nEOF", "o1", ""),
        ("echo 'NODE' | sudo bash", "", ""),
        ("sudo -u lp -i <<EOF\nNODE\nEOF", "", "lp"),
        ("su - lp <<EOF\nNODE\nEOF", "", "lp"),
        ("cat > /opt/lp.sh <<'EOF'\n#!/bin/bash\nNODE\nEOF\nchmod +x /opt/lp.sh; sudo -u lp /opt/lp.sh", "", "lp"),
        ("cat > lp.sh <<'EOF'; bash ./lp.sh\nNODE\nEOF\n", "", ""),
        ("cat > /opt/lp.sh <<'EOF'\nNODE\nEOF\n", "", ""),
        ("cat > /etc/systemd/system/lp.service <<EOF\n[Service]\nUser=lp\nExecStart=NODE\nEOF", "", "lp"),
        (
            "ssh o1 <<'A'\ncat > /etc/systemd/system/lp.service <<B\n[Service]\nUser=lp\nExecStart=NODE\nB\nA",
            "o1",
            "lp",
        ),
        (
            "cat > /u/lp.service <<A\n[Service]\nUser=lp\nExecStart=/opt/lp.sh\nA\ncat > /opt/lp.sh <<B\nNODE\nB",
            "",
            "lp",
        ),
        ("cat > /etc/supervisor/lp.conf <<EOF\n[program:lp]\nuser=lp\ncommand=NODE\nEOF", "", "lp"),
        ("timeout -k 5 1h NODE", "", ""),
    ],
)
def test_node_in_a_text_within_a_script_is_found_once_at_its_own_line(text: str, host: str, user: str) -> None:
    found = adopted(text.replace("NODE", NODE))
    (process,) = found.processes
    assert [word.text for word in process.words] == NODE.split()[1:]
    assert (process.host, process.user) == (host, user)
    line = text.split("NODE")[0].count("\n")
    assert process.span.source == "start.sh"
    assert found.sources[0].text[: process.span.start].count("\n") == line
    assert warned(found) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("docker exec -i x bash <<EOF\necho\nNODE\nEOF", [3]),
        ("docker exec -d x NODE", [1]),
        ("ansible all -m shell -a 'NODE'", [1]),
        ("while read l; do :; done <<EOF\nlivepeer -v 6 \\\n  -gateway\nEOF", [2]),
        ("cat > x.conf <<EOF\nrun: NODE\nEOF", [2]),
        ("ssh o1 'cat > /opt/lp.sh' <<EOF\nNODE\nEOF", [2]),
        ("if [ x = y ]; then bash <<EOF\nNODE\nEOF\nfi", [2]),
        ("cat <<EOF\n# NODE\nEOF", []),
        ("echo 'usage: NODE'; pgrep -f 'NODE'", []),
        ("cat <<EOF\nlivepeer_cli -http 7935 -gateway\nEOF", []),
    ],
)
def test_command_of_a_node_that_nothing_reads_is_warned_of_at_its_line(text: str, lines: list[int]) -> None:
    found = adopted(f"{text.replace('NODE', NODE)}\nlivepeer -gateway -orchAddr kept.example.net:1\n")
    assert [node.text("orchAddr") for node in found.nodes] == ["kept.example.net:1"]
    assert warned(found) == lines


def test_another_host_has_no_variables_of_the_script_and_no_files_of_its_own() -> None:
    text = (
        "ORCH=a.example.net:1\nSECRET=$(cat ~/.orchsecret)\ncd /opt\n"
        'ssh root@t1 "livepeer -transcoder -orchAddr $ORCH -orchSecret $SECRET -region $(cat /etc/region)"\n'
        "ssh root@t2 <<'EOF'\n./livepeer -transcoder -orchAddr $ORCH -orchSecret $(cat /etc/s)\nEOF\n"
    )
    found = adopted(text)
    first, second = found.processes
    assert [word.text for word in first.words[2:]] == [
        "a.example.net:1", "-orchSecret", "${SECRET}", "-region", "${REGION}",
    ]  # fmt: skip
    assert second.words[2].holes == ("${ORCH}",)
    assert (second.program, second.directory) == ("./livepeer", "")
    secrets = [table["secret"] for table in tomllib.loads(found.text)["transcoders"].values()]
    assert secrets == [{"env": "SECRET"}, {"host_file": "/etc/s"}]


def test_command_in_a_source_that_is_no_script_is_warned_of() -> None:
    play = "- hosts: all\n  tasks:\n    - shell: nohup livepeer -transcoder -orchAddr a.example.net:1 &\n"
    found = adopt([Source("start.sh", NODE), Source("play.yaml", play)])
    (one,) = [one.primary.place for one in found.diagnostics if one.code == LOST]
    assert isinstance(one, Span)
    assert (one.source, play[one.start : one.end]) == ("play.yaml", "livepeer")


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("source ~/.lpenv\nPRICE=${PRICE:-640}\nNODE $PRICE -maxSessions ${SESSIONS:-30}", False),
        ("[ -f ~/.lpenv ] && . ~/.lpenv\nNODE ${PRICE-640} -maxSessions ${SESSIONS:=30}", False),
        ("PRICE=640\nSESSIONS=30\n. ~/.lpenv || true\nNODE $PRICE -maxSessions $SESSIONS", False),
        ("source ~/.lpenv\ntmux new -d 'NODE ${PRICE:-640} -maxSessions ${SESSIONS:-30}'", False),
        ("source ~/.lpenv\nPRICE=640\nSESSIONS=30\nNODE $PRICE -maxSessions $SESSIONS", True),
        ("NODE ${PRICE:-640} -maxSessions ${SESSIONS:-30}", True),
    ],
)
def test_what_an_unread_file_may_have_set_is_asked_for(text: str, known: bool) -> None:
    """A price that a script falls back to is none that the node has for sure."""
    node = f"./livepeer -orchestrator -transcoder {CHAIN} -serviceAddr o.example.net:8935 -pricePerUnit"
    _asked_or_known(adopt([Source("start.sh", text.replace("NODE", node))]), known)


@pytest.mark.parametrize(
    ("file", "given", "known"),
    [("", [], True), ("/etc/lp.env", [], False), ("-/etc/lp.env", [], False), ("-/etc/lp.env", ["lp.env"], True)],
)
@pytest.mark.parametrize("start", ["", "/bin/sh -c 'exec ", "/opt/start.sh"])
def test_what_an_unread_environment_file_may_have_set_is_asked_for(
    start: str, file: str, given: list[str], known: bool
) -> None:
    file = f"EnvironmentFile={file}\n" if file else ""
    price = "${PRICE:-640}" if start else "${PRICE}"
    words = f"/bin/livepeer -orchestrator -transcoder {CHAIN} -serviceAddr o.example.net:8935 -pricePerUnit {price}"
    command = f"{start}{words}'" if start.endswith("exec ") else start or words
    unit = f"[Service]\nEnvironment=PRICE=640 LP_MAXSESSIONS=30 CUDA_X=1\n{file}ExecStart={command}\n"
    script = [Source("start.sh", f"#!/bin/sh\n{words}\n")] if start == "/opt/start.sh" else []
    found = adopt([Source("orch.service", unit), *script, *(Source(name, "") for name in given)])
    _asked_or_known(found, known)
    assert ('CUDA_X = "1"' in found.text) is known
    assert known or "adopt-file-missing" in {one.code for one in found.diagnostics}


def _asked_or_known(found: Adopted, known: bool) -> None:
    (node,) = tomllib.loads(found.text)["orchestrators"].values()
    assert (node.get("price"), node.get("max_sessions")) == (("640 wei / pixel", 30) if known else (None, None))
    assert ("# TODO price = " in found.text) is not known and ("# TODO max_sessions" in found.text) is not known
    assert known or "640" not in found.text


@pytest.mark.parametrize("commands", ["docker pull {0} && docker rm -f a b", "docker exec -it gw livepeer -version"])
def test_what_docker_is_told_that_starts_no_node_is_no_lost_command(commands: str) -> None:
    said = commands.format(IMAGE)
    page = f"""# Nodes

Update: `{said}`, then again:

```
{WORKER}
```
"""
    script = f'if [ "$1" = "" ]; then\n{said}\nfi\n[ a = b ] && {said}\n{WORKER}\n'
    for name, text in (("NOTES.md", page), ("start.sh", script)):
        assert LOST not in {one.code for one in adopt([Source(name, text)]).diagnostics}, name
    for start in (f"docker run {IMAGE} -gateway -orchAddr a.example.net:8935", "livepeer -gateway -network offchain"):
        for name, text in (("NOTES.md", page.replace(said, start)), ("start.sh", f"[ a = b ] && {start}\n{WORKER}\n")):
            assert LOST in {one.code for one in adopt([Source(name, text)]).diagnostics}, name
