"""Faults that are planted in the program of hosts and in the controller, to see that the explorer finds them.

In: a fault. Out: the code with it, for a while.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType

import fleetc
from tests.explore.machine import Machine
from tests.host_program.program import PROGRAM

PACKAGE = Path(fleetc.__file__).parent / "rollout"


@dataclass(frozen=True)
class Planted:
    """One fault: a text of a file that stands there once, what stands there instead, and who is to find it."""

    file: str
    old: str
    new: str
    scenario: str

    @property
    def path(self) -> Path:
        return (PACKAGE if self.file.startswith(("hosts/", "moves")) else PROGRAM) / self.file


def plant(modules: Sequence[ModuleType], fault: Planted) -> None:
    """Put the functions of a file with a fault in the place of the sound ones, wherever these modules have them."""
    text = fault.path.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, f"{fault.file} has this {text.count(fault.old)} times: {fault.old}"
    module = next(one for one in modules if one.__file__ == str(fault.path))
    names = vars(module)
    before = dict(names)
    exec(compile(text.replace(fault.old, fault.new), str(fault.path), "exec", dont_inherit=True), names)
    changed = {value: names[name] for name, value in before.items() if is_own(value, module)}
    given = {name: value for name, value in before.items() if isinstance(value, FunctionType)}
    names |= {name: value for name, value in given.items() if not is_own(value, module)}
    for known in (vars(other) for other in modules):
        for table in (known, known.get("REQUESTS", {})):
            table |= {
                name: changed[value] for name, value in table.items() if is_own(value, module) and value in changed
            }


def is_own(value: object, module: ModuleType) -> bool:
    return isinstance(value, FunctionType) and value.__module__ == module.__name__


@contextmanager
def planted(fault: Planted) -> Iterator[None]:
    """The code with a fault, in all hosts that begin meanwhile, or in the controller."""
    given = Machine.given
    modules = [one for name, one in sys.modules.items() if name.startswith(("fleetc.rollout", "tests.explore"))]
    before = [dict(vars(module)) for module in modules]

    def planted_too(machine: Machine) -> None:
        plant(machine.program._modules, fault)
        given(machine)

    if fault.path.is_relative_to(PROGRAM):
        Machine.given = planted_too  # type: ignore[method-assign, assignment]
    else:
        plant(modules, fault)
    try:
        yield
    finally:
        Machine.given = given  # type: ignore[method-assign]
        for module, names in zip(modules, before, strict=True):
            vars(module).clear()
            vars(module).update(names)


SMALL, ILL, LIVE, FIRST = "restarts, small", "is ill, small", "is set live, small", "first rollout, small"

PLANTED = (
    Planted("system.py", "os.fsync(descriptor)\n    os.rename", "os.rename", SMALL),
    Planted("system.py", "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass", SMALL),
    Planted("switch.py", 'start_timer("%s-%s-%d" % (TIMER, switch["id"], switch["armed"]), seconds)', "pass", SMALL),
    Planted("switch.py", 'start_apart("%s-%s" % (WORKER, switch["id"]), (), "carry-out")', "pass", SMALL),
    Planted("switch.py", "note_wait, switch))\n        if not", "note_wait, switch)) and []\n        if not", ILL),
    Planted("switch.py", "try_again(switch, told_of(failure))", "pass", ILL),
    Planted("switch.py", "is_shutting_down()", "False", SMALL),
    Planted("switch.py", 'keep_away(switch.get("left", []))', "pass", "moves, and is ill there"),
    Planted("requests.py", "write_json(RECORD, ", "str(", SMALL),
    Planted("switch.py", "at_boot and is_leaving(switch)", "False", "moves"),
    Planted("switch.py", "{*nodes_leaving()} & {*arrived}", "set()", "moves, and is ill there"),
    Planted("switch_file.py", " and not is_confirmed(switch)", "", SMALL),
    Planted("bringing.py", "\n        stop(node, runtime)", "", SMALL),
    Planted("bringing.py", "link_unit(node)", "pass", FIRST),
    Planted("bringing.py", "link_secrets(node)", "pass", FIRST),
    Planted("leaving.py", "if not lease:\n        return", "return", "moves"),
    Planted("leaving.py", 'arm(switch, request["lease"])', "pass", "moves"),
    Planted("leaving.py", 'keep_away(sorted({*record.get("left", []), *request["nodes"]}))', "pass", "moves"),
    Planted("requests.py", ' or switch["phase"] != HEALTHY', "", SMALL),
    Planted("requests.py", 'remove(CLAIM)\n    note("released"', 'note("released"', ILL),
    Planted("requests.py", "remove(CLAIM)  # of a rollout that died here: this one changes nothing", "pass", SMALL),
    Planted(
        "claims.py", 'found is not None and holder.get("id", "") not in (own, *request.get("dead", []))', "False", SMALL
    ),
    Planted(
        "releases.py",
        'must(run("sync", "--file-system", new), "the release cannot be brought to the disk")',
        "pass",
        SMALL,
    ),
    Planted("staging.py", "content, 0o600", "content, 0o644", SMALL),
    Planted("installing.py", 'link("../" + BOOT_UNIT', '("../" + BOOT_UNIT', SMALL),
    Planted("live.py", 'in service["live"] if lacks', "in [] if lacks", LIVE),
    Planted("health.py", " and not hung", "", ILL),
    Planted("hosts/deploy.py", "rollout.run(END_PLAYBOOK, hosts).answers", "{}", SMALL),
    Planted("hosts/ordering.py", "for move in moves:\n        coming", "for move in ():\n        coming", "moves"),
    Planted("hosts/ordering.py", "arranged(usual, moves, handovers)", "usual", "the first one calls reward"),
    Planted(
        "hosts/gate.py",
        '    if switch.get("phase") == "reverted":\n        return outcome._replace(result="reverted", after=before)\n',
        "",
        ILL,
    ),
    Planted("hosts/deploy.py", "{run.id for run in journal.history.runs[-_KNOWN_DEAD:]} | ", "", SMALL),
    Planted("hosts/gate.py", "or refused or", "or", "moves"),
    Planted("hosts/deploy.py", "left_hosts(", "[] and left_hosts(", "leaves the fleet"),
    Planted("hosts/deploy.py", "without = stopped(coming, ends)", "without = {}", "moves"),
    Planted("hosts/deploy.py", "keep_away(rollout, outcome.moves, outcome.hosts, until)", "()", "moves"),
    Planted("leaving.py", "if left < window_of(", "if False and left < window_of(", "moves"),
    Planted("switch.py", "if problems:\n        need_power()", "if problems:\n        pass", ILL),
    Planted("hosts/deploy.py", 'rollout.journal.write("batch", hosts=given, moves=coming)', "pass", "moves"),
)
