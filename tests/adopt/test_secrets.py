"""A secret that stands in a source appears in nothing that adopting makes: spec, messages, reports."""

from __future__ import annotations

import pytest

from fleetc.adopt.adoption import adopt, located
from fleetc.adopt.report import reported
from fleetc.messages.forms import AdoptionFormat, Format, written
from fleetc.toml.document import Source

WORD = "hunter2-swordfish"
"""No form of secrets that is recognised by its looks: only its place says what it is."""

CHAIN = "-network arbitrum-one-mainnet -ethUrl https://rpc.example.net -ethAcctAddr 0x" + "1" * 40
GATEWAY = f"livepeer -gateway {CHAIN}"
SOURCES = {
    "flag": {"a.sh": f"{GATEWAY} -ethPassword {WORD} -v 6"},
    "flag with a sign": {"a.sh": f"{GATEWAY} -ethPassword={WORD} -aiHttpAddr x"},
    "two words": {"a.sh": f"{GATEWAY} -ethPassword one {WORD} -v 6"},
    "second word with a sign": {"a.sh": f"{GATEWAY} -ethPassword=one {WORD} -v 6"},
    "variable": {"a.sh": f"PW={WORD}\n{GATEWAY} -ethPassword $PW"},
    "secret variable in a branch": {"a.sh": f"if uname; then\n  PASSWORD={WORD}\nfi\n{GATEWAY} -ethPassword $PASSWORD"},
    "default": {"a.sh": f"{GATEWAY} -ethPassword ${{PW:-{WORD}}}"},
    "environment of a command": {"a.sh": f"LP_ETHPASSWORD={WORD} {GATEWAY} -ethPassword other"},
    "exported": {"a.sh": f"export LP_ORCHSECRET={WORD}\nlivepeer -orchestrator -serviceAddr a.example.net:1"},
    "docker": {"a.sh": f"docker run -e MY_TOKEN={WORD} livepeer/go-livepeer -gateway -orchAddr a.example.net:1"},
    "config": {"a.conf": f"orchestrator\nserviceAddr a.example.net:1\norchSecret {WORD}\norchSecret other\n"},
    "environment file": {
        "compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer\n    command: -gateway -orchAddr a:1\n"
        "    env_file: g.env\n",
        "g.env": f"LP_MEDIAMTXAPIPASSWORD={WORD}\nAPI_KEY={WORD}\n",
    },
    "compose": {
        "compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer\n    environment:\n"
        f"      LP_ORCHSECRET: {WORD}\n    command: -transcoder -orchAddr a.example.net:1 -nosuch\n"
    },
    "dot env": {
        "compose.yaml": "services:\n  g:\n    image: livepeer/go-livepeer\n"
        "    command: -transcoder -orchAddr a.example.net:1 -orchSecret ${S} -nosuch\n",
        ".env": f"S={WORD}\n",
    },
    "unit": {
        "a.service": f"[Service]\nEnvironment=LP_ORCHSECRET={WORD}\nExecStart=/bin/livepeer -transcoder -orchAddr a:1"
    },
    "models": {
        "a.sh": "livepeer -orchestrator -aiWorker -aiModels m.json -serviceAddr a.example.net:1",
        "m.json": f'[{{"pipeline": "llm", "model_id": "a/b", "url": "http://192.0.2.1:8000", "token": "{WORD}"}}]',
    },
    "address": {"a.sh": f"livepeer -gateway -orchWebhookUrl https://user:{WORD}@hook.example.net/list"},
    "headers": {
        "a.sh": f"livepeer -gateway -remoteSignerUrl http://192.0.2.1:1 -remoteSignerHeaders Authorization:{WORD} -x"
    },
    "stack of avatars": {
        ".env": f"VTUBER_TYPO={WORD}\nEDGE_CONFIG_URL=https://edge.example.net\nEDGE_CONFIG_TOKEN={WORD}\n"
        f"RUNNER_API_TOKEN={WORD}\nEDGE_ENFORCE_EXCLUSIVE=1\nPAYMENTS_API_URL=https://user:{WORD}@pay.example.net\n",
        ".env.turn": f"TURN_USER=u\nTURN_PASS={WORD}\nRUNNER_API_TOKEN=other\n",
        "cluster.json": '{"instances": ["mira"]}',
    },
    "manifest": {
        "a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: g}\nspec:\n  containers:\n    - name: g\n"
        "      image: livepeer/go-livepeer\n      args: [-transcoder, -orchAddr=a.example.net:1]\n      env:\n"
        f"        - {{name: LP_ORCHSECRET, value: {WORD}}}\n"
    },
}  # fmt: skip


@pytest.mark.parametrize("case", SOURCES)
def test_secret_appears_nowhere(case: str) -> None:
    found = adopt([Source(name, text) for name, text in SOURCES[case].items()])
    messages = located(found)
    made = [found.text, *(reported(found, form, messages) for form in AdoptionFormat)]
    made += [written(form, messages, found.sources) for form in (Format.text, Format.json, Format.github)]
    made += [f"{d.today} {d.compiled}" for d in found.differences]
    assert [text for text in made if WORD in text] == []
    assert found.processes or found.stacks
