"""The node's program on real hosts: it comes with a release, runs from a directory named by its digest, and goes back.

Host one is given the program of v0.9.0 from a file of the machine that deploys; hosts one and two fetch that of v0.9.1,
in an archive, from a web server of their own. Host three runs containers, and programs are nothing to it. The tests run
in their order.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Iterator

import pytest

from tests.farm.farm import Farm
from tests.farm.image import STANDIN_PATH
from tests.farm.system import run_checked
from tests.hosts.test_deploy import process_of
from tests.hosts.test_faults import Faulty
from tests.standin import gcc_words

pytestmark = pytest.mark.usefixtures("processes")

MEMBER = "livepeer-linux-amd64/livepeer"
PORT = 8099


class Installed(Faulty):
    """The fleet of the faults, whose systemd hosts get their programs from fleetc."""

    orch_a_release = "v0.9.0"

    def provide(self) -> None:
        super().provide()
        new = self.hosts["one"].read(STANDIN_PATH)
        run_checked(*gcc_words(self.directory, self.directory / "livepeer-0.9.0", "0.9.0-standin"))
        old = (self.directory / "livepeer-0.9.0").read_bytes()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as tar:
            member = tarfile.TarInfo(MEMBER)
            member.size = len(new)
            tar.addfile(member, io.BytesIO(new))
        self.digests = {"v0.9.0": digest(old), "v0.9.1": digest(packed.getvalue())}
        for name in ("one", "two"):
            host = self.hosts[name]
            host.write("/srv/programs/livepeer.tar.gz", packed.getvalue())
            serve = ("python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "/srv/programs", str(PORT))
            assert host.run("systemd-run", "--unit=programs", *serve).returncode == 0

    def write(self, price: int, orch_a: str = "") -> None:
        if not hasattr(self, "digests"):  # the fleet is made before its hosts are provided for
            return
        super().write(price, f'{orch_a}\nnode_release = "{self.orch_a_release}"')
        spec = self.directory / "fleet.toml"
        text = spec.read_text(encoding="utf-8")
        tables = {
            "v0.9.0": f'file = "{self.directory}/livepeer-0.9.0"',
            "v0.9.1": f'url = "http://127.0.0.1:{PORT}/livepeer.tar.gz"\nmember = "{MEMBER}"',
        }
        for release, source in tables.items():
            text += f'\n[programs."{release}"]\n{source}\nsha256 = "{self.digests[release]}"\n'
        spec.write_text(text, encoding="utf-8")

    def clear(self) -> None:
        super().clear()
        for name in ("one", "two"):
            self.hosts[name].run("systemctl", "stop", "programs.service")
            self.hosts[name].run("rm", "-rf", "/srv/programs")

    def path(self, release: str) -> str:
        return f"/opt/fleetc/programs/{self.digests[release]}/livepeer"

    def runs_program(self, release: str, name: str = "one", node: str = "orch-a") -> None:
        """A node's process was started from the program of a release, and that file is what it runs."""
        host, process = self.hosts[name], process_of(self.hosts[name], self.service(node))
        assert process.argv[0] == self.path(release).encode()
        assert host.run("readlink", f"/proc/{process.pid}/exe").stdout.strip() == self.path(release)
        said = host.run(f"/proc/{process.pid}/exe", "-version").stdout
        assert said.startswith(f"Livepeer Node Version: {release.removeprefix('v')}-standin\n")

    def programs(self, name: str) -> set[str]:
        return set(self.hosts[name].run("ls", "/opt/fleetc/programs").stdout.split())


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def fleet(farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    made = Installed(farm, tmp_path_factory.mktemp("fleet"))
    made.provide()
    yield made
    made.clear()


def test_programs_come_with_the_first_release(fleet: Installed) -> None:
    price = fleet.release()
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert fleet.runs() == price
    fleet.runs_program("v0.9.0")
    assert fleet.programs("one") == {fleet.digests["v0.9.0"]}
    assert fleet.programs("two") == {fleet.digests["v0.9.1"]}
    found = fleet.hosts["two"].run("stat", "-c", "%U:%G %a", fleet.path("v0.9.1")).stdout.strip()
    assert found == "root:root 755"
    assert "3 hosts: 3 unchanged" in fleet.deploy().stdout


def test_failed_release_change_goes_back_to_the_program_before(fleet: Installed) -> None:
    before = fleet.runs()
    fleet.orch_a_release = "v0.9.1"
    fleet.release("unwell")
    done = fleet.deploy()
    assert done.returncode == 4, done.stdout + done.stderr
    assert fleet.runs() == before
    fleet.runs_program("v0.9.0")


def test_release_change_installs_and_runs_the_program_beside_the_old_one(fleet: Installed) -> None:
    price = fleet.release()
    done = fleet.deploy()
    assert done.returncode == 0, done.stdout + done.stderr
    assert fleet.runs() == price
    fleet.runs_program("v0.9.1")
    assert fleet.programs("one") == set(fleet.digests.values())
