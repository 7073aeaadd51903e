"""The command line of the benchmarks: `python -m tests.bench compile --nodes 10000`, `check`, `review`, `editor`,
`deploy`, `observe`, and `all`, which draws a page.

In: arguments. Out: Markdown on stdout and, if asked for, JSON in a file; exit code 1 when an aim is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.bench import measure
from tests.bench.deploy import deploy_report
from tests.bench.observe import PARTS, observe_report
from tests.bench.policies import policies_report
from tests.bench.review import review_report


def main() -> int:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    compiling = commands.add_parser("compile", help="measure fleetc compile beside a plain Jinja2 loop and a copy")
    checking = commands.add_parser("check", help="measure fleetc check")
    reviewing = commands.add_parser("review", help="measure fleetc diff beside a compile")
    ruling = commands.add_parser("policies", help="measure what rules in policy/ add to fleetc check")
    editing = commands.add_parser("editor", help="measure what an editor asks fleetc lsp after a key press")
    for measuring in (compiling, checking, reviewing, ruling, editing):
        nodes = 2000 if measuring is editing else 10_000
        measuring.add_argument("--nodes", type=int, default=nodes, help="size of the fleet, a multiple of 10")
        measuring.add_argument("--rounds", type=int, default=3, help="how often each is run; the best one counts")
        measuring.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured here")
    deploying = commands.add_parser("deploy", help="measure rollouts beside Ansible without fleetc (root, sshd)")
    deploying.add_argument("--hosts", type=int, default=20, help="size of the fleet, at least 4")
    deploying.add_argument("--rounds", type=int, default=2, help="how often each is run; the best one counts")
    deploying.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured here")
    observing = commands.add_parser("observe", help="measure fleetc diagnose, verify (root, sshd) and streams")
    observing.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="which of them; by default all")
    observing.add_argument("--megabytes", type=int, default=1000, help="size of the large log for diagnose")
    observing.add_argument("--hosts", type=int, default=20, help="hosts for verify, of 25 nodes each")
    observing.add_argument("--streams", type=int, default=1000, help="how many streams to ask about")
    observing.add_argument("--rounds", type=int, default=3, help="how often each is run; the best one counts")
    observing.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured here")
    drawing = commands.add_parser("all", help="draw the cost against the size, beside other programs")
    drawing.add_argument("--sizes", type=int, nargs="+", default=(200, 1000, 10_000), help="numbers of nodes, over 120")
    drawing.add_argument("--rounds", type=int, default=3, help="how often each is run; the best one counts")
    drawing.add_argument("--html", type=Path, metavar="FILE", default=Path("bench.html"), help="the page to write")
    drawing.add_argument("--svg", type=Path, metavar="FILE", help="write its picture here too")
    generating = commands.add_parser("generate", help="write the spec that is measured")
    generating.add_argument("file", type=Path)
    generating.add_argument("--nodes", type=int, default=10_000, help="size of the fleet, a multiple of 10")
    generating.add_argument("--shared", action="store_true", help="in classes and counters")
    arguments = parser.parse_args()
    if arguments.command == "generate":
        from tests.bench.fleetgen import shared_text, spec_text  # much memory, so not in the process that measures

        text = shared_text if arguments.shared else spec_text
        arguments.file.write_text(text(arguments.nodes), encoding="utf-8")
        return 0
    if arguments.command == "all":
        return _draw(arguments)
    if arguments.command == "check":
        report = measure.check_report(arguments.nodes, arguments.rounds)
    elif arguments.command == "deploy":
        report = deploy_report(arguments.hosts, arguments.rounds)
    elif arguments.command == "observe":
        report = observe_report(
            arguments.parts,
            arguments.rounds,
            megabytes=arguments.megabytes,
            hosts=arguments.hosts,
            streams=arguments.streams,
        )
    elif arguments.command == "editor":
        from tests.bench.editor import editor_report  # makes its spec here

        report = editor_report(arguments.nodes, arguments.rounds)
    elif arguments.command == "policies":
        report = policies_report(arguments.nodes, arguments.rounds)
    elif arguments.command == "review":
        report = review_report(arguments.nodes, arguments.rounds)
    else:
        report = measure.compile_report(arguments.nodes, arguments.rounds)
    print(report.as_table())
    if arguments.json:
        arguments.json.write_text(json.dumps(report.as_values(), indent=2) + "\n", encoding="utf-8")
    return 0 if all(line.met for line in report.lines) else 1


def _draw(arguments: argparse.Namespace) -> int:
    from tests.bench.page import curves, page, picture

    found = curves(sorted(arguments.sizes), arguments.rounds)
    about = f"Best of {arguments.rounds} rounds in one run, processor time, Python {sys.version.split()[0]}."
    arguments.html.write_text(page(found, about), encoding="utf-8")
    if arguments.svg:
        arguments.svg.write_text(picture(found) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
