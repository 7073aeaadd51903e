"""fleetc as a program that does not start Python anew: each run is a fork of one process that has loaded all of it.

In: nothing. Out: `program()`, the path of a program that scripts and tests run like `fleetc`, with its own arguments,
directory, environment, streams, signals and exit code; a terminal is that of the run alone. Tests of how fleetc starts,
of closed streams and of limits that a parent sets run the real one.

The program is a few lines of Python without any library. It hands its streams to the process and waits for the answer:
the number of the run, and then how that ended.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import marshal
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import typer.main

import fleetc
from fleetc.__main__ import main

_STUB = """#!{python} -IS
import _socket, marshal, os, signal
ours = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
ours.connect({address!r})
streams = b"".join(number.to_bytes(4, "{order}") for number in range(3))
mask = os.umask(0)
said = marshal.dumps((os.sys.argv[1:], os.getcwd(), dict(os.environb), mask))
ours.sendmsg([len(said).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
ours.sendall(said)
run = int.from_bytes(ours.recv(4), "big")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: os.kill(run, number))
status = int.from_bytes(ours.recv(4), "big")
if os.WIFSIGNALED(status):
    signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.waitstatus_to_exitcode(status))
"""


@cache
def program() -> Path:
    """The program; the process behind it ends with this one."""
    place = tempfile.TemporaryDirectory(prefix="fleetc-forked-")
    address = f"{place.name}/socket"
    path = Path(place.name, "fleetc")
    path.write_text(_STUB.format(python=sys.executable, address=address, order=sys.byteorder))
    path.chmod(0o755)
    server = subprocess.Popen([sys.executable, "-I", __file__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin and server.stdout
    atexit.register(place.cleanup)
    atexit.register(server.wait, timeout=20)
    atexit.register(server.stdin.close)
    server.stdout.read(1)
    return path


def _serve(address: str) -> None:
    """Answer until standard input ends. Returns in each child, which is then to run fleetc."""
    _load()
    running: dict[int, socket.socket] = {}
    watched = selectors.DefaultSelector()
    ended, wake = socket.socketpair()
    for end in (ended, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    for source in (listening, ended, sys.stdin.fileno()):
        watched.register(source, selectors.EVENT_READ)
    os.write(1, b"loaded")
    while True:
        for key, _ in watched.select():
            if key.fileobj is listening:
                asking, _ = listening.accept()
                if child := _begin(asking):
                    running[child] = asking
                    watched.register(asking, selectors.EVENT_READ, child)
                else:
                    return
            elif key.fileobj is ended:
                with suppress(BlockingIOError):
                    ended.recv(4096)
                for child, status in _ended():
                    asking = running.pop(child)
                    watched.unregister(asking)
                    with suppress(OSError):
                        asking.sendall(status.to_bytes(4, "big"))
                    asking.close()
            elif key.data is None:
                sys.exit()
            else:  # whoever asked was killed
                watched.unregister(key.fileobj)
                os.kill(key.data, signal.SIGKILL)


def _load() -> None:
    """Import all that a run may need, and use it once: much is only made at first use."""
    for found in pkgutil.walk_packages(fleetc.__path__, "fleetc."):
        if not found.name.endswith(("__main__", ".worker")):
            import_module(found.name)
    typer.main.get_command = cache(typer.main.get_command)
    demo = str(Path(__file__).parent.parent / "inventories/demo")
    for command in ("check", "diff"):
        sys.argv[:] = ["fleetc", command, demo]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), suppress(SystemExit):
            main()
    gc.collect()
    gc.freeze()


def _begin(asking: socket.socket) -> int:
    """Fork for one run. Zero in the child, which has then all that the program was started with."""
    size, streams, _, _ = socket.recv_fds(asking, 4, 3)
    said = b""
    while len(said) < int.from_bytes(size, "big"):
        said += asking.recv(65536)
    if child := os.fork():
        for stream in streams:
            os.close(stream)
        asking.sendall(child.to_bytes(4, "big"))
        return child
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stderr = os.fdopen(0, closefd=False), os.fdopen(2, "w", buffering=1, closefd=False)
    if os.isatty(0):  # Ctrl-C arrives
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    arguments, directory, environment, mask = marshal.loads(said)
    sys.argv[:] = ["fleetc", *arguments]
    os.chdir(directory)
    os.umask(mask)
    os.environb.clear()
    os.environb.update(environment)
    time.tzset()
    return 0


def _ended() -> list[tuple[int, int]]:
    found: list[Any] = []
    with suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(one)
    return found


def _run() -> None:
    """Run fleetc, and end as Python does but for taking apart all that was loaded, which takes longer than a check."""
    code: object = 1
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    _serve(sys.argv[1])
    _run()
