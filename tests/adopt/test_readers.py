"""What the readers make of sources: shell scripts, docker run, Compose files, units, and inventories."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.said import Said
from fleetc.adopt.read.sources import kind_of
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity, Span
from fleetc.toml.document import Source
from tests.adopt.support import answered, meanings
from tests.support import fleetc


def adopted(**texts: str) -> Adopted:
    """Adopt texts by file name, with __ for a dot and ___ for a slash."""
    return adopt([Source(name.replace("___", "/").replace("__", "."), text) for name, text in texts.items()])


def codes(found: Adopted) -> list[str]:
    """The codes of all messages."""
    return [d.code for d in found.diagnostics]


def words(text: str) -> list[str]:
    """The words of the one node of a script."""
    (process,) = adopted(start__sh=text).processes
    return [word.text for word in process.words]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("livepeer -gateway \\\n  -v 6", ["-gateway", "-v", "6"]),
        ("sudo -u lp nohup /usr/bin/livepeer -gateway -v '6' > log 2>&1 &", ["-gateway", "-v", "6"]),
        ('V=6\nlivepeer -gateway -v "$V"', ["-gateway", "-v", "6"]),
        ("livepeer -gateway -v ${V:-6} -region '${R}'", ["-gateway", "-v", "6", "-region", "${R}"]),
        ("ARGS=(-gateway -v 6)\nARGS+=(-monitor)\nlivepeer \"${ARGS[@]}\"", ["-gateway", "-v", "6", "-monitor"]),
        ('A="-gateway"\nA="$A -v 6"\nlivepeer $A', ["-gateway", "-v", "6"]),
        ("sh -c 'cd /x && exec livepeer -gateway -v 6'", ["-gateway", "-v", "6"]),
        ("if [ \"$1\" = x ]; then echo; fi\nlivepeer -gateway", ["-gateway"]),
        ("D=no\nif [ $D = no ]; then livepeer -gateway; else livepeer -redeemer; fi", ["-gateway"]),
        ("start() {\n  livepeer -gateway\n}\nstart", ["-gateway"]),
        ("screen -dmS gw /usr/bin/livepeer -gateway -v 6", ["-gateway", "-v", "6"]),
        ('screen -S gw -dm bash -c "livepeer -gateway -v 6"', ["-gateway", "-v", "6"]),
        ('tmux new-session -d -s gw "livepeer \\\n -gateway -v 6 2>&1 | tee log"', ["-gateway", "-v", "6"]),
        ("tmux send-keys -t gw 'livepeer -gateway -v 6' C-m", ["-gateway", "-v", "6"]),
        ("tmux ls; tmux; screen -r\nlivepeer -gateway", ["-gateway"]),
        ("A=(one two)\nI=1\nlivepeer -gateway -region ${A[1]}-${A[$I]}-$A", ["-gateway", "-region", "two-two-one"]),
        ("A=(one)\nlivepeer -gateway -region ${A[7]}", ["-gateway", "-region", "${A[7]}"]),
        ("N=3\nlivepeer -gateway -v $((2*(N+1) - 7/2 % 2))", ["-gateway", "-v", "7"]),
        ("livepeer -gateway -region $((1 / 0)) -v $((X+1))", ["-gateway", "-region", "$((1/0))", "-v", "$((X+1))"]),
        ("for v in 6; do livepeer -gateway -v $v; done", ["-gateway", "-v", "6"]),
        ("for f in *.sh $X; do livepeer -gateway -region $f; done", ["-gateway", "-region", "${f}"]),
        ("./renamed-node -gateway -orchAddr a:1 -v 6", ["-gateway", "-orchAddr", "a:1", "-v", "6"]),
    ],
)  # fmt: skip
def test_shell_words_are_those_of_a_shell(text: str, wanted: list[str]) -> None:
    assert words(text) == wanted


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("for i in 0 1 2", ["0", "1", "2"]),
        ("for i in {3..1}", ["3", "2", "1"]),
        ("for i in $(seq 2)", ["1", "2"]),
        ("for i in a{8..9} b", ["a8", "a9", "b"]),
        ("for i in 0 1; do\n for j in 5 6", ["0", "0", "1", "1"]),
        ("if [ x = x ]; then :; fi; for i in 0 1; do while false; do done; done; for i in 7 8", ["7", "8"]),
    ],
)
def test_loop_over_known_words_starts_a_node_for_each(header: str, wanted: list[str]) -> None:
    loops = header.count("for") - header.count("while")
    closed = "\ndone" * (1 if header.startswith("if") else loops)
    found = adopted(start__sh=f"{header}; do\n  # a comment\n  livepeer -gateway -region $i -orchAddr a:1 &{closed}\n")
    assert [node.text("region") for node in found.nodes] == wanted
    assert all(not node.word("region").holes for node in found.nodes)


def test_function_of_a_script_starts_a_node_for_each_call() -> None:
    text = (
        "start_t() {\n  local port=$((6935 + $1))\n  { livepeer -transcoder -orchAddr $2 -orchSecret /s -nvidia $1 "
        "-cliAddr 127.0.0.1:$port -maxSessions ${3:-8} -dataDir /d/$1; }\n}\nother()\n{ livepeer -gateway -orchAddr "
        "$1; }\nstart_t 0 a.example.net:1\nfor i in 1 2; do start_t $i b.example.net:2 12; done\n"
    )
    found = adopted(start__sh=text)
    flags = ("nvidia", "orchAddr", "cliAddr", "maxSessions")
    assert [tuple(node.text(flag) for flag in flags) for node in found.nodes if node.role == "transcoder"] == [
        ("0", "a.example.net:1", "127.0.0.1:6935", "8"), ("1", "b.example.net:2", "127.0.0.1:6936", "12"),
        ("2", "b.example.net:2", "127.0.0.1:6937", "12"),
    ]  # fmt: skip
    (gateway,) = [node for node in found.nodes if node.role == "gateway"]  # nobody calls it here, but somebody may
    assert gateway.word("orchAddr").holes == ("$1",)


def test_function_that_calls_itself_ends() -> None:
    found = adopted(start__sh="a() {\n livepeer -gateway -orchAddr a:1\n a; a\n}\na\n")
    assert 0 < len(found.processes) < 5000


def test_loops_that_repeat_very_often_are_not_followed() -> None:
    text = "".join(f"for i{n} in {{1..200}}; do\n" for n in range(8)) + "livepeer -gateway -orchAddr a:1 -region $i0\n"
    found = adopted(start__sh=text + "done\n" * 8)
    assert 0 < len(found.processes) < 2000


def test_nodes_of_a_script_are_called_as_their_terminals_or_roles_are() -> None:
    worker = "livepeer -transcoder -orchAddr o.example.net:8935 -orchSecret $(cat /root/secret) -dataDir /d/"
    text = f"screen -dmS fast {worker}1\ntmux new -d -s slow '{worker}2'\n{worker}3\n{worker}4\n"
    found = adopted(start_transcoders__sh=text)
    assert [node.name for node in found.nodes] == ["fast", "slow", "transcoder", "transcoder-2"]
    workers = tomllib.loads(found.text)["transcoders"].values()
    assert [worker["secret"] for worker in workers] == [{"host_file": "/root/secret"}] * 4


def test_nothing_of_a_script_is_run(tmp_path: object) -> None:
    found = adopted(start__sh=f"livepeer -gateway -region $(touch {tmp_path}/x) -orchAddr `touch {tmp_path}/y`:1")
    assert list(tmp_path.iterdir()) == []  # type: ignore[attr-defined]  # the fixture is a path
    assert {"selection.performance_region", "orchestrators"} <= {question.key for question in found.questions}


def test_words_behind_a_bare_word_are_reported_as_ignored() -> None:
    found = adopted(start__sh="livepeer -gateway -reward false -monitor -orchAddr a:1")
    (ignored,) = [d for d in found.diagnostics if d.code == "adopt-words-ignored"]
    assert ignored.message.startswith("-reward takes no word behind it, so it is on")
    assert "monitor" not in found.text


@pytest.mark.parametrize(
    ("command", "user"),
    [
        ("sudo -u lp nohup NODE", "lp"),
        ("sudo -n -ulp NODE", "lp"),
        ("sudo --user=lp -- NODE", "lp"),
        ("runuser -u lp -- NODE", "lp"),
        ("su - lp -c 'NODE'", "lp"),
        ("su lp -s /bin/bash -c 'NODE'", "lp"),
        ("su -c 'NODE' lp", "lp"),
        ("su -c 'NODE'", "root"),
        ("@reboot lp NODE", "lp"),
        ("0 4 * * 1-5 lp nohup NODE", "lp"),
        ("@reboot NODE", ""),
        ("@reboot sudo -u lp NODE", "lp"),
        ("sudo -u lp bash -c 'NODE'", "lp"),
        ("sudo NODE", ""),
        ("NODE -v 6", ""),
        ("sudo -u $WHO NODE", ""),
    ],
)
def test_user_whom_a_command_names_is_that_of_the_node(command: str, user: str) -> None:
    found = adopted(start__sh=command.replace("NODE", "/usr/local/bin/livepeer -gateway -orchAddr a.example.net:1"))
    (node,) = found.nodes
    assert node.process.user == user
    assert (f'node_user = "{user}"' in found.text) == bool(user)


@pytest.mark.parametrize("written", ["$IP:8935", "${IP}:8935", '"$IP:8935"'])
def test_what_a_command_would_print_is_one_value_however_it_is_quoted(written: str) -> None:
    command = f"livepeer -orchestrator -serviceAddr {written} -maxSessions 7"
    found = adopted(start__sh=f"IP=$(curl -s ifconfig.me)\n{command}\n")
    (node,) = found.nodes
    assert (node.text("serviceAddr"), node.text("maxSessions")) == ("$(curl -s ifconfig.me):8935", "7")
    assert '# TODO service = "..."  # the source says $(curl -s ifconfig.me):8935' in found.text
    assert "adopt-flag-unknown" not in codes(found)


def test_variable_that_only_branches_set_takes_nothing_of_what_follows() -> None:
    text = "if [ -f /x ]; then N=5; else N=6; fi\n[ -n \"$D\" ] && MORE='-v 6'\n"
    found = adopted(start__sh=text + "livepeer -gateway -maxSessions $N -orchAddr a.example.net:1 $MORE -region x")
    (node,) = found.nodes
    assert (node.text("orchAddr"), node.text("region")) == ("a.example.net:1", "x")
    assert '# TODO max_sessions = "..."  # the source says ${N}' in found.text
    assert any("which flags ${MORE} stands for" in d.message for d in found.diagnostics)
    assert "adopt-words-ignored" not in codes(found)


@pytest.mark.parametrize(
    "text",
    [
        "su - lp -c 'NODE -v 6'", "su lp -s /bin/bash -c \"cd /tmp && NODE\"",
        "runuser -l lp -c 'NODE'", "runuser -u lp -- NODE",
        "sudo -u x env A=b numactl --cpunodebind=0 -m 0 NODE", "taskset -c 0-3 NODE", "systemd-run --unit=a NODE",
        "MAILTO=x\n@reboot NODE >> /var/log/livepeer.log 2>&1", "0 4 * * 1-5 NODE", "$ sudo NODE", "# a\n$ NODE\n$ ls",
    ],
)  # fmt: skip
def test_command_is_found_behind_what_starts_it(text: str) -> None:
    (node,) = adopted(start__sh=text.replace("NODE", "/opt/lp/livepeer -gateway -orchAddr a.example.net:1")).nodes
    assert (node.process.program, node.text("orchAddr")) == ("/opt/lp/livepeer", "a.example.net:1")


@pytest.mark.parametrize(
    ("before", "behind"),
    [('tmux new -d -s lp "', '"'), ("sh -c '", "'"), ('sudo bash -c "ls; ', '"'), ("ssh a@b.example.net ", "")],
)  # fmt: skip
def test_words_of_a_text_within_a_script_have_their_own_lines(before: str, behind: str) -> None:
    text = (
        f"D=/srv/some/folder\n{before}LP_X=6 livepeer \\\n  -dataDir $D/two \\\n  -gateway \\\n"
        f"  -orchAddr a.example.net:1 \\\n  -nosuch \\\n  -reward false -region x{behind}\n"
    )
    found = adopted(start__sh=text)
    lines = {(item.diagnostic.code, item.primary.line) for item in located(found)}
    assert {("adopt-words-ignored", 7), ("adopt-flag-unknown", 6), ("adopt-flag-unknown", 2)} <= lines
    (node,) = found.nodes
    place = node.word("orchAddr").span.start
    assert text[place : place + 15] == "a.example.net:1"


NOTES = """# Node's notes

It's `livepeer`. Stop the old one:

```bash
$ docker run -d --name gateway \\
  livepeer/go-livepeer:v0.9.1 \\
  -gateway -orchAddr a.example.net:1
```

1. Check that `curl` isn't there

~~~ console
$ sudo livepeer -orchestrator -serviceAddr b.example.net:8935 -region x
~~~

or by hand

    livepeer -transcoder -orchAddr c.example.net:1 \\
      -orchSecret /s

```yaml
command: livepeer -redeemer
```
livepeer -gateway -orchAddr d.example.net:1

```sh
livepeer -gateway -orchAddr 'e.example.net:1
```
"""


def test_page_of_notes_is_read_by_its_blocks_of_commands() -> None:
    found = adopted(README__md=NOTES)
    assert [(node.role, node.process.span.start) for node in found.nodes] == [
        (role, NOTES.index(text)) for role, text in
        [("gateway", "docker run"), ("orchestrator", "livepeer -orch"), ("transcoder", "livepeer -trans")]
    ]  # fmt: skip
    left_out = [item.primary.line for item in located(found) if item.diagnostic.code == "adopt-branch-not-followed"]
    texts = ("livepeer -redeemer", "livepeer -gateway -orchAddr d", "livepeer -gateway -orchAddr 'e")
    assert left_out == [NOTES[: NOTES.index(text)].count("\n") + 1 for text in texts]
    assert not any(d.severity is Severity.ERROR for d in found.diagnostics)


def test_heading_is_no_command_and_an_example_with_dots_is_passed_over() -> None:
    page = """# livepeer - how I run it
```
livepeer -orchestrator -transcoder -pricePerUnit 1100 ...
livepeer -transcoder -orchAddr c.example.net:1 -orchSecret /s
```
"""
    found = adopted(README__md=page)
    assert [node.role for node in found.nodes] == ["transcoder"]
    told = [item.primary.line for item in located(found) if item.diagnostic.code == "adopt-branch-not-followed"]
    assert told == [3]
    alone = adopted(README__md=page.replace("livepeer -transcoder -orchAddr", "echo"))
    assert [node.role for node in alone.nodes] == ["orchestrator"]


@pytest.mark.parametrize(
    ("before", "program", "line"),
    [
        ("cd /opt/lp/", "./livepeer", 'binary = "/opt/lp/livepeer"'),
        ("cd /opt; cd lp && (cd /tmp; ls);", "bin/../livepeer", 'binary = "/opt/lp/livepeer"'),
        ("D=/opt/lp; cd $D || exit 1;", "./livepeer", 'binary = "/opt/lp/livepeer"'),
        ("", "./livepeer", '# TODO binary = "/path/on/the/host"  # the source starts ./livepeer: where is it on the '
         "host?"),
        ("cd /a; cd $HERE;", "./livepeer", '# TODO binary = "/path/on/the/host"  # the source starts ./livepeer: '
         "where is it on the host?"),
        ("cd /a; if [ -d /b ]; then cd /b; fi;", "./livepeer", '# TODO binary = "/path/on/the/host"  # the source '
         "starts ./livepeer: where is it on the host?"),
        ("/one/livepeer -transcoder -orchAddr a:1 -orchSecret /s;", "/two/livepeer",
         "# TODO binary: some of its nodes run /two/livepeer; a spec has one program for each host"),
    ],
)  # fmt: skip
def test_program_stands_where_the_script_has_gone(before: str, program: str, line: str) -> None:
    found = adopted(a__sh=f"{before}\n{program} -gateway -orchAddr a.example.net:1 -dataDir data")
    assert line in found.text.split("\n")
    assert ('data_dir = "/opt/lp/data"' in found.text) == ("/opt/lp" in line)


@pytest.mark.parametrize(
    "texts",
    [
        {"a.sh": "export LP_EXTRA='-v 6'\nlivepeer -gateway -orchAddr a.example.net:1 $LP_EXTRA"},
        {"a.service": "[Service]\nEnvironment=LP_EXTRA=6\nExecStart=livepeer -gateway -orchAddr a:1 -v ${LP_EXTRA}"},
        {"compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer:${LP_EXTRA:-v0.9.1}\n    env_file: .env\n"
         "    command: -gateway -orchAddr a.example.net:1\n", ".env": "LP_EXTRA=v0.9.0\n"},
        {"compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer\n    env_file: .env\n"
         "    command: -gateway -orchAddr a.example.net:1\nsecrets:\n  s:\n    environment: LP_EXTRA\n",
         ".env": "LP_EXTRA=one\n"},
    ],
)  # fmt: skip
def test_variable_that_the_source_itself_uses_is_no_mistake(texts: dict[str, str]) -> None:
    found = adopt([Source(name, text) for name, text in texts.items()])
    assert found.nodes
    assert "adopt-flag-unknown" not in codes(found)


def test_variable_that_nobody_reads_is_a_mistake() -> None:
    found = adopted(a__sh="export LP_EXTRA=6\nlivepeer -gateway -orchAddr a.example.net:1 -v $LP_EXTRAS")
    assert "adopt-flag-unknown" in codes(found)


def test_word_that_may_be_the_rest_of_a_password_is_not_shown() -> None:
    found = adopted(start__sh="livepeer -orchestrator -ethPassword correct horse-battery -v 6")
    assert "horse" not in repr([d.message for d in found.diagnostics]) + repr([e.shown for e in found.entries])


COMPOSE = """\
x-common: &common
  image: livepeer/go-livepeer:v0.9.1
  volumes: ["/srv/lp:/root/.lpData"]
services:
  orch:
    <<: *common
    command: >
      -orchestrator -transcoder -network ${NETWORK:-offchain}
      -serviceAddr ${PUBLIC}:8935 -nvidia 0
    env_file: node.env
    ports: ["8935:8935", "127.0.0.1:7000:7935"]
  gate:
    <<: *common
    command: ["-gateway", "-orchAddr=https://orch:8935", "-httpAddr=0.0.0.0:8935", "-cliAddr", "gate:5935"]
    profiles: [edge]
    ports: ["9935:8935"]
  redis:
    image: redis
"""


def test_compose_services_become_nodes_on_the_network_of_their_host() -> None:
    found = adopted(compose__yaml=COMPOSE, node__env="LP_MAXSESSIONS=7\n", __env="PUBLIC=orch.example.net\n")
    assert [(node.name, node.role) for node in found.nodes] == [("orch", "orchestrator"), ("gate", "gateway")]
    assert 'service = "orch.example.net:8935"' in found.text
    assert "max_sessions = 7" in found.text
    assert 'orchestrators = ["orch"]' in found.text  # by the name of the container
    assert 'http = "0.0.0.0:9935"' in found.text  # where the host publishes it
    assert 'data_dir = "/srv/lp/offchain"' in found.text
    assert found.checked is not None
    assert found.checked.fleet is None  # two nodes want one data directory, which is a mistake today as well
    assert {d.code for d in found.checked.diagnostics if d.severity is Severity.ERROR} == {"data-dir-used-twice"}


def test_unknown_variable_of_compose_is_asked_about_and_not_guessed() -> None:
    found = adopted(compose__yaml=COMPOSE, node__env="")
    assert "TODO service" in found.text
    assert "${PUBLIC}" in found.text.split("[orchestrators.orch]")[1]
    assert "adopt-value-unknown" in codes(found)


UNIT = """\
[Unit]
Description=my node
[Service]
User=lp
Environment="LP_V=6" HOME=/home/lp
EnvironmentFile=-/etc/livepeer/node.env
ExecStart=/opt/livepeer/livepeer -transcoder \\
  # a comment between
  -orchAddr=${ORCH} -nvidia "0,1" \\
  -orchSecret /etc/livepeer/secret
[Install]
WantedBy=multi-user.target
"""


def test_unit_with_drop_in_and_environment_file() -> None:
    found = adopt(
        [
            Source("etc/livepeer.service", UNIT),
            Source("etc/livepeer.service.d/more.conf", "[Service]\nEnvironment=ORCH=old.example.net:8935\n"),
            Source("etc/livepeer/node.env", "ORCH=orch.example.net:8935\n"),
        ],
        Said(addresses={"gpu-1": "192.0.2.7"}),
    )
    assert found.checked is not None
    assert found.checked.fleet is not None, found.text
    assert found.differences == ()
    worker = found.checked.fleet.transcoders["transcoder"]
    assert (worker.orchestrator, worker.verbosity, worker.data_dir) == (
        "orch.example.net:8935", 6, "/home/lp/.lpData/offchain",
    )  # fmt: skip
    host = found.checked.fleet.hosts["gpu-1"]
    assert (host.node_user, host.binary, str(host.address)) == ("lp", "/opt/livepeer/livepeer", "192.0.2.7")


SECRET = "0123456789abcdefghijklmnopqrstuv"


@pytest.mark.parametrize(
    ("texts", "place"),
    [
        ({"a.service": "[Service]\nEnvironmentFile=/e/a.env\nExecStart=/bin/livepeer -transcoder -orchAddr a.b:1 "
          "-orchSecret ${SECRET}\n", "a.env": f"V=6\nSECRET={SECRET}\n"}, ("a.env", 2)),
        ({"a.sh": f"SECRET={SECRET}\nlivepeer -transcoder -orchAddr a.b:1 -orchSecret $SECRET\n"}, ("a.sh", 1)),
        ({"compose.yaml": "services:\n  t:\n    image: livepeer/go-livepeer\n    command: -transcoder -orchAddr a.b:1 "
          "-orchSecret=${SECRET}\n", ".env": f"SECRET={SECRET}\n"}, (".env", 1)),
    ],
)  # fmt: skip
def test_secret_is_told_where_its_value_stands(texts: dict[str, str], place: tuple[str, int]) -> None:
    found = adopt([Source(name, text) for name, text in texts.items()])
    (told,) = [one for one in located(found) if one.diagnostic.code == "adopt-secret-inline"]
    assert (told.primary.file, told.primary.line, told.primary.hidden) == (*place, True)
    assert "as SECRET" in told.diagnostic.message


@pytest.mark.parametrize(
    ("flag", "text", "line"),
    [
        ("aiModels", '[{"pipeline": "llm", "model_id": "a"},\n{"pipeline": "llm", "price_per_unit": "5"}]', 2),
        ("aiModels", '[{"pipeline": "llm",\n\n}]', 3),
        ("pricePerGateway", '{"gateways": [{"ethaddress": "0x1", "priceperunit": 1, "pixelsperunit": 1},\n\n{}]}', 3),
    ],
)  # fmt: skip
def test_file_that_the_node_refuses_is_told_at_its_own_line(flag: str, text: str, line: int) -> None:
    command = (
        "livepeer -orchestrator -aiWorker -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        f"-serviceAddr o.example.net:8935 -pricePerUnit 1 -{flag} /etc/lp/list.json"
    )
    found = adopted(start__sh=command, list__json=text)
    (told,) = [one for one in located(found) if one.diagnostic.code == "adopt-document-unread"]
    assert (told.primary.file, told.primary.line) == ("list.json", line)


def test_programs_of_supervisord_become_nodes() -> None:
    text = (
        "[supervisord]\nnodaemon=true\n[program:orch]\ncommand=/opt/lp/livepeer -transcoder -nvidia 0 ; a comment\n"
        "  -orchAddr a.example.net:1 -orchSecret '/etc/$s' -region %(ENV_R)s\nuser=lp\ndirectory=/opt/lp\n"
        'environment=LP_V="7",CUDA_VISIBLE_DEVICES="1",A=b\n; no=thing\nstdout_logfile=/var/log/x.log\n'
        "[program:gw]\ncommand=bash -c 'exec livepeer -gateway -orchAddr a.example.net:1'\n[program:x]\ncommand=cat\n"
    )
    found = adopted(lp__conf=text)
    worker, gateway = found.processes
    assert (worker.name, worker.user, worker.directory, worker.program) == ("orch", "lp", "/opt/lp", "/opt/lp/livepeer")
    assert [word.text for word in worker.words][:7] == [
        "-transcoder", "-nvidia", "0", "-orchAddr", "a.example.net:1", "-orchSecret", "/etc/$s",
    ]  # fmt: skip
    assert worker.words[-1].holes == ("%(ENV_R)s",)
    assert text[worker.words[4].span.start :].startswith("a.example.net:1")
    assert {name: word.text for name, word in worker.variables.items()} == {
        "LP_V": "7", "CUDA_VISIBLE_DEVICES": "1", "A": "b",
    }  # fmt: skip
    assert (gateway.name, gateway.words[0].text) == ("gw", "-gateway")
    assert 'node_user = "lp"' in found.text


def test_files_of_a_compose_secret_are_on_the_host() -> None:
    text = (
        "services:\n  t:\n    image: livepeer/go-livepeer:v0.9.1\n    command: -transcoder -orchAddr a.example.net:1 "
        "-orchSecret /run/secrets/word\n    secrets: [word]\nsecrets:\n  word: {{file: {}}}\n"
    )
    assert 'secret = { host_file = "/srv/word" }' in adopted(compose__yaml=text.format("/srv/word")).text
    found = adopted(compose__yaml=text.format("./word")).text
    assert 'secret = { host_file = "./word" }' in found
    assert "# TODO folder: where on this host is compose.yaml? Write it for each ./ below, or adopt again" in found


def test_sources_beside_those_of_a_named_host_are_elsewhere() -> None:
    command = "livepeer -gateway -orchAddr a.example.net:{0} -dataDir /d/{0}"
    sources = [Source("a.sh", command.format(1)), Source("b.sh", command.format(2))]
    found = adopt(sources, Said(hosts={"a.sh": "edge"}, addresses={"edge": "192.0.2.7"}))
    assert [(node.name, node.host) for node in found.nodes] == [("a", "edge"), ("b", "host-1")]


def test_inventory_says_where_hosts_are() -> None:
    ini = "[nodes]\ngpu-1 ansible_host=192.0.2.9 ansible_user=deploy ansible_port=2222\n[nodes:vars]\nx=1\n"
    found = adopt(
        [Source("inventory.ini", ini), Source("hosts/gpu-1/x/run.sh", "livepeer -gateway -orchAddr a.example.net:1")]
    )
    assert found.checked is not None
    assert found.checked.fleet is not None, found.text
    host = found.checked.fleet.hosts["gpu-1"]
    assert (str(host.address), host.ssh_user, host.ssh_port) == ("192.0.2.9", "deploy", 2222)


MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: orch}
data:
  LP_MAXSESSIONS: "9"
  aiModels.json: |
    [{"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", "warm": true}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: orch}
spec:
  template:
    spec:
      hostNetwork: true
      nodeSelector: {kubernetes.io/hostname: gpu-7}
      volumes:
        - {name: data, hostPath: {path: /srv/orch}}
        - {name: config, configMap: {name: orch}}
      containers:
        - name: node
          image: livepeer/go-livepeer:v0.9.1
          args: ["-orchestrator", "-aiWorker", "-transcoder", "-serviceAddr=$(PUBLIC):8935", "-orchSecret=$(SECRET)",
                 "-aiModels=/config/aiModels.json", "-dataDir=/data"]
          envFrom: [{configMapRef: {name: orch}}]
          env:
            - {name: PUBLIC, value: orch.example.net}
            - name: SECRET
              valueFrom: {secretKeyRef: {name: orch, key: secret}}
          volumeMounts:
            - {name: data, mountPath: /data}
            - {name: config, mountPath: /config}
        - {name: exporter, image: prom/node-exporter}
---
apiVersion: v1
kind: Service
metadata: {name: orch}
"""


def test_manifest_with_a_config_map_and_a_secret() -> None:
    found = adopted(orch__yaml=MANIFEST)
    (node,) = found.nodes
    assert (node.name, node.host, node.text("maxSessions")) == ("orch", "gpu-7", "9")
    assert 'data_dir = "/srv/orch"' in found.text
    assert 'service = "orch.example.net:8935"' in found.text
    assert 'secret = { env = "SECRET" }' in found.text
    assert 'models = [{ use = "sd-turbo", warm = true }]' in found.text


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
    - name: n
      image: livepeer/go-livepeer:v0.9.1
      env: [{{name: {variable}, valueFrom: {{secretKeyRef: {{name: {secret}, key: rpc}}}}}}]
      args: [{role}, -network=arbitrum-one-mainnet, -ethAcctAddr=0x{account}{address}]
"""


@pytest.mark.parametrize(("secret", "differs"), [("chain", False), ("other", True)])
def test_one_key_of_a_secret_is_one_reference_whatever_its_variable(secret: str, differs: bool) -> None:
    seller, buyer = "-orchestrator, -serviceAddr=o.example.net:8935, -pricePerUnit=1", "-gateway, -maxPricePerUnit=5"
    orch = POD.format(name="o", variable="LP_ETHURL", secret="chain", role=seller, account="1" * 40, address="")
    gate = POD.format(
        name="g", variable="RPC_URL", secret=secret, role=buyer, account="2" * 40, address=', "-ethUrl=$(RPC_URL)"'
    )
    found = adopted(pods__yaml=f"{orch}---\n{gate}")
    assert 'rpc = { env = "RPC_URL" }' in found.text
    assert ("a host has one RPC address" in found.text) is differs


PODS = """\
apiVersion: v1
kind: Secret
metadata: {name: keys}
data: {eth-password: c2VjcmV0LW9mLXRoZS1nYXRl}
---
apiVersion: v1
kind: Service
metadata: {name: sells, namespace: video}
spec: {selector: {app: orch}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: orch}
spec:
  template:
    metadata: {labels: {app: orch, tier: one}}
    spec:
      containers:
        - image: livepeer/go-livepeer:v0.9.1
          args: ["-orchestrator", "-transcoder", "-serviceAddr=o.example.net:8935", "-region=$(POD)", "-dataDir=/d"]
          env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
          volumeMounts: [{name: data, mountPath: /d}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: disk}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: gate}
spec:
  template:
    spec:
      containers:
        - image: livepeer/go-livepeer:v0.9.1
          args: ["-gateway", "-orchAddr=https://sells.video.svc.cluster.local:8935", "-httpAddr=0.0.0.0:8935",
                 "-dataDir=/d", "-authWebhookUrl=$(HOOK)"]
          env: [{name: HOOK, value: "http://auth.example.net"}]
          volumeMounts: [{name: data, mountPath: /d}]
  volumeClaimTemplates: [{metadata: {name: data}}]
"""


def test_pods_reach_each_other_by_services_and_listen_as_their_commands_say() -> None:
    found = adopted(pods__yaml=PODS)
    spec = tomllib.loads(found.text)
    assert spec["gateways"]["gate"]["orchestrators"] == ["orch"]
    assert spec["gateways"]["gate"]["http"] == "0.0.0.0:8935"
    assert "environment" not in found.text
    assert "today it is in the volume claim disk" in found.text
    assert "today it is in the volume claim data of a pod" in found.text
    assert [d.message for d in found.diagnostics if d.code == "adopt-secret-inline"] == [
        "the Secret keys stands in this file in clear; base64 hides nothing"
    ]
    assert "c2VjcmV0" not in repr((found.text, [e.shown for e in found.entries]))
    assert all(one.primary.hidden for one in located(found) if one.diagnostic.code == "adopt-secret-inline")


RUNNERS = """\
services:
  orchestrator:
    image: livepeer/go-livepeer:v0.9.1
    command:
      - -orchestrator
      - -useLiveRunners
      - -serviceAddr=o.example.net:8935
      - -httpAddr=0.0.0.0:8935
      - -liveRunnerAddr=https://orchestrator:8935
      - -orchSecret=${ORCH_SECRET:-word}
      - -monitor=false
MORE
    volumes: ["/srv/runners.json:/config/runners.json:ro", "/srv/orch:/root/.lpData"]
  echo:
    image: registry.example.net/runner-example-echo
    environment: {ORCHESTRATOR: "https://orchestrator:8935"}
"""


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("      - -network=offchain\n", {}),
        ("      - -network=offchain\n      - -liveRunnerConfig=/config/runners.json\n", {
            "live_runner_config": "/srv/runners.json"
        }),
        (
            "      - -network=arbitrum-one-mainnet\n      - -ethUrl=https://rpc.example.net\n"
            "      - -ethAcctAddr=0x1111111111111111111111111111111111111111\n      - -ethPassword=/root/.lpData/word\n"
            "      - -pricePerUnit=0\n      - -ticketEV=1000000000\n      - -maxFaceValue=4000000000000000\n",
            {"wallet": "earner"},
        ),
    ],
    ids=["dynamic", "static", "on a chain"],
)  # fmt: skip
def test_orchestrators_of_live_runners_compile_to_what_they_are(more: str, wanted: dict[str, str]) -> None:
    found = adopted(compose__yaml=RUNNERS.replace("MORE\n", more))
    assert [(node.name, node.role) for node in found.nodes] == [("orchestrator", "orchestrator")]
    text = answered(found.text)
    checked = check_spec([Source("fleet.toml", text)])
    assert checked.fleet is not None, (checked.diagnostics, text)
    spec = checked.fleet.orchestrators["orchestrator"]
    assert (spec.mode, spec.live_runners) == ("ai", True)
    assert {key: getattr(spec, key) for key in wanted} == wanted
    before, after = meanings(found, text, {"/root/.lpData/word": "word"})["orchestrator"]
    reasons = found.nodes[0].reasons
    assert {flag for flag in before.differences(after) if not reasons.get(flag)} == set()


def test_what_many_nodes_have_in_common_is_said_once() -> None:
    text = "".join(
        f"livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/lp/secret -nvidia {i} -maxSessions 9 "
        f"-cliAddr 127.0.0.1:{7000 + i} -dataDir /d/{i}\n"
        for i in range(3)
    )
    found = adopt([Source("start.sh", text)], Said(addresses={"gpu-1": "192.0.2.7"}))
    assert found.text.count("max_sessions") == 1
    assert "[defaults.transcoders]" in found.text
    assert found.checked is not None
    assert found.checked.fleet is not None, found.checked.diagnostics
    assert {t.max_sessions for t in found.checked.fleet.transcoders.values()} == {9}


def test_override_file_lies_over_the_compose_file_beside_it() -> None:
    base = "services:\n  g:\n    image: livepeer/go-livepeer:v0.9.1\n    command: -gateway -orchAddr a.example.net:1\n"
    over = "services:\n  g:\n    environment: {LP_V: '7'}\n    network_mode: host\n    ports: ['1:2']\n"
    found = adopt([Source("x/compose.yaml", base), Source("x/compose.override.yaml", over)])
    (node,) = found.nodes
    assert (node.text("v"), node.process.network) == ("7", "host")
    assert node.word("v").span.source == "x/compose.override.yaml"


@pytest.mark.parametrize(
    "text",
    [
        "set -a\n. ./node.env\nset +a\nlivepeer -gateway -orchAddr $ORCH",
        "source /etc/livepeer/node.env\nlivepeer -gateway -orchAddr ${ORCH}",
        "docker run --network host --env-file node.env livepeer/go-livepeer:v0.9.1 -gateway -orchAddr a.example.net:1",
    ],
)
def test_scripts_read_the_environment_files_that_are_sources(text: str) -> None:
    found = adopt([Source("start.sh", text), Source("node.env", "ORCH=a.example.net:1\nLP_V=7\n")])
    (node,) = found.nodes
    assert (node.text("v"), node.text("orchAddr")) == ("7", "a.example.net:1")


def test_command_over_ssh_is_on_that_host() -> None:
    text = (
        'ssh -p 2222 root@worker1 "docker run --net=host livepeer/go-livepeer:v0.9.1 -transcoder -orchAddr a.example:1"'
    )
    (node,) = adopted(start__sh=text).nodes
    assert (node.host, node.role, node.process.network) == ("worker1", "transcoder", "host")


def test_a_command_behind_assignments_is_no_file_of_variables() -> None:
    script = Source("run", "LP_ETHPASSWORD=/root/pw livepeer -gateway -dataDir /data extra -monitor\n")
    assert kind_of(script) == "shell"
    assert kind_of(Source("node.env", "LP_ETHPASSWORD=/root/pw\nNAME=a livepeer\n")) == "environment"


def test_ssh_says_where_people_log_in() -> None:
    node = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/secret"
    found = adopted(start__sh=f"ssh -p 2222 ops@gpu1.example.net '{node}'\nssh -i key gpu2 '{node}'\n")
    hosts = tomllib.loads(found.text)["hosts"]
    assert hosts["gpu1-example-net"]["address"] == "gpu1.example.net"
    assert (hosts["gpu1-example-net"]["ssh_user"], hosts["gpu1-example-net"]["ssh_port"]) == ("ops", 2222)
    assert "address" not in hosts["gpu2"]
    assert "where you log in; a script calls it gpu2" in found.text


def test_flag_with_a_long_name_is_told_though_its_line_has_a_secret() -> None:
    found = adopted(start__sh=f"livepeer -gateway -orchAddr a.b:1 -objectStore=s3://AKIA2E0A8F3B244C9986:{SECRET}@eu/x")
    (told,) = [one for one in located(found) if one.diagnostic.code == "adopt-secret-inline"]
    assert told.diagnostic.message.startswith("the value of -objectStore stands in this file in clear; the spec names ")
    assert SECRET not in repr(told.diagnostic)


def test_address_of_the_chain_is_named_for_the_fleet_although_a_node_has_its_variable() -> None:
    compose = (
        "services:\n  orch:\n    image: livepeer/go-livepeer:v0.9.1\n    env_file: .env\n    command: -orchestrator "
        "-network arbitrum-one-mainnet -ethUrl ${ARB_RPC} -serviceAddr orch.example.net:8935 -pricePerUnit 9\n"
    )
    key = "9f2d4c1b8a7e6d5f4c3b2a1908f7e6d5"
    found = adopt([Source("compose.yml", compose), Source(".env", f"ARB_RPC=https://arb.infura.io/v3/{key}\n")])
    assert tomllib.loads(found.text)["fleet"]["rpc"] == {"env": "ARB_RPC"}
    assert key not in found.text


def test_where_the_output_of_a_node_went_is_in_the_account() -> None:
    node = "livepeer -gateway -orchAddr a.example.net:1"
    found = adopted(start__sh=f"nohup {node} >> /var/log/lp.log 2>&1 &\necho x > /tmp/y\n")
    dropped = [(entry.shown, entry.words) for entry in found.entries if entry.shown.startswith((">", "2>"))]
    log = "what a node of fleetc prints is in the journal of its unit, or docker logs"
    assert dropped == [(">> /var/log/lp.log", log), ("2>&1", log)]


@pytest.mark.parametrize(
    "written", [">& /var/log/lp", ">&/var/log/lp", ">| /var/log/lp", "0<&- &> /var/log/lp", "< /dev/null 2>&-", "2>& 1"]
)
def test_a_redirection_is_no_word_of_a_node(written: str) -> None:
    node = "-network offchain -orchAddr a.example.net:1"
    found = adopted(start__sh=f"nohup livepeer -gateway {written} {node} &\n")
    (process,) = found.processes
    assert [word.text for word in process.words] == ["-gateway", *node.split()]
    assert found.diagnostics == ()


def test_copies_of_a_service_are_said() -> None:
    text = (
        "services:\n  t:\n    image: livepeer/go-livepeer:v0.9.1\n    command: "
        "-transcoder -orchAddr o.example.net:8935 -orchSecret /s\n    MORE\n"
    )
    for more, count in (("scale: 3", 1), ("deploy: {replicas: 2}", 1), ("deploy: {replicas: 1}", 0)):
        found = adopted(compose__yaml=text.replace("MORE", more))
        told = [d.message for d in found.diagnostics if d.code == "adopt-cannot-say"]
        assert len(told) == count
        assert all("times today, and the spec has it once" in message for message in told)


def test_value_of_a_unit_loses_to_its_environment_file() -> None:
    command = "/bin/livepeer -gateway -orchAddr a.example.net:1"
    found = adopt([
        Source("g.service", f"[Service]\nEnvironmentFile=/etc/g.env\nExecStart={command}\n"),
        Source("g.service.d/more.conf", "[Service]\nEnvironment=LP_V=7 LP_MAXSESSIONS=3\n"),
        Source("g.env", "LP_V=5\nLP_MAXSESSIONS=3\n"),
    ])  # fmt: skip
    (lost,) = [one for one in found.diagnostics if one.code == "adopt-setting-overridden"]
    assert lost.message == "systemd does not use this value of LP_V: an environment file comes after it"
    assert lost.primary.place == Span("g.service.d/more.conf", 22, 28)
    assert "verbosity = 5" in found.text


@pytest.mark.parametrize(
    ("branches", "nodes"),
    [
        ('start) up ;;\n restart) "$0" stop; up ;;', 1),
        ("start) up ;;\n stop) kill 7 ;;", 1),
        ("start) for n in 1 2; do up; done ;;\n restart) down; for n in 1 2; do up; done ;;", 2),
    ],
)
def test_a_node_that_two_branches_of_a_case_start_is_one(branches: str, nodes: int) -> None:
    script = "up() {\n docker run -d livepeer/go-livepeer:v0.8.5 -transcoder -orchAddr o.example.net:1\n}\n"
    found = adopted(a__sh=f'{script}case "${{1:-start}}" in\n {branches}\nesac')
    assert len(found.nodes) == nodes


@pytest.mark.parametrize(
    "joining",
    ['$(IFS=,; echo "${ALL[*]}")', '$(IFS="," && printf "%s" "${ALL[*]}")', "$(IFS=',' ; printf '%s' \"${ALL[*]}\")"],
)
def test_items_of_an_array_are_joined_as_the_script_does_it(joining: str) -> None:
    found = adopted(
        a__sh=f"ALL=(\n https://a.example.net:1\n https://b.example.net:1\n)\nLIST={joining}\n"
        'livepeer -gateway -orchAddr "$LIST"'
    )
    assert 'orchestrators = ["https://a.example.net:1", "https://b.example.net:1"]' in found.text


def test_items_that_only_a_running_script_knows_are_not_joined() -> None:
    found = adopted(a__sh='ALL=("$A" b:1)\nlivepeer -gateway -orchAddr "$(IFS=,; echo "${ALL[*]}")"')
    assert "# TODO orchestrators" in found.text


def test_keys_of_a_secret_that_pods_read_as_files_are_references() -> None:
    pod = """apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  nodeSelector: {kubernetes.io/hostname: ber-1}
  containers:
    - name: node
      image: livepeer/go-livepeer:v0.8.8
      args: [ARGS, -orchSecret=/keys/orch-secret]
      volumeMounts: [{name: keys, mountPath: /keys}]
  volumes: [{name: keys, secret: {secretName: lp}}]
"""
    sells = "-orchestrator, -network=offchain, -serviceAddr=o.example.net:8935"
    works = "-transcoder, -orchAddr=o.example.net:8935, -nvidia=0"
    both = "---\n".join(
        pod.replace("ARGS", args).replace("NAME", name) for name, args in (("orch", sells), ("worker", works))
    )
    found = adopted(all__yaml=both)
    assert tomllib.loads(found.text)["orchestrators"]["orch"]["secret"] == {"env": "LP_ORCH_SECRET"}
    assert "TODO secret" not in found.text
    assert "adopt-secrets-differ" not in codes(found)
    chosen = both.replace("secretName: lp}", "secretName: lp, items: [{key: a, path: orch-secret}]}")
    assert "# TODO secret" in adopted(all__yaml=chosen).text


LIBRARY = """#!/bin/bash
PORT=8935
orch() {
  livepeer -orchestrator -network offchain -serviceAddr "$1:$PORT"
}
function worker {
  livepeer -transcoder -orchAddr "$1:$PORT" -nvidia 0 -orchSecret /s
}
"""


def test_functions_of_a_script_that_another_one_reads_are_called() -> None:
    found = adopted(lib__sh=LIBRARY, start__sh='#!/bin/bash\n. "$(dirname "$0")/lib.sh"\norch o.example.net\n')
    assert [(one.table, one.text("serviceAddr")) for one in found.nodes] == [("orchestrators", "o.example.net:8935")]
    (node,) = found.nodes
    assert node.process.span.source == "lib.sh"
    lost = [one for one in located(found) if one.diagnostic.code == "adopt-branch-not-followed"]
    assert [(one.primary.file, one.primary.line) for one in lost] == [("lib.sh", 7)]


def test_a_script_that_nobody_reads_is_read_by_itself() -> None:
    assert len(adopted(lib__sh=LIBRARY).nodes) == 2
    assert (
        len(
            adopted(lib__sh=LIBRARY, b__sh=". lib.sh\norch a.example.net", a__sh=". lib.sh\nworker b.example.net").nodes
        )
        == 2
    )


def test_scripts_that_read_each_other_come_to_an_end() -> None:
    found = adopted(a__sh=". b.sh\nf() { :; }\nlivepeer -gateway -orchAddr a:1\n", b__sh=". a.sh\nf() { :; }\n")
    assert len(found.nodes) >= 1


TEMPLATE = "[Service]\nExecStart={{ lp_bin }} -orchestrator -network {{ lp_network }} -serviceAddr {{ lp_service }}\n"


@pytest.mark.parametrize("name", ["roles/lp/templates/orch.service.j2", "orch.service"])
def test_template_of_a_unit_is_said_to_be_one(name: str, tmp_path: Path) -> None:
    place = tmp_path / "play" / name
    place.parent.mkdir(parents=True)
    place.write_text(TEMPLATE)
    variables = tmp_path / "play/group_vars/all.yml"
    variables.parent.mkdir()
    variables.write_text('lp_version: "0.8.9"\n')
    for source in ("play", f"play/{name}"):
        done = fleetc("adopt", source, cwd=tmp_path)
        assert done.returncode == 1
        assert f"play/{name} is a template with commands of nodes, and fleetc does not render templates" in done.stderr
        assert "ssh HOST systemctl cat UNIT" in done.stderr
        assert "adopt-nothing-found" not in done.stderr
        assert "is lost" not in done.stderr


def test_template_beside_the_units_that_came_of_it_is_no_source() -> None:
    unit = "[Service]\nExecStart=/usr/bin/livepeer -orchestrator -network offchain -serviceAddr 192.0.2.1:8935\n"
    found = adopt([Source("orch.service", unit), Source("orch.service.j2", TEMPLATE)])
    assert [node.role for node in found.nodes] == ["orchestrator"]
    assert "adopt-template-unread" in {one.code for one in found.diagnostics}


def test_same_wallet_and_model_met_twice_are_one_table() -> None:
    command = (
        "livepeer -orchestrator -aiWorker -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword /etc/lp/pw -ethKeystorePath /etc/lp/keys "
        "-serviceAddr orch-{0}.example.net:8935 -pricePerUnit 900 -aiModels models-{0}.json -dataDir /d/{0}\n"
    )
    models = '[{"pipeline": "text-to-image", "model_id": "stabilityai/sd-turbo", "price_per_unit": %d, "warm": true}]'
    found = adopt(
        [
            Source("a.sh", command.format(1)), Source("b.sh", command.format(2)),
            Source("models-1.json", models % 5), Source("models-2.json", models % 5),
        ],
        Said(hosts={"a.sh": "a", "b.sh": "b"}),
    )  # fmt: skip
    assert found.text.count("[wallets.") == found.text.count("[models.") == 1
    assert found.text.count('price = "5 wei / pixel"') == 1  # of the model, since all ask the same
    assert 'reward_by = "orchestrator-a"' in found.text
    assert "adopt-reward-unsaid" in codes(found)
    assert "# TODO reward_by: orchestrator-a and orchestrator-b have this wallet and do not say who" in found.text


@pytest.mark.parametrize(("first", "second", "caller"), [
    ("-reward=false", "", "orchestrator-b"), ("", "-reward=false", "orchestrator-a"),
    ("", "-reward", "orchestrator-b"), ("-reward=false", "-reward=false", "none"),
])  # fmt: skip
def test_node_that_says_that_it_calls_no_reward_is_not_chosen_for_it(first: str, second: str, caller: str) -> None:
    command = (
        "livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        "-ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword /etc/lp/pw -ethKeystorePath /etc/lp/keys "
        "-serviceAddr orch-{0}.example.net:8935 -pricePerUnit 900 -dataDir /d/{0} {1}\n"
    )
    sources = [Source("a.sh", command.format(1, first)), Source("b.sh", command.format(2, second))]
    found = adopt(sources, Said(hosts={"a.sh": "a", "b.sh": "b"}))
    assert f'reward_by = "{caller}"' in found.text
    assert "adopt-reward-unsaid" not in codes(found) and "TODO reward_by" not in found.text


@pytest.mark.parametrize(("rtmp", "noted"), [("-rtmpAddr 0.0.0.0:1935", True), ("", False)])
def test_a_gateway_of_video_whose_orchestrators_sell_ai_says_so_at_its_mode(rtmp: str, noted: bool) -> None:
    sells = (
        "livepeer -orchestrator -aiWorker -serviceAddr o.example.net:8935 -aiModels text-to-image:stabilityai/sd:true"
    )
    found = adopted(start__sh=f"{sells}\nlivepeer -gateway -orchAddr o.example.net:8935 {rtmp}\n")
    assert ('mode = "ai"  # it takes video too, which none of its orchestrators does' in found.text) is noted
    assert tomllib.loads(found.text)["gateways"]["gateway"]["mode"] == "ai"
