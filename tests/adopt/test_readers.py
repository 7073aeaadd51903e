"""What the readers make of sources: shell scripts, docker run, Compose files, units, and inventories."""

from __future__ import annotations

import tomllib

import pytest

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.said import Said
from fleetc.pipeline import check_spec
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.adopt.support import answered, meanings


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


@pytest.mark.parametrize(("said", "gpus"), [("2", [2]), ("0", [0]), ("all", "all")])
def test_worker_that_only_runs_models_names_gpus_of_its_host_whatever_its_container_sees(
    said: str, gpus: list[int] | str
) -> None:
    """It gives the numbers to Docker."""
    words = f"-aiWorker -orchAddr a.example.net:1 -orchSecret /s -aiModels /m.json -aiModelsDir /models -nvidia {said}"
    found = adopted(a__sh=f"docker run --gpus device=2 livepeer/go-livepeer:v0.9.1 {words}\n")
    assert tomllib.loads(found.text)["ai_workers"].popitem()[1]["gpus"] == gpus
    assert not [one for one in found.diagnostics if one.code == "adopt-value-invalid"]


def test_a_number_that_a_container_does_not_have_is_a_mistake_today() -> None:
    text = (
        "docker run --gpus device=1 livepeer/go-livepeer:v0.9.1 -transcoder -orchAddr a.example.net:1 -orchSecret /s "
        "-nvidia 1"
    )
    found = adopted(start__sh=text)
    (said,) = [one.message for one in found.diagnostics if one.code == "adopt-value-invalid"]
    assert "sees 1 of the GPUs and counts them from 0: it has no number 1" in said


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
    assert codes(found).count("adopt-value-unknown") == 2


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


def test_account_with_a_wrong_checksum_is_asked_and_not_written() -> None:
    wrong = "0x9C10672CEE058Fd658103d90872fE431bb6C0AFA"
    found = adopted(
        start__sh="livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl https://rpc.example.net "
        f"-serviceAddr o.example.net:8935 -pricePerUnit 1 -ethAcctAddr {wrong} -ethOrchAddr {wrong} -dataDir /d"
    )
    messages = [d.message for d in found.diagnostics if d.code == "adopt-value-invalid"]
    assert len([text for text in messages if f"the checksum of {wrong} is wrong" in text]) == 2
    assert f'# TODO address = "0x..."  # the account; the checksum of {wrong} is wrong' in found.text
    assert f'# TODO orchestrator_address = "..."  # the checksum of {wrong} is wrong' in found.text


def test_sources_beside_those_of_a_named_host_are_elsewhere() -> None:
    command = "livepeer -gateway -orchAddr a.example.net:{0} -dataDir /d/{0}"
    sources = [Source("a.sh", command.format(1)), Source("b.sh", command.format(2))]
    found = adopt(sources, Said(hosts={"a.sh": "edge"}, addresses={"edge": "192.0.2.7"}))
    assert [(node.name, node.host) for node in found.nodes] == [("a", "edge"), ("b", "host-1")]


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


RUNNERS = """\
services:
  orchestrator:
    image: livepeer/go-livepeer:v0.9.1
    command:
      - -orchestrator
      - -useLiveRunners
      - -serviceAddr=127.0.0.1:8935
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


def test_password_file_that_no_source_places_is_asked_for_at_the_wallet() -> None:
    text = (
        'docker run -v "$HOME/.lpData":/root/.lpData livepeer/go-livepeer:v0.9.1 -gateway '
        "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethPassword /root/.lpData/pw -ethAcctAddr 0x"
        + "1"
        * 40
    )
    spec = adopted(start__sh=text.replace('-v "$HOME/.lpData":/root/.lpData ', "")).text
    assert spec.count("TODO password") == 1
    assert spec.index("[wallets.payer]") < spec.index("TODO password") < spec.index("[gateways.")


def test_nodes_without_an_account_share_a_wallet_only_with_their_keys() -> None:
    text = (
        "services:\n"
        "  one:\n    image: livepeer/go-livepeer:v0.9.1\n    volumes: [/srv/one:/data]\n"
        "    command: -gateway -network=arbitrum-one-mainnet -dataDir=/data -ethPassword=/etc/one\n"
        "  two:\n    image: livepeer/go-livepeer:v0.9.1\n    volumes: [/srv/two:/data]\n"
        "    command: -gateway -network=arbitrum-one-mainnet -dataDir=/data -ethPassword=/etc/two\n"
    )
    spec = tomllib.loads(adopt([Source("compose.yaml", text)]).text)
    assert len(spec["wallets"]) == 2
    assert {wallet["keystore"] for wallet in spec["wallets"].values()} == {"/srv/one/keystore", "/srv/two/keystore"}


def test_ssh_says_where_people_log_in() -> None:
    node = "livepeer -transcoder -orchAddr orch.example.net:8935 -orchSecret /etc/secret"
    found = adopted(start__sh=f"ssh -p 2222 ops@gpu1.example.net '{node}'\nssh -i key gpu2 '{node}'\n")
    hosts = tomllib.loads(found.text)["hosts"]
    assert hosts["gpu1-example-net"]["address"] == "gpu1.example.net"
    assert (hosts["gpu1-example-net"]["ssh_user"], hosts["gpu1-example-net"]["ssh_port"]) == ("ops", 2222)
    assert "address" not in hosts["gpu2"]
    assert "where you log in; a script calls it gpu2" in found.text


def test_what_a_spec_is_refused_for_once_its_questions_are_answered_is_a_question() -> None:
    command = (
        "livepeer -orchestrator -transcoder -network arbitrum-one-mainnet -ethUrl http://203.0.113.5:8547 "
        "-pricePerUnit 5 -ethAcctAddr 0x1111111111111111111111111111111111111111 -ethPassword ~/pw "
        "-dataDir /d -serviceAddr {}:8935"
    )
    found = adopted(start__sh=command.format("o.example.net"))
    (asked,) = [line for line in found.text.splitlines() if line.startswith("# TODO rpc: ")]
    assert asked.startswith("# TODO rpc: the RPC address is http://")
    assert 'password = { host_file = "~/pw" }' in found.text
    for own in ("127.0.0.1", "10.0.0.5"):
        fine = adopted(start__sh=command.format("o.example.net").replace("203.0.113.5", own))
        assert "TODO rpc" not in fine.text


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


def test_variables_that_only_compose_fills_in_are_none_of_the_node() -> None:
    compose = (
        "services:\n  g:\n    image: livepeer/go-livepeer:${TAG}\n    env_file: .env\n"
        "    command: -gateway -orchAddr ${ORCH}:8935\n    environment: ['LIVE_AI_NAT_IP=${NAT}']\n"
    )
    env = "TAG=v0.9.1\nORCH=o.example.net\nNAT=192.0.2.1\nCOMPOSE_PROJECT_NAME=farm\nTZ=Europe/Berlin\nOWN=1\n"
    found = adopt([Source("compose.yaml", compose), Source(".env", env)])
    (gateway,) = tomllib.loads(found.text)["gateways"].values()
    assert gateway["environment"] == {"LIVE_AI_NAT_IP": "192.0.2.1", "TZ": "Europe/Berlin", "OWN": "1"}
    assert "secret_environment" not in gateway
    dropped = {entry.shown for entry in found.entries if "sources use it themselves" in entry.words}
    assert dropped == {"TAG", "ORCH", "NAT", "COMPOSE_PROJECT_NAME"}
    assert {difference.reason for difference in found.differences if difference.flag.startswith("env ")} <= {
        "only what starts the node reads it"
    }


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


def test_a_service_that_is_an_orchestrator_is_reached_at_its_service_address() -> None:
    image = "livepeer/go-livepeer:v0.9.1"
    text = (
        f"services:\n  o:\n    image: {image}\n"
        "    command: -orchestrator -orchSecret ab -serviceAddr o.example.net:8935\n"
        f"  t:\n    image: {image}\n    command: -transcoder -orchSecret ab -orchAddr HOST:8935\n"
    )
    found = adopted(compose__yaml=text.replace("HOST", "https://o"))
    (told,) = [d for d in found.diagnostics if d.code == "adopt-name-unreached"]
    assert told.severity is Severity.NOTE
    assert "no other is called o: t reaches o at o.example.net:8935" in told.message
    assert tomllib.loads(found.text)["transcoders"]["t"]["orchestrator"] == "o"
    assert "adopt-name-unreached" not in codes(adopted(compose__yaml=text.replace("HOST", "o.example.net")))


def test_where_a_deposit_can_be_read_is_said_with_the_port_of_the_node() -> None:
    chain = "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net"
    for cli, port in (("", 5935), (" -cliAddr 127.0.0.1:7000", 7000)):
        text = adopted(start__sh=f"livepeer -gateway {chain} -ethAcctAddr 0x{'1' * 40}{cli}").text
        assert text.count(f"curl -s http://127.0.0.1:{port}/senderInfo") == 2


PAYER = "-gateway -network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethAcctAddr 0x" + "1" * 40
PROJECT = """\
services:
  pay:
    image: livepeer/go-livepeer:v0.9.1
    command: WORDS
    MORE
"""


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("compose__yaml", PROJECT.replace("MORE", "network_mode: host"), "curl -s http://127.0.0.1:5935/senderInfo on"),
        ("compose__yaml", PROJECT.replace("WORDS", "WORDS -cliAddr :5935").replace("MORE", 'ports: ["6000:5935"]'),
         "{{.State.Pid}}' $(docker compose ps -q pay)) curl -s http://127.0.0.1:5935/senderInfo on"),
        ("compose__yaml", PROJECT.replace("WORDS", "WORDS -cliAddr 0.0.0.0").replace("MORE", 'ports: ["6000:5935"]'),
         "; curl -s http://127.0.0.1:6000/senderInfo on its host"),
        ("compose__yaml", PROJECT.replace("MORE", "container_name: lp"),
         "sudo nsenter -n -t $(docker inspect -f '{{.State.Pid}}' lp) curl -s http://127.0.0.1:5935/senderInfo on"),
        ("run__sh", "docker run --name lp livepeer/go-livepeer WORDS", "'{{.State.Pid}}' lp) curl -s"),
        ("run__sh", "docker run livepeer/go-livepeer WORDS", "'{{.State.Pid}}' CONTAINER) curl -s"),
        ("run__sh", "livepeer WORDS -cliAddr 10.0.0.5:5935", "; curl -s http://10.0.0.5:5935/senderInfo on its host"),
    ],
)  # fmt: skip
def test_command_that_shows_a_deposit_reaches_the_node(name: str, text: str, command: str) -> None:
    """A node in a container listens on the loopback of that, unless its port is published."""
    assert adopted(**{name: text.replace("WORDS", PAYER)}).text.count(command) == 2


@pytest.mark.parametrize(("rtmp", "noted"), [("-rtmpAddr 0.0.0.0:1935", True), ("", False)])
def test_a_gateway_of_video_whose_orchestrators_sell_ai_says_so_at_its_mode(rtmp: str, noted: bool) -> None:
    sells = (
        "livepeer -orchestrator -aiWorker -serviceAddr o.example.net:8935 -aiModels text-to-image:stabilityai/sd:true"
    )
    found = adopted(start__sh=f"{sells}\nlivepeer -gateway -orchAddr o.example.net:8935 {rtmp}\n")
    assert ('mode = "ai"  # it takes video too, which none of its orchestrators does' in found.text) is noted
    assert tomllib.loads(found.text)["gateways"]["gateway"]["mode"] == "ai"


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
