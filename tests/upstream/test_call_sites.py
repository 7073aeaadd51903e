"""Calls that print are read out of Go and Python text: excerpts of our own in the shape of the sources."""

from __future__ import annotations

import shutil
from pathlib import Path

from fleetc import upstream
from fleetc.upstream import NEWEST_RELEASE
from fleetc.upstream.__main__ import TABLE, main
from fleetc.upstream.call_sites import calls, with_calls
from fleetc.upstream.messages import read

STARTER = """
package starter
/* glog.Error("a comment
of two lines") */
func StartLivepeer(cfg Config) {
	if err != nil {
		glog.Errorf("Error opening DB: %v", err) // not this: glog.Error("no")
		return
	}
	go func() {
		glog.Error("Not the start: ", err)
		return
	}()
	glog.Exitf("-maxSessions must be %q, "+
		"or %d%% of it", `"auto"`, 1)
	panic(fmt.Errorf("%s is odd", name))
	exit("Cannot find (%v)", err)
	clog.V(common.DEBUG).InfofErr(ctx, `raw "text" of %v`, uri, err)
	glog.V(6).Infof("Only told %.2f", cost)
	slog.Warn("no capacity", "model", id, slog.String("gpu", gpu))
	return errors.Wrapf(err, "no answer of %v", uri)
}
func exit(msg string, args ...any) {
	glog.Error(err)
	os.Exit(2)
}
"""
APP = """
def answer():
    try:
        work()
    except Exception as e:
        logger.error(
            f"Error in {stage['name']}: "
            f"{e}\\nmore"
        )
        raise
    logging.warning("%s is slow", name)
    logging.exception("Gone")
    os._exit(1)
"""
PATH = "cmd/livepeer/starter/starter.go"
PRINTED = [
    (7, "S", "Error opening DB: {}"),
    (11, "R", "Not the start: {}"),
    (14, "X", "-maxSessions must be {}, or {}% of it"),
    (16, "P", "panic: {} is odd"),
    (17, "X", "Cannot find ({})"),
    (18, "E", 'raw "text" of {} err={}'),
    (19, "I", "Only told {}"),
    (20, "W", "no capacity model={} gpu={}"),
    (21, "T", "no answer of {}: {}"),
    (24, "X", "{}"),
]


def test_calls_of_go() -> None:
    found = calls({PATH: STARTER, "cmd/devtool/main.go": STARTER, "server/rpc_test.go": STARTER})
    assert found == [(PATH, *row) for row in PRINTED]


def test_calls_of_python() -> None:
    found = calls({"ai-runner/runner/app.py": APP, "ai-runner/runner/tests/test_app.py": APP})
    assert [call[1:] for call in found] == [(6, "R", "Error in {}: {}"), (11, "W", "{} is slow"), (12, "X", "Gone")]


def test_table_of_a_release_is_replaced_and_the_others_stay() -> None:
    table = upstream.text("call_sites.toml")
    releases, rows = read(table)
    again = [
        (path, line, level, shape)
        for (path, level, shape), lines in rows.items()
        for line in lines.get(NEWEST_RELEASE, ())
    ]
    assert with_calls(table, NEWEST_RELEASE, again) == table
    newer = read(with_calls(table, (9, 0, 0), [(PATH, 7, "E", "A new text")]))
    assert newer == ((*releases, (9, 0, 0)), {**rows, (PATH, "E", "A new text"): {(9, 0, 0): [7]}})


def test_command_writes_what_all_programs_print(tmp_path: Path) -> None:
    node, runner, table = tmp_path / "node" / PATH, tmp_path / "runner" / "app.py", tmp_path / TABLE.name
    for path, text in ((node, STARTER + 'var v = fs.String("network", "", "which")'), (runner, APP)):
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    for name in (TABLE.name, "call_sites.toml"):
        shutil.copyfile(TABLE.with_name(name), tmp_path / name)
    words = [str(tmp_path / "node"), "--release", "v9.0.0", "--table", str(table)]
    assert main([*words, "--beside", "ai-runner", str(runner.parent)]) == 1
    _, rows = read(table.with_name("call_sites.toml").read_text(encoding="utf-8"))
    fresh = sorted((path, *lines[9, 0, 0]) for (path, _, _), lines in rows.items() if (9, 0, 0) in lines)
    assert fresh == [*(("ai-runner/app.py", line) for line in (6, 11, 12)), *((PATH, row[0]) for row in PRINTED)]
