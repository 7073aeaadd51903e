"""A compiled fleet with an overlay, a plan of it with a signature, and the command in this process at a fixed time.

In: a directory. Out: `Workplace`. Used by the tests of `tests/rollout/plan`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from fleetc.cli.app import app
from fleetc.disk import files
from fleetc.pipeline import compile_spec
from fleetc.rollout.hosts import plans
from fleetc.rollout.plan.data import Baseline, PlanRefusedError, SealedPlan
from fleetc.rollout.plan.document import decode, encode
from fleetc.rollout.plan.make import Inputs, Meaning
from fleetc.settings import Settings
from fleetc.toml.document import Source
from tests.support import ROOT, shipped

SPEC = ROOT / "tests" / "data" / "written_out" / "two-regions.toml"
OVERLAY = '# The fleet as it is tried out.\n[rollout]\ncanary = 2\nbatch = "34%"\n'
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
DAY = timedelta(hours=24)
SIGNER = "release@example.net"


class Answer(NamedTuple):
    """What the command did."""

    code: int
    out: str
    err: str


class Workplace:
    """Spec, overlay, tree and plan of one fleet in one directory, which is the working directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.spec = directory / "fleet.toml"
        self.overlay = directory / "trial.toml"
        self.tree = directory / "rendered"
        self.plan = directory / "plan.json"
        self.signature = directory / "plan.json.sig"
        self.signers = directory / "signers"

    def fill(self, spec: Path = SPEC) -> None:
        """Write the spec and compile it."""
        shutil.copy(spec, self.spec)
        self.overlay.write_text(OVERLAY, encoding="utf-8")
        self.compile()

    def compile(self) -> None:
        compiled = compile_spec(self.sources(), *shipped())
        assert compiled.tree is not None
        files.write_tree(compiled.tree, self.tree)

    def sources(self) -> list[Source]:
        return [files.read_source(path, str(path)) for path in (self.spec, self.overlay)]

    def inputs(self, *limit: str) -> Inputs:
        compiled = compile_spec(self.sources(), *shipped())
        assert compiled.blueprint is not None and compiled.tree is not None
        return Inputs(self.sources(), *shipped(), compiled.blueprint, compiled.tree, frozenset(limit))

    def made(self, baseline: Baseline | None = None) -> SealedPlan:
        """A plan of the fleet as it is, from its own tree or another baseline."""
        inputs = self.inputs()
        recorded, left = plans.recorded_baseline(inputs, files.read_tree(self.tree), str(self.tree))
        return plans.make_plan(inputs, baseline or recorded, left, NOW, DAY, Meaning())

    def store(self, plan: SealedPlan, sign: bool = False) -> None:
        plans.store(encode(plan), self.plan, self.key if sign else None)

    def read(self) -> SealedPlan:
        return decode(self.plan.read_bytes())

    def verify(self, now: datetime = NOW, signed: bool = False) -> plans.Verified:
        """Verify the plan as the command does, hosts left out."""
        settings = Settings(allowed_signers=self.signers, signer=SIGNER) if signed else Settings()
        around = plans.Around(self.sources(), *shipped(), self.tree)
        return plans.verify(self.plan, around, settings, (), now)

    def codes(self, signed: bool = False) -> list[str]:
        """The codes with which the plan is refused; none when it stands."""
        try:
            self.verify(signed=signed)
        except PlanRefusedError as failure:
            return [refusal.code for refusal in failure.refusals]
        except files.FilesError as failure:
            return [failure.code]
        return []

    @cached_property
    def key(self) -> Path:
        """A key that may sign, and the file that says so."""
        key = make_key(self.directory / "key")
        kind, public = key.with_suffix(".pub").read_text().split()[:2]
        self.signers.write_text(f'{SIGNER} namespaces="fleetc-plan" {kind} {public}\n')
        return key

    def run(self, *arguments: object, **settings: str) -> Answer:
        """The command with the overlay, in this process and in the directory; settings are variables."""
        words = [str(arguments[0]), "fleet.toml", "--overlay", "trial.toml", *map(str, arguments[1:])]
        done = CliRunner().invoke(app, words, env={"COLUMNS": "200", **settings})
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Answer(done.exit_code, done.stdout, done.stderr)


def make_key(path: Path) -> Path:
    """A fresh SSH key without a passphrase."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("no ssh-keygen on this machine")
    command: Sequence[str] = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return path
