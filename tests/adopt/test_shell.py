"""The reader of shell texts: words as a shell makes them, what is not followed, files that scripts write, an end."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleetc.adopt.adoption import Adopted, adopt, located
from fleetc.adopt.found.ledger import Ledger
from fleetc.adopt.found.library import Library
from fleetc.adopt.found.process import Process
from fleetc.adopt.read.shell import read_shell
from fleetc.toml.document import Source

# ------------------------------------------------------------------------------- words, against a real shell

_INSIDE = st.text(alphabet=" ab-=/:#;|&<()*?~!%", max_size=6)
_PLAIN = st.text(alphabet="ab1-=/:.,@%+#", min_size=1, max_size=4).filter(lambda text: not text.startswith("#"))
_KNOWN = st.sampled_from(["${A}", "${B}", "${E}", "${A:-x}", "${E:-y z}", "${E-w}", "${U:-a  b}", "${U-c}"])
_OPEN = st.one_of(
    _PLAIN, _KNOWN, _INSIDE.map(lambda text: f"'{text}'"),
    st.lists(st.one_of(_INSIDE, _KNOWN, st.sampled_from(['\\"', "\\$", "\\\\", "\\a", "\\\n", "'"]))).map(
        lambda parts: '"' + "".join(parts) + '"'
    ),
    st.sampled_from(["\\ ", "\\'", '\\"', "\\$", "\\\\", "\\#", "\\;", "\\\n", '"$%"']),
    st.sampled_from(['$"b c"', '""', "''"]),
)  # fmt: skip
_WORD = st.lists(_OPEN, min_size=1, max_size=4).map("".join)
_TOKEN = st.one_of(_WORD, st.sampled_from(['"${L[@]}"', '-x="${A}"', "2>&1", "> /dev/null", "\\\n", "<<< b"]))
_TEXT = st.lists(st.one_of(_INSIDE, _KNOWN, st.sampled_from([*"\n\t'\"", '\\"', "\\$", "\\\\", "\\\n", "\\a"]))).map(
    "".join
)
_HEREDOC = st.sampled_from(["<<EOF", "<<'EOF'", '<< "EOF"', "<<\\EOF", "<<-EOF", "<<-'EOF'"])


@pytest.mark.usefixtures("processes")
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    a=_WORD, items=st.lists(_WORD, max_size=3), words=st.lists(_TOKEN, max_size=6), text=_TEXT, heredoc=_HEREDOC,
)  # fmt: skip
def test_words_and_heredocs_are_those_of_bash(
    a: str, items: list[str], words: list[str], text: str, heredoc: str, tmp_path: Path
) -> None:
    """A real shell calls a function instead of a node, and writes the file."""
    script = (
        f"N=40 E= A=q B=\nA={a}\nB=\"$A\"' c'\nL=({' '.join(items)})\nL+=(d)\n"
        f"cat > '{tmp_path}/text' {heredoc}\n{text}\nEOF\nlivepeer -gateway {' '.join(words)} # it's\n"
    )
    shell = f"livepeer() {{ printf '%s\\0' \"$@\" > '{tmp_path}/words'; }}\n{script}"
    done = subprocess.run(
        ["bash", "-c", shell], env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=True, cwd="/"
    )
    found = read_shell("start.sh", script, Ledger(), Library({}))
    (process,) = found.processes
    assert done.stderr == b""
    assert "\0".join([*(word.text for word in process.words), ""]) == (tmp_path / "words").read_text()
    assert [file.text for file in found.written] == [(tmp_path / "text").read_text()]


# ------------------------------------------------------------------------------------------ what is read

NODE = "livepeer -gateway -orchAddr a.example.net:1"
LOST, CUT, UNKNOWN = "adopt-branch-not-followed", "adopt-command-cut", "adopt-value-unknown"


def adopted(text: str, **files: str) -> Adopted:
    """Adopt a script, with files beside it; __ is a dot in their names."""
    return adopt([Source("start.sh", text), *(Source(name.replace("__", "."), one) for name, one in files.items())])


def words(process: Process) -> str:
    """The words of a process behind those of NODE."""
    return " ".join(word.text for word in process.words).removeprefix(NODE.removeprefix("livepeer ")).lstrip()


def lines(found: Adopted, code: str) -> list[int]:
    """The lines at which a message stands."""
    return [item.primary.line for item in located(found) if item.diagnostic.code == code]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("NODE -v ${V:-6} -region '${R}'", "-v 6 -region ${R}"),
        ("A=-v; A+=' 6'\nNODE $A", "-v 6"),
        ("A=(-v 6)\nA+=(-monitor -region 'x y')\nNODE \"${A[@]}\"", "-v 6 -monitor -region x y"),
        ("A=(x y)\nNODE -region ${A[1]} -v \"${A[*]}\"", "-region ${A[1]} -v ${A[*]}"),
        ("N=3\nNODE -v $((N+1)) -region $((1 / 0))", "-v $((N+1)) -region $((1 / 0))"),
        ("IP=$(curl -s ifconfig.me)\nNODE -serviceAddr $IP:8935 -v 6", "-serviceAddr $(curl -s ifconfig.me):8935 -v 6"),
        ("NODE -region <YOUR REGION> -v {{ level }} -j {1,2}", "-region <YOUR REGION> -v {{ level }} -j {1,2}"),
        ("NODE -v ${V:?none} -region ${R%x} $1", "-v ${V} -region ${R%x} $1"),
        ("set -a; . ./node.env; set +a\nNODE -region $R", "-region eu"),
        ("NODE >& /var/log/lp 2>&1 -v 6 0<&- &> /x", "-v 6"),
        ("cd /opt || exit 1\nNODE | tee log", ""),
        ("echo x > /etc/pw && NODE", ""),
        ("if [ -f /x ]; then echo a; fi; while false; do :; done; case x in y) ;; esac\nNODE", ""),
        ("f() { echo livepeer; }\nid livepeer || useradd livepeer\nsystemctl status livepeer\nNODE", ""),
        ("echo 'NODE'; pgrep -f 'NODE'; cat <<EOF\nNODE\nEOF\nNODE", ""),
        ("read -p 'NODE' X\nNODE -region $X", "-region ${X}"),
        ("X=1; unset X\nNODE -region $X", "-region ${X}"),
        ("( X=1; cd /y ) ; X[0]=1\nNODE -region $X", "-region ${X}"),
    ],
)  # fmt: skip
def test_words_of_the_one_node_of_a_script(text: str, wanted: str) -> None:
    found = adopted(text.replace("NODE", NODE), node__env="R=eu\nLP_V=7\n")
    (process,) = found.processes
    assert words(process) == wanted
    assert lines(found, LOST) == []
    assert ("LP_V" in process.variables) == ("set -a" in text)


@pytest.mark.parametrize(
    ("command", "user", "program"),
    [
        ("sudo -u lp nohup NODE", "lp", "livepeer"),
        ("sudo -n -ulp /opt/NODE", "lp", "/opt/livepeer"),
        ("sudo --user=lp -- NODE", "lp", "livepeer"),
        ("runuser -u lp -- NODE", "lp", "livepeer"),
        ("runuser -l lp -c 'NODE'", "lp", "livepeer"),
        ("su - lp -c 'NODE'", "lp", "livepeer"),
        ("su lp -s /bin/bash -c \"cd /opt && ./NODE\"", "lp", "/opt/livepeer"),
        ("su -c 'NODE'", "root", "livepeer"),
        ("sudo -u lp bash -lc 'exec NODE'", "lp", "livepeer"),
        ("sudo -u $WHO NODE", "", "livepeer"),
        ("$ sudo LP_X=1 numactl --cpunodebind=0 -m 0 nice -n 5 NODE", "", "livepeer"),
        ("timeout -k 5 1h taskset -c 0-3 ionice -c2 setsid env A=b NODE", "", "livepeer"),
        ("cd /opt; cd lp && (cd /tmp; ls); bin/../NODE", "", "/opt/lp/livepeer"),
        ("D=/opt/lp; cd $D; ./NODE", "", "/opt/lp/livepeer"),
        ("cd /a; cd $HERE; ./NODE", "", "./livepeer"),
        ("cd /a; if [ -d /b ]; then cd /b; fi; ./NODE", "", "./livepeer"),
        ("(cd /a; ls)\n./NODE", "", "./livepeer"),
        ("./renamed -gateway -orchAddr a.example.net:1", "", "./renamed"),
    ],
)  # fmt: skip
def test_user_and_program_of_a_node(command: str, user: str, program: str) -> None:
    (process,) = adopted(command.replace("NODE", NODE)).processes
    assert (process.user, process.program, words(process)) == (user, program, "")


def test_environment_of_a_node_is_what_its_script_exports() -> None:
    text = (
        f"export A=1 LP_V=6; B=2; readonly C=3; declare -x D=4\nE=5 sh -c '{NODE} -region $A$B$E'\n{NODE} -region $B\n"
    )
    first, second = adopted(text).processes
    assert (words(first), words(second)) == ("-region 1${B}5", "-region 2")
    assert {name: word.text for name, word in second.variables.items()} == {"A": "1", "LP_V": "6", "D": "4"}
    assert first.variables.keys() == second.variables.keys() | {"E"}


def test_container_of_a_node() -> None:
    text = (
        "export TOKEN=$T\nsudo docker container run -d --name gw -e TOKEN -e A=b livepeer/go-livepeer:v0.9.1 -gateway\n"
    )
    (process,) = adopted(text).processes
    assert (process.runtime, process.name, words(process)) == ("docker", "gw", "-gateway")
    assert {name: word.text for name, word in process.variables.items()} == {"TOKEN": "${T}", "A": "b"}


# ------------------------------------------------------------------------------------ what is not followed


@pytest.mark.parametrize(
    ("text", "told", "wanted"),
    [
        ("if [ $X = y ]; then\n NODE -v 1\nelse NODE -v 2; fi\nNODE", [1], ""),
        ("for i in 0 1; do\n NODE -v $i &\ndone\nNODE -region $i", [1], "-region ${i}"),
        ("while true; do NODE; sleep 1; done &\nNODE", [1], ""),
        ("case $1 in\n start|x) NODE ;;\nesac\nNODE", [1], ""),
        ("start() {\n  if true; then NODE; fi\n}\nstart\nNODE", [1], ""),
        ("function run {\n ./livepeer \"$@\"\n}\nrun -gateway -orchAddr b:1\nNODE", [1], ""),
        ("[ -f /x ] && NODE -v 1\nNODE", [1], ""),
        ("[ -f /x ] && { ls; NODE -v 1; }\n[[ a && b ]] || (cd /x; NODE)\nNODE", [1, 2], ""),
        ("pgrep lp ||\n NODE -v 1\nNODE", [1], ""),
        ("if a; then docker run -d livepeer/go-livepeer -gateway; fi\nNODE", [1], ""),
        ("if a; then N=5; else N=6; fi\n[ -n \"$D\" ] && MORE='-v 6'\nNODE -v $N $MORE", [1, 2], "-v ${N} ${MORE}"),
        ("[ -n \"$D\" ] && A=b:1\nB=x$A\nNODE -region $B", [1], "-region x${A}"),
        ("f() { P=$1; local N=2; }\nP=1 N=1\nf 2\nNODE -v $P$N", [1], "-v ${P}1"),
        ("if a; then A+=(-v 6); fi\nA+=(-monitor)\nNODE \"${A[@]}\"", [1], "${A} -monitor"),
        ("[ a ] && export P=1\nfor P in 1 2; do :; done\nNODE -v $P", [2], "-v ${P}"),
        ("((X > 1)) && NODE -v 1\nNODE", [1], ""),
        ("ssh root@o1 'NODE'\nssh o1 <<EOF\n./livepeer $A\nEOF\nssh livepeer-1 ls\nNODE", [1, 2], ""),
        ("tmux new -d './livepeer $ARGS'\nscreen -dmS gw livepeer $A\nNODE", [1, 2], ""),
        ("bash <<< 'NODE'\necho 'NODE' | sudo bash -s\nbash <<EOF\n./livepeer $A\nEOF\nNODE", [1, 2, 3], ""),
        ("bash /opt/livepeer/x.sh\nNODE", [], ""),
        ("eval \"livepeer $A\"\necho a | xargs livepeer\ndocker exec -d x NODE\nNODE", [1, 2, 3], ""),
        ("cat > x.conf <<EOF\nrun: NODE\nEOF\nNODE", [1], ""),
        ("if a; then cat > /etc/x.service <<EOF\n[Service]\nExecStart=NODE\nEOF\nfi\nNODE", [1], ""),
        ("bash -c 'if a; then NODE -v 1; fi; NODE'", [1], ""),
        ("NODE\n{% if a %}\nNODE\n{% endif %}", [1], None),
        ("echo {% if a %}", [], None),
    ],
)  # fmt: skip
def test_what_is_not_followed_is_told_once_at_its_line(text: str, told: list[int], wanted: str | None) -> None:
    found = adopted(text.replace("NODE", NODE))
    assert sorted(lines(found, LOST)) == told
    assert [words(process) for process in found.processes] == ([] if wanted is None else [wanted])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("NODE -v ${P:-6} -region ${R-x}", "-v 6 -region x"),
        ("P=5\n. /etc/lp.env\nNODE -v $P -region ${R:-x}", "-v ${P} -region ${R}"),
        (". /etc/lp.env || true\nP=5 R=${R:-x}\nNODE -v $P -region $R", "-v 5 -region ${R}"),
        ("[ -f /etc/lp.env ] && source /etc/lp.env\nNODE -v ${P:=6} -region ${R-x}", "-v ${P} -region ${R}"),
        ("P=5\nexport $(grep -v '^#' /etc/lp.env)\nNODE -v $P -region ${R-x}", "-v ${P} -region ${R}"),
        ("P=5\n[ -f node.conf ] && . ./node.conf\nNODE -v $P -region ${R-x}", "-v ${P} -region ${R}"),
    ],
)
def test_what_an_unread_file_may_have_set_is_a_hole(text: str, wanted: str) -> None:
    found = adopted(text.replace("NODE", NODE), node__conf="P=4\n")
    (process,) = found.processes
    assert words(process) == wanted
    assert bool(process.unread) is ("{P:-6}" not in text)
    assert ("adopt-file-missing" in {one.code for one in found.diagnostics}) is (". /etc" in text or "source" in text)


def test_scripts_that_read_scripts() -> None:
    sources = {"lib.sh": f"PORT=1\nf() {{ {NODE}; }}\n", "a.sh": f'. "$(dirname $0)/lib.sh"\n{NODE} -httpAddr :$PORT\n'}
    sources |= {
        "b.sh": ". ./c.sh\n. ./c.sh\n",
        "c.sh": f". ./b.sh\n{NODE} -v 1\n",
        "d.sh": f". d.sh\n. d.sh\n{NODE} -v 2\n",
    }
    found = adopt([Source(name, text) for name, text in sources.items()])
    assert sorted((one.span.source, words(one)) for one in found.processes) == [
        ("a.sh", "-httpAddr :1"), ("c.sh", "-v 1"), ("d.sh", "-v 2"),
    ]  # fmt: skip
    told = {(item.primary.file, item.primary.line) for item in located(found) if item.diagnostic.code == LOST}
    assert told == {("lib.sh", 2), ("c.sh", 1), ("d.sh", 1), ("d.sh", 2)}


# --------------------------------------------------------------------------------------- files and places


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("cat > /etc/systemd/system/lp.service <<EOF\n[Service]\nUser=lp\nExecStart=NODE\nEOF", "lp"),
        ("cat <<-'EOF' | sudo tee /u/lp.service >/dev/null\n\t[Service]\n\tUser=lp\n\tExecStart=NODE\n\tEOF", "lp"),
        ("tee /u/lp.service <<A\n[Service]\nUser=lp\nExecStart=/opt/lp.sh\nA\ncat > /opt/lp.sh <<B\nNODE\nB", "lp"),
        ("cat > /opt/lp.sh <<EOF\n#!/bin/bash\nNODE\nEOF\nchmod +x /opt/lp.sh", ""),
        ("cat > compose.yaml <<EOF\nservices:\n  g:\n    image: x\n    command: NODE\nEOF", "root"),
        ("D=/d\nsh -c '\n NODE'", ""),
    ],
)
def test_node_in_a_text_within_a_script_has_its_place_there(text: str, user: str) -> None:
    text = text.replace("NODE", NODE)
    found = adopted(text)
    (process,) = found.processes
    assert (process.user, words(process)) == (user, "")
    place = process.words[-1].span
    assert place.source.startswith("start.sh")
    (source,) = (one.text for one in found.sources if one.name == place.source)
    assert "a.example.net:1" in source[place.start : place.end]
    assert lines(found, LOST) == []


def test_written_files_are_there_for_what_follows() -> None:
    script = "IP=$(hostname -I)\ncat > /etc/lp.env <<EOF\nR=eu\nS=$IP\nEOF\n. /etc/lp.env\n"
    found = adopted(f"{script}{NODE} -region $R -serviceAddr $S\n")
    (process,) = found.processes
    assert words(process) == "-region eu -serviceAddr $(hostname -I)"
    assert lines(found, "adopt-file-missing") == []


def test_words_of_a_filled_text_have_a_place_in_it() -> None:
    found = adopted(f'D=/srv\n\nsh -c "{NODE} \\\n -dataDir $D/two -nosuch"\n')
    assert lines(found, "adopt-flag-unknown") == [3]


@pytest.mark.parametrize(
    ("text", "wanted", "told"),
    [
        ("NODE \\\n  # why\n  -v 6 \\\n -monitor", "-v 6 -monitor", [3]),
        ("NODE\n\n -v 6 \\\n -monitor", "", [3]),
        ("NODE\nls\n -ethPassword secret-word", "", [3]),
        ("-gateway \\\n -orchAddr a.example.net:1\n# more\n-v 6", "-v 6", []),
    ],
)
def test_flags_outside_of_a_command(text: str, wanted: str, told: list[int]) -> None:
    found = adopted(text.replace("NODE", NODE))
    (process,) = found.processes
    assert (words(process), lines(found, CUT)) == (wanted, told)
    assert "secret-word" not in found.text + repr([(one.shown, one.words) for one in found.entries])


def test_nothing_of_a_script_is_run_or_shown(tmp_path: Path) -> None:
    prints = f"$(touch {tmp_path}/x)`touch {tmp_path}/y`"
    found = adopted(f"P=hunter2\nPASSWORD=$P\nmysecret hunter2\n{NODE} -region {prints} -ethPassword $PASSWORD\n")
    assert list(tmp_path.iterdir()) == []
    assert "# TODO selection.performance_region: the source says $(touch" in found.text
    shown = repr([(one.shown, one.words) for one in found.entries]) + repr([one.message for one in found.diagnostics])
    assert "hunter2" not in shown + found.text
    assert "mysecret" not in shown


# ----------------------------------------------------------------------------------------------- an end

_MANY = 60_000


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("A=aaaaaaaaaa\n" + 'A="$A$A$A$A"\n' * 40, 1),
        ("A=(a b)\n" + 'A+=("${A[@]}" "${A[@]}")\n' * 60, 1),
        ('export A=\'sh -c "$A"\'\nsh -c "$A"\n', 1),
        ("livepeer -region " + "${A:-" * 2000 + "}" * 2000, 1),
        ("livepeer -orchAddr $(" + "(" * 3000, 1),
        ("a|" * _MANY, 1),
        ("livepeer -gateway " + "-v 6 " * 300_000, 1),
        ("a" * 5_000_000, 1),
        ("if " * _MANY + NODE, 1),
        (f"f() {{\n {NODE}\n f; f\n}}\nf\n", 1),
        ("cat <<E\n" * _MANY + NODE, 0),
        ("(" * _MANY + "ls", 0),
    ],
)
def test_hostile_scripts_end_with_one_word_about_what_was_cut(text: str, told: int) -> None:
    found = read_shell("x.sh", text, ledger := Ledger(), Library({}))
    assert found.processes == []
    assert [one.code for one in ledger.findings] == [LOST] * told


def test_quote_that_is_never_closed_is_refused_at_its_place() -> None:
    found = adopted(f"{NODE}\n{NODE} -region 'abc\n")
    assert found.text == ""
    assert lines(found, "adopt-source-unreadable") == [2]
