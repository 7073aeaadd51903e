"""Measures `fleetc diagnose` on logs as nodes write them, in two sizes and two forms.

In: a `Report`, a directory, and megabytes of the large log. Out: lines of the report. Each line of a log has ids,
numbers and a time of its own, as those of nodes do; a few in a hundred are lines that fleetc knows.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Line, Report, fleetc, measure

RATE = 60
"""Megabytes that one core has to read in a second."""
GROWTH = 1.1
"""How much more memory the large log may take than the small one."""
SMALL_MB = 100

_ORCH, _TICKETS = "https://{ip}:8935", "sessionID={id} faceValue={number} winProb=0.{number}"
_LIMITS = "timeout=8s uploadTimeout=2s segDur=2"
Texts = list[tuple[int, str, str, str]]
_TEXTS: Texts = [
    (30, "I", "broadcast.go:965", "Processing segment dur=2.0 bytes={number}"),
    (14, "I", "segment_rpc.go:95", "clientIP={ip} Received segment dur=2.0"),
    (14, "I", "segment_rpc.go:551", f"Submitting segment bytes={{number}} orch={_ORCH} {_LIMITS}"),
    (10, "I", "orchestrator.go:767", "Transcoding of segment took={number}ms"),
    (10, "I", "orchestrator.go:786", "Transcoded segment profile=P360p30fps16x9 bytes={number}"),
    (8, "I", "orchestrator.go:222", f"Payment tickets processed {_TICKETS} totalTickets=3 totalEV={{number}}"),
    (5, "I", "segment_rpc.go:587", "Uploaded segment orch=https://{ip}:8935 dur={number}µs"),
    (3, "W", "mediaserver.go:840", "Couldn't detect input video stream codec"),
    (3, "I", "lb.go:189", "LB: Transcode loop timed out for key={id}"),
    (2, "E", "segment_rpc.go:576", f'Error submitting segment statusCode=403 orch={_ORCH} err="OrchestratorCapped"'),
    (1, "E", "orchestrator.go:755", 'Error transcoding segName=/tmp/{id}.ts err="EOF"'),
]  # fmt: skip
ORDINARY = [row for row in _TEXTS if row[1] != "E"]
"""What a node writes while nothing is wrong."""
_DIFFERENT = 40_000
_STREAMS = 400


def diagnose_lines(report: Report, work: Path, megabytes: int) -> Iterator[Line]:
    """Measure logs of SMALL_MB and of `megabytes` as the node writes them, and a small one as Docker keeps it.

    Raises RuntimeError when the command fails. The logs are gone afterwards.
    """
    small, large, docker = work / "small.log", work / "large.log", work / "docker.log"
    write_log(small, SMALL_MB)
    write_log(large, megabytes)
    write_log(docker, SMALL_MB, in_docker=True)
    sizes = {path: path.stat().st_size / 1e6 for path in (small, large, docker)}
    report.files, report.bytes = report.files + 3, report.bytes + sum(path.stat().st_size for path in sizes)
    names = {path: f"fleetc diagnose {path.name}, {size:.0f} MB" for path, size in sizes.items()}
    commands = {name: fleetc("diagnose", str(path)) for path, name in names.items()}
    measure(report, commands, report.rounds, work, lambda: None)
    costs = {path: report.costs[name] for path, name in names.items()}
    yield Line(f"diagnose, {sizes[large]:.0f} MB of glog", costs[large].processor_s, " s", sizes[large] / RATE)
    yield Line(f"diagnose, {sizes[docker]:.0f} MB of json-file", costs[docker].processor_s, " s", sizes[docker] / RATE)
    yield Line("peak memory, large log / small log", costs[large].peak_bytes / costs[small].peak_bytes, "", GROWTH)
    yield Line("peak memory of the large log", costs[large].peak_bytes / 1e6, " MB", 200)
    for path in sizes:
        path.unlink()


def write_log(path: Path, megabytes: int, in_docker: bool = False, texts: Texts = _TEXTS) -> None:
    """Write a log of this size; equal sizes give equal logs. Lines repeat after some time, and their times do not."""
    chance = random.Random(megabytes)  # a log, no secret
    lines = list(_lines(chance, texts))
    left, seconds = megabytes * 1_000_000, 0
    with path.open("wb") as file:
        while left > 0:
            seconds += 1
            clock = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            day = 1 + seconds // 86400 % 28
            batch = [
                f"{level}11{day:02} {clock}.{chance.randrange(10**6):06}       1 {text}"
                for level, text in chance.choices(lines, k=200)
            ]
            if in_docker:
                stamp = f"2026-11-{day:02}T{clock}.{chance.randrange(10**9):09}Z"
                batch = [json.dumps({"log": line + "\n", "stream": "stderr", "time": stamp}) for line in batch]
            data = ("\n".join(batch) + "\n").encode()
            file.write(data)
            left -= len(data)


def _lines(chance: random.Random, texts: Texts) -> Iterator[tuple[str, str]]:
    streams = [f"{chance.getrandbits(64):016x}" for _ in range(_STREAMS)]
    weights = [weight for weight, *_ in texts]
    for _, level, place, text in chance.choices(texts, weights, k=_DIFFERENT):
        session = f"seqNo={chance.randrange(10**4)} orchSessionID={chance.getrandbits(32):08x}"
        head = f"manifestID={chance.choice(streams)} {session} "
        ip = ".".join(str(chance.randrange(1, 250)) for _ in range(4))
        said = text.format(number=chance.randrange(10**9), ip=ip, id=f"{chance.getrandbits(32):08x}")
        yield level, f"{place}] {head}{said}"
