"""Sources that are damaged, huge or hostile: a message with a place, nothing half done, and an end in time."""

from __future__ import annotations

import time
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleetc.adopt.adoption import adopt, located
from fleetc.adopt.report.report import reported
from fleetc.formatting import formatted
from fleetc.messages.forms import ReportFormat
from fleetc.places.diagnostic import Severity
from fleetc.toml.document import Source
from tests.adopt.test_examples import EXAMPLES, SUFFIXES

NODE = "    image: livepeer/go-livepeer:v0.9.1\n    command: -gateway -orchAddr a.example.net:1\n"
BOMB = 'a: &a ["x"]\n' + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}' if i else '*a'] * 9)}]\n" for i in range(30))
MERGES = "x0: &x0 {a: b}\n" + "".join(f"x{i}: &x{i} {{<<: [{','.join([f'*x{i - 1}'] * 9)}]}}\n" for i in range(1, 40))
REFUSED = {
    "circle.compose.yaml": f"services:\n  a:\n    extends: b\n{NODE}  b:\n    extends: a\n{NODE}",
    "itself.compose.yaml": f"services:\n  a:\n    extends: {{service: a}}\n{NODE}",
    "several.compose.yaml": f"services:\n  a:\n{NODE}---\nservices: {{}}\n",
    "deep.compose.yaml": "[" * 200_000,
    "maps.compose.yaml": "services: " + "{a: " * 5000,
    "broken.compose.yaml": "services:\n  a: [\n b: {",
    "alias.compose.yaml": "services: *nothing\n",
    "many.compose.yaml": "services:\n  g: [" + "a," * 600_000 + "a]\n",
    "long.compose.yaml": f"services:\n  g:\n    image: livepeer/go-livepeer\n    command: {'-v 6 ' * 1_000_000}\n",
    "long.service": f"[Service]\nExecStart=/bin/livepeer -gateway {'-v 6 ' * 1_000_000}\n",
    "long.env": f"LP_GATEWAY=true\nA={'a' * 5_000_000}\n",
    "livepeers.txt": "livepeer " * 600_000,
    "bomb.compose.yaml": f"{BOMB}services:\n  g:\n    image: livepeer/go-livepeer\n    command: *a29\n",
    "nothing.sh": "#!/bin/sh\necho hello\n",
    "empty.sh": "",
    "odd.txt": "".join(map(chr, range(1, 256))) * 100,
    "models.json": '[{"pipeline": "llm", "model_id": "a", "price_per_unit": 1e999999999}]',
    "deep.json": "[" * 100_000,
}


@pytest.mark.parametrize("name", REFUSED)
def test_source_that_cannot_be_read_is_refused_at_a_place(name: str) -> None:
    begun = time.process_time()
    found = adopt([Source(name, REFUSED[name])])
    errors = [item for item in located(found) if item.diagnostic.severity is Severity.ERROR]
    assert found.text == ""
    assert errors
    assert all(item.primary.file == name and item.primary.line > 0 for item in errors)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "text",
    [
        f"{MERGES}services:\n  g:\n    <<: *x39\n{NODE}",
        f"services:\n  g: &g\n    <<: *g\n{NODE}",
        f"{BOMB}services:\n  g:\n{NODE}",
    ],
)
def test_text_that_repeats_itself_costs_nothing(text: str) -> None:
    begun = time.process_time()
    found = adopt([Source("compose.yaml", text)])
    assert [node.name for node in found.nodes] == ["g"]
    assert time.process_time() - begun < 1


def test_files_that_extend_each_other_end_in_a_message() -> None:
    text = "services:\n  g:\n    extends: {{file: {}.yml, service: g}}\n    image: livepeer/go-livepeer\n"
    found = adopt([Source(f"{name}.yml", text.format(other)) for name, other in (("a", "b"), ("b", "a"))])
    assert [d.message for d in found.diagnostics] == ["services extend each other in a circle"]


def test_many_services_units_and_files_cost_little_each() -> None:
    begun = time.process_time()
    extended = "".join(f"  s{i}:\n    extends: base\n    command: -gateway -orchAddr a:{i}\n" for i in range(1, 400))
    found = adopt([Source("compose.yml", f"services:\n  base: {{image: livepeer/go-livepeer, scale: 0}}\n{extended}")])
    assert found.nodes == () and not found.text  # they have the scale of what they extend
    unit = "[Service]\nExecStart=/bin/livepeer -gateway -orchAddr a:1 -dataDir /d/{}\n"
    units = [Source(f"u/lp@{i}.service", unit.format(i)) for i in range(400)]
    drops = [Source(f"u/lp@{i}.service.d/{n}.conf", "[Service]\nNice=1\n") for i in range(400) for n in range(3)]
    assert len(adopt([*units, *drops]).nodes) == 400
    many = "".join(f"Environment=A{i}=b\n" for i in range(8000))
    assert len(adopt([Source("lp.service", unit.format("") + many)]).nodes) == 1
    assert time.process_time() - begun < 20


TEXTS = [(example["kind"], example["text"]) for example in EXAMPLES.values()]
ODD = [
    *["'", '"', "`", "$(", "${", "}", "\\", "\n", "\t", "#", "<", "{", "[", ":", "=", ", ", "|", ";", "%", "@", "!"],
    *["&a ", "*a", "- ", "EOF", "<<EOF\n", "if ", "fi\n", "done\n", "-ethPassword x "],
    *["\x1b[31m", "\u202e", "\x85", "\\ud800"],
]
"""Signs that mean something to a shell, to YAML or to a terminal."""


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(["", *ODD])), max_size=6),
)
def test_damaged_texts_end_in_messages(found: tuple[str, str], damage: list[tuple[float, int, str]]) -> None:
    kind, text = found
    for place, cut, odd in damage:
        at = int(place * len(text))
        text = text[:at] + odd + text[at + cut :]
    result = adopt([Source(SUFFIXES[kind], text)])
    located(result)
    for form in ReportFormat:
        reported(result, form, located(result)).encode()
    if result.text:
        assert formatted(Source("fleet.toml", result.text)) == (result.text, [])
        tomllib.loads(result.text)
    else:
        assert [d for d in result.diagnostics if d.severity is Severity.ERROR]
