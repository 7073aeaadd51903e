"""The command `fleetc init`: a first spec, and workflows that check, review and deploy it.

In: arguments, through typer. Out: new files, and on stdout their names and the next command; exit code 1 if one exists.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from fleetc.cli.first.spec import Kind, Network, Where
from fleetc.cli.first.starter import CiService
from fleetc.cli.shared import completing
from fleetc.cli.shared.output import PROBLEMS, message, report, wrong_usage
from fleetc.cli.shared.working import load_settings, read_sources
from fleetc.messages.forms import Format, written
from fleetc.toml.document import Source

_COMMANDS = "FLEETC_SECRET_COMMANDS"
"""The variable of the setting `secret_commands`."""

_NOBODY_ASKED = (
    "note: there is no terminal to ask, so this is a fleet to try, on one host without payments; "
    "--run, --where, --network and --host make it yours"
)


_RunOption = Annotated[
    Kind | None,
    typer.Option("--run", help="What you run. If omitted, fleetc asks at the terminal (also for the next three)."),
]
_WhereOption = Annotated[
    Where | None,
    typer.Option("--where", help="What starts the nodes; under systemd they take new video prices while they run."),
]
_NetworkOption = Annotated[Network | None, typer.Option("--network", help="Whether payments are made.")]
_HostOption = Annotated[
    list[str] | None,
    typer.Option("--host", metavar="NAME=ADDRESS[/PUBLIC]", help="A host; repeatable. The first has the gateway."),
]
_ExampleOption = Annotated[
    str | None,
    typer.Option(
        "--example",
        metavar="NAME",
        help="Copy one of the fleets that fleetc ships instead.",
        autocompletion=completing.examples,
    ),
]
_CiOption = Annotated[
    CiService | None,
    typer.Option("--ci", help="Also write workflows for this service; beside a spec, only those."),
]
_InstallFromOption = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        help="Source of fleetc in workflows: git+https://HOST/PATH@COMMIT with a full commit id, or sha256:HASH of "
        "this version's published wheel. Default: the commit of this fleetc.",
    ),
]


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory for the new spec.", show_default=False)
    ] = Path(),
    run: _RunOption = None,
    where: _WhereOption = None,
    network: _NetworkOption = None,
    host: _HostOption = None,
    example: _ExampleOption = None,
    ci: _CiOption = None,
    install_from: _InstallFromOption = None,
) -> None:
    """Write a first spec, and with --ci the workflows for it.

    On a terminal it asks four questions; elsewhere options answer them. Nothing is ever overwritten.
    """
    from fleetc.cli.first import starter
    from fleetc.disk import files
    from fleetc.language.editor import editor_schema
    from fleetc.text.encoders import plain_output

    if install_from is not None and ci is None:
        raise typer.BadParameter("--install-from only matters for workflows; add --ci")
    shipped = files.read_starter()
    here, spec = {}, directory / files.SPEC_NAME
    given = (run, where, network, host)
    if ci is None or not os.path.lexists(spec):
        specs = _specs(spec, given, example)
        here = starter.first_files(specs, shipped, json.dumps(editor_schema(), indent=2) + "\n")
    elif example is not None or any(answer is not None for answer in given):
        wrong_usage(f"{spec} exists, so only workflows are written; --ci is the only option about them")
    texts = {directory / name: text for name, text in here.items()}
    top = files.repository_top(directory)
    if ci is not None:
        place = Path(os.path.relpath(spec, top)).as_posix()
        if "$" in place:
            raise typer.BadParameter(f"{place} contains a $, which services expand; rename it")
        place = f"./{place}" if place.startswith("-") else place
        secrets = _named_secrets(directory, here.get(files.SPEC_NAME))
        workflows = starter.workflows(shipped, ci, place, _own_requirement(install_from), secrets)
        texts |= {Path(os.path.relpath(top / name)): text for name, text in workflows.items()}
    there = [path for path in texts if path.name in starter.SHARED and os.path.lexists(path)]
    kept = {path: texts.pop(path) for path in there}
    new = files.write_new(texts)
    for path in new:
        typer.echo(plain_output(f"wrote {path}"))
    for path, text in kept.items():
        first, *lines = starter.not_written(path.name, text)
        typer.echo(plain_output(f"{path} {first}"))
        typer.echo("".join(f"{line}\n" for line in lines), nl=False)
    typer.echo("next:")
    for line in starter.next_commands(str(directory), list(map(str, new)), (top / ".git").exists()):
        typer.echo(plain_output(f"    {line}"))


def _specs(
    spec: Path, given: tuple[Kind | None, Where | None, Network | None, list[str] | None], example: str | None
) -> Mapping[str, str]:
    """The spec, and an example's overlays and story, by name; exits where the answers make no sound spec."""
    from fleetc.cli.first.spec import Answers, first_spec, read_hosts
    from fleetc.cli.first.starter import example_files
    from fleetc.disk import files
    from fleetc.text.suggestions import did_you_mean

    kind, where, network, hosts = given
    if example is not None:
        if any(answer is not None for answer in given):
            wrong_usage("--example copies a whole fleet; remove --run, --where, --network and --host")
        shipped = files.read_examples()
        copied = example_files(shipped, example)
        if not copied:
            names = sorted({name.partition("/")[0] for name in shipped})
            advice = did_you_mean(example, names, f"the examples are {', '.join(names)}")
            wrong_usage(f'there is no example "{example}"; {advice}')
        return copied
    if os.path.lexists(spec):
        return {files.SPEC_NAME: ""}  # never written: it exists
    if all(answer is None for answer in given) and sys.stdin.isatty() and sys.stdout.isatty():
        from fleetc.cli.first.questions import ask

        answers = ask()
    else:
        usual = Answers()
        if all(answer is None for answer in given):
            message(_NOBODY_ASKED)
        try:
            answers = Answers(
                kind or usual.kind,
                where or usual.where,
                network or usual.network,
                read_hosts(hosts) if hosts else usual.hosts,
            )
        except ValueError:
            form = "NAME=ADDRESS or NAME=ADDRESS/PUBLIC, such as edge=203.0.113.10/gate.example.net"
            wrong_usage(f"--host takes {form}, each name once")
    text = first_spec(answers)
    _need_sound(Source(files.SPEC_NAME, text))
    return {files.SPEC_NAME: text}


def _need_sound(source: Source) -> None:
    """Exit where answers make no sound spec, such as an address that is none."""
    from fleetc.messages.locate import locate
    from fleetc.pipeline import check_spec

    checked = check_spec([source])
    if checked.fleet is None:
        located = locate(checked.diagnostics, [source], checked.document)
        typer.echo(written(Format.text, located, [source], checked.document), err=True, nl=False)
        message("nothing was written: correct the answers of the spec above")
        raise typer.Exit(PROBLEMS)


def _own_requirement(given: str | None) -> str:
    """The pip line for this fleetc; exits if there is no fixed source."""
    from fleetc.cli.first import starter

    requirement = starter.requirement(given if given is not None else _installed_from())
    if requirement is None:
        what = "that is not a fixed source" if given is not None else "this fleetc was not installed from a commit"
        raise typer.BadParameter(
            f"{what}, and workflows must install a fixed version: name git+https://HOST/PATH@COMMIT with the full "
            "commit id and no password, or sha256:HASH of the published wheel",
            param_hint="--install-from",
        )
    return requirement


def _installed_from() -> str:
    """The commit that pip installed this fleetc from, as pip recorded it (PEP 610); empty if it did not."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        noted = json.loads(distribution("fleetc").read_text("direct_url.json") or "{}")
        return f"git+{noted['url']}@{noted['vcs_info']['commit_id']}"
    except (PackageNotFoundError, ValueError, KeyError, TypeError):
        return ""


def _named_secrets(directory: Path, text: str | None) -> list[str]:
    """The variables that a deployment of the new or existing spec needs.

    Exits if it has errors.
    """
    from fleetc.cli.first import starter
    from fleetc.disk import files
    from fleetc.pipeline import compile_spec

    settings = load_settings(directory)
    written = [] if text is None else [Source(files.SPEC_NAME, text)]
    sources = written or read_sources(directory, settings, Format.text)
    compiled = compile_spec(sources, *files.read_shipped())
    if compiled.blueprint is None:
        report(compiled.checked, sources, settings, Format.text, always=True)
        raise typer.Exit(PROBLEMS)
    secrets = [secret for host in compiled.blueprint.hosts for _, owned in host.secrets() for secret in owned]
    variables = {secret.reference for secret in secrets if secret.kind == "env"}
    commands = sorted({secret.reference for secret in secrets if secret.kind == "command"})
    for name in sorted(variables):
        if reason := starter.unfit_secret(name):
            message(f'error: the spec uses the variable {name}, which {reason}; use another one in {{ env = "NAME" }}')
            raise typer.Exit(PROBLEMS)
    if commands:
        message(f"note: the spec names the secret commands {', '.join(commands)}: define them as JSON in a secret")
        message(f"    {_COMMANDS} of the environment production, and have the deployment install what they run")
        variables.add(_COMMANDS)
    return sorted(variables)
