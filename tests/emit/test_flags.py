"""`launch.flags`: one flag on each line, whatever its value."""

from __future__ import annotations

from fleetc.blueprint.blueprint import Argument
from tests.emit import support


def flags_of(*arguments: Argument) -> str:
    tree = support.emitted(support.plan(support.host("edge-1", support.service("gw-eu", arguments=arguments))))
    return support.text(tree, "hosts/edge-1/gw-eu/launch.flags")


def test_flags_are_sorted_lines() -> None:
    text = flags_of(Argument("v", "6", support.HERE), Argument("gateway", "true", support.HERE))
    assert text == "-gateway=true\n-v=6\n"


def test_every_odd_value_stays_on_its_line() -> None:
    arguments = [Argument(f"odd{i:02}", value, support.HERE) for i, value in enumerate(support.ODD_VALUES)]
    lines = flags_of(*arguments).split("\n")
    assert lines.pop() == ""
    assert [line.partition("=")[0] for line in lines] == [f"-odd{i:02}" for i in range(len(arguments))]
    assert flags_of(Argument("a", "x\ny\u202e", support.HERE)) == "-a=x\\x0ay\\u202e\n"
