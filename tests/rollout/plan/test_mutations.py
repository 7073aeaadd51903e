"""One changed byte anywhere refuses a plan, with the code of what was changed; unchanged, it is accepted each time."""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from typing import NamedTuple

import pytest

from fleetc.disk.reading import read_playbooks
from tests.rollout.plan.support import Workplace
from tests.support import exploring

pytestmark = pytest.mark.usefixtures("processes")

PLACES = 500 if exploring() else 60

FRAME = (b'{\n  "plan": ', b',\n  "seal": "sha256:', b'"\n}\n')
READING = {"spec-not-utf8", "spec-nul", "spec-line-ends", "spec-bom"}
"""What reading a spec says of bytes that are no text; it comes before any comparison."""


class Place(NamedTuple):
    """One byte: which kind of file, its path in the directory, the offset, and what is put there instead."""

    kind: str
    path: str
    offset: int
    value: int


@pytest.fixture(scope="module")
def signed(filled: Workplace, tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A workplace with a signed plan. Whoever changes a byte puts it back."""
    place = Workplace(tmp_path_factory.mktemp("signed") / "work")
    shutil.copytree(filled.directory, place.directory)
    place.store(place.made(), sign=True)
    return place


def places(place: Workplace, seed: str = "places") -> list[Place]:
    """PLACES places, always the same for the same bytes: kinds in turn, then any file of the kind, then any byte."""
    choose = random.Random(seed)
    paths = sorted(str(p.relative_to(place.directory)) for p in place.tree.rglob("*") if p.is_file())
    ansible = f"{place.tree.name}/ansible/"
    static = {f"{ansible}{path}" for path in read_playbooks()}
    kinds = {
        "plan": ["plan.json"],
        "spec": ["fleet.toml"],
        "overlay": ["trial.toml"],
        "signature": ["plan.json.sig"],
        "playbook": [path for path in paths if path in static],
        "inventory": [path for path in paths if path.startswith(ansible) and path not in static],
        "tree": [path for path in paths if not path.startswith(ansible)],
    }
    found: list[Place] = []
    while len(found) < PLACES:
        for kind, choices in kinds.items():
            path = choose.choice(choices)
            content = (place.directory / path).read_bytes()
            if content:
                offset = choose.randrange(len(content))
                value = choose.choice([byte for byte in range(256) if byte != content[offset]])
                found.append(Place(kind, path, offset, value))
    return found[:PLACES]


def expected(change: Place, content: bytes) -> set[str]:
    """The codes of which one is right."""
    if change.kind == "plan":
        start, middle, end = map(len, FRAME)
        seal = len(content) - end - 64
        framing = change.offset < start or change.offset >= seal + 64 or seal - middle <= change.offset < seal
        return {"plan-unreadable"} if framing else {"plan-seal-broken"}
    if change.kind in ("spec", "overlay"):
        changed = content[: change.offset] + bytes([change.value]) + content[change.offset + 1 :]
        try:
            text = changed.decode()
        except UnicodeDecodeError:
            return READING
        return READING if re.search("\0|\r(?!\n)", text) else {"plan-spec-stale"}
    return {{"signature": "plan-signature-bad"}.get(change.kind, f"plan-{change.kind}-edited")}


def refused_with_the_right_code(place: Workplace, change: Place) -> None:
    file = place.directory / change.path
    content = file.read_bytes()
    file.write_bytes(content[: change.offset] + bytes([change.value]) + content[change.offset + 1 :])
    try:
        codes = place.codes(signed=True)
    finally:
        file.write_bytes(content)
    assert len(codes) == 1, (change, codes)
    assert codes[0] in expected(change, content), (change, codes)


def test_changed_bytes_are_refused(signed: Workplace) -> None:
    sample = places(signed)
    assert min(Counter(change.kind for change in sample).values()) >= 8
    for change in sample:
        refused_with_the_right_code(signed, change)
    assert signed.codes(signed=True) == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b'"whole": true', b'"whole":  true', "plan-seal-broken"),
        (b'"whole": true', b'"whole":\ttrue', "plan-seal-broken"),
        (b"\n}\n", b"\n}\n\n", "plan-unreadable"),
        (b"\n}\n", b"\n}", "plan-unreadable"),
        (b"{\n  ", b"{\r\n  ", "plan-unreadable"),
        (b'"fleet": "two', b'"fleet": "\\u0074wo', "plan-seal-broken"),
    ],
)
def test_another_spelling_of_the_same_plan_is_refused(signed: Workplace, old: bytes, new: bytes, code: str) -> None:
    content = signed.plan.read_bytes()
    changed = new.join(content.rsplit(old, 1)) if old == b"\n}\n" else content.replace(old, new, 1)
    assert changed != content
    signed.plan.write_bytes(changed)
    try:
        assert signed.codes(signed=True) == [code]
    finally:
        signed.plan.write_bytes(content)
